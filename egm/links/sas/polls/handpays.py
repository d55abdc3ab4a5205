"""Long polls about hand-pays: the amount owed by hand, and the reset of a hand-pay by a host."""

from collections.abc import Sequence
from typing import Final

from egm.config.sas_line import SasPollGroup
from egm.kernel.events import EventType
from egm.links.sas.codec import Reply, encode_bcd
from egm.links.sas.host import READ_HANDPAY_KEY, SasHost
from egm.links.sas.poll import PollImplementation
from egm.links.sas.readout import SasReadout
from egm.links.sas.wire import LongPoll
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayRecord
from egm.staff.events import Authorisation

#: Level code of a hand-pay that is a cancelled credit and not a win.
_LEVEL_CODE_CANCELLED_CREDIT: Final = 0x80
#: Group number and level code of a hand-pay that pays no level broadcast by a SAS host.
#:
#: They are also sent for a win of another progressive level or an external bonus. Level code 0x40, for a game's top
#: award, is not used.
_NO_GROUP, _LEVEL_CODE_WIN = 0x00, 0x00
#: Reset method: by an attendant only.
_RESET_BY_ATTENDANT_ONLY: Final = b"\0"
#: Data bytes of the reply to poll 1B.
_HANDPAY_REPLY_DATA_SIZE_BYTES: Final = 20
#: Reply codes of poll 94: reset done, unable to reset, no hand-pay.
_RESET_DONE_CODE, _UNABLE_TO_RESET_CODE, _NO_HANDPAY_CODE = 0x00, 0x01, 0x02


def answer_handpay_information(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 1B: the money owed by hand; all zeros if nothing is owed or if this host has read it.

    The amount is in cents if a win of a level that a SAS host broadcasts is part of it, otherwise in credits. SAS
    cannot express a merchandise prize: if nothing else is owed, the amount is zero.
    """
    handpay = readout.handpay
    if handpay is None:
        return Reply(bytes(_HANDPAY_REPLY_DATA_SIZE_BYTES), is_resent_on_repeat=True)
    if handpay.broadcast_level is not None:
        group_number, level_code = handpay.broadcast_level
        amount = handpay.amount_cents
    else:
        group_number = _NO_GROUP
        level_code = _LEVEL_CODE_CANCELLED_CREDIT if handpay.kind == "cancelled_credit" else _LEVEL_CODE_WIN
        amount = readout.convert_to_credits(handpay.amount_cents)
    data = (
        bytes((group_number, level_code)) + encode_bcd(amount, 5) + encode_bcd(0, 2)  # partial pay: none
    )
    return Reply(
        (data + _RESET_BY_ATTENDANT_ONLY).ljust(_HANDPAY_REPLY_DATA_SIZE_BYTES, b"\0"),
        is_resent_on_repeat=True,
    )


def mark_handpay_read(host: SasHost, _: LongPoll, reply: Reply) -> None:
    """Store that the host has received the data of a hand-pay, so that poll 1B no longer reports it to this host."""
    handpay = host.machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    # The reply to a hand-pay of merchandise only is all zeros, like the reply without a hand-pay: so such a reply
    # counts as read only if the open hand-pay has no amount.
    if handpay is not None and (any(reply.data) or not handpay.amount_cents):
        host.values_between_polls[READ_HANDPAY_KEY] = handpay.id
        host.republish_readout()


def reset_handpay(host: SasHost, _: LongPoll) -> Reply:
    """Answer poll 94: the host resets the hand-pay, which counts as paid."""
    handpay = host.machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    if handpay is None:
        return Reply(bytes((_NO_HANDPAY_CODE,)), is_resent_on_repeat=True)
    host.submit_event(EventType.HANDPAY_RESET_BY_HOST, Authorisation(key=host.source))
    next_handpay = host.machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    is_reset = next_handpay is None or next_handpay.id != handpay.id
    return Reply(bytes((_RESET_DONE_CODE if is_reset else _UNABLE_TO_RESET_CODE,)), is_resent_on_repeat=True)


POLL_IMPLEMENTATIONS: Final[Sequence[PollImplementation]] = (
    PollImplementation(
        code=0x1B,
        reply_size_bytes=24,
        answer_function=answer_handpay_information,
        acknowledgement_function=mark_handpay_read,
    ),
    PollImplementation(
        code=0x94, reply_size_bytes=5, effect_function=reset_handpay, group=SasPollGroup.HANDPAY_RESET
    ),
)

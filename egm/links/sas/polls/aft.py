"""Electronic transfers over SAS (AFT): orders, registration, lock and status.

Each poll is only translated here; its effect on the machine's money is in :mod:`egm.host.transfer_interface`.
Debit transfers and transfers to a ticket are refused as unsupported, and no receipts are printed, so polls 75
and 76, which set the text of receipts, get no reply. None of these polls gets a reply if the machine permits a host
neither transfers nor bonuses, or if the poll arrives on the line of a host other than the one that controls the money.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import Final

from egm.config.sas_line import SasPollGroup
from egm.host.transfer_interface import (
    AftRegistration,
    HostTransferInterface,
    HostTransferResult,
    TransferLockState,
)
from egm.host.transfers import TRANSFER_HISTORY_SIZE
from egm.kernel.credits import CreditKind
from egm.links.sas.codec import (
    MalformedPollError,
    Reply,
    decode_bcd,
    decode_binary,
    encode_bcd,
    encode_binary,
    encode_date_and_time,
    prepend_length,
)
from egm.links.sas.host import SasHost
from egm.links.sas.poll import VARIABLE_REPLY_SIZE, PollImplementation
from egm.links.sas.polls.tickets import parse_expiry
from egm.links.sas.request_sizes import AMOUNT_SIZE_BYTES
from egm.links.sas.wire import LongPoll
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.records.host import TransferKind, TransferStatus
from egm.money.restricted_credit import find_restricted_terms

#: The code of the SAS exception "AFT transfer complete".
AFT_TRANSFER_COMPLETE_EXCEPTION_CODE: Final = 0x69

#: Credit kinds in the order of their amounts in every message.
_CREDIT_KINDS_IN_ORDER: Final = (CreditKind.CASHABLE, CreditKind.RESTRICTED, CreditKind.NONRESTRICTED)
#: Transfer type code of poll 72 -> kind of transfer.
_TRANSFER_KIND_BY_TYPE: Final[Mapping[int, TransferKind]] = {
    0x00: TransferKind.IN,
    0x10: TransferKind.BONUS,
    0x11: TransferKind.BONUS_JACKPOT,
    0x80: TransferKind.OUT,
}
#: Result of a transfer -> its AFT status code.
_CODE_BY_TRANSFER_STATUS: Final[Mapping[TransferStatus, int]] = {
    TransferStatus.COMPLETED_IN_FULL: 0x00,
    TransferStatus.COMPLETED_IN_PART: 0x01,
    TransferStatus.PENDING: 0x40,
    TransferStatus.CANCELLED: 0x80,
    TransferStatus.NOT_UNIQUE: 0x81,
    TransferStatus.BAD_FUNCTION: 0x82,
    TransferStatus.BAD_AMOUNT: 0x83,
    TransferStatus.BAD_EXPIRY: 0x83,
    TransferStatus.OVER_LIMIT: 0x84,
    TransferStatus.NOT_NOW: 0x87,
    TransferStatus.NOT_REGISTERED: 0x88,
    TransferStatus.KEY_MISMATCH: 0x89,
    TransferStatus.OTHER_POOL: 0x8F,
    TransferStatus.RECEIPT_NOT_SUPPORTED: 0x90,
    TransferStatus.WRONG_ASSET: 0x93,
    TransferStatus.NOT_LOCKED: 0x94,
    TransferStatus.BAD_IDENTIFIER: 0x95,
    TransferStatus.PREVIOUS_RESULT_UNREAD: 0xC0,
    TransferStatus.UNSUPPORTED: 0xC1,
    TransferStatus.NO_TRANSFER_YET: 0xFF,
}
#: Receipt status: no receipt is requested.
_NO_RECEIPT_STATUS: Final = 0xFF
#: Credit kind -> its part in the name of the cumulative transfer meters.
_METER_NAME_PART_BY_CREDIT_KIND: Final[Mapping[CreditKind, str]] = {
    CreditKind.CASHABLE: "cashable",
    CreditKind.RESTRICTED: "promo_restricted",
    CreditKind.NONRESTRICTED: "promo_cashable",
}


def find_transfer_interface(host: SasHost) -> HostTransferInterface | None:
    """Return this host's interface for ordering transfers, or None if it may order none."""
    money = host.machine.component(HostMoney)
    serves_this_line = money.money_line_name == host.name and (money.can_transfer or money.can_award_bonuses)
    return HostTransferInterface(host.context.engine, host.context.submit_event) if serves_this_line else None


#: Transfer codes of poll 72: query a result and mark it as read, query it and keep it unread, cancel.
_INTERROGATE_CODE, _QUERY_KEEP_UNREAD_CODE, _CANCEL_CODE = 0xFF, 0xFE, 0x80
#: Transfer codes of poll 72: all or nothing, as much as possible.
_FULL_ONLY_CODE, _PARTIAL_ALLOWED_CODE = 0x00, 0x01
#: Transfer flags: change the cash-out terms, offer cash-outs to the host, only the host may take cash-outs.
_SET_CASH_OUT_TERMS_FLAG, _OFFER_CASH_OUTS_FLAG, _HOST_CASH_OUT_ONLY_FLAG = 1 << 0, 1 << 1, 1 << 2
#: Transfer flags: keep the lock after the transfer, transfer only if locked, print a receipt.
_STAY_LOCKED_FLAG, _ONLY_IF_LOCKED_FLAG, _PRINT_RECEIPT_FLAG = 1 << 4, 1 << 6, 1 << 7
#: Data bytes of an order up to its identifier, including the identifier's length.
#:
#: Layout: 0 transfer code, 1 history index, 2 transfer type, 3 to 17 the three amounts, 18 flags, 19 to 22 asset
#: number, 23 to 42 registration key, 43 length of the identifier.
_ORDER_HEAD_SIZE_BYTES: Final = 44
#: Least number of data bytes of an order after its identifier.
#:
#: Layout: 0 to 3 expiry date, 4 and 5 pool, 6 length of the receipt's data.
_ORDER_TAIL_BYTES_MIN: Final = 7


def answer_aft_transfer(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 72 by its transfer code: order a transfer, cancel one, or query the result of one."""
    transfer_interface = find_transfer_interface(host)
    if transfer_interface is None:
        return None
    body = request.data[1:]
    if not body:
        raise MalformedPollError(request, "the transfer code is missing")
    if body[0] in {_INTERROGATE_CODE, _QUERY_KEEP_UNREAD_CODE}:
        return _answer_interrogation(host, transfer_interface, body[1] if len(body) > 1 else 0)
    if body[0] == _CANCEL_CODE:
        transfer_interface.cancel_order()
        return _answer_interrogation(host, transfer_interface, 0)
    if (
        len(body) < _ORDER_HEAD_SIZE_BYTES + _ORDER_TAIL_BYTES_MIN
        or len(body) < _ORDER_HEAD_SIZE_BYTES + body[_ORDER_HEAD_SIZE_BYTES - 1] + _ORDER_TAIL_BYTES_MIN
    ):
        raise MalformedPollError(request, f"the {len(body)} bytes received are too few for a transfer")
    return _order_transfer(host, transfer_interface, request, body)


def _order_transfer(
    host: SasHost, transfer_interface: HostTransferInterface, request: LongPoll, body: bytes
) -> Reply:
    """Check a transfer that the host requests and order it; return the reply with its status.

    If the order is accepted, also store the cash-out terms that it states.
    """
    flags, tail = body[18], body[_ORDER_HEAD_SIZE_BYTES + body[_ORDER_HEAD_SIZE_BYTES - 1] :]
    error_status, cents_by_credit_kind, expiry_date = None, {}, None
    try:
        cents_by_credit_kind = {
            kind: decode_bcd(request, amount_bytes)
            for kind, amount_bytes in zip(_CREDIT_KINDS_IN_ORDER, _split_amounts(body), strict=True)
        }
        expiry_date = parse_expiry(request, tail[:4], host)
    except MalformedPollError:
        error_status = TransferStatus.BAD_AMOUNT  # also for a wrong expiry date: SAS has one code for both
    if flags & _PRINT_RECEIPT_FLAG:
        error_status = TransferStatus.RECEIPT_NOT_SUPPORTED
    if body[2] not in _TRANSFER_KIND_BY_TYPE:
        error_status = TransferStatus.UNSUPPORTED
    if body[0] not in {_FULL_ONLY_CODE, _PARTIAL_ALLOWED_CODE}:
        error_status = TransferStatus.BAD_FUNCTION
    # An order with an error is passed on too: it is refused there, so that the refusal is recorded.
    status = transfer_interface.execute_or_refuse_order(
        TransferOrder(
            identifier=body[
                _ORDER_HEAD_SIZE_BYTES : _ORDER_HEAD_SIZE_BYTES + body[_ORDER_HEAD_SIZE_BYTES - 1]
            ].decode("latin-1"),
            kind=_TRANSFER_KIND_BY_TYPE.get(body[2], TransferKind.OTHER),
            cents_by_credit_kind=cents_by_credit_kind,
            may_be_partial=body[0] == _PARTIAL_ALLOWED_CODE,
            expiry_date=expiry_date,
            restricted_pool=decode_binary(tail[4:6]),
            stays_locked_afterwards=bool(flags & _STAY_LOCKED_FLAG),
            order_error=error_status,
            protocol_codes={"type": body[2], "flags": flags},
        ),
        asset_number=decode_binary(body[19:23]),
        registration_key=body[23:43],
        requires_lock=bool(flags & _ONLY_IF_LOCKED_FLAG),
    )
    if status is TransferStatus.PENDING:
        if flags & _SET_CASH_OUT_TERMS_FLAG:
            transfer_interface.set_cash_out_terms(
                is_offered_to_host=bool(flags & _OFFER_CASH_OUTS_FLAG),
                is_host_only=bool(flags & _HOST_CASH_OUT_ONLY_FLAG),
            )
        return _build_order_reply(
            body, _CODE_BY_TRANSFER_STATUS[status], repeats_amounts=True
        )  # accepted: an exception announces its end
    return _build_order_reply(body, _CODE_BY_TRANSFER_STATUS[status])


def _split_amounts(body: bytes) -> tuple[bytes, ...]:
    """Return the three amounts of a transfer order as sent: cashable, restricted and non-restricted."""
    return tuple(body[offset : offset + AMOUNT_SIZE_BYTES] for offset in (3, 8, 13))


def _build_order_reply(body: bytes, status_code: int, *, repeats_amounts: bool = False) -> Reply:
    """Return the reply to a transfer order that is refused or not finished yet, with a SAS status code.

    It repeats the order's type, flags, asset number, identifier, expiry date and pool. If ``repeats_amounts``, it also
    repeats the amounts, as for an accepted order that is not finished. Otherwise the amounts in the reply are zero.
    """
    identifier_size_bytes = body[_ORDER_HEAD_SIZE_BYTES - 1]
    amounts_sent = body[3:18] if repeats_amounts else bytes(3 * AMOUNT_SIZE_BYTES)
    expiry_and_pool_bytes = body[
        _ORDER_HEAD_SIZE_BYTES + identifier_size_bytes : _ORDER_HEAD_SIZE_BYTES + identifier_size_bytes + 6
    ]
    return Reply(
        prepend_length(
            bytes((0, status_code, _NO_RECEIPT_STATUS, body[2]))
            + amounts_sent
            + body[18:23]
            + bytes((identifier_size_bytes,))
            + body[_ORDER_HEAD_SIZE_BYTES : _ORDER_HEAD_SIZE_BYTES + identifier_size_bytes]
            + bytes(7)  # date and time of the transfer
            + expiry_and_pool_bytes
            + bytes(3)  # the lengths of the three cumulative meters
        ),
        is_resent_on_repeat=True,
    )


def _answer_interrogation(
    host: SasHost, transfer_interface: HostTransferInterface, history_index: int
) -> Reply:
    """Return the reply to the host's query of a transfer's result.

    ``history_index`` is the transfer's index in the history of transfers; 0 for the last.
    """
    result = (
        transfer_interface.last_result
        if history_index == 0
        else transfer_interface.find_result_in_history(history_index)
    )
    if result is None:
        return Reply(
            prepend_length(bytes((history_index, _CODE_BY_TRANSFER_STATUS[TransferStatus.NO_TRANSFER_YET])))
        )
    return Reply(prepend_length(_encode_result(host, result)))


def _encode_result(host: SasHost, result: HostTransferResult) -> bytes:
    """Encode the result of a transfer: index in the history, status, amounts, and cumulative meters.

    The cumulative meters are those of this kind of transfer. If no money was moved, no meter is included.
    """
    identifier = result.identifier.encode("latin-1")
    local_result_time = result.result_time.astimezone(host.machine.identity.venue.zone)
    expiry_bytes = bytes(4)
    if result.expiry_date is not None:
        expiry_midnight = datetime.combine(result.expiry_date, time())
        expiry_bytes = encode_date_and_time(expiry_midnight)[:4]
    return (
        bytes(
            (
                result.history_index,
                _CODE_BY_TRANSFER_STATUS[result.status],
                _NO_RECEIPT_STATUS,
                result.protocol_codes.get("type", 0),
            )
        )
        + b"".join(
            encode_bcd(result.cents_by_credit_kind.get(kind, 0), AMOUNT_SIZE_BYTES)
            for kind in _CREDIT_KINDS_IN_ORDER
        )
        + bytes((result.protocol_codes.get("flags", 0),))
        + encode_binary(host.machine.component(HostMoney).asset_number, 4)
        + prepend_length(identifier)
        + encode_date_and_time(local_result_time)
        + expiry_bytes
        + encode_binary(result.restricted_pool, 2)
        + _encode_cumulative_meters(host, result)
    )


def _encode_cumulative_meters(host: SasHost, result: HostTransferResult) -> bytes:
    """Return the cumulative meters of this kind of transfer, one for each credit kind, each preceded by its length.

    If the transfer moved nothing, each of the three lengths is zero and no meter follows.
    """
    if not result.status.has_moved_value:
        return bytes(3)
    value_by_meter = host.machine.journal.meters().values
    meter_name_prefix = "bonus_in" if result.kind.is_bonus else f"aft_{result.kind.value}"
    meters_bytes = b""
    for kind in _CREDIT_KINDS_IN_ORDER:
        # A bonus is never restricted: there is no such meter, and 0 is sent.
        meters_bytes += prepend_length(
            encode_bcd(
                value_by_meter.get(f"{meter_name_prefix}.{_METER_NAME_PART_BY_CREDIT_KIND[kind]}.value", 0),
                AMOUNT_SIZE_BYTES,
            )
        )
    return meters_bytes


def mark_transfer_result_read(host: SasHost, request: LongPoll, reply: Reply) -> None:
    """Record that the host has read a transfer's final result, if the reply that it has received contained one."""
    transfer_interface = find_transfer_interface(host)
    if transfer_interface is None or not transfer_interface.has_unread_result:
        return
    is_result_query = request.data[1:2] == bytes((_INTERROGATE_CODE,)) and request.data[2:3] in {b"", b"\0"}
    if is_result_query and reply.data == _answer_interrogation(host, transfer_interface, 0).data:
        transfer_interface.acknowledge_result()


#: Registration codes of poll 73: initialise, register, unregister, query.
_INITIALISE_CODE, _REGISTER_CODE, _UNREGISTER_CODE, _QUERY_CODE = 0x00, 0x01, 0x80, 0xFF
#: Registration states in the reply to poll 73: ready to be registered, registered, not registered.
_READY_STATUS, _REGISTERED_STATUS, _NOT_REGISTERED_STATUS = 0x00, 0x01, 0x80
#: Bytes of a registration request and of its key.
_REGISTRATION_SIZE_BYTES, _REGISTRATION_KEY_SIZE_BYTES = 0x1D, 20


def answer_aft_registration(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 73: register or unregister the machine, or report its registration.

    No operator has to confirm a registration at the machine.
    """
    transfer_interface = find_transfer_interface(host)
    if transfer_interface is None:
        return None
    length, body = request.data[0], request.data[1:]
    if length not in {1, _REGISTRATION_SIZE_BYTES}:
        raise MalformedPollError(
            request, f"length is {length:02X}; expected 01 or {_REGISTRATION_SIZE_BYTES:02X}"
        )
    registration_code = body[0]
    if registration_code == _UNREGISTER_CODE:
        return _build_registration_reply(transfer_interface.cancel_registration())
    if length == 1:
        return _build_registration_reply(transfer_interface.current_registration)
    asset_number, registration_key, pos_id = decode_binary(body[1:5]), body[5:25], decode_binary(body[25:29])
    if registration_code == _REGISTER_CODE:
        return _build_registration_reply(
            transfer_interface.register_machine(asset_number, registration_key, pos_id)
        )
    if registration_code == _INITIALISE_CODE:
        registration = transfer_interface.cancel_registration()
        return _build_registration_reply(
            AftRegistration(False, registration.asset_number, pos_id, registration_key), _READY_STATUS
        )
    return _build_registration_reply(transfer_interface.current_registration)


def _build_registration_reply(registration: AftRegistration, status_code: int | None = None) -> Reply:
    """Return the reply to poll 73 with the machine's registration."""
    if status_code is None:
        status_code = _REGISTERED_STATUS if registration.is_registered else _NOT_REGISTERED_STATUS
    registration_key = registration.registration_key.ljust(_REGISTRATION_KEY_SIZE_BYTES, b"\0")
    return Reply(
        prepend_length(
            bytes((status_code,))
            + encode_binary(registration.asset_number, 4)
            + registration_key
            + encode_binary(registration.pos_id, 4)
        ),
        is_resent_on_repeat=True,
    )


#: Lock codes of poll 74.
_LOCK_CODE, _UNLOCK_CODE = 0x00, 0x80
#: Lock states in the reply to poll 74.
_LOCKED_STATUS, _LOCK_PENDING_STATUS, _NOT_LOCKED_STATUS = 0x00, 0x40, 0xFF
#: State of the transfer lock -> code in the reply to poll 74.
_STATUS_BY_LOCK_STATE: Final[Mapping[TransferLockState, int]] = {
    TransferLockState.LOCKED: _LOCKED_STATUS,
    TransferLockState.PENDING: _LOCK_PENDING_STATUS,
    TransferLockState.NOT_LOCKED: _NOT_LOCKED_STATUS,
}


def answer_aft_lock(host: SasHost, request: LongPoll) -> Reply | None:
    """Answer poll 74: lock the machine for a transfer, release it, or report which transfers are possible now."""
    transfer_interface = find_transfer_interface(host)
    if transfer_interface is None:
        return None
    lock_code, required_transfers_mask, timeout_hundredths = (
        request.data[0],
        request.data[1],
        decode_bcd(request, request.data[2:4]),
    )
    if (
        lock_code == _LOCK_CODE
        and required_transfers_mask & ~_encode_available_transfers(transfer_interface) == 0
    ):
        transfer_interface.request_lock(required_transfers_mask, timeout_hundredths)
    elif lock_code == _UNLOCK_CODE:
        transfer_interface.release_lock()
    return Reply(prepend_length(_encode_lock_status(host, transfer_interface)))


def _encode_available_transfers(transfer_interface: HostTransferInterface) -> int:
    """Return the kinds of transfers possible now as bits: 0 host to machine, 1 machine to host, 4 bonuses."""
    bit_by_kind = ((TransferKind.IN, 0), (TransferKind.OUT, 1), (TransferKind.BONUS, 4))
    return sum(1 << bit for kind, bit in bit_by_kind if transfer_interface.can_execute(kind))


def _encode_lock_status(host: SasHost, transfer_interface: HostTransferInterface) -> bytes:
    """Return the lock status fields of the reply to poll 74: availability, cash-out terms and restricted terms."""
    machine = host.machine
    money, restricted_terms = machine.component(HostMoney), find_restricted_terms(machine)
    cash_out_terms = transfer_interface.cash_out_terms
    # Bits 0 to 2: cash-outs to the host are possible, are offered to it, go to it only.
    cash_out_bits = (
        (1 if money.can_transfer else 0)
        | (cash_out_terms.is_offered_to_host << 1)
        | (cash_out_terms.is_host_only << 2)
    )
    # Bit 1: partial transfers; bit 3: registered; bit 4: transfers of credit; bit 5: bonuses.
    status_bits = (transfer_interface.current_registration.is_registered << 3) | (
        money.can_transfer << 1 | money.can_transfer << 4
    )
    status_bits |= money.can_award_bonuses << 5
    expiry_bytes, restricted_pool = bytes(4), 0
    if restricted_terms is not None:
        restricted_pool = restricted_terms.restricted_pool
        if restricted_terms.expiry_date:
            year, month, day = restricted_terms.expiry_date.split("-")
            expiry_bytes = bytes.fromhex(month + day + year)
    return (
        encode_binary(money.asset_number, 4)
        + bytes(
            (
                _STATUS_BY_LOCK_STATE[transfer_interface.transfer_lock_state],
                _encode_available_transfers(transfer_interface),
                cash_out_bits,
                status_bits,
                TRANSFER_HISTORY_SIZE,
            )
        )
        + b"".join(
            encode_bcd(machine.read_credit_cents(kind), AMOUNT_SIZE_BYTES) for kind in _CREDIT_KINDS_IN_ORDER
        )
        + encode_bcd(machine.profile.host.electronic_transfer_max_cents, AMOUNT_SIZE_BYTES)
        + expiry_bytes
        + encode_binary(restricted_pool, 2)
    )


# All three run on the machine's event loop, as ``effect_function``, because each may change the machine.
_POLL_GROUP: Final = SasPollGroup.AFT
POLL_IMPLEMENTATIONS: Final[Sequence[PollImplementation]] = (
    PollImplementation(
        code=0x72,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        effect_function=answer_aft_transfer,
        acknowledgement_function=mark_transfer_result_read,
        group=_POLL_GROUP,
    ),
    PollImplementation(
        code=0x73,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        effect_function=answer_aft_registration,
        group=_POLL_GROUP,
    ),
    PollImplementation(
        code=0x74,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        effect_function=answer_aft_lock,
        group=_POLL_GROUP,
    ),
)

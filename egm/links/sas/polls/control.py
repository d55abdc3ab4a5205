"""Control polls: a host disables and enables the machine, its bill acceptor, games and sounds.

Every effect is an event of the state table, recorded under the host's name: a host can end only the restrictions that
it has set itself, and a repeat changes nothing, except that poll 2E starts its delay again.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from egm.config.sas_line import SasPollGroup
from egm.host.events import HostRestrictionChange
from egm.integrity.events import DisablingRequest, EnablingRequest
from egm.kernel.events import EventType
from egm.links.sas.codec import ACK, NACK, Reply, decode_bcd, decode_binary
from egm.links.sas.host import SasHost
from egm.links.sas.link_monitor import GAME_DELAY_SUFFIX
from egm.links.sas.poll import ONE_BYTE_REPLY_SIZE, PollEffectFunction, PollImplementation
from egm.links.sas.tables.denominations import BILL_MAJOR_UNITS_BY_CODE
from egm.links.sas.wire import LongPoll
from egm.money.host_restrictions import RestrictableFunction
from meters.transaction import JSON

#: Flag of poll 08: the acceptor stays enabled after a bill.
_ACCEPTOR_STAYS_ENABLED_FLAG: Final = 0x01
#: The unit of poll 2E's game delay, by one public source; another says milliseconds.
_DELAY_UNIT_SECONDS: Final = 0.1


#: Key in :attr:`SasHost.values_between_polls`; the value is the timer that ends the game delay of poll 2E.
_DELAY_TIMER_KEY: Final = "delay"


def _set_restriction(host: SasHost, function_name: str, restriction: JSON) -> Reply:
    """Submit this host's request to restrict a function of the machine, and acknowledge the poll.

    ``restriction`` None ends the restriction.
    """
    host.submit_event(
        EventType.HOST_RESTRICTION_CHANGED,
        HostRestrictionChange(source=host.source, name=str(function_name), value=restriction),
    )
    return ACK


def _build_restriction_effect(function_name: RestrictableFunction, restriction: JSON) -> PollEffectFunction:
    """Return the effect function of a poll that restricts one function of the machine, or ends the restriction.

    ``function_name`` is the function, such as sounds; ``restriction`` is the restriction, or None to end it.
    """

    def apply_restriction(host: SasHost, _: LongPoll) -> Reply:
        """Set or end the restriction of the function for this host, and acknowledge the poll."""
        return _set_restriction(host, function_name, restriction)

    return apply_restriction


def _build_disabling_effect(suffix: str, reason: str) -> PollEffectFunction:
    """Return the effect function of a poll that disables the machine.

    The machine records who has disabled it (the host's name with ``suffix``), and ``reason``.
    """

    def disable_machine(host: SasHost, _: LongPoll) -> Reply:
        """Disable the machine for this host, and acknowledge the poll."""
        host.submit_event(
            EventType.MACHINE_DISABLED, DisablingRequest(source=host.source + suffix, reason=reason)
        )
        return ACK

    return disable_machine


def _build_enabling_effect(suffix: str) -> PollEffectFunction:
    """Return the effect function of a poll that enables the machine again.

    It ends only this host's own disabling that was recorded with ``suffix``.
    """

    def lift_disabling(host: SasHost, _: LongPoll) -> Reply:
        """End this host's disabling of the machine, and acknowledge the poll."""
        host.submit_event(EventType.MACHINE_ENABLED, EnablingRequest(source=host.source + suffix))
        return ACK

    return lift_disabling


def enable_bill_acceptor(host: SasHost, _: LongPoll) -> Reply:
    """Answer poll 06: accept bills again, also after a bill closed the acceptor because of poll 08."""
    return _set_restriction(host, RestrictableFunction.BILL_ACCEPTOR, None)


def configure_bills(host: SasHost, request: LongPoll) -> Reply:
    """Answer poll 08: set which bills are accepted, and whether the acceptor is closed after each accepted bill.

    The poll has one bit for each kind of bill.
    """
    accepted_bills_mask, action_flags = decode_binary(request.data[:4]), request.data[4]
    bills_cents = [
        value * 100 for code, value in BILL_MAJOR_UNITS_BY_CODE.items() if accepted_bills_mask >> code & 1
    ]
    host.values_between_polls[CLOSE_AFTER_BILL_KEY] = not action_flags & _ACCEPTOR_STAYS_ENABLED_FLAG
    return _set_restriction(host, RestrictableFunction.BILL_DENOMINATIONS, bills_cents)


def set_game_enabled(host: SasHost, request: LongPoll) -> Reply:
    """Answer poll 09: enable (01) or disable (00) one game; sources conflict on the meaning of the flag."""
    game_id = host.find_game_id(decode_bcd(request, request.data[:2]))
    enabling_flag = request.data[2]
    if game_id is None or enabling_flag > 1:
        return NACK
    return _set_restriction(host, f"{RestrictableFunction.GAME}.{game_id}", None if enabling_flag else False)


def delay_game(host: SasHost, request: LongPoll) -> Reply:
    """Answer poll 2E: delay the next games by the requested tenths of a second; zero ends a delay."""
    source = f"{host.source}{GAME_DELAY_SUFFIX}"
    delay_seconds = decode_bcd(request, request.data) * _DELAY_UNIT_SECONDS
    pending_timer: asyncio.TimerHandle | None = host.values_between_polls.pop(_DELAY_TIMER_KEY, None)
    if pending_timer is not None:
        pending_timer.cancel()
    if not delay_seconds:
        host.submit_event(EventType.MACHINE_ENABLED, EnablingRequest(source=source))
        return ACK
    host.submit_event(EventType.MACHINE_DISABLED, DisablingRequest(source=source, reason="delay"))
    host.values_between_polls[_DELAY_TIMER_KEY] = asyncio.get_running_loop().call_later(
        delay_seconds, lambda: host.submit_event(EventType.MACHINE_ENABLED, EnablingRequest(source=source))
    )
    return ACK


#: Key in :attr:`SasHost.values_between_polls`; the value is whether every bill closes the acceptor (poll 08).
CLOSE_AFTER_BILL_KEY: Final = "close_after_bill"


def close_acceptor_after_bill(host: SasHost) -> None:
    """Close the bill acceptor after an accepted bill, if the host has asked for that by poll 08."""
    if host.values_between_polls.get(CLOSE_AFTER_BILL_KEY):
        _set_restriction(host, RestrictableFunction.BILL_ACCEPTOR, False)


def _build_control_poll(code: int, effect: PollEffectFunction) -> PollImplementation:
    """Return the poll with this command code, which needs the option group of control polls."""
    return PollImplementation(
        code=code, reply_size_bytes=ONE_BYTE_REPLY_SIZE, effect_function=effect, group=SasPollGroup.CONTROL
    )


#: The control polls that this machine answers.
POLL_IMPLEMENTATIONS: Final[Sequence[PollImplementation]] = (
    _build_control_poll(0x01, _build_disabling_effect("", "host")),
    _build_control_poll(0x02, _build_enabling_effect("")),
    _build_control_poll(0x03, _build_restriction_effect(RestrictableFunction.SOUND, "off")),
    _build_control_poll(0x04, _build_restriction_effect(RestrictableFunction.SOUND, None)),
    _build_control_poll(0x05, _build_restriction_effect(RestrictableFunction.SOUND, "no_play")),
    _build_control_poll(0x06, enable_bill_acceptor),
    _build_control_poll(0x07, _build_restriction_effect(RestrictableFunction.BILL_ACCEPTOR, False)),
    _build_control_poll(0x08, configure_bills),
    _build_control_poll(0x09, set_game_enabled),
    _build_control_poll(0x0A, _build_disabling_effect(":maintenance", "maintenance")),
    _build_control_poll(0x0B, _build_enabling_effect(":maintenance")),
    PollImplementation(
        code=0x2E,
        reply_size_bytes=ONE_BYTE_REPLY_SIZE,
        effect_function=delay_game,
        group=SasPollGroup.GAME_DELAY,
    ),
)

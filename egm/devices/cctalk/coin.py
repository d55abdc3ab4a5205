"""Driver of ccTalk coin acceptors.

There is no escrow: an accepted coin cannot be returned. The acceptor counts its events and stores the last five. The
ledger stores the number of the last event that was credited, in the same transaction as the credit, so that each coin
is counted once whatever fails. An acceptor that lost power rejects every coin until the driver enables it, which the
driver does only after it has detected the reset.

A coin that was accepted just before a power loss and never reported shows only in the acceptor's lifetime counter. It
becomes a disputed amount, between the smallest and the largest coin value. If the counter differs by more coins than
can have gone in unreported (:data:`UNREPORTED_COINS_MAX`), another acceptor may have been installed: the disputed
amount then has no lower limit.
"""

import asyncio
import math
from collections.abc import Mapping
from typing import Final

from egm.devices.cctalk import codec
from egm.devices.cctalk.codec import CctalkEvent, CoinError, Header
from egm.devices.cctalk.events import (
    compute_exchange_progress,
    count_items_accepted_since,
    find_new_events,
    has_no_new_event,
)
from egm.devices.cctalk.exchange import SETTINGS_RENEWAL_SECONDS, CctalkDriver
from egm.devices.channel_values import (
    DOLLAR_CURRENCIES,
    ChannelValueCheck,
    ReportedValue,
    list_currencies_of_country,
)
from egm.devices.framing import ProtocolError
from egm.devices.interface import (
    AcceptorReadiness,
    AmountDisputed,
    CoinAccepted,
    EventSink,
    FaultCode,
    ItemRejected,
)
from egm.devices.ledgers import CoinLedger, DisputedCoins
from egm.devices.line import SerialLine

#: Number of digits of the value in a coin's name, which is in minor units.
_COIN_NAME_DIGIT_COUNT: Final = 3
#: Path reported by an acceptor without a diverter.
_SORTER_PATH_NOT_REPORTED: Final = 0
#: How long a coin fault is shown after its event: the acceptor reports the beginning of a fault, never the end.
_COIN_FAULT_SHOWN_SECONDS: Final = 3.0

#: If the accept counter shows more unreported coins than this, it is taken to be the counter of another acceptor.
UNREPORTED_COINS_MAX: Final = 255

#: A coin in flight when coins were disabled arrives within this time.
_COIN_FLIGHT_SECONDS: Final = 2.0

#: Error event -> the fault that it reports.
_FAULT_BY_ERROR: Final[Mapping[int, FaultCode]] = {
    CoinError.CREDIT_SENSOR_NOT_READY: FaultCode.SENSOR_STUCK,
    CoinError.VALIDATION_SENSOR_NOT_READY: FaultCode.SENSOR_STUCK,
    CoinError.REJECT_SENSOR_BLOCKED: FaultCode.SENSOR_STUCK,
    CoinError.COIN_WRONGLY_SORTED: FaultCode.COIN_IN_WRONG_CONTAINER,
    CoinError.CREDIT_SENSOR_BLOCKED: FaultCode.JAM,
    CoinError.SORTER_TIMEOUT: FaultCode.COIN_DIVERTER,
    CoinError.SORTER_BLOCKED: FaultCode.COIN_DIVERTER,
    CoinError.COIN_MOVED_BACKWARDS: FaultCode.COIN_CHEAT,
    CoinError.COIN_ON_STRING: FaultCode.COIN_CHEAT,
}


class CctalkCoinDriver(CctalkDriver):
    """A :class:`~egm.devices.interface.CoinAcceptor` that speaks the ccTalk protocol."""

    address = codec.COIN_ACCEPTOR_ADDRESS

    def __init__(
        self,
        name: str,
        line: SerialLine,
        sink: EventSink,
        ledger: CoinLedger,
        cents_by_slot: Mapping[int, int] = codec.COIN_CENTS_BY_SLOT,
        *,
        currencies: frozenset[str] = DOLLAR_CURRENCIES,
    ) -> None:
        """Create the driver. ``cents_by_slot`` maps coin slots (1 to 16) to minor units of one of ``currencies``."""
        super().__init__(name, line, sink, codec.cut_frame, codec.CCTALK_PROTOCOL)
        self._ledger = ledger
        self._cents_by_slot = dict(cents_by_slot)
        self._enabled_cents: frozenset[int] = frozenset()
        self._sorter_path = codec.SORTER_PATH_HOPPER
        self._applied_settings: dict[tuple[Header, int], bytes] = {}  # data by header and slot (0: all slots)
        self._is_identified = False
        self._currencies = currencies
        self._value_check = ChannelValueCheck(self._cents_by_slot, currencies)
        self._is_ready: bool | None = None
        self._fault_end_by_code: dict[FaultCode, float] = {}
        self._disabled_since_by_slot: dict[int, float] = {}
        self._sorter_set_at = 0.0
        # Time of the last query for the events. Every event that is not read yet happened after it.
        self._events_read_at = -math.inf
        self._renew_settings_at = 0.0

    # ------------------------------------------------------------ the machine's side
    @property
    def values_cents(self) -> frozenset[int]:
        """Return the values of the coins that the acceptor can report, in minor units."""
        return frozenset(self._cents_by_slot.values())

    def enable(self, denominations_cents: frozenset[int]) -> None:
        """Accept coins of these values; a value for which the acceptor has no coin slot is ignored."""
        self._enabled_cents = denominations_cents
        self._wake_event.set()

    def disable(self) -> None:
        """Accept no coins: all of them fall through to the tray."""
        self.enable(frozenset())

    def route_coins(self, *, to_hopper: bool) -> None:
        """Set the diverter for accepted coins: to the hopper, or to the drop box in the cabinet stand."""
        path = codec.SORTER_PATH_HOPPER if to_hopper else codec.SORTER_PATH_DROP_BOX
        if path != self._sorter_path:
            # inf until the new setting has been sent: until then, a coin in the wrong container is no fault
            self._sorter_path, self._sorter_set_at = path, math.inf
            self._wake_event.set()

    # ------------------------------------------------------------ the cycle
    def _reset_session(self) -> None:
        """Clear what the coin acceptor has reported: its line was opened again, or it does not reply."""
        self._renew_settings_at = 0.0
        self._is_identified = False
        self._value_check = ChannelValueCheck(self._cents_by_slot, self._currencies)
        self._is_ready = None
        self._disabled_since_by_slot.clear()

    async def _run_cycle(self) -> None:
        """Run one cycle: read the coin events, query coin values, apply settings, identify the acceptor."""
        try:
            reply = await self._query(Header.READ_CREDITS)
            if reply is not None and await self._credit_new_coins(codec.decode_event_buffer(reply)):
                await self._query_next_value()
                if self._value_check.are_all_channels_queried:
                    await self._send_settings()
                self._is_identified = self._is_identified or await self._identify()
            self._handle_valid_message()
        except ProtocolError as error:
            self._count_invalid_message(error)
        self._report_timed_faults()
        await self._pause_until_next_poll()

    async def _query_next_value(self) -> None:
        """Query the value of one more coin slot. Only one is queried per cycle, so that no event has to wait."""
        slot = self._value_check.next_channel_to_query
        if slot is None:
            return
        reply = await self._query(Header.COIN_ID, bytes((slot,)))
        if reply is None:
            self._store_reported_value(slot, None)
            return
        country, cents = codec.decode_coin_or_bill_name(reply, _COIN_NAME_DIGIT_COUNT)
        text = reply.decode("ascii", "replace")
        self._store_reported_value(slot, ReportedValue(text, cents, list_currencies_of_country(country)))

    def _store_reported_value(self, slot: int, reported_value: ReportedValue | None) -> None:
        """Store the value that the acceptor reports for a coin slot, and report wrong values as faults."""
        self._value_check.store_reported_value(slot, reported_value)
        self._report_value_faults(self._value_check)

    async def _credit_new_coins(self, event_buffer: codec.EventBuffer) -> bool:
        """Credit the coins in the acceptor's new events; return False if its replies were missing or inconsistent.

        Coins that cannot be credited are recorded as a disputed amount.
        """
        progress = self._ledger.find_exchange_progress()
        if progress is not None and has_no_new_event(progress, event_buffer):
            self._events_read_at = self._queried_at
            return True
        reading = await self._read_events_with_counter(Header.READ_CREDITS)
        if reading is None:
            return False
        event_buffer, accept_counter = reading
        last_read_at, self._events_read_at = self._events_read_at, self._queried_at
        if progress is None:
            self._ledger.credit_coins_in((), compute_exchange_progress(event_buffer, accept_counter))
            return True
        if progress == compute_exchange_progress(event_buffer, accept_counter):
            return True
        new_events = find_new_events(progress, event_buffer)
        self._raise_faults_of_accepted_coins(new_events.events, last_read_at)
        if event_buffer.event_counter == 0 or new_events.was_reset:
            self._applied_settings.clear()
            self._value_check = ChannelValueCheck(self._cents_by_slot, self._currencies)
        reported_coins = tuple(
            (self._cents_by_slot[event.result_a], self._find_coin_path(event) == codec.SORTER_PATH_HOPPER)
            for event in new_events.events
            if event.result_a in self._cents_by_slot
        )
        accepted_coin_count = count_items_accepted_since(progress, accept_counter)
        unreported_coin_count = accepted_coin_count - sum(event.result_a > 0 for event in new_events.events)
        credited_coins = reported_coins
        if (
            unreported_coin_count < 0
        ):  # the acceptor has counted fewer coins: credit only as many, oldest first
            credited_coins = reported_coins[:accepted_coin_count]
        unknown_slots = sorted(
            {
                event.result_a
                for event in new_events.events
                if event.result_a and event.result_a not in self._cents_by_slot
            }
        )
        disputed_coins = self._build_disputed_coins(
            unreported_coin_count,
            new_events.lost_count,
            sum(cents for cents, _ in reported_coins[len(credited_coins) :]),
            unknown_slots,
        )
        self._ledger.credit_coins_in(
            credited_coins, compute_exchange_progress(event_buffer, accept_counter), disputed_coins
        )
        for amount_cents, to_hopper in credited_coins:
            self._emit(CoinAccepted(device=self.name, amount_cents=amount_cents, to_hopper=to_hopper))
        if disputed_coins is not None:
            self._emit(AmountDisputed(device=self.name, text=disputed_coins.reason))
        for event in new_events.events:
            self._handle_event_without_coin(event)
        return True

    def _find_coin_path(self, event: CctalkEvent) -> int:
        """Return the sorter path of the coin in an event: as reported or, if not reported, as the driver has set it."""
        path_setting = self._applied_settings.get((Header.SORTER_PATH, event.result_a))
        return event.result_b or (self._sorter_path if path_setting is None else path_setting[1])

    def _build_disputed_coins(
        self,
        unreported_coin_count: int,
        lost_event_count: int,
        uncounted_cents: int,
        unknown_slots: list[int],
    ) -> DisputedCoins | None:
        """Return the coins that cannot be credited, with the reason and the bounds of their value.

        Return None if all coins can be credited. ``unreported_coin_count`` is the number of coins that the accept
        counter shows minus the number in the events. If it is negative, the counter lacks reported coins that are worth
        ``uncounted_cents``; if it is above :data:`UNREPORTED_COINS_MAX`, the counter is taken to be another acceptor's.
        ``lost_event_count`` is the number of events that were overwritten before they were read. ``unknown_slots`` has
        the slot of each coin whose slot has no value.
        """
        coin_values_cents = self._cents_by_slot.values()
        amount_min_cents = amount_max_cents = 0
        reasons = []
        if unreported_coin_count > UNREPORTED_COINS_MAX:
            reasons.append(
                "the acceptor's count of coins does not follow its last one: is this another acceptor?"
            )
            amount_max_cents += UNREPORTED_COINS_MAX * max(coin_values_cents, default=0)
        elif unreported_coin_count > 0 or lost_event_count:
            reasons.append(
                f"{max(unreported_coin_count, 0)} coins were accepted but never reported; "
                f"{lost_event_count} events were lost"
            )
            amount_min_cents += max(unreported_coin_count, 0) * min(coin_values_cents, default=0)
            amount_max_cents += max(unreported_coin_count, 0) * max(coin_values_cents, default=0)
        if unreported_coin_count < 0:
            reasons.append(
                f"{-unreported_coin_count} coins reported that the acceptor did not count; not credited"
            )
            amount_max_cents += uncounted_cents
        if unknown_slots:
            slots = ", ".join(str(slot) for slot in unknown_slots)
            reasons.append(f"coins in slot {slots}, which has no value here")
            amount_max_cents += len(unknown_slots) * max(coin_values_cents, default=0)
        return (
            DisputedCoins(
                reason="; ".join(reasons),
                amount_min_cents=amount_min_cents,
                amount_max_cents=amount_max_cents,
            )
            if reasons
            else None
        )

    def _handle_event_without_coin(self, event: CctalkEvent) -> None:
        """Raise the fault in an event, or emit that a coin was rejected; ignore the event of an accepted coin."""
        if event.result_a:
            return
        if event.result_b in _FAULT_BY_ERROR:
            self._start_timed_fault(_FAULT_BY_ERROR[event.result_b])
        else:
            self._emit(ItemRejected(device=self.name, reason=f"coin event {event.result_b}"))

    def _raise_faults_of_accepted_coins(
        self, accepted_events: tuple[CctalkEvent, ...], accepted_after: float
    ) -> None:
        """Raise a fault for each coin accepted while its slot was disabled, or sorted into the wrong container.

        The coins were accepted at an unknown time after ``accepted_after``, when the events were last read. A fault is
        therefore raised only if the slot was disabled, or the sorter set, long enough before that time. The caller
        credits these coins as usual.
        """
        for event in accepted_events:
            path_setting = self._applied_settings.get((Header.SORTER_PATH, event.result_a))
            disabled_since = self._disabled_since_by_slot.get(event.result_a)
            if disabled_since is not None and accepted_after > disabled_since + _COIN_FLIGHT_SECONDS:
                self._start_timed_fault(FaultCode.COIN_WHILE_DISABLED)
            is_sorter_settled = accepted_after > self._sorter_set_at + _COIN_FLIGHT_SECONDS
            if (
                event.result_a
                and is_sorter_settled
                and path_setting is not None
                and event.result_b not in {path_setting[1], _SORTER_PATH_NOT_REPORTED}
            ):
                self._start_timed_fault(FaultCode.COIN_IN_WRONG_CONTAINER)

    def _start_timed_fault(self, fault: FaultCode) -> None:
        """Let a fault be reported as active for some seconds: the acceptor reports its start, but never its end."""
        fault_end = asyncio.get_running_loop().time() + _COIN_FAULT_SHOWN_SECONDS
        self._fault_end_by_code |= {fault: fault_end}

    def _report_timed_faults(self) -> None:
        """Report the timed faults that are active, and clear those whose time has passed."""
        now = asyncio.get_running_loop().time()
        ended_faults = [fault for fault in FaultCode if now >= self._fault_end_by_code.get(fault, now)]
        for fault in ended_faults:
            self._fault_end_by_code.pop(fault, None)
        self._update_faults(dict.fromkeys(self._fault_end_by_code, ""))

    # ------------------------------------------------------------ settings
    async def _send_settings(self) -> None:
        """Send the requested settings to the coin acceptor, the master inhibit last."""
        enabled_cents = frozenset[int]() if self._value_check.has_differences else self._enabled_cents
        enabled_slots_mask = sum(
            1 << slot - 1 for slot, cents in self._cents_by_slot.items() if cents in enabled_cents
        )
        is_accepting = bool(enabled_cents)
        settings: dict[tuple[Header, int], bytes] = {
            **{(Header.SORTER_PATH, slot): bytes((slot, self._sorter_path)) for slot in self._cents_by_slot},
            (Header.INHIBIT_MASK, 0): enabled_slots_mask.to_bytes(2, "little"),
            (Header.MASTER_INHIBIT, 0): bytes((is_accepting,)),
        }
        # Send all settings again from time to time, because the acceptor may have lost them without reporting it.
        if asyncio.get_running_loop().time() >= self._renew_settings_at:
            self._applied_settings.clear()
        for (header, slot), data in settings.items():
            if self._applied_settings.get((header, slot)) == data:
                continue
            self._renew_settings_at = asyncio.get_running_loop().time() + SETTINGS_RENEWAL_SECONDS
            is_acknowledged = await self._send_command(header, data)
            # An acceptor without a sorter does not acknowledge the sorter path.
            if not is_acknowledged and header is not Header.SORTER_PATH:
                return
            self._applied_settings[header, slot] = data
        now = asyncio.get_running_loop().time()
        self._sorter_set_at = min(self._sorter_set_at, now)
        self._disabled_since_by_slot = {
            slot: self._disabled_since_by_slot.get(slot, now)
            for slot in self._cents_by_slot
            if not (is_accepting and enabled_slots_mask >> slot - 1 & 1)
        }
        if self._is_ready is not is_accepting:
            self._is_ready = is_accepting
            self._emit(AcceptorReadiness(device=self.name, is_accepting=is_accepting))

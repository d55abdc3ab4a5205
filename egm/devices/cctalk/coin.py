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
    compute_event_position,
    count_items_accepted_since,
    is_event_position_unchanged,
    list_events_since,
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
    CoinAccepted,
    EventSink,
    FaultCode,
    PaperDisputed,
    PaperRejection,
)
from egm.devices.ledgers import CoinLedger, DisputedCoins
from egm.devices.line import SerialLine

#: Number of digits of the value in a coin's name, which is in minor units.
_COIN_NAME_DIGIT_COUNT: Final = 3
#: Path reported by an acceptor without a diverter.
_SORTER_PATH_NOT_REPORTED: Final = 0
#: How long a coin fault is shown after its event: the acceptor reports the beginning of a fault, never the end.
_COIN_FAULT_SHOWN_SECONDS: Final = 3.0

#: More coins than this are not attributed to this acceptor: its counter is then that of another acceptor.
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
        coins: Mapping[int, int] = codec.COIN_CENTS_BY_SLOT,
        *,
        currencies: frozenset[str] = DOLLAR_CURRENCIES,
    ) -> None:
        """Create the driver. ``coins`` maps coin slots (1 to 16) to minor units of one of ``currencies``."""
        super().__init__(name, line, sink, codec.cut_frame, codec.CCTALK_PROTOCOL)
        self._ledger = ledger
        self._coins = dict(coins)
        self._denominations: frozenset[int] = frozenset()
        self._path = codec.SORTER_PATH_HOPPER
        self._applied_settings: dict[tuple[Header, int], bytes] = {}
        self._identified = False
        self._currencies = currencies
        self._value_check = ChannelValueCheck(self._coins, currencies)
        self._is_ready: bool | None = None
        self._faults_until: dict[FaultCode, float] = {}
        self._refused_since_by_slot: dict[int, float] = {}
        self._turned_at = 0.0
        # when the last reading of the events was queried: a new event is later
        self._events_read_at = -math.inf
        self._renew_at = 0.0

    # ------------------------------------------------------------ the machine's side
    @property
    def values_cents(self) -> frozenset[int]:
        """Return the values of the coins that the acceptor can report, in minor units."""
        return frozenset(self._coins.values())

    def enable(self, denominations_cents: frozenset[int]) -> None:
        """Accept coins of these values, as far as the acceptor has a slot for them."""
        self._denominations = denominations_cents
        self._wake.set()

    def disable(self) -> None:
        """Accept no coins: all of them fall through to the tray."""
        self.enable(frozenset())

    def route_coins(self, *, to_hopper: bool) -> None:
        """Set the diverter for accepted coins: to the hopper, or to the drop box in the cabinet stand."""
        path = codec.SORTER_PATH_HOPPER if to_hopper else codec.SORTER_PATH_DROP_BOX
        if path != self._path:
            # until the acceptor has the new setting, and a while longer
            self._path, self._turned_at = path, math.inf
            self._wake.set()

    # ------------------------------------------------------------ the cycle
    def _reset_session(self) -> None:
        """Clear what is known of the coin acceptor, because its line was opened again."""
        self._renew_at = 0.0
        self._identified = False
        self._value_check = ChannelValueCheck(self._coins, self._currencies)
        self._is_ready = None
        self._refused_since_by_slot.clear()

    async def _run_cycle(self) -> None:
        """Run one cycle: read the coin events, query coin values, apply settings, identify the acceptor."""
        try:
            answer = await self._query(Header.READ_CREDITS)
            if answer is not None and await self._record_events(codec.decode_event_buffer(answer)):
                await self._query_next_value()
                if self._value_check.are_all_channels_queried:
                    await self._send_settings()
                self._identified = self._identified or await self._identify()
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
        answer = await self._query(Header.COIN_ID, bytes((slot,)))
        if answer is None:
            self._store_reported_value(slot, None)
            return
        country, cents = codec.decode_coin_or_bill_name(answer, _COIN_NAME_DIGIT_COUNT)
        text = answer.decode("ascii", "replace")
        self._store_reported_value(slot, ReportedValue(text, cents, list_currencies_of_country(country)))

    def _store_reported_value(self, slot: int, reported: ReportedValue | None) -> None:
        """Store the value that the acceptor reports for a coin slot, and report wrong values as faults."""
        self._value_check.store_reported_value(slot, reported)
        self._report_value_faults(self._value_check)

    async def _record_events(self, events: codec.EventBuffer) -> bool:
        """Credit the coins in the acceptor's new events; return False if its replies were missing or inconsistent.

        Coins that cannot be credited are recorded as a disputed amount.
        """
        position = self._ledger.find_last_event_position()
        if position is not None and is_event_position_unchanged(position, events):
            self._events_read_at = self._queried_at
            return True
        instant = await self._read_events_with_counter(Header.READ_CREDITS)
        if instant is None:
            return False
        events, accepted = instant
        last_read_at, self._events_read_at = self._events_read_at, self._queried_at
        if position is None:
            self._ledger.credit_coins_in((), compute_event_position(events, accepted))
            return True
        if position == compute_event_position(events, accepted):
            return True
        news = list_events_since(position, events)
        self._check_accepted_coins(news.new_events, last_read_at)
        if events.event_counter == 0 or news.has_restarted:
            self._applied_settings.clear()
            self._value_check = ChannelValueCheck(self._coins, self._currencies)
        coins = tuple(
            (self._coins[event.result_a], self._find_coin_path(event) == codec.SORTER_PATH_HOPPER)
            for event in news.new_events
            if event.result_a in self._coins
        )
        counted_coins = count_items_accepted_since(position, accepted)
        unseen_coins = counted_coins - sum(event.result_a > 0 for event in news.new_events)
        event_coins = coins
        if unseen_coins < 0:  # the acceptor's own counter shows fewer coins: use the first ones reported
            coins = coins[:counted_coins]
        unknown_slots = sorted(
            {
                event.result_a
                for event in news.new_events
                if event.result_a and event.result_a not in self._coins
            }
        )
        disputed = self._build_disputed_coins(
            unseen_coins,
            news.lost_event_count,
            sum(cents for cents, _ in event_coins[len(coins) :]),
            unknown_slots,
        )
        self._ledger.credit_coins_in(coins, compute_event_position(events, accepted), disputed)
        for amount_cents, to_hopper in coins:
            self._emit(CoinAccepted(device=self.name, amount_cents=amount_cents, to_hopper=to_hopper))
        if disputed is not None:
            self._emit(PaperDisputed(device=self.name, text=disputed.reason))
        for event in news.new_events:
            self._handle_other_event(event)
        return True

    def _find_coin_path(self, event: CctalkEvent) -> int:
        """Return the sorter path of the coin in an event: as reported or, if not reported, as the driver has set it."""
        setting = self._applied_settings.get((Header.SORTER_PATH, event.result_a))
        return event.result_b or (self._path if setting is None else setting[1])

    def _build_disputed_coins(
        self, unseen_coins: int, lost_events: int, uncounted_cents: int, unknown_slots: list[int]
    ) -> DisputedCoins | None:
        """Return the coins that cannot be credited, with the reason and the bounds of their value.

        Return None if all coins can be credited. ``unseen_coins`` is the number of coins in the accept counter less
        that in the events. If it is negative, the reported coins worth ``uncounted_cents`` are not in the counter; if
        it is above :data:`UNREPORTED_COINS_MAX`, the counter is that of another acceptor. ``lost_events`` events were
        overwritten before they were read. ``unknown_slots`` are the slots of coins without a value.
        """
        values = self._coins.values()
        least_cents = most_cents = 0
        reason = []
        if unseen_coins > UNREPORTED_COINS_MAX:
            reason.append(
                "the acceptor's count of coins does not follow its last one: is this another acceptor?"
            )
            most_cents += UNREPORTED_COINS_MAX * max(values, default=0)
        elif unseen_coins > 0 or lost_events:
            reason.append(
                f"{max(unseen_coins, 0)} coins were accepted and {lost_events} events lost that were never reported"
            )
            least_cents += max(unseen_coins, 0) * min(values, default=0)
            most_cents += max(unseen_coins, 0) * max(values, default=0)
        if unseen_coins < 0:
            reason.append(f"{-unseen_coins} coins reported that the acceptor did not count; not credited")
            most_cents += uncounted_cents
        if unknown_slots:
            slots = ", ".join(str(slot) for slot in unknown_slots)
            reason.append(f"coins in slot {slots}, which has no value here")
            most_cents += len(unknown_slots) * max(values, default=0)
        return (
            DisputedCoins(reason="; ".join(reason), smallest_cents=least_cents, largest_cents=most_cents)
            if reason
            else None
        )

    def _handle_other_event(self, event: CctalkEvent) -> None:
        """Raise the fault in an event, or emit that a coin was rejected; ignore the event of an accepted coin."""
        if event.result_a:
            return
        if event.result_b in _FAULT_BY_ERROR:
            self._raise_timed_fault(_FAULT_BY_ERROR[event.result_b])
        else:
            self._emit(PaperRejection(device=self.name, reason=f"coin event {event.result_b}"))

    def _check_accepted_coins(self, accepted_events: tuple[CctalkEvent, ...], accepted_after: float) -> None:
        """Raise a fault for each coin accepted while its slot was disabled, or sorted into the wrong container.

        The coins were accepted at an unknown time after ``accepted_after``, when the events were last read: if
        this process was not scheduled for a while, a coin in flight is read late and is no fault. The caller
        credits these coins as usual.
        """
        for event in accepted_events:
            path_sent_to = self._applied_settings.get((Header.SORTER_PATH, event.result_a))
            since = self._refused_since_by_slot.get(event.result_a)
            if since is not None and accepted_after > since + _COIN_FLIGHT_SECONDS:
                self._raise_timed_fault(FaultCode.COIN_WHILE_DISABLED)
            has_sorter_turned = accepted_after > self._turned_at + _COIN_FLIGHT_SECONDS
            if (
                event.result_a
                and has_sorter_turned
                and path_sent_to is not None
                and event.result_b not in {path_sent_to[1], _SORTER_PATH_NOT_REPORTED}
            ):
                self._raise_timed_fault(FaultCode.COIN_IN_WRONG_CONTAINER)

    def _raise_timed_fault(self, fault: FaultCode) -> None:
        """Raise a fault for some seconds: the acceptor reports its start, but never its end."""
        until = asyncio.get_running_loop().time() + _COIN_FAULT_SHOWN_SECONDS
        self._faults_until |= {fault: until}

    def _report_timed_faults(self) -> None:
        """Report the timed faults that are active, and clear those whose time has passed."""
        now = asyncio.get_running_loop().time()
        ended_faults = [fault for fault in FaultCode if now >= self._faults_until.get(fault, now)]
        for fault in ended_faults:
            self._faults_until.pop(fault, None)
        self._update_faults(dict.fromkeys(self._faults_until, ""))

    # ------------------------------------------------------------ settings
    async def _send_settings(self) -> None:
        """Send the requested settings to the coin acceptor, the master inhibit last."""
        enabled_cents = frozenset[int]() if self._value_check.has_differences else self._denominations
        mask = sum(1 << slot - 1 for slot, cents in self._coins.items() if cents in enabled_cents)
        is_accepting = bool(enabled_cents)
        settings: dict[tuple[Header, int], bytes] = {
            **{(Header.SORTER_PATH, slot): bytes((slot, self._path)) for slot in self._coins},
            (Header.INHIBIT_MASK, 0): mask.to_bytes(2, "little"),
            (Header.MASTER_INHIBIT, 0): bytes((is_accepting,)),
        }
        if asyncio.get_running_loop().time() >= self._renew_at:  # in case the acceptor lost them unnoticed
            self._applied_settings.clear()
        for setting, data in settings.items():
            if self._applied_settings.get(setting) == data:
                continue
            self._renew_at = asyncio.get_running_loop().time() + SETTINGS_RENEWAL_SECONDS
            is_acknowledged = await self._send_command(setting[0], data)
            # An acceptor without a sorter does not acknowledge the sorter path.
            if not is_acknowledged and setting[0] is not Header.SORTER_PATH:
                return
            self._applied_settings[setting] = data
        now = asyncio.get_running_loop().time()
        self._turned_at = min(self._turned_at, now)
        self._refused_since_by_slot = {
            slot: self._refused_since_by_slot.get(slot, now)
            for slot in self._coins
            if not (is_accepting and mask >> slot - 1 & 1)
        }
        if self._is_ready is not is_accepting:
            self._is_ready = is_accepting
            self._emit(AcceptorReadiness(device=self.name, accepting=is_accepting))

"""Builder of the readout (the machine's data for one SAS host) from journal, games and cabinet."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from egm.devices.interface import MoneyDevices
from egm.kernel.games import InstalledGames
from egm.kernel.own_entries import FAULT_RAISED
from egm.links.sas.host import READ_HANDPAY_KEY, SasHost
from egm.links.sas.readout import GameReadout, HandpayReadout, HopperReadout, SasReadout
from egm.money.entries import BILL_IN, TICKET_OUT
from egm.money.host_money import HostMoney
from egm.money.host_restrictions import is_game_allowed
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayRecord
from egm.play.records.games import find_last_game
from egm.play.selections import find_highest_stake_credits
from egm.progressive.pools import BroadcastLevel, LevelKeeper, ProgressivePools
from meters import MeterReading
from meters.entry import StoredEntry
from meters.view import JournalView

#: Fault code: the stacker is out of the bill acceptor.
_STACKER_REMOVED_FAULT: Final = "bill_acceptor.stacker_removed"


class MeterReadingCache:
    """Cache of the machine's meter values as of the last journal entry, shared by all its SAS lines."""

    def __init__(self, journal: JournalView) -> None:
        self._journal = journal
        self._last_reading: MeterReading | None = None

    def read_values(self) -> MeterReading:
        """Return the current value of every meter."""
        if self._last_reading is None or self._last_reading.sequence != self._journal.sequence:
            self._last_reading = self._journal.meters()
        return self._last_reading


class ReadoutBuilder:
    """Builder of the readout for one SAS host.

    The readout is the data from which the host's polls are answered. The host's line must call :meth:`process_entry`
    once with every new journal entry.
    """

    def __init__(self, host: SasHost, meter_cache: MeterReadingCache) -> None:
        self._host = host
        self._meter_cache = meter_cache
        machine = host.machine
        self._games = tuple(
            GameReadout(
                game_number=number,
                id=game_id,
                title=game.title.get("en", game_id),
                version=game.version,
                digest=game.digest,
                denominations_cents=machine.denominations_cents[game_id],
                bet_max_credits=find_highest_stake_credits(
                    machine, game_id, machine.denominations_cents[game_id][0]
                ),
                return_hundredths=_convert_to_hundredths_of_percent(
                    machine.component(InstalledGames).lowest_return_by_game.get(game_id)
                ),
            )
            for number, (game_id, game) in enumerate(machine.games.items(), start=1)
        )
        self._last_bill_cents = 0
        self._last_issued_ticket_cents = 0
        self._stacker_bill_count = 0
        self._stacker_cents = 0
        self._collect_from_journal()

    def _collect_from_journal(self) -> None:
        """Restore the last bill, the last ticket and the content of the stacker from the journal, at start."""
        journal = self._host.machine.journal
        stacker_removal_sequences = (
            entry.sequence
            for entry in journal.entries(FAULT_RAISED.kind, newest_first=True)
            if _get_entry_record(entry).get("code") == _STACKER_REMOVED_FAULT
        )
        for entry in journal.entries(BILL_IN.kind, after_sequence=next(stacker_removal_sequences, 0)):
            self.process_entry(entry)
        for kind in (BILL_IN.kind, TICKET_OUT.kind):
            for entry in journal.entries(kind, newest_first=True, limit=1):
                self._store_last_amount(entry)

    def process_entry(self, entry: StoredEntry) -> None:
        """Update the data that no meter contains from a journal entry: last bill, last ticket, stacker's content."""
        self._store_last_amount(entry)
        record = _get_entry_record(entry)
        if entry.kind == BILL_IN.kind:
            self._stacker_bill_count += 1
            self._stacker_cents += int(record["amount_cents"])
        elif entry.kind == FAULT_RAISED.kind and record.get("code") == _STACKER_REMOVED_FAULT:
            self._stacker_bill_count = self._stacker_cents = 0

    def _store_last_amount(self, entry: StoredEntry) -> None:
        """Store the amount if the journal entry records an accepted bill or a printed ticket."""
        if entry.kind == BILL_IN.kind:
            self._last_bill_cents = int(_get_entry_record(entry)["amount_cents"])
        elif entry.kind == TICKET_OUT.kind:
            self._last_issued_ticket_cents = int(_get_entry_record(entry)["amount_cents"])

    def build_readout(self) -> SasReadout:
        """Return the machine's data as of now, for the replies to the host's polls."""
        host, machine = self._host, self._host.machine
        selection = machine.selection
        # Only the host on the money line may validate tickets, transfer and award bonuses; every other host reads that
        # the machine has none of these functions.
        host_money = (
            machine.component(HostMoney)
            if machine.component(HostMoney).money_line_name == host.name
            else HostMoney()
        )
        return SasReadout(
            meter_reading=self._meter_cache.read_values(),
            serial=machine.identity.serial,
            currency=machine.profile.currency,
            accounting_denomination_cents=host.settings.denomination_cents,
            games=tuple(
                replace(game_readout, is_enabled=is_game_allowed(machine, game_readout.id))
                for game_readout in self._games
            ),
            selected_game_number=next(
                (
                    game_readout.game_number
                    for game_readout in self._games
                    if game_readout.id == selection.game_id
                ),
                0,
            ),
            player_denomination_cents=selection.denomination_cents,
            handpay=self._read_handpay(),
            hopper=self._read_hopper(),
            payout_coin_cents=machine.profile.coins.hopper_coin_cents or None,
            last_bill_cents=self._last_bill_cents,
            last_ticket_cents=self._last_issued_ticket_cents,
            stacker_bill_count=self._stacker_bill_count,
            stacker_cents=self._stacker_cents,
            reel_stops=self._read_reel_stops(),
            read_local_time=_build_local_clock(host),
            permitted_poll_codes=host.permitted_poll_codes,
            ticket_validator=host_money.ticket_validator,
            can_transfer=host_money.can_transfer,
            can_award_bonuses=host_money.can_award_bonuses,
        )

    def _read_handpay(self) -> HandpayReadout | None:
        """Return the open hand-pay, unless this host has already read it."""
        handpay = self._host.machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
        if handpay is None or handpay.id == self._host.values_between_polls.get(READ_HANDPAY_KEY):
            return None
        return HandpayReadout(
            handpay.id, handpay.kind, handpay.amount_cents, self._find_broadcast_level(handpay)
        )

    def _find_broadcast_level(self, handpay: HandpayRecord) -> BroadcastLevel | None:
        """Return the broadcast level (run by a SAS host) whose win the hand-pay pays: the first of several, or None."""
        pool_by_id = self._host.machine.component(ProgressivePools).pool_by_id
        return next(
            (
                BroadcastLevel.parse_pool_id(pool_id)
                for pool_id in handpay.progressive_pools.split(", ")
                if pool_id in pool_by_id and pool_by_id[pool_id].keeper is LevelKeeper.BROADCAST
            ),
            None,
        )

    def _read_hopper(self) -> HopperReadout | None:
        """Return the coins in the hopper and its active faults, or None without a hopper."""
        machine = self._host.machine
        payout_coin_cents = machine.profile.coins.hopper_coin_cents
        if machine.component(MoneyDevices).hopper is None or not payout_coin_cents:
            return None
        hopper_cents = max(0, machine.journal.balance_cents("stock:hopper"))
        active_fault_codes = tuple(code for code in machine.active_faults if code.startswith("hopper."))
        return HopperReadout(hopper_cents // payout_coin_cents, active_fault_codes)

    def _read_reel_stops(self) -> tuple[int, ...]:
        """Return the reel stops of the last game; empty if it had no reels."""
        last_game_record, _ = find_last_game(self._host.machine) or (None, None)
        outcome = None if last_game_record is None else last_game_record.outcome
        return () if outcome is None else tuple(outcome.display.get("stops", ()))


def _get_entry_record(entry: StoredEntry) -> Mapping[str, Any]:
    """Return a journal entry's record if it is a JSON object, else an empty mapping."""
    return entry.record if isinstance(entry.record, Mapping) else {}


def _convert_to_hundredths_of_percent(fraction: Any) -> int:
    """Return a fraction, such as a theoretical return, in hundredths of a percent, rounded down."""
    return 0 if fraction is None else int(fraction * 10_000)


def _build_local_clock(host: SasHost) -> Callable[[], datetime]:
    """Return a function that returns the venue's local time by the host's clock.

    The host's clock is the machine's clock plus the difference of the time that the host has sent, if any.
    """
    clock, zone = host.context.clock, host.time_zone
    clock_ahead = timedelta(seconds=host.clock_ahead_seconds)

    def read_local_time() -> datetime:
        """Return the venue's local time, by the time that the host has set."""
        return (clock.now() + clock_ahead).astimezone(zone)

    return read_local_time

"""Declaration of the seats feature: rules of the betting period, its clock, and its notices."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from typing import Final

from egm.kernel.entries import list_entries
from egm.kernel.events import EmptyPayload, Event, EventType, NextState, State
from egm.kernel.feature import Feature
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice, Snapshot
from egm.kernel.rules import REPORT_REFUSAL, DerivedState, Rule
from egm.kernel.services import BackgroundService, MachineContext
from egm.kernel.states import ALL_STATES, STATES_FOR_BETTING, single_state
from egm.play.keys import WheelKey
from egm.play.records.games import find_open_game
from egm.play.records.wheel import WheelSpin
from egm.play.rounds import start_game
from egm.play.rules import PLAY_GUARDS
from egm.seats import entries
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns, iter_turn_notices
from egm.seats.table import (
    SharedTables,
    TableEvent,
    compute_betting_seconds_left,
    has_placed_bets,
    is_playing_missed_bets_alone,
    join_betting_period,
    notify_bets_not_accepted,
    position_has_seat,
    selected_game_has_shared_rounds,
    withdraw_bets,
)
from egm.seats.wheel import deliver_spin_number, iter_wheel_notices

#: The state in which a betting period is open.
_BETTING_STATE: Final = single_state(State.BETTING)

SEATS_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    Rule(
        EventType.PLAY,
        single_state(State.IDLE),
        (selected_game_has_shared_rounds, *PLAY_GUARDS),
        (join_betting_period,),
        State.BETTING,
        REPORT_REFUSAL,
    ),
    Rule(EventType.CASH_OUT, _BETTING_STATE, (), (withdraw_bets,), NextState.DERIVED, REPORT_REFUSAL),
    Rule(
        TableEvent.NO_MORE_BETS,
        STATES_FOR_BETTING,
        (position_has_seat, *PLAY_GUARDS),
        (start_game,),
        State.PLAYING,
    ),
    Rule(TableEvent.NO_MORE_BETS, ALL_STATES, (), (notify_bets_not_accepted,), NextState.DERIVED_ONCE_TESTED),
)


class BettingClock:
    """Background service that closes each table's betting period for all positions, and updates the time left.

    It also passes the number of a real wheel to the games that wait for it, and each player's recorded decision
    to the other games of the same round.
    """

    name = "betting"

    def __init__(self, context: MachineContext) -> None:
        self._machine = context.engine.machine
        self._tables = self._machine.component(SharedTables)
        self._change_event = asyncio.Event()
        self._displayed_seconds_by_digest: dict[str, int] = {}

    async def run(self) -> None:
        """Check the betting periods after every event, and each second while a betting period or a time limit runs."""
        while True:
            self._change_event.clear()
            self._close_due_periods()
            deliver_spin_number(self._machine)
            apply_recorded_steps(self._tables)
            for seated_position in decide_overdue_turns(self._tables):
                seated_position.submit_event(Event(EventType.SHARED_MEMORY_CHANGED))
            timeout_seconds = (
                1.0
                if self._tables.betting_deadline_ns_by_digest or self._tables.pending_turn_by_key
                else None
            )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_seconds):
                    await self._change_event.wait()

    def process_change(self, snapshot: Snapshot) -> None:  # noqa: ARG002 (it reads the machine's memory, not the snapshot)
        """Check the betting periods again after an event: one may have started, or all bets may have been placed."""
        self._change_event.set()

    def _close_due_periods(self) -> None:
        """Close each betting period that is over if its table is free; update the displayed time left of the others."""
        for game_digest in list(self._tables.betting_deadline_ns_by_digest):
            seconds = self._tables.compute_seconds_left(game_digest) or 0
            if (
                not seconds or self._tables.have_all_positions_bet(game_digest)
            ) and not self._tables.must_next_round_wait(game_digest):
                self._displayed_seconds_by_digest.pop(game_digest, None)
                self._tables.close_betting(game_digest)
            elif self._displayed_seconds_by_digest.get(game_digest) != seconds:
                self._displayed_seconds_by_digest[game_digest] = seconds
                for seated_position in self._tables.list_positions_at(game_digest):
                    seated_position.submit_event(Event(EventType.SHARED_MEMORY_CHANGED))


def create_betting_clock(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the betting clock if there are several positions, a real wheel, or an unfinished shared round."""
    machine = context.engine.machine
    open_game_record, has_several_positions = find_open_game(machine), machine.position.position_count > 1
    has_wheel = any(game.rules.is_decided_by_wheel for game in machine.games.values())
    return (
        (BettingClock(context),)
        if has_several_positions or has_wheel or (open_game_record and open_game_record.round_id)
        else ()
    )


def iter_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield the notices of a shared table: wheel, turns, missed rounds, and the time left for bets."""
    yield from iter_wheel_notices(machine)
    yield from iter_turn_notices(machine)
    if is_playing_missed_bets_alone(machine):
        yield Notice(code="bets_apart", severity="warning")
    seconds = compute_betting_seconds_left(machine)
    if seconds is not None:
        code = "bets_placed" if has_placed_bets(machine) else "bets_close"
        yield Notice(code=code, values={"seconds": seconds})


SEATS_FEATURE: Final = Feature(
    name="seats",
    storage_keys=WheelKey,
    value_types={WheelKey.LAST_SPIN: WheelSpin},
    entry_declarations=list_entries(entries),
    payload_classes={TableEvent.NO_MORE_BETS: EmptyPayload},
    rules=SEATS_RULES,
    derived_states=(DerivedState(State.BETTING, has_placed_bets),),
    service_factories=(create_betting_clock,),
    list_notices=iter_notices,
)

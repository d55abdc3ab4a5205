"""Decisions in a shared round: whose turn it is, and the time limit of a choice for which other seats wait.

A choice is recorded first in the game of the seat that had to decide, with the numbers drawn for it. Every
other game of the round then records the same step (:func:`apply_recorded_steps`). If a seat makes no choice in
time, and the time bank that some games give each player is used up, the table chooses for it the first
option that costs nothing. The time does not run while the player's screen is missing, for example after a
restart. The round waits neither for a seat that cannot play, nor for a seat that started no game when betting
closed. In games between players, the table itself makes one decision, without delay: whether all seats have staked
their wagers.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from egm.clock import NANOSECONDS_PER_SECOND
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.play.events import ChoiceRequest
from egm.play.records.game_record import GameRecord
from egm.play.records.games import GameInProgress, find_open_game
from egm.play.shared_round import collect_shared_round, is_round_void
from egm.seats.table import PendingTurn, SeatedPosition, SharedTables, TimeBankKey
from meters.transaction import JSON
from paytables import (
    ALL_STAKED_OPTION,
    SEATS_DECISION_KIND,
    STAKES_RETURNED_OPTION,
    WHEEL_DECISION_KIND,
    Decision,
    TimeToAct,
)

#: The most seconds for which the time limit of a decision stops because its player has no screen. A position without
#: a screen is out of service by then, and the other players do not wait for it any longer.
NO_SCREEN_EXTENSION_SECONDS_MAX: Final = 60


class _PendingDecision(NamedTuple):
    """A seat's open game, and the decision for which it waits."""

    game_record: GameRecord
    decision: Decision


class _StepToRecord(NamedTuple):
    """A seat's open game, and the event by which it records a step that other games of its round have recorded."""

    game_record: GameRecord
    event: Event


class _OpenTurn(NamedTuple):
    """A seat's open game that waits for a decision."""

    seated_position: SeatedPosition
    game_record: GameRecord
    decision: Decision


def apply_recorded_steps(tables: SharedTables) -> None:
    """Let each game of a shared round record the steps that other games of the round have recorded before it."""
    for seated_position in list(tables.position_by_number.values()):
        while (step_to_record := _find_step_to_record(tables, seated_position)) is not None:
            game_record, event = step_to_record
            seated_position.submit_event(event)
            updated_game_record = find_open_game(seated_position.machine)
            if updated_game_record is None or len(updated_game_record.steps) == len(game_record.steps):
                break


def _find_step_to_record(tables: SharedTables, seated_position: SeatedPosition) -> _StepToRecord | None:
    """Return the seat's open game, and the event by which it records the next step that other games have recorded.

    Return None if the game waits for no decision, or if its decision is not made yet.
    """
    pending_decision = _find_pending_decision(seated_position)
    if pending_decision is None:
        return None
    game_record, decision = pending_decision
    if game_record.wager.seat is None:
        return None
    shared_round = collect_shared_round(
        seated_position.machine,
        game_record,
        [other_seat.machine for other_seat in tables.position_by_number.values()],
    )
    recorded_step = shared_round.find_step(len(game_record.steps))
    if recorded_step is None:
        return None
    return _StepToRecord(game_record, _build_choice_event(seated_position, recorded_step.choice, decision))


def _build_choice_event(seated_position: SeatedPosition, choice: JSON, decision: Decision) -> Event:
    """Return the event that repeats another seat's recorded choice in this seat's game and keeps this seat's notice."""
    choice_request = ChoiceRequest(
        choice=choice, answering_seat=decision.seat, notice=seated_position.machine.notice
    )
    return Event(EventType.CHOOSE, choice_request)


def decide_overdue_turns(tables: SharedTables) -> list[SeatedPosition]:
    """Make the default choice for each seat whose time for a decision is over, or which cannot play.

    Return the seats whose displayed remaining time has changed. The time does not run while no seat of the
    round can play, for example because a door is open.
    """
    open_turns_by_key: dict[str, list[_OpenTurn]] = {}
    for seated_position in tables.position_by_number.values():
        pending_decision = _find_pending_decision(seated_position)
        if pending_decision is None:
            continue
        game_record, decision = pending_decision
        if _is_blocking_other_seats(seated_position.machine, game_record):
            open_turns_by_key.setdefault(_build_turn_key(game_record), []).append(
                _OpenTurn(seated_position, game_record, decision)
            )
    for turn_key in tables.pending_turn_by_key.keys() - open_turns_by_key.keys():
        _store_time_bank_left(tables, tables.pending_turn_by_key.pop(turn_key))
    _refill_time_banks_of_vacated_seats(tables)
    positions_to_update: list[SeatedPosition] = []
    for turn_key, open_turns in open_turns_by_key.items():
        step_count_max = max(len(open_turn.game_record.steps) for open_turn in open_turns)
        _decide_if_overdue(
            tables,
            turn_key,
            [open_turn for open_turn in open_turns if len(open_turn.game_record.steps) == step_count_max],
        )
        turn = tables.pending_turn_by_key[turn_key]
        positions = [open_turn.seated_position for open_turn in open_turns]
        seconds = turn.compute_seconds_left(positions[0].machine)
        if turn.displayed_seconds != seconds:
            turn.displayed_seconds = seconds
            positions_to_update += positions
    return positions_to_update


def _decide_if_overdue(tables: SharedTables, turn_key: str, open_turns: list[_OpenTurn]) -> None:
    """If the time for a decision is over, enter the default choice in the game of the seat that had to decide.

    The time begins with the first call for the decision. ``turn_key`` identifies the decision; ``open_turns`` are
    the open games that wait for it. If that seat cannot play, enter the choice in another game of the round.
    """
    deciding_turns = [
        open_turn
        for open_turn in open_turns
        if open_turn.decision.seat == (open_turn.game_record.wager.seat or 0)
    ]
    seated_position, game_record, decision = (deciding_turns or open_turns)[0]
    deciding_position = (
        seated_position if deciding_turns else _find_position_in_round(tables, game_record, decision.seat)
    )
    turn, step_index, now_ns = (
        tables.pending_turn_by_key.get(turn_key),
        len(game_record.steps),
        seated_position.machine.clock.monotonic_ns(),
    )
    if turn is None or turn.step_index != step_index:
        if turn is not None:
            _store_time_bank_left(tables, turn)
        seconds_allowed = (
            0
            if deciding_position is None
            else _find_time_to_act(seated_position.machine, game_record).seconds
        )
        turn = tables.pending_turn_by_key[turn_key] = PendingTurn(
            step_index, now_ns + seconds_allowed * NANOSECONDS_PER_SECOND, last_checked_ns=now_ns
        )
    has_screen = deciding_position is None or deciding_position.has_screen()
    turn.extend_without_screen(
        now_ns,
        has_screen=has_screen,
        extension_ns_max=NO_SCREEN_EXTENSION_SECONDS_MAX * NANOSECONDS_PER_SECOND,
    )
    if turn.compute_seconds_left(seated_position.machine):
        return
    if deciding_position is not None and _start_time_bank(
        tables, turn, deciding_position.machine, game_record
    ):
        return
    _store_time_bank_left(tables, turn)
    turn.deadline_ns = now_ns + NANOSECONDS_PER_SECOND  # retry if the generator has failed
    seated_position.submit_event(
        _build_choice_event(seated_position, _find_default_choice(tables, game_record, decision), decision)
    )
    apply_recorded_steps(tables)


def _find_time_to_act(machine: PositionMachine, game_record: GameRecord) -> TimeToAct:
    """Return the time for a decision, and the time bank, that the rules of the open game give a player."""
    installed_game = machine.games.get(game_record.game_reference.id)
    return TimeToAct() if installed_game is None else installed_game.rules.time_to_act


def _start_time_bank(
    tables: SharedTables, turn: PendingTurn, machine: PositionMachine, game_record: GameRecord
) -> bool:
    """Extend the time for an overdue decision by what is left of the player's time bank.

    Return False if nothing was left, or if the time bank extends this decision already. A player whose position
    cannot play has the same time as one who does not choose.
    """
    time_bank_key = TimeBankKey(machine.position.number, game_record.game_reference.digest)
    full_ns = _find_time_to_act(machine, game_record).bank_seconds * NANOSECONDS_PER_SECOND
    left_ns = tables.time_bank_left_ns_by_key.get(time_bank_key, full_ns)
    if turn.time_bank_key is not None or left_ns <= 0:
        return False
    turn.time_bank_key, turn.deadline_ns = time_bank_key, machine.clock.monotonic_ns() + left_ns
    return True


def _store_time_bank_left(tables: SharedTables, turn: PendingTurn) -> None:
    """Store how much time is left in the time bank that a finished decision has used."""
    if turn.time_bank_key is not None:
        now_ns = tables.position_by_number[turn.time_bank_key.position_number].machine.clock.monotonic_ns()
        tables.time_bank_left_ns_by_key[turn.time_bank_key] = max(0, turn.deadline_ns - now_ns)
        turn.time_bank_key = None


def _refill_time_banks_of_vacated_seats(tables: SharedTables) -> None:
    """Refill the time banks of every position without credit and game, for its next player."""
    for time_bank_key in list(tables.time_bank_left_ns_by_key):
        seated_position = tables.position_by_number.get(time_bank_key.position_number)
        if seated_position is None or (
            not seated_position.machine.credit_cents and find_open_game(seated_position.machine) is None
        ):
            del tables.time_bank_left_ns_by_key[time_bank_key]


def _find_default_choice(tables: SharedTables, game_record: GameRecord, decision: Decision) -> JSON:
    """Return the choice that the table makes in a decision if no player does."""
    if decision.kind != SEATS_DECISION_KIND:
        default_choice: JSON = decision.default_option
        return default_choice
    staked_seats = {bet.seat for bet in (*game_record.wager.bets, *game_record.wager.bets_of_other_seats)}
    are_all_seats_present = all(
        _find_position_in_round(tables, game_record, number) is not None for number in staked_seats
    )
    return ALL_STAKED_OPTION if are_all_seats_present else STAKES_RETURNED_OPTION


def _find_position_in_round(
    tables: SharedTables, game_record: GameRecord, seat_number: int
) -> SeatedPosition | None:
    """Return the position that has this seat number and an open game in the same round as ``game_record``, or None."""
    for seated_position in tables.position_by_number.values():
        seat_game_record = find_open_game(seated_position.machine)
        if (
            seat_game_record is not None
            and seat_game_record.round_id == game_record.round_id
            and seat_game_record.wager.seat == seat_number
        ):
            return seated_position
    return None


def _build_turn_key(game_record: GameRecord) -> str:
    """Return the key under which the table stores a game's pending decision.

    It is the round id; for a decision that each seat makes for itself, the play id.
    """
    return game_record.play_id if game_record.wager.seat is None else game_record.round_id


def _is_blocking_other_seats(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether other seats must wait until the pending decision of this game is made."""
    installed_game = machine.games.get(game_record.game_reference.id)
    return game_record.wager.seat is not None or (
        bool(game_record.round_id)
        and installed_game is not None
        and bool(installed_game.rules.shared_state_fields)
    )


def _find_pending_decision(seated_position: SeatedPosition) -> _PendingDecision | None:
    """Return the seat's open game and its pending decision, or None.

    Decisions that a real wheel makes, and decisions in a round that was declared void, are excluded.
    """
    stepped_game = seated_position.machine.component(GameInProgress).stepped_game
    decision = None if stepped_game is None else stepped_game.decision
    game_record = None if decision is None else find_open_game(seated_position.machine)
    if (
        game_record is None
        or decision is None
        or not game_record.round_id
        or decision.kind == WHEEL_DECISION_KIND
    ):
        return None
    if is_round_void(seated_position.machine, game_record):
        return None
    return _PendingDecision(game_record, decision)


def iter_turn_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield the notice about the pending decision at a shared table.

    It says how long the player has to choose, or which seat must decide. If the round was declared void, it
    says that an attendant refunds the stake.
    """
    open_game_record = find_open_game(machine)
    if open_game_record is not None and is_round_void(machine, open_game_record):
        yield Notice(code="round_is_void", severity="warning", is_lasting=True)
        return
    tables = machine.find_installed(SharedTables)
    seated_position = None if tables is None else tables.position_by_number.get(machine.position.number)
    pending_decision = None if seated_position is None else _find_pending_decision(seated_position)
    if tables is None or pending_decision is None:
        return
    game_record, decision = pending_decision
    turn = tables.pending_turn_by_key.get(_build_turn_key(game_record))
    if turn is None:
        return
    if decision.kind == SEATS_DECISION_KIND:
        return
    seconds = turn.compute_seconds_left(machine)
    if decision.seat == (game_record.wager.seat or 0):
        code = "answer_within" if turn.time_bank_key is None else "answer_within_bank"
        yield Notice(code=code, values={"seconds": seconds})
    else:
        yield Notice(code="seat_answers", values={"seat": decision.seat + 1, "seconds": seconds})

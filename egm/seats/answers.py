"""Decisions in a shared round: whose turn it is, and the time limit for an answer for which other seats wait.

An answer is recorded first in the game of the seat that had to decide, with the numbers drawn for it. Every
other game of the round then records the same step (:func:`apply_recorded_steps`). If a seat does not answer in
time, and the time bank that some games give each player is used up, the table answers for it with the first
option that costs nothing. The time does not run while the player's screen is missing, for example after a
restart. The round waits neither for a seat that cannot play, nor for a seat that started no game when betting
closed. In games between players, one decision is not a player's: have all seats staked their wagers? The table
answers it without delay.
"""

from collections.abc import Iterator
from typing import Final

from egm.clock import NANOSECONDS_PER_SECOND
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.play.events import ChoiceRequest
from egm.play.records.game_record import GameRecord
from egm.play.records.games import GameInProgress, find_open_game
from egm.play.shared_round import collect_shared_round, is_round_void
from egm.seats.table import PendingTurn, SeatedPosition, SharedTables, TimeBankKey
from meters.transaction import JSON
from paytables import (
    ALL_STAKED_OPTION,
    DECISION_OF_SEATS,
    DECISION_OF_WHEEL,
    STAKES_RETURNED_OPTION,
    Decision,
    TimeToAct,
)

#: Seconds for which the time limit of a decision stops because its player has no screen. A position without a
#: screen is out of service by then, and the other players do not wait for it any longer.
NO_SCREEN_EXTENSION_SECONDS_MAX: Final = 60


def apply_recorded_steps(table: SharedTables) -> None:
    """Let each game of a shared round record the steps that other games of the round have recorded before it."""
    for seat in list(table.seats.values()):
        while (recorded_step := _find_next_recorded_step(table, seat)) is not None:
            game, event = recorded_step
            seat.submit_event(event)
            game_after = find_open_game(seat.machine)
            if game_after is None or len(game_after.steps) == len(game.steps):
                break


def _find_next_recorded_step(table: SharedTables, seat: SeatedPosition) -> tuple[GameRecord, Event] | None:
    """Return the seat's open game, and the event by which it records the next step that other games have recorded.

    Return None if the game waits for no decision, or if its decision is not answered yet.
    """
    pending_decision = _find_pending_decision(seat)
    if pending_decision is None or pending_decision[0].wager.seat is None:
        return None
    game, decision = pending_decision
    round_ = collect_shared_round(
        seat.machine, game, [other_seat.machine for other_seat in table.seats.values()]
    )
    recorded = round_.find_step(len(game.steps))
    if recorded is None:
        return None
    return game, _build_answer_event(seat, recorded.choice, decision)


def _build_answer_event(seat: SeatedPosition, choice: JSON, decision: Decision) -> Event:
    """Return the event that repeats another seat's recorded answer in this seat's game and keeps this seat's notice."""
    answer = ChoiceRequest(choice=choice, answering_seat=decision.seat, notice=seat.machine.notice)
    return Event(EventType.CHOOSE, answer)


def answer_overdue_turns(table: SharedTables) -> list[SeatedPosition]:
    """Give the default answer for each seat whose time for a decision is over, or which cannot play.

    Return the seats whose displayed remaining time has changed. The time does not run while no seat of the
    round can play, for example because a door is open.
    """
    turns: dict[str, list[tuple[SeatedPosition, GameRecord, Decision]]] = {}
    for seat in table.seats.values():
        pending_decision = _find_pending_decision(seat)
        if pending_decision is not None and _is_blocking_other_seats(seat.machine, pending_decision[0]):
            turns.setdefault(_build_turn_key(pending_decision[0]), []).append((seat, *pending_decision))
    for key in table.pending_turns.keys() - turns.keys():
        _store_time_bank_left(table, table.pending_turns.pop(key))
    _refill_time_banks_of_vacated_seats(table)
    seats_to_update: list[SeatedPosition] = []
    for key, games in turns.items():
        furthest = max(len(game.steps) for _, game, _ in games)
        _answer_if_overdue(table, key, [entry for entry in games if len(entry[1].steps) == furthest])
        turn, seats = table.pending_turns[key], [seat for seat, _, _ in games]
        seconds = turn.compute_seconds_left(seats[0].machine)
        if turn.displayed_seconds != seconds:
            turn.displayed_seconds = seconds
            seats_to_update += seats
    return seats_to_update


def _answer_if_overdue(
    table: SharedTables, turn_key: str, open_games: list[tuple[SeatedPosition, GameRecord, Decision]]
) -> None:
    """If the time for a decision is over, enter the default answer in the game of the seat that had to decide.

    The time begins with the first call for the decision. ``turn_key`` identifies the decision; ``open_games`` are the
    seats' open games. If that seat cannot play, enter the answer in another game of the round.
    """
    deciding_seats = [entry for entry in open_games if entry[2].seat == (entry[1].wager.seat or 0)]
    seat, game, decision = (deciding_seats or open_games)[0]
    deciding_position = seat if deciding_seats else _find_seat_in_round(table, game, decision.seat)
    turn, step, now_ns = table.pending_turns.get(turn_key), len(game.steps), seat.machine.clock.monotonic_ns()
    if turn is None or turn.step_index != step:
        if turn is not None:
            _store_time_bank_left(table, turn)
        seconds_allowed = 0 if deciding_position is None else _find_time_to_act(seat.machine, game).seconds
        turn = table.pending_turns[turn_key] = PendingTurn(
            step, now_ns + seconds_allowed * NANOSECONDS_PER_SECOND, last_checked_ns=now_ns
        )
    is_seen = deciding_position is None or deciding_position.has_screen()
    turn.extend_while_unseen(
        now_ns, is_seen=is_seen, unseen_ns_max=NO_SCREEN_EXTENSION_SECONDS_MAX * NANOSECONDS_PER_SECOND
    )
    if turn.compute_seconds_left(seat.machine):
        return
    if deciding_position is not None and _start_time_bank(table, turn, deciding_position.machine, game):
        return
    _store_time_bank_left(table, turn)
    turn.deadline_ns = now_ns + NANOSECONDS_PER_SECOND  # retry if the generator has failed
    seat.submit_event(_build_answer_event(seat, _choose_default_answer(table, game, decision), decision))
    apply_recorded_steps(table)


def _find_time_to_act(machine: Machine, game: GameRecord) -> TimeToAct:
    """Return the time for a decision, and the time bank, that the rules of the open game give a player."""
    installed_game = machine.games.get(game.game.id)
    return TimeToAct() if installed_game is None else installed_game.rules.time_to_act


def _start_time_bank(table: SharedTables, turn: PendingTurn, machine: Machine, game: GameRecord) -> bool:
    """Extend the time for an overdue decision by what is left of the player's time bank.

    Return False if nothing was left, or if the time bank extends this decision already. A player whose position
    cannot play has the same time as one who does not answer.
    """
    bank = TimeBankKey(machine.position.number, game.game.digest)
    full_ns = _find_time_to_act(machine, game).bank_seconds * NANOSECONDS_PER_SECOND
    left_ns = table.time_bank_left_ns.get(bank, full_ns)
    if turn.time_bank_key is not None or left_ns <= 0:
        return False
    turn.time_bank_key, turn.deadline_ns = bank, machine.clock.monotonic_ns() + left_ns
    return True


def _store_time_bank_left(table: SharedTables, turn: PendingTurn) -> None:
    """Store how much time is left in the time bank that a finished decision has used."""
    if turn.time_bank_key is not None:
        now_ns = table.seats[turn.time_bank_key.position].machine.clock.monotonic_ns()
        table.time_bank_left_ns[turn.time_bank_key] = max(0, turn.deadline_ns - now_ns)
        turn.time_bank_key = None


def _refill_time_banks_of_vacated_seats(table: SharedTables) -> None:
    """Refill the time banks of every position without credit and game, for its next player."""
    for bank in list(table.time_bank_left_ns):
        seat = table.seats.get(bank.position)
        if seat is None or (not seat.machine.credit_cents and find_open_game(seat.machine) is None):
            del table.time_bank_left_ns[bank]


def _choose_default_answer(table: SharedTables, game: GameRecord, decision: Decision) -> JSON:
    """Return the answer that the table gives to a decision if no player does."""
    if decision.kind != DECISION_OF_SEATS:
        answer: JSON = decision.default_option
        return answer
    staked_seats = {bet.seat for bet in (*game.wager.bets, *game.wager.bets_of_other_seats)}
    has_all = all(_find_seat_in_round(table, game, number) is not None for number in staked_seats)
    return ALL_STAKED_OPTION if has_all else STAKES_RETURNED_OPTION


def _find_seat_in_round(table: SharedTables, game: GameRecord, seat_number: int) -> SeatedPosition | None:
    """Return the position that has this seat number and an open game in the same round as ``game``, or None."""
    for seat in table.seats.values():
        seat_game = find_open_game(seat.machine)
        if (
            seat_game is not None
            and seat_game.round_id == game.round_id
            and seat_game.wager.seat == seat_number
        ):
            return seat
    return None


def _build_turn_key(game: GameRecord) -> str:
    """Return the key under which the table stores a game's pending decision.

    It is the round id; for a decision that each seat makes for itself, the play id.
    """
    return game.play_id if game.wager.seat is None else game.round_id


def _is_blocking_other_seats(machine: Machine, game: GameRecord) -> bool:
    """Return whether other seats must wait until the pending decision of this game is answered."""
    rules = machine.games.get(game.game.id)
    return game.wager.seat is not None or (
        bool(game.round_id) and rules is not None and bool(rules.rules.shared_state_keys)
    )


def _find_pending_decision(seat: SeatedPosition) -> tuple[GameRecord, Decision] | None:
    """Return the seat's open game and its pending decision, or None.

    Decisions that a real wheel makes, and decisions in a round that was declared void, are excluded.
    """
    stepped_game = seat.machine.component(GameInProgress).stepped_game
    decision = None if stepped_game is None else stepped_game.decision
    game = None if decision is None else find_open_game(seat.machine)
    if game is None or decision is None or not game.round_id or decision.kind == DECISION_OF_WHEEL:
        return None
    if is_round_void(seat.machine, game):
        return None
    return game, decision


def iter_turn_notices(machine: Machine) -> Iterator[Notice]:
    """Yield the notice about the pending decision at a shared table.

    It says how long the player has to answer, or which seat must decide. If the round was declared void, it
    says that an attendant refunds the stake.
    """
    current_game = find_open_game(machine)
    if current_game is not None and is_round_void(machine, current_game):
        yield Notice(code="round_is_void", severity="warning", lasting=True)
        return
    table = machine.find_installed(SharedTables)
    seat = None if table is None else table.seats.get(machine.position.number)
    pending_decision = None if seat is None else _find_pending_decision(seat)
    if (
        table is None
        or pending_decision is None
        or (turn := table.pending_turns.get(_build_turn_key(pending_decision[0]))) is None
    ):
        return
    game, decision = pending_decision
    if decision.kind == DECISION_OF_SEATS:
        return
    seconds = turn.compute_seconds_left(machine)
    if decision.seat == (game.wager.seat or 0):
        code = "answer_within" if turn.time_bank_key is None else "answer_within_bank"
        yield Notice(code=code, values={"seconds": seconds})
    else:
        yield Notice(code="seat_answers", values={"seat": decision.seat + 1, "seconds": seconds})

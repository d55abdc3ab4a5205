"""The betting period of a table that several positions share: who has placed bets, when betting closes, and the round.

A table is one game that several positions of a machine play together. The first position that bets opens the
betting period. It ends after its time, or as soon as every position that could play has placed bets; a real
wheel ends it when its ball is about to fall (:mod:`egm.seats.wheel`). Then each seat's game starts with its own
wager, by its own rules and in its own journal entries, but with the same numbers for all. If the seats share
the table's state, or if choices of one seat affect others (:mod:`egm.seats.decisions`), the next round waits for
the end of this one. This state is in memory only: before betting closes no money has moved, and afterwards each
game is in the journal.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from egm.clock import NANOSECONDS_PER_SECOND
from egm.devices.interface import WheelPhaseReported
from egm.kernel.events import Event, EventName
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.play.records.games import GameInProgress, find_open_game
from egm.play.records.tables import (
    TableStatesAtRoundStart,
    can_join_shared_round,
    read_shared_state,
    read_table,
)
from egm.play.rules import PLAY_GUARDS
from egm.play.shared_round import PositionRounds, SharedRound
from egm.progressive.bet import AcceptedBet, AcceptedBetCache, find_current_bet
from paytables import GameRules, RefusedRoundError, Wager, WagerError

#: Notice: the bets were not accepted.
_BETS_NOT_ACCEPTED_NOTICE: Final = Notice(code="bets_not_taken", severity="warning")


class TableEvent(EventName):
    """The types of the events at a table that several positions share."""

    NO_MORE_BETS = "no_more_bets"
    """Betting on a table is closed."""


def _return_true() -> bool:
    return True


@dataclass(slots=True)
class SeatedPosition:
    """A player position at the shared tables."""

    machine: PositionMachine
    submit_event: Callable[[Event], None]
    game_digest: str = ""
    """The digest of the definition of the game on which the position has placed bets; empty without bets."""
    can_start_game: Callable[[], bool] = _return_true
    """Function that returns whether the position's state permits a game to start.

    It is called only for games with fixed seats, in which players play against each other.
    """
    has_screen: Callable[[], bool] = _return_true
    """Function that returns whether the position's screen is connected, so that the player sees the machine."""


class TimeBankKey(NamedTuple):
    """The key of a time bank: a player position, and the digest of the game whose rules give the time bank.

    A time bank is extra time for a player's decisions; it is refilled only for the next player.
    """

    position_number: int
    game_digest: str


class SeatAssignment(NamedTuple):
    """The seat that a player position has in a round of a shared game, and its wager."""

    seat_number: int
    wager: Wager


@dataclass(slots=True)
class PendingTurn:
    """A decision for which other seats wait, with its deadline."""

    step_index: int
    """The index, in the game's list of steps, of the step that the decision leads to."""
    deadline_ns: int
    """The deadline for the choice, in monotonic nanoseconds."""
    displayed_seconds: int = -1
    """The remaining seconds as last displayed; -1 before that."""
    time_bank_key: TimeBankKey | None = None
    """The time bank that extends the deadline now, or None."""
    last_checked_ns: int = 0
    """When the decision was last checked, in monotonic nanoseconds."""
    extended_ns: int = 0
    """By how many nanoseconds the deadline was extended because the player had no screen."""

    def extend_without_screen(self, now_ns: int, *, has_screen: bool, extension_ns_max: int) -> None:
        """Extend the deadline by the time since the last check if the player's screen was missing.

        ``extension_ns_max`` limits the total of all such extensions of this decision, in nanoseconds.
        """
        passed_ns, self.last_checked_ns = now_ns - self.last_checked_ns, now_ns
        if not has_screen:
            extension_ns = min(passed_ns, extension_ns_max - self.extended_ns)
            self.deadline_ns += extension_ns
            self.extended_ns += extension_ns

    def compute_seconds_left(self, machine: PositionMachine) -> int:
        """Return the seconds left for the decision, rounded up."""
        return _compute_seconds_until(self.deadline_ns, machine)


@dataclass(slots=True)
class SharedTables:
    """The tables at which positions of one machine play together, each with its betting period."""

    position_by_number: dict[int, SeatedPosition] = field(default_factory=dict)
    """The registered player positions, by position number."""
    betting_deadline_ns_by_digest: dict[str, int] = field(default_factory=dict)
    """The end of each open betting period in monotonic nanoseconds, by the game's digest."""

    pending_turn_by_key: dict[str, PendingTurn] = field(default_factory=dict)
    """The pending decisions for which other seats wait, by round id (or play id)."""

    time_bank_left_ns_by_key: dict[TimeBankKey, int] = field(default_factory=dict)
    """The nanoseconds left in each time bank that was used; a full one is absent."""

    last_refusal_notice: Notice | None = None
    """While a seat's game is started: the notice that says why the rules refuse its bets or the whole round.

    None if the rules accept them, or if there is no particular reason.
    """

    last_wheel_report: WheelPhaseReported | None = None
    """The last report of the real wheel's reader; None before the first one and while the line is interrupted."""

    def register_position(
        self,
        machine: PositionMachine,
        submit_event: Callable[[Event], None],
        can_start_game: Callable[[], bool] = _return_true,
        has_screen: Callable[[], bool] = _return_true,
    ) -> None:
        """Register a player position at the tables, with its event handler.

        ``can_start_game`` returns whether the position's state permits a game to start, and ``has_screen`` whether
        its player sees the machine.
        """
        self.position_by_number[machine.position.number] = SeatedPosition(
            machine, submit_event, can_start_game=can_start_game, has_screen=has_screen
        )

    def list_positions_with_bets(self, game_digest: str) -> list[SeatedPosition]:
        """Return the positions that have placed bets on the game with this digest, in order of their number."""
        return [
            seated_position
            for _, seated_position in sorted(self.position_by_number.items())
            if seated_position.game_digest == game_digest
        ]

    def compute_seconds_left(self, game_digest: str) -> int | None:
        """Return the seconds left in a game's betting period, rounded up, or None if it is not open."""
        deadline_ns = self.betting_deadline_ns_by_digest.get(game_digest)
        seated_position = next(iter(self.position_by_number.values()), None)
        if deadline_ns is None or seated_position is None:
            return None
        return _compute_seconds_until(deadline_ns, seated_position.machine)

    def place_bets(self, machine: PositionMachine, game_digest: str, betting_seconds: int | None) -> None:
        """Record that a position has placed its bets on a game; the first bets open the game's betting period.

        ``betting_seconds`` is the length of the period; None if the ball of a real wheel ends it.
        """
        self.position_by_number[machine.position.number].game_digest = game_digest
        if betting_seconds is not None:
            self.betting_deadline_ns_by_digest.setdefault(
                game_digest, machine.clock.monotonic_ns() + betting_seconds * NANOSECONDS_PER_SECOND
            )

    def remove_bets(self, machine: PositionMachine) -> None:
        """Record that a position has withdrawn its bets.

        If no position has bets on the game any more, the betting period ends.
        """
        seated_position = self.position_by_number.get(machine.position.number)
        if seated_position is None or not seated_position.game_digest:
            return
        game_digest, seated_position.game_digest = seated_position.game_digest, ""
        if not self.list_positions_with_bets(game_digest):
            self.betting_deadline_ns_by_digest.pop(game_digest, None)

    def have_all_positions_bet(self, game_digest: str) -> bool:
        """Return whether all positions that could play the game's next round have placed their bets.

        They are those at which the game is selected, except positions without credit and positions that must
        play alone first.
        """
        return all(
            seated_position.game_digest == game_digest
            or not seated_position.machine.credit_cents
            or not can_join_shared_round(seated_position.machine, game_digest)
            for seated_position in self.list_positions_at(game_digest)
        )

    def list_positions_at(self, game_digest: str) -> list[SeatedPosition]:
        """Return the positions at which the game with the digest ``game_digest`` is selected."""
        return [
            seated_position
            for seated_position in self.position_by_number.values()
            if find_selected_game_digest(seated_position.machine) == game_digest
        ]

    def must_next_round_wait(self, game_digest: str) -> bool:
        """Return whether the game's next round must wait, because a position is still playing the present one.

        If standing bets depend on the table's state, as at craps, a position that still shows the result counts as
        playing.
        """
        return any(
            _is_position_delaying_next_round(seated_position.machine, game_digest)
            for seated_position in self.list_positions_at(game_digest)
        )

    def close_betting(self, game_digest: str, round_id: str = "") -> None:
        """Close betting on a game: start every position's game with the same random numbers and table state.

        Positions without new bets take part if this round decides their standing bets.
        """
        self.betting_deadline_ns_by_digest.pop(game_digest, None)
        positions = self.list_positions_with_bets(game_digest)
        if not positions:
            return
        positions_with_standing_bets = [
            seated_position
            for seated_position in self.list_positions_at(game_digest)
            if not seated_position.game_digest and _has_bets_in_round(seated_position.machine, game_digest)
        ]
        for seated_position in positions_with_standing_bets:
            seated_position.machine.component(AcceptedBetCache).is_without_new_bets = True
        try:
            self._start_games(
                game_digest,
                round_id,
                sorted((*positions, *positions_with_standing_bets), key=_get_position_number),
            )
        finally:
            for seated_position in positions_with_standing_bets:
                seated_position.machine.component(AcceptedBetCache).is_without_new_bets = False

    def _start_games(self, game_digest: str, round_id: str, positions: list[SeatedPosition]) -> None:
        """Start a game at each of the given positions, as one shared round."""
        participating_positions = [
            seated_position for seated_position in positions if _can_take_part(seated_position)
        ]
        assignment_by_position = _assign_seats(
            [
                (seated_position, find_current_bet(seated_position.machine))
                for seated_position in participating_positions
            ]
        )
        refusal_by_position = _remove_refused_seats(participating_positions, assignment_by_position)
        round_refusal = _find_round_refusal(positions[0].machine, game_digest, assignment_by_position)
        assignment_by_position = {} if round_refusal else assignment_by_position
        wager_by_seat = dict(assignment_by_position.values())
        shared_round = SharedRound(round_id or positions[0].machine.fresh_id("round"), wager_by_seat)
        shared_state = TableStatesAtRoundStart(
            {game_digest: read_shared_state(positions[0].machine, game_digest)}
        )
        for seated_position in positions:
            seated_position.game_digest = ""
            position_rounds = seated_position.machine.component(PositionRounds)
            seated_position.machine.install(shared_state)
            position_number = seated_position.machine.position.number
            self.last_refusal_notice = refusal_by_position.get(position_number, round_refusal)
            if position_number in assignment_by_position:
                position_rounds.starting_round = shared_round
                position_rounds.seat_number = assignment_by_position[position_number].seat_number
            try:
                seated_position.submit_event(Event(TableEvent.NO_MORE_BETS))
            finally:
                position_rounds.starting_round = None
                seated_position.machine.install(TableStatesAtRoundStart())


def _get_position_number(seated_position: SeatedPosition) -> int:
    return seated_position.machine.position.number


def _has_bets_in_round(machine: PositionMachine, game_digest: str) -> bool:
    """Return whether the starting round decides standing bets of this position."""
    table_record = read_table(machine, game_digest)
    selected_game = machine.games.get(machine.selection.game_id)
    bets_depend_on_table_state = selected_game is not None and bool(
        selected_game.rules.standing_bet_state_fields
    )
    return (
        bets_depend_on_table_state
        and table_record is not None
        and bool(table_record.standing_stakes)
        and can_join_shared_round(machine, game_digest)
    )


def _is_position_delaying_next_round(machine: PositionMachine, game_digest: str) -> bool:
    """Return whether the game's next round must wait until this position has decided, or has shown the result."""
    game_record = find_open_game(machine)
    if (
        game_record is None
        or game_record.game_reference.digest != game_digest
        or machine.component(GameInProgress).stepped_game is None
    ):
        return False
    rules = machine.games[game_record.game_reference.id].rules
    if game_record.outcome is not None:
        return bool(game_record.round_id and rules.standing_bet_state_fields)
    return game_record.wager.seat is not None or bool(rules.shared_state_fields)


def _find_wager_refusal(
    rules: GameRules, seat_number: int, wager: Wager, other_wager_by_seat: Mapping[int, Wager]
) -> Notice | None:
    """Return a notice if the rules refuse a seat's wager together with the other wagers; None if they accept it."""
    try:
        rules.combine_seat_wagers(wager, seat_number, other_wager_by_seat)
    except RefusedRoundError as error:
        return Notice(code=error.notice, severity="warning", values=dict(error.values))
    except WagerError:
        return _BETS_NOT_ACCEPTED_NOTICE
    return None


def _assign_seats(
    bets_by_position: list[tuple[SeatedPosition, AcceptedBet | None]],
) -> dict[int, SeatAssignment]:
    """Return the seat number and the wager of each position, by position number.

    A position whose wager the table's rules do not accept by itself is left out.
    """
    assignment_by_position: dict[int, SeatAssignment] = {}
    for seated_position, bet in bets_by_position:
        if bet is not None:
            position_number, rules = seated_position.machine.position.number, bet.game.rules
            seat_number = position_number - 1 if rules.has_fixed_seats else len(assignment_by_position)
            refusal = _find_wager_refusal(rules, seat_number, bet.wager, {})
            if refusal != _BETS_NOT_ACCEPTED_NOTICE:  # other reasons need all seats
                assignment_by_position[position_number] = SeatAssignment(seat_number, bet.wager)
    return assignment_by_position


def _remove_refused_seats(
    positions: list[SeatedPosition], assignment_by_position: dict[int, SeatAssignment]
) -> dict[int, Notice]:
    """Remove the positions whose wagers do not fit the others; return the reason for each, by position number.

    A game that needs several seats is not reduced: it is refused as a whole instead (:func:`_find_round_refusal`).
    """
    refusal_by_position: dict[int, Notice] = {}
    for seated_position in positions:
        position_number, bet = (
            seated_position.machine.position.number,
            find_current_bet(seated_position.machine),
        )
        if bet is None or position_number not in assignment_by_position or bet.game.rules.seats_min > 1:
            continue
        refusal = _find_wager_refusal(
            bet.game.rules,
            assignment_by_position[position_number].seat_number,
            bet.wager,
            dict(assignment_by_position.values()),
        )
        if refusal is not None:
            del assignment_by_position[position_number]
            refusal_by_position[position_number] = refusal
    return refusal_by_position


def _can_take_part(seated_position: SeatedPosition) -> bool:
    """Return whether a position can take part in a round in which players play against each other.

    One player's loss pays another's win, so only positions whose game can start take part. If each player plays
    against the operator, the result is True: a game that cannot start is refused later, when it is started.
    """
    bet = find_current_bet(seated_position.machine)
    if bet is None or not bet.game.rules.has_fixed_seats:
        return True
    event = Event(TableEvent.NO_MORE_BETS)
    return seated_position.can_start_game() and all(
        guard(seated_position.machine, event) for guard in PLAY_GUARDS
    )


def _find_round_refusal(
    machine: PositionMachine, game_digest: str, assignment_by_position: Mapping[int, SeatAssignment]
) -> Notice | None:
    """Return a notice if the rules of a game refuse a round with these seats and wagers; None if it can be played.

    Only a game that needs several seats can refuse a whole round.
    """
    rules = next((game.rules for game in machine.games.values() if game.digest == game_digest), None)
    if rules is None or not assignment_by_position or rules.seats_min == 1:
        return None
    table_record = read_table(machine, game_digest)
    current_rules = rules.with_table_state(None if table_record is None else table_record.table_state)
    wager_by_seat = dict(assignment_by_position.values())
    refusals = (
        _find_wager_refusal(current_rules, seat_number, wager, wager_by_seat)
        for seat_number, wager in wager_by_seat.items()
    )
    return next((refusal for refusal in refusals if refusal is not None), None)


def find_selected_game_digest(machine: PositionMachine) -> str:
    """Return the digest of the game selected at the position, or an empty string."""
    game = machine.games.get(machine.selection.game_id)
    return "" if game is None else game.digest


def is_betting_closed_by_wheel(machine: PositionMachine) -> bool:
    """Return whether a real wheel decides the selected game, so that betting closes when its ball is about to fall."""
    game = machine.games.get(machine.selection.game_id)
    return game is not None and game.rules.is_decided_by_wheel


def find_betting_seconds(machine: PositionMachine) -> int | None:
    """Return the length of the selected game's betting period in seconds; None if it has no period of fixed length.

    That is so if each position plays the game alone, or if a real wheel closes betting.
    """
    is_only_seat = (
        machine.position.position_count == 1
        or machine.position.number not in machine.component(SharedTables).position_by_number
    )
    if is_only_seat or is_betting_closed_by_wheel(machine):
        return None
    game = machine.games.get(machine.selection.game_id)
    return (
        None
        if game is None or not can_join_shared_round(machine, game.digest)
        else game.rules.betting_seconds
    )


def is_playing_missed_bets_alone(machine: PositionMachine) -> bool:
    """Return whether this position must play its standing bets alone first, because they missed a shared round."""
    return machine.position.position_count > 1 and not can_join_shared_round(
        machine, find_selected_game_digest(machine)
    )


def has_placed_bets(machine: PositionMachine) -> bool:
    """Return whether this position has placed bets in an open betting period."""
    tables = machine.find_installed(SharedTables)
    seated_position = None if tables is None else tables.position_by_number.get(machine.position.number)
    return seated_position is not None and bool(seated_position.game_digest)


def _compute_seconds_until(due_ns: int, machine: PositionMachine) -> int:
    """Return the seconds until the monotonic time ``due_ns``, rounded up."""
    return max(0, -(-(due_ns - machine.clock.monotonic_ns()) // NANOSECONDS_PER_SECOND))


def compute_betting_seconds_left(machine: PositionMachine) -> int | None:
    """Return the seconds left in the selected game's betting period, or None if it is not open."""
    tables = machine.find_installed(SharedTables)
    return (
        None
        if tables is None or not tables.betting_deadline_ns_by_digest
        else tables.compute_seconds_left(find_selected_game_digest(machine))
    )


# ---------------------------------------------------------------------------------- guards, effects
@refusal_code("plays_in_common")
def selected_game_has_shared_rounds(machine: PositionMachine, _: Event) -> bool:
    """Return whether the selected game is played in rounds with other positions, or decided by a real wheel."""
    return is_betting_closed_by_wheel(machine) or find_betting_seconds(machine) is not None


def join_betting_period(machine: PositionMachine, _: Event) -> None:
    """Place this position's bets for the table's next round; they are staked when betting closes."""
    bet = find_current_bet(machine)
    if bet is not None:
        machine.component(SharedTables).place_bets(machine, bet.game.digest, find_betting_seconds(machine))


@refusal_code("has_a_place")
def position_has_seat(machine: PositionMachine, _: Event) -> bool:
    """Return whether this position takes part in the round that is being started."""
    return machine.component(PositionRounds).starting_round is not None


def notify_bets_not_accepted(machine: PositionMachine, _: Event) -> None:
    """Show a notice that the bets were not accepted when betting closed, and that nothing was staked.

    A position that placed no new bets gets no notice.
    """
    if machine.component(AcceptedBetCache).is_without_new_bets:
        return
    machine.notice = machine.component(SharedTables).last_refusal_notice or _BETS_NOT_ACCEPTED_NOTICE


def withdraw_bets(machine: PositionMachine, event: Event) -> Event:
    """Withdraw this position's bets from the betting period, and return the submitted event, to be processed next."""
    machine.component(SharedTables).remove_bets(machine)
    return event

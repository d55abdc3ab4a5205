"""The comparison of all games of one shared round: they must record the same draws, table bets and choices.

In a shared round, several positions play at one table with the same draws. Each position records its own game.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from egm.app.entries import RNG_RESEEDED, RNG_SELF_TESTED
from egm.config.cabinet_file import POSITIONS_MAX
from egm.integrity.entries import CLOCK_CHANGED
from egm.integrity.journal_entries import CHECKPOINT_SIGNED, MEMORY_EVENT_RECORDED, SEGMENT_ARCHIVED
from egm.play.records.game_record import GameChoice, GameRecord, RecordedStep, is_round_between_players
from egm.play.records.games import GAME_CHOICE_KIND
from meters import StoredEntry
from meters.recall import CARRIED_GAME_KIND
from paytables import ALL_STAKED_OPTION, SEATS_DECISION_KIND, Bet, Decision

#: The maximum number of stored rounds without an open game.
_STORED_ENDED_ROUNDS_MAX: Final = 1_000
#: Kinds of entries that the journal, the clock or the generator may write between any two others.
_KINDS_POSSIBLE_BETWEEN_ANY_ENTRIES: Final = frozenset(
    declaration.kind
    for declaration in (
        CHECKPOINT_SIGNED,
        SEGMENT_ARCHIVED,
        MEMORY_EVENT_RECORDED,
        CLOCK_CHANGED,
        RNG_RESEEDED,
        RNG_SELF_TESTED,
    )
)


@dataclass(slots=True)
class _Round:
    """A shared round at one table, as its games record it."""

    id: str
    digest: str
    """The digest of the game's definition."""
    table_bets: frozenset[Bet]
    """The bets on the table when the round started."""
    steps: list[RecordedStep] = field(default_factory=list)
    """The steps of the round in order: each has the draws and, after the first, a player's choice."""
    first_recorders: list[str] = field(default_factory=list)
    """For each step of the round, the id of the game that recorded the step first ("" if unknown)."""
    seat_by_position: dict[int, int | None] = field(default_factory=dict)
    """The seat of each player position that plays the round; None at a table without seats."""
    open_play_ids: set[str] = field(default_factory=set)
    """The ids of the round's games that have not ended. A position may record its steps much later than others."""
    has_void_game: bool = False
    """Whether staff declared a game of the round void."""
    ending_void_play_id: str = ""
    """The id of the game that was declared void and thereby ended the round, or "".

    A void game ends its round if the players of the round win each other's stakes.
    """
    winning_number: int | None = None
    """The number that a physical wheel reported for the round, or None."""

    def list_possible_positions(self, seat_number: int) -> range:
        """Return the player positions to which the seat ``seat_number`` may belong.

        Seats are numbered in the order of the positions, so the occupied seats below and above limit the range.
        """
        position_by_seat = {
            seat: position for position, seat in self.seat_by_position.items() if seat is not None
        }
        positions = position_by_seat.items()
        lower_position = max((position for seat, position in positions if seat < seat_number), default=0)
        upper_position = min(
            (position for seat, position in positions if seat > seat_number), default=POSITIONS_MAX + 1
        )
        return range(lower_position + 1, upper_position)


class RoundAudit:
    """The check that all games of a shared round record the same draws, table bets and choices.

    ``report_finding`` is called for each entry that differs from its round, and ``add_notice`` for each notice.
    ``can_start_game(position, digest, bets)`` returns whether the stored values allow the position to start a game
    of the definition with this digest and these bets (credits by spot).
    """

    def __init__(
        self,
        report_finding: Callable[[StoredEntry, str], None],
        can_start_game: Callable[[int, str, Mapping[str, int]], bool] = lambda *_: True,
        add_notice: Callable[[StoredEntry, str], None] = lambda *_: None,
    ) -> None:
        self._report_finding = report_finding
        self._can_start_game = can_start_game
        self._add_notice = add_notice
        self._rounds: dict[str, dict[str, _Round]] = {}
        """The shared rounds by round id, then by digest of the game definition.

        One spin of a physical wheel can be the round of several tables, each with its own definition.
        """
        self._round_key_by_play_id: dict[str, tuple[str, str]] = {}
        """The round of each open game, as (round id, digest of the game definition), by play id."""
        self._ended_round_keys: dict[tuple[str, str], None] = {}
        """The rounds without an open game, as (round id, definition digest), in the order in which they ended."""
        self._spin_round_id = ""
        """The round of the physical wheel's latest spin; set when the bets for the spin are closed."""
        self._spin_winning_number: int | None = None
        """The number that the physical wheel reported for its latest spin; None until it reports one."""
        self._starting_round: tuple[StoredEntry, _Round] | None = None
        """The entry of the latest game start, and the round whose games the seats are starting one after the other.

        None if no round is starting.
        """
        self._unable_seats: set[int] = set()
        """The seats that have a bet in the round now starting, but could not start a game at its latest game start."""
        self._has_machine_kept_running = False
        """Whether an entry proves that the machine kept running, without power loss, after the latest game start."""

    def record_betting_closed(self, round_id: str) -> None:
        """Note that the bets are closed for a spin of the physical wheel; the spin decides the round ``round_id``.

        Games at several tables may belong to this round.
        """
        self._spin_round_id, self._spin_winning_number = round_id, None

    def check_game_start(self, entry: StoredEntry, game_record: GameRecord, position: int) -> None:
        """Check that a game of a shared round starts with the same draws and table bets as the round's other games.

        Its position and seat must be new in the round, and the seats in the order of the positions. The game is added
        to its round, which may be new.
        """
        seat, digest, is_carried = (
            game_record.wager.seat,
            game_record.game_reference.digest,
            entry.kind == CARRIED_GAME_KIND,
        )
        table_bets = frozenset(
            (*game_record.wager.bets, *game_record.wager.bets_of_other_seats) if seat is not None else ()
        )
        round_by_digest = self._rounds.setdefault(game_record.round_id, {})
        if not is_carried:
            self._check_spin(
                entry,
                game_record,
                is_first_game_at_further_table=bool(round_by_digest) and digest not in round_by_digest,
            )
        round_ = round_by_digest.setdefault(digest, _Round(game_record.round_id, digest, table_bets))
        if round_.table_bets != table_bets:
            self._report_finding(
                entry,
                f"record.wager: the bets on the table differ from those recorded by another seat of the round "
                f"{game_record.round_id}",
            )
        is_seat_taken = seat is not None and seat in round_.seat_by_position.values()
        if is_seat_taken or any(
            position in other_round.seat_by_position for other_round in round_by_digest.values()
        ):
            self._report_finding(
                entry,
                f"position {position} or its seat has already started a game of the round {game_record.round_id}",
            )
        round_.seat_by_position[position] = seat
        if any(
            seat_before > seat_after for seat_before, seat_after in pairwise(_sort_occupied_seats(round_))
        ):
            self._report_finding(
                entry,
                f"the seats of the round {game_record.round_id} are not in the order of the positions: found "
                f"{_sort_occupied_seats(round_)}",
            )
        if not is_carried and (len(round_.seat_by_position) == 1 or self.is_in_starting_round(game_record)):
            self._starting_round, self._has_machine_kept_running = (entry, round_), False
            self._unable_seats = {
                missing_seat
                for missing_seat in _list_missing_seats(round_)
                if not self._can_every_possible_position_start(round_, missing_seat)
            }
        round_.open_play_ids.add(game_record.play_id)
        self._round_key_by_play_id[game_record.play_id] = game_record.round_id, digest
        self._ended_round_keys.pop((game_record.round_id, digest), None)
        shared_steps = game_record.steps if seat is not None else game_record.steps[:1]
        for step_index, step in enumerate(shared_steps):
            self._record_step(entry, game_record, step_index, step)
        if game_record.round_steps and not is_carried:
            self._report_finding(
                entry,
                "record.round_steps: only a game that a clear carried over may record steps of its round that it lacks",
            )
        for step_index, step in enumerate(game_record.round_steps):
            self._record_step(entry, game_record, step_index, step, first_recorder="")

    def _check_spin(
        self, entry: StoredEntry, game_record: GameRecord, *, is_first_game_at_further_table: bool
    ) -> None:
        """Check that a game's round agrees with the physical wheel.

        Several tables may share a round only if the round is a spin of the wheel. ``is_first_game_at_further_table``
        says whether only other tables have started this round so far. No game may start after the number of the spin
        was reported.
        """
        if is_first_game_at_further_table and game_record.round_id != self._spin_round_id:
            self._report_finding(
                entry, f"record.game: other seats of the round {game_record.round_id} play another game"
            )
        if game_record.round_id == self._spin_round_id and self._spin_winning_number is not None:
            self._report_finding(
                entry, f"the game starts after number {self._spin_winning_number} of its round was reported"
            )

    def is_in_starting_round(self, game_record: GameRecord) -> bool:
        """Return whether the game belongs to the round that the seats are starting now, one after the other."""
        if self._starting_round is None:
            return False
        _, starting_round = self._starting_round
        return starting_round is self._find_round(game_record)

    @property
    def is_round_starting(self) -> bool:
        """Return whether the seats of a shared round may still be starting their games.

        Any later entry of a game proves that they have all started (:meth:`report_seats_not_started`). After a power
        loss, those that had not started are not expected to start any more (:meth:`drop_starting_round`).
        """
        return self._starting_round is not None

    def report_seats_not_started(self) -> None:
        """Report each seat with a bet in the last shared round that started no game.

        To be called before a game of another round starts, and before each later entry of a game. The round is then no
        longer starting. A game is not required if the power failed or the seat's position could no longer start one.
        """
        if self._starting_round is None:
            return
        entry, round_ = self._starting_round
        self._starting_round = None
        for missing_seat in _list_missing_seats(round_):
            if missing_seat not in self._unable_seats and self._can_every_possible_position_start(
                round_, missing_seat
            ):
                self._report_finding(
                    entry,
                    f"seat {missing_seat} has a bet in the round {round_.id}, but started no game of it",
                )

    def _can_every_possible_position_start(self, round_: _Round, seat: int) -> bool:
        """Return whether every position to which the seat may belong can now start a game with the seat's bets."""
        bets = {bet.spot: bet.credits for bet in round_.table_bets if bet.seat == seat}
        return all(
            self._can_start_game(position, round_.digest, bets)
            for position in round_.list_possible_positions(seat)
        )

    def process_entry_after_start(self, entry: StoredEntry) -> None:
        """Process an entry that follows a game start while the seats are starting a round.

        The machine starts the games of all seats one after the other. Between two starts, only the journal, the
        clock or the random number generator may write an entry, and the power may fail after it. Any other
        entry proves that the machine kept running and ended the start of the round.
        """
        if self._starting_round is None:
            return
        start_entry, _ = self._starting_round
        if entry.sequence == start_entry.sequence:
            return
        if entry.kind not in _KINDS_POSSIBLE_BETWEEN_ANY_ENTRIES:
            self._has_machine_kept_running = True

    def close(self) -> None:
        """At the end of the journal, report each seat with a bet in the last round that started no game.

        If no entry proves that the machine kept running, the power may have failed: then only a notice is
        added.
        """
        if self._starting_round is None:
            return
        entry, round_ = self._starting_round
        for missing_seat in _list_missing_seats(round_):
            missing_seat_error = (
                f"seat {missing_seat} has a bet in the round {round_.id}, but started no game of it"
            )
            is_able = missing_seat not in self._unable_seats and self._can_every_possible_position_start(
                round_, missing_seat
            )
            if self._has_machine_kept_running and is_able:
                self._report_finding(entry, f"{missing_seat_error} before the end of the journal")
            else:
                self._add_notice(
                    entry,
                    f"{missing_seat_error} before the end of the journal; either the power failed at that moment, or "
                    "its position could not start one",
                )

    def drop_starting_round(self) -> None:
        """After a power loss, stop expecting games from the seats that had not started one in the current round."""
        self._starting_round = None

    def end_game(self, play_id: str, step_count: int, *, is_void: bool) -> None:
        """Remove a game that ended after ``step_count`` steps from the open games of its round.

        A void game ends its round if the players win each other's stakes, unless another seat has already
        recorded a further step. The data of a limited number of ended rounds stays stored.
        """
        round_id, digest = self._round_key_by_play_id.pop(play_id, ("", ""))
        round_ = self._rounds.get(round_id, {}).get(digest)
        if round_ is None:
            return
        round_.has_void_game = round_.has_void_game or is_void
        if is_void and step_count == len(round_.steps) and is_round_between_players(round_.steps):
            round_.ending_void_play_id = round_.ending_void_play_id or play_id
        round_.open_play_ids.discard(play_id)
        if not round_.open_play_ids:
            self._ended_round_keys[round_id, digest] = None
        if len(self._ended_round_keys) > _STORED_ENDED_ROUNDS_MAX:
            round_id, digest = next(iter(self._ended_round_keys))
            del self._ended_round_keys[round_id, digest], self._rounds[round_id][digest]
            if not self._rounds[round_id]:
                del self._rounds[round_id]

    def record_winning_number(self, round_id: str, winning_number: int | None) -> None:
        """Record the number that a physical wheel reported for a round."""
        if round_id == self._spin_round_id:
            self._spin_winning_number = winning_number
        for round_ in self._rounds.get(round_id, {}).values():
            round_.winning_number = winning_number

    def find_winning_number(self, round_id: str) -> int | None:
        """Return the number that a physical wheel reported for a round, or None."""
        return next((round_.winning_number for round_ in self._rounds.get(round_id, {}).values()), None)

    def process_game_step(
        self, entry: StoredEntry, start_record: GameRecord, step_index: int, choice: GameChoice
    ) -> None:
        """Check that step ``step_index`` of a game equals the same step in the round's other games, and store it.

        At a table without seats the games share only their first step, so the later ones are not compared.
        """
        is_shared = start_record.wager.seat is not None
        if choice.round_id != (start_record.round_id if is_shared else ""):
            self._report_finding(
                entry,
                f"record.round_id: expected {start_record.round_id if is_shared else ''!r}, found {choice.round_id!r}",
            )
        elif is_shared:
            if self.is_round_void(start_record):
                self._report_finding(
                    entry,
                    f"a game of the round {start_record.round_id} was declared void, and another one continues",
                )
            self._record_step(
                entry, start_record, step_index, RecordedStep(choice=choice.choice, draws=choice.draws)
            )

    def _find_round(self, game_record: GameRecord) -> _Round | None:
        """Return the shared round of the game, or None if it is not known."""
        return self._rounds.get(game_record.round_id, {}).get(game_record.game_reference.digest)

    def is_behind_round(self, game_record: GameRecord) -> bool:
        """Return whether another seat has already recorded the step of the round that comes next in this game."""
        round_ = None if game_record.wager.seat is None else self._find_round(game_record)
        return round_ is not None and len(round_.steps) > len(game_record.steps)

    def is_round_void(self, game_record: GameRecord) -> bool:
        """Return whether the round of this game has ended because the game of another seat was declared void."""
        round_ = None if game_record.wager.seat is None else self._find_round(game_record)
        return round_ is not None and round_.ending_void_play_id not in {"", game_record.play_id}

    def is_round_between_players(self, game_record: GameRecord) -> bool:
        """Return whether the players of this game's round win each other's stakes rather than the operator's.

        The game must be open or have just ended.
        """
        round_ = None if game_record.wager.seat is None else self._find_round(game_record)
        return round_ is not None and is_round_between_players(round_.steps)

    def _record_step(
        self,
        entry: StoredEntry,
        game_record: GameRecord,
        step_index: int,
        step: RecordedStep,
        *,
        first_recorder: str | None = None,
    ) -> None:
        """Store a step of a round; report a finding if another seat recorded the step differently.

        ``first_recorder`` is the id of the game that recorded the step first: None for this game, "" if unknown.
        """
        round_ = self._find_round(game_record)
        if round_ is None:
            self._report_finding(
                entry, f"record.round_id: no game has started the round {game_record.round_id}"
            )
        elif step_index == len(round_.steps):
            round_.steps.append(step)
            round_.first_recorders.append(game_record.play_id if first_recorder is None else first_recorder)
        elif step_index > len(round_.steps) or round_.steps[step_index] != step:
            self._report_finding(
                entry,
                f"step {step_index} of the round {game_record.round_id} differs from the one that another seat "
                "recorded, in its draws or its choice",
            )

    def check_who_decided(
        self,
        entry: StoredEntry,
        start_record: GameRecord,
        step_index: int,
        step: RecordedStep | GameChoice,
        decision: Decision,
    ) -> None:
        """Check that a recorded choice was made by a player or machine that was entitled to make it.

        ``decision`` states which seat must decide, and the default choice. The choice must be the default in two cases:
        the machine decided for the player of that seat, or the game of another seat recorded the choice first. If the
        decision is whether all seats have staked, the choice must agree with the games that the seats have started.
        """
        if isinstance(step, GameChoice) and step.is_table_answer:
            self._check_choice_by_machine(entry, start_record, step, decision)
        round_ = self._find_round(start_record)
        if decision.kind == SEATS_DECISION_KIND:
            self._check_all_staked(entry, round_, step)
            return
        if (
            start_record.wager.seat in {None, decision.seat}
            or round_ is None
            or entry.kind != GAME_CHOICE_KIND
        ):
            return
        has_recorded_first = (
            step_index < len(round_.first_recorders)
            and round_.first_recorders[step_index] == start_record.play_id
        )
        if has_recorded_first and step.choice != decision.default_option:
            self._report_finding(
                entry,
                f"record.choice: only seat {decision.seat} may decide; expected the default "
                f"{decision.default_option!r}, found {step.choice!r}",
            )

    def _check_choice_by_machine(
        self, entry: StoredEntry, start_record: GameRecord, step: GameChoice, decision: Decision
    ) -> None:
        """Check a choice that the machine made for a player who did not decide: it must be the default option."""
        if (start_record.wager.seat or 0) != decision.seat or not start_record.round_id:
            self._report_finding(
                entry, f"record.by_table: seat {decision.seat} decides, but this is a game of another seat"
            )
        elif step.choice != decision.default_option:
            self._report_finding(
                entry,
                "record.choice: the table may only give the default answer, "
                f"{decision.default_option!r}, found {step.choice!r}",
            )

    def _check_all_staked(
        self, entry: StoredEntry, round_: _Round | None, step: RecordedStep | GameChoice
    ) -> None:
        """Check the step that says whether every seat has wagered its stake.

        If the players win each other's stakes, the round must be played if every seat has wagered its stake, and
        must not be played otherwise.
        """
        missing_seats = [] if round_ is None else _list_missing_seats(round_)
        if missing_seats and step.choice == ALL_STAKED_OPTION:
            self._report_finding(
                entry,
                f"record.choice: the round is played, but seat {missing_seats[0]} has not wagered its stake",
            )
        have_all_staked = not missing_seats and (round_ is None or not round_.has_void_game)
        if have_all_staked and step.choice != ALL_STAKED_OPTION:
            self._report_finding(
                entry,
                "record.choice: every seat has wagered its stake: "
                f"expected {ALL_STAKED_OPTION!r}, found {step.choice!r}",
            )


def _list_missing_seats(round_: _Round) -> list[int]:
    """Return the seats that have a bet on the table but have started no game of the round, ascending."""
    return sorted({bet.seat for bet in round_.table_bets} - set(round_.seat_by_position.values()))


def _sort_occupied_seats(round_: _Round) -> list[int]:
    """Return the numbers of the occupied seats, in the order of their positions."""
    return [seat for _, seat in sorted(round_.seat_by_position.items()) if seat is not None]

"""A round shared by several seats: each number is drawn once and recorded in the game of every seat.

Each seat's game record contains the steps of the whole round. The first game to reach a step draws its numbers
and records them; the games of the other seats then record the same step. After a power loss the game with the
most steps shows how far the round had come, so that no card is drawn twice.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.play.entries import GAME_VOID, GameVoid
from egm.play.events import ChoiceRequest
from egm.play.records.game_record import GameChoice, GameRecord, RecordedStep, is_round_between_players
from egm.play.records.games import GAME_CHOICE_KIND, find_game_start, find_open_game
from egm.record_codec import from_json
from meters import StoredEntry
from paytables import Decision, Wager


@dataclass(slots=True)
class SharedRound:
    """A round shared by several seats: the wager of each seat, and every step that one of their games has recorded."""

    round_id: str
    wagers: Mapping[int, Wager] = field(default_factory=dict)
    """The wager of each seat, by the number of the seat."""
    steps: list[RecordedStep] = field(default_factory=list)
    """The steps that any game of the round has recorded, in order."""

    def find_step(self, step_index: int) -> RecordedStep | None:
        """Return the step with the index ``step_index``, or None if no seat's game has recorded it yet."""
        return self.steps[step_index] if step_index < len(self.steps) else None

    def add_step(self, step_index: int, step: RecordedStep) -> None:
        """Add a step that a game of the round has recorded; do nothing unless ``step_index`` is the next index."""
        if step_index == len(self.steps):
            self.steps.append(step)


@dataclass(slots=True)
class PositionRounds:
    """The shared rounds of one player position: of the game that is starting, and of the open or last game."""

    starting_round: SharedRound | None = None
    """While a game starts: its shared round; None if the position plays alone."""

    seat_number: int = 0
    """The position's seat in the round."""

    current_round: SharedRound | None = None
    """The shared round of the open game, or of the last game if none is open."""

    overdue_play_id: str = ""
    """The id of the game whose last answer the table gave, because the player's time was up; otherwise empty."""


@dataclass(slots=True)
class RoundVoidCache:
    """Whether the round of game ``play_id`` was void when the journal's last entry had the number ``sequence``."""

    play_id: str = ""
    sequence: int = 0
    is_void: bool = False


def find_shared_round(machine: PositionMachine, game_record: GameRecord) -> SharedRound | None:
    """Return the shared round of the open game, or None.

    Return None if the game is played alone, or if :func:`collect_shared_round` was not called since the machine
    started.
    """
    current_round = machine.component(PositionRounds).current_round
    return (
        None
        if current_round is None or not game_record.round_id or current_round.round_id != game_record.round_id
        else current_round
    )


def collect_shared_round(
    machine: PositionMachine, game_record: GameRecord, other_positions: Iterable[PositionMachine]
) -> SharedRound:
    """Return the open game's shared round with every step of any of its games so far, and store it as the current one.

    The steps are taken from memory if a position (``machine`` or one of ``other_positions``) has them there, otherwise
    from the journal.
    """
    positions = (machine, *other_positions)
    known_rounds = (find_shared_round(position, game_record) for position in positions)
    shared_round = next((known_round for known_round in known_rounds if known_round is not None), None)
    if shared_round is None:
        open_game_records = (find_open_game(position) for position in positions)
        game_records = [
            seat_game_record
            for seat_game_record in open_game_records
            if seat_game_record is not None and seat_game_record.round_id == game_record.round_id
        ]
        recorded_steps = [
            steps
            for seat_game_record in game_records
            for steps in (seat_game_record.steps, seat_game_record.round_steps)
        ]
        longest_steps = max(*recorded_steps, _find_longest_steps(machine, game_record), key=len)
        shared_round = SharedRound(game_record.round_id, steps=list(longest_steps))
    machine.component(PositionRounds).current_round = shared_round
    return shared_round


def _find_longest_steps(machine: PositionMachine, game_record: GameRecord) -> tuple[RecordedStep, ...]:
    """Return the longest list of steps that a game of the same round has recorded in this machine's journal."""
    return max(_read_steps_by_play_id(machine, game_record).values(), key=len, default=game_record.steps)


def _read_steps_by_play_id(
    machine: PositionMachine, game_record: GameRecord
) -> dict[str, tuple[RecordedStep, ...]]:
    """Return the recorded steps of each game of this game's round, by play id, from the journal.

    Games without any answer are left out.
    """
    start_entry = machine.journal.get(f"{game_record.play_id}.start")
    steps_by_play_id: dict[str, tuple[RecordedStep, ...]] = {}
    for entry in (
        ()
        if start_entry is None
        else machine.journal.entries(GAME_CHOICE_KIND, after_sequence=start_entry.sequence)
    ):
        choice = from_json(GameChoice, entry.record, f"entry {entry.sequence}, {entry.kind}")
        if choice.round_id == game_record.round_id:
            step = RecordedStep(choice=choice.choice, draws=choice.draws)
            earlier_steps = steps_by_play_id.get(choice.play_id)
            steps_by_play_id[choice.play_id] = (
                *(earlier_steps or find_game_start(machine, choice.play_id).record.steps),
                step,
            )
    return steps_by_play_id


def is_round_void(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether the open game's round is over because a game of it was declared void.

    If players win each other's stakes, a void game ends the round, because its stakes can no longer be won. There is
    one exception: if the void game lacked a step that another seat has recorded, the round continues without it. (Such
    a game can only be void because it cannot be replayed.) If players do not win each other's stakes, a void game does
    not end the round.
    """
    void_cache = machine.component(RoundVoidCache)
    cache_key = game_record.play_id, machine.journal.sequence
    if (void_cache.play_id, void_cache.sequence) != cache_key:
        void_cache.is_void = _has_void_in_round(machine, game_record)
        void_cache.play_id, void_cache.sequence = cache_key
    return void_cache.is_void


def _has_void_in_round(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether the journal shows that a game of this game's round was declared void and so ended the round."""
    start_entry = (
        None if game_record.wager.seat is None else machine.journal.get(f"{game_record.play_id}.start")
    )
    void_entries = (
        ()
        if start_entry is None
        else tuple(machine.journal.entries(GAME_VOID.kind, after_sequence=start_entry.sequence))
    )
    if not void_entries:
        return False
    steps_by_play_id = {
        game_record.play_id: game_record.steps,
        **_read_steps_by_play_id(machine, game_record),
    }
    step_count = max(len(game_record.round_steps), *map(len, steps_by_play_id.values()))
    return any(
        steps is not None and len(steps) == step_count and is_round_between_players(steps)
        for steps in (
            _find_steps_if_in_round(machine, game_record, _read_voided_play_id(entry), steps_by_play_id)
            for entry in void_entries
        )
    )


def _read_voided_play_id(entry: StoredEntry) -> str:
    """Return the id of the game that a journal entry declares void."""
    return from_json(GameVoid, entry.record, f"entry {entry.sequence}, {entry.kind}").play_id


def _find_steps_if_in_round(
    machine: PositionMachine,
    game_record: GameRecord,
    play_id: str,
    steps_by_play_id: Mapping[str, tuple[RecordedStep, ...]],
) -> tuple[RecordedStep, ...] | None:
    """Return the steps of the game ``play_id`` if it belongs to the round of ``game_record``; else None.

    ``steps_by_play_id`` has the steps of games that were read from the journal already, by play id.
    """
    with suppress(KeyError):  # The start of the game is lost.
        start_record = find_game_start(machine, play_id).record
        return (
            steps_by_play_id.get(play_id, start_record.steps)
            if start_record.round_id == game_record.round_id
            else None
        )
    return None


def is_next_step_recorded(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether another seat of the shared round has recorded the step that is next in this game."""
    if game_record.wager.seat is None:
        return False
    shared_round = find_shared_round(machine, game_record)
    recorded_steps = _find_longest_steps(machine, game_record) if shared_round is None else shared_round.steps
    return max(len(recorded_steps), len(game_record.round_steps)) > len(game_record.steps)


def is_answer_already_recorded(machine: PositionMachine, event: Event) -> bool:
    """Return whether another seat's game has recorded this answer already, so that no new numbers are drawn for it."""
    game_record = find_open_game(machine)
    shared_round = None if game_record is None else find_shared_round(machine, game_record)
    recorded_step = (
        None
        if game_record is None or shared_round is None
        else shared_round.find_step(len(game_record.steps))
    )
    return recorded_step is not None and event.read_payload(ChoiceRequest).choice == recorded_step.choice


def can_answer_decision(machine: PositionMachine, decision: Decision, event: Event) -> bool:
    """Return whether this position may answer the decision of a shared round.

    A player answers only for their own seat; the table passes on the answers of the other seats. If another game of
    the round has more steps, this game must first record those steps.
    """
    game_record, answering_seat = find_open_game(machine), event.read_payload(ChoiceRequest).answering_seat
    if game_record is None:
        return False
    if game_record.wager.seat is None and answering_seat is None:  # The player plays alone.
        return True
    shared_round = find_shared_round(machine, game_record)
    if answering_seat != decision.seat and (
        answering_seat is not None or decision.seat != game_record.wager.seat
    ):
        return False
    if game_record.wager.seat is None:
        return True
    if shared_round is None or is_round_void(machine, game_record):
        return False
    return shared_round.find_step(len(game_record.steps)) is None or (
        answering_seat is not None and is_answer_already_recorded(machine, event)
    )

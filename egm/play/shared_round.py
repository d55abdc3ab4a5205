"""A round shared by several seats: each number is drawn once, each decision answered once, and every game records all.

Each seat's game record contains the whole round. The first game to reach a step draws its numbers and records
them; the others take the recorded step. After a power loss the journal shows how far the most advanced game
had progressed, so that no card is drawn twice.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.play.entries import GAME_VOID, GameVoid
from egm.play.events import ChoiceRequest
from egm.play.records.game_record import GameChoice, GameRecord, RecordedStep, are_stakes_between_players
from egm.play.records.games import GAME_CHOICE_KIND, find_first_entry, find_open_game
from egm.record_codec import from_json
from meters import StoredEntry
from paytables import Decision, Wager


@dataclass(slots=True)
class SharedRound:
    """A round shared by several seats: the wager of each seat, and every step that any of its games has recorded."""

    round_id: str
    wagers: Mapping[int, Wager] = field(default_factory=dict)
    steps: list[RecordedStep] = field(default_factory=list)

    def find_step(self, number: int) -> RecordedStep | None:
        """Return the step with this number, or None if no seat's game in the shared round has recorded it yet."""
        return self.steps[number] if number < len(self.steps) else None

    def add_step(self, number: int, step: RecordedStep) -> None:
        """Store step ``number`` of the round, as one of its games has recorded it; ignore a step stored already."""
        if number == len(self.steps):
            self.steps.append(step)


@dataclass(slots=True)
class PositionRounds:
    """The shared rounds of this player position: the round that is starting, and that of the present or last game."""

    starting_round: SharedRound | None = None
    """While a game starts: its shared round, or None if the position plays alone."""

    seat_number: int = 0
    """The position's seat in the round."""

    current_round: SharedRound | None = None
    """The shared round of the open game, or else of the last game."""

    overdue_play_id: str = ""
    """The play in which the table gave this position's last answer, because its time was up; empty if it gave none."""


@dataclass(slots=True)
class RoundVoidCache:
    """Cache of whether the round of the play ``play_id`` is void, as of the journal entry ``sequence``."""

    play_id: str = ""
    sequence: int = 0
    is_void: bool = False


def find_shared_round(machine: Machine, game: GameRecord) -> SharedRound | None:
    """Return the shared round of the open game, or None.

    None means that the game is played alone, or that the steps of its round have not been collected since the
    machine's start.
    """
    shared = machine.component(PositionRounds).current_round
    return None if shared is None or not game.round_id or shared.round_id != game.round_id else shared


def collect_round(machine: Machine, game: GameRecord, other_machines: Iterable[Machine]) -> SharedRound:
    """Return the open game's shared round with every step that any of its games has recorded so far.

    The steps are read from the machines of the other positions (``other_machines``) if those have the round in
    memory, otherwise from the journal.
    """
    machines = (machine, *other_machines)
    shared_rounds = (find_shared_round(position, game) for position in machines)
    common_round = next((round_ for round_ in shared_rounds if round_ is not None), None)
    if common_round is None:
        open_games = (find_open_game(position) for position in machines)
        games = [
            seat_game
            for seat_game in open_games
            if seat_game is not None and seat_game.round_id == game.round_id
        ]
        recorded = [steps for seat_game in games for steps in (seat_game.steps, seat_game.round_steps)]
        furthest = max(*recorded, _find_recorded_steps(machine, game), key=len)
        common_round = SharedRound(game.round_id, steps=list(furthest))
    machine.component(PositionRounds).current_round = common_round
    return common_round


def _find_recorded_steps(machine: Machine, game: GameRecord) -> tuple[RecordedStep, ...]:
    """Return the steps of the most advanced game in this game's round, as this machine's journal records them."""
    return max(_read_recorded_steps(machine, game).values(), key=len, default=game.steps)


def _read_recorded_steps(machine: Machine, game: GameRecord) -> dict[str, tuple[RecordedStep, ...]]:
    """Return, by play id, the recorded steps of each game of this game's round, from the journal.

    Games without any answer are left out.
    """
    start = machine.journal.get(f"{game.play_id}.start")
    plays: dict[str, tuple[RecordedStep, ...]] = {}
    for entry in () if start is None else machine.journal.entries(GAME_CHOICE_KIND, since=start.sequence):
        choice = from_json(GameChoice, entry.record, f"entry {entry.sequence}, {entry.kind}")
        if choice.round_id == game.round_id:
            step = RecordedStep(choice=choice.choice, draws=choice.draws)
            earlier_steps = plays.get(choice.play_id)
            plays[choice.play_id] = (
                *(earlier_steps or find_first_entry(machine, choice.play_id)[1].steps),
                step,
            )
    return plays


def is_round_void(machine: Machine, game: GameRecord) -> bool:
    """Return whether another game of the open game's round was declared void, so that the round is over.

    A void game ends the round only if the players win each other's stakes, because its stakes are no longer
    there to be won. If another seat was ahead of the void game, the round continues as recorded.
    """
    void_cache, cache_key = machine.component(RoundVoidCache), (game.play_id, machine.journal.sequence)
    if (void_cache.play_id, void_cache.sequence) != cache_key:
        void_cache.is_void = _has_void_in_round(machine, game)
        void_cache.play_id, void_cache.sequence = cache_key
    return void_cache.is_void


def _has_void_in_round(machine: Machine, game: GameRecord) -> bool:
    """Return whether the journal shows that a game of this game's round was declared void, which ends the round."""
    start = None if game.wager.seat is None else machine.journal.get(f"{game.play_id}.start")
    voids = () if start is None else tuple(machine.journal.entries(GAME_VOID.kind, since=start.sequence))
    if not voids:
        return False
    plays = {game.play_id: game.steps, **_read_recorded_steps(machine, game)}
    furthest = max(len(game.round_steps), *map(len, plays.values()))
    return any(
        len(steps) == furthest and are_stakes_between_players(steps)
        for entry in voids
        for steps in _iter_steps_of_round(machine, game, _read_voided_play_id(entry), plays)
    )


def _read_voided_play_id(entry: StoredEntry) -> str:
    """Return the play that a journal entry declares void."""
    return from_json(GameVoid, entry.record, f"entry {entry.sequence}, {entry.kind}").play_id


def _iter_steps_of_round(
    machine: Machine, game: GameRecord, play_id: str, plays: Mapping[str, tuple[RecordedStep, ...]]
) -> Iterator[tuple[RecordedStep, ...]]:
    """Yield the steps of a play in the journal if the play belongs to this game's round.

    ``plays`` has the steps of plays that were read already, by play id.
    """
    with suppress(KeyError):  # a play whose start is lost
        beginning = find_first_entry(machine, play_id)[1]
        if beginning.round_id == game.round_id:
            yield plays.get(play_id, beginning.steps)


def is_next_step_recorded(machine: Machine, game: GameRecord) -> bool:
    """Return whether another seat of the shared round has recorded the next step of this game."""
    if game.wager.seat is None:
        return False
    common_round = find_shared_round(machine, game)
    recorded = _find_recorded_steps(machine, game) if common_round is None else common_round.steps
    return max(len(recorded), len(game.round_steps)) > len(game.steps)


def answer_is_already_recorded(machine: Machine, event: Event) -> bool:
    """Return whether another seat has already recorded this answer, so that it draws no new numbers."""
    game = find_open_game(machine)
    round_ = None if game is None else find_shared_round(machine, game)
    recorded = None if game is None or round_ is None else round_.find_step(len(game.steps))
    return recorded is not None and event.read_payload(ChoiceRequest).value == recorded.choice


def may_answer(machine: Machine, decision: Decision, event: Event) -> bool:
    """Return whether this player position may answer the decision of a shared round.

    The player may answer for their own seat; the table passes on the answers of other seats. A game that is
    behind the others of its round must first take the steps they have recorded.
    """
    game, answering_seat = find_open_game(machine), event.read_payload(ChoiceRequest).seat
    if game is None or (game.wager.seat is None and answering_seat is None):
        return game is not None
    round_ = find_shared_round(machine, game)
    if answering_seat != decision.seat and (answering_seat is not None or decision.seat != game.wager.seat):
        return False
    if game.wager.seat is None:
        return True
    if round_ is None or is_round_void(machine, game):
        return False
    return round_.find_step(len(game.steps)) is None or (
        answering_seat is not None and answer_is_already_recorded(machine, event)
    )

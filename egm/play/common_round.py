"""A round that several seats play: drawn once, answered once, and recorded in the game of each.

Each seat's game is the whole round. Whichever comes first to a step draws its numbers and records them; the
others take the step as it was recorded. After a cut the journal says how far the furthest has come, so that
no card is ever drawn twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.record_codec import from_json
from egm.records.game_record import GameChoice, GameRecord, Step
from egm.records.games import CHOICE, beginning, open_game
from paytables import Decision, Wager


@dataclass(slots=True)
class CommonRound:
    """A round: what each seat has staked, by its place, and every step that its furthest game has taken."""

    round_id: str
    wagers: Mapping[int, Wager] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def at(self, number: int) -> Step | None:
        """A step that some game of the round has recorded; None: it is still to be drawn."""
        return self.steps[number] if number < len(self.steps) else None

    def took(self, number: int, step: Step) -> None:
        """A game of the round has recorded a step."""
        if number == len(self.steps):
            self.steps.append(step)


@dataclass(slots=True)
class RoundInCommon:
    """The round this position plays with others."""

    begins: CommonRound | None = None
    """While a game begins: the round it is of; None: the position plays by itself."""

    place: int = 0
    """Where it sits in it."""

    plays: CommonRound | None = None
    """The round whose steps are gathered here: that of the open game, or of one that is over."""


def round_of(machine: Machine, game: GameRecord) -> CommonRound | None:
    """The round of the open game; None where it plays by itself, or its steps are not gathered yet."""
    found = machine.state(RoundInCommon).plays
    return None if found is None or not game.round_id or found.round_id != game.round_id else found


def gathered(machine: Machine, game: GameRecord, beside: Iterable[Machine]) -> CommonRound:
    """The round of the open game with every step of its furthest game: as held here, or from the journal."""
    machines = (machine, *beside)
    held = next((found for each in machines if (found := round_of(each, game)) is not None), None)
    if held is None:
        open_games = (open_game(each) for each in machines)
        beside_it = [one for one in open_games if one is not None and one.round_id == game.round_id]
        known = [steps for one in beside_it for steps in (one.steps, one.round_steps)]
        furthest = max(*known, _recorded(machine, game), key=len)
        held = CommonRound(game.round_id, steps=list(furthest))
    machine.state(RoundInCommon).plays = held
    return held


def _recorded(machine: Machine, game: GameRecord) -> tuple[Step, ...]:
    """The steps of the furthest game of a round, as far as the journal of this machine has them."""
    start = machine.journal.get(f"{game.play_id}.start")
    plays: dict[str, tuple[Step, ...]] = {}
    for entry in () if start is None else machine.journal.entries(CHOICE, since=start.sequence):
        choice = from_json(GameChoice, entry.record, f"entry {entry.sequence}, {entry.kind}")
        if choice.round_id == game.round_id:
            taken = Step(choice=choice.choice, draws=choice.draws)
            before = plays.get(choice.play_id)
            plays[choice.play_id] = (*(before or beginning(machine, choice.play_id)[1].steps), taken)
    return max(plays.values(), key=len, default=game.steps)


def next_is_recorded(machine: Machine, game: GameRecord) -> bool:
    """Whether another seat has recorded the step that this game of a round is to take next."""
    if game.wager.seat is None:
        return False
    held = round_of(machine, game)
    known = _recorded(machine, game) if held is None else held.steps
    return max(len(known), len(game.round_steps)) > len(game.steps)


def step_known(machine: Machine, event: Event) -> bool:
    """Whether the answer is one that another seat has recorded: its numbers are drawn."""
    game = open_game(machine)
    round_ = None if game is None else round_of(machine, game)
    known = None if game is None or round_ is None else round_.at(len(game.steps))
    return known is not None and event.data.get("value") == known.choice


def may_answer(machine: Machine, decision: Decision, event: Event) -> bool:
    """Whether it is this player's to answer; or the table says what was answered at its seat.

    A game behind the others of its round takes what they have recorded, before anything else.
    """
    game, told = open_game(machine), event.data.get("seat")
    if game is None or (game.wager.seat is None and told is None):
        return game is not None
    round_ = round_of(machine, game)
    if told != decision.seat and (told is not None or decision.seat != game.wager.seat):
        return False
    if game.wager.seat is None:
        return True
    if round_ is None:
        return False
    return round_.at(len(game.steps)) is None or (told is not None and step_known(machine, event))

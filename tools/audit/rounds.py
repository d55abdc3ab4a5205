"""The games of a round that several seats play, held to each other: one deal, one table, the same answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from egm.records.game_record import GameChoice, GameRecord, Step
from egm.records.games import CARRIED_GAME, CHOICE
from meters import StoredEntry
from paytables import Bet, Decision

#: Rounds without an open game that are remembered.
_KEPT: Final = 1_000


@dataclass(slots=True)
class _Round:
    """A round: its game, each step as it was first recorded and by which play, who plays it, what lies."""

    digest: str
    laid: frozenset[Bet]
    steps: list[Step]
    first: list[str]
    positions: set[str | int] = field(default_factory=set)
    places: set[int | None] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    """Its plays that have not ended: a seat may stay behind in it however long."""
    number: int | None = None
    """What a real wheel told of it."""


class RoundAudit:
    """Follows rounds in common; ``fault`` is told of each entry that is otherwise than its round."""

    def __init__(self, fault: Callable[[StoredEntry, str], None]) -> None:
        self._fault = fault
        self._rounds: dict[str, _Round] = {}
        self._round_of: dict[str, str] = {}
        """The round of each open play."""
        self._over: dict[str, None] = {}
        """Rounds without an open play, in the order in which they ended."""

    def begins(self, entry: StoredEntry, game: GameRecord, position: str | int) -> None:
        """A game of a round begins with the numbers of the others, and the same bets around the table."""
        laid = frozenset((*game.wager.bets, *game.wager.others) if game.wager.seat is not None else ())
        round_ = self._rounds.get(game.round_id)
        if round_ is None:
            round_ = _Round(game.game.digest, laid, [], [])
            self._rounds[game.round_id] = round_
        if round_.digest != game.game.digest:
            self._fault(entry, f"other seats of the round {game.round_id} played it with another game")
        if round_.laid != laid:
            self._fault(entry, f"other seats of the round {game.round_id} played it with other bets")
        if position in round_.positions or (game.wager.seat is not None and game.wager.seat in round_.places):
            self._fault(entry, f"position {position} plays the round {game.round_id} twice")
        round_.positions.add(position)
        round_.places.add(game.wager.seat)
        round_.open.add(game.play_id)
        self._round_of[game.play_id] = game.round_id
        self._over.pop(game.round_id, None)
        in_common = game.steps if game.wager.seat is not None else game.steps[:1]
        for number, step in enumerate(in_common):
            self._takes(entry, game, number, step)
        if game.round_steps and entry.kind != CARRIED_GAME:
            self._fault(entry, "it tells more of its round than it has played, and no clear carried it over")
        for number, step in enumerate(game.round_steps):
            self._takes(entry, game, number, step, first="")

    def ends(self, play_id: str) -> None:
        """A play is over; a round is forgotten some time after the last of its plays."""
        round_id = self._round_of.pop(play_id, "")
        round_ = self._rounds.get(round_id)
        if round_ is None:
            return
        round_.open.discard(play_id)
        if not round_.open:
            self._over[round_id] = None
        if len(self._over) > _KEPT:
            oldest = next(iter(self._over))
            del self._over[oldest], self._rounds[oldest]

    def told(self, round_id: str, number: int | None) -> None:
        """A real wheel has told the number of a round."""
        if (round_ := self._rounds.get(round_id)) is not None:
            round_.number = number

    def number_of(self, round_id: str) -> int | None:
        """What a real wheel told of a round."""
        round_ = self._rounds.get(round_id)
        return None if round_ is None else round_.number

    def goes_on(self, entry: StoredEntry, start: GameRecord, number: int, choice: GameChoice) -> None:
        """A step that every seat takes is the same in each game; another is said to be of no round."""
        shared = start.wager.seat is not None
        if choice.round_id != (start.round_id if shared else ""):
            self._fault(entry, f"it says that it is of the round {choice.round_id!r}")
        elif shared:
            self._takes(entry, start, number, Step(choice=choice.choice, draws=choice.draws))

    def _takes(
        self, entry: StoredEntry, game: GameRecord, number: int, step: Step, *, first: str | None = None
    ) -> None:
        """A step of a round is recorded; ``first``: by which play, where it is not this one ("": unknown)."""
        round_ = self._rounds.get(game.round_id)
        if round_ is None:
            self._fault(entry, f"nobody has begun the round {game.round_id}")
        elif number == len(round_.steps):
            round_.steps.append(step)
            round_.first.append(game.play_id if first is None else first)
        elif number > len(round_.steps) or round_.steps[number] != step:
            self._fault(
                entry, f"other seats of the round {game.round_id} played it with other numbers or answers"
            )

    def answers(
        self, entry: StoredEntry, start: GameRecord, number: int, step: Step | GameChoice, asked: Decision
    ) -> None:
        """Whoever is not asked answers nothing but what is taken of who says nothing."""
        round_ = self._rounds.get(start.round_id)
        if start.wager.seat in {None, asked.seat} or round_ is None or entry.kind != CHOICE:
            return
        is_first = number < len(round_.first) and round_.first[number] == start.play_id
        if is_first and step.choice != asked.unanswered:
            self._fault(entry, f"seat {asked.seat} was asked, and {step.choice!r} was answered for it")

"""Chance as a game sees it: numbers drawn one at a time, recorded, and given back from the record.

What several families draw is drawn here, once: dice, one of the pieces left, one of weighted things. A
laboratory tests these functions (:mod:`tools.lab.rng.outcomes`), so a family that draws the same by code of
its own would be outside that test.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from paytables.contract.data import Json
from paytables.errors import ReplayError


class Draw(Protocol):
    """A source of chance: each call is one recorded random number."""

    def below(self, bound: int, purpose: str) -> int:
        """Return a uniform integer in [0, ``bound``); ``purpose`` says in the record what it decided."""


T = TypeVar("T")
#: The faces of a die.
FACES: Final = 6


def throw_dice(draw: Draw, dice: int) -> tuple[int, ...]:
    """Throw dice, each by its own number."""
    return tuple([1 + draw.below(FACES, f"die {n}") for n in range(1, dice + 1)])


def deal_one(draw: Draw, left: list[T], purpose: str) -> T:
    """Remove one of ``left`` and return it: each is equally likely, and the others keep their order."""
    return left.pop(draw.below(len(left), purpose))


def weighted_index(draw: Draw, weights: Sequence[int], purpose: str) -> int:
    """Draw an index of ``weights``, each as likely as its share of their sum."""
    value = draw.below(sum(weights), purpose)
    for index, weight in enumerate(weights):
        if value < weight:
            return index
        value -= weight
    raise ValueError(f"{purpose}: drawn beyond the sum of {len(weights)} weights")


@dataclass(slots=True)
class RecordingDraw:
    """A draw that keeps every number as ``(bound, value, purpose)`` in ``records``."""

    source: Draw
    records: list[tuple[int, int, str]] = field(default_factory=list)

    def below(self, bound: int, purpose: str) -> int:
        """Draw from the source and keep the number."""
        value = self.source.below(bound, purpose)
        self.records.append((bound, value, purpose))
        return value


@dataclass(slots=True)
class ReplayDraw:
    """A draw that gives back recorded numbers, and refuses a record that does not fit the game."""

    records: Sequence[Sequence[Json]]
    position: int = 0

    def below(self, bound: int, purpose: str) -> int:
        """Return the next recorded value. Raises :class:`ReplayError` where record and game differ."""
        if self.position >= len(self.records):
            raise ReplayError(
                f"draw {self.position} ({purpose}): the record has only {len(self.records)} draws"
            )
        recorded_bound, value, recorded_purpose = self.records[self.position]
        if recorded_bound != bound or recorded_purpose != purpose or not 0 <= value < bound:
            raise ReplayError(
                f"draw {self.position}: the game asks below({bound}) for {purpose}, "
                f"the record has {value} below {recorded_bound} for {recorded_purpose}"
            )
        self.position += 1
        return int(value)

    def finish(self) -> None:
        """Raise :class:`ReplayError` when the game ended before the record did."""
        if self.position != len(self.records):
            raise ReplayError(f"the game used {self.position} draws, the record has {len(self.records)}")

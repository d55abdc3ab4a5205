"""Random numbers for games: drawn one at a time, recorded, and replayed from the record.

Draws that several families use are implemented here once: dice, one of the remaining cards or balls, a weighted
choice. A laboratory tests these functions (:mod:`tools.lab.rng.outcomes`), so a family with its own code for
the same draw would be outside that test.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from paytables.contract.data import Json
from paytables.errors import ReplayError


class DrawSource(Protocol):
    """A source of a game's random numbers; each call draws one number, which is recorded."""

    def below(self, bound: int, purpose: str) -> int:
        """Return a uniform integer in [0, ``bound``). ``purpose`` says what the number decides; it is recorded."""


T = TypeVar("T")
#: The number of faces of a die.
DIE_FACES: Final = 6


def throw_dice(draw: DrawSource, dice_count: int) -> tuple[int, ...]:
    """Return the result of each die; each is drawn with its own random number."""
    return tuple([1 + draw.below(DIE_FACES, f"die {n}") for n in range(1, dice_count + 1)])


def draw_and_remove_element(draw: DrawSource, remaining_elements: list[T], purpose: str) -> T:
    """Remove a uniformly chosen element of ``remaining_elements`` and return it; the others keep their order."""
    return remaining_elements.pop(draw.below(len(remaining_elements), purpose))


def draw_weighted_index(draw: DrawSource, weights: Sequence[int], purpose: str) -> int:
    """Draw one index of ``weights``, each with probability proportional to its weight."""
    value = draw.below(sum(weights), purpose)
    for index, weight in enumerate(weights):
        if value < weight:
            return index
        value -= weight
    raise ValueError(f"{purpose}: the number drawn is not below the sum of the {len(weights)} weights")


@dataclass(slots=True)
class RecordingDrawSource:
    """A source of random numbers that draws from another source and records each number."""

    source: DrawSource
    """The source of the numbers."""
    records: list[tuple[int, int, str]] = field(default_factory=list)
    """The numbers drawn so far, as (bound, value, purpose)."""

    def below(self, bound: int, purpose: str) -> int:
        """Draw a number from the source, record it with its bound and purpose, and return it."""
        value = self.source.below(bound, purpose)
        self.records.append((bound, value, purpose))
        return value


@dataclass(slots=True)
class ReplayDrawSource:
    """A source of random numbers that returns the recorded numbers of an earlier game.

    It rejects a record that does not fit the game.
    """

    records: Sequence[Sequence[Json]]
    """The recorded numbers as ``[bound, value, purpose]``, in the order of the game."""
    next_record_index: int = 0
    """The index of the next recorded number."""

    def below(self, bound: int, purpose: str) -> int:
        """Return the next recorded number.

        Raises :class:`ReplayError` if no recorded number is left, if its bound or purpose is a different one, or if it
        is not below its bound.
        """
        if self.next_record_index >= len(self.records):
            raise ReplayError(
                f"draw {self.next_record_index} ({purpose}): the record has only {len(self.records)} draws"
            )
        recorded_bound, value, recorded_purpose = self.records[self.next_record_index]
        if recorded_bound != bound or recorded_purpose != purpose or not 0 <= value < bound:
            raise ReplayError(
                f"draw {self.next_record_index}: the game draws below {bound} for {purpose}, "
                f"the record has {value} below {recorded_bound} for {recorded_purpose}"
            )
        self.next_record_index += 1
        return int(value)

    def check_all_numbers_used(self) -> None:
        """Raise :class:`ReplayError` if the game ended before the record did."""
        if self.next_record_index != len(self.records):
            raise ReplayError(
                f"the game used {self.next_record_index} draws, the record has {len(self.records)}"
            )

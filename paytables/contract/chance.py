"""Chance as a game sees it: numbers drawn one at a time, recorded, and given back from the record."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from paytables.contract.data import Json
from paytables.errors import ReplayError


class Draw(Protocol):
    """A source of chance: each call is one recorded random number."""

    def below(self, bound: int, purpose: str) -> int:
        """Return a uniform integer in [0, ``bound``); ``purpose`` says in the record what it decided."""


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

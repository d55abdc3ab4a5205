"""Level display: the amount that a level shows, and whether it is current."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Status(StrEnum):
    """Whether the amount shown is the amount that would be paid."""

    UP = "up"
    STALE = "stale"
    """Nothing was received from the controller for longer than the profile allows (5 s)."""
    DOWN = "down"
    """There is no controller, or it refuses this machine."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An amount on the display, minor units, and its status."""

    amount_cents: int
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The controller's count of this machine's contributions: see :class:`egm.progressive.round.LinkMark`."""

    counted: int
    since: int
    falls: int


class LevelDisplay(Protocol):
    """The current values of linked levels as last received."""

    def shown(self, pool: str) -> Shown:
        """Return what a linked level shows now; zero and down if it was never received."""
        ...


class LinkedLevels(LevelDisplay, Protocol):
    """The levels of a controller, which counts this machine's contributions."""

    def position(self, pool: str) -> Position | None:
        """Return how many of this machine's contributions the controller has counted, or None if that is unknown."""
        ...

    def decided(self, pool: str) -> int:
        """Return the sequence number of the last contribution whose mystery result is known and recorded."""
        ...


class BroadcastLevels(LevelDisplay, Protocol):
    """The values of levels as a SAS host broadcasts them."""

    def hear(self, group: int, amounts_cents: Mapping[int, int]) -> None:
        """Store a broadcast: the displayed amounts of a group's levels, minor units."""
        ...


@dataclass(slots=True)
class LevelDisplays:
    """A machine's sources of linked amounts; None for those not connected."""

    link: LinkedLevels | None = None
    broadcasts: BroadcastLevels | None = None

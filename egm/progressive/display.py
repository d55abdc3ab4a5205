"""Level display: what a level shows, and how far it is to be believed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Status(StrEnum):
    """How far the amount shown is the amount that would be paid."""

    UP = "up"
    STALE = "stale"
    """The controller has not been heard for longer than the profile allows (5 s)."""
    DOWN = "down"
    """There is no controller, or it will not have this machine."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An amount on the display, minor units, and its status."""

    amount_cents: int
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a linked level's controller is: see :class:`egm.progressive.round.LinkMark`."""

    counted: int
    since: int
    falls: int


class LevelDisplay(Protocol):
    """The linked levels as the link last heard of them."""

    def shown(self, pool: str) -> Shown:
        """What a linked level shows now; nothing and down, when it was never heard of."""
        ...


class LinkedLevels(LevelDisplay, Protocol):
    """The levels of a controller: it counts what this machine contributes."""

    def position(self, pool: str) -> Position | None:
        """How far the controller has come with this machine's contributions; None: nothing is known."""
        ...

    def decided(self, pool: str) -> int:
        """The last contribution of which it is known, and recorded, whether it has won a mystery level."""
        ...


class BroadcastLevels(LevelDisplay, Protocol):
    """The levels a SAS host broadcasts."""

    def hear(self, group: int, amounts_cents: Mapping[int, int]) -> None:
        """Take a broadcast: what levels of a group show, minor units."""
        ...


@dataclass(slots=True)
class LevelDisplays:
    """Where a machine reads what linked levels show; None where nothing of the kind is connected."""

    link: LinkedLevels | None = None
    broadcasts: BroadcastLevels | None = None

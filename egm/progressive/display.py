"""Level display: the amount that a level shows, and whether it is current."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class LevelStatus(StrEnum):
    """Whether the amount that a progressive level shows is the amount that would be paid."""

    UP = "up"
    STALE = "stale"
    """Nothing was received from the controller for longer than the profile allows (5 s)."""
    DOWN = "down"
    """There is no controller, or it refuses this machine."""


@dataclass(frozen=True, slots=True)
class DisplayedAmount:
    """The amount that a progressive level displays, in minor units, and whether it is current."""

    amount_cents: int
    status: LevelStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionStatus:
    """How many of this machine's contributions to a progressive level its controller has counted.

    ``counted_number`` is the number of the last counted contribution. ``uncounted_since_sequence`` is the
    number of a journal entry after which all contributions not yet counted were recorded. ``fall_count`` is
    how often the level's amount has been lowered.
    """

    counted_number: int
    uncounted_since_sequence: int
    fall_count: int


class LevelDisplay(Protocol):
    """Source of the amounts that linked progressive levels show, as last received."""

    def find_displayed_amount(self, pool: str) -> DisplayedAmount:
        """Return the amount that a linked level shows now; if none was ever received, zero with the status down."""
        ...


class LinkedLevels(LevelDisplay, Protocol):
    """Source of the amounts of a controller's progressive levels, and of its count of this machine's contributions."""

    def find_contribution_status(self, pool: str) -> ContributionStatus | None:
        """Return how many of this machine's contributions the controller has counted, or None if that is unknown."""
        ...

    def find_last_decided(self, pool: str) -> int:
        """Return the sequence number of the last contribution to a level whose mystery result is known and recorded."""
        ...


class BroadcastLevels(LevelDisplay, Protocol):
    """Source of the levels whose amounts a SAS host broadcasts."""

    def store_broadcast(self, group: int, amounts_cents: Mapping[int, int]) -> None:
        """Store a host's broadcast: the displayed amounts of a group's levels, minor units."""
        ...


@dataclass(slots=True)
class LevelDisplays:
    """A machine's sources of progressive amounts: the link to a controller, and SAS broadcasts.

    None: not connected.
    """

    link: LinkedLevels | None = None
    broadcasts: BroadcastLevels | None = None

"""The amount that a progressive level displays, whether it is current, and the interfaces that supply it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class LevelStatus(StrEnum):
    """The status of a progressive level's displayed amount: UP if a hit would pay that amount now."""

    UP = "up"
    STALE = "stale"
    """The controller has sent no new amount for longer than the profile allows, or none yet on this connection."""
    DOWN = "down"
    """No connection to the controller, or this machine is not enrolled; or no broadcast of the SAS host in time."""


@dataclass(frozen=True, slots=True)
class DisplayedAmount:
    """The amount that a progressive level displays, in minor units, and whether it is current."""

    amount_cents: int
    status: LevelStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionStatus:
    """A controller's count of the contributions that this machine has made to one progressive level."""

    last_counted_number: int
    """The number of the last contribution that the controller has counted."""
    uncounted_since_sequence: int
    """The number of a journal entry; every contribution not yet counted was recorded after it."""
    fall_count: int
    """How often the level's amount has been lowered, by wins, at its ceiling and by corrections."""


class LevelAmountSource(Protocol):
    """Interface to the last received amounts of the progressive levels that a controller or SAS host manages."""

    def find_displayed_amount(self, pool_id: str) -> DisplayedAmount:
        """Return the amount that a level shows now; zero with the status down if none was ever received."""
        ...


class LinkedLevelSource(LevelAmountSource, Protocol):
    """Interface to the levels of a progressive controller: their amounts, and which contributions it has counted."""

    def find_contribution_status(self, pool_id: str) -> ContributionStatus | None:
        """Return how many of this machine's contributions are counted; None for a level without a controller."""
        ...

    def find_last_decided_number(self, pool_id: str) -> int:
        """Return the number of the last contribution to a mystery level whose result is known (won or not); 0: none."""
        ...


class BroadcastLevelSource(LevelAmountSource, Protocol):
    """Interface to the progressive levels whose amounts a SAS host broadcasts."""

    def store_broadcast(self, group_number: int, cents_by_level_number: Mapping[int, int]) -> None:
        """Store a host's broadcast: the displayed amounts of a group's levels, minor units."""
        ...


@dataclass(slots=True)
class LevelAmountSources:
    """The machine's two sources of progressive amounts: controller link and SAS broadcasts; None if not connected."""

    link: LinkedLevelSource | None = None
    broadcasts: BroadcastLevelSource | None = None

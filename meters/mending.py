"""What was found amiss in the memory and mended, for the event log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

REPLACED: Final = "memory.medium_replaced"
"""The machine state that says which medium was replaced and why, until somebody takes it away."""


class Mending(StrEnum):
    """What was found and done."""

    COMPLETED = "memory.completed"
    """One entry under way at a power cut was in one copy only."""
    REPAIRED = "memory.repaired"
    """A copy was damaged, lost or fell behind, and was rebuilt from the other and verified."""
    ANCHOR_LOST = "memory.anchor_lost"
    """A sealed head was missing or broken."""
    MEDIUM_REPLACED = "memory.medium_replaced"
    """A medium was lost or exchanged, and was made again from the other."""
    FULL = "memory.full"
    """A medium had no room left, and the reserves were given up."""
    ARCHIVE_DELAYED = "memory.archive_delayed"
    """Where old entries go was not to be had; they wait at hand."""
    MEDIUM_MISSING = "memory.medium_missing"
    """The second medium was not there, and the journal goes on on the first alone."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was mended: ``where`` and ``why``, for the event log."""

    mending: Mending
    where: str
    why: str

    @property
    def remembered(self) -> dict[str, str]:
        """The machine state that stays until the staff has seen to it: a medium that was replaced."""
        replaced = self.mending is Mending.MEDIUM_REPLACED
        return {REPLACED: f"{self.where}: {self.why}"} if replaced else {}

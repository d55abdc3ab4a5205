"""Findings about the machine's memory for the event log: damage, repairs, and media that are full or missing."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

REPLACED_MEDIUM_KEY: Final = "memory.medium_replaced"
"""Machine state key that says which medium was replaced and why, until the staff acknowledges it."""


class MemoryFindingKind(StrEnum):
    """The kinds of findings about the two media and the journal's copies. The values are kinds of journal entries."""

    COMPLETED = "memory.completed"
    """The last entry was in one copy only after a power loss; it was written to the other copy too."""
    REPAIRED = "memory.repaired"
    """A copy was damaged, lost or behind; it was rebuilt from the other and verified."""
    ANCHOR_LOST = "memory.anchor_lost"
    """The stored journal head (anchor file) was missing or damaged on a medium."""
    MEDIUM_REPLACED = "memory.medium_replaced"
    """A medium was lost or exchanged, and its content was rebuilt from the other medium."""
    FULL = "memory.full"
    """A medium was full, and the reserves were released."""
    ARCHIVE_DELAYED = "memory.archive_delayed"
    """The archive could not be written; old entries stay in the copies."""
    MEDIUM_MISSING = "memory.medium_missing"
    """The second medium was missing; the journal continues on the first alone."""


@dataclass(frozen=True, slots=True)
class MemoryFinding:
    """One finding about the machine's memory, for the event log."""

    kind: MemoryFindingKind
    """What was found, and what the machine did about it."""
    where: str
    """The copy, file or medium concerned."""
    why: str
    """The reason, as text."""

    @property
    def state_to_acknowledge(self) -> dict[str, str]:
        """Return the machine state to set until staff acknowledge a replaced medium; empty for other findings."""
        replaced = self.kind is MemoryFindingKind.MEDIUM_REPLACED
        return {REPLACED_MEDIUM_KEY: f"{self.where}: {self.why}"} if replaced else {}

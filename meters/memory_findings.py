"""Findings about the machine's memory for the event log: damage, repairs, and media that are full or missing."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

#: Storage key of the value that says which medium was replaced and why, until the machine has raised a fault about it.
REPLACED_MEDIUM_KEY: Final = "memory.medium_replaced"


class MemoryFindingKind(StrEnum):
    """The kinds of findings about the two media and the journal's copies.

    Each value is the event code in the journal entry that records such a finding.
    """

    LAST_ENTRY_COPIED = "memory.completed"
    """After a power loss, only one copy had the last entry; it was written to the other copy too."""
    REPAIRED = "memory.repaired"
    """A copy was damaged, lost or lacked entries; it was rebuilt from the other copy and verified."""
    #: The event code has an earlier word for the journal head.
    JOURNAL_HEAD_LOST = "memory.anchor_lost"
    """The stored journal head was missing or damaged on a medium."""
    MEDIUM_REPLACED = "memory.medium_replaced"
    """A medium was lost or exchanged, and its content was rebuilt from the other medium."""
    FULL = "memory.full"
    """A medium was full. The reserve files on both media were deleted, so that payouts can still be recorded."""
    ARCHIVE_DELAYED = "memory.archive_delayed"
    """The archive could not be written; old entries stay in the copies."""
    MEDIUM_MISSING = "memory.medium_missing"
    """The second medium was missing; the journal continues on the first alone."""


@dataclass(frozen=True, slots=True)
class MemoryFinding:
    """A finding about the machine's memory, to be recorded in the journal and shown in the event log."""

    kind: MemoryFindingKind
    """What was found, and what the machine did about it."""
    location: str
    """The copy, file or medium that the finding is about."""
    reason: str
    """What was wrong, as text for the event log."""

    @property
    def state_until_fault_raised(self) -> dict[str, str]:
        """Return the value to store so that a fault is raised for a replaced medium; empty for other findings.

        The key is a storage key. The machine removes the value as soon as it has raised the fault, which then stays
        until a technician clears it.
        """
        is_replacement = self.kind is MemoryFindingKind.MEDIUM_REPLACED
        return {REPLACED_MEDIUM_KEY: f"{self.location}: {self.reason}"} if is_replacement else {}

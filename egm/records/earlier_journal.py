"""What an earlier journal knew that this one, begun by an authorised memory clear, must not forget.

The clear's first entries keep which transfers have moved value, which tickets have come to their end, and the
commitments to mystery prizes: so none is paid or drawn twice.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from egm.records.keys import ProgressiveKey
from meters import JournalView


def short_digest(identifier: str) -> str:
    """Sixteen hexadecimal digits that stand for a transfer's identifier: none is refused for another's."""
    return hashlib.sha256(identifier.encode()).hexdigest()[:16]


def has_ended(journal: JournalView, entry_id: str) -> bool:
    """Whether a ticket has come to this end, in this journal or at the end of the one before it."""
    if journal.knows(entry_id):
        return True
    kept = next(journal.entries("clear.kept", limit=1), None)
    record = None if kept is None else kept.record
    ended = record.get("ended") if isinstance(record, Mapping) else None
    return isinstance(ended, list) and entry_id in ended


def commitment_before(journal: JournalView, level: str, prize: int) -> str | None:
    """The commitment to a level's prize as it was heard before this journal was begun by a clear, or None."""
    kept = next(journal.entries("clear.kept", limit=1), None)
    sealed: Any = None if kept is None else kept.state.get(f"{ProgressiveKey.SEALED}{level}")
    return str(sealed["commitment"]) if sealed is not None and sealed["prize"] == prize else None


def moved_before(journal: JournalView) -> frozenset[str]:
    """The short digests of the transfers that moved value in journals before this one."""
    moved: set[str] = set()
    for entry in journal.entries("clear.identifiers"):
        if isinstance(entry.record, Mapping):
            part = entry.record["sha256"]
            moved.update(str(each) for each in part) if isinstance(part, list) else None
    return frozenset(moved)

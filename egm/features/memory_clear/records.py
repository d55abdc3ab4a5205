"""Facts from earlier journals that must survive a memory clear.

The first entries after the clear state which transfers have moved value, which tickets have ended, and the commitments
to mystery prizes. So nothing is paid or drawn twice.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from egm.progressive.keys import ProgressiveKey
from meters import JournalView

#: Kind of the entry that carries a claim over.
CLAIM_CARRIED_KIND: Final = "clear.carried"
#: Kind of the entry that records that a claim is no longer owed.
CLAIM_ENDED_KIND: Final = "clear.ended"
#: Kind of the entry that records a claim as paid by hand.
CLAIM_PAID_KIND: Final = "clear.paid"
#: Kind of the entry that carries over state that is in no claim.
CARRIED_STATE_KIND: Final = "clear.kept"


def compute_short_digest(identifier: str) -> str:
    """Return a short digest of a host transfer's identifier: 16 hexadecimal digits of its SHA-256.

    It is long enough that no two identifiers of a machine have the same digest.
    """
    return hashlib.sha256(identifier.encode()).hexdigest()[:16]


def has_ticket_ended(journal: JournalView, entry_id: str) -> bool:
    """Return whether the entry ``entry_id``, which ends a ticket, was recorded here or before a memory clear."""
    if journal.has_entry(entry_id):
        return True
    carried = next(journal.entries(CARRIED_STATE_KIND, limit=1), None)
    record = None if carried is None else carried.record
    ticket_ending_entry_ids = record.get("ended") if isinstance(record, Mapping) else None
    return isinstance(ticket_ending_entry_ids, list) and entry_id in ticket_ending_entry_ids


def list_paid_claim_entry_ids(journal: JournalView) -> list[str]:
    """Return the ids of the entries that record the claims paid by hand at a memory clear."""
    return [entry.id for entry in journal.entries(CLAIM_PAID_KIND)]


def find_earlier_commitment(journal: JournalView, level_id: str, prize_number: int) -> str | None:
    """Return the commitment to a numbered prize of a mystery level that was received before a memory clear.

    None if there was none.
    """
    carried = next(journal.entries(CARRIED_STATE_KIND, limit=1), None)
    commitment: Any = (
        None if carried is None else carried.state.get(f"{ProgressiveKey.PRIZE_COMMITMENT}{level_id}")
    )
    return (
        str(commitment["commitment"])
        if commitment is not None and commitment["prize"] == prize_number
        else None
    )


def list_earlier_transfer_digests(journal: JournalView) -> frozenset[str]:
    """Return the short digests of host transfers that moved value before a memory clear."""
    digests: set[str] = set()
    for entry in journal.entries("clear.identifiers"):
        if isinstance(entry.record, Mapping):
            new_digests = entry.record["sha256"]
            digests.update(str(digest) for digest in new_digests) if isinstance(new_digests, list) else None
    return frozenset(digests)

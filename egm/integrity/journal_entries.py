"""The journal entries that the journal itself writes: signed sums, archived segments, repairs of its copies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from egm.integrity.keys import IntegrityKey
from egm.kernel.entries import EntryDeclaration
from egm.kernel.significance import EventEffect, Significance
from egm.record_codec import stored_as
from egm.record_fields import Count, Sha256Digest
from meters import checkpoint
from meters.archive import SEGMENT_ARCHIVED_KIND
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCheckpoint:
    """The machine has signed the journal's sums up to this entry: accounts, meters and state."""

    ledger: Mapping[str, JSON]
    """The sums of all accounts and meters."""
    ledger_sha256: Sha256Digest
    """The SHA-256 digest of the sums of all accounts and meters."""
    signature: str
    """The machine's signature of the sums' digest and of the journal's head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedSegment:
    """Old journal entries were written to a signed segment of the archive and removed from the database."""

    first_sequence: Count = field(metadata=stored_as("first"))
    """The number of the first archived entry."""
    last_sequence: Count = field(metadata=stored_as("last"))
    """The number of the last archived entry."""
    head_hash: Sha256Digest = field(metadata=stored_as("head"))
    """The hash of the last archived entry."""
    segment_digest: Sha256Digest = field(metadata=stored_as("segment"))
    """The SHA-256 that identifies the segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvent:
    """The journal found a problem of its media, copies or archive, and has repaired what it could."""

    code: Literal[
        "memory.repaired",
        "memory.completed",
        "memory.anchor_lost",
        "memory.medium_missing",
        "memory.medium_replaced",
        "memory.full",
        "memory.archive_delayed",
        "memory.archive_damaged",
    ]
    """The code of the problem; the texts of faults explain each code."""
    location: str = field(metadata=stored_as("where"))
    """The medium, copy or file that has the problem."""
    reason: str = field(metadata=stored_as("why"))


CHECKPOINT_SIGNED: Final = EntryDeclaration(
    kind=checkpoint.CHECKPOINT_KIND,
    record=SignedCheckpoint,
    is_omitted_from_event_log=True,
)
SEGMENT_ARCHIVED: Final = EntryDeclaration(
    kind=SEGMENT_ARCHIVED_KIND,
    record=ArchivedSegment,
    written_keys=(IntegrityKey.ARCHIVE_END,),
    is_omitted_from_event_log=True,
)
MEMORY_EVENT_RECORDED: Final = EntryDeclaration(
    kind="event",
    record=MemoryEvent,
    counts={"memory.*": 1},
    optional_keys=(IntegrityKey.MEDIUM_REPLACED,),
    subject_field="code",
    significance={
        "memory.repaired": Significance(EventEffect.LOG, sas_exception_code=0x31),
        "memory.completed": Significance(EventEffect.LOG, sas_exception_code=0x31),
        "memory.archive_delayed": Significance(EventEffect.LOG),
        "memory.archive_damaged": Significance(EventEffect.LOG, sas_exception_code=0x31),
        "memory.anchor_lost": Significance(EventEffect.LOG, sas_exception_code=0x31),
        "memory.medium_replaced": Significance(EventEffect.LOG, sas_exception_code=0x31),
        "memory.medium_missing": Significance(EventEffect.LOG, sas_exception_code=0x31),
        "memory.full": Significance(EventEffect.LOG),
    },
)

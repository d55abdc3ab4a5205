"""The journal entries of an authorised memory clear whose record always has the same fields.

The entries ``clear.carried``, ``clear.paid``, ``clear.ended`` and ``clear.kept`` are not declared here: they store
whatever the old memory held, also under the keys of added features, whose claim makers determine the content
(:class:`egm.features.memory_clear.claim_book.ClaimMaker`). The audit compares each of them with the digest in the
journal's first entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from egm.host.keys import HostKey
from egm.kernel.entries import EntryDeclaration
from egm.kernel.significance import EventEffect, Significance
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import CentsOrZero, Count, NonBlankText, PositiveNumber, Sha256Digest
from egm.tickets.ledger_comparison import EarlierLedger
from meters.checkpoint import GENESIS_KIND
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedClaim:
    """One claim (an amount or item that a cleared memory owed), and the decision on it."""

    id: str
    """The id of the claim, such as ``reservation:`` with the id of a reservation."""
    amount: str
    """The amount of the claim in minor units, exact."""
    details: Mapping[str, JSON] = field(metadata=stored_as("says"))
    """Details for the people who decide; they depend on the kind of claim."""
    evidence_status: str = field(metadata=stored_as("standing"))
    """Whether the copies of the memory agree, and whether entries after the last readable one are missing."""
    amount_by_copy: Mapping[str, str] = field(metadata=stored_as("copies"))
    """The amount in each copy of the memory that has the claim."""
    decision: Literal["carried", "paid", "ended"] = field(metadata=stored_as("act"))
    """The decision: the new memory carries the claim, it was paid by hand, or nothing is owed."""
    followed_copy: str = field(metadata=stored_as("copy"))
    """The copy of the memory whose amount counts, if the copies disagree; otherwise empty."""
    paid_cents: CentsOrZero | None = omit_if_default(None)
    """The amount paid by hand, or null if the claim was not paid."""
    payer: str = omit_if_default("", key="by")
    """The person who paid the claim by hand; empty if the claim was not paid."""
    entry_ids: tuple[str, ...] = field(metadata=stored_as("entries"))
    """The ids of the entries that carry the decision out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCleared:
    """The memory clear by which a journal began: by whom, why, and the entries that follow."""

    person: NonBlankText
    second_person: NonBlankText
    """The second person who authorised the memory clear."""
    reason: NonBlankText
    evidence_folder_name: str = field(metadata=stored_as("evidence"))
    """The name of the folder with the old memory."""
    inspection_before: Mapping[str, JSON] = field(metadata=stored_as("before"))
    """The result of the inspection of the old memory, before it was cleared."""
    claims: tuple[DecidedClaim, ...] = omit_if_default(())
    """The claims that the old memory owed, with the decision on each."""
    opening_entry_digests: tuple[tuple[str, Sha256Digest], ...] = field(metadata=stored_as("opening"))
    """The id and the digest of each entry that the memory clear wrote after the journal's first entry."""
    authentication_method: str = omit_if_default("", key="roster")
    """The method by which the two people were authenticated."""
    is_proved_complete: bool = omit_if_default(False, key="complete")
    """Whether it is proved that no journal entry that the machine had acknowledged is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineGenesis:
    """A journal began: its machine, the machine's public key, and the memory clear that began it, if one did."""

    journal_format: PositiveNumber = field(metadata=stored_as("format"))
    """The version of the journal's format."""
    machine_id: str
    """The machine's serial number."""
    public_key: Sha256Digest
    """The machine's public key, with which its signatures are verified."""
    memory_clear: MemoryCleared | None = omit_if_default(None, key="cleared")
    """The memory clear by which the journal began, or null for the first journal of the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransfersUnproved:
    """Host transfers may be missing in a cleared memory, so none is executed until the host registers the machine."""

    last_acknowledged_sequence: Count = field(metadata=stored_as("acknowledged"))
    """The sequence number of the last entry that the machine is known to have acknowledged."""
    last_read_sequence: Count = field(metadata=stored_as("read"))
    """The sequence number of the last entry that could be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferIdentifiers:
    """Identifiers of host transfers that moved money before a memory clear, so that they cannot move it again."""

    claim_id: Literal["transfers"] = field(default="transfers", metadata=stored_as("claim"))
    """The id of the claim by which the identifiers are carried over."""
    identifier_digests: tuple[str, ...] = field(metadata=stored_as("sha256"))
    """The short digests of the transfers' identifiers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedStateRecord:
    """Stored state that is part of no memory-clear claim is carried over."""

    claim_id: Literal[""] = field(default="", metadata=stored_as("claim"))
    ticket_ending_entry_ids: tuple[str, ...] = field(metadata=stored_as("ended"))
    """The ids of the journal entries that ended the most recent tickets, by printing or redeeming them."""
    ticket_ledger: EarlierLedger | None = omit_if_default(None, key="tickets")
    """The end of the ticket ledger in the old memory, or null."""
    cabinet_text: str = omit_if_default("")
    """The text of the cabinet file that was signed last."""


MACHINE_GENESIS: Final = EntryDeclaration(
    kind=GENESIS_KIND,
    record=MachineGenesis,
    significance=Significance(EventEffect.LOG, sas_exception_code=0x7A),
    is_omitted_from_event_log=True,
)
TRANSFERS_UNPROVED: Final = EntryDeclaration(
    kind="clear.unproved",
    record=TransfersUnproved,
    written_keys=(HostKey.TRANSFER_IDENTIFIERS_LOST, HostKey.REGISTRATION),
)
TRANSFER_IDENTIFIERS: Final = EntryDeclaration(kind="clear.identifiers", record=TransferIdentifiers)

"""Commitments to ticket numbers in the journal, which prove a ticket if the ticket ledger is lost.

The journal is shown and exported, so it must not contain the number of a ticket that is still money. A plain hash of
the number is not enough: a number has so few digits that all can be tried. The journal therefore stores the number's
HMAC under a key of the machine. With the ticket and the machine, the ticket can be proved from the journal; without the
machine's key, the number cannot be found.
"""

import hmac
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from meters import JournalView

#: Purpose of the key derived from the machine key to commit to numbers.
NUMBER_COMMITMENT_PURPOSE: Final = b"ticket number"
#: Hexadecimal digits of a commitment.
_COMMITMENT_DIGIT_COUNT: Final = 32
#: The entries by which a machine finally accepts a ticket.
_TICKET_ACCEPTANCE_ENTRY_KINDS: Final = ("voucher.in", "orphan.ticket", "disputed.ruled")


def compute_commitment(key: bytes, ticket_number: str) -> str:
    """Return the commitment to a ticket number that the journal stores: 128 bits of its HMAC, in hexadecimal."""
    return hmac.digest(key, ticket_number.encode(), "sha256").hex()[:_COMMITMENT_DIGIT_COUNT]


@dataclass(frozen=True, slots=True)
class TicketProof:
    """The proof from the machine's journals that a ticket was printed, and whether the machine accepted it later."""

    issue_id: str
    """The id of the cash-out that printed the ticket; "" if no journal records it."""
    kind: str
    amount_cents: int
    printed_time_utc: str
    acceptance_entry_id: str
    """The id of the journal entry by which the machine accepted the ticket back; "" if it has not."""


def list_accepted_redemptions(journals: Iterable[JournalView]) -> dict[str, str]:
    """Return the redemption ids of all tickets that the machine has taken for good, as the journals record.

    Such a ticket was credited, or its amount was ruled on as a disputed amount or became unclaimed money. The keys are
    the commitments to the ticket numbers (:func:`compute_commitment`).
    """
    return {
        str(entry.record["commitment"]): entry.transaction.id.removesuffix(".in")
        for journal in journals
        for entry in journal.entries(_TICKET_ACCEPTANCE_ENTRY_KINDS)
        if isinstance(entry.record, Mapping) and "commitment" in entry.record
    }


def combine_proofs(proofs: Iterable[TicketProof]) -> TicketProof | None:
    """Combine what several journals record about one ticket (:func:`read_proofs`) into one proof.

    Return None if none of the journals records that the ticket was printed. The journals are the machine's current one
    and those before memory clears: a ticket may be printed in one and accepted in a later one. Payments by the cage are
    not in them.
    """
    all_proofs = list(proofs)
    print_proof = next((proof for proof in all_proofs if proof.issue_id), None)
    acceptance_entry_id = next(
        (proof.acceptance_entry_id for proof in all_proofs if proof.acceptance_entry_id), ""
    )
    return None if print_proof is None else replace(print_proof, acceptance_entry_id=acceptance_entry_id)


def read_proofs(journal: JournalView, key: bytes, ticket_number: str) -> Iterator[TicketProof]:
    """Yield one proof for each entry of a journal by which the ticket was printed or accepted.

    The proof of an acceptance has only ``acceptance_entry_id``; its other fields are empty or 0.
    """
    commitment = compute_commitment(key, ticket_number)
    for entry in journal.entries(("voucher.out", *_TICKET_ACCEPTANCE_ENTRY_KINDS)):
        record: object = entry.record
        if not isinstance(record, Mapping) or record.get("commitment") != commitment:
            continue
        if entry.kind == "voucher.out":
            printed_time = entry.time_utc.isoformat()
            yield TicketProof(record["id"], record["kind"], record["amount_cents"], printed_time, "")
        else:
            yield TicketProof("", "", 0, "", entry.transaction.id)

"""Ticket commitments: what the journal keeps of a number, so that a ticket is proved when its ledger is lost.

The journal is shown and exported, so it holds no number of a ticket that is still money; and of a number with
so few digits a plain hash, salted or not, is undone by trying them all. What it keeps is the number's HMAC
under a key of the machine's own: whoever has ticket and machine proves the one from the other's journal, and
nobody else learns anything.
"""

import hmac
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from meters import JournalView

#: What the machine key is derived for, to commit to numbers.
PURPOSE: Final = b"ticket number"
_DIGITS: Final = 32
#: The entries by which a ticket comes into a machine for good.
_TAKEN: Final = ("voucher.in", "orphan.ticket", "disputed.ruled")


def commitment(key: bytes, number: str) -> str:
    """What stands for a number in the journal: 128 bits, hexadecimal."""
    return hmac.digest(key, number.encode(), "sha256").hex()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class Proof:
    """A ticket as the journal knows it; ``taken`` says which entry took it in again, empty where none did."""

    issue_id: str
    kind: str
    amount_cents: int
    time_utc: str
    taken: str


def taken_in(journals: Iterable[JournalView]) -> dict[str, str]:
    """The redemptions by which the machine's journals took tickets in for good, by commitment."""
    return {
        str(entry.record["commitment"]): entry.transaction.id.removesuffix(".in")
        for journal in journals
        for entry in journal.entries(_TAKEN)
        if isinstance(entry.record, Mapping) and "commitment" in entry.record
    }


def prove(journals: Iterable[JournalView], key: bytes, number: str) -> Proof | None:
    """The ticket of this number as the machine's journals know it, this one and cleared ones; None: no such.

    It may be printed in one and taken in by a later one. What the cage has paid stands in the ticket ledger
    alone: where that is lost, persons must know it.
    """
    return put_together(said for journal in journals for said in said_of(journal, key, number))


def put_together(said: Iterable[Proof]) -> Proof | None:
    """What several journals say of a ticket (:func:`said_of`); None where none knows that it was printed."""
    found = list(said)
    issued = next((proof for proof in found if proof.issue_id), None)
    taken = next((proof.taken for proof in found if proof.taken), "")
    return None if issued is None else replace(issued, taken=taken)


def said_of(journal: JournalView, key: bytes, number: str) -> Iterator[Proof]:
    """What one journal says of a ticket: it was printed, or (without ``issue_id``) taken in."""
    wanted = commitment(key, number)
    for entry in journal.entries(("voucher.out", *_TAKEN)):
        story: object = entry.record
        if not isinstance(story, Mapping) or story.get("commitment") != wanted:
            continue
        if entry.kind == "voucher.out":
            at = entry.time_utc.isoformat()
            yield Proof(story["id"], story["kind"], story["amount_cents"], at, "")
        else:
            yield Proof("", "", 0, "", entry.transaction.id)

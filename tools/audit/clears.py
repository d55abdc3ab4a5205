"""The check of a journal that begins with a memory clear: every entry that carries something over must be authorised.

A memory clear starts a new journal and carries money and open transactions over from the damaged one. Each amount
or item that the machine still owes is a claim. The first entry of the new journal lists the claims, the decision on
each, and the digests of the carry-over entries. All of these entries must follow immediately, in the listed order;
only entries about the journal or the clock may come between them. No other entry of the journal may carry anything
over.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from egm.app.features import FEATURES
from egm.features.memory_clear import entries
from egm.integrity.entries import CLOCK_CHANGED
from egm.integrity.journal_entries import CHECKPOINT_SIGNED, MEMORY_EVENT_RECORDED
from egm.kernel.entries import AnyEntryDeclaration, EntryError
from meters import Phase, StoredEntry, checkpoint
from meters.clear import CARRIED_OVER_ACCOUNT, compute_transaction_digest
from meters.recall import CARRIED_GAME_KIND, read_details

#: Prefix of the kinds of entries that only a memory clear writes.
_MEMORY_CLEAR_KIND_PREFIX: Final = "clear."
#: Kinds of entries, about the journal or the clock, that may come between those of a clear.
_KINDS_ALLOWED_BETWEEN_CLEAR_ENTRIES: Final = frozenset(
    {MEMORY_EVENT_RECORDED.kind, CLOCK_CHANGED.kind, CHECKPOINT_SIGNED.kind}
)
#: What may be decided about a claim.
_CLAIM_DECISIONS: Final = ("carried", "paid", "ended")
#: Entries of a clear whose declared form is checked in addition to their digest.
_ENTRIES_CHECKED_BY_DECLARATION: Final = (entries.TRANSFERS_UNPROVED, entries.TRANSFER_IDENTIFIERS)


@lru_cache(maxsize=1024)
def belongs_to_memory_clear(entry_kind: str) -> bool:
    """Return whether only a memory clear writes entries of this kind.

    Such an entry carries a claim (an amount or item that is owed) over from the earlier journal, or settles it.
    """
    return entry_kind.startswith(_MEMORY_CLEAR_KIND_PREFIX) or entry_kind == CARRIED_GAME_KIND


class MemoryClearAudit:
    """The check that a memory clear authorised every entry that carries money or claims over from the earlier journal.

    ``report_finding`` is called with each entry that no clear authorised, and the reason.
    """

    def __init__(self, report_finding: Callable[[StoredEntry, str], None]) -> None:
        self._report_finding = report_finding
        self._expected_entries: list[list[str]] = []
        """The authorised entries that were not read yet, in order, each as ``[entry id, digest]``."""
        self._claim_by_id: dict[str, Mapping[str, Any]] = {}
        self._carried_cents_by_claim: dict[str, int] = {}
        """The amount carried over so far under each claim, in minor units, by claim id."""

    @property
    def has_pending_entries(self) -> bool:
        """Return whether entries that the memory clear authorised have not been read yet."""
        return bool(self._expected_entries)

    def check_entry(self, entry: StoredEntry) -> None:
        """Check one entry against the memory clear that started the journal.

        Without a clear, and after the entries that it authorised, an entry must not carry anything over.
        """
        kind = entry.transaction.kind
        if kind == checkpoint.GENESIS_KIND:
            self._store_clear(entry)
        elif self._expected_entries:
            # entries about the journal or the clock may come in between: power was lost, and the memory was repaired
            if kind not in _KINDS_ALLOWED_BETWEEN_CLEAR_ENTRIES:
                self._check_authorised_entry(entry)
        elif belongs_to_memory_clear(kind):
            self._report_finding(entry, "no clear at the beginning of this journal names this carry-over")
        else:
            for transfer in entry.transaction.transfers:
                if transfer.source == CARRIED_OVER_ACCOUNT or transfer.source.endswith(":carried"):
                    self._report_finding(
                        entry,
                        f"only an entry of a clear may move money from {transfer.source}, not a {kind} entry",
                    )
                    break

    def _store_clear(self, entry: StoredEntry) -> None:
        """Store the entries and claims that a memory clear authorised.

        ``entry`` is the journal's first entry. If it records no clear, nothing is stored. In its record, ``opening``
        has the id and digest of each authorised entry; a claim's ``act`` is the decision on it, and ``says`` has its
        details. A decision that is not possible is reported.
        """
        clear_record = read_details(entry).get("cleared")
        if not isinstance(clear_record, Mapping):
            return
        try:
            self._expected_entries = [
                [str(entry_id), str(expected_digest)]
                for entry_id, expected_digest in clear_record.get("opening", ())
            ]
            self._claim_by_id = {str(claim["id"]): claim for claim in clear_record.get("claims", ())}
            for claim in self._claim_by_id.values():
                if claim["act"] not in _CLAIM_DECISIONS:
                    self._report_finding(
                        entry,
                        f"record.cleared: act of claim {claim['id']}: expected one of {', '.join(_CLAIM_DECISIONS)}, "
                        f"found {claim['act']!r}",
                    )
        except (KeyError, TypeError, ValueError) as error:
            self._report_finding(entry, f"record.cleared cannot be read: {error!r}")

    def _check_authorised_entry(self, entry: StoredEntry) -> None:
        """Check that ``entry`` is the next one that the memory clear authorised.

        Together, the entries for one claim must not carry over more than the claim's amount.
        """
        entry_id, expected_digest = self._expected_entries.pop(0)
        if (entry.id, compute_transaction_digest(entry.transaction)) != (entry_id, expected_digest):
            self._report_finding(
                entry,
                f"expected entry {entry_id} with digest {expected_digest} here, as the clear authorised; found "
                f"digest {compute_transaction_digest(entry.transaction)}",
            )
            self._expected_entries.clear()
            return
        for declaration in _ENTRIES_CHECKED_BY_DECLARATION:
            if entry.kind == declaration.kind:
                self._check_declaration(entry, declaration)
        claim_id = str(read_details(entry).get("claim", ""))
        moved_cents = sum(
            transfer.amount_cents for transfer in entry.transfers if transfer.source == CARRIED_OVER_ACCOUNT
        )
        carried_cents = self._carried_cents_by_claim.get(claim_id, 0) + moved_cents
        self._carried_cents_by_claim[claim_id] = carried_cents
        claim = self._claim_by_id.get(claim_id)
        if moved_cents and (claim is None or carried_cents > _compute_claim_limit(claim)):
            limit_text = "nothing" if claim is None else f"at most {_compute_claim_limit(claim)} cents"
            self._report_finding(
                entry,
                f"{carried_cents} cents are carried over under {claim_id or 'no claim'}, which allows {limit_text}",
            )
        if entry.phase not in {Phase.POST, Phase.RESERVE}:
            self._report_finding(
                entry, f"a clear's entries must have the phase post or reserve, not {entry.phase}"
            )

    def _check_declaration(self, entry: StoredEntry, declaration: AnyEntryDeclaration) -> None:
        """Report a finding if the entry's form differs from the form that ``declaration`` requires."""
        try:
            declaration.check_transaction(entry.transaction, FEATURES.storage_keys)
        except EntryError as error:
            self._report_finding(entry, str(error))

    def format_missing_entries_error(self) -> str:
        """Return the text of an error if authorised entries are missing at the end of the journal, or ""."""
        missing_ids = [entry_id for entry_id, _ in self._expected_entries]
        if not missing_ids:
            return ""
        return f"{len(missing_ids)} entries that the clear authorised are missing, from {missing_ids[0]}"


def _compute_claim_limit(claim: Mapping[str, Any]) -> Fraction:
    """Return the largest amount that may be carried over under a claim of a memory clear, in minor units.

    A claim states up to three amounts: its own, and ``amount_cents`` and ``held_cents`` (a reserved amount) in its
    details. The limit is the largest of them.
    """
    claim_details = claim.get("says", {})
    return max(
        Fraction(claim["amount"]),
        Fraction(claim_details.get("amount_cents", 0)),
        Fraction(claim_details.get("held_cents", 0)),
    )

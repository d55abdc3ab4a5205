"""The check that every ticket is redeemed at most once for each time it was issued.

The journal stores a commitment to the ticket's number (:mod:`egm.tickets.proof`), not the number. The
commitment identifies the ticket. A ticket that this journal has not issued may be redeemed once: an earlier journal, or
another machine with the same ticket ledger, printed it. If two people have replaced the ticket ledger, the
machine must not use the old one again, because its tickets could then be redeemed twice.
"""

from collections.abc import Callable
from typing import Final

from egm.money import entries
from egm.record_codec import from_json
from egm.tickets.ledger_comparison import ANCHOR_STATE_KEY, LedgerAnchor
from meters import StoredEntry
from meters.recall import read_details

#: The kind of the entry that issues a ticket.
_TICKET_ISSUE_KIND: Final = entries.TICKET_OUT.kind
#: The kind of the entry by which staff rule on a disputed amount.
_DISPUTED_AMOUNT_RULED_KIND: Final = entries.DISPUTED_AMOUNT_RULED.kind
#: Kinds of entries that redeem a ticket.
_TICKET_REDEMPTION_KINDS: Final = (
    entries.TICKET_IN.kind,
    entries.ORPHAN_TICKET.kind,
    _DISPUTED_AMOUNT_RULED_KIND,
)


class TicketRedemptionAudit:
    """The check that each ticket is redeemed at most once and for its own amount.

    ``report_finding`` is called for each entry that redeems a ticket wrongly.
    """

    def __init__(self, report_finding: Callable[[StoredEntry, str], None]) -> None:
        self._report_finding = report_finding
        self._issued_cents: dict[str, int] = {}
        """The amount of each issued ticket in minor units, by commitment."""
        self._redeeming_entry: dict[str, int] = {}
        """The sequence number of the entry that redeemed each ticket, by commitment.

        An element is removed if its ticket is issued again.
        """
        self._has_commitments = False
        """Whether any entry so far identified its ticket by a commitment; entries of early versions do not."""
        self._ledger_starts: list[str] = []
        """The ids of the restorations of the ticket ledger so far, in order; the last one started the ledger in use."""

    def check_entry(self, entry: StoredEntry) -> None:
        """Check the ticket that a journal entry issues or redeems; ignore other entries."""
        if ANCHOR_STATE_KEY in entry.state:
            self._check_ledger_start(entry)
        kind = entry.transaction.kind
        if kind != _TICKET_ISSUE_KIND and kind not in _TICKET_REDEMPTION_KINDS:
            return
        record = read_details(entry)
        commitment = record.get("commitment")
        if commitment is None:
            # A ruling on a disputed amount need not be about a ticket.
            if self._has_commitments and kind != _DISPUTED_AMOUNT_RULED_KIND:
                self._report_finding(
                    entry,
                    "record.commitment is missing, although earlier entries identify their tickets with one",
                )
            return
        self._has_commitments = True
        if kind == _TICKET_ISSUE_KIND:
            self._issued_cents[commitment] = record["amount_cents"]
            self._redeeming_entry.pop(commitment, None)
            return
        first_sequence = self._redeeming_entry.setdefault(commitment, entry.sequence)
        if first_sequence != entry.sequence:
            self._report_finding(entry, f"this ticket was already redeemed by entry {first_sequence}")
        issued_cents = self._issued_cents.pop(commitment, record["amount_cents"])
        if issued_cents != record["amount_cents"]:
            self._report_finding(
                entry,
                f"record.amount_cents: the ticket was issued with {issued_cents}, found {record['amount_cents']}",
            )

    def _check_ledger_start(self, entry: StoredEntry) -> None:
        """Store the id of the restoration that started the entry's ticket ledger.

        If that ledger was replaced before, report a finding.
        """
        restoration_id = from_json(
            LedgerAnchor, entry.state[ANCHOR_STATE_KEY], f"state.{ANCHOR_STATE_KEY}"
        ).restoration_id
        if self._ledger_starts and restoration_id == self._ledger_starts[-1]:
            return
        if restoration_id in self._ledger_starts:
            self._report_finding(
                entry,
                f"state.{ANCHOR_STATE_KEY}.begun: the ledger of {restoration_id} was replaced before; "
                "an old copy was restored",
            )
        self._ledger_starts.append(restoration_id)

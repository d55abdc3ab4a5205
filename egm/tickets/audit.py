"""Comparison of the ticket ledger with the machine's meters (H-15), two independent records of the same money."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from egm.errors import OperatorError
from egm.record_codec import from_json, stored_as
from egm.tickets.model import CAGE_AUTHOR_PREFIX, HOST_ISSUER, TicketKind
from egm.tickets.record import TicketAction, TicketRecord
from egm.tickets.store import TicketStore
from meters import JournalView
from meters.chart import CREDIT_KINDS
from meters.transaction import JSON

#: Journal state key: the ticket ledger's last move as the journal knows it, and the first move of this
#: journal's time.
ANCHOR_STATE_KEY: Final = "tickets"
#: Digits of a move's digest that the journal stores.
DIGEST_DIGITS: Final = 16

#: The journal accounts that tickets represent.
COMPARED_ACCOUNTS: Final = tuple(
    f"{side}:{kind}" for side in ("out:voucher", "world:voucher_in") for kind in CREDIT_KINDS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAnchor:
    """The last move of the ticket ledger that the machine's journal has recorded."""

    restoration: str = field(metadata=stored_as("begun"))
    """The text that identifies the restoration with which the ledger started; "" if it was never restored."""
    start_move_number: int = field(metadata=stored_as("from"))
    """The number of the ledger's last move when this journal began (by a memory clear or a restored ledger)."""
    starting_cents_by_account: Mapping[str, int] = field(metadata=stored_as("base"))
    """What the ledger contained when this journal began, in minor units by account of the journal."""
    move_number: int = field(metadata=stored_as("place"))
    """The number of the recorded move in the ledger."""
    digest: str
    """The digest of the recorded move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierLedger:
    """The ticket ledger's last move when a memory clear began this journal, as the cleared journal had recorded it."""

    restoration: str = field(metadata=stored_as("begun"))
    """The text that identifies the restoration with which the ledger started; "" if it was never restored."""
    move_number: int = field(metadata=stored_as("place"))
    """The number of the recorded move in the ledger."""
    digest: str
    accepted_restorations: tuple[str, ...] = field(metadata=stored_as("known"))
    """The restorations of all ledgers that the cleared journal accepted as the machine's."""


@dataclass(frozen=True, slots=True)
class AccountComparison:
    """One account of the journal compared with the sum of the same tickets in the ticket ledger, in minor units."""

    account: str
    """The name of the journal's account."""
    journal_cents: int
    ledger_cents: int

    @property
    def is_equal(self) -> bool:
        """Return whether journal and ticket ledger agree on the amount.

        Only a ticket in progress at a power loss may make them differ.
        """
        return self.journal_cents == self.ledger_cents


def _find_issuers(records: Iterable[TicketRecord]) -> set[str]:
    """Return the serial numbers of the machines that issued the given tickets."""
    return {record.ticket.machine_serial for record in records} - {HOST_ISSUER}


def _find_redeeming_machines(records: Iterable[TicketRecord]) -> set[str]:
    """Return the serial numbers of the machines that redeemed any of the given tickets; cages are left out."""
    moves = [move for record in records for move in record.moves if move.action is TicketAction.LOCK]
    return {move.by for move in moves if not move.by.startswith(CAGE_AUTHOR_PREFIX)}


def compare_ledger_with_journal(
    store: TicketStore,
    balance_cents: Callable[[str], int],
    machine_serial: str | None = None,
    base_cents: Mapping[str, int] | None = None,
) -> list[AccountComparison]:
    """Compare, account by account, the amounts of issued and redeemed tickets in the journal and the ticket ledger.

    ``balance_cents`` returns the balance of an account of the machine's journal. ``machine_serial`` may be
    omitted if all tickets belong to one machine; otherwise :class:`OperatorError` is raised. ``base_cents``
    is what the ledger already contained when the journal began.
    """
    if machine_serial is None:
        records = list(store.iter_records())
        serials = _find_issuers(records) or _find_redeeming_machines(records)
        if len(serials) > 1:
            raise OperatorError(f"this ledger is shared: give --serial, one of {', '.join(sorted(serials))}")
        machine_serial = next(iter(serials), "")
    sums = sum_ledger_cents(store, machine_serial)
    base_cents = base_cents or {}
    # The journal counts value that enters as a negative balance of its source.
    return [
        AccountComparison(name, abs(balance_cents(name)), sums[name] - base_cents.get(name, 0))
        for name in COMPARED_ACCOUNTS
    ]


def find_disagreement(
    store: TicketStore,
    anchor: LedgerAnchor,
    balance_cents: Callable[[str], int],
    machine_serial: str | None = None,
) -> str:
    """Return why a ticket ledger is not the one that the journal has recorded, or "" if it is.

    ``anchor`` is what the journal has stored about the ledger. Raises :class:`OperatorError` if several
    machines share the ledger and ``machine_serial`` is missing.
    """
    if exchange_error := _find_exchange_error(store, anchor):
        return exchange_error
    for pair in compare_ledger_with_journal(
        store, balance_cents, machine_serial, anchor.starting_cents_by_account
    ):
        if not pair.is_equal:
            return (
                f"{pair.account}: the journal says {pair.journal_cents} cents, the ticket ledger"
                f" {pair.ledger_cents}"
            )
    return ""


def _find_exchange_error(store: TicketStore, anchor: LedgerAnchor | EarlierLedger) -> str:
    """Return why a ticket ledger lacks the move that the journal has recorded last, or "" if it has it.

    Such a ledger has been replaced by another one or by an older copy.
    """
    anchored_digest = store.digest_at(anchor.move_number)
    if anchored_digest is not None and anchored_digest.startswith(anchor.digest):
        return ""
    return (
        f"the ticket ledger ends at move {store.last_move[0]}, but is not the one that the journal "
        "recorded at move"
        f" {anchor.move_number}: it was replaced by an older ledger or by that of another machine"
    )


def find_older_ledger_error(store: TicketStore, journal: JournalView) -> str:
    """Return why a ticket ledger is older than the journal's record of it, or another ledger; "" if neither.

    It may be called while the machine runs. Sums are therefore not compared, because a ticket in progress is
    in only one of them. The ledger also passes if the journal (or the one before a memory clear) has never
    recorded a ledger, or if two people have restored the ledger since the machine's last check. The cage's
    own actions are checked against the ledger's stored head.
    """
    if mismatch := store.find_ledger_mismatch():
        return mismatch
    anchor = parse_ledger_anchor(journal.state(ANCHOR_STATE_KEY)) or find_ledger_before_clear(journal)
    if anchor is None:
        return ""
    restoration = format_restoration(store)
    if restoration == anchor.restoration:
        return _find_exchange_error(store, anchor)
    if was_ledger_known(journal, restoration):
        return "the ticket ledger is older than its last restoration: an old copy was put back"
    return ""


def parse_ledger_anchor(state: JSON) -> LedgerAnchor | None:
    """Return what a journal's state has recorded about the ticket ledger, or None.

    Raises RecordError if it is malformed.
    """
    return None if state is None else from_json(LedgerAnchor, state, f"the memory's {ANCHOR_STATE_KEY!r}")


def find_ledger_before_clear(journal: JournalView) -> EarlierLedger | None:
    """Return the ticket ledger's last move when a memory clear began this journal; None without a clear."""
    entry = next(journal.entries("clear.kept", limit=1), None)
    record = entry.record if entry is not None and isinstance(entry.record, Mapping) else {}
    ledger = record.get(ANCHOR_STATE_KEY)
    return None if ledger is None else from_json(EarlierLedger, ledger, "entry clear.kept")


def _list_entries_before_clear(journal: JournalView) -> list[JSON]:
    """Return the ids of the last ticket entries of the journal before a memory clear."""
    entry = next(journal.entries("clear.kept", limit=1), None)
    entry_ids = entry.record.get("ended") if entry is not None and isinstance(entry.record, Mapping) else None
    return entry_ids if isinstance(entry_ids, list) else []


def format_restoration(store: TicketStore) -> str:
    """Return the text by which a journal identifies the ticket ledger's last restoration; "" if there was none."""
    restoration = store.find_last_restoration()
    return "" if restoration is None else str(store.digest_at(restoration.move_number))[:DIGEST_DIGITS]


def was_ledger_known(journal: JournalView, restoration: str) -> bool:
    """Return whether the machine has already used the ledger that a restoration created.

    It has if this journal, or the one before a memory clear, has recorded that ledger. ``restoration`` is the
    text of :func:`format_restoration`; for "", a ledger that was never restored, the result is True.
    """
    earlier_ledger = find_ledger_before_clear(journal)
    if not restoration or (
        earlier_ledger is not None and restoration in earlier_ledger.accepted_restorations
    ):
        return True
    checked_anchors = (
        parse_ledger_anchor(entry.state.get(ANCHOR_STATE_KEY)) for entry in journal.entries("tickets.checked")
    )
    return any(anchor is not None and anchor.restoration == restoration for anchor in checked_anchors)


def is_known_to_journal(journal: JournalView, record: TicketRecord) -> bool:
    """Return whether the journal accounts for a ticket that the ticket ledger lists as issued by the machine.

    It does if it contains the issue with the same amount and kind. For the time before this journal began (by
    a memory clear or with a restored ledger), it has recorded only the ledger's last move: the ticket must
    have been issued up to that move, or be among the last tickets that the cleared journal completed. Any
    other ticket is refused, because the credit that paid for it may have been carried over.
    """
    entry = journal.get(f"{record.issue_id}.printed")
    if entry is None:
        issue_move_number = next(
            (move.move_number for move in record.moves if move.action is TicketAction.ISSUE), None
        )
        anchor = parse_ledger_anchor(journal.state(ANCHOR_STATE_KEY))
        if issue_move_number is None or anchor is None:
            return False
        return (
            issue_move_number <= anchor.start_move_number
            or f"{record.issue_id}.printed" in _list_entries_before_clear(journal)
        )
    details = entry.record if isinstance(entry.record, Mapping) else {}
    journal_terms = (details.get("amount_cents"), details.get("kind"))
    return entry.kind == "voucher.out" and journal_terms == (
        record.ticket.amount_cents,
        record.ticket.kind.value,
    )


def sum_ledger_cents(store: TicketStore, machine_serial: str) -> dict[str, int]:
    """Return the ticket ledger's totals for one machine, in minor units by account of the machine's journal."""
    issued_cents = store.moved_cents(machine_serial, TicketAction.ISSUE)
    redeemed_cents = store.moved_cents(machine_serial, TicketAction.REDEEM)
    return {
        f"{side}:{kind}": cents_by_kind.get(TicketKind(kind), 0)
        for side, cents_by_kind in (("out:voucher", issued_cents), ("world:voucher_in", redeemed_cents))
        for kind in CREDIT_KINDS
    }

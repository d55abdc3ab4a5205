"""Comparison of the ticket ledger with the machine's journal (H-15), two independent records of the same money."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from egm.errors import OperatorError
from egm.record_codec import from_json, stored_as
from egm.tickets.model import CAGE_ACTOR_PREFIX, HOST_ISSUER, TicketKind
from egm.tickets.record import TicketAction, TicketRecord
from egm.tickets.store import TicketStore
from meters import JournalView
from meters.chart import CREDIT_KINDS
from meters.transaction import JSON

#: Journal state key of the :class:`LedgerAnchor`: the last ledger move that the journal has recorded, and the last
#: move when the journal began.
ANCHOR_STATE_KEY: Final = "tickets"
#: Digits of a move's digest that the journal stores.
LEDGER_DIGEST_DIGIT_COUNT: Final = 16

#: The journal accounts of the value of tickets, issued and redeemed.
COMPARED_ACCOUNTS: Final = tuple(
    f"{account_prefix}:{kind}"
    for account_prefix in ("out:voucher", "world:voucher_in")
    for kind in CREDIT_KINDS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAnchor:
    """What the machine's journal stores about the ticket ledger, so that the machine detects an exchanged ledger.

    A move of the ledger is one recorded action on a ticket; moves are numbered from 1.
    """

    restoration_id: str = field(metadata=stored_as("begun"))
    """Identifies this ledger by its last restoration (:func:`read_restoration_id`); "" if it was never restored."""
    start_move_number: int = field(metadata=stored_as("from"))
    """Moves of the ledger up to this number need no entry in this journal.

    They were made before the journal began, or before it accepted a restored ledger.
    """
    starting_cents_by_account: Mapping[str, int] = field(metadata=stored_as("base"))
    """For each journal account, the part of the ledger's total that this journal does not account for, in minor units.

    It is what the ledger contained when this journal began, or when a restored ledger was accepted. If a restored
    ledger lacks a redemption that the journal has credited, the ticket's amount is subtracted, so that later totals
    agree.
    """
    move_number: int = field(metadata=stored_as("place"))
    """The number of the last ledger move that the journal has recorded."""
    digest: str
    """The first digits of the digest of the ledger move ``move_number``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierLedger:
    """The state that the journal before a memory clear had stored about the ticket ledger, copied into this journal."""

    restoration_id: str = field(metadata=stored_as("begun"))
    """Identifies that ledger by its last restoration (:func:`read_restoration_id`); "" if it was never restored."""
    move_number: int = field(metadata=stored_as("place"))
    """The number of the last ledger move that the cleared journal had recorded."""
    digest: str
    accepted_restoration_ids: tuple[str, ...] = field(metadata=stored_as("known"))
    """The restoration ids of all ledgers that the machine had used until the memory clear."""


@dataclass(frozen=True, slots=True)
class AccountComparison:
    """One account of tickets: its amount in the journal, and the total of the same tickets in the ticket ledger."""

    account: str
    """The name of the journal's account."""
    journal_cents: int
    ledger_cents: int

    @property
    def is_equal(self) -> bool:
        """Return whether journal and ticket ledger have the same amount.

        After a power loss they may differ by a ticket that was being issued or redeemed.
        """
        return self.journal_cents == self.ledger_cents


def _find_issuers(records: Iterable[TicketRecord]) -> set[str]:
    """Return the serial numbers of the machines that issued the given tickets."""
    return {record.ticket.machine_serial for record in records} - {HOST_ISSUER}


def _find_redeeming_machines(records: Iterable[TicketRecord]) -> set[str]:
    """Return the serial numbers of the machines that locked a given ticket to redeem it; cages are not included."""
    moves = [move for record in records for move in record.moves if move.action is TicketAction.LOCK]
    return {move.actor for move in moves if not move.actor.startswith(CAGE_ACTOR_PREFIX)}


def compare_ledger_with_journal(
    store: TicketStore,
    balance_cents: Callable[[str], int],
    machine_serial: str | None = None,
    starting_cents_by_account: Mapping[str, int] | None = None,
) -> list[AccountComparison]:
    """Compare the totals of issued and of redeemed tickets in the journal with those in the ticket ledger.

    Return one comparison for each account of tickets. ``balance_cents`` returns the balance of a journal account by its
    name. ``starting_cents_by_account`` (:attr:`LedgerAnchor.starting_cents_by_account`) is subtracted from the
    ledger's totals. If ``machine_serial`` is omitted, the ledger's only machine is compared; if several machines
    share the ledger, :class:`OperatorError` is raised.
    """
    if machine_serial is None:
        records = list(store.iter_records())
        serials = _find_issuers(records) or _find_redeeming_machines(records)
        if len(serials) > 1:
            raise OperatorError(f"this ledger is shared: give --serial, one of {', '.join(sorted(serials))}")
        machine_serial = next(iter(serials), "")
    ledger_cents_by_account = sum_ledger_cents(store, machine_serial)
    starting_cents_by_account = starting_cents_by_account or {}
    # The journal counts value that enters as a negative balance of its source.
    return [
        AccountComparison(
            account,
            abs(balance_cents(account)),
            ledger_cents_by_account[account] - starting_cents_by_account.get(account, 0),
        )
        for account in COMPARED_ACCOUNTS
    ]


def find_ledger_disagreement_error(
    store: TicketStore,
    anchor: LedgerAnchor,
    balance_cents: Callable[[str], int],
    machine_serial: str | None = None,
) -> str:
    """Return why the ticket ledger does not agree with the journal, or "" if it does.

    It disagrees if it lacks the move in ``anchor``, which the journal has stored, or if an account's total differs.
    ``balance_cents`` returns the balance of a journal account by its name. Raises :class:`OperatorError` if several
    machines share the ledger and ``machine_serial`` is omitted.
    """
    if exchange_error := _find_exchange_error(store, anchor):
        return exchange_error
    for comparison in compare_ledger_with_journal(
        store, balance_cents, machine_serial, anchor.starting_cents_by_account
    ):
        if not comparison.is_equal:
            return (
                f"{comparison.account}: the journal says {comparison.journal_cents} cents, the ticket ledger"
                f" {comparison.ledger_cents}"
            )
    return ""


def _find_exchange_error(store: TicketStore, anchor: LedgerAnchor | EarlierLedger) -> str:
    """Return the error text if the ticket ledger lacks the move in ``anchor``, or "" if it has that move.

    A ledger without it was replaced by the ledger of another machine or by an older copy.
    """
    anchored_digest = store.read_move_digest(anchor.move_number)
    if anchored_digest is not None and anchored_digest.startswith(anchor.digest):
        return ""
    return (
        f"the ticket ledger ends at move {store.last_move.move_number}, but is not the one that the journal "
        "recorded at move"
        f" {anchor.move_number}: it was replaced by an older ledger or by that of another machine"
    )


def find_older_ledger_error(store: TicketStore, journal: JournalView) -> str:
    """Return the error text if the ticket ledger is an old copy or another machine's ledger, otherwise "".

    It compares the ledger's moves with those that the journal and the ledger's stored head have recorded. It does not
    compare totals, so it may be called while the machine runs. The result is also "" if the journal has never recorded
    a ledger, or if two people have restored the ledger since the machine's last check.
    """
    if mismatch := store.find_replaced_ledger_error():
        return mismatch
    anchor = parse_ledger_anchor(journal.state(ANCHOR_STATE_KEY)) or find_ledger_before_clear(journal)
    if anchor is None:
        return ""
    restoration_id = read_restoration_id(store)
    if restoration_id == anchor.restoration_id:
        return _find_exchange_error(store, anchor)
    if was_ledger_known(journal, restoration_id):
        return "the ticket ledger is older than its last restoration: an old copy was put back"
    return ""


def parse_ledger_anchor(stored_anchor: JSON) -> LedgerAnchor | None:
    """Decode the journal state stored about the ticket ledger; return None if nothing is stored.

    Raises RecordError if it is malformed.
    """
    return (
        None
        if stored_anchor is None
        else from_json(LedgerAnchor, stored_anchor, f"the memory's {ANCHOR_STATE_KEY!r}")
    )


def find_ledger_before_clear(journal: JournalView) -> EarlierLedger | None:
    """Return what the journal before the last memory clear had stored about the ticket ledger.

    Return None if this journal did not begin with a memory clear, or if no ledger had been recorded before it.
    """
    entry = next(journal.entries("clear.kept", limit=1), None)
    record = entry.record if entry is not None and isinstance(entry.record, Mapping) else {}
    ledger = record.get(ANCHOR_STATE_KEY)
    return None if ledger is None else from_json(EarlierLedger, ledger, "entry clear.kept")


def _list_entry_ids_before_clear(journal: JournalView) -> list[JSON]:
    """Return the ids of the cleared journal's last ticket entries, as copied into this journal; [] if none."""
    entry = next(journal.entries("clear.kept", limit=1), None)
    entry_ids = entry.record.get("ended") if entry is not None and isinstance(entry.record, Mapping) else None
    return entry_ids if isinstance(entry_ids, list) else []


def read_restoration_id(store: TicketStore) -> str:
    """Return the id of the ticket ledger's last restoration, by which the journal identifies the ledger.

    A restoration is a new ledger started by two people (:mod:`egm.tickets.restoration`). Its id is the first digits of
    the digest of its move; "" if the ledger was never restored.
    """
    restoration = store.find_last_restoration()
    return (
        ""
        if restoration is None
        else str(store.read_move_digest(restoration.move_number))[:LEDGER_DIGEST_DIGIT_COUNT]
    )


def was_ledger_known(journal: JournalView, restoration_id: str) -> bool:
    """Return whether the machine has already used the ledger that the restoration ``restoration_id`` created.

    It has if this journal, or the one before a memory clear, has recorded that id. The result is also True for "",
    which stands for a ledger that was never restored.
    """
    earlier_ledger = find_ledger_before_clear(journal)
    if not restoration_id or (
        earlier_ledger is not None and restoration_id in earlier_ledger.accepted_restoration_ids
    ):
        return True
    checked_anchors = (
        parse_ledger_anchor(entry.state.get(ANCHOR_STATE_KEY)) for entry in journal.entries("tickets.checked")
    )
    return any(anchor is not None and anchor.restoration_id == restoration_id for anchor in checked_anchors)


def is_known_to_journal(journal: JournalView, record: TicketRecord) -> bool:
    """Return whether the journal confirms a ticket that the ticket ledger lists as issued by this machine.

    If the journal has the entry of the ticket's printing, kind and amount must be equal. If it has none, the ticket
    must be older than this journal: its issue is no later than the ledger move at which the journal began, or it is
    among the last tickets of the journal before a memory clear. Any other ticket is refused: the credit that paid for
    it may have been carried over at the memory clear, and would be paid twice.
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
            or f"{record.issue_id}.printed" in _list_entry_ids_before_clear(journal)
        )
    details = entry.record if isinstance(entry.record, Mapping) else {}
    journal_amount_and_kind = (details.get("amount_cents"), details.get("kind"))
    return entry.kind == "voucher.out" and journal_amount_and_kind == (
        record.ticket.amount_cents,
        record.ticket.kind.value,
    )


def sum_ledger_cents(store: TicketStore, machine_serial: str) -> dict[str, int]:
    """Return the ticket ledger's totals of one machine's issued and redeemed tickets.

    The keys are the names of the journal's accounts (one for each direction and kind of credit), the values are minor
    units.
    """
    issued_cents = store.sum_action_cents_by_kind(machine_serial, TicketAction.ISSUE)
    redeemed_cents = store.sum_action_cents_by_kind(machine_serial, TicketAction.REDEEM)
    return {
        f"{account_prefix}:{kind}": cents_by_kind.get(TicketKind(kind), 0)
        for account_prefix, cents_by_kind in (
            ("out:voucher", issued_cents),
            ("world:voucher_in", redeemed_cents),
        )
        for kind in CREDIT_KINDS
    }

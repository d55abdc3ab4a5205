"""Comparison of the ticket ledger with the journal; tickets stop if the two disagree.

With each ticket issued or redeemed, the journal records the number and digest of the ledger's last move, and
both store the totals. So at startup and whenever a door is closed, the machine detects that the ledger is lost
or an older copy, or that totals differ. It then neither issues nor accepts tickets, raises a fault, and
continues with everything else. It does not guess: two people restore the ledger (``egm ticket restore``).
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from egm.errors import OperatorError
from egm.features.memory_clear.records import has_ticket_ended
from egm.host.keys import HostKey
from egm.kernel.active_faults import raise_or_clear_fault
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.money.entries import TICKET_LEDGER_CHECKED, TicketLedgerChecked
from egm.money.keys import MoneyKey
from egm.money.records.host import HostTicketRecord, RedemptionStatus
from egm.tickets.desk import TicketDesk
from egm.tickets.errors import TicketLedgerDamaged, TicketLedgerUnwritable
from egm.tickets.ledger_comparison import (
    LEDGER_DIGEST_DIGIT_COUNT,
    AccountComparison,
    LedgerAnchor,
    compare_ledger_with_journal,
    find_ledger_before_clear,
    find_ledger_disagreement_error,
    find_older_ledger_error,
    is_known_to_journal,
    read_restoration_id,
    sum_ledger_cents,
)
from egm.tickets.proof import NUMBER_COMMITMENT_PURPOSE, compute_commitment
from egm.tickets.record import TicketAction, TicketMove, TicketRecord
from egm.tickets.store import LEDGER_HEAD_MAC_PURPOSE, LastSeenJournalEntry, TicketStore
from meters import Journal, JournalDamaged, JournalUnwritable
from meters.chart import CREDIT_KINDS
from meters.storage import Storage
from meters.transaction import JSON

#: The fault that disables tickets: the ticket ledger is missing, or does not agree with the journal.
TICKET_LEDGER_FAULT: Final = "ticket_ledger"
#: The fault that stops the machine: the ticket ledger proves that journal entries were lost.
JOURNAL_INCOMPLETE_FAULT: Final = "journal_short"
#: Text with the remedy, appended to the reason why tickets are disabled.
_TICKET_LEDGER_REMEDY: Final = (
    "; tickets are disabled until two people restore the ledger: egm ticket restore"
)
#: Text with the remedy, appended to the reason why the journal is incomplete.
_JOURNAL_REMEDY: Final = (
    "; play and payments are disabled until two people have accounted for it:"
    " egm audit inspect, egm audit clear or egm ticket restore"
)


def open_ticket_store(
    journal: Journal, folder: Path, second_folder: Path, storage: Storage | None = None
) -> tuple[TicketStore | None, str]:
    """Open the ticket ledger in ``folder``, with its copy in ``second_folder``.

    Return the ledger and an empty text, or None and the reason why it cannot be used. A new ledger is created only if
    the journal has no tickets. Raises TicketLedgerUnwritable if the medium rejects the write: the machine stops
    and retries.
    """
    has_tickets = journal.state(MoneyKey.TICKET_LEDGER_ANCHOR) is not None or any(
        journal.balance_cents(f"out:voucher:{kind}") for kind in CREDIT_KINDS
    )
    head_mac_key = journal.derive_key(LEDGER_HEAD_MAC_PURPOSE)
    try:
        return TicketStore.open(
            folder,
            key=head_mac_key,
            second_folder=second_folder,
            storage=storage,
            create_missing=not has_tickets,
        ), ""
    except (OperatorError, TicketLedgerDamaged) as error:
        return None, f"{error}{_TICKET_LEDGER_REMEDY}"


def are_tickets_available(machine: PositionMachine) -> bool:
    """Return whether tickets may be issued and accepted: there is a ticket ledger, and it agrees with the journal."""
    return machine.find_installed(TicketDesk) is not None and TICKET_LEDGER_FAULT not in machine.active_faults


def build_anchor_state(machine: PositionMachine) -> dict[str, LedgerAnchor]:
    """Return the state change by which the journal stores the number and digest of the ticket ledger's last move."""
    anchor = machine.memory.read(LedgerAnchor, MoneyKey.TICKET_LEDGER_ANCHOR) or _find_initial_anchor(machine)
    move_number, digest = machine.component(TicketDesk).store.last_move
    return {
        MoneyKey.TICKET_LEDGER_ANCHOR: replace(
            anchor, move_number=move_number, digest=digest[:LEDGER_DIGEST_DIGIT_COUNT]
        )
    }


def compute_number_commitment(machine: PositionMachine, number: str) -> str:
    """Return the commitment to a ticket's number, which journal entries contain in place of the number."""
    return compute_commitment(machine.journal.derive_key(NUMBER_COMMITMENT_PURPOSE), number)


def build_host_ticket_state(
    machine: PositionMachine, ticket_id: str, status: RedemptionStatus
) -> dict[str, HostTicketRecord]:
    """Return the state change that sets the status of the last ticket about which the host was queried.

    Empty if ``ticket_id`` is not that ticket.
    """
    host_ticket = machine.memory.read(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION)
    if host_ticket is None or host_ticket.id != ticket_id:
        return {}
    return {HostKey.LAST_TICKET_REDEMPTION: replace(host_ticket, status=status)}


def is_ticket_accounted(machine: PositionMachine, record: TicketRecord) -> bool:
    """Return whether the journal has the entry for a ticket that the ticket ledger lists as issued by this machine."""
    return is_known_to_journal(machine.journal, record)


def check_ledger_against_journal(machine: PositionMachine) -> str:
    """Compare the ticket ledger with the journal; return in what they differ, with the remedy, or an empty text.

    If they agree, record the number of the ledger's last move, unless that is already recorded.
    """
    store = machine.component(TicketDesk).store
    stored_anchor = machine.memory.read(LedgerAnchor, MoneyKey.TICKET_LEDGER_ANCHOR)
    initial_anchor = _find_initial_anchor(machine)
    is_restored = stored_anchor is None or stored_anchor.restoration_id != initial_anchor.restoration_id
    if disagreement := find_older_ledger_error(store, machine.journal):
        return f"{disagreement}{_TICKET_LEDGER_REMEDY}"
    anchor = initial_anchor if stored_anchor is None or is_restored else stored_anchor
    disagreement = find_ledger_disagreement_error(
        store, anchor, machine.journal.balance_cents, machine.identity.serial
    )
    if disagreement:
        return f"{disagreement}{_TICKET_LEDGER_REMEDY}"
    move_number, digest = store.last_move
    new_anchor = replace(anchor, move_number=move_number, digest=digest[:LEDGER_DIGEST_DIGIT_COUNT])
    if new_anchor != stored_anchor:
        restoration = _describe_restoration(store) if anchor.restoration_id and is_restored else None
        machine.post(
            TICKET_LEDGER_CHECKED,
            TicketLedgerChecked(move_number=move_number, last_restoration=restoration),
            state={MoneyKey.TICKET_LEDGER_ANCHOR: new_anchor},
        )
    return ""


def find_reason_journal_is_incomplete(machine: PositionMachine) -> str:
    """Return which entry the journal lacks according to the ticket ledger, and the remedy; empty if none.

    Issues and redemptions are written to the journal before they are written to the ledger. If the ledger has a
    ticket issued or redeemed by this machine that the journal lacks, journal entries were lost, and what they paid
    is owed again.
    """
    store, journal, serial = machine.component(TicketDesk).store, machine.journal, machine.identity.serial
    with suppress(JournalDamaged):
        last_seen_entry = store.read_last_seen_journal_entry()
        if (
            last_seen_entry is not None
            and last_seen_entry.journal_tag == journal.journal_tag
            and not _has_journal_entry(journal, last_seen_entry)
        ):
            problem = f"the journal does not contain entry {last_seen_entry.sequence} as the ticket ledger has seen it"
            return problem + _JOURNAL_REMEDY
    stored_anchor = machine.memory.read(LedgerAnchor, MoneyKey.TICKET_LEDGER_ANCHOR)
    initial_anchor = _find_initial_anchor(machine)
    anchor = (
        initial_anchor
        if stored_anchor is None or stored_anchor.restoration_id != initial_anchor.restoration_id
        else stored_anchor
    )
    if all(
        comparison.journal_cents >= comparison.ledger_cents
        for comparison in _compare_account_totals(machine, anchor)
    ):
        return ""
    for record in store.iter_records():
        for move in record.moves:
            entry_id = _ENTRY_ID_TEMPLATE_BY_ACTION.get(move.action, "").format(
                issue=record.issue_id, redemption=move.redemption_id
            )
            if (
                entry_id
                and move.actor == serial
                and move.move_number > anchor.start_move_number
                and not has_ticket_ended(journal, entry_id)
            ):
                ticket = record.ticket
                return (
                    f"the journal has no entry for ticket {ticket.masked_number} over {ticket.amount_cents} cents,"
                    f" which is in the ticket ledger{_JOURNAL_REMEDY}"
                )
    return ""


#: The id of the journal entry that precedes each kind of move in the ticket ledger.
_ENTRY_ID_TEMPLATE_BY_ACTION: Final = {
    TicketAction.ISSUE: "{issue}.printed",
    TicketAction.REDEEM: "{redemption}.in",
}


def _compare_account_totals(machine: PositionMachine, anchor: LedgerAnchor) -> list[AccountComparison]:
    """Return the totals of the ticket ledger and of the journal for each ticket account."""
    store, balance_cents = machine.component(TicketDesk).store, machine.journal.balance_cents
    return compare_ledger_with_journal(
        store, balance_cents, machine.identity.serial, anchor.starting_cents_by_account
    )


def _has_journal_entry(journal: Journal, last_seen_entry: LastSeenJournalEntry) -> bool:
    """Return whether the journal contains the entry that the ticket ledger has stored as its last one.

    True also if the entry is only in the archive and the archive cannot be read.
    """
    if last_seen_entry.sequence > journal.sequence:
        return False
    with suppress(JournalDamaged):
        entry = next(journal.entries(after_sequence=last_seen_entry.sequence - 1, limit=1))
        return entry.sequence != last_seen_entry.sequence or entry.hash_hex == last_seen_entry.hash_hex
    return True


def update_ledger_faults(machine: PositionMachine, ledger_error: str) -> None:
    """Raise or clear two faults: that the ticket ledger is unusable, and that the journal lacks entries known to it.

    ``ledger_error`` says why tickets are disabled; if it is empty, the ledger's fault is cleared. Then store the
    number and hash of the journal's last entry in the ledger.
    """
    has_ledger = machine.find_installed(TicketDesk) is not None
    raise_or_clear_fault(
        machine, JOURNAL_INCOMPLETE_FAULT, find_reason_journal_is_incomplete(machine) if has_ledger else ""
    )
    raise_or_clear_fault(machine, TICKET_LEDGER_FAULT, ledger_error)
    store_journal_head(machine)


def store_journal_head(machine: PositionMachine) -> None:
    """Store the number and hash of the journal's last entry in the ticket ledger, on both media.

    Called after money has irrevocably come in or gone out, and after each comparison of ledger and journal. If there is
    no ledger, or it and the journal disagree, do nothing.
    """
    desk, journal = machine.find_installed(TicketDesk), machine.journal
    if desk is None or {TICKET_LEDGER_FAULT, JOURNAL_INCOMPLETE_FAULT} & machine.active_faults.keys():
        return
    with suppress(JournalUnwritable, TicketLedgerUnwritable):  # the next payment or startup tries again
        desk.store.store_head(LastSeenJournalEntry(journal.journal_tag, journal.sequence, journal.head_hash))


def _find_initial_anchor(machine: PositionMachine) -> LedgerAnchor:
    """Return the point in the ticket ledger after which each of its moves must have an entry in this journal.

    A move is one action on a ticket. The result also has the ledger's totals at that point.

    If two people have restored the ledger, the point is the ledger's present last move. If this journal began with a
    memory clear, it is the last move that the previous journal had recorded. Otherwise it is move 0 with no totals.
    """
    store, journal = machine.component(TicketDesk).store, machine.journal
    restoration = store.find_last_restoration()
    starting_cents_by_account: Mapping[str, int] = {}
    if restoration is not None or _began_with_memory_clear(journal):
        ledger_cents_by_account = sum_ledger_cents(store, machine.identity.serial)
        starting_cents_by_account = {
            account: account_cents - abs(journal.balance_cents(account))
            for account, account_cents in ledger_cents_by_account.items()
        }
    return LedgerAnchor(
        restoration_id=read_restoration_id(store),
        start_move_number=(
            _find_last_accounted_move_number(journal, restoration, store.last_move.move_number)
            if starting_cents_by_account
            else 0
        ),
        starting_cents_by_account={
            account: account_cents
            for account, account_cents in starting_cents_by_account.items()
            if account_cents
        },
        move_number=0,
        digest="",
    )


def _find_last_accounted_move_number(
    journal: Journal, restoration: TicketMove | None, last_move_number: int
) -> int:
    """Return the number of the last move of the ticket ledger that needs no entry in this journal.

    If two people have restored the ledger, it is the ledger's present last move, ``last_move_number``. After a memory
    clear, it is the last move that the previous journal had recorded.
    """
    earlier_ledger = find_ledger_before_clear(journal)
    return (
        last_move_number if restoration is not None or earlier_ledger is None else earlier_ledger.move_number
    )


def _describe_restoration(store: TicketStore) -> dict[str, JSON]:
    """Return by whom, when and why two people last restored the ticket ledger; empty if they never did."""
    restoration = store.find_last_restoration()
    return {} if restoration is None else {"by": restoration.actor, **restoration.details}


def _began_with_memory_clear(journal: Journal) -> bool:
    """Return whether the journal began with an authorised memory clear."""
    genesis_record = next(journal.entries("machine.genesis", limit=1)).record
    return isinstance(genesis_record, Mapping) and "cleared" in genesis_record


def check_ledger(machine: PositionMachine, _: Event) -> None:
    """Compare the ticket ledger with the journal after a door was closed; if they differ, disable tickets."""
    if machine.find_installed(TicketDesk) is not None:
        update_ledger_faults(machine, check_ledger_against_journal(machine))

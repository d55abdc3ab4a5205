"""Recovery of tickets that a power loss interrupted.

Issues and redemptions are written to the journal before they are written to the ticket ledger; numbers and locks are
in the ledger first. Between the writes a ticket may briefly be redeemable nowhere, but never twice.
"""

from dataclasses import replace
from typing import Final

from egm.config.cabinet_file import POSITIONS_MAX
from egm.devices.interface import PrintState
from egm.features.memory_clear.records import has_ticket_ended, list_paid_claim_entry_ids
from egm.host.entries import HOST_TICKET_NOT_STACKED, TICKET_REPORTED_AGAIN, TicketReportedAgain
from egm.host.keys import HostKey
from egm.host.tickets import record_ticket_number
from egm.kernel.active_faults import raise_fault
from egm.kernel.machine import PositionMachine
from egm.money.entries import (
    DISPUTED_AMOUNT_RULED,
    ORPHAN_TICKET,
    TICKET_IN,
    TICKET_LEDGER_CONTRADICTED,
    TICKET_TAKEN,
    TicketContradicted,
    TicketTaken,
)
from egm.money.host_money import (
    HOST_TICKET_RING_SIZE,
    HostMoney,
    build_ticket_ring_state,
    find_payout_id_in_ticket_ring,
    list_unread_ticket_indices,
)
from egm.money.keys import MoneyKey
from egm.money.records.host import HostTicketRecord, RedemptionStatus
from egm.money.records.money import CashOutRecord, PrintingRecord
from egm.money.ticket_ledger import check_ledger_against_journal, update_ledger_faults
from egm.tickets.desk import TicketDesk
from egm.tickets.ledger_comparison import LedgerAnchor
from egm.tickets.model import TicketState
from egm.tickets.record import TicketAction, TicketRecord

#: The journal kinds that credit a ticket. At most one per player position can be interrupted before its
#: redemption is recorded in the ledger.
_ENTRY_KINDS_CREDITING_TICKETS: Final = (TICKET_IN.kind, ORPHAN_TICKET.kind, DISPUTED_AMOUNT_RULED.kind)


def _list_ids_in_progress(machine: PositionMachine) -> frozenset[str]:
    """Return the ids of the payouts, bills, tickets and disputed amounts that are open at any player position."""
    return frozenset(
        record["id"]
        for key, record in machine.journal.states().items()
        if key.rpartition("/")[2].startswith(
            (MoneyKey.PAY_OUT, MoneyKey.PAPER_BEING_STACKED, MoneyKey.DISPUTED_AMOUNT)
        )
        and isinstance(record, dict)
    )


def recover_tickets(machine: PositionMachine, ledger_error: str = "") -> None:
    """Finish in the ticket ledger the tickets that the journal has finished; then compare ledger and journal.

    Tickets that a device is still handling are left unchanged. If there is no ledger, ``ledger_error`` says why;
    otherwise it is "". Tickets are disabled if there is no ledger or if it differs from the journal.
    """
    desk = machine.find_installed(TicketDesk)
    if desk is None:
        close_printed_ticket(machine)
    else:
        _complete_interrupted_tickets(machine, desk)
        _raise_faults_for_credited_tickets(machine, desk)
        _raise_faults_for_tickets_paid_at_clear(machine, desk)
        ledger_error = check_ledger_against_journal(machine)
    update_ledger_faults(machine, ledger_error)


def close_printed_ticket(machine: PositionMachine) -> None:
    """Record this position's printed ticket as removed by the player.

    This is for a machine without a ticket ledger, which cannot query its printer about the ticket.
    """
    print_job = machine.memory.read(PrintingRecord, MoneyKey.PRINT_JOB)
    if print_job is not None and print_job.state is PrintState.BARCODE_DONE:
        machine.post(TICKET_TAKEN, TicketTaken(id=print_job.id), state={MoneyKey.PRINT_JOB: None})


def _raise_faults_for_credited_tickets(machine: PositionMachine, desk: TicketDesk) -> None:
    """Raise a fault if a ticket that the journal has credited is not redeemed in the ticket ledger.

    The cause is a power loss between credit and redemption, if a cashier releases the ticket before the restart. The
    credit stays; staff must find out whether the cashier also paid the ticket. The fault is raised once for
    each ticket, and a technician clears it.
    """
    crediting_entries = machine.journal.entries(
        _ENTRY_KINDS_CREDITING_TICKETS, limit=POSITIONS_MAX, newest_first=True
    )
    for entry in list(crediting_entries):
        redemption_id = entry.transaction.id.removesuffix(".in")
        record = desk.store.find_by_redemption(redemption_id)
        contradiction_entry = machine.journal.get(f"{redemption_id}.contradicted")
        if record is None or contradiction_entry is not None or _was_redeemed(record, redemption_id):
            continue
        ticket, anchor = record.ticket, machine.memory.require(LedgerAnchor, MoneyKey.TICKET_LEDGER_ANCHOR)
        account = f"world:voucher_in:{ticket.kind}"
        starting_cents = {
            **anchor.starting_cents_by_account,
            account: anchor.starting_cents_by_account.get(account, 0) - ticket.amount_cents,
        }
        detail = f"{ticket.masked_number}, {ticket.amount_cents} cents"
        raise_fault(machine, "ticket_contradiction", detail=detail)
        machine.post(
            TICKET_LEDGER_CONTRADICTED,
            TicketContradicted(
                id=redemption_id, number=ticket.masked_number, amount_cents=ticket.amount_cents
            ),
            entry_id=f"{redemption_id}.contradicted",
            state={MoneyKey.TICKET_LEDGER_ANCHOR: replace(anchor, starting_cents_by_account=starting_cents)},
        )


def _raise_faults_for_tickets_paid_at_clear(machine: PositionMachine, desk: TicketDesk) -> None:
    """Raise a fault for a technician to clear if a ticket paid at a memory clear is not redeemed in the ledger.

    Two people paid the ticket's amount by hand at the clear. A cashier has released the ticket since, and may have paid
    it as well. Only the first start after the clear checks this: after it, the journal has its own record of the
    ledger.
    """
    if machine.memory.read(LedgerAnchor, MoneyKey.TICKET_LEDGER_ANCHOR) is not None:
        return
    for entry_id in list_paid_claim_entry_ids(machine.journal):
        redemption_id = entry_id.removesuffix(".in")
        record = desk.store.find_by_redemption(redemption_id)
        if record is not None and not _was_redeemed(record, redemption_id):
            detail = f"{record.ticket.masked_number}, {record.ticket.amount_cents} cents"
            raise_fault(machine, "ticket_contradiction", detail=detail)


def _was_redeemed(record: TicketRecord, redemption_id: str) -> bool:
    """Return whether the ticket ledger has recorded this ticket as redeemed under ``redemption_id``."""
    return any(
        move.action is TicketAction.REDEEM and move.redemption_id == redemption_id for move in record.moves
    )


def _complete_interrupted_tickets(machine: PositionMachine, desk: TicketDesk) -> None:
    """Complete in the ticket ledger what a power loss interrupted: printed, failed and redeemed tickets."""
    unfinished_tickets = desk.find_unfinished()
    payout = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    open_ids = _list_ids_in_progress(machine)
    for record in unfinished_tickets.tickets:
        if has_ticket_ended(machine.journal, f"{record.issue_id}.printed"):
            desk.record_printed(record.ticket.number)
        elif record.issue_id not in open_ids:
            desk.record_failed_print(record.ticket.number, "the machine stopped before it was printed")
        elif payout is not None and payout.id == record.issue_id and not payout.masked_number:
            # the ledger has the host's number, but the journal does not have it yet
            record_ticket_number(machine, payout, record.ticket)
    for redemption in unfinished_tickets.redemptions:
        if has_ticket_ended(machine.journal, f"{redemption.redemption_id}.in"):
            desk.commit_redemption(redemption.redemption_id)
        elif redemption.redemption_id not in open_ids:
            desk.abort_redemption(redemption.redemption_id, "the machine stopped before it was stacked")
    _recover_host_read_state(machine, desk)


def _add_ticket_to_host_ring(machine: PositionMachine, record: TicketRecord) -> None:
    """Add a printed ticket to the ring buffer of tickets that the host reads."""
    machine.post(
        TICKET_REPORTED_AGAIN,
        TicketReportedAgain(id=record.issue_id, number=record.ticket.masked_number),
        state=build_ticket_ring_state(machine.journal, record.issue_id),
    )


def _recover_host_read_state(machine: PositionMachine, desk: TicketDesk) -> None:
    """After a restart, correct which tickets the host has read, and the result of the last redemption.

    A ticket that the host authorised and that is no longer being stacked is reported to the host as not stacked.
    """
    if machine.component(HostMoney).ticket_validator.is_host:
        unread_payout_ids = {
            find_payout_id_in_ticket_ring(machine.journal, ring_index)
            for ring_index in list_unread_ticket_indices(machine.journal)
        }
        for record in desk.list_unread():
            if record.state is TicketState.RESERVED or record.issue_id in unread_payout_ids:
                continue
            if (
                not machine.journal.has_entry(f"{record.issue_id}.printed")
                and len(unread_payout_ids) < HOST_TICKET_RING_SIZE
            ):
                # It was printed before a memory clear, which erased that it is unread.
                _add_ticket_to_host_ring(machine, record)
                unread_payout_ids.add(record.issue_id)
            else:  # read by the host, but not yet recorded in the ticket ledger
                desk.mark_read_by_host(record.ticket.number)
    host_ticket = machine.memory.read(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION)
    if host_ticket is None or host_ticket.status is not RedemptionStatus.PENDING:
        return
    if host_ticket.id not in _list_ids_in_progress(machine):
        not_stacked_ticket = replace(host_ticket, status=RedemptionStatus.NOT_STACKED)
        machine.post(
            HOST_TICKET_NOT_STACKED,
            not_stacked_ticket,
            state={HostKey.LAST_TICKET_REDEMPTION: not_stacked_ticket},
        )

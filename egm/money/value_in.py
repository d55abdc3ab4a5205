"""Value in: bills, tickets and coins, each counted exactly once.

The credit of a bill or ticket is reserved before stacking, and posted when the paper is irrevocably in the box.
The acceptor's driver calls its ledger (:mod:`egm.money.device_ledgers`) at each step that must count exactly
once, and continues only when the call has returned, because the step is durable then; the rule and its proof
are in :mod:`egm.devices.escrow`. Whenever the power fails, exactly one of these is true: the bill or ticket is
credited, returned or disputed (NY 5319.21(a)(2), 5319.54(a)). A ticket is also locked in the ticket
ledger before it is stacked, and redeemed there after it is credited (H-08).
"""

from dataclasses import replace
from typing import Final

from egm.devices.interface import MoneyDevices
from egm.devices.ledgers import EscrowPhase
from egm.host.keys import HostKey
from egm.kernel.active_faults import is_device_disabled_by_fault
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, State
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.money.disputed_amounts import DisputedAmount, open_disputed_amount, post_ruling_and_raise_faults
from egm.money.entries import (
    BILL_IN,
    BILL_NOT_STACKED,
    BILL_REJECTED,
    BILL_RETURNED,
    COIN_IN,
    COIN_IN_DISPUTED,
    TICKET_IN,
    TICKET_IN_DISPUTED,
    TICKET_NOT_STACKED,
    TICKET_REFUSED,
    TICKET_RETURNED,
    BillIn,
    BillNotStacked,
    CoinInDisputed,
    PaperNotAcceptedReason,
    TicketIn,
    TicketInDisputed,
    TicketNotStacked,
)
from egm.money.events import (
    BillEscrowed,
    CoinsIn,
    PaperNotAccepted,
    StackingFailure,
    TicketEscrowed,
    UnorderedMoneyTaken,
)
from egm.money.host_money import HostMoney
from egm.money.host_restrictions import is_acceptor_allowed, list_allowed_bills
from egm.money.keys import MoneyKey
from egm.money.records.held_money import EscrowedBill
from egm.money.records.host import HostTicketRecord, RedemptionStatus, RestrictedTerms
from egm.money.records.money import PaperRecord
from egm.money.ticket_ledger import (
    are_tickets_available,
    build_anchor_state,
    build_host_ticket_state,
    compute_number_commitment,
    store_journal_head,
)
from egm.money.ticket_terms import find_ticket_terms
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketKind
from egm.tickets.record import TicketRecord
from egm.tickets.redemption import LockedTicket, TicketRedemption, TicketRefusal, TicketRefusalReason
from meters import Transfer


def list_acceptable_bills(machine: PositionMachine, state: State) -> frozenset[int]:
    """Return the bill denominations to accept now; empty unless the machine is ready to play (G-04)."""
    bills_cents = frozenset(machine.profile.value_in.bills_cents)
    is_ready = _is_ready_for_money(machine, state, "bill_acceptor")
    return list_allowed_bills(machine, bills_cents) if is_ready else frozenset()


def _is_ready_for_money(machine: PositionMachine, state: State, acceptor_kind: str) -> bool:
    """Return whether an acceptor may take money: machine idle, credit below the limit, acceptor without fault."""
    is_below_limit = machine.credit_cents < machine.profile.value_in.credit_limit_cents
    return state is State.IDLE and is_below_limit and not is_device_disabled_by_fault(machine, acceptor_kind)


def acceptor_works(machine: PositionMachine, _: Event) -> bool:
    """Return whether no fault disables the bill acceptor."""
    return not is_device_disabled_by_fault(machine, "bill_acceptor")


def should_accept_tickets(machine: PositionMachine, state: State) -> bool:
    """Return whether the bill acceptor should accept tickets now."""
    can_be_validated = (
        machine.component(HostMoney).ticket_validator.is_host
        or not machine.profile.tickets.requires_central_system
    )
    are_accepted = (
        can_be_validated
        and are_tickets_available(machine)
        and find_ticket_terms(machine).are_tickets_accepted
    )
    return (
        are_accepted and _is_ready_for_money(machine, state, "bill_acceptor") and is_acceptor_allowed(machine)
    )


def list_acceptable_coins(machine: PositionMachine, state: State) -> frozenset[int]:
    """Return the values of the coins to accept now, in minor units; empty unless the machine is ready to play."""
    is_ready = _is_ready_for_money(machine, state, "coin_acceptor")
    return frozenset(machine.profile.coins.accepted_coins_cents) if is_ready else frozenset()


# ---------------------------------------------------------------------------------------------- guards
# The rules of these guards apply in the state IDLE only.
@refusal_code("bill_is_welcome")
def bill_can_be_accepted(machine: PositionMachine, event: Event) -> bool:
    """Return whether the bill in escrow may be accepted now and no other bill or ticket is being stacked."""
    return (
        event.read_payload(BillEscrowed).amount_cents in list_acceptable_bills(machine, State.IDLE)
        and machine.memory.get(MoneyKey.PAPER_BEING_STACKED) is None
    )


@refusal_code("ticket_is_welcome")
def ticket_can_be_accepted(machine: PositionMachine, event: Event) -> bool:
    """Return whether the ticket in escrow may be accepted now, and no other paper is being stacked or checked."""
    return (
        should_accept_tickets(machine, State.IDLE)
        and machine.memory.get(MoneyKey.PAPER_BEING_STACKED) is None
        and no_ticket_query_waits(machine, event)
    )


def no_ticket_query_waits(machine: PositionMachine, _: Event) -> bool:
    """Return whether no ticket in escrow waits for a reply of the ticket ledger or of a host."""
    return (
        machine.component(LockedTicket).redemption is None
        and machine.component(HostMoney).ticket_inquiry is None
    )


# ---------------------------------------------------------------------------------------------- effects
#: The fault of a hopper whose upper level sensor is covered.
HOPPER_FULL_FAULT: Final = "hopper.hopper_full"


def are_coins_routed_to_hopper(machine: PositionMachine) -> bool:
    """Return whether coins go to the hopper; otherwise they fall into the drop box (Monaco art. 19.5)."""
    coins = machine.profile.coins
    if (
        not coins.hopper_coin_cents
        or machine.component(MoneyDevices).hopper is None
        or HOPPER_FULL_FAULT in machine.active_faults
    ):
        return False
    return (
        not coins.hopper_full_cents or machine.journal.balance_cents("stock:hopper") < coins.hopper_full_cents
    )


def stack_bill(machine: PositionMachine, event: Event) -> None:
    """Order the acceptor to stack the bill in escrow; its driver first reserves the bill's credit."""
    machine.notice = None
    bill = event.read_payload(BillEscrowed)
    machine.component(EscrowedBill).amount_cents = bill.amount_cents
    machine.component(MoneyDevices).required_acceptor.stack(bill.escrow_number)


def return_bill(machine: PositionMachine, event: Event) -> None:
    """Order the acceptor to return the bill in escrow to the player, and show a notice."""
    bill = event.read_payload(BillEscrowed)
    machine.component(MoneyDevices).required_acceptor.return_paper(bill.escrow_number)
    machine.component(EscrowedBill).amount_cents = bill.amount_cents
    values: dict[str, str | int] = {"amount_cents": bill.amount_cents}
    machine.notice = Notice(code="bill_returned", severity="warning", values=values)


def return_ticket(machine: PositionMachine, event: Event) -> None:
    """Order the acceptor to return the ticket in escrow to the player, and show a notice."""
    machine.component(MoneyDevices).required_acceptor.return_paper(
        event.read_payload(TicketEscrowed).escrow_number
    )
    machine.component(EscrowedBill).amount_cents = 0
    machine.notice = Notice(code="ticket_returned", severity="warning")


def credit_bill_or_ticket(machine: PositionMachine, _: Event) -> None:
    """Credit the stacked bill or ticket to the player by posting its reserved credit.

    If the machine no longer has the lock on the ticket in the ticket ledger, nothing is credited and a
    disputed amount is opened.
    """
    machine.component(EscrowedBill).amount_cents = 0
    desk = machine.find_installed(TicketDesk)
    paper = machine.memory.require(PaperRecord, MoneyKey.PAPER_BEING_STACKED)
    if paper.masked_ticket_number and not (desk is not None and desk.has_redemption_lock(paper.id)):
        _record_disputed_ticket(machine, paper)
        return
    if paper.masked_ticket_number:
        _credit_ticket(machine, paper)
    else:
        machine.post(
            BILL_IN,
            BillIn(amount_cents=paper.amount_cents),
            entry_id=f"{paper.id}.in",
            ref=paper.id,
            state={MoneyKey.PAPER_BEING_STACKED: replace(paper, phase=EscrowPhase.CREDITED)},
        )
    store_journal_head(machine)
    code = "ticket_accepted" if paper.masked_ticket_number else "bill_accepted"
    machine.notice = Notice(code=code, values={"amount_cents": paper.amount_cents})


def _credit_ticket(machine: PositionMachine, paper: PaperRecord) -> None:
    """Post the credit of a stacked ticket, and redeem the ticket in the ticket ledger."""
    record = machine.component(TicketDesk).find_record_by_redemption(paper.id)
    machine.post(
        TICKET_IN,
        TicketIn(
            amount_cents=paper.amount_cents,
            number=paper.masked_ticket_number,
            number_commitment=""
            if record is None
            else compute_number_commitment(machine, record.ticket.number),
        ),
        entry_id=f"{paper.id}.in",
        ref=paper.id,
        state={
            MoneyKey.PAPER_BEING_STACKED: replace(paper, phase=EscrowPhase.CREDITED),
            **_build_restricted_terms_change(machine, paper.id, record),
            **build_host_ticket_state(machine, paper.id, RedemptionStatus.REDEEMED),
            **build_anchor_state(machine),
        },
    )
    machine.component(TicketDesk).commit_redemption(paper.id)


def _record_disputed_ticket(machine: PositionMachine, paper: PaperRecord) -> None:
    """Open a disputed amount for a stacked ticket that was redeemed elsewhere, or that no ticket ledger can confirm."""
    disputed_amount = DisputedAmount.create(
        machine,
        "bill_acceptor",
        f"ticket {paper.masked_ticket_number} is in the box, but this machine no longer holds its lock",
        operation_id=paper.id,
        amount_max_cents=0
        if _find_credit_kind(machine, paper) == CreditKind.RESTRICTED
        else paper.amount_cents,
    )
    machine.post(
        TICKET_IN_DISPUTED,
        TicketInDisputed(
            amount_cents=paper.amount_cents,
            number=paper.masked_ticket_number,
            disputed_amount=disputed_amount.journal_details,
        ),
        entry_id=f"{paper.id}.void",
        ref=paper.id,
        state={
            # Nothing is credited, but this phase ends the protocol with the acceptor in the same way.
            MoneyKey.PAPER_BEING_STACKED: replace(paper, phase=EscrowPhase.CREDITED),
            **disputed_amount.opening_state,
        },
    )
    post_ruling_and_raise_faults(machine)


def _find_credit_kind(machine: PositionMachine, paper: PaperRecord) -> str:
    """Return the kind of credit that the ticket being stacked becomes, from its reserved transfer."""
    ticket_reservation = next(
        reservation for reservation in machine.journal.list_pending() if reservation.id == paper.id
    )
    return ticket_reservation.transfers[0].source.rpartition(":")[2]


def void_bill_or_ticket(machine: PositionMachine, event: Event) -> None:
    """Void the reserved credit of a bill or ticket that was ordered into the box and did not reach it."""
    desk = machine.find_installed(TicketDesk)
    paper = machine.memory.require(PaperRecord, MoneyKey.PAPER_BEING_STACKED)
    reason = event.read_payload(StackingFailure).reason
    _void_reservation(machine, paper, reason)
    if paper.masked_ticket_number and desk is not None and desk.has_redemption_lock(paper.id):
        desk.abort_redemption(paper.id, reason)


def record_disputed_paper(machine: PositionMachine, event: Event) -> None:
    """Open a disputed amount for a bill or ticket that was ordered into the box and may have reached it.

    Nothing is credited. A ticket stays locked until the ruling, so that it cannot be paid twice.
    """
    paper = machine.memory.require(PaperRecord, MoneyKey.PAPER_BEING_STACKED)
    reason = event.read_payload(StackingFailure).reason
    kind = _find_credit_kind(machine, paper) if paper.masked_ticket_number else ""
    disputed_amount = DisputedAmount.create(
        machine,
        "bill_acceptor",
        reason,
        operation_id=paper.id,
        amount_max_cents=0 if kind == CreditKind.RESTRICTED else paper.amount_cents,
        masked_ticket_number=paper.masked_ticket_number,
        credit_kind=kind,
    )
    _void_reservation(machine, paper, reason, disputed_amount)
    post_ruling_and_raise_faults(machine)


def _void_reservation(
    machine: PositionMachine, paper: PaperRecord, reason: str, disputed_amount: DisputedAmount | None = None
) -> None:
    """Void the reserved credit of a bill or ticket that was not stacked, or whose stacking is disputed."""
    machine.component(EscrowedBill).amount_cents = 0
    # A disputed ticket stays pending at its host, which keeps it locked until the ruling.
    host_state = build_host_ticket_state(machine, paper.id, RedemptionStatus.NOT_STACKED)
    state = {
        MoneyKey.PAPER_BEING_STACKED: None,
        **(host_state if disputed_amount is None else disputed_amount.opening_state),
    }
    details = None if disputed_amount is None else disputed_amount.journal_details
    entry_id, ref = f"{paper.id}.void", paper.id
    if paper.masked_ticket_number:
        ticket_details = TicketNotStacked(
            amount_cents=paper.amount_cents,
            number=paper.masked_ticket_number,
            reason=reason,
            disputed_amount=details,
        )
        machine.post(TICKET_NOT_STACKED, ticket_details, entry_id=entry_id, ref=ref, state=state)
    else:
        bill_details = BillNotStacked(amount_cents=paper.amount_cents, reason=reason, disputed_amount=details)
        machine.post(BILL_NOT_STACKED, bill_details, entry_id=entry_id, ref=ref, state=state)


def record_unordered_money(machine: PositionMachine, event: Event) -> None:
    """Open a disputed amount for money that a device, such as the bill acceptor, took without an order."""
    report = event.read_payload(UnorderedMoneyTaken)
    disputed_amount = DisputedAmount.create(
        machine, report.device, report.reason, amount_max_cents=report.amount_max_cents
    )
    open_disputed_amount(machine, disputed_amount)
    post_ruling_and_raise_faults(machine)


def _build_restricted_terms_change(
    machine: PositionMachine, redemption_id: str, record: TicketRecord | None
) -> dict[str, RestrictedTerms]:
    """Return the change of the stored terms of restricted credit (expiry date and pool) when a ticket is credited.

    The terms of a restricted ticket validated by the host are stored. A restricted ticket of the ticket ledger has
    an expiry date of its own: if the stored date is earlier, for example the date of another promotion, it is
    postponed to the ticket's last valid day, or removed if the ticket never expires. ``record`` is the ledger's
    record of the ticket, or None if it has none.
    """
    host_ticket = machine.memory.read(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION)
    terms = None if host_ticket is None or host_ticket.id != redemption_id else host_ticket.restricted_terms
    if terms is not None:
        return {MoneyKey.RESTRICTED_CREDIT_TERMS: terms}
    stored_terms = machine.memory.read(RestrictedTerms, MoneyKey.RESTRICTED_CREDIT_TERMS)
    if stored_terms is None or record is None or record.ticket.kind is not TicketKind.RESTRICTED:
        return {}
    last_day = record.last_valid_day
    if not stored_terms.expiry_date or (
        last_day is not None and last_day.isoformat() <= stored_terms.expiry_date
    ):
        return {}
    expiry_date = "" if last_day is None else last_day.isoformat()
    return {MoneyKey.RESTRICTED_CREDIT_TERMS: replace(stored_terms, expiry_date=expiry_date)}


def record_paper_returned(machine: PositionMachine, event: Event) -> None:
    """Record that the acceptor returned a bill or ticket to the player; release the lock of a ticket."""
    machine.component(EscrowedBill).amount_cents = 0
    host_state: dict[str, HostTicketRecord] = {}
    locked_ticket = machine.component(LockedTicket)
    if locked_ticket.redemption is not None:
        desk, redemption_id = machine.component(TicketDesk), locked_ticket.redemption.redemption_id
        if desk.has_redemption_lock(redemption_id):
            desk.abort_redemption(redemption_id, "returned")
        host_state = build_host_ticket_state(machine, redemption_id, RedemptionStatus.NOT_STACKED)
    locked_ticket.redemption = machine.component(HostMoney).ticket_inquiry = None
    report = event.read_payload(PaperNotAccepted)
    details = PaperNotAcceptedReason(reason=report.reason)
    machine.post(TICKET_RETURNED if report.is_ticket else BILL_RETURNED, details, state=host_state)
    notice = machine.notice
    # A notice about an earlier bill or ticket does not apply to the one returned now. The notices "held_over..." say
    # that a fault was cleared while the acceptor held a bill or ticket.
    if notice is None or notice.code.endswith("_accepted") or notice.code.startswith("held_over"):
        code = "ticket_returned" if report.is_ticket else "bill_returned"
        machine.notice = Notice(code=code, severity="warning")


def record_paper_rejected(machine: PositionMachine, event: Event) -> None:
    """Record that the acceptor rejected a bill, ticket or other paper on its own."""
    machine.component(EscrowedBill).amount_cents = 0
    machine.post(BILL_REJECTED, PaperNotAcceptedReason(reason=event.read_payload(PaperNotAccepted).reason))
    machine.notice = Notice(code="bill_rejected", severity="warning")


def stack_ticket(machine: PositionMachine, event: Event) -> None:
    """Lock the ticket in escrow in the ticket ledger and order the acceptor to stack it. The credit follows later.

    If the ledger or the profile refuses the ticket, the acceptor returns it and the screen shows the reason.
    """
    desk, escrowed_ticket = machine.component(TicketDesk), event.read_payload(TicketEscrowed)
    ticket_id = machine.fresh_id("ticket")
    result = desk.begin_redemption(ticket_id, escrowed_ticket.digits)
    is_promotional = isinstance(result, TicketRedemption) and result.ticket.kind is not TicketKind.CASHABLE
    if is_promotional and not machine.profile.tickets.accepts_promotional_credit:
        desk.abort_redemption(ticket_id, "promotional credit is not accepted")
        result = TicketRefusal(TicketRefusalReason.WRONG_KIND)
    if isinstance(result, TicketRefusal):
        machine.post(TICKET_REFUSED, PaperNotAcceptedReason(reason=result.reason.value))
        machine.component(MoneyDevices).required_acceptor.return_paper(escrowed_ticket.escrow_number)
        machine.notice = Notice(code=f"ticket_refused.{result.reason.value}", severity="warning")
        return
    machine.component(LockedTicket).redemption = result
    machine.component(MoneyDevices).required_acceptor.stack(escrowed_ticket.escrow_number)


def credit_coins(machine: PositionMachine, event: Event) -> None:
    """Credit coins that have passed the acceptor, and book them into the hopper or the drop box (Monaco art. 19.5)."""
    report = event.read_payload(CoinsIn)
    coins, disputed_coins = report.coins, report.disputed_coins
    disputed_amount = None
    if disputed_coins is not None:
        disputed_amount = DisputedAmount.create(
            machine,
            "coin_acceptor",
            disputed_coins.reason,
            amount_min_cents=disputed_coins.amount_min_cents,
            amount_max_cents=disputed_coins.amount_max_cents,
        )
    account = machine.name_credit_account(CreditKind.CASHABLE)
    credit_transfers = tuple(
        Transfer("world:coin", account, cents, {"coin_cents": cents}) for cents, _ in coins
    )
    stock_transfers = tuple(
        Transfer("stock:floor", "stock:hopper" if to_hopper else "stock:coin_box", cents)
        for cents, to_hopper in coins
    )
    counts = {"coins_accepted": len(coins)} if coins else {}
    exchange_progress, transfers = report.exchange_progress, credit_transfers + stock_transfers
    if disputed_amount is None:
        machine.post(
            COIN_IN, transfers=transfers, counts=counts, state={MoneyKey.LAST_COIN_EVENT: exchange_progress}
        )
    else:
        machine.post(
            COIN_IN_DISPUTED,
            CoinInDisputed(disputed_amount=disputed_amount.journal_details),
            transfers=transfers,
            counts=counts,
            state={MoneyKey.LAST_COIN_EVENT: exchange_progress, **disputed_amount.opening_state},
        )
    post_ruling_and_raise_faults(machine)
    if coins:
        total_cents = sum(cents for cents, _ in coins)
        machine.notice = Notice(code="coins_accepted", values={"amount_cents": total_cents})

"""Tickets validated by a host: the host supplies the numbers of printed tickets and the values of inserted ones.

Tickets out: the credits are reserved first, then the host is queried. The result (a number, a refusal or a timeout) is
processed once and durably. A number is assigned to the reserved ticket, which is then printed. After a refusal or a
timeout, the ticket gets a number of the machine's own if the profile allows that (H-09); otherwise the credits are paid
by hand (F-09). After a restart before the result, the cash-out still has no number, and the host is queried again.

Tickets in: the ticket waits in escrow. After the host has replied with its value, the ticket is locked with that value
in the machine's own ledger, then the acceptor is ordered to stack it. From there it is handled like every bill:
reserved, stacked, credited (:mod:`egm.money.device_ledgers`). The host can read the result until the next ticket is
inserted. After a restart before the host's reply, the ticket is returned and nothing is reported to the host. After a
restart between reply and stack order, it is returned and reported as not stacked. After the order, the acceptor reports
where the ticket is.
"""

from dataclasses import replace
from typing import Final

from egm.devices.interface import MoneyDevices
from egm.errors import InvariantError
from egm.host.entries import (
    HOST_TICKET_RETURNED,
    REDEMPTION_RESULT_READ_BY_HOST,
    TICKET_NUMBER_STORED,
    TICKET_STACKING_ORDERED,
    HostTicketReturned,
    TicketNumberStored,
    TicketStackingOrdered,
)
from egm.host.events import (
    TicketNumberAssigned,
    TicketNumberRefused,
    TicketNumberReply,
    TicketRedemptionAuthorised,
    TicketRedemptionReply,
)
from egm.host.keys import HostKey
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.money.events import TicketEscrowed
from egm.money.host_money import HostMoney, TicketInquiry
from egm.money.keys import MoneyKey
from egm.money.pay_out import find_printed_terms, void_unnumbered_ticket
from egm.money.records.host import HostTicketRecord, RedemptionStatus
from egm.money.records.money import CashOutRecord
from egm.tickets.desk import TicketDesk
from egm.tickets.model import Ticket, TicketKind, mask_number
from egm.tickets.redemption import LockedTicket, TicketRefusal, TicketRefusalReason
from rng import RngError

#: Results that the host must read. For the others (no line to the host, misread digits) it was not queried. It was not
#: queried for NOT_NOW either while an earlier result was unread; then nothing is stored for it to read.
_REDEMPTION_STATUSES_HOST_MUST_READ: Final = frozenset(RedemptionStatus) - {
    RedemptionStatus.LINK_DOWN,
    RedemptionStatus.MISREAD,
}
#: The reason why a ticket has no number: the host did not reply in time.
HOST_TIMED_OUT_REASON: Final = "the host did not answer"
#: The reason why a ticket has no number: the host refused one.
NUMBER_REFUSED_BY_HOST_REASON: Final = "the host refused a number"


# ---------------------------------------------------------------------------------------------- guards
def host_validates(machine: PositionMachine, _: Event) -> bool:
    """Return whether a host validates tickets on this machine."""
    return machine.component(HostMoney).ticket_validator.is_host


def number_is_awaited(machine: PositionMachine, event: Event) -> bool:
    """Return whether the cash-out named in the host's reply still waits for the host's ticket number."""
    payout = find_payout_awaiting_number(machine)
    return payout is not None and payout.id == event.read_payload(TicketNumberReply).id


def inquiry_is_open(machine: PositionMachine, event: Event) -> bool:
    """Return whether the ticket named in the host's reply is in escrow and waits for that reply."""
    inquiry = machine.component(HostMoney).ticket_inquiry
    return inquiry is not None and inquiry.id == event.read_payload(TicketRedemptionReply).id


def find_payout_awaiting_number(machine: PositionMachine) -> CashOutRecord | None:
    """Return the reserved payout by ticket that waits for the host's number, or None."""
    payout = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    return (
        payout
        if payout is not None and payout.payout_method == "ticket" and not payout.masked_number
        else None
    )


# ---------------------------------------------------------------------------------------------- tickets out
def assign_host_number(machine: PositionMachine, event: Event) -> None:
    """Assign the host's number to the reserved ticket, which is printed as soon as the machine is free.

    If the number cannot be stored, the ticket is cancelled and the credits are paid by hand.
    """
    payout = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    if not _assign_number(machine, payout, event.read_payload(TicketNumberAssigned).number):
        void_unnumbered_ticket(machine, payout, "the number could not be stored")


def continue_without_host_number(machine: PositionMachine, event: Event) -> None:
    """Continue a cash-out whose ticket gets no number from the host.

    If the host did not reply in time or was removed, and the profile allows it, the ticket is printed with a number of
    the machine's own. Otherwise the ticket is cancelled and the credits are paid by hand. If the profile requires a
    central system and the host was removed, no ticket is printed, because nobody would accept it.
    """
    payout = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    reason = event.read_payload(TicketNumberRefused).reason
    is_required_host_missing = machine.profile.tickets.requires_central_system and not host_validates(
        machine, event
    )
    may_use_own_number = (
        reason != NUMBER_REFUSED_BY_HOST_REASON
        and machine.profile.host.offline_ticket_count_max > 0
        and not is_required_host_missing
    )
    if not (may_use_own_number and _assign_number(machine, payout, None)):
        void_unnumbered_ticket(machine, payout, reason)


def _assign_number(machine: PositionMachine, payout: CashOutRecord, ticket_number: str | None) -> bool:
    """Assign ``ticket_number`` to a reserved ticket, or a number of the machine's own if it is None.

    Return whether the ticket has a number now. A machine without a host cannot create one if its generator has failed.
    """
    if payout.credit_kind is None:
        raise InvariantError(f"{payout.id} is not a ticket cash-out")
    try:
        ticket = machine.component(TicketDesk).prepare_ticket(
            payout.id,
            payout.amount_cents,
            TicketKind(payout.credit_kind.value),
            denomination_cents=machine.selection.denomination_cents,
            printed_terms=find_printed_terms(machine, payout.credit_kind),
            ticket_number=ticket_number,
            journal_head=machine.journal_head,
        )
    except RngError:
        return False
    if isinstance(ticket, Ticket):
        record_ticket_number(machine, payout, ticket)
        return True
    return False


def record_ticket_number(machine: PositionMachine, payout: CashOutRecord, ticket: Ticket) -> None:
    """Record in the journal the last digits of a reserved ticket's number.

    The full number is left out, because people read the journal and the ticket is still money.
    """
    machine.post(
        TICKET_NUMBER_STORED,
        TicketNumberStored(id=payout.id, number=ticket.masked_number),
        entry_id=f"{payout.id}.numbered",
        state={MoneyKey.PAY_OUT: replace(payout, masked_number=ticket.masked_number)},
    )


# ---------------------------------------------------------------------------------------------- tickets in
def query_ticket_value(machine: PositionMachine, event: Event) -> None:
    """Hold the inserted ticket in escrow and open the query for its value, or return the ticket to the player.

    The line of the host offers the open query to the host. The ticket is returned if its number cannot be a ticket's,
    if the host is offline, or if the host has not yet read the result of the last ticket that it authorised.
    """
    host_money, escrowed_ticket = machine.component(HostMoney), event.read_payload(TicketEscrowed)
    inquiry = TicketInquiry(machine.fresh_id("ticket"), escrowed_ticket.escrow_number, escrowed_ticket.digits)
    machine.notice = None
    if not machine.component(TicketDesk).is_ticket_number(escrowed_ticket.digits):
        _return_ticket(machine, inquiry, RedemptionStatus.MISREAD, TicketRefusalReason.MISREAD)
    elif not host_money.is_online:
        _return_ticket(machine, inquiry, RedemptionStatus.LINK_DOWN, TicketRefusalReason.HOST_DOWN)
    elif _has_unread_authorised_result(machine):
        _return_ticket(machine, inquiry, RedemptionStatus.NOT_NOW, TicketRefusalReason.NOT_NOW)
    else:
        host_money.ticket_inquiry = inquiry
        machine.component(MoneyDevices).required_acceptor.hold_in_escrow(escrowed_ticket.escrow_number)
        machine.notice = Notice(code="ticket_is_checked")


def _has_unread_authorised_result(machine: PositionMachine) -> bool:
    """Return whether the host has not yet read the result of a ticket it authorised.

    The next ticket would overwrite that result, and the host would not learn whether the ticket was redeemed.
    """
    host_ticket = machine.memory.read(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION)
    return host_ticket is not None and bool(host_ticket.credit_kind) and not host_ticket.host_has_read


def stack_authorised_ticket(machine: PositionMachine, event: Event) -> None:
    """Lock the escrowed ticket in the ticket ledger at the value that the host authorised, and order it to be stacked.

    If the machine's ticket ledger refuses the ticket, return it to the player.
    """
    inquiry, reply = _require_inquiry(machine), event.read_payload(TicketRedemptionAuthorised)
    kind, amount_cents = reply.kind, reply.amount_cents
    result = machine.component(TicketDesk).begin_host_redemption(
        inquiry.id, inquiry.ticket_number, TicketKind(kind.value), amount_cents
    )
    if isinstance(result, TicketRefusal):
        _return_ticket(machine, inquiry, RedemptionStatus.NOT_NOW, result.reason)
        return
    machine.component(HostMoney).ticket_inquiry = None
    machine.component(LockedTicket).redemption = result
    machine.post(
        TICKET_STACKING_ORDERED,
        TicketStackingOrdered(
            id=inquiry.id, number=result.ticket.masked_number, amount_cents=amount_cents, kind=kind
        ),
        state={
            HostKey.LAST_TICKET_REDEMPTION: HostTicketRecord(
                id=inquiry.id,
                masked_number=result.ticket.masked_number,
                amount_cents=amount_cents,
                credit_kind=kind.value,
                expiry_date=reply.expiry_date,
                restricted_pool=reply.restricted_pool,
                status=RedemptionStatus.PENDING,
                host_has_read=False,
            )
        },
    )
    machine.component(MoneyDevices).required_acceptor.stack(inquiry.escrow_number)


def return_queried_ticket(machine: PositionMachine, event: Event) -> None:
    """Return the ticket in escrow, about which the host was queried, to the player with a status and a reason.

    The host refused it, did not reply, or replied when the machine could not accept it.
    """
    reply = event.read_payload(TicketRedemptionReply)
    _return_ticket(machine, _require_inquiry(machine), reply.status, reply.reason)


def _return_ticket(
    machine: PositionMachine, inquiry: TicketInquiry, status: RedemptionStatus, reason: TicketRefusalReason
) -> None:
    """Return the inserted ticket to the player with ``reason``, and store ``status`` for the host to read.

    The status is not stored while the host has not read the result of a ticket that it authorised.
    """
    host_money = machine.component(HostMoney)
    host_money.ticket_inquiry, host_money.last_returned_ticket_number = None, inquiry.ticket_number
    host_expects_result = status in _REDEMPTION_STATUSES_HOST_MUST_READ
    number = mask_number(inquiry.ticket_number)
    host_ticket = HostTicketRecord(
        id=inquiry.id,
        masked_number=number,
        amount_cents=0,
        credit_kind="",
        status=status,
        host_has_read=not host_expects_result,
    )
    machine.post(
        HOST_TICKET_RETURNED,
        HostTicketReturned(id=inquiry.id, number=number, status=status, reason=reason.value),
        state={} if _has_unread_authorised_result(machine) else {HostKey.LAST_TICKET_REDEMPTION: host_ticket},
    )
    machine.component(MoneyDevices).required_acceptor.return_paper(inquiry.escrow_number)
    machine.notice = Notice(code=f"ticket_refused.{reason.value}", severity="warning")


def _require_inquiry(machine: PositionMachine) -> TicketInquiry:
    """Return the open query about the ticket in escrow. Raises InvariantError if none exists."""
    host_money = machine.component(HostMoney)
    if host_money.ticket_inquiry is None:
        raise InvariantError("the host replied about a ticket, but no query is open")
    return host_money.ticket_inquiry


def record_result_read(machine: PositionMachine) -> None:
    """Record that the host has read the result of the last ticket, so that it is not reported again."""
    host_ticket = machine.memory.read(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION)
    if host_ticket is not None and not host_ticket.host_has_read:
        machine.post(
            REDEMPTION_RESULT_READ_BY_HOST,
            state={HostKey.LAST_TICKET_REDEMPTION: replace(host_ticket, host_has_read=True)},
        )

"""Tickets through a host: a number asked for on the way out, a value asked for on the way in.

**Out.** The credits are reserved first, then the host is asked. Whatever comes (a number, a refusal,
silence), it is taken once and durably: a number is given to the reserved cash-out and printed, a refusal or
silence leads to the machine's own number where the place allows that (H-09), or to the attendant's hand
(F-09). A restart in between finds the cash-out without a number, and asks again.

**In.** The ticket waits in escrow. When the host has said what it is worth, the ticket is locked in the
machine's own ledger with that worth, then ordered into the box, and from there it goes like every other
paper: reserved, stacked, credited (:mod:`egm.money.device_ledgers`). What became of it is kept for the host
to read until the next ticket. A restart before the order gives the paper back and tells the host nothing;
after it, the acceptor says where the paper is.
"""

from dataclasses import replace
from typing import Final

from egm.devices.interface import Devices
from egm.errors import InvariantError
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.money.host.model import HostMoney, Inquiry, Redeeming
from egm.money.host.records import HostTicketRecord
from egm.money.pay_out import give_up_unprinted, printed_terms
from egm.records.keys import HostKey, MoneyKey
from egm.records.money import CashOutRecord
from egm.tickets.desk import TicketDesk
from egm.tickets.model import Ticket, TicketKind, mask
from egm.tickets.redemption import LockedTicket, Reason, Refusal

#: What the host is told of its own accord: it was asked, and waits to know.
_ANSWERS: Final = frozenset(Redeeming) - {Redeeming.LINK_DOWN, Redeeming.MISREAD}
#: Why the host gave no number.
SILENT: Final = "the host did not answer"
DENIED: Final = "the host refused a number"


# ---------------------------------------------------------------------------------------------- guards
def host_validates(machine: Machine, _: Event) -> bool:
    """A host says what tickets are worth here."""
    return machine.state(HostMoney).validation.by_host


def number_is_awaited(machine: Machine, event: Event) -> bool:
    """This very cash-out is reserved and has no number yet."""
    pay_out = awaited(machine)
    return pay_out is not None and pay_out.id == event.data.get("id")


def inquiry_is_open(machine: Machine, event: Event) -> bool:
    """This very ticket lies in escrow and waits for the host's word."""
    inquiry = machine.state(HostMoney).inquiry
    return inquiry is not None and inquiry.id == event.data.get("id")


def awaited(machine: Machine) -> CashOutRecord | None:
    """The cash-out that waits for a number, or None."""
    pay_out = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    return pay_out if pay_out is not None and pay_out.way == "ticket" and not pay_out.number else None


# ---------------------------------------------------------------------------------------------- out
def take_number(machine: Machine, event: Event) -> None:
    """Number the reserved ticket as the host says; it is printed as soon as the machine is free to."""
    pay_out = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    if not _number(machine, pay_out, str(event.data["number"])):
        give_up_unprinted(machine, pay_out, "the number could not be kept")


def do_without_number(machine: Machine, event: Event) -> None:
    """The machine's own number, where that is allowed and the host was silent; else the credits go back."""
    pay_out, why = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT), str(event.data["why"])
    allowed = why != DENIED and machine.profile.host.offline_tickets > 0
    if not (allowed and _number(machine, pay_out, None)):
        give_up_unprinted(machine, pay_out, why)


def _number(machine: Machine, pay_out: CashOutRecord, number: str | None) -> bool:
    """Give the reserved ticket this number, or one of the machine's own; whether it could be had."""
    if pay_out.kind is None:
        raise InvariantError(f"{pay_out.id} is no ticket")
    ticket = machine.state(TicketDesk).prepare(
        pay_out.id,
        pay_out.amount_cents,
        TicketKind(pay_out.kind.value),
        denomination_cents=machine.selection.denomination_cents,
        printed=printed_terms(machine, pay_out.kind),
        number=number,
        witness=machine.witness,
    )
    if isinstance(ticket, Ticket):
        note_number(machine, pay_out, ticket)
        return True
    return False


def note_number(machine: Machine, pay_out: CashOutRecord, ticket: Ticket) -> None:
    """Record that a reserved cash-out has its number (its last digits: a journal is shown to people)."""
    machine.record(
        "voucher.numbered",
        transaction_id=f"{pay_out.id}.numbered",
        state={MoneyKey.PAY_OUT: replace(pay_out, number=ticket.masked)},
        details={"id": pay_out.id, "number": ticket.masked},
    )


# ---------------------------------------------------------------------------------------------- in
def ask_host(machine: Machine, event: Event) -> None:
    """Hold the ticket in escrow and ask; without a host to ask, give it back at once."""
    money = machine.state(HostMoney)
    escrow, digits = int(event.data["escrow"]), str(event.data["digits"])
    inquiry = Inquiry(machine.fresh_id("ticket"), escrow, digits)
    machine.notice = None
    if not machine.state(TicketDesk).reads(digits):
        _reject(machine, inquiry, Redeeming.MISREAD, Reason.MISREAD)
    elif not money.online:
        _reject(machine, inquiry, Redeeming.LINK_DOWN, Reason.HOST_DOWN)
    elif _is_owed_a_word(machine):
        _reject(machine, inquiry, Redeeming.NOT_NOW, Reason.NOT_NOW)
    else:
        money.inquiry = inquiry
        machine.state(Devices).the_acceptor.hold(escrow)
        machine.notice = Notice(code="ticket_is_checked")


def _is_owed_a_word(machine: Machine) -> bool:
    """Whether a ticket the host has called good has come to its end, and the host has not read how.

    Another ticket would take its place, and the host would never know whether it has been paid for.
    """
    stored = machine.memory.read(HostTicketRecord, HostKey.TICKET)
    return stored is not None and bool(stored.kind) and not stored.told


def stack_authorised(machine: Machine, event: Event) -> None:
    """Lock the ticket with the worth the host gave it, and order it into the box."""
    inquiry, values = _the_inquiry(machine), event.data
    kind, amount_cents = CreditKind(values["kind"]), int(values["amount_cents"])
    answer = machine.state(TicketDesk).admit(inquiry.id, inquiry.digits, TicketKind(kind.value), amount_cents)
    if isinstance(answer, Refusal):
        _reject(machine, inquiry, Redeeming.NOT_NOW, answer.reason)
        return
    machine.state(HostMoney).inquiry = None
    machine.state(LockedTicket).redemption = answer
    machine.record(
        "voucher.authorised",
        state={
            HostKey.TICKET: HostTicketRecord(
                id=inquiry.id,
                number=answer.ticket.masked,
                amount_cents=amount_cents,
                kind=kind.value,
                expires=str(values.get("expires", "")),
                pool=int(values.get("pool", 0)),
                status=Redeeming.PENDING,
                told=False,
            )
        },
        details={
            "id": inquiry.id,
            "number": answer.ticket.masked,
            "amount_cents": amount_cents,
            "kind": kind.value,
        },
    )
    machine.state(Devices).the_acceptor.stack(inquiry.escrow)


def return_inquired(machine: Machine, event: Event) -> None:
    """Give the ticket back: the host will not have it, did not answer, or answered at a wrong moment."""
    status = Redeeming(event.data.get("status", Redeeming.NOT_NOW))
    reason = Reason(event.data.get("reason", Reason.NOT_NOW))
    _reject(machine, _the_inquiry(machine), status, reason)


def _reject(machine: Machine, inquiry: Inquiry, status: Redeeming, reason: Reason) -> None:
    money = machine.state(HostMoney)
    money.inquiry, money.answered = None, inquiry.digits
    heard = status in _ANSWERS
    number = mask(inquiry.digits)
    told = {"id": inquiry.id, "number": number, "status": status.value}
    outcome = HostTicketRecord(
        id=inquiry.id, number=number, amount_cents=0, kind="", status=status, told=not heard
    )
    machine.record(
        "voucher.refused",
        counts={"vouchers_refused": 1},
        state={} if _is_owed_a_word(machine) else {HostKey.TICKET: outcome},
        details={**told, "reason": reason.value},
    )
    machine.state(Devices).the_acceptor.return_bill(inquiry.escrow)
    machine.notice = Notice(code=f"ticket_refused.{reason.value}", severity="warning")


def _the_inquiry(machine: Machine) -> Inquiry:
    money = machine.state(HostMoney)
    if money.inquiry is None:
        raise InvariantError("an answer about a ticket nobody asked about")
    return money.inquiry


def note_told(machine: Machine) -> None:
    """The host has heard what became of the ticket: it is not told of its own accord any more."""
    stored = machine.memory.read(HostTicketRecord, HostKey.TICKET)
    if stored is not None and not stored.told:
        machine.record("voucher.told", state={HostKey.TICKET: replace(stored, told=True)})

"""Value out: reserved when the player asks, settled when it has left.

The way out is chosen when the player asks, in the profile's order: ticket, coins, or the attendant's hand.
The credits leave the player's account only with the settlement; while they are reserved they can neither be
played nor paid a second time. A way that fails gives them back, and they are paid by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from egm.config.cabinet_file import Validation
from egm.devices.interface import Devices, PrintState, TicketJob
from egm.errors import InvariantError
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType, SupersededBy
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.money import disputed
from egm.money.cash_out_rest import (
    end_rest,
    left_by_hand,
    left_over,
    paid_in_coins,
    rest_goes_on,
    rest_has_ended,
)
from egm.money.disputed import DisputedAmount, open_dispute
from egm.money.host.model import HostMoney, into_ring
from egm.money.host.records import RestrictedTerms
from egm.money.ticket_ledger import anchor, committed, keep_head
from egm.money.ticket_terms import ticket_terms
from egm.money.ways_out import no_ticket, payable_coins
from egm.record_codec import to_json
from egm.records.keys import MoneyKey
from egm.records.money import (
    CashOutRecord,
    CashOutRest,
    CoinsGone,
    HandpayRecord,
    PaidInCoins,
    PrintingRecord,
)
from egm.records.tables import standing_tables
from egm.staff.service.device_tests import is_test, test_job
from egm.staff.slips import is_slip, slip_job
from egm.tickets.desk import Printed, TicketDesk
from egm.tickets.model import Ticket, TicketKind
from egm.tickets.redemption import Refusal
from egm.tickets.templates import Template, load_template
from meters import Phase, Transfer
from rng import RngError


# ---------------------------------------------------------------------------------------------- by ticket
def reserve_ticket(machine: Machine, _: Event) -> None:
    """Have a ticket numbered, set the whole balance aside for it, and print."""
    _reserve(machine, CreditKind.CASHABLE, _into_money(machine))


def reserve_restricted_ticket(machine: Machine, _: Event) -> None:
    """The same with the restricted credit, on a ticket of its own kind."""
    _reserve(machine, CreditKind.RESTRICTED, machine.kind_cents(CreditKind.RESTRICTED))


def _reserve(machine: Machine, kind: CreditKind, amount_cents: int) -> None:
    """Set credits aside for a ticket: numbered here, or waiting for a number from the host."""
    pay_out_id, number = machine.fresh_id("cashout"), ""
    if machine.state(HostMoney).validation is not Validation.SYSTEM:
        ticket = _own_number(machine, pay_out_id, kind, amount_cents)
        if isinstance(ticket, Refusal):
            if kind is CreditKind.RESTRICTED:  # it stays on the meter: it is never paid by hand
                machine.notice = Notice(code="restricted_stays", severity="warning")
                return
            raise SupersededBy(Event(EventType.NO_PAYOUT_DEVICE, {"why": ticket.reason.value}))
        number = ticket.masked
    machine.record(
        "voucher.request",
        transaction_id=pay_out_id,
        phase=Phase.RESERVE,
        transfers=(Transfer(machine.credit(kind), f"out:voucher:{kind}", amount_cents),),
        state={
            MoneyKey.PAY_OUT: CashOutRecord(
                id=pay_out_id,
                way="ticket",
                kind=kind,
                pool=_pool(machine, kind),
                amount_cents=amount_cents,
                number=number,
                language=machine.selection.language,
                in_coins=paid_in_coins(machine),
            ),
            MoneyKey.GOES_ON: None,
        },
    )
    print_ticket(machine)


def _pool(machine: Machine, kind: CreditKind) -> int:
    """The pool a host has given restricted credit from; 0 for every other credit."""
    terms = machine.memory.read(RestrictedTerms, MoneyKey.RESTRICTED)
    return terms.pool if kind is CreditKind.RESTRICTED and terms is not None else 0


def _own_number(machine: Machine, pay_out_id: str, kind: CreditKind, amount_cents: int) -> Ticket | Refusal:
    try:
        return machine.state(TicketDesk).prepare(
            pay_out_id,
            amount_cents,
            TicketKind(kind.value),
            denomination_cents=machine.selection.denomination_cents,
            printed=printed_terms(machine, kind),
            witness=machine.witness,
        )
    except RngError as error:
        raise SupersededBy(Event(EventType.CHANCE_FAILED, {"detail": str(error)})) from error


def printed_terms(machine: Machine, kind: CreditKind) -> Printed:
    """What a ticket of this kind says of its house and its last day, as the host has it where it says so.

    Restricted credit that has a last day of its own takes it along.
    """
    own, terms = machine.profile.tickets.valid_days, ticket_terms(machine)
    days = terms.valid_days(kind, own)
    restricted = kind is CreditKind.RESTRICTED
    credit = machine.memory.read(RestrictedTerms, MoneyKey.RESTRICTED) if restricted else None
    if credit is not None and credit.expires:
        days = max(0, (date.fromisoformat(credit.expires) - machine.local_date).days)
    return Printed(terms.house(machine.identity.house), days)


def print_ticket(machine: Machine) -> None:
    """Give the reserved ticket to the printer, unless it has it: once a job, also after a restart.

    A ticket that waits for the host's number waits on, unless the machine has no such host any more.
    """
    pay_out = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    printing = machine.memory.read(PrintingRecord, MoneyKey.PRINT)
    if pay_out is None or pay_out.way != "ticket" or is_disputed(printing):
        return
    doubt = printing is not None and printing.state is PrintState.PRINTING
    if not pay_out.number:
        if machine.state(HostMoney).validation is Validation.SYSTEM:
            return
        values = {"id": pay_out.id, "why": "no host numbers tickets here"}
        raise SupersededBy(Event(EventType.NUMBER_REFUSED, values))
    if ticket_of(machine, pay_out.id) is None:  # its ledger is lost: no printer can be given it, or asked
        why = "the ticket ledger does not know it"
        raise SupersededBy(Event(EventType.TICKET_FAILED, {"why": why, "doubt": doubt}))
    printer = machine.state(Devices).printer
    if printer is None:  # nor any more
        raise SupersededBy(Event(EventType.TICKET_FAILED, {"why": "no printer", "doubt": doubt}))
    if printing is not None:
        return
    job = _job(machine, pay_out.id, pay_out.language)
    try:
        printer.print_ticket(job)
    except ValueError as error:
        raise SupersededBy(Event(EventType.TICKET_FAILED, {"why": str(error)})) from error


def open_job(machine: Machine) -> TicketJob | None:
    """The ticket the printer has, made again from the ticket ledger: the journal holds no whole number."""
    printing = machine.memory.read(PrintingRecord, MoneyKey.PRINT)
    if printing is None:
        return None
    if is_test(printing.id):
        return test_job(machine.profile.id, printing.id)
    if is_slip(printing.id):
        return slip_job(machine, printing.id)
    if ticket_of(machine, printing.id) is None:
        return None
    return _job(machine, printing.id, printing.language)


def _job(machine: Machine, pay_out_id: str, language: str) -> TicketJob:
    return _template(machine.profile.id).job(pay_out_id, _ticket(machine, pay_out_id), language)


def ticket_of(machine: Machine, pay_out_id: str) -> Ticket | None:
    """The ticket of a cash-out; None where the ledger does not know it, or there is none."""
    desk = machine.installed(TicketDesk)
    return None if desk is None else desk.ticket_of(pay_out_id)


@cache
def _template(place: str) -> Template:
    """A place's ticket, read once: the printer's driver asks for the open job at every poll."""
    return load_template(place)


def _ticket(machine: Machine, pay_out_id: str) -> Ticket:
    ticket = ticket_of(machine, pay_out_id)
    if ticket is None:
        raise InvariantError(f"the ticket of {pay_out_id} is not in the ticket ledger")
    return ticket


def settle_ticket(machine: Machine, _: Event) -> None:
    """The bar code is printed: the credits have become the ticket (AGE 5.1.3)."""
    pay_out = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    printing = machine.memory.require(PrintingRecord, MoneyKey.PRINT)
    number = _ticket(machine, pay_out.id).number
    ring = into_ring(machine.journal, pay_out.id) if machine.state(HostMoney).validation.by_host else {}
    machine.record(
        "voucher.out",
        transaction_id=f"{pay_out.id}.printed",
        phase=Phase.SETTLE,
        ref=pay_out.id,
        state={
            MoneyKey.PAY_OUT: None,
            MoneyKey.PRINT: replace(printing, state=PrintState.BARCODE_DONE),
            **ring,
            **anchor(machine),
        },
        details={**to_json(pay_out), **committed(machine, number)},
    )
    machine.state(TicketDesk).printed(number)
    keep_head(machine)
    machine.notice = Notice(code="ticket_printed", values={"amount_cents": pay_out.amount_cents})


def give_ticket_up(machine: Machine, event: Event) -> None:
    """It was not printed: its number is void, and the credits are paid by hand.

    Where nobody can tell (``doubt``), its number stays locked and the credits set aside, for a person.
    """
    pay_out = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    why = str(event.data.get("why", ""))
    if event.data.get("doubt"):
        _dispute_ticket(machine, pay_out, why)
        return
    ticket = ticket_of(machine, pay_out.id)
    _void(machine, pay_out, {MoneyKey.PRINT: None}, why)
    if ticket is not None:
        machine.state(TicketDesk).failed(ticket.number, why)
    _pay_otherwise(machine, pay_out)


def _dispute_ticket(machine: Machine, pay_out: CashOutRecord, why: str) -> None:
    printing = machine.memory.require(PrintingRecord, MoneyKey.PRINT)
    in_doubt = DisputedAmount.about(
        machine,
        "ticket_printer",
        why,
        subject=pay_out.id,
        most_cents=pay_out.amount_cents,
        ticket=pay_out.number or "",
        kind=str(pay_out.kind),
    )
    machine.record(
        "ticket.disputed",
        state={MoneyKey.PRINT: replace(printing, state=PrintState.DISPUTED), **in_doubt.state},
        details=in_doubt.details,
    )
    disputed.finish(machine)


def is_disputed(printing: PrintingRecord | None) -> bool:
    """Whether the printer's ticket is a person's to decide about, or has been decided about."""
    return printing is not None and printing.state in {PrintState.DISPUTED, PrintState.FAILED}


def ticket_ruling_is_unfinished(machine: Machine, _: Event) -> bool:
    """A person has decided of a ticket in dispute, and the cash-out has not ended that way yet.

    The ticket before may still be in the printer's path, its bar code done: it is of another cash-out.
    """
    pay_out = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    printing = machine.memory.read(PrintingRecord, MoneyKey.PRINT)
    decided = {PrintState.FAILED, PrintState.BARCODE_DONE}
    if pay_out is None or printing is None or printing.id != pay_out.id:
        return False
    return printing.state in decided


def end_ticket_ruling(machine: Machine, event: Event) -> None:
    """It was printed, and is money; or it was not, or lies with the staff, and is paid by hand."""
    printing = machine.memory.require(PrintingRecord, MoneyKey.PRINT)
    if printing.state is PrintState.BARCODE_DONE:
        settle_ticket(machine, event)
    else:
        give_ticket_up(machine, Event(EventType.TICKET_FAILED, {"why": "a person decided so"}))


def give_up_unprinted(machine: Machine, pay_out: CashOutRecord, why: str) -> None:
    """A reserved ticket that never got a number: the credits are paid by hand."""
    _void(machine, pay_out, {}, why)
    _pay_otherwise(machine, pay_out)


def _pay_otherwise(machine: Machine, pay_out: CashOutRecord) -> None:
    if pay_out.kind is CreditKind.RESTRICTED:
        machine.notice = Notice(code="restricted_stays", severity="warning")
    else:
        open_cancelled_credit(machine, Event(EventType.NO_PAYOUT_DEVICE))


# ---------------------------------------------------------------------------------------------- by coins
def reserve_coins(machine: Machine, _: Event) -> None:
    """Set aside what the hopper can pay in whole coins, and start it."""
    _into_money(machine)
    coins = payable_coins(machine)
    amount_cents = coins * machine.profile.coins.hopper_cents
    pay_out_id = machine.fresh_id("cashout")
    machine.record(
        "coins.request",
        transaction_id=pay_out_id,
        phase=Phase.RESERVE,
        transfers=_coins_leave(machine, amount_cents, amount_cents),
        state={
            MoneyKey.PAY_OUT: CashOutRecord(
                id=pay_out_id,
                way="coins",
                amount_cents=amount_cents,
                coins=coins,
                in_coins=paid_in_coins(machine),
            ),
            MoneyKey.GOES_ON: None,
        },
    )
    start_hopper(machine)


@dataclass(slots=True)
class HopperPayout:
    """The payout the hopper's driver was given since this machine started."""

    asked: str = ""


def start_hopper(machine: Machine) -> None:
    """Order the reserved coins, unless they are ordered: once a payout, also after a restart."""
    pay_out = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    if pay_out is None or pay_out.way != "coins" or machine.memory.get(MoneyKey.HOPPER) is not None:
        return
    given, hopper = machine.state(HopperPayout), machine.state(Devices).hopper
    if given.asked == pay_out.id:  # its driver has it, and will record it before a coin leaves
        return
    if hopper is None:
        raise SupersededBy(Event(EventType.COINS_PAID, {"paid_coins": 0}))
    hopper.pay(pay_out.id, pay_out.coins)
    given.asked = pay_out.id


def settle_coins(machine: Machine, event: Event) -> None:
    """The hopper has stopped: what it counted has left; what it could not pay is paid by hand.

    Where nobody knows what became of the rest (``doubt``), it is neither: it is set aside for a person.
    """
    pay_out = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    paid, doubt = int(event.data["paid_coins"]), str(event.data.get("doubt", ""))
    coin_cents = machine.profile.coins.hopper_cents
    in_coins = _with_coins(machine, pay_out, paid * coin_cents)
    if paid == pay_out.coins:
        rest_cents = machine.cash_cents if machine.profile.pay_out.rest == "next_way" else 0
        rest = CashOutRest(rest_cents=rest_cents, in_coins=in_coins)
        machine.record(
            "coins.out",
            transaction_id=f"{pay_out.id}.paid",
            phase=Phase.SETTLE,
            ref=pay_out.id,
            state={MoneyKey.PAY_OUT: None, MoneyKey.HOPPER: None, **left_over(rest)},
            details={**to_json(pay_out), "paid_coins": paid},
        )
        keep_head(machine)
        machine.notice = Notice(code="coins_paid", values={"amount_cents": pay_out.amount_cents})
        return
    gone = CoinsGone(
        id=pay_out.id,
        way="coins",
        amount_cents=pay_out.amount_cents,
        coins=pay_out.coins,
        paid_coins=paid,
        coin_cents=coin_cents,
        doubt=doubt,
        in_coins=in_coins,
    )
    some = gone if paid or doubt else None
    _void(
        machine,
        pay_out,
        {MoneyKey.HOPPER: None, MoneyKey.COINS_GONE: some},
        f"short pay: {paid} of {pay_out.coins} coins",
    )
    post_coins(machine, event)
    keep_head(machine)
    if machine.cash_cents:
        open_cancelled_credit(machine, event)


def cash_out_is_unfinished(machine: Machine, _: Event) -> bool:
    """Coins left before a payout was given up and are not posted yet, or a rest is none any more."""
    return machine.memory.get(MoneyKey.COINS_GONE) is not None or rest_has_ended(machine)


def end_cash_out(machine: Machine, event: Event) -> None:
    """What follows from either."""
    post_coins(machine, event)
    if rest_has_ended(machine):
        end_rest(machine)


def post_coins(machine: Machine, _: Event) -> None:
    """Post the coins that left before a payout was given up: at once, or after a restart in between."""
    gone = machine.memory.read(CoinsGone, MoneyKey.COINS_GONE)
    if gone is None:
        return
    counted_cents, paid_cents = gone.counted_cents, gone.paid_cents
    if gone.doubt and paid_cents < gone.amount_cents:
        rest_cents = gone.amount_cents - paid_cents
        in_doubt = DisputedAmount.about(
            machine,
            "hopper",
            gone.doubt,
            subject=gone.id,
            most_cents=rest_cents,
            held_cents=rest_cents,
        )
        open_dispute(machine, in_doubt)
        disputed.finish(machine)
    details = {key: value for key, value in to_json(gone).items() if key != "coin_cents" and value != ""}
    machine.record(
        "coins.out",
        transaction_id=f"{gone.id}.paid",
        transfers=_coins_leave(machine, paid_cents, counted_cents) if counted_cents else (),
        state={MoneyKey.COINS_GONE: None, **left_by_hand(machine.cash_cents - paid_cents, gone.in_coins)},
        details=details,
    )


def record_stray_coins(machine: Machine, event: Event) -> None:
    """Coins have left the hopper that nobody ordered: they are out of its stock, and a person looks."""
    cents = int(event.data["coins"]) * machine.profile.coins.hopper_cents
    left = (Transfer("stock:hopper", "stock:floor", cents),) if cents else ()
    stray = DisputedAmount.about(machine, "hopper", str(event.data["why"]))
    open_dispute(machine, stray, left)
    disputed.finish(machine)


def _with_coins(machine: Machine, pay_out: CashOutRecord, counted_cents: int) -> PaidInCoins:
    """What has come of a cash-out as coins with these, and what was owed before the first of them."""
    before_cents = 0 if pay_out.in_coins is None else pay_out.in_coins.paid_cents
    return PaidInCoins(
        owed_cents=before_cents + pay_out.amount_cents + machine.cash_cents,
        paid_cents=before_cents + min(counted_cents, pay_out.amount_cents),
    )


def _coins_leave(machine: Machine, paid_cents: int, counted_cents: int) -> tuple[Transfer, ...]:
    """The player's money for the coins he is paid, and every coin counted out, out of the hopper's stock."""
    return (
        Transfer(_cashable(machine), "out:hopper", paid_cents),
        Transfer("stock:hopper", "stock:floor", counted_cents),
    )


def _void(machine: Machine, pay_out: CashOutRecord, state: Mapping[str, object], why: str) -> None:
    """Give a way up; what it was to pay of a rest, unless coins of it have left, is a rest again."""
    is_rest = pay_out.in_coins is not None and state.get(MoneyKey.COINS_GONE) is None
    rest_cents = machine.cash_cents + pay_out.amount_cents if is_rest else 0
    machine.record(
        "cashout.void",
        transaction_id=f"{pay_out.id}.void",
        phase=Phase.VOID,
        ref=pay_out.id,
        state={MoneyKey.PAY_OUT: None, **state, **left_by_hand(rest_cents, pay_out.in_coins)},
        details={**to_json(pay_out), "why": why},
    )


# ---------------------------------------------------------------------------------------------- by hand
def open_cancelled_credit(machine: Machine, _: Event) -> None:
    """Set all the player's money aside as a cancelled credit, to be paid by an attendant (NZ 1.20.2)."""
    amount_cents = _into_money(machine)
    handpay_id = machine.fresh_id("handpay")
    why = no_ticket(machine, amount_cents)
    machine.record(
        "handpay.pending",
        transaction_id=handpay_id,
        phase=Phase.RESERVE,
        transfers=(Transfer(_cashable(machine), "out:handpay_cancelled_credit", amount_cents),),
        state={
            MoneyKey.HANDPAY: HandpayRecord(
                id=handpay_id,
                kind="cancelled_credit",
                amount_cents=amount_cents,
                why=why,
                in_coins=paid_in_coins(machine),
            ),
            MoneyKey.GOES_ON: None,
        },
    )


# ---------------------------------------------------------------------------------------------- in between
def _cashable(machine: Machine) -> str:
    """The account of the player's own money."""
    return machine.credit(CreditKind.CASHABLE)


def _into_money(machine: Machine) -> int:
    """Make nonrestricted credit the player's own, and return all there is of it, in minor units.

    What leaves the machine then leaves in one transfer, and is counted as one.
    """
    promotional_cents = machine.kind_cents(CreditKind.NONRESTRICTED)
    if promotional_cents:
        flow = Transfer(machine.credit(CreditKind.NONRESTRICTED), _cashable(machine), promotional_cents)
        machine.record("credit.converted", transfers=(flow,))
    return machine.kind_cents(CreditKind.CASHABLE)


def payout_may_begin(machine: Machine, _: Event) -> bool:
    """There is money that may leave by itself.

    A cash-out that its host has just not taken stays: the host would be asked without end.
    """
    host = machine.state(HostMoney)
    return machine.cash_cents > 0 and not (host.online and host.not_taken_cents == machine.credit_cents)


def payout_is_due(machine: Machine, event: Event) -> bool:
    """The player is paid without asking, from the place's balance on; bets that stand are played first."""
    limit_cents = machine.profile.pay_out.automatic_cents
    too_much = limit_cents is not None and machine.cash_cents >= limit_cents and not standing_tables(machine)
    return payout_may_begin(machine, event) and (rest_goes_on(machine, event) or too_much)


def payout_is_under_way(machine: Machine, _: Event) -> bool:
    """Credits are set aside for a payout."""
    return machine.memory.get(MoneyKey.PAY_OUT) is not None


def resume_payout(machine: Machine, _: Event) -> None:
    """Go on with a payout that a restart interrupted before its device had it."""
    print_ticket(machine)
    start_hopper(machine)

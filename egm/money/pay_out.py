"""Payouts: credits are reserved when the player cashes out, and settled when they have left the machine.

A *cash-out* is the player's request to get the credits; a *payout* is one attempt to pay them by one method, so a
cash-out may have several payouts. ``payout`` is the stored :class:`CashOutRecord` of the payout in progress, whose id
starts with "cashout".

The payout method is chosen at the request, in the profile's order: ticket, coins, hand-pay. The credits leave
the player's account only at the settlement. While they are reserved, they can neither be played nor paid a
second time. If a method fails, the credits are returned and paid by hand; restricted credit stays on the meter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from egm.config.cabinet_file import TicketValidator
from egm.devices.interface import MoneyDevices, PrintState, TicketJob
from egm.errors import InvariantError
from egm.host.events import TicketNumberRefused
from egm.integrity.events import FailureDetail
from egm.kernel.credits import CreditKind
from egm.kernel.entries import EntryDeclaration
from egm.kernel.events import Event, EventReplacement, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.money.cash_out_remainder import (
    build_handpay_remainder_state,
    build_remainder_state,
    clear_remainder,
    find_coin_payout_progress,
    has_outdated_remainder,
    unpaid_remainder_is_stored,
)
from egm.money.disputed_amounts import DisputedAmount, open_disputed_amount, post_ruling_and_raise_faults
from egm.money.entries import (
    COIN_CASH_OUT_REQUESTED,
    COINS_CASH_OUT_VOID,
    COINS_OUT,
    COINS_OUT_AFTER_VOID,
    CREDIT_CONVERTED,
    HANDPAY_PENDING,
    TICKET_CASH_OUT_REQUESTED,
    TICKET_CASH_OUT_VOID,
    TICKET_OUT,
    TICKET_PRINT_DISPUTED,
    CashOutVoided,
    CoinsOut,
    CoinsOutAfterVoid,
    TicketOut,
)
from egm.money.events import CoinsPaid, NoPayoutDevice, PrintFailure, UnorderedCoinsPaid
from egm.money.host_money import HostMoney, build_ticket_ring_state
from egm.money.keys import MoneyKey
from egm.money.payout_methods import count_payable_coins, find_reason_ticket_is_unavailable
from egm.money.records.host import RestrictedTerms
from egm.money.records.money import (
    CashOutRecord,
    CashOutRemainder,
    CoinPayoutProgress,
    DispensedCoins,
    HandpayRecord,
    PrintingRecord,
)
from egm.money.ticket_ledger import build_anchor_state, compute_number_commitment, store_journal_head
from egm.money.ticket_terms import find_ticket_terms
from egm.play.records.tables import list_tables_with_standing_bets
from egm.staff.service.device_tests import build_test_job, is_test_job_id
from egm.staff.slips import build_slip_job, is_slip_job_id
from egm.tickets.desk import PrintedTerms, TicketDesk
from egm.tickets.model import Ticket, TicketKind
from egm.tickets.redemption import TicketRefusal
from egm.tickets.templates import TicketTemplate, load_template
from meters import Transfer
from rng import RngError


# ---------------------------------------------------------------------------------------------- by ticket
def start_ticket_payout(machine: PositionMachine, _: Event) -> None:
    """Reserve the player's whole cashable balance for a ticket, and print the ticket."""
    _start_ticket_payout(machine, CreditKind.CASHABLE, _convert_to_cashable(machine))


def start_restricted_ticket_payout(machine: PositionMachine, _: Event) -> None:
    """Reserve the player's restricted credit for a restricted ticket, and print the ticket."""
    _start_ticket_payout(machine, CreditKind.RESTRICTED, machine.read_credit_cents(CreditKind.RESTRICTED))


def _start_ticket_payout(machine: PositionMachine, credit_kind: CreditKind, amount_cents: int) -> None:
    """Reserve credits for a ticket and print it.

    The ticket's number comes from the machine or from the host; in the second case, the ticket is printed once the
    number has arrived.

    If the ticket ledger refuses the ticket, the credits are paid by hand; restricted credit stays on the meter.
    """
    payout_id, number = machine.fresh_id("cashout"), ""
    if machine.component(HostMoney).ticket_validator is not TicketValidator.SYSTEM:
        ticket = _issue_own_ticket(machine, payout_id, credit_kind, amount_cents)
        if isinstance(ticket, TicketRefusal):
            # restricted credit is never paid by hand: it stays on the meter
            if credit_kind is CreditKind.RESTRICTED:
                machine.notice = Notice(code="restricted_stays", severity="warning")
                return
            raise EventReplacement(
                Event(EventType.NO_PAYOUT_DEVICE, NoPayoutDevice(reason=ticket.reason.value))
            )
        number = ticket.masked_number
    machine.post(
        TICKET_CASH_OUT_REQUESTED,
        entry_id=payout_id,
        transfers=(
            Transfer(machine.name_credit_account(credit_kind), f"out:voucher:{credit_kind}", amount_cents),
        ),
        state={
            MoneyKey.PAY_OUT: CashOutRecord(
                id=payout_id,
                payout_method="ticket",
                credit_kind=credit_kind,
                restricted_pool=_find_restricted_pool(machine, credit_kind),
                amount_cents=amount_cents,
                masked_number=number,
                language=machine.selection.language,
                coin_payout=find_coin_payout_progress(machine),
            ),
            MoneyKey.CASH_OUT_REMAINDER: None,
        },
    )
    print_ticket(machine)


def _find_restricted_pool(machine: PositionMachine, credit_kind: CreditKind) -> int:
    """Return the number of the host's pool of the restricted credit on the meter; 0 for other credit."""
    terms = machine.memory.read(RestrictedTerms, MoneyKey.RESTRICTED_CREDIT_TERMS)
    return terms.restricted_pool if credit_kind is CreditKind.RESTRICTED and terms is not None else 0


def _issue_own_ticket(
    machine: PositionMachine, payout_id: str, credit_kind: CreditKind, amount_cents: int
) -> Ticket | TicketRefusal:
    """Issue a ticket with a number of this machine; return the ticket, or the ticket ledger's refusal.

    If the random number generator fails, the event is replaced by one that takes the machine out of service.
    """
    try:
        return machine.component(TicketDesk).prepare_ticket(
            payout_id,
            amount_cents,
            TicketKind(credit_kind.value),
            denomination_cents=machine.selection.denomination_cents,
            printed_terms=find_printed_terms(machine, credit_kind),
            journal_head=machine.journal_head,
        )
    except RngError as error:
        raise EventReplacement(Event(EventType.GENERATOR_FAILED, FailureDetail(detail=str(error)))) from error


def find_printed_terms(machine: PositionMachine, credit_kind: CreditKind) -> PrintedTerms:
    """Return the venue and validity to print on a ticket: the host's if set, otherwise the machine's own.

    A ticket of restricted credit with an expiry date expires on that date.
    """
    own_valid_days, terms = machine.profile.tickets.validity_days, find_ticket_terms(machine)
    validity_days = terms.find_validity_days(credit_kind, own_valid_days)
    is_restricted = credit_kind is CreditKind.RESTRICTED
    restricted_terms = (
        machine.memory.read(RestrictedTerms, MoneyKey.RESTRICTED_CREDIT_TERMS) if is_restricted else None
    )
    if restricted_terms is not None and restricted_terms.expiry_date:
        validity_days = max(0, (date.fromisoformat(restricted_terms.expiry_date) - machine.local_date).days)
    return PrintedTerms(terms.find_venue(machine.identity.venue), validity_days)


def print_ticket(machine: PositionMachine) -> None:
    """Send the ticket of the current cash-out to the printer, unless the printer's driver already has the job.

    Also called after a restart. A ticket without a number keeps waiting for the host's number; if the machine
    no longer has such a host, the cash-out continues as if the host had not replied in time.
    """
    payout = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    printing_record = machine.memory.read(PrintingRecord, MoneyKey.PRINT_JOB)
    if payout is None or payout.payout_method != "ticket" or is_print_disputed_or_voided(printing_record):
        return
    may_have_been_printed = printing_record is not None and printing_record.state is PrintState.PRINTING
    if not payout.masked_number:
        if machine.component(HostMoney).ticket_validator is TicketValidator.SYSTEM:
            return
        refusal = TicketNumberRefused(id=payout.id, reason="no host is configured to number tickets")
        raise EventReplacement(Event(EventType.TICKET_NUMBER_REFUSED, refusal))
    # the ticket ledger is lost: neither can the ticket be printed nor its state be queried
    if find_ticket(machine, payout.id) is None:
        reason = "the ticket ledger does not contain it"
        raise EventReplacement(
            Event(
                EventType.TICKET_PRINT_FAILED,
                PrintFailure(reason=reason, may_have_been_printed=may_have_been_printed),
            )
        )
    printer = machine.component(MoneyDevices).printer
    if printer is None:  # the printer is no longer configured
        raise EventReplacement(
            Event(
                EventType.TICKET_PRINT_FAILED,
                PrintFailure(reason="no printer", may_have_been_printed=may_have_been_printed),
            )
        )
    if printing_record is not None:
        return
    job = _build_ticket_job(machine, payout.id, payout.language)
    try:
        printer.print_ticket(job)
    except ValueError as error:
        raise EventReplacement(
            Event(EventType.TICKET_PRINT_FAILED, PrintFailure(reason=str(error)))
        ) from error


def find_open_print_job(machine: PositionMachine) -> TicketJob | None:
    """Return the ticket, slip or test that the printer has not finished, as a print job, or None.

    It is rebuilt from the ticket ledger, because the journal has no full ticket numbers.
    """
    printing_record = machine.memory.read(PrintingRecord, MoneyKey.PRINT_JOB)
    if printing_record is None:
        return None
    if is_test_job_id(printing_record.id):
        return build_test_job(machine.profile.id, printing_record.id)
    if is_slip_job_id(printing_record.id):
        return build_slip_job(machine, printing_record.id)
    if find_ticket(machine, printing_record.id) is None:
        return None
    return _build_ticket_job(machine, printing_record.id, printing_record.language)


def _build_ticket_job(machine: PositionMachine, payout_id: str, language: str) -> TicketJob:
    """Return the print job for the ticket of a cash-out."""
    return _load_template(machine.profile.id).build_job(
        payout_id, _require_ticket(machine, payout_id), language
    )


def find_ticket(machine: PositionMachine, payout_id: str) -> Ticket | None:
    """Return the ticket of a cash-out from the ticket ledger; None if there is no ledger or it lacks the ticket."""
    desk = machine.find_installed(TicketDesk)
    return None if desk is None else desk.find_issued_ticket(payout_id)


@cache
def _load_template(jurisdiction: str) -> TicketTemplate:
    """Return a jurisdiction's ticket template, cached because the printer's driver needs it at every poll."""
    return load_template(jurisdiction)


def _require_ticket(machine: PositionMachine, payout_id: str) -> Ticket:
    """Return the ticket of a cash-out. Raises InvariantError if the ticket ledger does not have it."""
    ticket = find_ticket(machine, payout_id)
    if ticket is None:
        raise InvariantError(f"the ticket of {payout_id} is not in the ticket ledger")
    return ticket


def settle_ticket(machine: PositionMachine, _: Event) -> None:
    """Settle a cash-out by ticket after its bar code is printed: the reserved credits become the ticket (AGE 5.1.3)."""
    payout = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    printing_record = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    number = _require_ticket(machine, payout.id).number
    ticket_ring_change = (
        build_ticket_ring_state(machine.journal, payout.id)
        if machine.component(HostMoney).ticket_validator.is_host
        else {}
    )
    machine.post(
        TICKET_OUT,
        TicketOut(cash_out=payout, number_commitment=compute_number_commitment(machine, number)),
        entry_id=f"{payout.id}.printed",
        ref=payout.id,
        state={
            MoneyKey.PAY_OUT: None,
            MoneyKey.PRINT_JOB: replace(printing_record, state=PrintState.BARCODE_DONE),
            **ticket_ring_change,
            **build_anchor_state(machine),
        },
    )
    machine.component(TicketDesk).record_printed(number)
    store_journal_head(machine)
    machine.notice = Notice(code="ticket_printed", values={"amount_cents": payout.amount_cents})


def handle_print_failure(machine: PositionMachine, event: Event) -> None:
    """Handle a ticket that the printer failed to print: void it, and pay its credits by hand.

    If the ticket may have been printed (``may_have_been_printed``), its number stays locked and the credits stay
    reserved until a ruling.
    """
    payout = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    failure = event.read_payload(PrintFailure)
    if failure.may_have_been_printed:
        _record_disputed_ticket(machine, payout, failure.reason)
        return
    ticket = find_ticket(machine, payout.id)
    _void_payout(machine, TICKET_CASH_OUT_VOID, payout, {MoneyKey.PRINT_JOB: None}, failure.reason)
    if ticket is not None:
        machine.component(TicketDesk).record_failed_print(ticket.number, failure.reason)
    _pay_by_hand(machine, payout)


def _record_disputed_ticket(machine: PositionMachine, payout: CashOutRecord, reason: str) -> None:
    """Open a disputed amount for a ticket that may or may not have been printed."""
    printing_record = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    disputed_amount = DisputedAmount.create(
        machine,
        "ticket_printer",
        reason,
        operation_id=payout.id,
        amount_max_cents=payout.amount_cents,
        masked_ticket_number=payout.masked_number or "",
        credit_kind=str(payout.credit_kind),
    )
    machine.post(
        TICKET_PRINT_DISPUTED,
        disputed_amount.journal_details,
        state={
            MoneyKey.PRINT_JOB: replace(printing_record, state=PrintState.DISPUTED),
            **disputed_amount.opening_state,
        },
    )
    post_ruling_and_raise_faults(machine)


def is_print_disputed_or_voided(printing_record: PrintingRecord | None) -> bool:
    """Return whether the print job is a ticket that waits for a ruling, or that a ruling has declared void."""
    return printing_record is not None and printing_record.state in {PrintState.DISPUTED, PrintState.FAILED}


def ticket_ruling_is_unfinished(machine: PositionMachine, _: Event) -> bool:
    """Return whether a disputed ticket has a ruling by which its cash-out must still be completed.

    A ruling on the ticket of an earlier cash-out is ignored.
    """
    payout = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    printing_record = machine.memory.read(PrintingRecord, MoneyKey.PRINT_JOB)
    ruled_states = {PrintState.FAILED, PrintState.BARCODE_DONE}
    if payout is None or printing_record is None or printing_record.id != payout.id:
        return False
    return printing_record.state in ruled_states


def complete_cash_out_by_ruling(machine: PositionMachine, event: Event) -> None:
    """Complete the cash-out by the ruling on its disputed ticket.

    If the ticket was ruled good, it settles the cash-out; if it was ruled void, the credits are paid by hand.
    """
    printing_record = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    if printing_record.state is PrintState.BARCODE_DONE:  # ruled good
        settle_ticket(machine, event)
    else:
        handle_print_failure(
            machine, Event(EventType.TICKET_PRINT_FAILED, PrintFailure(reason="ruled void by staff"))
        )


def void_unnumbered_ticket(machine: PositionMachine, payout: CashOutRecord, reason: str) -> None:
    """Void a ticket for which the host has given no number, and pay its credits by hand."""
    _void_payout(machine, TICKET_CASH_OUT_VOID, payout, {}, reason)
    _pay_by_hand(machine, payout)


def _pay_by_hand(machine: PositionMachine, payout: CashOutRecord) -> None:
    """Pay the credits of a voided ticket by hand, except restricted credit, which stays on the meter."""
    if payout.credit_kind is CreditKind.RESTRICTED:
        machine.notice = Notice(code="restricted_stays", severity="warning")
    else:
        open_cancelled_credit(machine, Event(EventType.NO_PAYOUT_DEVICE, NoPayoutDevice()))


# ---------------------------------------------------------------------------------------------- by coins
def start_coin_payout(machine: PositionMachine, _: Event) -> None:
    """Reserve the part of the cashable balance that the hopper can pay in whole coins, and start the hopper."""
    _convert_to_cashable(machine)
    coin_count = count_payable_coins(machine)
    amount_cents = coin_count * machine.profile.coins.hopper_coin_cents
    payout_id = machine.fresh_id("cashout")
    machine.post(
        COIN_CASH_OUT_REQUESTED,
        entry_id=payout_id,
        transfers=_build_coin_transfers(machine, amount_cents, amount_cents),
        state={
            MoneyKey.PAY_OUT: CashOutRecord(
                id=payout_id,
                payout_method="coins",
                amount_cents=amount_cents,
                ordered_coins=coin_count,
                coin_payout=find_coin_payout_progress(machine),
            ),
            MoneyKey.CASH_OUT_REMAINDER: None,
        },
    )
    start_hopper_payout(machine)


@dataclass(slots=True)
class LastHopperOrder:
    """The last payout that the hopper's driver was ordered to make since the start of the machine; never stored."""

    payout_id: str = ""
    """The id of the payout; empty if none was ordered."""


def start_hopper_payout(machine: PositionMachine) -> None:
    """Order the reserved coins from the hopper, unless its driver already has the order.

    Also called after a restart. If the hopper cannot take the order, the credits are paid by hand.
    """
    payout = machine.memory.read(CashOutRecord, MoneyKey.PAY_OUT)
    if (
        payout is None
        or payout.payout_method != "coins"
        or machine.memory.get(MoneyKey.HOPPER_PAYOUT) is not None
    ):
        return
    last_order, hopper = machine.component(LastHopperOrder), machine.component(MoneyDevices).hopper
    # the driver already has it and records it before any coin leaves
    if last_order.payout_id == payout.id:
        return
    if hopper is None:
        raise EventReplacement(Event(EventType.COINS_PAID, CoinsPaid(paid_coins=0)))
    try:
        hopper.pay(payout.id, payout.ordered_coins)
    except ValueError as error:  # the driver has a test payout that it has not started yet
        raise EventReplacement(Event(EventType.COINS_PAID, CoinsPaid(paid_coins=0))) from error
    last_order.payout_id = payout.id


def settle_coins(machine: PositionMachine, event: Event) -> None:
    """Settle a hopper payout that has ended: post the coins counted out; what it could not pay is paid by hand.

    If all coins were paid, credit too small for a coin is left to the next payout method, if the profile says so. If
    more coins may have left than were counted (``doubt_reason``), their amount is reserved until a ruling.
    """
    payout = machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT)
    report = event.read_payload(CoinsPaid)
    paid_coin_count, doubt_reason = report.paid_coins, report.doubt_reason
    # Not the profile's value, which may have changed since the order.
    coin_cents = payout.amount_cents // payout.ordered_coins
    progress = _compute_coin_payout_progress(machine, payout, paid_coin_count * coin_cents)
    if paid_coin_count == payout.ordered_coins:
        remainder_cents = (
            machine.cashable_cents if machine.profile.pay_out.coin_remainder_treatment == "next_way" else 0
        )
        remainder = CashOutRemainder(amount_cents=remainder_cents, coin_payout=progress)
        machine.post(
            COINS_OUT,
            CoinsOut(cash_out=payout, paid_coins=paid_coin_count),
            entry_id=f"{payout.id}.paid",
            ref=payout.id,
            state={MoneyKey.PAY_OUT: None, MoneyKey.HOPPER_PAYOUT: None, **build_remainder_state(remainder)},
        )
        store_journal_head(machine)
        machine.notice = Notice(code="coins_paid", values={"amount_cents": payout.amount_cents})
        return
    dispensed_coins = DispensedCoins(
        id=payout.id,
        payout_method="coins",
        amount_cents=payout.amount_cents,
        ordered_coins=payout.ordered_coins,
        paid_coins=paid_coin_count,
        coin_cents=coin_cents,
        doubt_reason=doubt_reason,
        coin_payout=progress,
    )
    coins_to_post = dispensed_coins if paid_coin_count or doubt_reason else None
    _void_payout(
        machine,
        COINS_CASH_OUT_VOID,
        payout,
        {MoneyKey.HOPPER_PAYOUT: None, MoneyKey.UNPOSTED_COINS: coins_to_post},
        f"the hopper paid {paid_coin_count} of {payout.ordered_coins} coins",
    )
    post_dispensed_coins(machine, event)
    store_journal_head(machine)
    if machine.cashable_cents:
        open_cancelled_credit(machine, event)


def cash_out_is_unfinished(machine: PositionMachine, _: Event) -> bool:
    """Return whether coins of a voided hopper payout are not posted, or a stored cash-out remainder is outdated.

    :func:`finish_interrupted_cash_out` completes both. A stored remainder is outdated if it differs from the player's
    cashable balance.
    """
    return machine.memory.get(MoneyKey.UNPOSTED_COINS) is not None or has_outdated_remainder(machine)


def finish_interrupted_cash_out(machine: PositionMachine, event: Event) -> None:
    """Post the coins of a voided hopper payout, and clear an outdated cash-out remainder."""
    post_dispensed_coins(machine, event)
    if has_outdated_remainder(machine):
        clear_remainder(machine)


def post_dispensed_coins(machine: PositionMachine, _: Event) -> None:
    """Post the coins that left the hopper before its payout was voided.

    If more coins may have left than were counted, open a disputed amount first, which reserves the credit in doubt.
    Called immediately after the payout is voided, and again after a restart.
    """
    dispensed_coins = machine.memory.read(DispensedCoins, MoneyKey.UNPOSTED_COINS)
    if dispensed_coins is None:
        return
    counted_cents, paid_cents = dispensed_coins.counted_cents, dispensed_coins.paid_cents
    if dispensed_coins.doubt_reason and paid_cents < dispensed_coins.amount_cents:
        unaccounted_cents = dispensed_coins.amount_cents - paid_cents
        disputed_amount = DisputedAmount.create(
            machine,
            "hopper",
            dispensed_coins.doubt_reason,
            operation_id=dispensed_coins.id,
            amount_max_cents=unaccounted_cents,
            reserved_cents=unaccounted_cents,
        )
        open_disputed_amount(machine, disputed_amount)
        post_ruling_and_raise_faults(machine)
    machine.post(
        COINS_OUT_AFTER_VOID,
        CoinsOutAfterVoid(
            id=dispensed_coins.id,
            payout_method=dispensed_coins.payout_method,
            amount_cents=dispensed_coins.amount_cents,
            ordered_coins=dispensed_coins.ordered_coins,
            paid_coins=dispensed_coins.paid_coins,
            doubt_reason=dispensed_coins.doubt_reason,
            in_coins=dispensed_coins.coin_payout,
        ),
        entry_id=f"{dispensed_coins.id}.paid",
        transfers=_build_coin_transfers(machine, paid_cents, counted_cents) if counted_cents else (),
        state={
            MoneyKey.UNPOSTED_COINS: None,
            **build_handpay_remainder_state(machine.cashable_cents - paid_cents, dispensed_coins.coin_payout),
        },
    )


def record_unordered_coins(machine: PositionMachine, event: Event) -> None:
    """Record that coins left the hopper without an order: book them out of the stock and open a disputed amount."""
    report = event.read_payload(UnorderedCoinsPaid)
    value_cents = report.coin_count * machine.profile.coins.hopper_coin_cents
    transfers = (Transfer("stock:hopper", "stock:floor", value_cents),) if value_cents else ()
    disputed_amount = DisputedAmount.create(machine, "hopper", report.reason)
    open_disputed_amount(machine, disputed_amount, transfers)
    post_ruling_and_raise_faults(machine)


def _compute_coin_payout_progress(
    machine: PositionMachine, payout: CashOutRecord, counted_cents: int
) -> CoinPayoutProgress:
    """Return the amounts owed and paid of a cash-out in coins after the hopper has paid ``counted_cents`` more."""
    paid_before_cents = 0 if payout.coin_payout is None else payout.coin_payout.paid_cents
    return CoinPayoutProgress(
        owed_cents=paid_before_cents + payout.amount_cents + machine.cashable_cents,
        paid_cents=paid_before_cents + min(counted_cents, payout.amount_cents),
    )


def _build_coin_transfers(
    machine: PositionMachine, paid_cents: int, counted_cents: int
) -> tuple[Transfer, ...]:
    """Return the transfers for coins that the hopper has counted out.

    ``counted_cents`` is the value of all these coins, ``paid_cents`` the part that counts as paid to the
    player.
    """
    return (
        Transfer(_find_cashable_account(machine), "out:hopper", paid_cents),
        Transfer("stock:hopper", "stock:floor", counted_cents),
    )


def _void_payout(
    machine: PositionMachine,
    entry_declaration: EntryDeclaration[CashOutVoided],
    payout: CashOutRecord,
    state_change: Mapping[str, object],
    reason: str,
) -> None:
    """Void the reservation of a payout and return its credits to the meter.

    A cash-out may have several payouts, and the start of a payout deletes the stored remainder of its cash-out. So if
    an earlier payout has paid coins and this one has paid none, the remainder is stored again: it is the whole balance,
    with the returned credits, and an attendant is to pay it.
    """
    continues_coin_cash_out = (
        payout.coin_payout is not None and state_change.get(MoneyKey.UNPOSTED_COINS) is None
    )
    remainder_cents = machine.cashable_cents + payout.amount_cents if continues_coin_cash_out else 0
    machine.post(
        entry_declaration,
        CashOutVoided(cash_out=payout, reason=reason),
        entry_id=f"{payout.id}.void",
        ref=payout.id,
        state={
            MoneyKey.PAY_OUT: None,
            **state_change,
            **build_handpay_remainder_state(remainder_cents, payout.coin_payout),
        },
    )


# ---------------------------------------------------------------------------------------------- by hand
def open_cancelled_credit(machine: PositionMachine, _: Event) -> None:
    """Reserve all the player's cashable credit as a hand-pay of the kind cancelled credit (NZ 1.20.2)."""
    amount_cents = _convert_to_cashable(machine)
    handpay_id = machine.fresh_id("handpay")
    reason = find_reason_ticket_is_unavailable(machine, amount_cents)
    machine.post(
        HANDPAY_PENDING,
        entry_id=handpay_id,
        transfers=(Transfer(_find_cashable_account(machine), "out:handpay_cancelled_credit", amount_cents),),
        state={
            MoneyKey.HANDPAY: HandpayRecord(
                id=handpay_id,
                kind="cancelled_credit",
                amount_cents=amount_cents,
                reason_without_ticket=reason,
                coin_payout=find_coin_payout_progress(machine),
            ),
            MoneyKey.CASH_OUT_REMAINDER: None,
        },
    )


# ---------------------------------------------------------------------------------------------- shared by all methods
def _find_cashable_account(machine: PositionMachine) -> str:
    """Return the name of the account that holds the player's cashable credits."""
    return machine.name_credit_account(CreditKind.CASHABLE)


def _convert_to_cashable(machine: PositionMachine) -> int:
    """Convert nonrestricted promotional credit to cashable credit; return the cashable balance in minor units.

    A payout is then one transfer, and is metered once.
    """
    promotional_cents = machine.read_credit_cents(CreditKind.NONRESTRICTED)
    if promotional_cents:
        conversion = Transfer(
            machine.name_credit_account(CreditKind.NONRESTRICTED),
            _find_cashable_account(machine),
            promotional_cents,
        )
        machine.post(CREDIT_CONVERTED, transfers=(conversion,))
    return machine.read_credit_cents(CreditKind.CASHABLE)


def automatic_payout_is_possible(machine: PositionMachine, _: Event) -> bool:
    """Return whether there is cashable credit that may be paid out automatically.

    A balance that the host has just declined stays on the meter; otherwise the host would be asked again and again to
    take it.
    """
    host_money = machine.component(HostMoney)
    return machine.cashable_cents > 0 and not (
        host_money.is_online and host_money.declined_balance_cents == machine.credit_cents
    )


def payout_is_due(machine: PositionMachine, event: Event) -> bool:
    """Return whether cashable credit must be paid out automatically now.

    Either a cash-out has an unpaid remainder, or the credit has reached the profile's limit and no bets are
    left on a table.
    """
    limit_cents = machine.profile.pay_out.automatic_payout_min_cents
    is_limit_reached = (
        limit_cents is not None
        and machine.cashable_cents >= limit_cents
        and not list_tables_with_standing_bets(machine)
    )
    return automatic_payout_is_possible(machine, event) and (
        unpaid_remainder_is_stored(machine, event) or is_limit_reached
    )


def credits_are_reserved_for_payout(machine: PositionMachine, _: Event) -> bool:
    """Return whether credits are reserved for a payout by ticket or in coins."""
    return machine.memory.get(MoneyKey.PAY_OUT) is not None


def resume_payout(machine: PositionMachine, _: Event) -> None:
    """Send a reserved payout to the printer or the hopper, unless the driver already has it.

    This starts the printing of a ticket whose number the host has just assigned, and resumes a payout that a restart
    interrupted.
    """
    print_ticket(machine)
    start_hopper_payout(machine)

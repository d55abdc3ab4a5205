"""Hand-pays: the form with the player's identity and means of payment, the payment, and the slip.

From an amount in the profile on, a hand-pay is paid only after its form is filled in: the player's identity and
the means of payment (Monaco 21.1). The identity is stored in the register of identities; the journal contains
only a commitment to it (:mod:`egm.staff.identities`). Management may have the machine checked before it pays
(:mod:`egm.play.machine_check`).
"""

from dataclasses import replace
from typing import Final

from egm.errors import InvariantError
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.money.entries import HANDPAY_FORM_FILLED, HANDPAY_PAID, HandpayFormFilled, HandpayPaid
from egm.money.events import PaymentForm
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayEnding, HandpayForm, HandpayRecord
from egm.money.ticket_ledger import store_journal_head
from egm.staff.form import list_event_persons
from egm.staff.identities import IdentityRegister
from egm.staff.service_calls import answer_service_call
from meters import Transfer
from meters.chart import parse_account_variables


def _is_identity_required(machine: PositionMachine, amount_cents: int) -> bool:
    """Return whether the profile requires the player's identity for a hand-pay of this amount."""
    identity_min_cents = machine.profile.handpay.identity_check_min_cents
    return identity_min_cents is not None and amount_cents >= identity_min_cents


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("handpay_is_in_order")
def handpay_can_be_settled(machine: PositionMachine, _: Event) -> bool:
    """Return whether the waiting hand-pay may be settled: it needs no form, or its form has been filled in."""
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    return handpay.filled_form is not None or not _is_identity_required(machine, handpay.worth_cents)


def payment_form_is_complete(machine: PositionMachine, event: Event) -> bool:
    """Return whether a hand-pay form names a permitted means of payment, and the player's identity if required."""
    handpay, form = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY), event.read_payload(PaymentForm)
    return form.payment_means in machine.profile.handpay.payment_means and (
        bool(form.identity) or not _is_identity_required(machine, handpay.worth_cents)
    )


# ---------------------------------------------------------------------------------------------- effects
def record_handpay_form(machine: PositionMachine, event: Event) -> None:
    """Record the form of a hand-pay: who will be paid and by which means. A later form replaces an earlier one."""
    identities = machine.find_installed(IdentityRegister)
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    payment_form, identity_commitment = event.read_payload(PaymentForm), ""
    if payment_form.identity:
        if identities is None:
            raise InvariantError("an identity must be recorded, but there is no identity register")
        identity_commitment = identities.store_identity(
            handpay.id, payment_form.identity, machine.clock.now()
        )
    form = HandpayForm(
        payment_means=payment_form.payment_means,
        persons=tuple(list_event_persons(machine, event)),
        identity_commitment=identity_commitment,
    )
    machine.post(
        HANDPAY_FORM_FILLED,
        HandpayFormFilled(handpay_id=handpay.id, amount_cents=handpay.amount_cents, form=form),
        state={MoneyKey.HANDPAY: replace(handpay, filled_form=form)},
    )
    machine.notice = Notice(code="form_recorded")


def settle_handpay(machine: PositionMachine, event: Event) -> None:
    """Settle the hand-pay, which the attendant has paid and whose prizes they have handed over; release the machine.

    The entry is the slip (NJD 1.40): running number, amount, kind, prizes, method, tax mark and persons. A service call
    of the player ends as well.
    """
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    form = handpay.filled_form or HandpayForm(payment_means="cash", persons=())
    slip_number = int(machine.memory.get(MoneyKey.LAST_SLIP_NUMBER) or 0) + 1
    taxable_min_cents = machine.profile.handpay.taxable_win_min_cents
    persons = list_event_persons(machine, event)
    answer_service_call(machine, event)
    machine.post(
        HANDPAY_PAID,
        HandpayPaid(
            handpay=replace(handpay, filled_form=None),
            payment_means=form.payment_means,
            identity_commitment=form.identity_commitment,
            slip_number=slip_number,
            journal_head=machine.journal_head,
            machine=machine.identity.serial,
            is_taxable=taxable_min_cents is not None and handpay.worth_cents >= taxable_min_cents,
            person=persons[0],
            persons=tuple(dict.fromkeys((*form.persons, *persons))),
        ),
        entry_id=HandpayEnding.PAID.format_entry_id(handpay.id),
        ref=handpay.id,
        counts={f"handpays.{handpay.kind}": 1},
        state={MoneyKey.HANDPAY: None, MoneyKey.LAST_SLIP_NUMBER: slip_number},
    )
    store_journal_head(machine)
    code = "prize_delivered" if handpay.prizes else "handpay_paid"
    machine.notice = Notice(code=code, values={"amount_cents": handpay.amount_cents})


#: Prefix of the accounts of prizes in kind.
PRIZES_ACCOUNT_PREFIX: Final = "prizes:"


@refusal_code("no_prize_waits")
def handpay_has_no_prize_in_kind(machine: PositionMachine, _: Event) -> bool:
    """Return whether the waiting hand-pay has no prize in kind, so that a host may settle it.

    A prize in kind must be handed over in person.
    """
    return not machine.memory.require(HandpayRecord, MoneyKey.HANDPAY).prizes


def find_unclaimed_account(transfer: Transfer) -> str:
    """Return the account to which a transfer reserved for a hand-pay goes if nobody claims the hand-pay.

    Money goes to the register of unclaimed money, a prize in kind to the stock of unclaimed prizes.
    """
    if not transfer.source.startswith(PRIZES_ACCOUNT_PREFIX):
        return "house:orphan"
    return f"{PRIZES_ACCOUNT_PREFIX}{parse_account_variables(transfer.source)['prize']}:unclaimed"

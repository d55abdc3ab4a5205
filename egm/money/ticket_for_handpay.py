"""A ticket in place of a hand-pay, for credits that could not be paid by ticket when the player cashed out.

If the profile allows it, the player requests a ticket, and the attendant's key returns the reserved credits to
the credit meter; the cash-out then continues automatically. After any power loss the reservation is either
active or void: the player has either the hand-pay or the ticket, never both.
"""

from dataclasses import replace
from typing import Literal

from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.money.entries import HANDPAY_METHOD_CHOSEN, HANDPAY_RETURNED, HandpayMethodChosen, HandpayReturned
from egm.money.keys import MoneyKey
from egm.money.payout_methods import find_reason_ticket_is_unavailable
from egm.money.records.money import CashOutRemainder, HandpayEnding, HandpayRecord
from egm.staff.form import list_event_persons
from egm.staff.service_calls import answer_service_call


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("ticket_may_replace")
def ticket_may_replace_handpay(machine: PositionMachine, _: Event) -> bool:
    """Return whether the hand-pay pays the player's credits, has no form yet, and a ticket could be printed for it.

    The profile must permit this, and its order of payout methods must have tickets: without them, the cash-out would
    only lead to a hand-pay again.
    """
    handpay = machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    return (
        handpay is not None
        and machine.profile.handpay.allows_ticket_instead
        and "ticket" in machine.profile.pay_out.payout_methods
        and handpay.kind == "cancelled_credit"
        and handpay.filled_form is None
        and not find_reason_ticket_is_unavailable(machine, handpay.amount_cents)
    )


def ticket_is_requested(machine: PositionMachine, _: Event) -> bool:
    """Return whether the player has requested a ticket instead of the hand-pay."""
    return bool(machine.memory.require(HandpayRecord, MoneyKey.HANDPAY).requested_method)


def requested_ticket_is_impossible(machine: PositionMachine, event: Event) -> bool:
    """Return whether the player has requested a ticket instead of the hand-pay, but none can be printed now."""
    return ticket_is_requested(machine, event) and not ticket_may_replace_handpay(machine, event)


@refusal_code("attendant_pays_by_hand")
def no_ticket_is_requested(machine: PositionMachine, event: Event) -> bool:
    """Return whether the player has not requested a ticket, so that the attendant pays the hand-pay by hand."""
    return not ticket_is_requested(machine, event)


# ---------------------------------------------------------------------------------------------- effects
def toggle_ticket_request(machine: PositionMachine, event: Event) -> None:
    """Toggle the player's request for a ticket instead of the waiting hand-pay."""
    _store_payment_method(machine, "hand" if ticket_is_requested(machine, event) else "ticket")


def _store_payment_method(machine: PositionMachine, payment_method: Literal["hand", "ticket"]) -> None:
    """Store how the waiting hand-pay is to be paid: by hand or on a ticket.

    In the stored record, an empty request stands for payment by hand.
    """
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    requested_method = "" if payment_method == "hand" else payment_method
    machine.post(
        HANDPAY_METHOD_CHOSEN,
        HandpayMethodChosen(handpay_id=handpay.id, payment_method=payment_method),
        state={MoneyKey.HANDPAY: replace(handpay, requested_method=requested_method)},
    )


def return_handpay_to_credit(machine: PositionMachine, event: Event) -> None:
    """Return the hand-pay's amount to the credit meter; the cash-out then continues and prints the requested ticket."""
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    persons = list_event_persons(machine, event)
    # The cash-out is of all cashable credit: what is on the credit meter and what now returns to it.
    owed_cents = machine.cashable_cents + handpay.amount_cents
    answer_service_call(machine, event)
    machine.post(
        HANDPAY_RETURNED,
        HandpayReturned(
            handpay_id=handpay.id,
            amount_cents=handpay.amount_cents,
            person=persons[0],
            persons=tuple(persons),
        ),
        entry_id=HandpayEnding.RETURNED.format_entry_id(handpay.id),
        ref=handpay.id,
        state={
            MoneyKey.HANDPAY: None,
            MoneyKey.CASH_OUT_REMAINDER: CashOutRemainder(
                amount_cents=owed_cents, coin_payout=handpay.coin_payout
            ),
        },
    )


def withdraw_ticket_request(machine: PositionMachine, _: Event) -> None:
    """Cancel the player's request for a ticket, because none can be printed any more; the hand-pay stays.

    Before the attendant pays, a notice says that no ticket can be printed.
    """
    _store_payment_method(machine, "hand")
    machine.notice = Notice(code="ticket_impossible", severity="warning")

"""A ticket instead of the attendant's hand: credits that could not leave on a ticket do so after all.

Where the place lets them, the player asks for it, and the attendant's key returns the reservation to the
credit meter; the cash-out then goes on by itself. Whenever the power is cut, the reservation stands or it is
void: there is never both the hand-pay and the ticket, and never neither.
"""

from dataclasses import replace

from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.money.ways_out import no_ticket
from egm.records.keys import MoneyKey
from egm.records.money import CashOutRest, HandpayRecord
from egm.staff.form import persons_of
from egm.staff.service_calls import answer_service_call
from meters import Phase


# ---------------------------------------------------------------------------------------------- guards
def ticket_may_replace(machine: Machine, _: Event) -> bool:
    """The hand-pay is the player's own credits, nobody has begun its form, and a ticket could be printed."""
    handpay = machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
    return (
        handpay is not None
        and machine.profile.by_hand.ticket_instead
        and handpay.kind == "cancelled_credit"
        and handpay.form is None
        and not no_ticket(machine, handpay.amount_cents)
    )


def ticket_is_asked(machine: Machine, _: Event) -> bool:
    """The player has asked for a ticket in its place."""
    return bool(machine.memory.require(HandpayRecord, MoneyKey.HANDPAY).way)


def asked_ticket_is_gone(machine: Machine, event: Event) -> bool:
    """A ticket was asked for, and none can be printed any more."""
    return ticket_is_asked(machine, event) and not ticket_may_replace(machine, event)


def hand_is_asked(machine: Machine, event: Event) -> bool:
    """The player has asked for nothing else than the attendant's hand."""
    return not ticket_is_asked(machine, event)


# ---------------------------------------------------------------------------------------------- effects
def choose_way(machine: Machine, _: Event) -> None:
    """The player would rather have a ticket; asked again, the attendant's hand after all."""
    handpay = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY)
    way = "hand" if handpay.way else "ticket"
    kept = replace(handpay, way="" if handpay.way else way)
    machine.record("handpay.way", state={MoneyKey.HANDPAY: kept}, details={"handpay": handpay.id, "way": way})


def return_handpay(machine: Machine, event: Event) -> None:
    """Give the reservation up for the ticket that was asked for: the cash-out goes on by itself."""
    handpay, persons = machine.memory.require(HandpayRecord, MoneyKey.HANDPAY), persons_of(machine, event)
    rest_cents = machine.cash_cents + handpay.amount_cents
    answer_service_call(machine, event)
    machine.record(
        "handpay.returned",
        transaction_id=f"{handpay.id}.returned",
        phase=Phase.VOID,
        ref=handpay.id,
        state={
            MoneyKey.HANDPAY: None,
            MoneyKey.GOES_ON: CashOutRest(rest_cents=rest_cents, in_coins=handpay.in_coins),
        },
        details={
            "handpay": handpay.id,
            "amount_cents": handpay.amount_cents,
            "person": persons[0],
            "persons": persons,
        },
    )


def keep_handpay(machine: Machine, event: Event) -> None:
    """The printer has failed since: the hand-pay stands, and the attendant is told before he pays."""
    choose_way(machine, event)
    machine.notice = Notice(code="ticket_impossible", severity="warning")

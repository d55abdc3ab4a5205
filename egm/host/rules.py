"""State-table rules of the host of the money: transfers and their lock, tickets it numbers and redeems."""

from typing import Final

from egm.host.controls import record_control
from egm.host.tickets import (
    ask_host,
    do_without_number,
    host_validates,
    inquiry_is_open,
    number_is_awaited,
    return_inquired,
    stack_authorised,
    take_number,
)
from egm.host.transfers import (
    cancel_transfer,
    cash_out_is_offered_to_host,
    end_lock,
    execute_transfer_order,
    expire_restricted,
    give_lock_its_turn,
    give_order_its_turn,
    host_has_declined_cash_out,
    offer_to_host,
    order_is_open,
    pass_cash_out_on,
    refuse_transfer,
    restricted_has_expired,
    take_lock,
    transfer_lock_is_requested,
)
from egm.kernel.events import EventType, Next, State
from egm.kernel.machine import Machine
from egm.kernel.rules import REPORT, Rule
from egm.kernel.states import AWAKE, ORDERS_DUE, PAYABLE, TAKING_TICKETS, TRANSFERRING, only
from egm.money.value_in import acceptor_works, ticket_can_be_accepted

_IDLE: Final = only(State.IDLE)

RULES: Final[tuple[Rule[Machine], ...]] = (
    # ------------------------------------------------------------------ transfers, and the lock for them
    Rule(EventType.CASH_OUT, _IDLE, (cash_out_is_offered_to_host,), (offer_to_host,), State.LOCKED, REPORT),
    Rule(EventType.TRANSFER_ORDERED, TRANSFERRING, (order_is_open,), (execute_transfer_order,), Next.DERIVED),
    Rule(EventType.TRANSFER_ORDERED, only(State.PLAYING), (order_is_open,)),  # executed after the game
    Rule(EventType.TRANSFER_ORDERED, AWAKE, (order_is_open,), (refuse_transfer,)),
    Rule(EventType.TRANSFER_CANCELLED, AWAKE, (order_is_open,), (cancel_transfer,)),
    Rule(EventType.LOCK_REQUESTED, TRANSFERRING, (transfer_lock_is_requested,), (take_lock,), State.LOCKED),
    Rule(EventType.LOCK_ENDED, AWAKE, (transfer_lock_is_requested,), (end_lock,), Next.DERIVED),
    Rule(EventType.PROMOTION_EXPIRED, _IDLE, (restricted_has_expired,), (expire_restricted,)),
    Rule(EventType.WHEN_IDLE, ORDERS_DUE, (order_is_open,), (give_order_its_turn,)),
    Rule(EventType.WHEN_IDLE, _IDLE, (transfer_lock_is_requested,), (give_lock_its_turn,)),
    Rule(EventType.WHEN_IDLE, PAYABLE, (host_has_declined_cash_out,), (pass_cash_out_on,)),
    # ------------------------------------------------------------------ tickets
    Rule(EventType.TICKET_ESCROWED, _IDLE, (ticket_can_be_accepted, host_validates), (ask_host,)),
    Rule(EventType.TICKET_AUTHORISED, TAKING_TICKETS, (inquiry_is_open, acceptor_works), (stack_authorised,)),
    Rule(
        (EventType.TICKET_AUTHORISED, EventType.TICKET_DECLINED),
        AWAKE,
        (inquiry_is_open,),
        (return_inquired,),
    ),
    Rule(EventType.TICKET_NUMBERED, AWAKE, (number_is_awaited,), (take_number,), Next.DERIVED),
    Rule(EventType.NUMBER_REFUSED, AWAKE, (number_is_awaited,), (do_without_number,), Next.DERIVED),
    Rule(EventType.CONTROL, AWAKE, (), (record_control,)),
)

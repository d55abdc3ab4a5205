"""State-table rules of the money host: transfers, the transfer lock, and tickets that the host validates."""

from typing import Final

from egm.host.restrictions import record_host_restriction
from egm.host.tickets import (
    assign_host_number,
    continue_without_host_number,
    host_validates,
    inquiry_is_open,
    number_is_awaited,
    query_ticket_value,
    return_queried_ticket,
    stack_authorised_ticket,
)
from egm.host.transfers import (
    build_lock_grant_event,
    build_pending_order_event,
    cancel_transfer,
    cash_out_goes_to_host_first,
    end_transfer_lock,
    execute_transfer_order,
    expire_restricted_credit,
    grant_transfer_lock,
    host_has_declined_cash_out,
    offer_cash_out_to_host,
    order_is_open,
    refuse_transfer,
    restricted_has_expired,
    start_declined_cash_out,
    transfer_lock_is_requested,
)
from egm.kernel.events import EventType, NextState, State
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Rule
from egm.kernel.states import (
    STATES_AFTER_BOOT,
    STATES_FOR_CASH_OUT,
    STATES_FOR_DEFERRED_HOST_ORDERS,
    STATES_FOR_STACKING,
    STATES_FOR_TRANSFERS,
    single_state,
)
from egm.money.value_in import acceptor_works, ticket_can_be_accepted

_IDLE_STATE: Final = single_state(State.IDLE)

HOST_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    # ------------------------------------------------------------------ transfers, and the lock for them
    Rule(
        EventType.CASH_OUT,
        _IDLE_STATE,
        (cash_out_goes_to_host_first,),
        (offer_cash_out_to_host,),
        State.LOCKED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.TRANSFER_ORDERED,
        STATES_FOR_TRANSFERS,
        (order_is_open,),
        (execute_transfer_order,),
        NextState.DERIVED,
    ),
    # During a game there is no effect: the order is executed after the game.
    Rule(EventType.TRANSFER_ORDERED, single_state(State.PLAYING), (order_is_open,)),
    Rule(EventType.TRANSFER_ORDERED, STATES_AFTER_BOOT, (order_is_open,), (refuse_transfer,)),
    Rule(EventType.TRANSFER_CANCELLED, STATES_AFTER_BOOT, (order_is_open,), (cancel_transfer,)),
    Rule(
        EventType.TRANSFER_LOCK_REQUESTED,
        STATES_FOR_TRANSFERS,
        (transfer_lock_is_requested,),
        (grant_transfer_lock,),
        State.LOCKED,
    ),
    Rule(
        EventType.TRANSFER_LOCK_ENDED,
        STATES_AFTER_BOOT,
        (transfer_lock_is_requested,),
        (end_transfer_lock,),
        NextState.DERIVED,
    ),
    Rule(
        EventType.RESTRICTED_CREDIT_EXPIRED,
        _IDLE_STATE,
        (restricted_has_expired,),
        (expire_restricted_credit,),
    ),
    Rule(
        EventType.NO_EVENT_WAITING,
        STATES_FOR_DEFERRED_HOST_ORDERS,
        (order_is_open,),
        (build_pending_order_event,),
    ),
    Rule(EventType.NO_EVENT_WAITING, _IDLE_STATE, (transfer_lock_is_requested,), (build_lock_grant_event,)),
    Rule(
        EventType.NO_EVENT_WAITING,
        STATES_FOR_CASH_OUT,
        (host_has_declined_cash_out,),
        (start_declined_cash_out,),
    ),
    # ------------------------------------------------------------------ tickets
    Rule(
        EventType.TICKET_ESCROWED,
        _IDLE_STATE,
        (ticket_can_be_accepted, host_validates),
        (query_ticket_value,),
    ),
    Rule(
        EventType.TICKET_AUTHORISED,
        STATES_FOR_STACKING,
        (inquiry_is_open, acceptor_works),
        (stack_authorised_ticket,),
    ),
    Rule(
        (EventType.TICKET_AUTHORISED, EventType.TICKET_DECLINED),
        STATES_AFTER_BOOT,
        (inquiry_is_open,),
        (return_queried_ticket,),
    ),
    Rule(
        EventType.TICKET_NUMBER_ASSIGNED,
        STATES_AFTER_BOOT,
        (number_is_awaited,),
        (assign_host_number,),
        NextState.DERIVED,
    ),
    Rule(
        EventType.TICKET_NUMBER_REFUSED,
        STATES_AFTER_BOOT,
        (number_is_awaited,),
        (continue_without_host_number,),
        NextState.DERIVED,
    ),
    Rule(EventType.HOST_RESTRICTION_CHANGED, STATES_AFTER_BOOT, (), (record_host_restriction,)),
)

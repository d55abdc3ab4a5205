"""State-table rules of money: bills, coins and tickets in and out, hand-pays, rulings and interrupted payouts."""

from typing import Final

from egm.kernel.events import EventType, NextState, State
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Rule
from egm.kernel.states import (
    ALL_STATES,
    STATES_AFTER_BOOT,
    STATES_FOR_CASH_OUT,
    STATES_FOR_RULINGS,
    single_state,
)
from egm.money.cash_out_remainder import build_automatic_cash_out_event, unpaid_remainder_is_stored
from egm.money.disputed_amounts import (
    apply_disputed_amount_ruling,
    resume_disputed_amounts,
    ruling_form_is_valid,
    ruling_or_fault_is_pending,
)
from egm.money.forms import MONEY_FORMS
from egm.money.hand_pays import (
    handpay_can_be_settled,
    handpay_has_no_prize_in_kind,
    payment_form_is_complete,
    record_handpay_form,
    settle_handpay,
)
from egm.money.pay_out import (
    cash_out_is_unfinished,
    complete_cash_out_by_ruling,
    credits_are_reserved_for_payout,
    finish_interrupted_cash_out,
    handle_print_failure,
    open_cancelled_credit,
    payout_is_due,
    record_unordered_coins,
    resume_payout,
    settle_coins,
    settle_ticket,
    start_coin_payout,
    start_restricted_ticket_payout,
    start_ticket_payout,
    ticket_ruling_is_unfinished,
)
from egm.money.payout_methods import (
    coins_come_first,
    has_cashable_credit,
    restricted_credit_may_leave_on_ticket,
    ticket_comes_first,
)
from egm.money.rulings import (
    complement_form_is_valid,
    credits_are_unclaimed,
    forfeit_credits,
    forfeit_prize,
    forfeiting_credits_is_permitted,
    forfeiting_prize_is_permitted,
    found_ticket_is_named,
    location_is_stated,
    post_unclaimed_handpay,
    record_complement,
    register_found_ticket,
    register_unclaimed_credits,
    unclaimed_handpay_is_unposted,
    void_unclaimed_handpay,
)
from egm.money.ticket_for_handpay import (
    no_ticket_is_requested,
    requested_ticket_is_impossible,
    return_handpay_to_credit,
    ticket_is_requested,
    ticket_may_replace_handpay,
    toggle_ticket_request,
    withdraw_ticket_request,
)
from egm.money.value_in import (
    bill_can_be_accepted,
    credit_bill_or_ticket,
    credit_coins,
    record_disputed_paper,
    record_paper_rejected,
    record_paper_returned,
    record_unordered_money,
    return_bill,
    return_ticket,
    stack_bill,
    stack_ticket,
    ticket_can_be_accepted,
    void_bill_or_ticket,
)
from egm.staff.form import build_form_rule
from egm.staff.service.effects import (
    ask_for_sign_in,
    key_may_act_without_sign_in,
    no_service_page_is_open,
)

#: The states of a rule that applies only while the machine is idle.
_IDLE_STATE: Final = single_state(State.IDLE)
#: The states of a rule that applies only while a hand-pay waits.
_HANDPAY_STATE: Final = single_state(State.HANDPAY)

#: The states of a rule that applies only while the service menu is open.
_SERVICE_MENU_STATE: Final = single_state(State.SERVICE_MENU)

MONEY_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    # ------------------------------------------------------------------ value in
    Rule(EventType.BILL_ESCROWED, _IDLE_STATE, (bill_can_be_accepted,), (stack_bill,)),
    Rule(EventType.TICKET_ESCROWED, _IDLE_STATE, (ticket_can_be_accepted,), (stack_ticket,)),
    Rule(EventType.BILL_ESCROWED, STATES_AFTER_BOOT, (), (return_bill,)),
    Rule(EventType.TICKET_ESCROWED, STATES_AFTER_BOOT, (), (return_ticket,)),
    Rule(
        EventType.BILL_STACKED, STATES_AFTER_BOOT, (), (credit_bill_or_ticket,), NextState.DERIVED_ONCE_TESTED
    ),
    Rule(EventType.BILL_NOT_STACKED, STATES_AFTER_BOOT, (), (void_bill_or_ticket,)),
    Rule(
        EventType.BILL_LOCATION_UNKNOWN,
        STATES_AFTER_BOOT,
        (),
        (record_disputed_paper,),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(EventType.BILL_RETURNED, STATES_AFTER_BOOT, (), (record_paper_returned,)),
    Rule(EventType.BILL_REJECTED, STATES_AFTER_BOOT, (), (record_paper_rejected,)),
    Rule(
        EventType.UNORDERED_MONEY_TAKEN,
        STATES_AFTER_BOOT,
        (),
        (record_unordered_money,),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(EventType.COINS_IN, STATES_AFTER_BOOT, (), (credit_coins,), NextState.DERIVED_ONCE_TESTED),
    # ------------------------------------------------------------------ value out
    Rule(
        EventType.CASH_OUT,
        STATES_FOR_CASH_OUT,
        (has_cashable_credit, ticket_comes_first),
        (start_ticket_payout,),
        State.PAYING,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.CASH_OUT,
        STATES_FOR_CASH_OUT,
        (coins_come_first,),
        (start_coin_payout,),
        State.PAYING,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.CASH_OUT,
        STATES_FOR_CASH_OUT,
        (restricted_credit_may_leave_on_ticket,),
        (start_restricted_ticket_payout,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.CASH_OUT,
        STATES_FOR_CASH_OUT,
        (has_cashable_credit,),
        (open_cancelled_credit,),
        State.HANDPAY,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.NO_PAYOUT_DEVICE,
        STATES_FOR_CASH_OUT,
        (has_cashable_credit,),
        (open_cancelled_credit,),
        State.HANDPAY,
    ),
    Rule(EventType.TICKET_PRINTED, STATES_AFTER_BOOT, (), (settle_ticket,), NextState.DERIVED_ONCE_TESTED),
    Rule(
        EventType.TICKET_PRINT_FAILED,
        STATES_AFTER_BOOT,
        (),
        (handle_print_failure,),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(EventType.COINS_PAID, STATES_AFTER_BOOT, (), (settle_coins,), NextState.DERIVED_ONCE_TESTED),
    Rule(
        EventType.UNORDERED_COINS_PAID,
        STATES_AFTER_BOOT,
        (),
        (record_unordered_coins,),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(EventType.AFTER_EVENT, ALL_STATES, (ruling_or_fault_is_pending,), (resume_disputed_amounts,)),
    Rule(
        EventType.NO_EVENT_WAITING,
        single_state(State.PAYING),
        (credits_are_reserved_for_payout,),
        (resume_payout,),
    ),
    Rule(EventType.NO_EVENT_WAITING, _IDLE_STATE, (payout_is_due,), (build_automatic_cash_out_event,)),
    Rule(
        EventType.NO_EVENT_WAITING,
        single_state(State.OUT_OF_SERVICE),
        (unpaid_remainder_is_stored,),
        (build_automatic_cash_out_event,),
    ),
    # ------------------------------------------------------------------ hand-pays
    Rule(
        EventType.CASH_OUT,
        _HANDPAY_STATE,
        (ticket_may_replace_handpay,),
        (toggle_ticket_request,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY_STATE,
        (ticket_is_requested, ticket_may_replace_handpay, key_may_act_without_sign_in),
        (return_handpay_to_credit,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY_STATE,
        (ticket_is_requested, ticket_may_replace_handpay, no_service_page_is_open),
        (ask_for_sign_in,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY_STATE,
        (requested_ticket_is_impossible,),
        (withdraw_ticket_request,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    # From here on the player has not asked for a ticket: the rules above decide about a requested one.
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY_STATE,
        (handpay_can_be_settled, key_may_act_without_sign_in),
        (settle_handpay,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY_STATE,
        (handpay_can_be_settled, no_service_page_is_open),
        (ask_for_sign_in,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.HANDPAY_RESET_BY_HOST,
        _HANDPAY_STATE,
        (handpay_has_no_prize_in_kind, no_ticket_is_requested, handpay_can_be_settled),
        (settle_handpay,),
        NextState.DERIVED,
    ),
    # ------------------------------------------------------------------ what persons decide about money
    build_form_rule(
        MONEY_FORMS,
        EventType.RECORD_HANDPAY_FORM,
        _HANDPAY_STATE,
        (payment_form_is_complete,),
        record_handpay_form,
        NextState.SAME,
    ),
    build_form_rule(
        MONEY_FORMS, EventType.FORFEIT_PRIZE, _HANDPAY_STATE, (forfeiting_prize_is_permitted,), forfeit_prize
    ),
    build_form_rule(
        MONEY_FORMS,
        EventType.FORFEIT_CREDITS,
        _SERVICE_MENU_STATE,
        (forfeiting_credits_is_permitted,),
        forfeit_credits,
    ),
    build_form_rule(
        MONEY_FORMS,
        EventType.PAY_COMPLEMENT,
        STATES_FOR_RULINGS,
        (complement_form_is_valid,),
        record_complement,
    ),
    build_form_rule(
        MONEY_FORMS,
        EventType.RULE_ON_DISPUTED_AMOUNT,
        STATES_FOR_RULINGS,
        (ruling_form_is_valid,),
        apply_disputed_amount_ruling,
    ),
    build_form_rule(
        MONEY_FORMS,
        EventType.REGISTER_UNCLAIMED_HANDPAY,
        _HANDPAY_STATE,
        (location_is_stated,),
        void_unclaimed_handpay,
    ),
    build_form_rule(
        MONEY_FORMS,
        EventType.REGISTER_UNCLAIMED_CREDITS,
        _SERVICE_MENU_STATE,
        (credits_are_unclaimed, location_is_stated),
        register_unclaimed_credits,
    ),
    build_form_rule(
        MONEY_FORMS,
        EventType.REGISTER_FOUND_TICKET,
        STATES_FOR_RULINGS,
        (found_ticket_is_named, location_is_stated),
        register_found_ticket,
    ),
    Rule(EventType.AFTER_EVENT, ALL_STATES, (unclaimed_handpay_is_unposted,), (post_unclaimed_handpay,)),
    Rule(
        EventType.AFTER_EVENT,
        STATES_AFTER_BOOT,
        (ticket_ruling_is_unfinished,),
        (complete_cash_out_by_ruling,),
        NextState.DERIVED_ONCE_TESTED,
    ),
    # Last: credits that another payout returns to the meter for a moment must not invalidate a remainder.
    Rule(EventType.AFTER_EVENT, ALL_STATES, (cash_out_is_unfinished,), (finish_interrupted_cash_out,)),
)

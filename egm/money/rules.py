"""State-table rules of money: bills, coins and tickets in and out, hand-pays, rulings and interrupted payouts."""

from typing import Final

from egm.kernel.events import EventType, Next, State
from egm.kernel.machine import Machine
from egm.kernel.rules import REPORT, Rule
from egm.kernel.states import (
    AWAKE,
    EVERYWHERE,
    PAYABLE,
    RULING,
    only,
)
from egm.money.cash_out_rest import start_automatic_cash_out, unpaid_remainder_is_stored
from egm.money.disputed import dispute_is_unfinished, end_disputes, rule_disputed_amount, ruling_is_sound
from egm.money.forms import FORMS
from egm.money.hand_pays import (
    handpay_is_in_order,
    no_prize_waits,
    payment_form_is_complete,
    record_handpay_form,
    settle_handpay,
)
from egm.money.pay_out import (
    cash_out_is_unfinished,
    end_cash_out,
    end_ticket_ruling,
    give_ticket_up,
    open_cancelled_credit,
    payout_is_due,
    payout_is_under_way,
    record_stray_coins,
    reserve_coins,
    reserve_restricted_ticket,
    reserve_ticket,
    resume_payout,
    settle_coins,
    settle_ticket,
    ticket_ruling_is_unfinished,
)
from egm.money.rulings import (
    complement_is_sound,
    credits_are_forfeit,
    credits_are_unclaimed,
    end_rulings,
    forfeit_credits,
    forfeit_prize,
    found_ticket_is_named,
    handpay_waits,
    location_is_stated,
    pay_complement,
    prize_is_forfeit,
    ruling_is_unfinished,
    take_orphan_credits,
    take_orphan_handpay,
    take_orphan_ticket,
)
from egm.money.ticket_for_handpay import (
    attendant_pays_by_hand,
    choose_way,
    keep_handpay,
    requested_ticket_is_impossible,
    return_handpay,
    ticket_is_requested,
    ticket_may_replace,
)
from egm.money.value_in import (
    bill_is_welcome,
    credit_bill,
    credit_coins,
    dispute_amount,
    dispute_bill,
    record_bill_rejected,
    record_bill_returned,
    redeem_ticket,
    return_bill,
    return_ticket,
    stack_bill,
    ticket_is_welcome,
    void_bill,
)
from egm.money.ways_out import coins_come_first, has_credit, restricted_may_leave, ticket_comes_first
from egm.staff.form import build_form_rule
from egm.staff.service.effects import (
    ask_who,
    key_is_enough,
    no_service_page_is_open,
)

_IDLE: Final = only(State.IDLE)
_HANDPAY: Final = only(State.HANDPAY)

_MENU: Final = only(State.SERVICE_MENU)

RULES: Final[tuple[Rule[Machine], ...]] = (
    # ------------------------------------------------------------------ value in
    Rule(EventType.BILL_ESCROWED, _IDLE, (bill_is_welcome,), (stack_bill,)),
    Rule(EventType.TICKET_ESCROWED, _IDLE, (ticket_is_welcome,), (redeem_ticket,)),
    Rule(EventType.BILL_ESCROWED, AWAKE, (), (return_bill,)),
    Rule(EventType.TICKET_ESCROWED, AWAKE, (), (return_ticket,)),
    Rule(EventType.BILL_STACKED, AWAKE, (), (credit_bill,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.BILL_NOT_STACKED, AWAKE, (), (void_bill,)),
    Rule(EventType.BILL_LOST, AWAKE, (), (dispute_bill,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.BILL_RETURNED, AWAKE, (), (record_bill_returned,)),
    Rule(EventType.BILL_REJECTED, AWAKE, (), (record_bill_rejected,)),
    Rule(EventType.AMOUNT_PUT_IN_DISPUTE, AWAKE, (), (dispute_amount,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.COINS_IN, AWAKE, (), (credit_coins,), Next.DERIVED_ONCE_TESTED),
    # ------------------------------------------------------------------ value out
    Rule(
        EventType.CASH_OUT,
        PAYABLE,
        (has_credit, ticket_comes_first),
        (reserve_ticket,),
        State.PAYING,
        REPORT,
    ),
    Rule(EventType.CASH_OUT, PAYABLE, (has_credit, coins_come_first), (reserve_coins,), State.PAYING, REPORT),
    Rule(
        EventType.CASH_OUT,
        PAYABLE,
        (restricted_may_leave,),
        (reserve_restricted_ticket,),
        Next.DERIVED,
        REPORT,
    ),
    Rule(EventType.CASH_OUT, PAYABLE, (has_credit,), (open_cancelled_credit,), State.HANDPAY, REPORT),
    Rule(EventType.NO_PAYOUT_DEVICE, PAYABLE, (has_credit,), (open_cancelled_credit,), State.HANDPAY),
    Rule(EventType.TICKET_PRINTED, AWAKE, (), (settle_ticket,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.TICKET_FAILED, AWAKE, (), (give_ticket_up,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.COINS_PAID, AWAKE, (), (settle_coins,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.COINS_STRAYED, AWAKE, (), (record_stray_coins,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.AFTER_EVENT, EVERYWHERE, (dispute_is_unfinished,), (end_disputes,)),
    Rule(EventType.WHEN_IDLE, only(State.PAYING), (payout_is_under_way,), (resume_payout,)),
    Rule(EventType.WHEN_IDLE, _IDLE, (payout_is_due,), (start_automatic_cash_out,)),
    Rule(
        EventType.WHEN_IDLE,
        only(State.OUT_OF_SERVICE),
        (unpaid_remainder_is_stored,),
        (start_automatic_cash_out,),
    ),
    # ------------------------------------------------------------------ hand-pays
    Rule(EventType.CASH_OUT, _HANDPAY, (ticket_may_replace,), (choose_way,), Next.SAME, REPORT),
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY,
        (ticket_is_requested, ticket_may_replace, key_is_enough),
        (return_handpay,),
        Next.DERIVED,
        REPORT,
    ),
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY,
        (ticket_is_requested, ticket_may_replace, no_service_page_is_open),
        (ask_who,),
        Next.DERIVED,
        REPORT,
    ),
    Rule(
        EventType.KEY_TURNED, _HANDPAY, (requested_ticket_is_impossible,), (keep_handpay,), Next.SAME, REPORT
    ),
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY,
        (attendant_pays_by_hand, handpay_is_in_order, key_is_enough),
        (settle_handpay,),
        Next.DERIVED,
        REPORT,
    ),
    Rule(
        EventType.KEY_TURNED,
        _HANDPAY,
        (attendant_pays_by_hand, handpay_is_in_order, no_service_page_is_open),
        (ask_who,),
        Next.DERIVED,
        REPORT,
    ),
    Rule(
        EventType.HANDPAY_RESET,
        _HANDPAY,
        (no_prize_waits, attendant_pays_by_hand, handpay_is_in_order),
        (settle_handpay,),
        Next.DERIVED,
    ),
    # ------------------------------------------------------------------ what persons decide about money
    build_form_rule(
        FORMS, EventType.HANDPAY_FORM, _HANDPAY, (payment_form_is_complete,), record_handpay_form, Next.SAME
    ),
    build_form_rule(FORMS, EventType.FORFEIT_PRIZE, _HANDPAY, (prize_is_forfeit,), forfeit_prize),
    build_form_rule(FORMS, EventType.FORFEIT_CREDITS, _MENU, (credits_are_forfeit,), forfeit_credits),
    build_form_rule(FORMS, EventType.COMPLEMENT, RULING, (complement_is_sound,), pay_complement),
    build_form_rule(
        FORMS, EventType.DISPUTED_AMOUNT_RULING, RULING, (ruling_is_sound,), rule_disputed_amount
    ),
    build_form_rule(
        FORMS, EventType.ORPHAN_HANDPAY, _HANDPAY, (handpay_waits, location_is_stated), take_orphan_handpay
    ),
    build_form_rule(
        FORMS,
        EventType.ORPHAN_CREDITS,
        _MENU,
        (credits_are_unclaimed, location_is_stated),
        take_orphan_credits,
    ),
    build_form_rule(
        FORMS,
        EventType.ORPHAN_TICKET,
        RULING,
        (found_ticket_is_named, location_is_stated),
        take_orphan_ticket,
    ),
    Rule(EventType.AFTER_EVENT, EVERYWHERE, (ruling_is_unfinished,), (end_rulings,)),
    Rule(EventType.AFTER_EVENT, EVERYWHERE, (ticket_ruling_is_unfinished,), (end_ticket_ruling,)),
    # Last: credits that another payout returns to the meter for a moment must not invalidate a remainder.
    Rule(EventType.AFTER_EVENT, EVERYWHERE, (cash_out_is_unfinished,), (end_cash_out,)),
)

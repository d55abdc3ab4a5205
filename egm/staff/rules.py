"""Rules of the staff: keys, calls, the service menu, and the forms of work and of rulings on money."""

from typing import Final

from egm.integrity.clock_trust import clock_is_doubted, confirm_clock, date_is_the_clocks
from egm.integrity.lockups import answer_service_call, call_service, language_is_offered, set_language
from egm.kernel.events import EventType, Next, State
from egm.kernel.machine import Cabinet
from egm.kernel.rules import TELL, Effect, Guard, Rule
from egm.kernel.states import (
    AT_WORK,
    AWAKE,
    CHALLENGED,
    EVERYWHERE,
    LISTENING,
    ON_CALL,
    RULING,
    RULING_ON_PRIZES,
    SERVICEABLE,
    only,
)
from egm.money.hand_pays import form_is_whole, record_handpay_form, record_machine_check
from egm.play.prizes_in_kind import exchange_prizes, prize_may_be_cash
from egm.progressive.level_moves import level_may_move, move_level
from egm.progressive.unproved import prize_is_held, rule_on_prize, ruling_is_whole
from egm.staff.disputed import (
    rule_disputed_amount,
    ruling_is_sound,
)
from egm.staff.forms import authorised
from egm.staff.interventions import (
    base_is_in_place,
    base_is_withdrawn,
    close_intervention,
    every_door_is_closed,
    intervention_is_open,
    no_intervention_is_open,
    open_intervention,
    record_intervention_seen,
    return_base,
    somebody_is_at_work,
    withdraw_base,
)
from egm.staff.numbers import number_is_locked, unlock_number
from egm.staff.options import (
    change_options,
    machine_is_open,
    nothing_is_owed,
    option_is_sound,
    start_again,
)
from egm.staff.registers import note_is_whole, record_note
from egm.staff.rulings import (
    complement_is_sound,
    credits_are_forfeit,
    credits_are_unclaimed,
    end_rulings,
    forfeit_credits,
    forfeit_game,
    forfeit_prize,
    found_ticket_is_named,
    game_cannot_end,
    game_is_forfeit,
    handpay_waits,
    pay_complement,
    place_is_said,
    prize_is_forfeit,
    refund_game,
    ruling_is_unfinished,
    take_orphan_credits,
    take_orphan_handpay,
    take_orphan_ticket,
)
from egm.staff.service.effects import (
    answer_page,
    ask_who,
    close_menu,
    key_is_enough,
    menu_may_open,
    nobody_is_asked,
    open_menu,
    page_is_open,
    record_key,
)
from egm.staff.stock import box_is_to_be_counted, count_box, fill_hopper, fill_is_whole
from egm.staff.technician import (
    hard_meters_are_fitted,
    refit_hard_meters,
    settle_faults,
    software_is_signed,
    technician_is_needed,
    verify_software,
)

_HANDPAY: Final = only(State.HANDPAY)
_MENU: Final = only(State.SERVICE_MENU)


def _form(
    event: EventType | tuple[EventType, ...],
    states: frozenset[State],
    guards: tuple[Guard[Cabinet], ...],
    effect: Effect[Cabinet],
    next_: Next = Next.DERIVED,
) -> Rule[Cabinet]:
    """What a form does: by persons who may, and refused out loud."""
    return Rule(event, states, (authorised, *guards), (effect,), next_, TELL)


RULES: Final[tuple[Rule[Cabinet], ...]] = (
    # ------------------------------------------------------------------ the screen, keys and calls
    Rule(EventType.LANGUAGE, LISTENING, (language_is_offered,), (set_language,), Next.SAME, TELL),
    Rule(EventType.SERVICE, LISTENING, (), (call_service,), Next.SAME, TELL),
    Rule(EventType.KEY_MOVED, AWAKE, (), (record_key,)),
    Rule(EventType.KEY_TURNED, ON_CALL, (key_is_enough,), (answer_service_call,), Next.DERIVED, TELL),
    Rule(EventType.KEY_TURNED, CHALLENGED, (nobody_is_asked,), (ask_who,), Next.DERIVED, TELL),
    # ------------------------------------------------------------------ the service menu
    Rule(EventType.MENU, SERVICEABLE, (menu_may_open,), (open_menu,), Next.DERIVED, TELL),
    Rule(EventType.MENU_CLOSED, AWAKE, (), (close_menu,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.ANSWER, AT_WORK, (page_is_open,), (answer_page,), Next.DERIVED),
    # ------------------------------------------------------------------ work at the machine
    _form(
        EventType.OPTIONS,
        AT_WORK,
        (machine_is_open, nothing_is_owed, option_is_sound),
        change_options,
    ),
    _form(EventType.MOVE_LEVEL, AT_WORK, (machine_is_open, nothing_is_owed, level_may_move), move_level),
    _form(EventType.RESTART, AT_WORK, (), start_again),
    _form(EventType.FAULTS_SETTLED, AT_WORK, (technician_is_needed,), settle_faults),
    _form(EventType.CLOCK_CONFIRMED, AT_WORK, (clock_is_doubted, date_is_the_clocks), confirm_clock),
    _form(EventType.VERIFY, AT_WORK, (software_is_signed,), verify_software),
    _form(
        EventType.COUNTERS_EXCHANGED, AT_WORK, (machine_is_open, hard_meters_are_fitted), refit_hard_meters
    ),
    _form(EventType.NUMBER_UNLOCKED, AT_WORK, (number_is_locked,), unlock_number),
    _form(EventType.INTERVENTION_OPENED, AT_WORK, (no_intervention_is_open,), open_intervention),
    _form(
        EventType.INTERVENTION_CLOSED,
        AT_WORK,
        (intervention_is_open, every_door_is_closed),
        close_intervention,
    ),
    Rule(EventType.INTERVENTION_SEEN, AWAKE, (), (record_intervention_seen,)),
    _form(EventType.HOPPER_FILLED, AT_WORK, (fill_is_whole,), fill_hopper),
    _form(EventType.BOX_COUNTED, AT_WORK, (box_is_to_be_counted,), count_box),
    _form(EventType.BASE_WITHDRAWN, AT_WORK, (somebody_is_at_work, base_is_in_place), withdraw_base),
    _form(EventType.BASE_RETURNED, AT_WORK, (somebody_is_at_work, base_is_withdrawn), return_base),
    # ------------------------------------------------------------------ what persons decide about money
    _form(EventType.HANDPAY_FORM, _HANDPAY, (form_is_whole,), record_handpay_form, Next.SAME),
    _form(EventType.FORFEIT_PRIZE, _HANDPAY, (prize_is_forfeit,), forfeit_prize),
    _form(EventType.EXCHANGE_PRIZE, _HANDPAY, (prize_may_be_cash,), exchange_prizes),
    _form(EventType.FORFEIT_CREDITS, _MENU, (credits_are_forfeit,), forfeit_credits),
    _form(EventType.REFUND_GAME, RULING, (game_cannot_end,), refund_game),
    _form(EventType.FORFEIT_GAME, RULING, (game_is_forfeit,), forfeit_game),
    _form(EventType.COMPLEMENT, RULING, (complement_is_sound,), pay_complement),
    _form(EventType.DISPUTED_AMOUNT, RULING, (ruling_is_sound,), rule_disputed_amount),
    _form(
        (EventType.DISPUTE_DECIDED, EventType.EXCLUSION_NOTED, EventType.INCIDENT_JUDGED),
        RULING,
        (note_is_whole,),
        record_note,
    ),
    _form(EventType.ORPHAN_HANDPAY, _HANDPAY, (handpay_waits, place_is_said), take_orphan_handpay),
    _form(EventType.ORPHAN_CREDITS, _MENU, (credits_are_unclaimed, place_is_said), take_orphan_credits),
    _form(EventType.ORPHAN_TICKET, RULING, (found_ticket_is_named, place_is_said), take_orphan_ticket),
    _form(EventType.PRIZE_RULED, RULING_ON_PRIZES, (prize_is_held, ruling_is_whole), rule_on_prize),
    _form(EventType.MACHINE_CHECKED, RULING, (), record_machine_check, Next.SAME),
    # ------------------------------------------------------------------ rulings cut short by a restart
    Rule(EventType.AFTER_EVENT, EVERYWHERE, (ruling_is_unfinished,), (end_rulings,)),
)

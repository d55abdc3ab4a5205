"""State-table rules of staff: keys, calls, the service menu, and the forms of work and of rulings on money."""

from typing import Final

from egm.kernel.events import EventType, NextState
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Rule
from egm.kernel.states import (
    STATES_AFTER_BOOT,
    STATES_AFTER_SELF_TEST,
    STATES_ASKING_FOR_IDENTIFICATION,
    STATES_FOR_ATTENDANT_KEY,
    STATES_FOR_RULINGS,
    STATES_FOR_SERVICE_MENU,
    STATES_WITH_STAFF_AT_WORK,
)
from egm.staff.form import build_form_rule
from egm.staff.forms import STAFF_FORMS
from egm.staff.interventions import (
    any_intervention_is_open,
    base_is_in_place,
    base_is_withdrawn,
    close_intervention,
    every_door_is_closed,
    named_intervention_is_open,
    no_intervention_is_open,
    open_intervention,
    record_intervention_read,
    return_base,
    withdraw_base,
)
from egm.staff.number_unlocking import staff_number_is_locked, unlock_staff_number
from egm.staff.options import (
    OPTION_GUARDS,
    change_options,
    request_restart,
)
from egm.staff.registers import record_dispute, record_exclusion, record_incident, register_note_is_complete
from egm.staff.service.effects import (
    another_position_is_chosen,
    answer_page,
    ask_for_sign_in,
    close_menu,
    key_may_act_without_sign_in,
    menu_may_open,
    move_menu,
    no_service_page_is_open,
    open_menu,
    page_is_open,
    record_key_turn,
)
from egm.staff.service_calls import answer_service_call, show_fault_cannot_be_cleared, toggle_service_call
from egm.staff.stock import box_is_not_counted_yet, fill_amount_is_valid, record_box_count, record_hopper_fill

STAFF_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    # ------------------------------------------------------------------ the screen, keys and calls
    Rule(
        EventType.TOGGLE_SERVICE_CALL,
        STATES_AFTER_SELF_TEST,
        (),
        (toggle_service_call,),
        NextState.SAME,
        REPORT_REFUSAL,
    ),
    Rule(EventType.KEY_SWITCH_CHANGED, STATES_AFTER_BOOT, (), (record_key_turn,)),
    Rule(
        EventType.KEY_TURNED,
        STATES_FOR_ATTENDANT_KEY,
        (key_may_act_without_sign_in,),
        (answer_service_call, show_fault_cannot_be_cleared),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.KEY_TURNED,
        STATES_ASKING_FOR_IDENTIFICATION,
        (no_service_page_is_open,),
        (ask_for_sign_in,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    # ------------------------------------------------------------------ the service menu
    Rule(
        EventType.OPEN_SERVICE_MENU,
        STATES_FOR_SERVICE_MENU,
        (menu_may_open,),
        (open_menu,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.SERVICE_MENU_MOVED,
        STATES_WITH_STAFF_AT_WORK,
        (another_position_is_chosen,),
        (move_menu,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(EventType.SERVICE_MENU_CLOSED, STATES_AFTER_BOOT, (), (close_menu,), NextState.DERIVED_ONCE_TESTED),
    Rule(
        EventType.ANSWER_SERVICE_PAGE,
        STATES_WITH_STAFF_AT_WORK,
        (page_is_open,),
        (answer_page,),
        NextState.DERIVED,
    ),
    # ------------------------------------------------------------------ work at the machine
    build_form_rule(
        STAFF_FORMS,
        EventType.CHANGE_OPTIONS,
        STATES_WITH_STAFF_AT_WORK,
        OPTION_GUARDS,
        change_options,
    ),
    build_form_rule(STAFF_FORMS, EventType.RESTART, STATES_WITH_STAFF_AT_WORK, (), request_restart),
    build_form_rule(
        STAFF_FORMS,
        EventType.UNLOCK_STAFF_NUMBER,
        STATES_WITH_STAFF_AT_WORK,
        (staff_number_is_locked,),
        unlock_staff_number,
    ),
    build_form_rule(
        STAFF_FORMS,
        EventType.INTERVENTION_OPENED,
        STATES_WITH_STAFF_AT_WORK,
        (no_intervention_is_open,),
        open_intervention,
    ),
    build_form_rule(
        STAFF_FORMS,
        EventType.INTERVENTION_CLOSED,
        STATES_WITH_STAFF_AT_WORK,
        (named_intervention_is_open, every_door_is_closed),
        close_intervention,
    ),
    Rule(EventType.INTERVENTION_READ_BY_MONITORING, STATES_AFTER_BOOT, (), (record_intervention_read,)),
    build_form_rule(
        STAFF_FORMS,
        EventType.HOPPER_FILLED,
        STATES_WITH_STAFF_AT_WORK,
        (fill_amount_is_valid,),
        record_hopper_fill,
    ),
    build_form_rule(
        STAFF_FORMS,
        EventType.CASH_BOX_COUNTED,
        STATES_WITH_STAFF_AT_WORK,
        (box_is_not_counted_yet,),
        record_box_count,
    ),
    build_form_rule(
        STAFF_FORMS,
        EventType.CABINET_BASE_WITHDRAWN,
        STATES_WITH_STAFF_AT_WORK,
        (any_intervention_is_open, base_is_in_place),
        withdraw_base,
    ),
    build_form_rule(
        STAFF_FORMS,
        EventType.CABINET_BASE_RETURNED,
        STATES_WITH_STAFF_AT_WORK,
        (any_intervention_is_open, base_is_withdrawn),
        return_base,
    ),
    build_form_rule(
        STAFF_FORMS,
        EventType.DISPUTE_DECIDED,
        STATES_FOR_RULINGS,
        (register_note_is_complete,),
        record_dispute,
    ),
    build_form_rule(
        STAFF_FORMS,
        EventType.PLAYER_EXCLUSION_NOTED,
        STATES_FOR_RULINGS,
        (register_note_is_complete,),
        record_exclusion,
    ),
    build_form_rule(
        STAFF_FORMS,
        EventType.INCIDENT_JUDGED,
        STATES_FOR_RULINGS,
        (register_note_is_complete,),
        record_incident,
    ),
)

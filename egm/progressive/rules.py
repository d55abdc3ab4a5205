"""State-table rules of progressive levels: reactions to a controller's awards, mystery prizes and missing replies."""

from typing import Final

from egm.kernel.events import EventType, NextState, State
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Rule
from egm.kernel.states import (
    STATES_AFTER_BOOT,
    STATES_FOR_PRIZE_RULINGS,
    STATES_WITH_STAFF_AT_WORK,
    single_state,
)
from egm.progressive.enrolment_page import (
    ENROLMENT_FORMS,
    link_files_are_in_machine_folder,
    perform_enrolment_step,
)
from egm.progressive.forms import PROGRESSIVE_FORMS
from egm.progressive.game_levels import (
    attendant_may_settle_without_controller,
    build_game_end_event,
    close_claim,
    no_claim_or_mystery_is_pending,
    settle_hits_without_controller,
)
from egm.progressive.held_prizes import (
    held_prize_can_be_ruled_on,
    prize_ruling_is_complete,
    rule_on_prize,
    ruling_on_prize_can_be_carried_out,
)
from egm.progressive.level_moves import level_can_be_moved, move_level
from egm.staff.form import build_form_rule
from egm.staff.options import (
    main_or_logic_door_is_open,
    no_position_is_in_use,
)
from egm.staff.service.effects import (
    ask_for_sign_in,
    key_may_act_without_sign_in,
    no_service_page_is_open,
)

#: The state in which a game waits for its award.
_AWAITING_AWARD_STATE: Final = single_state(State.AWAITING_AWARD)

PROGRESSIVE_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    Rule(EventType.PROGRESSIVE_CLAIM_CLOSED, STATES_AFTER_BOOT, (), (close_claim,)),
    Rule(EventType.PROGRESSIVE_AMOUNTS_CHANGED, STATES_AFTER_BOOT),  # nothing to record, only to show
    Rule(
        EventType.NO_EVENT_WAITING,
        _AWAITING_AWARD_STATE,
        (no_claim_or_mystery_is_pending,),
        (build_game_end_event,),
    ),
    Rule(
        EventType.KEY_TURNED,
        _AWAITING_AWARD_STATE,
        (attendant_may_settle_without_controller, key_may_act_without_sign_in),
        (settle_hits_without_controller,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    Rule(
        EventType.KEY_TURNED,
        _AWAITING_AWARD_STATE,
        (no_service_page_is_open, attendant_may_settle_without_controller),
        (ask_for_sign_in,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    # ------------------------------------------------------------------ forms of staff
    build_form_rule(
        PROGRESSIVE_FORMS,
        EventType.MOVE_PROGRESSIVE_LEVEL,
        STATES_WITH_STAFF_AT_WORK,
        (main_or_logic_door_is_open, no_position_is_in_use, level_can_be_moved),
        move_level,
    ),
    build_form_rule(
        ENROLMENT_FORMS,
        EventType.ENROL_LINK,
        STATES_WITH_STAFF_AT_WORK,
        (link_files_are_in_machine_folder,),
        perform_enrolment_step,
    ),
    build_form_rule(
        PROGRESSIVE_FORMS,
        EventType.RULE_ON_HELD_PRIZE,
        STATES_FOR_PRIZE_RULINGS,
        (held_prize_can_be_ruled_on, prize_ruling_is_complete, ruling_on_prize_can_be_carried_out),
        rule_on_prize,
    ),
)

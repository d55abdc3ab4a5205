"""State-table rules of integrity: doors, faults, the generator, and who may disable and enable the machine."""

from typing import Final

from egm.integrity.clock_trust import clock_is_doubted, confirm_clock, entered_date_matches_clock
from egm.integrity.forms import INTEGRITY_FORMS
from egm.integrity.lockups import (
    clear_faults_as_attendant,
    disable_for_source,
    enable_for_source,
    record_door_opened,
    record_fault,
    record_fault_cleared,
    restart_generator,
    self_test_or_generator_has_failed,
    take_out_of_service,
)
from egm.integrity.signed_file import cabinet_file_is_unsigned, sign_cabinet_file
from egm.integrity.technician import (
    clear_faults_as_technician,
    hard_meters_are_fitted,
    record_hard_meter_exchange,
    software_is_signed,
    technician_can_clear_fault,
    verify_software,
)
from egm.kernel.events import EventType, NextState, State
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Rule
from egm.kernel.states import (
    STATES_AFTER_BOOT,
    STATES_FOR_ATTENDANT_KEY,
    STATES_WITH_STAFF_AT_WORK,
    single_state,
)
from egm.staff.form import build_form_rule
from egm.staff.options import main_or_logic_door_is_open, no_position_is_in_use
from egm.staff.service.effects import (
    key_may_act_without_sign_in,
)

#: The rules of doors, faults, the generator, and who disables the machine.
INTEGRITY_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    # ------------------------------------------------------------------ doors, faults, who stops the machine
    Rule(EventType.DOOR_OPENED, STATES_AFTER_BOOT, (), (record_door_opened,), NextState.DERIVED_ONCE_TESTED),
    Rule(EventType.FAULT_RAISED, STATES_AFTER_BOOT, (), (record_fault,), NextState.DERIVED_ONCE_TESTED),
    Rule(
        EventType.FAULT_CLEARED, STATES_AFTER_BOOT, (), (record_fault_cleared,), NextState.DERIVED_ONCE_TESTED
    ),
    Rule(
        EventType.GENERATOR_FAILED,
        STATES_AFTER_BOOT,
        (),
        (take_out_of_service,),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(
        EventType.MACHINE_DISABLED,
        STATES_AFTER_BOOT,
        (),
        (disable_for_source,),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(
        EventType.MACHINE_ENABLED, STATES_AFTER_BOOT, (), (enable_for_source,), NextState.DERIVED_ONCE_TESTED
    ),
    Rule(
        EventType.KEY_TURNED,
        single_state(State.TILT),
        (key_may_act_without_sign_in,),
        (clear_faults_as_attendant,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    # ------------------------------------------------------------------ a generator that has failed
    Rule(
        EventType.KEY_TURNED,
        STATES_FOR_ATTENDANT_KEY,
        (self_test_or_generator_has_failed, key_may_act_without_sign_in),
        (restart_generator,),
        NextState.DERIVED,
        REPORT_REFUSAL,
    ),
    # ------------------------------------------------------------------ technician's work
    build_form_rule(
        INTEGRITY_FORMS,
        EventType.CLEAR_FAULTS_AS_TECHNICIAN,
        STATES_WITH_STAFF_AT_WORK,
        (technician_can_clear_fault,),
        clear_faults_as_technician,
    ),
    build_form_rule(
        INTEGRITY_FORMS,
        EventType.CLOCK_CONFIRMED,
        STATES_WITH_STAFF_AT_WORK,
        (clock_is_doubted, entered_date_matches_clock),
        confirm_clock,
    ),
    build_form_rule(
        INTEGRITY_FORMS,
        EventType.CABINET_FILE_SIGNED,
        STATES_WITH_STAFF_AT_WORK,
        (cabinet_file_is_unsigned, no_position_is_in_use),
        sign_cabinet_file,
    ),
    build_form_rule(
        INTEGRITY_FORMS,
        EventType.VERIFY_SOFTWARE,
        STATES_WITH_STAFF_AT_WORK,
        (software_is_signed,),
        verify_software,
    ),
    build_form_rule(
        INTEGRITY_FORMS,
        EventType.HARD_METERS_EXCHANGED,
        STATES_WITH_STAFF_AT_WORK,
        (main_or_logic_door_is_open, hard_meters_are_fitted),
        record_hard_meter_exchange,
    ),
)

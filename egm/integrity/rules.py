"""State-table rules of integrity: doors, faults, the generator, and who disables the machine."""

from typing import Final

from egm.integrity.clock_trust import clock_is_doubted, confirm_clock, entered_date_matches_clock
from egm.integrity.forms import FORMS
from egm.integrity.lockups import (
    clear_tilts,
    disable_for_source,
    enable_for_source,
    record_door_opened,
    record_fault,
    record_fault_cleared,
    restart_generator,
    self_test_or_generator_has_failed,
    take_out_of_service,
)
from egm.integrity.signed_file import file_is_unsigned, sign_file
from egm.integrity.technician import (
    hard_meters_are_fitted,
    refit_hard_meters,
    settle_faults,
    software_is_signed,
    technician_can_clear_fault,
    verify_software,
)
from egm.kernel.events import EventType, Next, State
from egm.kernel.machine import Machine
from egm.kernel.rules import REPORT, Rule
from egm.kernel.states import (
    AT_WORK,
    AWAKE,
    STATES_ON_CALL,
    only,
)
from egm.staff.form import build_form_rule
from egm.staff.options import machine_is_open, no_position_is_in_use
from egm.staff.service.effects import (
    key_may_act_without_sign_in,
)

#: The rules of doors, faults, the generator, and who disables the machine.
RULES: Final[tuple[Rule[Machine], ...]] = (
    # ------------------------------------------------------------------ doors, faults, who stops the machine
    Rule(EventType.DOOR_OPENED, AWAKE, (), (record_door_opened,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.FAULT_RAISED, AWAKE, (), (record_fault,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.FAULT_CLEARED, AWAKE, (), (record_fault_cleared,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.CHANCE_FAILED, AWAKE, (), (take_out_of_service,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.DISABLED, AWAKE, (), (disable_for_source,), Next.DERIVED_ONCE_TESTED),
    Rule(EventType.ENABLED, AWAKE, (), (enable_for_source,), Next.DERIVED_ONCE_TESTED),
    Rule(
        EventType.KEY_TURNED,
        only(State.TILT),
        (key_may_act_without_sign_in,),
        (clear_tilts,),
        Next.DERIVED,
        REPORT,
    ),
    # ------------------------------------------------------------------ a generator that has failed
    Rule(
        EventType.KEY_TURNED,
        STATES_ON_CALL,
        (self_test_or_generator_has_failed, key_may_act_without_sign_in),
        (restart_generator,),
        Next.DERIVED,
        REPORT,
    ),
    # ------------------------------------------------------------------ what a technician puts right
    build_form_rule(FORMS, EventType.FAULTS_SETTLED, AT_WORK, (technician_can_clear_fault,), settle_faults),
    build_form_rule(
        FORMS,
        EventType.CLOCK_CONFIRMED,
        AT_WORK,
        (clock_is_doubted, entered_date_matches_clock),
        confirm_clock,
    ),
    build_form_rule(
        FORMS, EventType.FILE_SIGNED, AT_WORK, (file_is_unsigned, no_position_is_in_use), sign_file
    ),
    build_form_rule(FORMS, EventType.VERIFY, AT_WORK, (software_is_signed,), verify_software),
    build_form_rule(
        FORMS,
        EventType.COUNTERS_EXCHANGED,
        AT_WORK,
        (machine_is_open, hard_meters_are_fitted),
        refit_hard_meters,
    ),
)

"""Staff forms: taking the machine out of service and back, faults, clock, software, cabinet file, hard meters."""

from typing import Final

from egm.integrity.clock_trust import clock_is_doubted
from egm.integrity.signed_file import cabinet_file_is_unsigned
from egm.integrity.technician import hard_meters_are_fitted, software_is_signed, technician_can_clear_fault
from egm.kernel.events import EventType
from egm.people import Permission
from egm.staff.form import REASON_FIELD, FieldKind, Form, FormField
from egm.staff.options import main_or_logic_door_is_open, no_position_is_in_use

INTEGRITY_FORMS: Final[tuple[Form, ...]] = (
    Form(
        id="hold",
        event=EventType.MACHINE_DISABLED,
        permission=Permission.TAKE_OUT_OF_SERVICE,
        menu_section="machine",
        fields=(FormField(name="reason"),),
        preset_values={"source": "operator"},
    ),
    Form(
        id="release",
        event=EventType.MACHINE_ENABLED,
        permission=Permission.TAKE_OUT_OF_SERVICE,
        menu_section="machine",
        preset_values={"source": "operator"},
    ),
    Form(
        id="settle_faults",
        event=EventType.CLEAR_FAULTS_AS_TECHNICIAN,
        permission=Permission.RESTART,
        menu_section="machine",
        fields=(FormField(name="finding", length_max=200),),
        submission_guards=(technician_can_clear_fault,),
    ),
    Form(
        id="clock",
        event=EventType.CLOCK_CONFIRMED,
        permission=Permission.RESTART,
        menu_section="machine",
        fields=(FormField(name="date", kind=FieldKind.DIGITS, length_max=8),),
        submission_guards=(clock_is_doubted,),
    ),
    Form(
        id="verify",
        event=EventType.VERIFY_SOFTWARE,
        permission=Permission.READ_SOFTWARE,
        menu_section="machine",
        submission_guards=(software_is_signed,),
    ),
    Form(
        id="file_signed",
        event=EventType.CABINET_FILE_SIGNED,
        permission=Permission.CONFIGURE,
        menu_section="machine",
        fields=(REASON_FIELD,),
        submission_guards=(cabinet_file_is_unsigned, no_position_is_in_use),
    ),
    Form(
        id="counters",
        event=EventType.HARD_METERS_EXCHANGED,
        permission=Permission.CONFIGURE,
        menu_section="machine",
        fields=(REASON_FIELD, FormField(name="readings", length_max=200)),
        submission_guards=(main_or_logic_door_is_open, hard_meters_are_fitted),
    ),
)

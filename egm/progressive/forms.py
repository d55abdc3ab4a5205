"""Forms about progressives: moving a level's amount to another level, and ruling on prizes that cannot be verified."""

from typing import Final

from egm.kernel.events import EventType
from egm.people import Permission
from egm.progressive.held_prizes import DECISION_DECLINE, DECISION_PAY, held_prize_can_be_ruled_on
from egm.staff.form import REASON_FIELD, FieldKind, Form, FormField
from egm.staff.options import main_or_logic_door_is_open, no_position_is_in_use

PROGRESSIVE_FORMS: Final[tuple[Form, ...]] = (
    Form(
        id="level_move",
        event=EventType.MOVE_PROGRESSIVE_LEVEL,
        permission=Permission.CONFIGURE,
        menu_section="games",
        fields=(FormField(name="source"), FormField(name="target")),
        submission_guards=(main_or_logic_door_is_open, no_position_is_in_use),
    ),
    Form(
        id="prize_ruling",
        event=EventType.RULE_ON_HELD_PRIZE,
        permission=Permission.RULE_ON_MONEY,
        menu_section="games",
        person_count=2,
        fields=(
            FormField(name="decision", kind=FieldKind.CHOICE, choices=(DECISION_PAY, DECISION_DECLINE)),
            REASON_FIELD,
        ),
        submission_guards=(held_prize_can_be_ruled_on,),
    ),
)

"""Forms of progressives: moving a level's amount to another level, and rulings on unproved controller messages."""

from typing import Final

from egm.kernel.events import EventType
from egm.people import Permission
from egm.progressive.unproved import DECLINE, PAY, prize_is_held
from egm.staff.form import REASON, Field, FieldKind, Form
from egm.staff.options import machine_is_open, nothing_is_owed

FORMS: Final[tuple[Form, ...]] = (
    Form(
        id="level_move",
        event=EventType.MOVE_LEVEL,
        permission=Permission.CONFIGURE,
        subject="games",
        fields=(Field(name="source"), Field(name="target")),
        needs=(machine_is_open, nothing_is_owed),
    ),
    Form(
        id="prize_ruling",
        event=EventType.PRIZE_RULED,
        permission=Permission.SETTLE,
        subject="games",
        persons=2,
        fields=(Field(name="decision", kind=FieldKind.CHOICE, choices=(PAY, DECLINE)), REASON),
        needs=(prize_is_held,),
    ),
)

"""The forms of staff work: options, interventions, hopper fills, counts, bases, and notes in the registers."""

from collections.abc import Mapping
from typing import Final

from egm.kernel.events import EventType
from egm.people import Permission
from egm.staff.events import INCIDENT_NOTIFICATION_MEANS
from egm.staff.form import AMOUNT_FIELD, PLAY_ID_FIELD, REASON_FIELD, FieldKind, Form, FormField
from egm.staff.interventions import (
    any_intervention_is_open,
    base_is_in_place,
    base_is_withdrawn,
    every_door_is_closed,
    named_intervention_is_open,
    no_intervention_is_open,
)
from egm.staff.number_unlocking import staff_number_is_locked
from egm.staff.options import AMOUNT_OPTIONS, OPTION_CONDITIONS
from egm.staff.stock import METER_BY_BOX, box_is_not_counted_yet

#: The fields about a base, its lock and the cashier.
_BASE_FIELDS: Final = (FormField(name="base"), FormField(name="lock"), FormField(name="cashier"))
#: The field that says whether something is offered.
_ON_OFF_FIELD: Final = FormField(name="on", kind=FieldKind.CHOICE, choices=("yes", "no"))

#: The operator options, each with its form; opened from the page of the options.
OPTION_FORM_BY_NAME: Final[Mapping[str, Form]] = {
    option: Form(
        id=f"options_{option}",
        event=EventType.CHANGE_OPTIONS,
        permission=Permission.CONFIGURE,
        fields=fields,
        submission_guards=OPTION_CONDITIONS,
        preset_values={"option": option},
    )
    for option, fields in (
        ("game", (_ON_OFF_FIELD,)),
        (
            "denomination",
            (
                FormField(name="denomination_cents", kind=FieldKind.CHOICE, has_untranslated_choices=True),
                _ON_OFF_FIELD,
            ),
        ),
        *(
            (
                option,
                (
                    FormField(
                        name=f"{option}_cents",
                        kind=FieldKind.AMOUNT,
                        value_min=amount_option.amount_min_cents,
                    ),
                ),
            )
            for option, amount_option in AMOUNT_OPTIONS.items()
        ),
    )
}

STAFF_FORMS: Final[tuple[Form, ...]] = (
    *OPTION_FORM_BY_NAME.values(),
    Form(id="restart", event=EventType.RESTART, permission=Permission.RESTART, menu_section="machine"),
    Form(
        id="unlock",
        event=EventType.UNLOCK_STAFF_NUMBER,
        permission=Permission.ENROL_STAFF,
        menu_section="staff",
        fields=(FormField(name="number", kind=FieldKind.DIGITS, length_max=8), REASON_FIELD),
        submission_guards=(staff_number_is_locked,),
    ),
    Form(
        id="intervention",
        event=EventType.INTERVENTION_OPENED,
        permission=Permission.OPEN_DOORS,
        menu_section="staff",
        fields=(FormField(name="reason"),),
        submission_guards=(no_intervention_is_open,),
        preset_values={"kind": "repair"},
    ),
    Form(
        id="collection",
        event=EventType.INTERVENTION_OPENED,
        permission=Permission.COLLECT_CASH,
        menu_section="staff",
        fields=(FormField(name="reason"),),
        submission_guards=(no_intervention_is_open,),
        preset_values={"kind": "collection"},
    ),
    Form(
        id="intervention_end",
        event=EventType.INTERVENTION_CLOSED,
        permission=Permission.OPEN_DOORS,
        menu_section="staff",
        fields=(
            FormField(name="work", length_max=200),
            FormField(name="parts", is_required=False, length_max=200),
        ),
        submission_guards=(named_intervention_is_open, every_door_is_closed),
        preset_values={"kind": "repair"},
    ),
    Form(
        id="collection_end",
        event=EventType.INTERVENTION_CLOSED,
        permission=Permission.COLLECT_CASH,
        menu_section="staff",
        fields=(FormField(name="work", length_max=200),),
        submission_guards=(named_intervention_is_open, every_door_is_closed),
        preset_values={"kind": "collection"},
    ),
    Form(
        id="hopper_fill",
        event=EventType.HOPPER_FILLED,
        permission=Permission.COLLECT_CASH,
        menu_section="money",
        fields=(AMOUNT_FIELD,),
    ),
    Form(
        id="box_count",
        event=EventType.CASH_BOX_COUNTED,
        permission=Permission.COLLECT_CASH,
        menu_section="money",
        fields=(
            FormField(name="box", kind=FieldKind.CHOICE, choices=tuple(METER_BY_BOX)),
            FormField(name="counted_cents", kind=FieldKind.AMOUNT),
        ),
        submission_guards=(box_is_not_counted_yet,),
    ),
    Form(
        id="base_out",
        event=EventType.CABINET_BASE_WITHDRAWN,
        permission=Permission.COLLECT_CASH,
        menu_section="staff",
        fields=(*_BASE_FIELDS, REASON_FIELD),
        submission_guards=(any_intervention_is_open, base_is_in_place),
    ),
    Form(
        id="base_in",
        event=EventType.CABINET_BASE_RETURNED,
        permission=Permission.COLLECT_CASH,
        menu_section="staff",
        fields=_BASE_FIELDS,
        submission_guards=(any_intervention_is_open, base_is_withdrawn),
    ),
    Form(
        id="dispute",
        event=EventType.DISPUTE_DECIDED,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(
            FormField(name="claim"),
            FormField(name="mechanic"),
            FormField(name="decision"),
            PLAY_ID_FIELD,
        ),
    ),
    Form(
        id="incident",
        event=EventType.INCIDENT_JUDGED,
        permission=Permission.JUDGE_INCIDENTS,
        menu_section="players",
        fields=(
            FormField(name="what"),
            FormField(name="judgement"),
            FormField(name="informed", kind=FieldKind.CHOICE, choices=INCIDENT_NOTIFICATION_MEANS),
            FormField(name="officer"),
        ),
    ),
    Form(
        id="exclusion",
        event=EventType.PLAYER_EXCLUSION_NOTED,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(FormField(name="who"), REASON_FIELD),
    ),
)

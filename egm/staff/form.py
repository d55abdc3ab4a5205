"""Forms that staff fill in: their fields, and the rule of the event that a form submits.

Each feature declares its own forms; the service menu shows them. A completed form becomes one
:class:`~egm.kernel.events.Event`, which the state table accepts or refuses. Its payload is a
:class:`~egm.staff.events.FilledForm` with: the values of the fields (amounts as ``int`` minor units, under
names that end in ``_cents``), the form's ``preset_values`` and its id (``form``), ``person`` (a staff number) and
``persons`` (all who authorised it, ``person`` first). Each person was verified by PIN: the first when they signed in
at the menu, a second one just before. The guard of :func:`build_form_rule` accepts only such events; no host and no
player's screen can send one.

The texts are in the screen's catalogues: ``form.<id>.title``, ``form.<id>.<field>`` and, for a choice,
``form.<id>.<field>_<choice>``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from egm.errors import OperatorError
from egm.kernel.events import Event, EventName, NextState, State
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import REPORT_REFUSAL, Effect, Guard, Rule, refusal_code
from egm.people import Permission, Roster
from egm.staff.desk import find_actor
from egm.staff.events import Authorisation, FilledForm, RulingForm


class FieldKind(StrEnum):
    """The kinds of input of a form's field."""

    TEXT = "text"
    DIGITS = "digits"
    """Digits stored as text, with leading zeros: the number of a document or ticket."""
    NUMBER = "number"
    """A whole number, such as a count."""
    AMOUNT = "amount"
    """An amount of money, in minor units."""
    CHOICE = "choice"


class FieldError(OperatorError):
    """Raised if a typed text is not a valid value of a form's field.

    ``code`` is a code of the texts ``service.refused``.
    """

    def __init__(self, field_name: str, code: str, detail: str) -> None:
        super().__init__(f"{field_name}: {detail}")
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One field of a staff form."""

    name: str
    kind: FieldKind = FieldKind.TEXT
    is_required: bool = True
    choices: tuple[str, ...] = ()
    length_max: int = 80
    """The maximum number of characters of a text."""
    value_min: int = 0
    """The smallest valid number or amount; amounts in minor units."""
    value_max: int = 10**12
    """The largest valid number or amount; amounts in minor units."""
    has_untranslated_choices: bool = False
    """Whether the choices are shown as they are, because they are numbers or names of devices."""

    def parse_text(self, text: str) -> str | int | None:
        """Return the field's value for a typed text; None if the field is optional and the text empty.

        Raises :class:`FieldError` if the text is not a valid value.
        """
        text = text.strip()
        if not text:
            if self.is_required:
                raise FieldError(self.name, "missing", "a value is needed")
            return None
        if len(text) > self.length_max or not text.isprintable():
            raise FieldError(self.name, "too_long", f"at most {self.length_max} printable characters")
        if self.kind is FieldKind.TEXT:
            return text
        if self.kind is FieldKind.CHOICE:
            if text not in self.choices:
                raise FieldError(
                    self.name, "not_offered", f"{text!r} is not one of {', '.join(self.choices)}"
                )
            return text
        if not (text.isascii() and text.isdigit()):
            raise FieldError(self.name, "not_digits", f"{text!r} is not a number")
        if self.kind is FieldKind.DIGITS:
            return text
        value = int(text)
        if not self.value_min <= value <= self.value_max:
            raise FieldError(
                self.name, "out_of_range", f"{value} is not {self.value_min} to {self.value_max}"
            )
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form that staff fill in at the service menu, and the event that it submits."""

    id: str
    event: EventName
    """The event that the submitted form sends to the state machine."""
    permission: Permission
    fields: tuple[FormField, ...] = ()
    person_count: int = 1
    """The least number of persons who must authorise the form; the profile may require two."""
    submission_guards: tuple[Callable[[PositionMachine, Event], bool], ...] = ()
    """Conditions that must hold when the form is submitted. Its page lists them at once, each as met or not met.

    The rule of the submitted event has the same guards, or applies only in states in which they are met. The text of
    each is ``service.needs.<guard>``.
    """
    menu_section: str = ""
    """The form's section of the main menu; empty: the form is opened from a page."""
    preset_values: Mapping[str, object] = field(default_factory=dict)

    def count_persons_needed(self, machine: PositionMachine) -> int:
        """Return how many persons must authorise the form under this machine's profile."""
        return max(
            self.person_count, 2 if self.permission in machine.profile.staff.two_person_permissions else 1
        )


#: The field of an amount above zero.
AMOUNT_FIELD: Final = FormField(name="amount_cents", kind=FieldKind.AMOUNT, value_min=1)


#: The field of a reason.
REASON_FIELD: Final = FormField(name="reason")


#: The field of the location where something was found.
LOCATION_FIELD: Final = FormField(name="place")


#: The optional field of a game's play id.
PLAY_ID_FIELD: Final = FormField(name="play_id", is_required=False)


def is_authorised(machine: PositionMachine, event: Event, permission: Permission, person_count: int) -> bool:
    """Return whether at least ``person_count`` persons, all with the permission, have authorised an event."""
    person_ids = event.read_payload(Authorisation).persons
    if len(set(person_ids)) < person_count:
        return False
    authorising_people = [
        machine.component(Roster).find_enabled_person(person_id) for person_id in person_ids
    ]
    return all(person is not None and person.has_permission(permission) for person in authorising_people)


def list_event_persons(machine: PositionMachine, event: Event) -> list[str]:
    """Return who caused the event: all who authorised it by PIN or, if nobody did, the result of :func:`find_actor`."""
    return list(event.read_payload(Authorisation).persons or (find_actor(machine, event),))


def build_ruling_details(machine: PositionMachine, event: Event, **further_fields: Any) -> dict[str, Any]:
    """Return the fields of a journal record about a staff ruling: machine, location, reason, persons.

    The fields given as further keyword arguments are added.
    """
    ruling = event.read_payload(RulingForm)
    return {
        "machine": machine.identity.serial,
        "location": ruling.location or machine.identity.operator_number,
        "reason": ruling.reason,
        "persons": list_event_persons(machine, event),
        **further_fields,
    }


def build_form_rule(
    forms: Iterable[Form],
    event: EventName | tuple[EventName, ...],
    states: frozenset[State],
    guards: tuple[Guard[PositionMachine], ...],
    effect: Effect[PositionMachine],
    next_state: NextState = NextState.DERIVED,
) -> Rule[PositionMachine]:
    """Return the state-table rule of an event that staff forms submit.

    The rule's first guard, ``authorised``, requires that the event comes from one of ``forms`` and is
    authorised by as many different permitted persons as the form needs. Refusals are shown to the persons.
    """
    form_by_id = {form.id: form for form in forms}

    @refusal_code("authorised")
    def form_is_authorised(machine: PositionMachine, event: Event) -> bool:
        """Return whether the event came from a staff form and is authorised by as many persons as the form needs."""
        form = form_by_id.get(event.read_payload(FilledForm).form_id or "")
        return (
            form is not None
            and form.event is event.name
            and is_authorised(machine, event, form.permission, form.count_persons_needed(machine))
        )

    return Rule(event, states, (form_is_authorised, *guards), (effect,), next_state, REPORT_REFUSAL)

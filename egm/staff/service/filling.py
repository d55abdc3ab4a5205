"""Filling in a staff form: the fields one by one, a summary, a second person if required, then the submission."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from egm.kernel.events import Event
from egm.kernel.feature import Features
from egm.kernel.machine import Machine
from egm.kernel.rules import get_refusal_code
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, Prompt, ServicePage
from egm.people import Person
from egm.staff.desk import GoBack, MenuPage, Move, OpenPage, ServiceDesk, StayOnPage, SubmitEvent, refuse
from egm.staff.form import Field, FieldError, FieldKind, Form
from egm.staff.service.sign_in import PAGES, SignInPage
from egm.staff.words import BACK, say, say_money, say_number, say_plain

#: Kind of field -> kind of prompt.
_PROMPT_KIND_BY_FIELD_KIND: Final[Mapping[FieldKind, Literal["digits", "amount", "text", "choice"]]] = {
    FieldKind.TEXT: "text",
    FieldKind.DIGITS: "digits",
    FieldKind.NUMBER: "digits",
    FieldKind.AMOUNT: "amount",
    FieldKind.CHOICE: "choice",
}


@dataclass(slots=True)
class FormFillingPage(MenuPage):
    """Page on which a staff form is filled in; ``values`` are the fields entered so far."""

    form: Form
    values: dict[str, str | int | None] = field(default_factory=dict)

    @property
    def _next_field(self) -> Field | None:
        """Return the first field of the form that has not been entered, or None."""
        return next((entry for entry in self.form.fields if entry.name not in self.values), None)

    def build_page(self, machine: Machine) -> ServicePage:
        """Return the form's page: the fields entered, and the next field or the confirmation."""
        next_field = self._next_field
        rows = tuple(
            PageRow(cells=(self._build_label(entry), self._format_field_value(entry)))
            for entry in self.form.fields
            if entry.name in self.values
        )
        confirm = PageAction(id="confirm", label=say("service.confirm"), style="confirm")
        conditions = self._list_submission_conditions(machine)
        return ServicePage(
            id="",
            title=say(f"form.{self.form.id}.title"),
            tables=(
                *([PageTable(rows=rows)] if rows else []),
                *([PageTable(title=say("service.form.needs"), rows=conditions)] if conditions else []),
            ),
            prompt=None if next_field is None else self._build_prompt(next_field),
            actions=(BACK,) if next_field is not None else (BACK, confirm),
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:
        """Accept the typed value of a form's field; after the last one, get authorisation and submit the form."""
        next_field = self._next_field
        if action == "enter" and next_field is not None:
            try:
                self.values = {**self.values, next_field.name: next_field.read(text)}
            except FieldError as error:
                return refuse(error.reason)
            return StayOnPage()
        if action != "confirm" or next_field is not None:
            return refuse("not_offered")
        person = machine.component(ServiceDesk).person
        if person is None:
            return GoBack()
        if self.form.count_persons_needed(machine) > 1:
            return OpenPage(
                SignInPage(
                    lambda machine, second: self._build_submission(
                        machine, (person, second), pages=1 + PAGES
                    ),
                    say("service.second_person"),
                    permission=self.form.permission,
                    excluded_staff_number=person.id,
                )
            )
        return self._build_submission(machine, (person,), pages=1)

    def _build_submission(self, machine: Machine, persons: tuple[Person, ...], pages: int) -> Move:
        """Return the page result that submits the form with its persons, then leaves the given number of pages."""
        values = {
            **self.form.values,
            **self.values,
            "form": self.form.id,
            "person": persons[0].id,
            "persons": tuple(person.id for person in persons),
        }
        return SubmitEvent(self._build_event(machine, values), pages=pages)

    def _build_event(self, machine: Machine, values: Mapping[str, object]) -> Event:
        """Return the event that the form submits, with the given field values as its payload."""
        return machine.component(Features).rules.payloads.build_event(self.form.event, values)

    def _list_submission_conditions(self, machine: Machine) -> tuple[PageRow, ...]:
        """Return one row for each condition for submitting the form, marked by whether the condition holds now."""
        if not self.form.needs:
            return ()
        event = self._build_event(machine, self.form.values)
        return tuple(
            PageRow(
                cells=(say(f"service.needs.{get_refusal_code(guard)}"),),
                icon="good" if guard(machine, event) else "warning",
            )
            for guard in self.form.needs
        )

    def _build_label(self, entry: Field) -> PageText:
        """Return the label of a form's field as text."""
        return say(f"form.{self.form.id}.{entry.name}")

    def _format_field_value(self, entry: Field) -> PageText:
        """Return the entered value of a form's field as text."""
        value = self.values[entry.name]
        if value is None:
            return say_plain("")
        if entry.kind is FieldKind.CHOICE:
            return self._format_choice(entry, str(value))
        if entry.kind is FieldKind.AMOUNT:
            return say_money(int(value))
        return say_number(value) if isinstance(value, int) else say_plain(value)

    def _format_choice(self, entry: Field, choice: str) -> PageText:
        """Return one of the choices of a form's field as text."""
        if entry.has_untranslated_choices:
            return say_money(int(choice)) if entry.name.endswith("_cents") else say_plain(choice)
        return say(f"form.{self.form.id}.{entry.name}_{choice}")

    def _build_prompt(self, entry: Field) -> Prompt:
        """Return the prompt for the value of a form's field."""
        return Prompt(
            label=self._build_label(entry),
            kind=_PROMPT_KIND_BY_FIELD_KIND[entry.kind],
            length_max=entry.length_max,
            choices=tuple(
                PageAction(id=choice, label=self._format_choice(entry, choice)) for choice in entry.choices
            ),
        )

"""Filling in a staff form: the fields one by one, a summary, a second person if required, then the submission."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from egm.kernel.events import Event
from egm.kernel.feature import Features
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import get_refusal_code
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, Prompt, ServicePage
from egm.people import Person
from egm.staff.desk import (
    GoBack,
    MenuPage,
    OpenPage,
    PageResult,
    ServiceDesk,
    StayOnPage,
    SubmitEvent,
    build_refusal,
)
from egm.staff.form import FieldError, FieldKind, Form, FormField
from egm.staff.page_texts import (
    BACK_ACTION,
    build_money_text,
    build_number_text,
    build_plain_text,
    build_text,
)
from egm.staff.service.sign_in import SIGN_IN_PAGE_COUNT, SignInPage

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
    """Page on which a staff form is filled in."""

    form: Form
    entered_values: dict[str, str | int | None] = field(default_factory=dict)
    """The values entered so far, by field; None if an optional field was left empty."""

    @property
    def _next_field(self) -> FormField | None:
        """Return the first field of the form that has not been entered, or None."""
        return next(
            (form_field for form_field in self.form.fields if form_field.name not in self.entered_values),
            None,
        )

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the form's page: the fields entered, and the next field or the confirmation."""
        next_field = self._next_field
        rows = tuple(
            PageRow(cells=(self._build_label(form_field), self._format_field_value(form_field)))
            for form_field in self.form.fields
            if form_field.name in self.entered_values
        )
        confirm_action = PageAction(id="confirm", label=build_text("service.confirm"), style="confirm")
        condition_rows = self._list_submission_conditions(machine)
        return ServicePage(
            id="",
            title=build_text(f"form.{self.form.id}.title"),
            tables=(
                *([PageTable(rows=rows)] if rows else []),
                *(
                    [PageTable(title=build_text("service.form.needs"), rows=condition_rows)]
                    if condition_rows
                    else []
                ),
            ),
            prompt=None if next_field is None else self._build_prompt(next_field),
            actions=(BACK_ACTION,) if next_field is not None else (BACK_ACTION, confirm_action),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:
        """Accept the typed value of a form's field; after the last field, submit the form.

        If two people must authorise it, the second one signs in first.
        """
        next_field = self._next_field
        if action == "enter" and next_field is not None:
            try:
                self.entered_values = {**self.entered_values, next_field.name: next_field.parse_text(text)}
            except FieldError as error:
                return build_refusal(error.code)
            return StayOnPage()
        if action != "confirm" or next_field is not None:
            return build_refusal("not_offered")
        person = machine.component(ServiceDesk).signed_in_person
        if person is None:
            return GoBack()
        if self.form.count_persons_needed(machine) > 1:
            return OpenPage(
                SignInPage(
                    lambda machine, second_person: self._build_submission(
                        machine, (person, second_person), page_count=1 + SIGN_IN_PAGE_COUNT
                    ),
                    build_text("service.second_person"),
                    permission=self.form.permission,
                    excluded_staff_number=person.id,
                )
            )
        return self._build_submission(machine, (person,), page_count=1)

    def _build_submission(
        self, machine: PositionMachine, persons: tuple[Person, ...], page_count: int
    ) -> PageResult:
        """Return the result that submits the form as authorised by ``persons``, and leaves ``page_count`` pages."""
        field_values = {
            **self.form.preset_values,
            **self.entered_values,
            "form": self.form.id,
            "person": persons[0].id,
            "persons": tuple(person.id for person in persons),
        }
        return SubmitEvent(self._build_event(machine, field_values), page_count=page_count)

    def _build_event(self, machine: PositionMachine, field_values: Mapping[str, object]) -> Event:
        """Return the event that the form submits, with the given field values as its payload."""
        return machine.component(Features).state_table.payloads.build_event(self.form.event, field_values)

    def _list_submission_conditions(self, machine: PositionMachine) -> tuple[PageRow, ...]:
        """Return one row for each guard of the form's submission, marked by whether its condition holds now."""
        if not self.form.submission_guards:
            return ()
        event = self._build_event(machine, self.form.preset_values)
        return tuple(
            PageRow(
                cells=(build_text(f"service.needs.{get_refusal_code(guard)}"),),
                icon="good" if guard(machine, event) else "warning",
            )
            for guard in self.form.submission_guards
        )

    def _build_label(self, form_field: FormField) -> PageText:
        """Return the label of a form's field as text."""
        return build_text(f"form.{self.form.id}.{form_field.name}")

    def _format_field_value(self, form_field: FormField) -> PageText:
        """Return the entered value of a form's field as text."""
        value = self.entered_values[form_field.name]
        if value is None:
            return build_plain_text("")
        if form_field.kind is FieldKind.CHOICE:
            return self._format_choice(form_field, str(value))
        if form_field.kind is FieldKind.AMOUNT:
            return build_money_text(int(value))
        return build_number_text(value) if isinstance(value, int) else build_plain_text(value)

    def _format_choice(self, form_field: FormField, choice: str) -> PageText:
        """Return one of the choices of a form's field as text."""
        if form_field.has_untranslated_choices:
            return (
                build_money_text(int(choice))
                if form_field.name.endswith("_cents")
                else build_plain_text(choice)
            )
        return build_text(f"form.{self.form.id}.{form_field.name}_{choice}")

    def _build_prompt(self, form_field: FormField) -> Prompt:
        """Return the prompt for the value of a form's field."""
        return Prompt(
            label=self._build_label(form_field),
            kind=_PROMPT_KIND_BY_FIELD_KIND[form_field.kind],
            length_max=form_field.length_max,
            choices=tuple(
                PageAction(id=choice, label=self._format_choice(form_field, choice))
                for choice in form_field.choices
            ),
        )

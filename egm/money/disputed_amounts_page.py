"""Service pages for disputed amounts: the list, and the form for a ruling."""

from dataclasses import replace
from typing import Final

from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageRow, PageTable, ServicePage
from egm.money.disputed_amounts import DisputedAmount, read_disputed_amounts_by_id
from egm.money.forms import DISPUTED_AMOUNT_FORM, DISPUTED_TICKET_FORM
from egm.people import Permission
from egm.staff.desk import MenuItem, MenuPage, OpenPage, PageResult, build_refusal
from egm.staff.form import Form
from egm.staff.page_texts import (
    BACK_ACTION,
    build_column_titles,
    build_money_text,
    build_plain_text,
    build_text,
    build_time_text,
)
from egm.staff.service.form_filling import FormFillingPage


class DisputedAmountsPage(MenuPage):
    """The service page that lists every disputed amount that waits for a ruling."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page with one row per disputed amount: time, id, reason and bounds."""
        rows = tuple(
            PageRow(
                cells=(
                    build_time_text(disputed_amount.opened_at),
                    build_plain_text(disputed_amount.id),
                    build_plain_text(disputed_amount.reason),
                    build_money_text(disputed_amount.amount_min_cents),
                    build_money_text(disputed_amount.amount_max_cents),
                ),
                action=f"disputed:{disputed_amount.id}",
                icon="warning",
            )
            for disputed_amount in read_disputed_amounts_by_id(machine).values()
        )
        table = PageTable(columns=build_column_titles("time", "id", "reason", "least", "most"), rows=rows)
        return ServicePage(
            id="", title=build_text("service.menu.disputed"), tables=(table,), actions=(BACK_ACTION,)
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the form for a ruling on the disputed amount whose row was touched."""
        disputed_amount = read_disputed_amounts_by_id(machine).get(action.removeprefix("disputed:"))
        return (
            build_refusal("not_offered")
            if disputed_amount is None
            else OpenPage(FormFillingPage(_build_ruling_form(disputed_amount)))
        )


def _build_ruling_form(disputed_amount: DisputedAmount) -> Form:
    """Return the form for a ruling on a disputed amount; it accepts only amounts within its bounds."""
    if disputed_amount.is_about_print_job:
        return replace(DISPUTED_TICKET_FORM, preset_values={"disputed": disputed_amount.id})
    fields = tuple(
        replace(
            form_field, value_min=disputed_amount.amount_min_cents, value_max=disputed_amount.amount_max_cents
        )
        if form_field.name == "amount_cents"
        else form_field
        for form_field in DISPUTED_AMOUNT_FORM.fields
    )
    return replace(DISPUTED_AMOUNT_FORM, fields=fields, preset_values={"disputed": disputed_amount.id})


MENU_ITEMS: Final = (MenuItem("disputed", "money", Permission.RULE_ON_MONEY, DisputedAmountsPage),)

"""Intervention sheets at the machine: a page that lists them, and a page with each sheet in its printed form."""

from typing import Final

from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageRow, PageTable, PageText, ServicePage
from egm.people import Permission
from egm.staff.desk import MenuItem, MenuPage, OpenPage, PageResult, build_refusal
from egm.staff.intervention_sheet import InterventionSheet, iter_last_sheets
from egm.staff.page_texts import (
    BACK_ACTION,
    build_column_titles,
    build_plain_text,
    build_text,
    build_time_text,
)

#: Number of sheets listed at the machine; ``egm intervention list`` lists all of them.
_LISTED_SHEETS_MAX: Final = 50


class InterventionListPage(MenuPage):
    """Page that lists the sheets of the last interventions, newest first."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page with one line per intervention."""
        rows = tuple(
            PageRow(
                cells=(
                    build_time_text(sheet.opened_time),
                    build_plain_text(sheet.person),
                    build_plain_text(sheet.reason),
                    _build_end_text(sheet),
                ),
                action=sheet.id,
                icon="" if sheet.closed_time else "warning",
            )
            for sheet in _list_last_sheets(machine)
        )
        table = PageTable(columns=build_column_titles("time", "person", "reason", "ended"), rows=rows)
        return ServicePage(
            id="", title=build_text("service.menu.interventions"), tables=(table,), actions=(BACK_ACTION,)
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the sheet of the touched intervention."""
        selected_sheet = next((sheet for sheet in _list_last_sheets(machine) if sheet.id == action), None)
        return (
            build_refusal("not_offered")
            if selected_sheet is None
            else OpenPage(InterventionSheetPage(selected_sheet))
        )


class InterventionSheetPage(MenuPage):
    """Page of one intervention sheet. It shows the sheet as it was when the page was opened."""

    def __init__(self, sheet: InterventionSheet) -> None:
        self._sheet = sheet

    def build_page(self, machine: PositionMachine) -> ServicePage:  # noqa: ARG002 (signature of a menu page)
        """Return the page with the tables of the intervention sheet."""
        title = build_text("service.sheet.title", number=self._sheet.id)
        return ServicePage(id="", title=title, tables=self._sheet.build_tables(), actions=(BACK_ACTION,))

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Refuse any action: the page only offers the way back."""
        return build_refusal("not_offered")


def _list_last_sheets(machine: PositionMachine) -> list[InterventionSheet]:
    """Return the sheets of the last interventions, newest first."""
    return list(iter_last_sheets(machine.journal, machine.entry_declarations, _LISTED_SHEETS_MAX))


def _build_end_text(sheet: InterventionSheet) -> PageText:
    """Return when the intervention ended, or that it is open, as text."""
    return build_time_text(sheet.closed_time) if sheet.closed_time else build_text("service.sheet.open")


MENU_ITEMS: Final = (MenuItem("interventions", "staff", Permission.READ_LOGS, InterventionListPage),)

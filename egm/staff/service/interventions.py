"""Intervention sheets at the machine: a list, and each in its printed form."""

from typing import Final

from egm.kernel.machine import Machine
from egm.kernel.service_pages import Row, ServicePage, Table, Words
from egm.people import Permission
from egm.staff.service.desk import Entry, Go, Move, Place, refuse
from egm.staff.service.words import BACK, columns, moment, plain, say
from egm.staff.sheet import Sheet, sheets

#: Sheets listed at the machine; ``egm intervention list`` lists them all.
_LISTED: Final = 50


class SheetList(Place):
    """Page of the last interventions, newest first."""

    def page(self, machine: Machine) -> ServicePage:
        """Return a page with one line per intervention."""
        rows = tuple(
            Row(
                cells=(moment(sheet.stopped), plain(sheet.person), plain(sheet.reason), _ended(sheet)),
                action=sheet.id,
                mark="" if sheet.ended else "warning",
            )
            for sheet in _last(machine)
        )
        table = Table(columns=columns("time", "person", "reason", "ended"), rows=rows)
        return ServicePage(id="", title=say("service.menu.interventions"), tables=(table,), actions=(BACK,))

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Enter a sheet."""
        found = next((sheet for sheet in _last(machine) if sheet.id == action), None)
        return refuse("not_offered") if found is None else Go(OneSheet(found))


class OneSheet(Place):
    """Page of one sheet, as it was when it was opened."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet

    def page(self, machine: Machine) -> ServicePage:  # noqa: ARG002 (a place's)
        """Return the sheet."""
        title = say("service.sheet.title", number=self._sheet.id)
        return ServicePage(id="", title=title, tables=self._sheet.tables(), actions=(BACK,))

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Refuse any action: the page only offers the way back."""
        return refuse("not_offered")


def _last(machine: Machine) -> list[Sheet]:
    return list(sheets(machine.journal))[::-1][:_LISTED]


def _ended(sheet: Sheet) -> Words:
    return moment(sheet.ended) if sheet.ended else say("service.sheet.open")


PAGES: Final = (Entry("interventions", "staff", Permission.READ_LOGS, SheetList),)

"""The main menu: the pages and forms available to each person, by section, and the search over all of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from egm.kernel.entries import EntryDeclarations
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import StateTable
from egm.kernel.running_positions import RunningPositions
from egm.kernel.service_pages import PageAction, PageRow, PageTable, Prompt, ServicePage
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayRecord
from egm.staff.desk import MenuItem, MenuPage, OpenPage, PageResult, ServiceDesk, SubmitEvent, build_refusal
from egm.staff.events import MenuMove
from egm.staff.form import Form
from egm.staff.page_texts import (
    BACK_ACTION,
    build_code_text,
    build_column_titles,
    build_money_text,
    build_number_text,
    build_plain_text,
    build_text,
)
from egm.staff.service.form_filling import FormFillingPage

#: The sections of the main menu, in order.
MENU_SECTIONS: Final = ("machine", "money", "games", "players", "staff")
#: What a line of the main menu opens.
_LineKind: TypeAlias = Literal["page", "form"]
#: Kind of menu line -> the last part of the key of its table's title.
_TITLE_BY_LINE_KIND: Final[Mapping[_LineKind, str]] = {"page": "reading", "form": "forms"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceMenu:
    """The pages and forms that all features contribute to the main menu."""

    menu_items: tuple[MenuItem, ...]
    forms: tuple[Form, ...]
    rules: StateTable[PositionMachine]
    """The state-table rules of the forms' events, for the manual."""
    entry_declarations: EntryDeclarations
    """The declared journal entries, for the manual."""

    def list_section_pages(self, section: str) -> tuple[MenuItem, ...]:
        """Return the pages in one section of the main menu."""
        return tuple(menu_item for menu_item in self.menu_items if menu_item.menu_section == section)

    def list_section_forms(self, section: str) -> tuple[Form, ...]:
        """Return the staff forms in one section of the main menu."""
        return tuple(form for form in self.forms if form.menu_section == section)


class MainMenuPage(MenuPage):
    """Main menu: the sections available to the signed-in person, and the other player positions."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the main menu: a button for each section, and the search.

        On a machine with several player positions, it also shows the state and the hand-pay of each.
        """
        sections = tuple(
            PageAction(id=f"subject:{section}", label=build_text(f"service.section.{section}"))
            for section in MENU_SECTIONS
            if any(_iter_section_rows(machine, section))
        )
        return ServicePage(
            id="",
            title=build_text("service.menu.title"),
            tables=tuple(_iter_position_tables(machine)),
            actions=(
                *sections,
                PageAction(id="search", label=build_text("service.menu.search")),
                PageAction(id="leave", label=build_text("service.leave"), style="back"),
            ),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open a section, the search, a page or a form; or move the menu to another position."""
        target, _, argument = action.partition(":")
        if target == "position" and argument in {
            str(number) for number in machine.component(RunningPositions).position_by_number
        }:
            return SubmitEvent(Event(EventType.SERVICE_MENU_MOVED, MenuMove(position_number=int(argument))))
        if target == "subject" and argument in MENU_SECTIONS:
            return OpenPage(_SectionPage(argument))
        return OpenPage(_MenuSearchPage()) if action == "search" else _open_menu_line(machine, action)


@dataclass(frozen=True, slots=True)
class _SectionPage(MenuPage):
    """Page of one section of the main menu: its pages, then its forms."""

    menu_section: str

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return a page with one line for each page and form that the signed-in person may use."""
        return ServicePage(
            id="",
            title=build_text(f"service.section.{self.menu_section}"),
            tables=tuple(_iter_section_tables(machine, (self.menu_section,))),
            actions=(BACK_ACTION,),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the touched page or form."""
        return _open_menu_line(machine, action)


class _MenuSearchPage(MenuPage):
    """Page with every line of the main menu, which the screen filters by the typed letters."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return a page with the lines of all sections of the main menu."""
        return ServicePage(
            id="",
            title=build_text("service.menu.search"),
            tables=tuple(_iter_section_tables(machine, MENU_SECTIONS)),
            prompt=Prompt(label=build_text("service.search"), kind="search"),
            actions=(BACK_ACTION,),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the touched page or form."""
        return _open_menu_line(machine, action)


def _iter_position_tables(machine: PositionMachine) -> Iterator[PageTable]:
    """Yield the table of a machine's player positions, if it has several: the state and hand-pay of each."""
    position_by_number = machine.component(RunningPositions).position_by_number
    if len(position_by_number) < 2:
        return
    rows = []
    for number, running_position in sorted(position_by_number.items()):
        handpay = running_position.engine.machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
        rows.append(
            PageRow(
                cells=(
                    build_number_text(number),
                    build_code_text("manual.state", running_position.engine.state.value),
                    build_plain_text("") if handpay is None else build_money_text(handpay.amount_cents),
                ),
                action="" if number == machine.position.number else f"position:{number}",
                icon="" if handpay is None else "warning",
            )
        )
    yield PageTable(columns=build_column_titles("position", "state", "handpay"), rows=tuple(rows))


def _iter_section_tables(machine: PositionMachine, sections: Iterable[str]) -> Iterator[PageTable]:
    """Yield the lines of the given sections of the main menu: a table of all pages, then a table of all forms."""
    for line_kind, title in _TITLE_BY_LINE_KIND.items():
        rows = tuple(row for section in sections for row in _iter_section_rows(machine, section, line_kind))
        if rows:
            yield PageTable(title=build_text(f"service.section.{title}"), rows=rows)


def _iter_section_rows(
    machine: PositionMachine, section: str, line_kind: _LineKind | None = None
) -> Iterator[PageRow]:
    """Yield the lines of a section of the main menu that the signed-in person may use.

    ``line_kind`` selects the pages or the forms; None selects both.
    """
    person, menu = machine.component(ServiceDesk).signed_in_person, machine.component(ServiceMenu)
    if person is None:
        return
    for menu_item in menu.list_section_pages(section) if line_kind != "form" else ():
        if menu_item.permission is None or person.has_permission(menu_item.permission):
            yield PageRow(cells=(build_text(f"service.menu.{menu_item.id}"),), action=menu_item.id)
    for form in menu.list_section_forms(section) if line_kind != "page" else ():
        if person.has_permission(form.permission):
            yield PageRow(cells=(build_text(f"form.{form.id}.title"),), action=f"form:{form.id}")


def _open_menu_line(machine: PositionMachine, action: str) -> PageResult:
    """Return the page result that opens the page or form of the menu line ``action``.

    If the signed-in person may not use it, the result is a refusal.
    """
    if action not in {
        row.action for section in MENU_SECTIONS for row in _iter_section_rows(machine, section)
    }:
        return build_refusal("not_offered")
    menu, (target, _, name) = machine.component(ServiceMenu), action.partition(":")
    if target == "form":
        return OpenPage(FormFillingPage(next(form for form in menu.forms if form.id == name)))
    return OpenPage(next(menu_item for menu_item in menu.menu_items if menu_item.id == action).create_page())

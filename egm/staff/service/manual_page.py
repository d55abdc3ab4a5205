"""The manual in the service menu: its chapters, each a searchable list, in the reader's language."""

from dataclasses import dataclass
from typing import Final

from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageRow, PageTable, Prompt, ServicePage
from egm.staff.desk import MenuItem, MenuPage, OpenPage, PageResult, build_refusal
from egm.staff.page_texts import BACK_ACTION, build_code_text, build_text, build_two_column_table
from egm.staff.service.manual import MANUAL_CHAPTERS, ManualChapter, list_fault_codes
from egm.staff.service.menu import ServiceMenu

#: A chapter with more columns is shown as a list of the first cell of each row; a touch on a cell opens its row.
_TABLE_COLUMNS_MAX: Final = 2


class ManualPage(MenuPage):
    """First page of the manual: the active faults, each with its remedy, and the list of chapters."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return a page with one line for each active fault and for each chapter."""
        active_faults = tuple(
            PageRow(cells=(build_code_text("tilt.text", code),), action=f"faults:{index}", icon="warning")
            for index, code in enumerate(list_fault_codes())
            if code in machine.active_faults
        )
        rows = tuple(PageRow(cells=(chapter.title,), action=chapter.id) for chapter in MANUAL_CHAPTERS)
        return ServicePage(
            id="",
            title=build_text("service.menu.manual"),
            tables=(*([PageTable(rows=active_faults)] if active_faults else []), PageTable(rows=rows)),
            actions=(BACK_ACTION,),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:
        """Open the page of a chapter, or the page of one line of a chapter."""
        chapter_id, _, line_index = action.partition(":")
        chapter = next((chapter for chapter in MANUAL_CHAPTERS if chapter.id == chapter_id), None)
        if chapter is None:
            return build_refusal("not_offered")
        return (
            _ManualChapterPage(chapter).handle_input(machine, line_index, text)
            if line_index
            else OpenPage(_ManualChapterPage(chapter))
        )


@dataclass(frozen=True, slots=True)
class _ManualChapterPage(MenuPage):
    """Page of one chapter of the manual: its table, or, if the table is too wide, a searchable list of its lines."""

    chapter: ManualChapter

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page with the chapter's lines."""
        table = self.chapter.build_table(machine.component(ServiceMenu))
        if len(table.columns) <= _TABLE_COLUMNS_MAX:
            return ServicePage(id="", title=self.chapter.title, tables=(table,), actions=(BACK_ACTION,))
        rows = (PageRow(cells=row.cells[:1], action=str(index)) for index, row in enumerate(table.rows))
        return ServicePage(
            id="",
            title=self.chapter.title,
            tables=(PageTable(rows=tuple(rows)),),
            prompt=Prompt(label=build_text("service.search"), kind="search"),
            actions=(BACK_ACTION,),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the page of the touched line of the chapter."""
        rows = self.chapter.build_table(machine.component(ServiceMenu)).rows
        if not (action.isascii() and action.isdigit() and int(action) < len(rows)):
            return build_refusal("not_offered")
        return OpenPage(_ManualLinePage(self.chapter, rows[int(action)]))


@dataclass(frozen=True, slots=True)
class _ManualLinePage(MenuPage):
    """Page of one line of a chapter of the manual, with all cells of its row."""

    chapter: ManualChapter
    row: PageRow

    def build_page(self, machine: PositionMachine) -> ServicePage:  # noqa: ARG002 (signature of a menu page)
        """Return the page with each cell of the line next to the name of its column."""
        column_titles = (build_text(f"manual.column.{name}") for name in self.chapter.columns)
        table = build_two_column_table(zip(column_titles, self.row.cells, strict=True))
        return ServicePage(id="", title=self.chapter.title, tables=(table,), actions=(BACK_ACTION,))

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Refuse any action: the page only offers the way back."""
        return build_refusal("not_offered")


#: The main menu's line for the manual, which every signed-in person may read.
MENU_ITEMS: Final = (MenuItem("manual", "machine", None, ManualPage),)

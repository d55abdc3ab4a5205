"""The tables of a service page: laid out in the room that there is, on several sheets if they have too many rows."""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from egm.kernel.service_pages import PageRow, PageTable, ServicePage
from egm.screen.painter import Rect, TextAlignment, TextStyle
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.page_elements import draw_icon, format_page_text
from egm.screen.view import Action

#: Height of a row of one line, in units.
_ROW_HEIGHT: Final = 42.0
#: Height of a touchable row, in units.
_TOUCHABLE_ROW_HEIGHT: Final = 62.0
#: Height of a table's title, in units.
_TABLE_TITLE_HEIGHT: Final = 50.0
#: Empty part of a cell's width, in units.
_CELL_PADDING: Final = 22.0
#: Gap between two columns of tables, in units.
_TABLE_COLUMN_GAP: Final = 28.0
#: Distance around the tables' body in which a line's edge may be drawn, and nothing else, in units.
_LINE_EDGE_MARGIN: Final = 4.0
#: A table with no more columns than this may stand beside another.
_NARROW_TABLE_COLUMNS_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class ListingLine:
    """One line of a service page's tables: a title, the column heads, or a row.

    It has the fraction of the width that each column takes.
    """

    kind: Literal["title", "head", "row"]
    cells: tuple[str, ...]
    cell_alignments: tuple[TextAlignment, ...]
    column_width_shares: tuple[float, ...]
    height: float
    action: str = ""
    icon: str = ""
    left_inset: float = 0.0
    """The free width at the left of the cells, for the icons of the rows."""


@dataclass(frozen=True, slots=True)
class PlacedListing:
    """The lines of a service page's tables, each with its rectangle, by sheet."""

    lines_by_sheet: tuple[tuple[tuple[Rect, ListingLine], ...], ...]

    @property
    def sheet_count(self) -> int:
        """Return on how many sheets the tables lie; the page shows one sheet at a time."""
        return len(self.lines_by_sheet)

    def get_sheet_lines(self, sheet_index: int) -> tuple[tuple[Rect, ListingLine], ...]:
        """Return the lines of sheet ``sheet_index`` with their rectangles.

        An index beyond the last sheet starts again with the first sheet.
        """
        return self.lines_by_sheet[sheet_index % len(self.lines_by_sheet)] if self.lines_by_sheet else ()

    def list_touch_targets(self, sheet_index: int) -> list[tuple[Rect, Action]]:
        """Return the touch targets on a sheet: the rows that can be touched."""
        return [
            (rect, Action("answer", line.action))
            for rect, line in self.get_sheet_lines(sheet_index)
            if line.action
        ]


def lay_out_listing(context: DrawingContext, page: ServicePage, body: Rect) -> PlacedListing:
    """Return the tables of a service page, laid out in the rectangle ``body``.

    If the rectangle is wide, all tables are narrow, and they have more than six rows, there are two columns of tables.
    """
    snapshot = context.view.snapshot
    currency = None if snapshot is None else snapshot.currency
    validity_key = (
        page,
        context.texts,
        currency,
        context.view.page_input.typed_text,
        context.layout,
        context.painter.scale,
    )
    return context.painter.cache_result(
        ("listing", body), validity_key, lambda: _lay_out_tables(context, page, body)
    )


def measure_listing(context: DrawingContext, page: ServicePage, body: Rect) -> float:
    """Return the height that a page's tables need at the width of ``body``, in units, even if ``body`` is lower."""
    lines = lay_out_listing(context, page, (*body[:3], math.inf)).get_sheet_lines(0)
    return max((rect[1] + rect[3] for rect, _ in lines), default=body[1]) - body[1]


def _lay_out_tables(context: DrawingContext, page: ServicePage, body: Rect) -> PlacedListing:
    """Lay out the tables of a service page in the rectangle ``body``; :func:`lay_out_listing` caches the result."""
    tables = _list_matching_tables(context, page)
    are_narrow = all(_count_columns(table) <= _NARROW_TABLE_COLUMNS_MAX for table in tables)
    row_count = sum(len(table.rows) for table in tables)
    has_two_columns = are_narrow and body[2] > 1200 and row_count > 6
    width = (body[2] - _TABLE_COLUMN_GAP) / 2 if has_two_columns else body[2]
    # Search results share the page with a keyboard, so their rows are lower on a telephone.
    is_search = page.prompt is not None and page.prompt.kind == "search"
    touchable_height = (
        _TOUCHABLE_ROW_HEIGHT if is_search else max(_TOUCHABLE_ROW_HEIGHT, context.layout.touch_size_min)
    )
    lines_by_table = [_build_lines(context, table, width, touchable_height) for table in tables]
    return PlacedListing(_arrange_lines(lines_by_table, body, width, has_two_columns=has_two_columns))


def _list_matching_tables(context: DrawingContext, page: ServicePage) -> tuple[PageTable, ...]:
    """Return the tables of a service page.

    On a search page they have only the rows whose first cell contains the typed text; case and accents do not matter.
    """
    search_text = _normalise_for_search(context.view.page_input.typed_text)
    if page.prompt is None or page.prompt.kind != "search" or not search_text:
        return page.tables
    matching_tables = (
        table.model_copy(
            update={
                "rows": tuple(
                    row
                    for row in table.rows
                    if search_text in _normalise_for_search(format_page_text(context, row.cells[0]))
                )
            }
        )
        for table in page.tables
    )
    return tuple(table for table in matching_tables if table.rows)


def _normalise_for_search(text: str) -> str:
    """Return a text in lower case and without accents, for searching."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _count_columns(table: PageTable) -> int:
    """Return the number of columns of a service page's table."""
    return max([len(table.columns), *(len(row.cells) for row in table.rows)], default=0)


def _build_lines(
    context: DrawingContext, table: PageTable, width: float, touch_size_min: float
) -> list[ListingLine]:
    """Return the lines of a service page's table with their heights: its title, column heads and rows."""
    column_count = _count_columns(table)
    row_texts = [tuple(format_page_text(context, cell) for cell in row.cells) for row in table.rows]
    column_headings = tuple(format_page_text(context, text) for text in table.columns)
    left_inset = 40.0 if any(row.icon for row in table.rows) else 0.0
    width_shares = _compute_column_shares(
        context, [column_headings, *row_texts], column_count, width - left_inset
    )
    alignments = tuple(_choose_alignment(table.rows, i, column_count) for i in range(column_count))
    lines: list[ListingLine] = []
    if table.title is not None:
        lines.append(
            ListingLine(
                "title", (format_page_text(context, table.title),), ("left",), (1.0,), _TABLE_TITLE_HEIGHT
            )
        )
    if column_headings:
        height = _compute_row_height(context, column_headings, width_shares, width - left_inset)
        lines.append(
            ListingLine("head", column_headings, alignments, width_shares, height, left_inset=left_inset)
        )
    height_min = touch_size_min if any(row.action for row in table.rows) else 0.0
    for row, cells in zip(table.rows, row_texts, strict=True):
        height = max(height_min, _compute_row_height(context, cells, width_shares, width - left_inset))
        lines.append(
            ListingLine("row", cells, alignments, width_shares, height, row.action, row.icon, left_inset)
        )
    if not row_texts:
        lines.append(
            ListingLine("row", (context.texts.translate("page.none"),), ("left",), (1.0,), _ROW_HEIGHT)
        )
    return lines


def _choose_alignment(rows: Sequence[PageRow], column_index: int, column_count: int) -> TextAlignment:
    """Return how the cells of a column are aligned.

    Numbers are aligned to the right, except in the first column. In a table of two columns, the second is always
    aligned to the right.
    """
    kinds = {row.cells[column_index].kind for row in rows if column_index < len(row.cells)}
    if column_index and kinds and kinds <= {"money", "number"}:
        return "right"
    return "right" if column_count == 2 and column_index == 1 else "left"


def _compute_column_shares(
    context: DrawingContext, lines: Sequence[tuple[str, ...]], column_count: int, width: float
) -> tuple[float, ...]:
    """Return the fraction of the width for each column of a table.

    It depends on the column's longest cell, and has room for its longest word.
    """
    style = TextStyle("strong", "small")
    painter = context.painter
    cells_by_column = [[line[i] for line in lines if i < len(line)] for i in range(column_count)]
    full_widths = [
        max([painter.measure_text(cell, style) for cell in column_cells] or [0.0]) + 28
        for column_cells in cells_by_column
    ]
    small_style = TextStyle("strong", "caption")
    longest_word_widths = [
        max(
            [painter.measure_text(word, small_style) for cell in column_cells for word in cell.split(" ")]
            or [0.0]
        )
        + _CELL_PADDING
        + 4
        for column_cells in cells_by_column
    ]
    width_min = width * 0.08
    if not sum(longest_word_widths) <= width < sum(full_widths):
        total = sum(max(full_width, width_min) for full_width in full_widths) or 1.0
        return tuple(max(full_width, width_min) / total for full_width in full_widths)
    # Each column has room for its longest word, and the same share of what its longest cell needs in addition.
    granted_share = (width - sum(longest_word_widths)) / (sum(full_widths) - sum(longest_word_widths))
    return tuple(
        (word_width + (full_width - word_width) * granted_share) / width
        for full_width, word_width in zip(full_widths, longest_word_widths, strict=True)
    )


def _compute_row_height(
    context: DrawingContext, cells: tuple[str, ...], width_shares: tuple[float, ...], width: float
) -> float:
    """Return the height of a table row, in units.

    It has room for the lines of its longest cell, whether that is drawn in bold or in normal type.
    """
    painter = context.painter
    cell_widths = [width * share - _CELL_PADDING for share in width_shares]
    line_count = max(
        [
            len(painter.wrap_text(cell, cell_width, TextStyle(face, "caption")))
            for cell, cell_width in zip(cells, cell_widths, strict=False)
            for face in ("strong", "text")
        ],
        default=1,
    )
    return (
        _ROW_HEIGHT if line_count == 1 else 14.0 + line_count * context.theme.size_by_name["caption"] * 1.16
    )


def _arrange_lines(
    lines_by_table: list[list[ListingLine]], body: Rect, column_width: float, *, has_two_columns: bool
) -> tuple[tuple[tuple[Rect, ListingLine], ...], ...]:
    """Return the lines of all tables on each sheet, with their rectangles.

    A sheet is filled from the top, then, if ``has_two_columns``, its second column. A table moves from the first of two
    columns to the second if it does not fit into the room left in the first, but fits into an empty column. From any
    other column, it moves to the next only if its heads and first row do not fit. A table that is continued repeats its
    column heads and, on another sheet, also its title.
    """
    x, y, _, h = body
    sheets: list[list[tuple[Rect, ListingLine]]] = [[]]
    column, top = 0, y

    def start_column() -> None:
        """Start at the top of the next column; if the sheet has no further column, on a new sheet."""
        nonlocal column, top
        top = y
        column = 1 - column if has_two_columns else 0
        if column == 0:
            sheets.append([])

    for table_lines in lines_by_table:
        heading_lines = [line for line in table_lines if line.kind != "row"]
        rows = [line for line in table_lines if line.kind == "row"]
        height_min = sum(line.height for line in heading_lines) + (rows[0].height if rows else 0.0)
        height = sum(line.height for line in table_lines)
        if (
            top > y
            and top + (height if has_two_columns and column == 0 and height <= h else height_min) > y + h
        ):
            start_column()
        for line in heading_lines:
            sheets[-1].append(
                ((x + column * (column_width + _TABLE_COLUMN_GAP), top, column_width, line.height), line)
            )
            top += line.height
        for line in rows:
            if top + line.height > y + h and top > y:
                start_column()
                for heading_line in (
                    heading_line
                    for heading_line in heading_lines
                    if heading_line.kind == "head" or column == 0
                ):
                    sheets[-1].append(
                        (
                            (
                                x + column * (column_width + _TABLE_COLUMN_GAP),
                                top,
                                column_width,
                                heading_line.height,
                            ),
                            heading_line,
                        )
                    )
                    top += heading_line.height
            sheets[-1].append(
                ((x + column * (column_width + _TABLE_COLUMN_GAP), top, column_width, line.height), line)
            )
            top += line.height
        top += 14
    return tuple(tuple(sheet) for sheet in sheets if sheet) or ((),)


def draw_listing(context: DrawingContext, listing: PlacedListing, sheet_index: int, body: Rect) -> None:
    """Draw sheet ``sheet_index`` of a service page's tables in the rectangle ``body``.

    Only the plain background of the page may have been drawn there before, because the result is cached.
    """
    x, y, w, h = body
    cached_rect: Rect = (
        x - _LINE_EDGE_MARGIN,
        y - _LINE_EDGE_MARGIN,
        w + 2 * _LINE_EDGE_MARGIN,
        h + 2 * _LINE_EDGE_MARGIN,
    )
    lines = listing.get_sheet_lines(sheet_index)
    if any(rect[1] + rect[3] > y + h for rect, _ in lines):  # A row higher than the body covers other parts.
        _draw_lines(context, listing, sheet_index)
        return
    context.painter.draw_cached_rect(
        "sheet",
        (listing, sheet_index, context.layout),
        cached_rect,
        lambda: _draw_lines(context, listing, sheet_index),
    )


def _draw_lines(context: DrawingContext, listing: PlacedListing, sheet_index: int) -> None:
    """Draw the lines of one sheet of a service page's tables."""
    painter = context.painter
    for i, (rect, line) in enumerate(listing.get_sheet_lines(sheet_index)):
        x, y, w, h = rect
        if line.kind == "title":
            style = TextStyle("heavy", "body", "info")
            painter.draw_text(line.cells[0], (x + 8, y + h / 2), style, align="left", width_max=w - 16)
            continue
        if line.kind == "head":
            painter.fill_rounded_rect((x, y, w, h - 3), (46, 56, 82, 255), 8)
        elif line.action:
            painter.draw_panel(
                (x, y, w, h - 5),
                radius=10,
                fill=(36, 48, 80, 255),
                edge_paint=(110, 136, 200, 255),
                edge_width=2,
            )
        else:
            painter.fill_rounded_rect((x, y, w, h - 3), (255, 255, 255, 20 if i % 2 else 10), 8)
        if line.icon:
            draw_icon(context, line.icon, (x + 8, y + (h - 4 - 26) / 2, 26, 26))
        _draw_cells(context, line, (x + line.left_inset, y, w - line.left_inset, h - 4))


def _draw_cells(context: DrawingContext, line: ListingLine, rect: Rect) -> None:
    """Draw the cells of one line of a service page's table, each in its column."""
    x, y, w, h = rect
    face = "strong" if line.kind == "head" or line.action else "text"
    left = x
    for cell, align, share in zip(line.cells, line.cell_alignments, line.column_width_shares, strict=False):
        width = w * share
        if cell:
            colour = "text_dim" if line.kind == "head" else "text"
            style = TextStyle(face, "small" if line.kind == "row" else "caption", colour)
            text_rect: Rect = (left + (12 if align == "left" else 10), y, width - _CELL_PADDING, h)
            context.painter.draw_label(cell, text_rect, style, align=align)
        left += width

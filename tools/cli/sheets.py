"""Tables of the service pages as printable documents: as text, and as an A4 PDF drawn with Pillow."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Final

import click
from PIL import Image, ImageDraw, ImageFont

import egm.screen
from egm.kernel.service_pages import PageTable, PageText
from egm.screen.text import LOCALE_BY_LANGUAGE, Texts

#: ISO 4217's code for no currency, for tables without amounts.
NO_CURRENCY_CODE: Final = "XXX"
#: The option that names the language of a sheet.
LANGUAGE_OPTION: Final = click.option(
    "--language",
    type=click.Choice(sorted(LOCALE_BY_LANGUAGE)),
    default="en",
    show_default=True,
    help="The language of the text.",
)
#: Dots per inch.
_DOTS_PER_INCH: Final = 150
#: Width of A4, in dots.
_PAGE_WIDTH_DOTS: Final = 1240
#: Height of A4, in dots.
_PAGE_HEIGHT_DOTS: Final = 1754
#: Margin of a page, in dots.
_MARGIN_DOTS: Final = 100
#: Height of a line, in dots.
_LINE_HEIGHT_DOTS: Final = 30
#: Size of the text, in dots.
_TEXT_SIZE_DOTS: Final = 22
#: Size of the title, in dots.
_TITLE_SIZE_DOTS: Final = 34
_BLACK, _WHITE = 0, 1
#: The folder of the fonts.
_FONT_FOLDER: Final = Path(egm.screen.__file__).parent / "fonts"


def format_page_text(page_text: PageText, texts: Texts, currency: str) -> str:
    """Return one text of a service page in the language of ``texts``. Raises CatalogueError for an unknown text."""
    return texts.format_page_text(page_text, lambda cents: texts.format_money(cents, currency))


def format_rows(table: PageTable, texts: Texts, currency: str) -> list[list[str]]:
    """Return the cells of a service-page table as text; the first row has the column titles, if there are any."""
    title_rows = [table.columns] if table.columns else []
    return [
        [format_page_text(cell, texts, currency) for cell in cells]
        for cells in (*title_rows, *(row.cells for row in table.rows))
    ]


def format_as_text(title: str, tables: Iterable[PageTable], texts: Texts, currency: str) -> str:
    """Return the title and the tables as plain text with aligned columns."""
    lines = [title, "=" * len(title)]
    for table in tables:
        lines.append("")
        if table.title is not None:
            lines.append(format_page_text(table.title, texts, currency))
        rows = format_rows(table, texts, currency)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
    return "\n".join(lines) + "\n"


def build_pdf(title: str, tables: Iterable[PageTable], texts: Texts, currency: str) -> bytes:
    """Return the title and the tables as a PDF of black-and-white A4 pages."""
    pdf_pages = _PdfPages(title)
    for table in tables:
        if table.title is not None:
            pdf_pages.add_gap()
            pdf_pages.add_row([format_page_text(table.title, texts, currency)], bold=True)
        for row_number, row in enumerate(format_rows(table, texts, currency)):
            pdf_pages.add_row(row, bold=bool(table.columns) and row_number == 0)
        pdf_pages.add_gap()
    return pdf_pages.to_pdf()


@lru_cache(maxsize=8)
def _load_font(name: str, size_dots: int) -> ImageFont.FreeTypeFont:
    """Return a font at a size in dots."""
    return ImageFont.truetype(_FONT_FOLDER / f"Lato-{name}.ttf", size_dots)


class _PdfPages:
    """The pages of a PDF, filled from the top; a line that does not fit starts a new page."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._pages: list[Image.Image] = []
        self._y_dots = 0
        self._add_page()

    def _add_page(self) -> None:
        """Start a new page."""
        page = Image.new("1", (_PAGE_WIDTH_DOTS, _PAGE_HEIGHT_DOTS), _WHITE)
        self._pages.append(page)
        draw = ImageDraw.Draw(page)
        draw.text(
            (_MARGIN_DOTS, _MARGIN_DOTS),
            self._title,
            fill=_BLACK,
            font=_load_font("Bold", _TITLE_SIZE_DOTS),
            anchor="ls",
        )
        draw.text(
            (_PAGE_WIDTH_DOTS - _MARGIN_DOTS, _MARGIN_DOTS),
            str(len(self._pages)),
            fill=_BLACK,
            font=_load_font("Regular", _TEXT_SIZE_DOTS),
            anchor="rs",
        )
        draw.line(
            (_MARGIN_DOTS, _MARGIN_DOTS + 14, _PAGE_WIDTH_DOTS - _MARGIN_DOTS, _MARGIN_DOTS + 14),
            fill=_BLACK,
            width=2,
        )
        self._y_dots = _MARGIN_DOTS + 2 * _LINE_HEIGHT_DOTS

    def add_gap(self) -> None:
        """Leave an empty space of half a line."""
        self._y_dots += _LINE_HEIGHT_DOTS // 2

    def add_row(self, cells: list[str], *, bold: bool = False) -> None:
        """Add one row with its cells in columns of equal width; each cell is wrapped within its column."""
        font = _load_font("Bold" if bold else "Regular", _TEXT_SIZE_DOTS)
        column_width_dots = (_PAGE_WIDTH_DOTS - 2 * _MARGIN_DOTS) // len(cells)
        cell_lines_by_column = [list(_wrap_text(cell, font, column_width_dots - 16)) for cell in cells]
        for line_number in range(max(map(len, cell_lines_by_column))):
            if self._y_dots > _PAGE_HEIGHT_DOTS - _MARGIN_DOTS:
                self._add_page()
            draw = ImageDraw.Draw(self._pages[-1])
            for column, cell_lines in enumerate(cell_lines_by_column):
                if line_number < len(cell_lines):
                    draw.text(
                        (_MARGIN_DOTS + column * column_width_dots, self._y_dots),
                        cell_lines[line_number],
                        fill=_BLACK,
                        font=font,
                        anchor="ls",
                    )
            self._y_dots += _LINE_HEIGHT_DOTS

    def to_pdf(self) -> bytes:
        """Return all pages as the bytes of one PDF file."""
        stream = BytesIO()
        first_page, *other_pages = self._pages
        first_page.save(
            stream,
            "PDF",
            resolution=_DOTS_PER_INCH,
            save_all=True,
            append_images=other_pages,
            producer="open-egm",
        )
        return stream.getvalue()


def _wrap_text(text: str, font: ImageFont.FreeTypeFont, width_max_dots: int) -> Iterator[str]:
    """Yield the text in lines of at most ``width_max_dots`` dots; a longer word is split."""
    line = ""
    for word in text.split(" "):
        remainder = word
        while remainder:
            joined = f"{line} {remainder}".strip()
            if font.getlength(joined) <= width_max_dots:
                line, remainder = joined, ""
            elif line:
                yield line
                line = ""
            else:
                fitting_length = max(
                    length
                    for length in range(1, len(remainder) + 1)
                    if length == 1 or font.getlength(remainder[:length]) <= width_max_dots
                )
                yield remainder[:fitting_length]
                remainder = remainder[fitting_length:]
    yield line

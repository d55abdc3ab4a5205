"""A manual on A4 pages: title, contents, a table per chapter; its text can be searched and copied.

Lines are broken by the widths of the fonts used, and the pages are drawn by matplotlib, which embeds the
fonts; the same software writes the same bytes.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from typing import Final

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from PIL import ImageFont

from egm.screen.text import Texts
from egm.screen.theme import THEME_FOLDER
from tools.lab.manual import ManualChapterText, iter_manual_chapters

#: A4 and its margins, in points; positions count from the top left corner.
_PAGE_WIDTH_POINTS, _PAGE_HEIGHT_POINTS, _LEFT_MARGIN_POINTS, _TOP_MARGIN_POINTS, _BOTTOM_MARGIN_POINTS = (
    595.0,
    842.0,
    42.0,
    54.0,
    46.0,
)
#: A chapter starts on a new page if less than this is left of the current one.
_CHAPTER_HEIGHT_MIN_POINTS: Final = 330.0
#: The width for text, in points.
_TEXT_WIDTH_POINTS: Final = _PAGE_WIDTH_POINTS - 2 * _LEFT_MARGIN_POINTS
_TEXT_SIZE_POINTS, _LINE_HEIGHT_POINTS, _CELL_PADDING_POINTS = 7.6, 9.6, 4.0
_TEXT_COLOUR, _DIM_TEXT_COLOUR, _BAND_COLOUR, _RULE_COLOUR = "#111827", "#5b6472", "#e8ecf3", "#c3cad6"
#: The folder of the fonts.
_FONT_FOLDER: Final = THEME_FOLDER / "fonts"
#: The font file of each face.
_FONT_FILE_BY_FACE: Final = {"text": "Lato-Regular.ttf", "bold": "Lato-Bold.ttf", "heavy": "Lato-Black.ttf"}


@dataclass(frozen=True, slots=True)
class _PageElement:
    """One element on a page of a manual: a text at its base line, or a coloured band if ``text`` is empty."""

    x: float
    """Distance from the page's left edge, in points."""
    y: float
    """Distance from the page's upper edge, in points."""
    text: str = ""
    font_face: str = "text"
    """Name of the font face in which the text is drawn."""
    size: float = _TEXT_SIZE_POINTS
    colour: str = _TEXT_COLOUR
    align: str = "left"
    band_size: tuple[float, float] = (0.0, 0.0)
    """Width and height of the coloured band, in points."""


@dataclass(slots=True)
class _ManualPages:
    """The pages of a manual while it is being laid out; each page is filled from the top."""

    pages: list[list[_PageElement]] = field(default_factory=lambda: [[]])
    y: float = _TOP_MARGIN_POINTS
    """The distance from the page's upper edge to the next line, in points."""

    def start_page(self) -> None:
        """Start a new page of the manual."""
        self.pages.append([])
        self.y = _TOP_MARGIN_POINTS

    def put(self, *elements: _PageElement) -> None:
        """Add texts or coloured bands to the current page of the manual."""
        self.pages[-1].extend(elements)


def build_pdf(audience: str, language: str, version: str) -> bytes:
    """Return the ``operator`` or ``service`` manual of this software as a PDF file."""
    texts = Texts(language)
    chapters = list(iter_manual_chapters(audience, texts))
    manual_pages = _ManualPages()
    title = texts.translate(f"manual.title.{audience}")
    _draw_cover(manual_pages, texts, audience, version)
    manual_pages.start_page()  # the page of contents, filled in when the page numbers are known
    contents = manual_pages.pages[-1]
    first_pages: list[int] = []
    for chapter in chapters:
        if not first_pages or manual_pages.y > _PAGE_HEIGHT_POINTS - _CHAPTER_HEIGHT_MIN_POINTS:
            manual_pages.start_page()
        else:
            manual_pages.y += 34
        first_pages.append(len(manual_pages.pages))
        _draw_chapter(manual_pages, chapter)
    _draw_contents(contents, texts, zip(chapters, first_pages, strict=True))
    for number, page in enumerate(manual_pages.pages[1:], 2):
        page_number_text = texts.translate("manual.page", number=number, of=len(manual_pages.pages))
        page.append(
            _PageElement(
                _LEFT_MARGIN_POINTS,
                _PAGE_HEIGHT_POINTS - 28,
                f"{title}  ·  open-egm {version}",
                colour=_DIM_TEXT_COLOUR,
            )
        )
        page.append(
            _PageElement(
                _PAGE_WIDTH_POINTS - _LEFT_MARGIN_POINTS,
                _PAGE_HEIGHT_POINTS - 28,
                page_number_text,
                colour=_DIM_TEXT_COLOUR,
                align="right",
            )
        )
    return _encode_pages(manual_pages.pages, f"{title} - open-egm {version}")


# ---------------------------------------------------------------------- setting
@lru_cache(maxsize=8)
def _load_font(face: str) -> ImageFont.FreeTypeFont:
    """Return a face's font, for measuring text."""
    return ImageFont.truetype(_FONT_FOLDER / _FONT_FILE_BY_FACE[face], 1000)


@lru_cache(maxsize=20_000)
def _measure_text(text: str, face: str, size_points: float) -> float:
    """Return the width of a text in points."""
    return _load_font(face).getlength(text) * size_points / 1000


def _wrap_text(
    text: str, width_max_points: float, face: str = "text", size_points: float = _TEXT_SIZE_POINTS
) -> list[str]:
    """Return a text as lines of at most ``width_max_points`` points.

    A word that is too long is split; a code is split after a punctuation mark if possible.
    """
    lines = [""]
    for word in text.split(" "):
        longer_line = f"{lines[-1]} {word}" if lines[-1] else word
        if _measure_text(longer_line, face, size_points) <= width_max_points:
            lines[-1] = longer_line
            continue
        parts = _split_word(word, width_max_points, face, size_points)
        lines[-1:] = [lines[-1], *parts] if lines[-1] else parts
    return lines


def _split_word(word: str, width_max_points: float, face: str, size_points: float) -> list[str]:
    """Split a word that is wider than ``width_max_points`` into parts that fit."""
    if len(word) < 2 or _measure_text(word, face, size_points) <= width_max_points:
        return [word]
    fitting_length = next(
        end
        for end in range(len(word) - 1, 0, -1)
        if end == 1 or _measure_text(word[:end], face, size_points) <= width_max_points
    )
    end_of_mark = max(word.rfind(mark, 0, fitting_length) for mark in "._:/-") + 1
    part_length = end_of_mark or fitting_length
    return [word[:part_length], *_split_word(word[part_length:], width_max_points, face, size_points)]


def _draw_cover(manual_pages: _ManualPages, texts: Texts, audience: str, version: str) -> None:
    """Draw the title of a manual, with the release of the software."""
    y = 250.0
    manual_pages.put(_PageElement(_LEFT_MARGIN_POINTS, y - 74, "open-egm", "bold", 15, _DIM_TEXT_COLOUR))
    manual_pages.put(
        _PageElement(_LEFT_MARGIN_POINTS, y, texts.translate(f"manual.title.{audience}"), "heavy", 34)
    )
    for line in _wrap_text(
        texts.translate(f"manual.audience.{audience}"), _TEXT_WIDTH_POINTS * 0.8, size_points=13
    ):
        y += 26 if y == 250.0 else 18
        manual_pages.put(_PageElement(_LEFT_MARGIN_POINTS, y + 8, line, size=13))
    manual_pages.put(
        _PageElement(
            _LEFT_MARGIN_POINTS,
            _PAGE_HEIGHT_POINTS - 70,
            texts.translate("manual.made_of", version=version),
            size=9,
            colour=_DIM_TEXT_COLOUR,
        )
    )


def _draw_contents(
    page: list[_PageElement], texts: Texts, chapters: Iterator[tuple[ManualChapterText, int]]
) -> None:
    """Draw the list of chapters with their page numbers."""
    y = _TOP_MARGIN_POINTS + 14
    page.append(_PageElement(_LEFT_MARGIN_POINTS, y, texts.translate("manual.contents"), "heavy", 20))
    y += 16
    for chapter, number in chapters:
        y += 22
        page.append(_PageElement(_LEFT_MARGIN_POINTS, y, chapter.title, size=11.5))
        page.append(
            _PageElement(_PAGE_WIDTH_POINTS - _LEFT_MARGIN_POINTS, y, str(number), size=11.5, align="right")
        )
        page.append(
            _PageElement(_LEFT_MARGIN_POINTS, y + 5, colour=_RULE_COLOUR, band_size=(_TEXT_WIDTH_POINTS, 0.5))
        )


def _draw_chapter(manual_pages: _ManualPages, chapter: ManualChapterText) -> None:
    """Draw a chapter: its title, what it is about, and its table."""
    manual_pages.put(_PageElement(_LEFT_MARGIN_POINTS, manual_pages.y + 14, chapter.title, "heavy", 20))
    manual_pages.y += 24
    for line in _wrap_text(chapter.introduction, _TEXT_WIDTH_POINTS, size_points=9.5):
        manual_pages.y += 13
        manual_pages.put(
            _PageElement(_LEFT_MARGIN_POINTS, manual_pages.y, line, size=9.5, colour=_DIM_TEXT_COLOUR)
        )
    manual_pages.y += 12
    widths = _compute_column_widths(chapter)
    _draw_table_heading(manual_pages, chapter, widths)
    for row in chapter.rows:
        cells = [
            _wrap_cell(cell, width, bold=column_index == 0)
            for column_index, (cell, width) in _iter_cells(row, widths)
        ]
        row_height = max(map(len, cells)) * _LINE_HEIGHT_POINTS + 2 * _CELL_PADDING_POINTS
        if manual_pages.y + row_height > _PAGE_HEIGHT_POINTS - _BOTTOM_MARGIN_POINTS:
            manual_pages.start_page()
            _draw_table_heading(manual_pages, chapter, widths)
        _draw_row(manual_pages, cells, widths, row_height)


def _iter_cells(
    row: Sequence[str], column_widths: Sequence[float]
) -> Iterator[tuple[int, tuple[str, float]]]:
    """Yield each cell of a printed table's row: its column index, then its text and column width."""
    yield from enumerate(zip(row, column_widths, strict=True))


def _wrap_cell(text: str, width_points: float, *, bold: bool) -> list[str]:
    """Return a cell's text in lines that fit its column."""
    return _wrap_text(
        text.replace("`", ""), width_points - 2 * _CELL_PADDING_POINTS, "bold" if bold else "text"
    )


def _compute_column_widths(chapter: ManualChapterText) -> list[float]:
    """Return a table's column widths: at most that of the longest word, then a share of the rest by text length."""
    columns = list(zip(chapter.column_titles, *chapter.rows, strict=True))
    minimum_widths, wanted_widths = [], []
    for column_index, cells in enumerate(columns):
        face = "text" if column_index else "bold"
        words = [word for cell in cells for word in cell.split(" ")]
        longest = max(_measure_text(word, face, _TEXT_SIZE_POINTS) for word in words)
        minimum_widths.append(min(longest, 88.0) + 2 * _CELL_PADDING_POINTS + 2)
        total = sum(_measure_text(cell, face, _TEXT_SIZE_POINTS) for cell in cells) / len(cells)
        wanted_widths.append(max(total - minimum_widths[-1], 8.0) ** 0.75)  # long texts may take more lines
    spare_width = _TEXT_WIDTH_POINTS - sum(minimum_widths)
    return [
        low + spare_width * want / sum(wanted_widths)
        for low, want in zip(minimum_widths, wanted_widths, strict=True)
    ]


def _draw_table_heading(
    manual_pages: _ManualPages, chapter: ManualChapterText, column_widths: Sequence[float]
) -> None:
    """Draw the column headings of a table."""
    cells = [
        _wrap_text(heading, width - 2 * _CELL_PADDING_POINTS, "bold")
        for heading, width in zip(chapter.column_titles, column_widths, strict=True)
    ]
    row_height = max(map(len, cells)) * _LINE_HEIGHT_POINTS + 2 * _CELL_PADDING_POINTS
    manual_pages.put(
        _PageElement(
            _LEFT_MARGIN_POINTS,
            manual_pages.y,
            colour=_BAND_COLOUR,
            band_size=(_TEXT_WIDTH_POINTS, row_height),
        )
    )
    _draw_cell_lines(manual_pages, cells, column_widths, lambda _: "bold")
    manual_pages.y += row_height


def _draw_row(
    manual_pages: _ManualPages,
    cells: Sequence[Sequence[str]],
    column_widths: Sequence[float],
    row_height: float,
) -> None:
    """Draw a row of a table, with a line below it."""
    _draw_cell_lines(
        manual_pages, cells, column_widths, lambda column_index: "text" if column_index else "bold"
    )
    manual_pages.y += row_height
    manual_pages.put(
        _PageElement(
            _LEFT_MARGIN_POINTS, manual_pages.y, colour=_RULE_COLOUR, band_size=(_TEXT_WIDTH_POINTS, 0.5)
        )
    )


def _draw_cell_lines(
    manual_pages: _ManualPages,
    cells: Sequence[Sequence[str]],
    column_widths: Sequence[float],
    get_font_face: Callable[[int], str],
) -> None:
    """Draw the lines of a row's cells, each in its column."""
    x = _LEFT_MARGIN_POINTS
    for column_index, (lines, width) in enumerate(zip(cells, column_widths, strict=True)):
        for number, line in enumerate(lines):
            manual_pages.put(
                _PageElement(
                    x + _CELL_PADDING_POINTS,
                    manual_pages.y + _CELL_PADDING_POINTS + _TEXT_SIZE_POINTS + number * _LINE_HEIGHT_POINTS,
                    line,
                    get_font_face(column_index),
                )
            )
        x += width


# ---------------------------------------------------------------------- writing
def _encode_pages(pages: Sequence[Sequence[_PageElement]], title: str) -> bytes:
    """Return the pages as a PDF file."""
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it warns about the fonts' own dates
    stream = BytesIO()
    metadata = {"Title": title, "Creator": "open-egm", "Producer": "open-egm", "CreationDate": None}
    with rc_context({"pdf.fonttype": 42, "text.usetex": False}), PdfPages(stream, metadata=metadata) as file:
        for page in pages:
            page_figure = Figure(figsize=(_PAGE_WIDTH_POINTS / 72, _PAGE_HEIGHT_POINTS / 72))
            for element in page:
                _draw_element(page_figure, element)
            file.savefig(page_figure)
    return stream.getvalue()


@lru_cache(maxsize=32)
def _build_font_properties(face: str, size_points: float) -> FontProperties:
    """Return the font of a face and size for drawing."""
    return FontProperties(fname=str(_FONT_FOLDER / _FONT_FILE_BY_FACE[face]), size=size_points)


class _TextLine(Artist):
    """One line of text that is drawn directly, because a matplotlib figure's own text would be laid out again."""

    def __init__(self, element: _PageElement) -> None:
        super().__init__()
        self._element = element
        self.set_zorder(3)  # over bands (1) and rules (2)

    def draw(self, renderer: RendererBase) -> None:
        """Draw the line; positions are in points from the page's lower left corner."""
        element = self._element
        properties = _build_font_properties(self._element.font_face, self._element.size)
        x = element.x
        if element.align == "right":
            x -= renderer.get_text_width_height_descent(element.text, properties, False)[0]
        context = renderer.new_gc()
        context.set_foreground(element.colour)
        renderer.draw_text(context, x, _PAGE_HEIGHT_POINTS - element.y, element.text, properties, 0)
        context.restore()


def _draw_element(page_figure: Figure, element: _PageElement) -> None:
    """Draw one element of a manual's page: a text, a filled box, or a thin line."""
    if element.text:
        page_figure.add_artist(_TextLine(element), clip=False)
        return
    width, height = element.band_size
    x, y = element.x / _PAGE_WIDTH_POINTS, 1 - (element.y + height) / _PAGE_HEIGHT_POINTS
    if height > 1:
        page_figure.add_artist(
            Rectangle(
                (x, y),
                width / _PAGE_WIDTH_POINTS,
                height / _PAGE_HEIGHT_POINTS,
                color=element.colour,
                linewidth=0,
            )
        )
    else:
        page_figure.add_artist(
            Line2D((x, x + width / _PAGE_WIDTH_POINTS), (y, y), color=element.colour, linewidth=height)
        )

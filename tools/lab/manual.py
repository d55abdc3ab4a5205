"""The manuals as files: the chapters of :mod:`egm.staff.service.manual` as a Markdown page or a PDF."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from egm.app.features import SERVICE_MENU
from egm.kernel.service_pages import PageTable, PageText
from egm.screen.text import Texts
from egm.staff.service.manual import list_chapters
from tools.lab.markdown import format_table

#: The readers for whom there is a manual.
AUDIENCES: Final = ("operator", "service")


@dataclass(frozen=True, slots=True)
class ManualChapterText:
    """One chapter of a manual as text ready to print: a title, an introduction and a table."""

    title: str
    introduction: str
    """Text at the beginning of the chapter."""
    column_titles: tuple[str, ...]
    """Column headings of the chapter's table."""
    rows: tuple[tuple[str, ...], ...]


def iter_manual_chapters(audience: str, texts: Texts) -> Iterator[ManualChapterText]:
    """Yield the chapters of a manual for ``audience`` (``operator`` or ``service``), in the language of ``texts``."""
    for chapter in list_chapters(audience):
        table: PageTable = chapter.build_table(SERVICE_MENU)
        yield ManualChapterText(
            _format_page_text(texts, chapter.title),
            texts.translate(f"manual.about.{chapter.id}"),
            tuple(_format_page_text(texts, column_title) for column_title in table.columns),
            tuple(tuple(_format_page_text(texts, cell) or "-" for cell in row.cells) for row in table.rows),
        )


def format_manual(audience: str, language: str) -> str:
    """Return the manual for an ``audience`` in a language, as one Markdown page."""
    texts = Texts(language)
    parts = [
        f"# {texts.translate(f'manual.title.{audience}')}",
        texts.translate(f"manual.audience.{audience}"),
    ]
    for chapter in iter_manual_chapters(audience, texts):
        parts += [
            f"## {chapter.title}",
            chapter.introduction,
            format_table(chapter.column_titles, chapter.rows),
        ]
    return "\n\n".join(parts) + "\n"


def _format_page_text(texts: Texts, page_text: PageText) -> str:
    """Return a page's text in the manual's language, with amounts in Canadian dollars."""
    return texts.format_page_text(page_text, lambda cents: texts.format_money(cents, "CAD"))

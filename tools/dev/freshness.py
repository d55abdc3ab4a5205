"""Write generated pages, or compare them with the committed ones."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from tools.cli.terminal import echo

#: Maximum number of lines of difference shown for a stale page.
_DIFFERENCE_LINES_MAX: Final = 20


def write_or_check_pages(pages: Mapping[Path, str], *, check: bool, command_name: str) -> None:
    """Write each page whose text differs; with ``check``, write nothing and reject stale pages.

    ``command_name`` is the command that writes the pages. Raises :class:`click.ClickException` naming every
    stale page, with the first lines that differ.
    """
    stale_page_texts: list[str] = []
    for path, text in pages.items():
        committed_text = path.read_text(encoding="utf-8") if path.exists() else ""
        name = os.path.relpath(path)
        if committed_text == text:
            echo(f"{name} is up to date")
        elif check:
            stale_page_texts.append(_format_difference(name, committed_text, text))
        else:
            path.write_text(text, encoding="utf-8")
            echo(f"{name} written")
    if stale_page_texts:
        raise click.ClickException(
            "\n".join(stale_page_texts) + f"\nrun `{command_name}` and commit the result"
        )


def _format_difference(name: str, committed_text: str, generated_text: str) -> str:
    lines = difflib.unified_diff(
        committed_text.splitlines(), generated_text.splitlines(), "committed", "generated", "", "", 0
    )
    return "\n".join([f"{name} is stale", *list(lines)[:_DIFFERENCE_LINES_MAX]])

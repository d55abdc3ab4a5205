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


def write_or_check_pages(pages: Mapping[Path, str], *, check: bool, verb: str) -> None:
    """Write each page whose text differs; with ``check``, write nothing and reject stale pages.

    ``verb`` is the command that writes the pages. Raises :class:`click.ClickException` naming every
    stale page, with the first lines that differ.
    """
    stale: list[str] = []
    for path, text in pages.items():
        committed = path.read_text(encoding="utf-8") if path.exists() else ""
        name = os.path.relpath(path)
        if committed == text:
            echo(f"{name} is up to date")
        elif check:
            stale.append(_format_difference(name, committed, text))
        else:
            path.write_text(text, encoding="utf-8")
            echo(f"{name} written")
    if stale:
        raise click.ClickException("\n".join(stale) + f"\nrun `{verb}` and commit the result")


def _format_difference(name: str, committed: str, text: str) -> str:
    lines = difflib.unified_diff(
        committed.splitlines(), text.splitlines(), "committed", "generated", "", "", 0
    )
    return "\n".join([f"{name} is stale", *list(lines)[:_DIFFERENCE_LINES_MAX]])

"""Generated pages: written when asked, or compared with what is committed."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from tools.cli.terminal import echo

#: lines of difference shown for a stale page; enough to see what changed
_SHOWN: Final = 20


def deliver(pages: Mapping[Path, str], *, check: bool, verb: str) -> None:
    """Write each page where its text differs; with ``check`` write nothing and refuse a stale one.

    ``verb`` is the command that makes the pages fresh. Raises :class:`click.ClickException` naming every
    stale page, with the first lines that differ.
    """
    stale: list[str] = []
    for path, text in pages.items():
        committed = path.read_text(encoding="utf-8") if path.exists() else ""
        name = os.path.relpath(path)
        if committed == text:
            echo(f"{name} is up to date")
        elif check:
            stale.append(_difference(name, committed, text))
        else:
            path.write_text(text, encoding="utf-8")
            echo(f"{name} written")
    if stale:
        raise click.ClickException("\n".join(stale) + f"\nrun `{verb}` and commit the result")


def _difference(name: str, committed: str, text: str) -> str:
    lines = difflib.unified_diff(
        committed.splitlines(), text.splitlines(), "committed", "generated", "", "", 0
    )
    return "\n".join([f"{name} is stale", *list(lines)[:_SHOWN]])

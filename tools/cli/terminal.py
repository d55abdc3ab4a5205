"""What commands show beside plain text: rich consoles and JSON, in which nothing steers a terminal either."""

import json
from typing import Any

from rich.console import Console
from rich.markup import escape

from egm.terminal import echo, is_shown, lines, printable

__all__ = ["Terminal", "echo", "json_text", "lines", "plain", "printable"]


def plain(value: object) -> str:
    """The same for a rich console: its markup is shown, not followed."""
    return escape(printable(value))


class Terminal(Console):
    """A rich console that prints texts as :func:`echo` does; markup of its caller's own is followed."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print ``objects``; what is data in a text with markup goes through :func:`plain` first."""
        shown = (lines(each) if isinstance(each, str) else each for each in objects)
        super().print(*shown, **{"soft_wrap": True, **options})  # the terminal wraps, and a pipe has no width


def json_text(value: Any, *, indent: int | None = None) -> str:
    """``value`` as JSON that a person can read as well: what is not printed is escaped as JSON does."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return "".join(each if each == "\n" or is_shown(each) else json.dumps(each)[1:-1] for each in text)

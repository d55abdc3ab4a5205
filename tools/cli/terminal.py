"""Rich consoles and JSON for commands, in which data cannot send control sequences to the terminal."""

import json
from typing import Any

from rich.console import Console
from rich.markup import escape

from egm.terminal import echo, is_printable_character, make_lines_printable, make_printable

__all__ = ["Terminal", "echo", "escape_markup", "format_json", "make_lines_printable", "make_printable"]


def escape_markup(value: object) -> str:
    """Return a value as text in which a rich console does not interpret markup."""
    return escape(make_printable(value))


class Terminal(Console):
    """A rich console that prints unprintable characters as escapes; markup in the caller's texts is interpreted."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print ``objects``, whose markup is interpreted; escape data in them by :func:`escape_markup` first."""
        printable_objects = (
            make_lines_printable(part) if isinstance(part, str) else part for part in objects
        )
        # the terminal wraps lines, and a pipe has no width
        super().print(*printable_objects, **{"soft_wrap": True, **options})


def format_json(value: Any, *, indent: int | None = None) -> str:
    """Return ``value`` as readable JSON; unprintable characters are JSON escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return "".join(
        character if character == "\n" or is_printable_character(character) else json.dumps(character)[1:-1]
        for character in text
    )

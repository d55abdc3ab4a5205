"""What files and machines say, on somebody's terminal: shown, never obeyed.

A name in a file may hold sequences that steer a terminal or mark up rich text: they could erase a line, paint
a verdict, hide what follows or turn it round. Every command prints through here,
and a test holds that none prints otherwise.
"""

import json
import unicodedata
from typing import Any

import click
from rich.console import Console
from rich.markup import escape


def _is_shown(character: str) -> bool:
    """Whether it is printed, and does nothing else: a letter, a sign, a space of any width."""
    return character.isprintable() or unicodedata.category(character) == "Zs"


def printable(value: object) -> str:
    r"""Return ``value`` as text in which nothing steers a terminal.

    Control characters, those that change the direction of text, lone surrogates and every other character
    that is not printed are shown as Python escapes (``\x1b``).
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(each if _is_shown(each) else ascii(each)[1:-1] for each in text)


def plain(value: object) -> str:
    """The same for a rich console: its markup is shown, not followed."""
    return escape(printable(value))


def lines(text: str) -> str:
    """The same of a text of several lines: they stay lines."""
    return "\n".join(printable(line) for line in text.replace("\r\n", "\n").split("\n"))


def echo(text: object = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print a text of one line or more; ``style`` is what ``click.style`` takes."""
    told = lines(str(text))
    drawn = click.style(told, **style) if any(style.values()) else told
    click.echo(drawn, nl=nl, err=err)


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
    return "".join(each if each == "\n" or _is_shown(each) else json.dumps(each)[1:-1] for each in text)

"""Terminal output of untrusted text: what files and machines say is shown, never obeyed.

A name in a file may hold sequences that steer a terminal: they could erase a line, paint a verdict, hide what
follows or turn it round. Every process and every command prints through here, and a test holds that none
prints otherwise; :mod:`tools.cli.terminal` has what only commands need.
"""

import unicodedata
from typing import Any

import click


def is_shown(character: str) -> bool:
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
    return "".join(each if is_shown(each) else ascii(each)[1:-1] for each in text)


def lines(text: str) -> str:
    """The same of a text of several lines: they stay lines."""
    return "\n".join(printable(line) for line in text.replace("\r\n", "\n").split("\n"))


def echo(text: object = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print a text of one line or more; ``style`` is what ``click.style`` takes."""
    told = lines(str(text))
    drawn = click.style(told, **style) if any(style.values()) else told
    click.echo(drawn, nl=nl, err=err)

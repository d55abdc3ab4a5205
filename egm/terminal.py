"""Terminal output of untrusted text: control sequences in it are shown, not executed.

A name in a file may contain terminal control sequences, which could erase a line, fake a result, hide what
follows or reverse it. Every process and every command prints through this module, and a test checks that;
:mod:`tools.cli.terminal` has what only commands need.
"""

import unicodedata
from typing import Any

import click


def is_printable_character(character: str) -> bool:
    """Return whether a character is printed and controls nothing: a letter, a sign, a space of any width."""
    return character.isprintable() or unicodedata.category(character) == "Zs"


def make_printable(value: object) -> str:
    r"""Return ``value`` as text without any character that could control a terminal.

    Control characters, characters that change the direction of text, lone surrogates and every other
    character that is not printed are shown as Python escapes (``\x1b``).
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(each if is_printable_character(each) else ascii(each)[1:-1] for each in text)


def make_lines_printable(text: str) -> str:
    """Return a text of several lines without any character that could control a terminal; line ends stay."""
    return "\n".join(make_printable(line) for line in text.replace("\r\n", "\n").split("\n"))


def echo(text: object = "", *, nl: bool = True, err: bool = False, **style: Any) -> None:
    """Print a text of one or more lines, without characters that could control a terminal.

    With ``nl``, a line end follows the text; with ``err``, the text is printed to standard error. Further keyword
    arguments, such as a colour, are passed to ``click.style``.
    """
    escaped = make_lines_printable(str(text))
    styled = click.style(escaped, **style) if any(style.values()) else escaped
    click.echo(styled, nl=nl, err=err)

"""A type for command arguments that are printed on a ticket or stored in a journal: one line of text."""

from typing import Any, Final

import click

from egm.terminal import is_printable_character


class PrintedText(click.ParamType[str]):
    """A type of command argument: one line of 1 to ``length_max`` printable characters, not only spaces."""

    name = "text"

    def __init__(self, length_max: int = 200) -> None:
        self.length_max = length_max

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text unchanged. Raises click.BadParameter if it is empty, too long or not printable."""
        text = str(value)
        if not text.strip():
            self.fail("it must not be empty", param, ctx)
        if len(text) > self.length_max:
            self.fail(f"it has {len(text)} characters; at most {self.length_max} are allowed", param, ctx)
        if unprintable := next(
            (character for character in text if not is_printable_character(character)), None
        ):
            self.fail(f"it contains {unprintable!a}, which cannot be printed", param, ctx)
        return text


#: The type of a reason that a person states for the record.
REASON_TYPE: Final = PrintedText(1000)

"""A whole-number type for command arguments, limited to signed 64 bits."""

from typing import Any, Final

import click

#: The largest signed 64-bit number.
_NUMBER_MAX: Final = (1 << 63) - 1


def parse_whole_number(text: str) -> int | None:
    """Return the number written as digits 0 to 9; None for any other text, or a number above signed 64 bits."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(_NUMBER_MAX))):
        return None
    number = int(text)
    return number if number <= _NUMBER_MAX else None


class WholeNumber(click.IntRange):
    """A type of command argument: a whole number from ``min`` to the largest signed 64-bit value."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the argument as a whole number. Raises click.BadParameter if it is not digits or out of range.

        "1_0" is refused, although Python reads it as 10: a mistyped number must not become another ticket or amount.
        """
        digits = value.strip().removeprefix("-") if isinstance(value, str) else "0"
        if not (digits.isascii() and digits.isdecimal()):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        number = super().convert(value, param, ctx)
        if number > _NUMBER_MAX:
            self.fail(f"{number} is too large: at most {_NUMBER_MAX}", param, ctx)
        return number

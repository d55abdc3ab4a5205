"""Whole numbers of the command line: what memory and databases can hold, and no more."""

from typing import Any, Final

import click

_MOST: Final = (1 << 63) - 1


class Whole(click.IntRange):
    """A whole number from ``min`` to what 64 bits hold."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Raises click.BadParameter."""
        number = super().convert(value, param, ctx)
        if number > _MOST:
            self.fail(f"{number} is too large: at most {_MOST}", param, ctx)
        return number

"""The type of a command argument that is a calendar day."""

from datetime import datetime
from typing import Any

import click


class DayParameter(click.DateTime):
    """A type of command argument: a day written as YYYY-MM-DD; its value is midnight of that day, without time zone."""

    name = "day"

    def __init__(self) -> None:
        super().__init__(["%Y-%m-%d"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the start of the day. Raises click.BadParameter if the text is not a day of the calendar."""
        try:
            day: datetime = super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a day of the calendar, written as YYYY-MM-DD", param, ctx)
        return day

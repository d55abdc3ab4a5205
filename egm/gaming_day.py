"""The venue's gaming day: the accounting date of journal entries in statements, registers and sheets.

A gaming day ends at an hour of the night that the venue sets, not at midnight.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

#: Hours in a day.
_HOURS_PER_DAY: Final = 24


@dataclass(frozen=True, slots=True)
class GamingDay:
    """The venue's gaming day: a time zone (an IANA name) and the local hour, 0 to 23, at which the next day begins.

    The default is the UTC day, used for journals of machines that recorded no zone.
    """

    time_zone: str = "UTC"
    ends_hour: int = 0

    @classmethod
    def from_power_up(cls, power_up: object) -> Self:
        """Return the gaming day in the record of a power-up, or the default if the record has no valid one."""
        record = power_up if isinstance(power_up, dict) else {}
        zone, hour = record.get("time_zone"), record.get("day_ends_hour")
        if type(zone) is not str or type(hour) is not int or not 0 <= hour < _HOURS_PER_DAY:
            return cls()
        return cls(zone, hour)

    def find_date(self, moment: datetime) -> date:
        """Return the date of the gaming day to which a moment (with a time zone) belongs.

        UTC is used if this computer does not know the venue's zone; :attr:`description` then says so.
        """
        return (moment.astimezone(self._zone or UTC) - timedelta(hours=self.ends_hour)).date()

    def find_calendar_date(self, moment: datetime) -> date | None:
        """Return the venue's calendar date at a moment, or None if this computer does not know the venue's zone."""
        return None if self._zone is None else moment.astimezone(self._zone).date()

    @property
    def description(self) -> str:
        """Return the gaming day's time zone and hour as text, for the heading of a report."""
        zone = self.time_zone if self._zone else f"UTC ({self.time_zone} is not known here)"
        return f"{zone}, days end at {self.ends_hour:02d}:00"

    @property
    def _zone(self) -> tzinfo | None:
        """Return the gaming day's time zone, or None if this computer does not know it."""
        if self.time_zone == "UTC":
            return UTC
        try:
            return ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return None


#: The day of journals that state none.
UTC_GAMING_DAY: Final = GamingDay()

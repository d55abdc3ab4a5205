"""A clock for controllers under test."""

from datetime import UTC, datetime, timedelta


class Clock:
    """A clock that advances by one second with every reading."""

    def __init__(self) -> None:
        self._at = datetime(2026, 1, 1, tzinfo=UTC)

    def move(self, by: timedelta) -> None:
        """Set the clock to another time."""
        self._at += by

    def __call__(self) -> datetime:
        self._at += timedelta(seconds=1)
        return self._at

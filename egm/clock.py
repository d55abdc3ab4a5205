"""The clock that is passed to everything that needs the time; nothing else in the machine reads the time."""

import time
from datetime import UTC, datetime
from typing import Final, Protocol

#: Nanoseconds in a second.
NANOSECONDS_PER_SECOND: Final = 1_000_000_000


class Clock(Protocol):
    """Interface of a clock with wall time, for display and records, and monotonic time, for measuring durations."""

    def now(self) -> datetime:
        """Return the time of day, UTC."""
        ...

    def monotonic_ns(self) -> int:
        """Return a nanosecond count that never goes backwards, from an arbitrary start."""
        ...


class SystemClock:
    """The computer's own clocks."""

    def now(self) -> datetime:
        """Return the time of day, UTC."""
        return datetime.now(UTC)

    def monotonic_ns(self) -> int:
        """Return a nanosecond count that never goes backwards, from a fixed moment before startup."""
        return time.monotonic_ns()

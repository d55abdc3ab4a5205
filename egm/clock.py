"""Clock, injected: no other module of the cabinet reads the time."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the machine knows of time. Wall time is for people and records; only the monotonic is measured."""

    def now(self) -> datetime:
        """The time of day, UTC."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go backwards, from an arbitrary start."""
        ...


class SystemClock:
    """The computer's own clocks."""

    def now(self) -> datetime:
        """The time of day, UTC."""
        return datetime.now(UTC)

    def monotonic_ns(self) -> int:
        """Nanoseconds since some fixed moment before start-up."""
        return time.monotonic_ns()

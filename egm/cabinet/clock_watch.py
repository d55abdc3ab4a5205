"""Notices when the clock is set while the machine runs: a jump against the time that has really passed.

The operating system owns the clock; the machine records that it was changed, from what to what, for its
entries are read by their times although their order never depends on them. A clock set while the machine was
off is found by the journal itself when it opens.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from egm.cabinet.attachments import Attachment, Surroundings
from egm.link.messages import Snapshot

#: A clock that is slewed or drifts stays within this between two looks; one that is set does not.
JUMP: Final = timedelta(seconds=2)
_LOOK_SECONDS: Final = 10.0


class ClockWatch:
    """Holds the wall clock against the monotonic one."""

    name = "clock watch"

    def __init__(self, surroundings: Surroundings) -> None:
        self._clock = surroundings.clock
        self._cabinet = surroundings.engine.cabinet
        self._wall, self._ns = self._clock.now(), self._clock.monotonic_ns()

    async def run(self) -> None:
        """Look now and then."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.look()

    def look(self) -> None:
        """Record a jump since the last look, if there was one."""
        wall, ns = self._clock.now(), self._clock.monotonic_ns()
        expected: datetime = self._wall + timedelta(microseconds=(ns - self._ns) // 1000)
        self._wall, self._ns = wall, ns
        if abs(wall - expected) > JUMP:
            told = {"last_entry": expected.isoformat(), "now": wall.isoformat()}
            self._cabinet.log("clock.changed", told)

    def changed(self, now: Snapshot) -> None:
        """What happens to the machine is no news of the clock."""


def clock_watch(surroundings: Surroundings) -> Iterable[Attachment]:
    """One machine, one clock."""
    return (ClockWatch(surroundings),)

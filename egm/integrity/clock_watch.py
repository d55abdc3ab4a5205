"""Clock watch: records when the clock is set, and when it becomes doubtful or trusted again.

The operating system owns the clock. The machine records every change with the old and the new time, because
people read entries by their times; the order of entries never depends on the clock. When the journal opens, it
detects by itself a clock that was set while the machine was off. :mod:`egm.kernel.timekeeping` judges whether
the clock is trusted; while it is not, staff see a fault, and a person who has checked the date confirms it
(:mod:`egm.integrity.clock_trust`).
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from egm.integrity.clock_trust import CLOCK_DOUBTED_FAULT, record_clock_trust
from egm.integrity.entries import CLOCK_CHANGED, ClockChanged
from egm.kernel.events import Event, EventType, FaultChange
from egm.kernel.keys import KernelKey
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext

#: Largest deviation between two checks that counts as slewing or drift; a larger one means the clock was set.
CLOCK_DEVIATION_MAX: Final = timedelta(seconds=2)
#: Seconds between two checks of the clock.
_CLOCK_CHECK_INTERVAL_SECONDS: Final = 10.0


class ClockWatch:
    """Service that compares the wall clock with the monotonic clock, to detect that the wall clock was set."""

    name = "clock watch"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._clock = context.clock
        self._machine = context.engine.machine
        self._last_wall_time, self._last_monotonic_ns = self._clock.now(), self._clock.monotonic_ns()

    async def run(self) -> None:
        """Check periodically whether the clock was set or is doubted."""
        while True:
            self.check_clock()
            await asyncio.sleep(_CLOCK_CHECK_INTERVAL_SECONDS)

    def check_clock(self) -> None:
        """If the clock was set since the last check, record this; raise or clear the fault of an untrusted clock."""
        wall_time, monotonic_ns = self._clock.now(), self._clock.monotonic_ns()
        expected_wall_time: datetime = self._last_wall_time + timedelta(
            microseconds=(monotonic_ns - self._last_monotonic_ns) // 1000
        )
        self._last_wall_time, self._last_monotonic_ns = wall_time, monotonic_ns
        if abs(wall_time - expected_wall_time) > CLOCK_DEVIATION_MAX:
            change = ClockChanged(
                expected_time=expected_wall_time.isoformat(), clock_time=wall_time.isoformat()
            )
            self._machine.post(CLOCK_CHANGED, change)
        record_clock_trust(self._machine)
        recorded_doubt = self._machine.memory.get(KernelKey.CLOCK_DOUBT)
        has_fault = CLOCK_DOUBTED_FAULT in self._machine.active_faults
        if recorded_doubt is not None and not has_fault:
            self._context.submit_event(
                Event(
                    EventType.FAULT_RAISED,
                    FaultChange(code=CLOCK_DOUBTED_FAULT, detail=recorded_doubt["why"]),
                )
            )
        elif recorded_doubt is None and has_fault:
            self._context.submit_event(Event(EventType.FAULT_CLEARED, FaultChange(code=CLOCK_DOUBTED_FAULT)))

    def process_change(self, snapshot: Snapshot) -> None:
        """Do nothing: the clock does not depend on the machine's state."""


def create_clock_watch(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the clock watch, which every machine has."""
    return (ClockWatch(context),)

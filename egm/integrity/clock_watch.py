"""Clock watch: records when the clock is set, and when it is believed no more, or again.

The operating system owns the clock; the machine records that it was changed, from what to what, for its
entries are read by their times although their order never depends on them. A clock set while the machine
was off is found by the journal itself when it opens. Whether it may be believed is judged in
:mod:`egm.kernel.timekeeping`; while it may not, staff see a fault, and a person who has read the date
confirms it (:mod:`egm.integrity.clock_trust`).
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from egm.integrity.clock_trust import FAULT, note_clock
from egm.kernel.events import Event, EventType
from egm.kernel.keys import KernelKey
from egm.kernel.messages import Snapshot
from egm.kernel.services import Attachment, MachineContext

#: A clock that is slewed or drifts stays within this between two looks; one that is set does not.
JUMP: Final = timedelta(seconds=2)
_LOOK_SECONDS: Final = 10.0


class ClockWatch:
    """Holds the wall clock against the monotonic one."""

    name = "clock watch"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._clock = context.clock
        self._machine = context.engine.machine
        self._wall, self._ns = self._clock.now(), self._clock.monotonic_ns()

    async def run(self) -> None:
        """Look now and then."""
        while True:
            self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        """Record a jump since the last look, if there was one, and what it means for the clock."""
        wall, ns = self._clock.now(), self._clock.monotonic_ns()
        expected: datetime = self._wall + timedelta(microseconds=(ns - self._ns) // 1000)
        self._wall, self._ns = wall, ns
        if abs(wall - expected) > JUMP:
            told = {"last_entry": expected.isoformat(), "now": wall.isoformat()}
            self._machine.log("clock.changed", told)
        note_clock(self._machine)
        doubted, shown = self._machine.memory.get(KernelKey.CLOCK), FAULT in self._machine.faults
        if doubted is not None and not shown:
            self._context.handle(Event(EventType.FAULT_RAISED, {"code": FAULT, "detail": doubted["why"]}))
        elif doubted is None and shown:
            self._context.handle(Event(EventType.FAULT_CLEARED, {"code": FAULT}))

    def changed(self, now: Snapshot) -> None:
        """What happens to the machine is no news of the clock."""


def clock_watch(context: MachineContext) -> Iterable[Attachment]:
    """One machine, one clock."""
    return (ClockWatch(context),)

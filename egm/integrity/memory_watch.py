"""Media watch: a journal medium that is missing, replaced or full takes the machine out of service.

With one medium the next fault could lose money, so nothing new is begun: no game, no value in. What is owed
is paid, and recorded on the medium that is there; a game under way is finished. It goes on by itself when the
cause is gone; a medium that was replaced is first seen to by a technician.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import Attachment, MachineContext
from egm.records.keys import IntegrityKey

MISSING: Final = "memory_missing"
MEDIUM_REPLACED: Final = "memory_replaced"
FULL: Final = "memory_full"
#: How often the room left is looked at where nothing happens.
_PAUSE_S: Final = 10.0


class MemoryWatch:
    """Tells the state table how the media are."""

    name = "memory"

    def __init__(self, context: MachineContext) -> None:
        self._machine = context.engine.machine
        self._handle = context.handle
        self._wanted = asyncio.Event()

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            self.look()
            self._wanted.clear()
            try:
                async with asyncio.timeout(_PAUSE_S):
                    await self._wanted.wait()
            except TimeoutError:
                continue

    def changed(self, _: Snapshot) -> None:
        """Look again: something was recorded."""
        if self._causes().keys() - self._machine.faults.keys():
            self._wanted.set()

    def look(self) -> None:
        """Raise what is the matter, and clear what no longer is."""
        journal = self._machine.journal
        journal.look_for_room()
        causes = self._causes()
        for code, detail in causes.items():
            self._handle(Event(EventType.FAULT_RAISED, {"code": code, "detail": detail}))
        for code in {MISSING, FULL} & self._machine.faults.keys() - causes.keys():
            self._handle(Event(EventType.FAULT_CLEARED, {"code": code}))
        if MEDIUM_REPLACED in causes:
            # Only now that the fault is recorded: it asks for a technician whatever happens in between.
            details = {"detail": causes[MEDIUM_REPLACED]}
            self._machine.record("memory.noted", state={IntegrityKey.MEDIUM_REPLACED: None}, details=details)

    def _causes(self) -> Mapping[str, str]:
        journal = self._machine.journal
        found = {
            MISSING: journal.missing,
            MEDIUM_REPLACED: str(journal.state(IntegrityKey.MEDIUM_REPLACED) or ""),
            FULL: journal.full,
        }
        return {code: detail for code, detail in found.items() if detail}


def memory_watch(context: MachineContext) -> Iterable[Attachment]:
    """Always."""
    return (MemoryWatch(context),)

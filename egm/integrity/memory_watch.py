"""Watch of the journal's storage media: a missing, replaced or full medium takes the machine out of service.

With only one of its two media, the next failure could lose money, so nothing new is started: no game, no money
in. Amounts owed are paid, and recorded on the medium that works; a game in progress is finished. The machine
returns to service automatically when the cause has ended, but a replaced medium needs a technician first.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from egm.integrity.entries import MEDIUM_REPLACEMENT_NOTED, MediumReplacementNoted
from egm.integrity.keys import IntegrityKey
from egm.kernel.events import Event, EventType, FaultChange
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext

#: The fault code of a medium that is missing.
MEDIUM_MISSING_FAULT: Final = "memory_missing"
#: The fault code of a medium that was replaced.
MEDIUM_REPLACED_FAULT: Final = "memory_replaced"
#: The fault code of a medium that is full.
MEDIUM_FULL_FAULT: Final = "memory_full"
#: Interval between checks of the free space while nothing happens.
_CHECK_INTERVAL_SECONDS: Final = 10.0


class MemoryWatch:
    """Service that raises and clears the faults of the journal's storage media: missing, replaced or full."""

    name = "memory"

    def __init__(self, context: MachineContext) -> None:
        self._machine = context.engine.machine
        self._submit_event = context.submit_event
        self._check_requested = asyncio.Event()

    async def run(self) -> None:
        """Check the storage media after changes and periodically, until cancelled."""
        while True:
            self.check_media()
            self._check_requested.clear()
            try:
                async with asyncio.timeout(_CHECK_INTERVAL_SECONDS):
                    await self._check_requested.wait()
            except TimeoutError:
                continue

    def process_change(self, _: Snapshot) -> None:
        """Request a check of the storage media if one is missing, replaced or full and has no fault yet."""
        if self._find_fault_details().keys() - self._machine.active_faults.keys():
            self._check_requested.set()

    def check_media(self) -> None:
        """Raise a fault for each storage medium that is missing, replaced or full; clear faults without a cause."""
        journal = self._machine.journal
        journal.refresh_full_medium_error()
        causes = self._find_fault_details()
        for code, detail in causes.items():
            self._submit_event(Event(EventType.FAULT_RAISED, FaultChange(code=code, detail=detail)))
        for code in {
            MEDIUM_MISSING_FAULT,
            MEDIUM_FULL_FAULT,
        } & self._machine.active_faults.keys() - causes.keys():
            self._submit_event(Event(EventType.FAULT_CLEARED, FaultChange(code=code)))
        if MEDIUM_REPLACED_FAULT in causes:
            # Clear the mark only after the fault is recorded, so that a technician is required in any case.
            noted = MediumReplacementNoted(detail=causes[MEDIUM_REPLACED_FAULT])
            self._machine.post(MEDIUM_REPLACEMENT_NOTED, noted, state={IntegrityKey.MEDIUM_REPLACED: None})

    def _find_fault_details(self) -> Mapping[str, str]:
        """Return, by fault code, the details of each fault that the storage media must have now."""
        journal = self._machine.journal
        causes = {
            MEDIUM_MISSING_FAULT: journal.second_medium_error,
            MEDIUM_REPLACED_FAULT: str(journal.state(IntegrityKey.MEDIUM_REPLACED) or ""),
            MEDIUM_FULL_FAULT: journal.full_medium_error,
        }
        return {code: detail for code, detail in causes.items() if detail}


def create_memory_watch(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the watch of the storage media, which every machine has."""
    return (MemoryWatch(context),)

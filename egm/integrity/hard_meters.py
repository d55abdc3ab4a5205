"""Hard meters: the electromechanical counters follow the electronic meters, in pulses (D-20; FR68-11).

What is owed is not kept anywhere: it is the electronic meter, in pulses, less what the board says it has
given. So nothing is owed twice or forgotten, whichever of the two lost its power. What the counters
had been given when they were first seen is kept in the journal, and they count on from there.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from egm.devices.ioboard.codec import HARD_METERS
from egm.devices.ioboard.driver import IoBoardDriver
from egm.kernel.messages import Snapshot
from egm.kernel.services import Attachment, MachineContext
from egm.records.keys import IntegrityKey

#: The counters follow at this distance: they are slower than any game.
_FOLLOW_SECONDS: Final = 0.5


class HardMeters:
    """Tells the board what its counters should have been given."""

    name = "hard_meters"

    def __init__(self, context: MachineContext, board: IoBoardDriver, pulse_cents: int) -> None:
        self._machine = context.engine.machine
        self._board = board
        self._pulse_cents = pulse_cents
        self._news = asyncio.Event()
        board.watch_hard_meters()

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            self._news.clear()
            if self.tell():
                await self._news.wait()
            await asyncio.sleep(_FOLLOW_SECONDS)

    def changed(self, now: Snapshot) -> None:  # noqa: ARG002 (the meters are read, not the picture)
        """Follow, soon."""
        self._news.set()

    def tell(self) -> bool:
        """Give the board its totals; False while it has not said yet where its counters are."""
        counted = self._board.hard_meters_counted
        if counted is None:
            return False
        metered = self._metered()
        fitted = self._machine.memory.get(IntegrityKey.HARD_METERS)
        if fitted is None:
            fitted = [pulses - count for pulses, count in zip(metered, counted, strict=True)]
            self._machine.record(
                "hard_meters.fitted",
                state={IntegrityKey.HARD_METERS: fitted},
                details={"counted": list(counted)},
            )
        totals = tuple(pulses - less for pulses, less in zip(metered, fitted, strict=True))
        self._board.hard_meters(totals)
        return True

    def _metered(self) -> list[int]:
        """The electronic meters in whole pulses, by counter; what is short of one is owed with the next."""
        values = self._machine.journal.meters().values
        pulses = [values[name] // self._pulse_cents for name in self._machine.profile.hard_meters.meters]
        return pulses + [0] * (HARD_METERS - len(pulses))


def hard_meters(context: MachineContext) -> Iterable[Attachment]:
    """One where the place wants hard meters and the cabinet has the board that drives them."""
    pulse_cents = context.engine.machine.profile.hard_meters.pulse_cents
    board = next((device for device in context.devices if isinstance(device, IoBoardDriver)), None)
    return () if pulse_cents is None or board is None else (HardMeters(context, board, pulse_cents),)

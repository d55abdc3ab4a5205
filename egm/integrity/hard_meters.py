"""Hard meters: the electromechanical meters follow the electronic meters, in pulses (D-20; FR68-11).

The number of outstanding pulses is not stored, but computed: electronic meter (in pulses) - offset - pulses counted by
the I/O board. So no pulse is lost or given twice, whether the machine or the board loses its power.
When hard meters are fitted (detected for the first time, or for the first time after an exchange), the difference
between electronic meter and hard meter is stored in the journal as the offset.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from egm.devices.ioboard.codec import HARD_METER_COUNT
from egm.devices.ioboard.driver import IoBoardDriver
from egm.integrity.entries import HARD_METERS_FITTED, HardMetersFitted
from egm.integrity.keys import IntegrityKey
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext

#: Interval between updates. A shorter one would not help: the electronic meters change faster than hard meters advance.
_SEND_INTERVAL_SECONDS: Final = 0.5


class HardMeterService:
    """Service that sends the I/O board the totals that its hard meters should show."""

    name = "hard_meters"

    def __init__(self, context: MachineContext, board: IoBoardDriver, pulse_cents: int) -> None:
        self._machine = context.engine.machine
        self._board = board
        self._pulse_cents = pulse_cents
        self._meters_may_have_changed = asyncio.Event()
        board.start_reading_hard_meters()

    async def run(self) -> None:
        """Update the hard meters after each change, until cancelled."""
        while True:
            self._meters_may_have_changed.clear()
            if self.update_hard_meters():
                await self._meters_may_have_changed.wait()
            await asyncio.sleep(_SEND_INTERVAL_SECONDS)

    def process_change(self, snapshot: Snapshot) -> None:  # noqa: ARG002 (it reads the meters, not the snapshot)
        """Wake the task that updates the hard meters, because the electronic meters may have changed."""
        self._meters_may_have_changed.set()

    def update_hard_meters(self) -> bool:
        """Send the I/O board the total that each hard meter should show.

        If no offsets are stored, store them in the journal first. Return False, and send nothing, while the board has
        not reported its counts yet.
        """
        hard_meter_pulses = self._board.hard_meter_pulse_counts
        if hard_meter_pulses is None:
            return False
        meter_pulses = self._read_electronic_meters_in_pulses()
        offsets = self._machine.memory.get(IntegrityKey.HARD_METER_OFFSETS)
        if offsets is None:
            offsets = [pulses - count for pulses, count in zip(meter_pulses, hard_meter_pulses, strict=True)]
            self._machine.post(
                HARD_METERS_FITTED,
                HardMetersFitted(counted_pulses=tuple(hard_meter_pulses)),
                state={IntegrityKey.HARD_METER_OFFSETS: offsets},
            )
        totals = tuple(pulses - offset for pulses, offset in zip(meter_pulses, offsets, strict=True))
        self._board.advance_hard_meters(totals)
        return True

    def _read_electronic_meters_in_pulses(self) -> list[int]:
        """Return, for each hard meter, the electronic meter that it follows in whole pulses, rounded down.

        The value is 0 for a hard meter that follows none.
        """
        values = self._machine.journal.meters().values
        pulses = [
            values[name] // self._pulse_cents for name in self._machine.profile.hard_meters.followed_meters
        ]
        return pulses + [0] * (HARD_METER_COUNT - len(pulses))


def create_hard_meter_service(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the hard-meter service if the profile requires it and the cabinet has an I/O board."""
    pulse_cents = context.engine.machine.profile.hard_meters.pulse_cents
    board = next((device for device in context.devices if isinstance(device, IoBoardDriver)), None)
    return () if pulse_cents is None or board is None else (HardMeterService(context, board, pulse_cents),)

"""Reports to systemd's watchdog that the machine process is up, and that it makes progress."""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Final

from egm.devices.driver import LineDriver
from egm.links.systemd import READY, WATCHDOG_ALIVE, notify

#: Environment variable in which systemd states the watchdog's interval, in microseconds.
_INTERVAL: Final = "WATCHDOG_USEC"
#: Seconds between reports if systemd does not watch the unit.
_IDLE_SECONDS: Final = 60.0


async def send_heartbeats(progress: Callable[[], bool] = lambda: True) -> None:
    """Report to systemd that the machine is up; then, four times per watchdog interval, that it makes progress.

    ``progress`` is called on the loop each time; while it returns False, nothing is reported.
    """
    notify(READY)
    interval = int(os.environ.get(_INTERVAL) or 0) / 1e6 / 4
    while True:
        await asyncio.sleep(interval or _IDLE_SECONDS)
        if progress():
            notify(WATCHDOG_ALIVE)


class AllDriversMove:
    """A check for systemd's watchdog: calling it returns whether every driver has run since the last call."""

    def __init__(self, drivers: Sequence[object]) -> None:
        self._lines = [driver for driver in drivers if isinstance(driver, LineDriver)]
        self._before: list[int] = []

    def __call__(self) -> bool:
        """Return whether every driver has made an attempt since the last call; reopening a lost line is an attempt."""
        turns = [line.turns for line in self._lines]
        moved = not self._before or all(a > b for a, b in zip(turns, self._before, strict=True))
        self._before = turns
        return moved

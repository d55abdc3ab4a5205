"""systemd's watchdog: says when the machine is up, and goes on saying so only while it makes progress."""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Final

from egm.devices.driver import LineDriver
from egm.links.systemd import GOES_ON, READY, notify

_INTERVAL: Final = "WATCHDOG_USEC"
#: How often the state is said where systemd watches nothing.
_IDLE_SECONDS: Final = 60.0


async def heartbeat(progress: Callable[[], bool] = lambda: True) -> None:
    """Say that the machine is up; then, four times in systemd's interval, that it goes on, while it does.

    ``progress`` is asked on the loop each time: whether everything that must move has moved since.
    """
    notify(READY)
    interval = int(os.environ.get(_INTERVAL) or 0) / 1e6 / 4
    while True:
        await asyncio.sleep(interval or _IDLE_SECONDS)
        if progress():
            notify(GOES_ON)


class LinesMove:
    """Whether every driver has asked its device something since it was last asked, answered or not."""

    def __init__(self, drivers: Sequence[object]) -> None:
        self._lines = [driver for driver in drivers if isinstance(driver, LineDriver)]
        self._before: list[int] = []

    def __call__(self) -> bool:
        """A line that is down is tried again and again: that too is progress."""
        now = [line.turns for line in self._lines]
        moved = not self._before or all(a > b for a, b in zip(now, self._before, strict=True))
        self._before = now
        return moved

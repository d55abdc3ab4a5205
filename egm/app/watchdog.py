"""Reports to systemd's watchdog that the machine process is up, and that it makes progress."""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Final

from egm.devices.driver import LineDriver
from egm.links.systemd import READY_NOTIFICATION, WATCHDOG_NOTIFICATION, notify_systemd

#: Environment variable in which systemd states the watchdog's interval, in microseconds.
_WATCHDOG_ENVIRONMENT_VARIABLE: Final = "WATCHDOG_USEC"
#: Seconds between reports if systemd does not watch the unit.
_REPORT_INTERVAL_SECONDS_WITHOUT_WATCHDOG: Final = 60.0


async def send_watchdog_heartbeats(progress: Callable[[], bool] = lambda: True) -> None:
    """Report to systemd that the machine is up; then, four times per watchdog interval, that it makes progress.

    ``progress`` is called before each progress report; if it returns False, that report is omitted.
    """
    notify_systemd(READY_NOTIFICATION)
    interval = int(os.environ.get(_WATCHDOG_ENVIRONMENT_VARIABLE) or 0) / 1e6 / 4
    while True:
        await asyncio.sleep(interval or _REPORT_INTERVAL_SECONDS_WITHOUT_WATCHDOG)
        if progress():
            notify_systemd(WATCHDOG_NOTIFICATION)


class DriverProgressCheck:
    """A check for systemd's watchdog: calling it returns whether every driver has run since the last call."""

    def __init__(self, drivers: Sequence[object]) -> None:
        self._lines = [driver for driver in drivers if isinstance(driver, LineDriver)]
        self._last_cycle_counts: list[int] = []

    def __call__(self) -> bool:
        """Return whether every driver has run a cycle since the last call; trying to reopen a lost line counts."""
        turns = [line.turns for line in self._lines]
        has_progress = not self._last_cycle_counts or all(
            a > b for a, b in zip(turns, self._last_cycle_counts, strict=True)
        )
        self._last_cycle_counts = turns
        return has_progress

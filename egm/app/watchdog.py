"""Reports to systemd's watchdog that the machine process is up, and that it makes progress."""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Final

from egm.devices.driver import LineDriver
from egm.links.systemd import (
    MACHINE_START_SECONDS_MAX,
    READY_NOTIFICATION,
    WATCHDOG_INTERVAL_PREFIX,
    WATCHDOG_NOTIFICATION,
    notify_systemd,
)

#: Environment variable in which systemd states the watchdog's interval, in microseconds.
_WATCHDOG_ENVIRONMENT_VARIABLE: Final = "WATCHDOG_USEC"
#: Seconds between reports if systemd does not watch the unit.
_REPORT_INTERVAL_SECONDS_WITHOUT_WATCHDOG: Final = 60.0


def _read_watchdog_interval_us() -> int:
    """Return the interval of the watchdog that systemd set for this process, in microseconds; 0 without a watchdog."""
    return int(os.environ.get(_WATCHDOG_ENVIRONMENT_VARIABLE) or 0)


def allow_start_up_time() -> None:
    """Extend the interval of systemd's watchdog while the machine opens its memory.

    Until the process is reported as up, ``TimeoutStartSec`` applies. If it was reported before the memory is opened,
    for example because the screen showed that a medium is missing, the watchdog's interval applies, which is too short
    for a journal of many years or a slow computer. :func:`send_watchdog_heartbeats` restores the interval.
    """
    if _read_watchdog_interval_us():
        notify_systemd(f"{WATCHDOG_INTERVAL_PREFIX}{MACHINE_START_SECONDS_MAX * 1e6:.0f}")


async def send_watchdog_heartbeats(makes_progress: Callable[[], bool] = lambda: True) -> None:
    """Report to systemd that the machine is up; then, four times per watchdog interval, that it makes progress.

    The first report also reports progress, so a machine that waits for a storage medium, and calls this function
    anew every few seconds, is not stopped by the watchdog. ``makes_progress`` is called before each later report; if
    it returns False, that report is omitted.
    """
    interval_us = _read_watchdog_interval_us()
    # Every report restores the interval, because a report can be lost.
    report = WATCHDOG_NOTIFICATION + (f"\n{WATCHDOG_INTERVAL_PREFIX}{interval_us}" if interval_us else "")
    notify_systemd(f"{READY_NOTIFICATION}\n{report}")
    while True:
        await asyncio.sleep(interval_us / 1e6 / 4 or _REPORT_INTERVAL_SECONDS_WITHOUT_WATCHDOG)
        if makes_progress():
            notify_systemd(report)


class DriverProgressCheck:
    """A check for systemd's watchdog: a call returns whether every device driver's loop has run since the last call."""

    def __init__(self, drivers: Sequence[object]) -> None:
        self._drivers = [driver for driver in drivers if isinstance(driver, LineDriver)]
        self._last_turn_counts: list[int] = []

    def __call__(self) -> bool:
        """Return whether every device driver's loop has run at least once since the last call.

        The loop also runs while a driver tries to reopen a lost line.
        """
        turn_counts = [driver.loop_turn_count for driver in self._drivers]
        has_progress = not self._last_turn_counts or all(
            a > b for a, b in zip(turn_counts, self._last_turn_counts, strict=True)
        )
        self._last_turn_counts = turn_counts
        return has_progress

"""Monitoring of the screens: while a screen is dead, hangs or crashes, the machine starts nothing new.

A player who sees nothing must not lose money: no money is accepted and no game started, amounts owed are
paid, and the tower light calls staff. The fault ends when every position has had a screen for a minute.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from egm.kernel.events import Event, EventType, FaultChange
from egm.kernel.machine import PositionMachine

#: The fault code while a player position has no screen.
SCREEN_MISSING_FAULT: Final = "screen_missing"
#: Seconds for which every position must have had a screen before further time counts as time with a screen.
_PRESENT_SECONDS_UNTIL_COUNTED: Final = 10.0
#: Seconds for which every position must have had a screen before the fault is cleared.
_PRESENT_SECONDS_UNTIL_CLEARED: Final = 60.0
#: Seconds without a screen after which the fault is raised.
_MISSING_SECONDS_UNTIL_FAULT: Final = 30.0
#: Seconds between checks.
_CHECK_INTERVAL_SECONDS: Final = 0.5
#: Seconds with a screen that offset one second without one. A single crash is offset after a minute and
#: a half; one crash per minute takes the machine out of service.
_PRESENT_SECONDS_OFFSETTING_MISSING_SECOND: Final = 6.0


class ScreenWatch:
    """Monitor of the machine's screens: raises a fault if a position has had no screen for too long.

    It clears the fault once every position has had a screen for a minute. ``list_screen_counts`` returns the number of
    connected screens of each position.
    """

    def __init__(
        self,
        machine: PositionMachine,
        submit_event: Callable[[Event], None],
        list_screen_counts: Callable[[], Iterable[int]],
    ) -> None:
        self._machine = machine
        self._submit_event = submit_event
        self._list_screen_counts = list_screen_counts
        self._all_present_since_seconds = self._last_check_seconds = self._read_monotonic_seconds()
        self._missing_seconds = 0.0

    def _read_monotonic_seconds(self) -> float:
        """Return the monotonic clock's time in seconds."""
        return self._machine.clock.monotonic_ns() / 1e9

    async def run(self) -> None:
        """Watch the screens until cancelled."""
        while True:
            self.update_fault()
            await asyncio.sleep(_CHECK_INTERVAL_SECONDS)

    def update_fault(self) -> None:
        """Raise the fault if a position has had no screen for too long; clear it once all have had one for a minute."""
        now_seconds = self._read_monotonic_seconds()
        elapsed_seconds, self._last_check_seconds = now_seconds - self._last_check_seconds, now_seconds
        if not all(self._list_screen_counts()):
            self._all_present_since_seconds = now_seconds
        if now_seconds - self._all_present_since_seconds < _PRESENT_SECONDS_UNTIL_COUNTED:
            self._missing_seconds += elapsed_seconds
        else:
            self._missing_seconds = max(
                0.0, self._missing_seconds - elapsed_seconds / _PRESENT_SECONDS_OFFSETTING_MISSING_SECOND
            )
        is_fault_active = SCREEN_MISSING_FAULT in self._machine.active_faults
        if (
            is_fault_active
            and now_seconds - self._all_present_since_seconds >= _PRESENT_SECONDS_UNTIL_CLEARED
        ):
            self._missing_seconds = 0.0
            self._submit_event(Event(EventType.FAULT_CLEARED, FaultChange(code=SCREEN_MISSING_FAULT)))
        elif not is_fault_active and self._missing_seconds >= _MISSING_SECONDS_UNTIL_FAULT:
            self._submit_event(Event(EventType.FAULT_RAISED, FaultChange(code=SCREEN_MISSING_FAULT)))

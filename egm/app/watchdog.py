"""systemd's watchdog: says when the machine is up, and goes on saying so only while it makes progress.

The protocol is sd_notify(3): datagrams to the socket in ``NOTIFY_SOCKET``; without one, nothing is said.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from typing import Final

from egm.devices.driver import LineDriver

_SOCKET: Final = "NOTIFY_SOCKET"
_INTERVAL: Final = "WATCHDOG_USEC"
#: How often the state is said where systemd watches nothing.
_IDLE_SECONDS: Final = 60.0


def notify(state: str) -> None:
    """Tell systemd ``state`` (``READY=1``), if it listens; what cannot be sent it finds out by itself."""
    address = os.environ.get(_SOCKET, "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.setblocking(False)  # a full queue may not hold up the machine
        try:
            sender.connect("\0" + address[1:] if address[0] == "@" else address)
            sender.send(state.encode())
        except OSError:
            return


async def heartbeat(progress: Callable[[], bool] = lambda: True) -> None:
    """Say that the machine is up; then, four times in systemd's interval, that it goes on, while it does.

    ``progress`` is asked on the loop each time: whether everything that must move has moved since.
    """
    notify("READY=1")
    interval = int(os.environ.get(_INTERVAL) or 0) / 1e6 / 4
    while True:
        await asyncio.sleep(interval or _IDLE_SECONDS)
        if progress():
            notify("WATCHDOG=1")


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

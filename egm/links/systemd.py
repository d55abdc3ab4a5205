"""Notifications to systemd, sd_notify(3): datagrams to the socket in ``NOTIFY_SOCKET``, if set."""

import os
import socket
from typing import Final

#: The environment variable that names systemd's socket.
_NOTIFY_SOCKET_VARIABLE: Final = "NOTIFY_SOCKET"
#: The message that a unit of type ``notify`` sends once, when it has started.
READY_NOTIFICATION: Final = "READY=1"
#: The message that a watched unit (``WatchdogSec``) must send repeatedly.
WATCHDOG_NOTIFICATION: Final = "WATCHDOG=1"
#: Prefix of the message by which a watched unit replaces its watchdog's interval, in microseconds.
WATCHDOG_INTERVAL_PREFIX: Final = "WATCHDOG_USEC="
#: Seconds that the machine's process may take to start: ``TimeoutStartSec`` of its unit, which states it too.
MACHINE_START_SECONDS_MAX: Final = 900.0


def notify_systemd(notification: str) -> None:
    """Send ``notification``, such as :data:`READY_NOTIFICATION`, to systemd if it listens; errors are ignored."""
    address = os.environ.get(_NOTIFY_SOCKET_VARIABLE, "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.setblocking(False)  # a full queue must not delay the machine
        try:
            sender.connect("\0" + address[1:] if address[0] == "@" else address)
            sender.send(notification.encode())
        except OSError:
            return

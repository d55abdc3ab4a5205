"""The line to systemd, sd_notify(3): datagrams to the socket in ``NOTIFY_SOCKET``; without one, none."""

import os
import socket
from typing import Final

_SOCKET: Final = "NOTIFY_SOCKET"
#: What a unit of type ``notify`` sends once, when it is started.
READY: Final = "READY=1"
#: What a watched unit (``WatchdogSec``) has to say again and again.
GOES_ON: Final = "WATCHDOG=1"


def notify(state: str) -> None:
    """Tell systemd ``state`` (:data:`READY`), if it listens; what cannot be sent it finds out by itself."""
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

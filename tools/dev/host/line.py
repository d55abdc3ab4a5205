"""Send requests on the host's end of a SAS line and receive the replies.

The first byte of each message carries the wakeup bit. A line without a ninth bit (a TCP serial server) sends
plain bytes; a pseudo-terminal can carry what a Linux UART in the machine would have delivered for it
(``FF 00 xx``), so that the machine's own ninth-bit decoder is exercised.
"""

import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Any, Final

import serial

from egm.errors import PeerError

BAUD_RATE: Final = 19_200
_READ_SIZE_BYTES: Final = 512


class WakeupEncoding(StrEnum):
    """How the wakeup bit of a message's first byte is transmitted."""

    MARKED = "marked"
    """Sent as a receiving UART marks it (``FF 00 xx``), for a machine with strict framing on a pseudo-terminal."""
    PLAIN = "plain"
    """Not transmitted: a machine with lenient framing finds the first byte by itself."""


class HostLineError(PeerError):
    """Raised if the host's port cannot be used; the message names the port and the reason."""


def mark_wakeup(message: bytes) -> bytes:
    """Return what a UART with INPCK and PARMRK delivers for a message whose first byte has the wakeup bit."""
    return b"\xff\x00" + message[:1] + message[1:].replace(b"\xff", b"\xff\xff")


class HostLine:
    """The host's open port to a SAS line. Use it from one thread, for one exchange at a time."""

    def __init__(
        self,
        port: str,
        wire: WakeupEncoding,
        *,
        reply_timeout_seconds: float = 0.1,
        gap_seconds: float = 0.01,
    ) -> None:
        """Open ``port``, a path or a pyserial URL. Raises :class:`HostLineError`.

        ``reply_timeout_seconds``: time limit for the first byte of a reply (20 ms by the standard, but a busy computer
        or a network adds to it). ``gap_seconds``: silence that ends a reply.
        """
        self.port = port
        self._is_marked = wire is WakeupEncoding.MARKED
        self._reply_timeout_seconds = reply_timeout_seconds
        self._gap_seconds = gap_seconds
        self.latency_seconds = 0.0
        """Seconds from the last byte sent to the first of the reply, of the last exchange that had one."""
        local: dict[str, Any] = {} if "://" in port else {"exclusive": True}
        with self._convert_port_errors("opened"):
            self._serial = serial.serial_for_url(port, baudrate=BAUD_RATE, timeout=0, **local)

    @contextmanager
    def _convert_port_errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except (serial.SerialException, OSError, ValueError, termios.error) as error:
            raise HostLineError(f"{self.port}: cannot be {action}: {error}") from error

    def close(self) -> None:
        """Close the port."""
        with suppress(OSError, serial.SerialException):
            self._serial.close()

    def send(self, message: bytes, *, wake: bool = True) -> None:
        """Send a message; ``wake`` marks its first byte. Raises :class:`HostLineError`."""
        with self._convert_port_errors("written"):
            self._serial.write(mark_wakeup(message) if wake and self._is_marked else message)
            self._serial.flush()

    def exchange(self, message: bytes, is_complete: Callable[[bytes], bool]) -> bytes:
        """Send a message and return its reply. Raises HostLineError.

        The reply ends when ``is_complete`` returns True for it, or when the line is silent.
        """
        self.listen(0.0)
        self.send(message)
        sent_at = time.monotonic()
        reply = self._receive(self._reply_timeout_seconds)
        if reply:
            self.latency_seconds = time.monotonic() - sent_at
        while reply and not is_complete(reply):
            next_bytes = self._receive(self._gap_seconds)
            if not next_bytes:
                break
            reply += next_bytes
        return reply

    def listen(self, seconds: float) -> bytes:
        """Return the bytes that arrive within ``seconds`` without a poll.

        A machine that receives no polls sends its address.
        """
        deadline = time.monotonic() + seconds
        received = b""
        while True:
            data = self._receive(max(0.0, deadline - time.monotonic()))
            received += data
            if not data:
                return received

    def _receive(self, seconds: float) -> bytes:
        """Return the next bytes, waiting at most ``seconds`` for the first one."""
        with self._convert_port_errors("read"):
            self._serial.timeout = seconds
            data: bytes = self._serial.read(1)
            if data:
                self._serial.timeout = 0
                data += self._serial.read(_READ_SIZE_BYTES)
        return data

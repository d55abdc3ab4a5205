"""Serial line for asyncio: open a path, write bytes, read with a time limit.

The path is a real port or a pseudo-terminal; callers need not know which. If the line is lost (unplugged, hung up,
taken by another process), a :class:`LineLostError` is raised; the caller closes the line and opens it again when it is
back.
"""

import asyncio
import os
import termios
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import serial

from egm.errors import PeerError

#: Most bytes read at a time.
_READ_BYTES_MAX = 4096
#: Device numbers of the slaves of pseudo-terminals (Linux, Documentation/admin-guide/devices.txt).
_PTY_MAJOR_DEVICE_NUMBERS = range(136, 144)


class LineLostError(PeerError):
    """Raised if a serial line cannot be used; the text names its path and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSettings:
    """The UART settings that a protocol requires."""

    baud_rate: int = 9600
    data_bits: Literal[7, 8] = 8
    parity: Literal["N", "E", "O"] = "N"
    stop_bits: Literal[1, 2] = 1

    @property
    def character_seconds(self) -> float:
        """Return the time in seconds of one character on the wire: start, data, parity and stop bits."""
        return (1 + self.data_bits + (self.parity != "N") + self.stop_bits) / self.baud_rate


class SerialHandle(Protocol):
    """An open serial port, as used by :class:`SerialLine` (``serial.Serial`` is one)."""

    def fileno(self) -> int:
        """Return the port's file descriptor, which is in non-blocking mode."""

    def close(self) -> None:
        """Close the port."""


#: A function that opens a port by its path. It raises :class:`LineLostError` if the port is not available.
PortOpener = Callable[[str, LineSettings], SerialHandle]


def is_pseudo_terminal(path: str) -> bool:
    """Return whether ``path`` is the slave of a pseudo-terminal, which has no parity.

    Raises OSError if the path does not exist.
    """
    return os.major(Path(path).stat().st_rdev) in _PTY_MAJOR_DEVICE_NUMBERS


def open_port(path: str, settings: LineSettings) -> SerialHandle:
    """Open a serial port for this process alone. Raises :class:`LineLostError` if it is not available.

    A pseudo-terminal has neither parity nor character size, so these are not set on one: the kernel may refuse a
    request to change them (EINVAL).
    """
    try:
        is_pseudo = is_pseudo_terminal(path)
        return serial.Serial(
            path,
            baudrate=settings.baud_rate,
            bytesize=8 if is_pseudo else settings.data_bits,
            parity="N" if is_pseudo else settings.parity,
            stopbits=settings.stop_bits,
            timeout=0,
            exclusive=True,
        )
    except (serial.SerialException, OSError, termios.error) as error:
        raise LineLostError(path, f"cannot be opened: {error}") from error


class SerialLine:
    """A serial line that may be lost and opened again. One driver uses it alone, or several share it as a bus.

    On a bus each driver holds the lock ``bus_lock`` for one query and its reply. The driver that finds the line lost
    closes it for all; the first one that tries again opens it.
    """

    def __init__(self, path: str, settings: LineSettings, opener: PortOpener = open_port) -> None:
        self.path = path
        self.settings = settings
        self._opener = opener
        self._handle: SerialHandle | None = None
        self._received_bytes = bytearray()
        self._lost_reason: str | None = None
        self._arrival_event = asyncio.Event()
        self.bus_lock = asyncio.Lock()
        #: Called with each block of bytes on the line, and True if it was sent or False if it was received.
        self.on_bytes: Callable[[bytes, bool], None] = lambda _data, _is_sent: None

    def open(self) -> None:
        """Open the port and start listening; do nothing if it is open and not lost. Raises :class:`LineLostError`."""
        if self._handle is not None and self._lost_reason is None:
            return
        self.close()
        handle = self._opener(self.path, self.settings)
        self._handle = handle
        self._received_bytes.clear()
        self._lost_reason = None
        self._arrival_event.clear()
        asyncio.get_running_loop().add_reader(handle.fileno(), self._read_available)

    def close(self) -> None:
        """Close the port; do nothing if it is closed."""
        handle, self._handle = self._handle, None
        if handle is not None:
            asyncio.get_running_loop().remove_reader(handle.fileno())
            handle.close()

    def write(self, data: bytes) -> None:
        """Send all of ``data``. Raises :class:`LineLostError` if the line is lost or accepts no more bytes."""
        try:
            written_count = os.write(self._get_fileno(), data)
        except OSError as error:
            raise LineLostError(self.path, f"cannot be written: {error}") from error
        if written_count != len(data):
            raise LineLostError(self.path, "could not send all bytes: its output buffer is full")
        self.on_bytes(data, True)

    async def read(self, seconds: float) -> bytes:
        """Return the bytes that have arrived, waiting at most ``seconds`` for the first; empty if none came.

        Raises :class:`LineLostError` if the line is lost.
        """
        self._get_fileno()
        if not self._received_bytes and self._lost_reason is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._arrival_event.wait()
        if not self._received_bytes and self._lost_reason is not None:
            raise LineLostError(self.path, self._lost_reason)
        data = bytes(self._received_bytes)
        self._received_bytes.clear()
        self._arrival_event.clear()
        return data

    def _get_fileno(self) -> int:
        """Return the descriptor of the open port. Raises LineLostError if it is closed."""
        if self._handle is None:
            raise LineLostError(self.path, "cannot be used: the port is not open")
        return self._handle.fileno()

    def _read_available(self) -> None:
        """Store the bytes that have arrived on the line; mark the line as lost if the other end hung up."""
        fileno = self._get_fileno()
        try:
            data = os.read(fileno, _READ_BYTES_MAX)
            reason = "hung up"
        except BlockingIOError:
            return
        except OSError as error:
            data, reason = b"", f"cannot be read: {error}"
        if not data:  # a hung-up line stays readable forever: stop listening, the owner will reopen it
            self._lost_reason = reason
            asyncio.get_running_loop().remove_reader(fileno)
        else:
            self.on_bytes(data, False)
        self._received_bytes += data
        self._arrival_event.set()

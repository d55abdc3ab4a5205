"""In-memory serial port for tests: its line is a socket pair, so a byte written can be read at once."""

import os
import random
import socket
from pathlib import Path
from typing import Final, Literal

from egm.devices.line import LineLostError, LineSettings, SerialHandle
from egm.devices.twin import SimulatedPort

#: How reliable a simulated line is: without faults, one byte at a time, with lost and changed bytes, or with
#: delays.
LineQuality = Literal["perfect", "one_byte", "lossy", "delayed"]
#: Seconds by which a delayed line is late.
_LATE_SECONDS: Final = 0.09


class _Descriptor:
    """A file descriptor as an object that can be closed."""

    def __init__(self, fileno: int) -> None:
        self._fileno = fileno

    def fileno(self) -> int:
        """Return the file descriptor's number."""
        return self._fileno

    def close(self) -> None:
        """Close the file descriptor."""
        os.close(self._fileno)


class LossyCable(SimulatedPort):
    """A simulated serial line between a machine and a simulated device.

    The object is the simulated device's port; :meth:`open` returns the machine's end. ``quality`` states how the line
    delivers messages.
    """

    def __init__(
        self, quality: LineQuality = "perfect", seed: int = 1, character_seconds: float = 0.0
    ) -> None:
        super().__init__(Path("cable"), character_seconds)
        self._random = random.Random(seed)  # noqa: S311 (it draws faults in tests)
        self._quality = quality
        self.is_split = quality == "one_byte"
        self.reply_delay_seconds = _LATE_SECONDS if quality == "delayed" else 0.0

    def _open_both_ends(self) -> tuple[int, int]:
        """Open the socket pair; return the descriptors of the device's end and the machine's."""
        own_end, other_end = socket.socketpair()
        return own_end.detach(), other_end.detach()

    def _corrupt_message(self, data: bytes) -> bytes:
        """Return a message as a lossy line delivers it.

        About one message in five is lost, changed, cut short or preceded by noise.
        """
        if self._quality != "lossy":
            return data
        random_share = self._random.random()
        if random_share < 0.08:
            return b""
        if random_share < 0.16:
            index = self._random.randrange(len(data))
            return data[:index] + bytes((data[index] ^ 1 << self._random.randrange(8),)) + data[index + 1 :]
        if random_share < 0.20:
            return data[: self._random.randrange(len(data))]
        if random_share < 0.22:
            return self._random.randbytes(3) + data
        return data

    def receive(self, data: bytes) -> None:
        """Receive bytes from the machine, as the line transmits them."""
        if data := self._corrupt_message(data):
            super().receive(data)

    def send(self, data: bytes) -> None:
        """Send bytes to the machine, as the line transmits them."""
        if data := self._corrupt_message(data):
            super().send(data)

    def deliver_sent_data(self) -> None:
        """Deliver to the device what the machine has already sent, because the machine may stop next."""
        self._read_available()

    def open(self, path: str, settings: LineSettings) -> SerialHandle:
        """Return a new descriptor of the machine's end of the line.

        Bytes received earlier are discarded, as a UART does when it is opened.
        """
        del settings
        if not self.is_plugged_in:
            raise LineLostError(path, "no such port")
        fileno = os.dup(self._slave)
        os.set_blocking(fileno, False)
        try:
            while os.read(fileno, 4096):
                pass
        except BlockingIOError:
            pass
        return _Descriptor(fileno)

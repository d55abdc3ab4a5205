"""Frame reader: splits a stream of bytes into frames, the common mechanism below every codec.

A codec supplies a *cutter*: given the available bytes (never empty) it returns a :class:`FrameCut` (this many
bytes were a message, or were refused with a :class:`ProtocolError`), or None if more bytes are needed.
:class:`FrameReader` does the rest. Whatever arrives and however it is split, every byte ends in a message, in
a named error, or is still waiting; nothing raises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from egm.errors import PeerError

T = TypeVar("T")


class ProtocolError(PeerError):
    """Bytes that are not a message of the protocol; the text states the error and quotes the bytes.

    ``protocol`` names the codec, ``reason`` says why, ``data`` is what was refused.
    """

    def __init__(self, protocol: str, reason: str, data: bytes) -> None:
        super().__init__(f"{protocol}: {reason} in {data[:32].hex(' ') or 'nothing'}")
        self.protocol = protocol
        self.reason = reason
        self.data = data


@dataclass(frozen=True, slots=True)
class FrameCut(Generic[T]):
    """The first part of the received bytes: a message or an error, and its ``byte_count`` in bytes."""

    byte_count: int
    parsed_frame: T | ProtocolError


#: Separates the first message from received bytes, or returns None if more bytes are needed.
Cutter = Callable[[bytes], FrameCut[T] | None]


class FrameReader(Generic[T]):
    """A reader that collects a line's bytes and returns the messages and errors in them, in the order received."""

    def __init__(self, cutter: Cutter[T]) -> None:
        self._cutter = cutter
        self._buffer = b""

    def feed(self, data: bytes) -> list[T | ProtocolError]:
        """Return the messages and errors that ``data`` completes, in the order received.

        Refused bytes are reported as one error for each cut, not one for each byte.
        """
        self._buffer += data
        items: list[T | ProtocolError] = []
        while self._buffer:
            cut = self._cutter(self._buffer)
            if cut is None:
                break
            self._buffer = self._buffer[max(cut.byte_count, 1) :]
            items.append(cut.parsed_frame)
        return items

    def flush(self, protocol: str) -> list[T | ProtocolError]:
        """Return, after a pause on the line, the error for an unfinished message; empty if none exists."""
        unfinished, self._buffer = self._buffer, b""
        return (
            [ProtocolError(protocol, "the message ended before its last byte", unfinished)]
            if unfinished
            else []
        )


def skip_to_start_byte(buffer: bytes, start: int, protocol: str) -> FrameCut[Any] | None:
    """Refuse all bytes before the first ``start`` byte; return None if the buffer begins with it."""
    if buffer[0] == start:
        return None
    position = buffer.find(bytes((start,)))
    size = len(buffer) if position < 0 else position
    return FrameCut(size, ProtocolError(protocol, f"expected the start byte {start:02X}", buffer[:size]))

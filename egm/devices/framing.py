"""Frame reader: splits a stream of bytes into messages, for every codec.

A codec supplies a *cutter*: a function that is given the bytes received (at least one). It returns a :class:`FrameCut`,
which says how many of the first bytes are a message or, with a :class:`ProtocolError`, are refused. It returns None if
more bytes are needed. :class:`FrameReader` calls it until nothing is left to cut. However the stream is split into
reads, every byte becomes part of a message or of an error, or waits for more bytes. No exception is raised.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from egm.errors import PeerError

FrameT = TypeVar("FrameT")


class ProtocolError(PeerError):
    """Raised if received bytes are not a message of the protocol; the text says why and quotes the bytes.

    ``protocol`` is the codec's name, ``reason`` says why, ``data`` are the refused bytes.
    """

    def __init__(self, protocol: str, reason: str, data: bytes) -> None:
        super().__init__(f"{protocol}: {reason} in {data[:32].hex(' ') or 'nothing'}")
        self.protocol = protocol
        self.reason = reason
        self.data = data


@dataclass(frozen=True, slots=True)
class FrameCut(Generic[FrameT]):
    """The first ``byte_count`` of the received bytes: the message that they form, or the error if they form none."""

    byte_count: int
    parsed_frame: FrameT | ProtocolError


#: Separates the first message from received bytes, or returns None if more bytes are needed.
FrameCutter = Callable[[bytes], FrameCut[FrameT] | None]


class FrameReader(Generic[FrameT]):
    """A reader that collects a line's bytes and returns the messages and errors in them, in the order received."""

    def __init__(self, cutter: FrameCutter[FrameT]) -> None:
        self._cutter = cutter
        self._buffer = b""

    def feed(self, data: bytes) -> list[FrameT | ProtocolError]:
        """Add ``data`` to the bytes received; return the messages and errors that are now complete, in order."""
        self._buffer += data
        parsed_frames: list[FrameT | ProtocolError] = []
        while self._buffer:
            cut = self._cutter(self._buffer)
            if cut is None:
                break
            self._buffer = self._buffer[max(cut.byte_count, 1) :]
            parsed_frames.append(cut.parsed_frame)
        return parsed_frames

    def flush(self, protocol: str) -> list[FrameT | ProtocolError]:
        """Discard an unfinished message after a pause on the line.

        Return one error for its bytes, or an empty list if no bytes were waiting.
        """
        unfinished_bytes, self._buffer = self._buffer, b""
        return (
            [ProtocolError(protocol, "the message ended before its last byte", unfinished_bytes)]
            if unfinished_bytes
            else []
        )


def skip_to_start_byte(buffer: bytes, start_byte: int, protocol: str) -> FrameCut[Any] | None:
    """Return an error for the received bytes before the first ``start_byte``, with their number.

    Return None if ``buffer`` begins with that byte, so that no byte has to be skipped.
    """
    if buffer[0] == start_byte:
        return None
    start_index = buffer.find(bytes((start_byte,)))
    size = len(buffer) if start_index < 0 else start_index
    return FrameCut(size, ProtocolError(protocol, f"expected the start byte {start_byte:02X}", buffer[:size]))

"""SAS framing: decodes the bytes on a line into polls, or into broken messages.

There are two framings. *Strict* uses the wakeup bit, which is set on the first byte of every message, in the
form in which a Linux UART reports it (INPCK and PARMRK with space parity): ``FF 00 xx`` is xx with the bit
set, ``FF FF`` is a plain FF. *Lenient* is for lines without a ninth bit: a message begins after a pause or
after the previous message, and a length table determines its end. Nothing here raises an exception, whatever
arrives.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from egm.links.sas.crc import has_valid_crc
from egm.links.sas.request_sizes import REQUEST_HEAD_SIZE_BYTES, find_frame_size, has_crc

#: The address that reaches all machines on a line.
BROADCAST_ADDRESS: Final = 0
#: The highest address of a machine.
ADDRESS_MAX: Final = 127
#: The bit of the address byte that makes a message a general poll.
_GENERAL_POLL_BIT: Final = 0x80
#: The byte that introduces a UART's mark of a parity error.
_PARITY_ESCAPE_BYTE: Final = 0xFF


@dataclass(frozen=True, slots=True)
class GeneralPoll:
    """A general poll that a host sent to the machine at ``address``."""

    address: int


@dataclass(frozen=True, slots=True)
class LongPoll:
    """A complete long poll with all its bytes in ``frame``; its CRC is valid if its command requires one."""

    frame: bytes

    @property
    def address(self) -> int:
        """Return the address of the machine that the long poll was sent to."""
        return self.frame[0]

    @property
    def code(self) -> int:
        """Return the command code of the long poll."""
        return self.frame[1]

    @property
    def data(self) -> bytes:
        """Return the bytes between command and CRC, a length byte included; empty for a poll without CRC."""
        return self.frame[REQUEST_HEAD_SIZE_BYTES:-2] if has_crc(self.code) else b""


@dataclass(frozen=True, slots=True)
class MessageToOtherMachine:
    """A message on the line that is addressed to another machine; with strict framing, only its start is decoded."""

    address: int


@dataclass(frozen=True, slots=True)
class BrokenMessage:
    """Bytes on the line of a SAS host that form no message.

    ``reason`` is ``crc`` (wrong CRC), ``gap`` (a pause inside a message), ``cut`` (cut short by the next
    message), ``unknown`` (unknown command) or ``stray`` (bytes outside a message).
    """

    reason: str
    data: bytes


#: Anything that was decoded from a SAS line.
ReceivedMessage: TypeAlias = GeneralPoll | LongPoll | MessageToOtherMachine | BrokenMessage


class SasFraming(Protocol):
    """Interface of a decoder that splits the bytes of one SAS line into messages."""

    def decode(self, data: bytes, now_ns: int) -> Iterator[ReceivedMessage]:
        """Decode ``data``, read at ``now_ns``; yield each message that it completes."""
        ...


def _build_message(frame: bytes) -> ReceivedMessage:
    """Return the long poll that a complete frame contains, or a BrokenMessage if its CRC is wrong."""
    if has_crc(frame[1]) and not has_valid_crc(frame):
        return BrokenMessage("crc", frame)
    return LongPoll(frame)


class WakeupBitFraming:
    """Decoder that recognises the first byte of a message by the wakeup bit, for the machine at ``address``.

    A pause inside a message ends it.
    """

    def __init__(self, address: int, gap_ns: int) -> None:
        self._address = address
        self._gap_ns = gap_ns
        self._received_ns = 0
        self._pending_escape = b""
        self._message_bytes = bytearray()
        self._is_in_message = False

    def decode(self, data: bytes, now_ns: int) -> Iterator[ReceivedMessage]:
        """Decode ``data``, read at ``now_ns``; yield each message that it completes."""
        if now_ns - self._received_ns > self._gap_ns:
            yield from self._discard_message("gap")
        self._received_ns = now_ns
        for byte in data:
            if self._pending_escape:
                yield from self._process_escaped_byte(byte)
            elif byte == _PARITY_ESCAPE_BYTE:
                self._pending_escape = b"\xff"
            else:
                yield from self._process_plain_byte(byte)

    def _process_escaped_byte(self, byte: int) -> Iterator[ReceivedMessage]:
        """Process the second or third byte of a UART mark, such as ``FF 00 xx``."""
        escape, self._pending_escape = self._pending_escape, b""
        if len(escape) > 1:
            yield from self._process_marked_byte(byte)
        elif byte == 0:
            self._pending_escape = escape + b"\0"
        else:  # FF FF is one byte FF; before any other byte, which no UART sends, the FF is dropped
            yield from self._process_plain_byte(byte)

    def _process_marked_byte(self, byte: int) -> Iterator[ReceivedMessage]:
        """Process a byte with the wakeup bit, which starts a message; a message that is still incomplete is broken."""
        yield from self._discard_message("cut")
        if byte & _GENERAL_POLL_BIT:
            yield GeneralPoll(byte & ADDRESS_MAX)
        elif byte in {self._address, BROADCAST_ADDRESS}:
            self._message_bytes.append(byte)
            self._is_in_message = True
        else:
            yield MessageToOtherMachine(byte)

    def _process_plain_byte(self, byte: int) -> Iterator[ReceivedMessage]:
        """Process a byte within a message; ignore messages to other machines."""
        if not self._is_in_message:
            return
        self._message_bytes.append(byte)
        size = find_frame_size(self._message_bytes)
        if size is None:
            yield from self._discard_message("unknown")
        elif len(self._message_bytes) == size:
            frame = bytes(self._message_bytes)
            self._message_bytes.clear()
            self._is_in_message = False
            yield _build_message(frame)

    def _discard_message(self, reason: str) -> Iterator[ReceivedMessage]:
        """Discard the message received so far and yield it as broken; ignore bytes until the next message begins."""
        self._pending_escape = b""
        self._is_in_message = False
        if self._message_bytes:
            broken_bytes = bytes(self._message_bytes)
            self._message_bytes.clear()
            yield BrokenMessage(reason, broken_bytes)


class LenientFraming:
    """Decoder that recognises messages by pauses, lengths and CRCs, for the machine at ``address``.

    After broken bytes, input is ignored until a pause, because only a pause shows where a message begins.
    """

    def __init__(self, address: int, gap_ns: int) -> None:
        self._address = address
        self._gap_ns = gap_ns
        self._received_ns = 0
        self._message_bytes = bytearray()
        self._awaits_pause = False

    def decode(self, data: bytes, now_ns: int) -> Iterator[ReceivedMessage]:
        """Decode ``data``, read at ``now_ns``; yield each message that it completes."""
        if now_ns - self._received_ns > self._gap_ns:
            self._awaits_pause = False
            if self._message_bytes:
                yield self._discard_broken_message("gap")
        self._received_ns = now_ns
        for index, byte in enumerate(data):
            if self._awaits_pause:
                yield BrokenMessage("stray", data[index:])
                return
            yield from self._process_byte(byte)

    def _process_byte(self, byte: int) -> Iterator[ReceivedMessage]:
        """Process one byte, using the lengths of known polls; yield the message that it completes, if any."""
        if not self._message_bytes and byte & _GENERAL_POLL_BIT:
            yield GeneralPoll(byte & ADDRESS_MAX)
            return
        self._message_bytes.append(byte)
        size = find_frame_size(self._message_bytes)
        if size is None:
            self._awaits_pause = True
            yield self._discard_broken_message("unknown")
        elif len(self._message_bytes) == size:
            frame = bytes(self._message_bytes)
            self._message_bytes.clear()
            message = _build_message(frame)
            self._awaits_pause = isinstance(message, BrokenMessage)
            yield (
                message
                if self._awaits_pause or frame[0] in {self._address, BROADCAST_ADDRESS}
                else MessageToOtherMachine(frame[0])
            )

    def _discard_broken_message(self, reason: str) -> BrokenMessage:
        """Discard the message received so far, and return it as broken for the reason ``reason``."""
        broken_bytes = bytes(self._message_bytes)
        self._message_bytes.clear()
        return BrokenMessage(reason, broken_bytes)


def escape_message_with_wakeup(message: bytes) -> bytes:
    """Return a host's message in the form in which a Linux UART reports it: its first byte has the wakeup bit."""
    return b"\xff\0" + message[:1] + message[1:].replace(b"\xff", b"\xff\xff")

"""Encoding and decoding of EBDS: polls, statuses, bar codes and queries, without input or output.

Frame: ``02 len ctl data 03 xor``; ``len`` counts the whole frame, ``xor`` covers everything from ``len`` to
the last data byte, every payload byte has 7 bits. The high half of ``ctl`` is the type, its low bit the
acknowledgement number. The host changes the number in its next poll when it has accepted a reply, and the
acceptor echoes it. If a poll comes with the number of the last reply, the acceptor repeats that reply. The
line is 9600 7E1, polled about every 100 ms.

Known answer, from published examples: an idle acceptor with its box sends ``02 0B 20 01 10 00 00 01 02 03
39``.

A bar code is sent in 28 characters; acceptors fill those that it does not use with NUL or with ``(`` (0x28). A bar
code need not be a number. Every extended frame of the acceptor has the six status bytes after its subtype, so even a
frame with an unknown subtype reports whether a paper was stacked.

Reliability: frame, poll and status bits are in several independent public implementations; what follows a
power loss (policy A: the paper is moved to the box and reported) is general knowledge only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import reduce
from operator import xor
from typing import Final

from egm.devices.framing import FrameCut, ProtocolError, skip_to_start_byte

#: The name of this protocol in error messages.
EBDS_PROTOCOL: Final = "ebds"
#: First byte of a frame.
_START_OF_TEXT: Final = 0x02
#: Byte before the check byte.
_END_OF_TEXT: Final = 0x03
#: Shortest frame, in bytes.
_FRAME_BYTES_MIN: Final = 5
#: Status bytes in a frame of the acceptor.
_STATUS_SIZE_BYTES: Final = 6
#: Longest bar code, in characters.
BARCODE_CHARACTERS_MAX: Final = 28
#: Characters with which acceptors fill a bar code after its last character.
_BARCODE_FILLERS: Final = b"\0( "
#: Stands for a bar code in which no character could be read.
_UNREADABLE_CHARACTER: Final = "?"

#: Note value code (1 to 7) to minor units, dollars.
DOLLAR_CENTS_BY_NOTE_CODE: Final[Mapping[int, int]] = {
    1: 1_00,
    2: 2_00,
    3: 5_00,
    4: 10_00,
    5: 20_00,
    6: 50_00,
    7: 100_00,
}


class MessageType(IntEnum):
    """The type of an EBDS message: the high half of its control byte."""

    HOST = 0x10
    DEVICE = 0x20
    AUXILIARY = 0x60
    EXTENDED = 0x70


class AuxiliaryCommandCode(IntEnum):
    """The codes of the machine's commands in auxiliary frames: queries for identification texts, and the soft reset."""

    ACCEPTOR_TYPE = 0x04
    SERIAL_NUMBER = 0x05
    APPLICATION_PART_NUMBER = 0x07
    SOFT_RESET = 0x7F


class AcceptorStatusBits(IntFlag):
    """The bits of the acceptor's status bytes 0 to 3.

    An event bit, such as STACKED or RETURNED, is set in one status only; a state bit is set for as long as the state
    lasts.
    """

    IDLING = 1 << 0
    ACCEPTING = 1 << 1
    ESCROWED = 1 << 2
    STACKING = 1 << 3
    STACKED = 1 << 4
    RETURNING = 1 << 5
    RETURNED = 1 << 6
    CHEATED = 1 << 7
    REJECTED = 1 << 8
    JAMMED = 1 << 9
    FULL = 1 << 10
    BOX_PRESENT = 1 << 11
    PAUSED = 1 << 12
    CALIBRATION = 1 << 13
    POWER_UP = 1 << 14
    INVALID = 1 << 15
    FAILURE = 1 << 16
    STALLED = 1 << 21
    FLASH = 1 << 22
    PRESTACK = 1 << 23
    BARCODE_CAPABLE = 1 << 24


#: Lowest bit of the note value code in the status bits.
_NOTE_CODE_SHIFT: Final = 17
#: Bits of the note value code in the status bits.
_NOTE_CODE_MASK: Final = 0b111 << _NOTE_CODE_SHIFT
#: Bits of a poll's second data byte that are always set: accept notes in all four orientations, and use escrow.
_POLL_MODE_BITS: Final = 0b1_1100
#: Bit of a poll's second data byte: stack the paper in escrow.
_STACK_COMMAND_BIT: Final = 1 << 5
#: Bit of a poll's second data byte: return the paper in escrow.
_RETURN_COMMAND_BIT: Final = 1 << 6
#: Bit of a poll's third data byte: accept bar codes.
_ACCEPT_BARCODES_BIT: Final = 1 << 1
#: Subtype of an extended frame: a bar code.
_EXTENDED_BARCODE_SUBTYPE: Final = 0x01
#: Subtype of an extended frame: a row of the note table.
_EXTENDED_NOTE_SUBTYPE: Final = 0x02
#: Bytes of a row of the note table.
_NOTE_ROW_SIZE_BYTES: Final = 18


@dataclass(frozen=True, slots=True)
class EbdsFrame:
    """A complete EBDS frame with a valid check byte."""

    control: int
    data: bytes = b""

    def encode(self) -> bytes:
        """Return the EBDS message as the bytes to send."""
        body = bytes((_FRAME_BYTES_MIN + len(self.data), self.control)) + self.data
        return bytes((_START_OF_TEXT,)) + body + bytes((_END_OF_TEXT, reduce(xor, body)))


@dataclass(frozen=True, slots=True, kw_only=True)
class EbdsPoll:
    """The machine's poll of the acceptor: the notes and tickets to accept.

    With ``is_stack_command`` or ``is_return_command``, it also orders the acceptor to stack or return the bill or
    ticket in escrow.
    """

    ack_number: int
    enabled_notes_mask: int = 0
    accepts_barcodes: bool = False
    is_stack_command: bool = False
    is_return_command: bool = False

    @property
    def data(self) -> bytes:
        """Return the three data bytes of the poll."""
        mode_bits = (
            _POLL_MODE_BITS
            | (_STACK_COMMAND_BIT if self.is_stack_command else 0)
            | (_RETURN_COMMAND_BIT if self.is_return_command else 0)
        )
        return bytes(
            (self.enabled_notes_mask & 0x7F, mode_bits, _ACCEPT_BARCODES_BIT if self.accepts_barcodes else 0)
        )

    def encode(self) -> bytes:
        """Return the poll of the EBDS acceptor as the bytes to send."""
        return EbdsFrame(MessageType.HOST | self.ack_number, self.data).encode()


@dataclass(frozen=True, slots=True)
class NoteQuery:
    """The query of one row of the acceptor's note table.

    The message also has the settings and orders of ``poll``, as every poll has.
    """

    poll: EbdsPoll
    row_index: int

    @property
    def ack_number(self) -> int:
        """Return the acknowledgement bit of the query."""
        return self.poll.ack_number

    def encode(self) -> bytes:
        """Return the query of the acceptor's note table as the bytes to send."""
        body = bytes((_EXTENDED_NOTE_SUBTYPE,)) + self.poll.data + bytes((self.row_index,))
        return EbdsFrame(MessageType.EXTENDED | self.ack_number, body).encode()


@dataclass(frozen=True, slots=True)
class AuxiliaryCommand:
    """An auxiliary command: a query that the acceptor answers with a text, or a soft reset, which gets no reply."""

    ack_number: int
    code: AuxiliaryCommandCode

    def encode(self) -> bytes:
        """Return the auxiliary command to the EBDS acceptor as the bytes to send."""
        leading_byte = 0x7F if self.code is AuxiliaryCommandCode.SOFT_RESET else 0
        return EbdsFrame(
            MessageType.AUXILIARY | self.ack_number, bytes((leading_byte, leading_byte, self.code))
        ).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptorStatus:
    """The acceptor's status; ``note_code`` (1 to 7, 0 for none) or ``barcode`` identifies the bill or ticket in it."""

    ack_number: int
    bits: AcceptorStatusBits
    note_code: int = 0
    barcode: str = ""
    model: int = 0
    revision: int = 0

    @property
    def data(self) -> bytes:
        """Return the acceptor's status as the six bytes of an EBDS message."""
        status_bits = self.bits | self.note_code << _NOTE_CODE_SHIFT
        # Each of the four bytes has seven of the bits.
        return bytes(status_bits >> 7 * index & 0x7F for index in range(4)) + bytes(
            (self.model, self.revision)
        )

    def encode(self) -> bytes:
        """Return the EBDS acceptor's status as the bytes to send."""
        status = self.data
        if not self.barcode:
            return EbdsFrame(MessageType.DEVICE | self.ack_number, status).encode()
        text = self.barcode.encode("ascii").ljust(BARCODE_CHARACTERS_MAX, b"(")
        return EbdsFrame(
            MessageType.EXTENDED | self.ack_number, bytes((_EXTENDED_BARCODE_SUBTYPE,)) + status + text
        ).encode()


@dataclass(frozen=True, slots=True)
class NoteTableRow:
    """The acceptor's reply with one row of its note table, and its status.

    The note is worth ``base_value`` x 10 ** ``decimal_exponent``, in units of ``currency`` (ISO 4217); if ``currency``
    is empty, the table has no such row. In a row that cannot be decoded, ``base_value`` is 0.
    """

    status: AcceptorStatus
    row_index: int
    currency: str = ""
    base_value: int = 0
    decimal_exponent: int = 0

    @property
    def ack_number(self) -> int:
        """Return the acknowledgement bit of the message."""
        return self.status.ack_number

    def encode(self) -> bytes:
        """Return the acceptor's reply with this row of its note table as the bytes to send."""
        row = bytes(_NOTE_ROW_SIZE_BYTES - 1)
        if self.currency:
            sign = "-" if self.decimal_exponent < 0 else "+"
            text = f"{self.currency}{self.base_value:03}{sign}{abs(self.decimal_exponent):02}"
            # Orientation 0; type, series, compatibility and version A; three unused bytes.
            row = text.encode("ascii") + b"\0AAAA" + bytes(3)
        body = bytes((_EXTENDED_NOTE_SUBTYPE,)) + self.status.data + bytes((self.row_index,)) + row
        return EbdsFrame(MessageType.EXTENDED | self.ack_number, body).encode()


@dataclass(frozen=True, slots=True)
class IdentificationText:
    """The acceptor's reply to an auxiliary query, as text."""

    ack_number: int
    text: str

    def encode(self) -> bytes:
        """Return the acceptor's text reply as the bytes to send."""
        return EbdsFrame(MessageType.AUXILIARY | self.ack_number, self.text.encode("ascii")).encode()


def cut_frame(buffer: bytes) -> FrameCut[EbdsFrame] | None:
    """Separate the first EBDS frame from the received bytes; return None until it is complete.

    The result has the frame, or the error of invalid bytes, and the number of bytes that it used.
    """
    if (garbage := skip_to_start_byte(buffer, _START_OF_TEXT, EBDS_PROTOCOL)) is not None:
        return garbage
    if len(buffer) < 2:
        return None
    size = buffer[1]
    if not _FRAME_BYTES_MIN <= size <= 0x7F:
        return FrameCut(
            1,
            ProtocolError(
                EBDS_PROTOCOL, f"message length is {size}; expected {_FRAME_BYTES_MIN} to 127", buffer[:2]
            ),
        )
    if len(buffer) < size:
        return None
    frame = buffer[:size]
    if frame[-2] != _END_OF_TEXT or reduce(xor, frame[1:-2]) != frame[-1] or not frame.isascii():
        return FrameCut(
            1,
            ProtocolError(
                EBDS_PROTOCOL, "the message has a wrong end byte, a wrong checksum or a byte above 7F", frame
            ),
        )
    return FrameCut(size, EbdsFrame(frame[2], frame[3:-2]))


def decode_machine_message(frame: EbdsFrame) -> EbdsPoll | NoteQuery | AuxiliaryCommand:
    """Decode a frame from the machine. Raises :class:`ProtocolError`."""
    message_type, ack_number, data = frame.control & 0x70, frame.control & 1, frame.data
    if message_type == MessageType.HOST and len(data) == 3:
        return _decode_poll(ack_number, data)
    if message_type == MessageType.EXTENDED and len(data) == 5 and data[0] == _EXTENDED_NOTE_SUBTYPE:
        return NoteQuery(_decode_poll(ack_number, data[1:4]), data[4])
    if (
        message_type == MessageType.AUXILIARY
        and len(data) == 3
        and data[2] in frozenset(AuxiliaryCommandCode)
    ):
        return AuxiliaryCommand(ack_number, AuxiliaryCommandCode(data[2]))
    raise ProtocolError(EBDS_PROTOCOL, f"unknown host message of type {message_type:02X}", data)


def _decode_poll(ack_number: int, data: bytes) -> EbdsPoll:
    """Return the machine's poll that the three bytes ``data`` encode."""
    return EbdsPoll(
        ack_number=ack_number,
        enabled_notes_mask=data[0],
        accepts_barcodes=bool(data[2] & _ACCEPT_BARCODES_BIT),
        is_stack_command=bool(data[1] & _STACK_COMMAND_BIT),
        is_return_command=bool(data[1] & _RETURN_COMMAND_BIT),
    )


def decode_acceptor_message(frame: EbdsFrame) -> AcceptorStatus | NoteTableRow | IdentificationText:
    """Decode a frame from the acceptor. Raises :class:`ProtocolError`."""
    message_type, ack_number, data = frame.control & 0x70, frame.control & 1, frame.data
    if message_type == MessageType.DEVICE and len(data) == _STATUS_SIZE_BYTES:
        return _decode_status(ack_number, data, "")
    if message_type == MessageType.EXTENDED and len(data) > _STATUS_SIZE_BYTES:
        status, remainder = data[1 : 1 + _STATUS_SIZE_BYTES], data[1 + _STATUS_SIZE_BYTES :]
        if data[0] == _EXTENDED_NOTE_SUBTYPE and len(remainder) == _NOTE_ROW_SIZE_BYTES:
            return _decode_note_row(_decode_status(ack_number, status, ""), remainder)
        is_barcode = data[0] == _EXTENDED_BARCODE_SUBTYPE
        text = (
            remainder.rstrip(_BARCODE_FILLERS).decode("ascii") or _UNREADABLE_CHARACTER if is_barcode else ""
        )
        return _decode_status(ack_number, status, text)
    if message_type == MessageType.AUXILIARY:
        return IdentificationText(ack_number, data.decode("ascii").strip("\0 "))
    raise ProtocolError(
        EBDS_PROTOCOL, f"unknown acceptor message of type {message_type:02X} with {len(data)} bytes", data
    )


def _decode_note_row(status: AcceptorStatus, row: bytes) -> NoteTableRow:
    """Decode a row of the note table; zeros mean that there is no such row.

    Layout: index, ISO 4217 code, three digits, sign and two digits of the exponent. ``status`` was decoded
    from the same message.
    """
    text = row[1:10].decode("ascii")
    if not text.strip("\0"):
        return NoteTableRow(status, row[0])
    currency, base_text, sign, exponent_text = text[:3], text[3:6], text[6], text[7:9]
    if not (currency.isalpha() and base_text.isdigit() and sign in "+-" and exponent_text.isdigit()):
        return NoteTableRow(status, row[0], currency, 0)
    return NoteTableRow(
        status, row[0], currency, int(base_text), int(exponent_text) * (-1 if sign == "-" else 1)
    )


def is_from_acceptor(frame: EbdsFrame) -> bool:
    """Return whether a frame comes from the acceptor; a line that echoes also returns the machine's own polls."""
    return frame.control & 0x70 != MessageType.HOST


def _decode_status(ack_number: int, data: bytes, barcode: str) -> AcceptorStatus:
    """Decode the six status bytes of the acceptor."""
    status_bits = sum(byte << 7 * index for index, byte in enumerate(data[:4]))
    return AcceptorStatus(
        ack_number=ack_number,
        bits=AcceptorStatusBits(status_bits & ~_NOTE_CODE_MASK & _ALL_STATUS_BITS),
        note_code=(status_bits & _NOTE_CODE_MASK) >> _NOTE_CODE_SHIFT,
        barcode=barcode,
        model=data[4],
        revision=data[5],
    )


#: All bits that the acceptor's status may have.
_ALL_STATUS_BITS: Final = sum(AcceptorStatusBits)

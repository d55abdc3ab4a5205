"""Encoding and decoding of JCM ID-003: frames, statuses and settings, without input or output.

Frame: ``FC len command data crcLo crcHi``; ``len`` counts the whole frame (5 to 255), the CRC is
CRC-16/KERMIT from ``FC`` on. The line is 9600 8E1, the host polls with 11 about every 200 ms.

Known answers (computed from the definition): status ``FC 05 11 27 56``, reset ``FC 05 40 2B 15``, stack-1
``FC 05 41 A2 04``, acknowledge ``FC 05 50 AA 05``, accept ``FC 06 C3 00 04 D6``.

Reliability: frame, commands and statuses are in several independent public implementations; the meaning of
single setting bits (denominations: 1 inhibits) is in one, or general knowledge only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from egm.devices.crc import compute_crc_kermit
from egm.devices.framing import FrameCut, ProtocolError, skip_to_start_byte

#: The name of this protocol in error messages.
ID003_PROTOCOL: Final = "id003"
#: First byte of a frame.
_SYNC_BYTE: Final = 0xFC
#: Shortest frame, in bytes.
_FRAME_BYTES_MIN: Final = 5


class Id003Command(IntEnum):
    """Commands of the machine to an ID-003 acceptor. The settings (C0 to C7) are echoed by the acceptor."""

    STATUS = 0x11
    RESET = 0x40
    STACK_1 = 0x41  # vend valid is sent when the note can no longer be returned
    STACK_2 = 0x42  # vend valid is sent earlier; not used
    RETURN = 0x43
    HOLD = 0x44
    WAIT = 0x45
    ACK = 0x50
    VERSION = 0x88
    CURRENCY = 0x8A
    DENOMINATIONS = 0xC0
    SECURITY = 0xC1
    COMMUNICATION = 0xC2
    INHIBIT = 0xC3
    DIRECTION = 0xC4
    OPTIONS = 0xC5
    BARCODE = 0xC6
    BARCODE_INHIBIT = 0xC7


class Id003Status(IntEnum):
    """Statuses of an ID-003 acceptor, sent in reply to a status request."""

    IDLE = 0x11
    ACCEPTING = 0x12
    ESCROW = 0x13
    STACKING = 0x14
    VEND_VALID = 0x15
    STACKED = 0x16
    REJECTING = 0x17
    RETURNING = 0x18
    HOLDING = 0x19
    DISABLED = 0x1A
    INITIALIZE = 0x1B
    POWER_UP = 0x40
    POWER_UP_BILL_IN_ACCEPTOR = 0x41
    POWER_UP_BILL_IN_STACKER = 0x42
    STACKER_FULL = 0x43
    STACKER_OPEN = 0x44
    ACCEPTOR_JAM = 0x45
    STACKER_JAM = 0x46
    PAUSE = 0x47
    CHEATED = 0x48
    FAILURE = 0x49
    COMMUNICATION_ERROR = 0x4A
    INVALID_COMMAND = 0x4B


#: The commands the acceptor echoes.
SETTING_COMMANDS: Final = frozenset(
    command for command in Id003Command if command >= Id003Command.DENOMINATIONS
)
#: The codes of all statuses.
_KNOWN_STATUSES: Final = frozenset(Id003Status)

#: Bytes of a row of the currency table.
_CURRENCY_TABLE_ROW_SIZE_BYTES: Final = 4

#: Precedes the digits of a ticket in an escrow status.
BARCODE_ESCROW_CODE: Final = 0x6F
#: Bar codes accepted: Interleaved 2 of 5, 18 characters.
BARCODE_TYPE_INTERLEAVED_18: Final = b"\x01\x12"

#: The code of the first denomination.
FIRST_NOTE_CODE: Final = 0x61
#: The number of denominations, whose codes follow one another.
NOTE_CODE_COUNT: Final = 8
#: Note code to minor units, dollars. Tables differ by country: the cabinet file may specify another.
DOLLAR_CENTS_BY_NOTE_CODE: Final[Mapping[int, int]] = {
    0x61: 1_00,
    0x63: 5_00,
    0x64: 10_00,
    0x65: 20_00,
    0x66: 50_00,
    0x67: 100_00,
}

#: Country byte of a note code -> its currency, as far as public drivers agree on it.
CURRENCY_BY_COUNTRY_CODE: Final[Mapping[int, str]] = {
    0x01: "USD",
    0x08: "CAD",
    0x16: "CHF",
    0x27: "RUB",
    0x2D: "CNY",
    0x30: "HUF",
    0x51: "KZT",
    0x5C: "UAH",
    0x63: "INR",
    0x78: "IRR",
    0x7E: "MDL",
    0x86: "UZS",
    0xE0: "EUR",
}

#: Reason code of a rejection -> its text.
REJECTION_TEXT_BY_CODE: Final[Mapping[int, str]] = {
    0x71: "insertion error",
    0x72: "magnetic error",
    0x73: "a note remains in the head",
    0x74: "compensation error",
    0x75: "conveying error",
    0x76: "denomination not recognised",
    0x77: "photo pattern error",
    0x78: "photo level error",
    0x79: "inhibited denomination",
    0x7A: "unknown rejection 7A",
    0x7B: "operation error",
    0x7C: "a note remains in the stacker",
    0x7D: "length error",
    0x7E: "colour pattern error",
}


@dataclass(frozen=True, slots=True)
class Id003Frame:
    """A complete ID-003 frame with a valid CRC."""

    command: int
    data: bytes = b""

    def encode(self) -> bytes:
        """Return the ID-003 message as the bytes to send."""
        body = bytes((_SYNC_BYTE, _FRAME_BYTES_MIN + len(self.data), self.command)) + self.data
        return body + compute_crc_kermit(body).to_bytes(2, "little")


def cut_frame(buffer: bytes) -> FrameCut[Id003Frame] | None:
    """Separate the first ID-003 frame from the received bytes; return None until it is complete.

    The result has the frame, or the error of invalid bytes, and the number of bytes that it used.

    After a bad length or CRC only the start byte is refused, so a valid frame after it is still found.
    """
    if (garbage := skip_to_start_byte(buffer, _SYNC_BYTE, ID003_PROTOCOL)) is not None:
        return garbage
    if len(buffer) < 2:
        return None
    size = buffer[1]
    if size < _FRAME_BYTES_MIN:
        return FrameCut(
            1,
            ProtocolError(
                ID003_PROTOCOL, f"message length is {size}; expected at least {_FRAME_BYTES_MIN}", buffer[:2]
            ),
        )
    if len(buffer) < size:
        return None
    frame = buffer[:size]
    crc = compute_crc_kermit(frame[:-2])
    if int.from_bytes(frame[-2:], "little") != crc:
        return FrameCut(1, ProtocolError(ID003_PROTOCOL, f"wrong CRC: expected {crc:04X}", frame))
    return FrameCut(size, Id003Frame(frame[2], frame[3:-2]))


# ---------------------------------------------------------------- decoding of the acceptor's frames
@dataclass(frozen=True, slots=True)
class StatusReport:
    """The acceptor's status, and the bill or ticket that it is about.

    If something is in escrow, ``note_code`` is the code of a bill, or ``barcode`` the text read from a ticket, which
    need not be digits; without either, it is not known what is in escrow. If something was rejected,
    ``rejection_reason`` is the text for the acceptor's code; otherwise "". ``data`` are the bytes after the status.
    """

    status: Id003Status
    note_code: int | None = None
    barcode: str | None = None
    rejection_reason: str = ""
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class CommandAcknowledged:
    """The acceptor's reply 50: it has accepted a command."""


@dataclass(frozen=True, slots=True)
class SettingEcho:
    """The acceptor's reply that repeats a setting as it has stored it."""

    command: Id003Command
    data: bytes


@dataclass(frozen=True, slots=True)
class SoftwareVersionReply:
    """The acceptor's reply with its model and software version, as text."""

    text: str


@dataclass(frozen=True, slots=True)
class CurrencyTableRow:
    """The banknote for which a note code stands: its country, and its value in that country's currency.

    The value is ``base_value`` times ten to ``decimal_exponent``. If ``country_code`` is 0, the acceptor accepts no
    banknote under this note code.
    """

    note_code: int
    country_code: int
    base_value: int
    decimal_exponent: int


@dataclass(frozen=True, slots=True)
class CurrencyTable:
    """The acceptor's reply with the note that each of its note codes stands for."""

    rows: tuple[CurrencyTableRow, ...]

    def encode(self) -> bytes:
        """Return the table of notes as data of an ID-003 message."""
        return bytes(
            byte
            for row in self.rows
            for byte in (row.note_code, row.country_code, row.base_value, row.decimal_exponent)
        )


#: Any message of the acceptor.
Id003Report = StatusReport | CommandAcknowledged | SettingEcho | SoftwareVersionReply | CurrencyTable


def decode_report(frame: Id003Frame) -> Id003Report:
    """Decode a frame from the acceptor. Raises :class:`ProtocolError` for anything else."""
    command, data = frame.command, frame.data
    if command == Id003Command.ACK:
        return CommandAcknowledged()
    if command in {Id003Command.VERSION, Id003Command.CURRENCY}:
        return _decode_version(data) if command == Id003Command.VERSION else _decode_currency_table(data)
    if command in SETTING_COMMANDS:
        return SettingEcho(Id003Command(command), data)
    if command not in _KNOWN_STATUSES:
        raise ProtocolError(ID003_PROTOCOL, f"unknown status {command:02X}", bytes((command,)) + data)
    status = Id003Status(command)
    if status is Id003Status.ESCROW:
        return _decode_escrow(data)
    code = data[0] if data else 0
    reason = (
        REJECTION_TEXT_BY_CODE.get(code, f"unknown rejection {code:02X}")
        if status is Id003Status.REJECTING
        else ""
    )
    return StatusReport(status, rejection_reason=reason, data=data)


def _decode_version(data: bytes) -> SoftwareVersionReply:
    """Decode the reply with model and software version."""
    if not data.isascii():
        raise ProtocolError(ID003_PROTOCOL, "version is not ASCII", data)
    return SoftwareVersionReply(data.decode("ascii").strip())


def _decode_currency_table(data: bytes) -> CurrencyTable:
    """Decode the reply with the notes of all note codes."""
    if not data or len(data) % _CURRENCY_TABLE_ROW_SIZE_BYTES:
        raise ProtocolError(ID003_PROTOCOL, f"{len(data)} bytes of denominations, not 4 for each", data)
    row_starts = range(0, len(data), _CURRENCY_TABLE_ROW_SIZE_BYTES)
    return CurrencyTable(
        tuple(
            CurrencyTableRow(*data[row_start : row_start + _CURRENCY_TABLE_ROW_SIZE_BYTES])
            for row_start in row_starts
        )
    )


def _decode_escrow(data: bytes) -> StatusReport:
    """Decode the status of a bill or ticket in escrow: a note code, or a bar code."""
    if len(data) > 1 and data[0] == BARCODE_ESCROW_CODE:
        text = data[1:].rstrip(b"\0 ").decode("ascii", "replace")
        return StatusReport(Id003Status.ESCROW, barcode=text, data=data)
    return StatusReport(Id003Status.ESCROW, note_code=data[0] if len(data) == 1 else None, data=data)

"""Encoding and decoding of the commands and statuses of ESC-style ticket printers, without input or output.

Text is sent unchanged, each line ended by ``0A``. ``1B 58 hi lo`` sets the horizontal position, ``1D 68 n``
and ``1D 77 n`` the bar code's height and width, ``1D 6B 09 len digits`` prints it (Interleaved 2 of 5),
``0C`` ends and presents the ticket, ``18`` discards what was sent. ``1D 7A`` and ``1D 53`` query two status
bytes. The line is 9600 8N1; there is no checksum in either direction.

Reliability: the commands come from a single public source, for the printer model Edge. **The status
bytes' bits are in licensed manuals**; :data:`STATUS_BIT_NAMES` is a placeholder and the only place that defines them.
Bits 7 and 6 distinguish the two bytes and are part of the placeholder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from egm.devices.framing import FrameCut, ProtocolError
from egm.devices.printer_status import PrinterStatus

#: The name of this protocol in error messages.
ITHACA_PROTOCOL: Final = "ithaca"
#: Character set of the printer.
TEXT_ENCODING: Final = "cp437"
#: First byte of a positioning command.
_ESC: Final = 0x1B
#: First byte of a bar code command or a status query.
_GROUP_SEPARATOR: Final = 0x1D
#: Bar code type: Interleaved 2 of 5.
_BARCODE_TYPE_INTERLEAVED: Final = 0x09

#: Names of the bits of the first and of the second status byte, bit 0 first.
STATUS_BIT_NAMES: Final[Sequence[Sequence[str]]] = (
    ("ticket_in_path", "is_busy", "barcode_done", "jam"),
    ("paper_out", "paper_low", "head_up", "chassis_open", "failure"),
)
#: Value of bits 7 and 6 in the first and in the second status byte, by which the two are distinguished.
_STATUS_BYTE_MARKS: Final = (0x40, 0x80)


#: Second bytes of the queries for the first and for the second status byte.
_STATUS_QUERY_CODES: Final = (0x7A, 0x53)
#: Second byte of the command that sets the print position.
_POSITION_COMMAND: Final = 0x58
#: Second byte of the command that sets the bar height.
_BAR_HEIGHT_COMMAND: Final = 0x68
#: Second byte of the command that sets the bar width.
_BAR_WIDTH_COMMAND: Final = 0x77
#: Second byte of the command that prints a bar code.
_BARCODE_COMMAND: Final = 0x6B
#: The command that presents the ticket.
_PRESENT_COMMAND: Final = 0x0C
#: The command that discards what was sent.
_CANCEL_COMMAND: Final = 0x18
#: Longest line of text, in bytes.
_LINE_BYTES_MAX: Final = 256
#: Most digits of a bar code.
_BARCODE_DIGITS_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class PrintTextLine:
    """A printer command that prints one line of text."""

    text: str

    def encode(self) -> bytes:
        """Return the printer command as the bytes to send. Raises ValueError for characters that the printer lacks."""
        if not self.text.isprintable():
            raise ValueError(
                f"{ITHACA_PROTOCOL}: {self.text!r} contains control characters, which cannot be printed"
            )
        try:
            return self.text.encode(TEXT_ENCODING) + b"\n"
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{ITHACA_PROTOCOL}: the printer has no character {error.object[error.start]!r}"
            ) from error


@dataclass(frozen=True, slots=True)
class PrintSetting:
    """A printer command that sets the print position, bar height or bar width: ``command_code`` is its second byte."""

    command_code: int
    value: int

    def encode(self) -> bytes:
        """Return the printer command as the bytes to send."""
        if self.command_code == _POSITION_COMMAND:
            return bytes((_ESC, self.command_code)) + self.value.to_bytes(2, "big")
        return bytes((_GROUP_SEPARATOR, self.command_code, self.value))


@dataclass(frozen=True, slots=True)
class PrintBarcode:
    """A printer command that prints a bar code."""

    digits: str

    def encode(self) -> bytes:
        """Return the printer command as the bytes to send. Raises ValueError for an invalid bar code."""
        digits = self.digits
        if (
            not (digits.isascii() and digits.isdigit())
            or len(digits) % 2
            or len(digits) > _BARCODE_DIGITS_MAX
        ):
            raise ValueError(
                f"{ITHACA_PROTOCOL}: bar code {digits!r}: expected an even number of digits, "
                f"{_BARCODE_DIGITS_MAX} at most"
            )
        return bytes(
            (_GROUP_SEPARATOR, _BARCODE_COMMAND, _BARCODE_TYPE_INTERLEAVED, len(digits))
        ) + digits.encode("ascii")


@dataclass(frozen=True, slots=True)
class PresentTicket:
    """A printer command that ends the ticket and presents it to the player."""

    def encode(self) -> bytes:
        """Return the command's byte as sent to the printer."""
        return bytes((_PRESENT_COMMAND,))


@dataclass(frozen=True, slots=True)
class CancelPrintJob:
    """A printer command that discards the unprinted data and clears the status bit ``barcode_done``."""

    def encode(self) -> bytes:
        """Return the printer command as the byte to send."""
        return bytes((_CANCEL_COMMAND,))


@dataclass(frozen=True, slots=True)
class StatusQuery:
    """The machine's query of a status byte: ``status_byte_index`` is 0 for the first byte, 1 for the second."""

    status_byte_index: int

    def encode(self) -> bytes:
        """Return the query of the printer's status as the bytes to send."""
        return bytes((_GROUP_SEPARATOR, _STATUS_QUERY_CODES[self.status_byte_index]))


#: Any command of the machine.
IthacaCommand = PrintTextLine | PrintSetting | PrintBarcode | PresentTicket | CancelPrintJob | StatusQuery


def encode_ticket(lines: Sequence[str], barcode_digits: str) -> bytes:
    """Return the bytes of a complete ticket: the bar code near the leading edge, then the lines."""
    commands: list[IthacaCommand] = [
        PrintSetting(_BAR_HEIGHT_COMMAND, 80),
        PrintSetting(_BAR_WIDTH_COMMAND, 3),
        PrintSetting(_POSITION_COMMAND, 40),
    ]
    commands += [PrintBarcode(barcode_digits), *(PrintTextLine(line) for line in lines), PresentTicket()]
    return b"".join(command.encode() for command in commands)


def cut_command(buffer: bytes) -> FrameCut[IthacaCommand] | None:
    """Separate the machine's first command from the received bytes; return None until it is complete.

    The result has the command, or the error of invalid bytes, and the number of bytes that it used.
    """
    first_byte = buffer[0]
    if first_byte in {_PRESENT_COMMAND, _CANCEL_COMMAND}:
        return FrameCut(1, PresentTicket() if first_byte == _PRESENT_COMMAND else CancelPrintJob())
    return _cut_escape_command(buffer) if first_byte in {_ESC, _GROUP_SEPARATOR} else _cut_text_line(buffer)


def _cut_text_line(buffer: bytes) -> FrameCut[IthacaCommand] | None:
    """Separate a command that prints a line of text from the bytes after it; return None until it is complete."""
    line_end = buffer.find(b"\n", 0, _LINE_BYTES_MAX)
    if line_end < 0:
        if len(buffer) < _LINE_BYTES_MAX:
            return None
        refused_bytes = buffer[:_LINE_BYTES_MAX]
        return FrameCut(
            _LINE_BYTES_MAX,
            ProtocolError(ITHACA_PROTOCOL, f"no end of line within {_LINE_BYTES_MAX} bytes", refused_bytes),
        )
    text = buffer[:line_end].decode(TEXT_ENCODING)
    if not text.isprintable():
        return FrameCut(
            line_end + 1,
            ProtocolError(
                ITHACA_PROTOCOL, "a line of text contains control characters", buffer[: line_end + 1]
            ),
        )
    return FrameCut(line_end + 1, PrintTextLine(text))


def _cut_escape_command(buffer: bytes) -> FrameCut[IthacaCommand] | None:
    """Separate a command that begins with a control byte from the bytes after it; return None until it is complete."""
    if len(buffer) < 2:
        return None
    first_byte, second_byte = buffer[:2]
    if first_byte == _GROUP_SEPARATOR and second_byte in _STATUS_QUERY_CODES:
        return FrameCut(2, StatusQuery(_STATUS_QUERY_CODES.index(second_byte)))
    if first_byte == _ESC and second_byte == _POSITION_COMMAND:
        return (
            FrameCut(4, PrintSetting(second_byte, int.from_bytes(buffer[2:4], "big")))
            if len(buffer) >= 4
            else None
        )
    if first_byte == _GROUP_SEPARATOR and second_byte in {_BAR_HEIGHT_COMMAND, _BAR_WIDTH_COMMAND}:
        return FrameCut(3, PrintSetting(second_byte, buffer[2])) if len(buffer) >= 3 else None
    if first_byte == _GROUP_SEPARATOR and second_byte == _BARCODE_COMMAND:
        return _cut_barcode(buffer)
    return FrameCut(1, ProtocolError(ITHACA_PROTOCOL, "unknown printer command", buffer[:2]))


def _cut_barcode(buffer: bytes) -> FrameCut[IthacaCommand] | None:
    """Separate a command that prints a bar code from the bytes after it; return None until it is complete."""
    if len(buffer) < 4 or len(buffer) < 4 + buffer[3]:
        return None
    digits = buffer[4 : 4 + buffer[3]]
    if buffer[2] != _BARCODE_TYPE_INTERLEAVED or not digits.isdigit() or len(digits) % 2:
        return FrameCut(
            2,
            ProtocolError(
                ITHACA_PROTOCOL,
                "the bar code is not Interleaved 2 of 5 with an even number of digits",
                buffer[: 4 + buffer[3]],
            ),
        )
    return FrameCut(4 + buffer[3], PrintBarcode(digits.decode("ascii")))


@dataclass(frozen=True, slots=True)
class StatusByte:
    """One of the printer's two status bytes: ``bits`` are named by :data:`STATUS_BIT_NAMES`."""

    status_byte_index: int
    bits: int

    def encode(self) -> bytes:
        """Return the printer's status as the byte to send."""
        return bytes((_STATUS_BYTE_MARKS[self.status_byte_index] | self.bits,))


def encode_status(status: PrinterStatus) -> tuple[StatusByte, StatusByte]:
    """Return a printer's status as its two bytes."""
    status_bits = [
        sum(getattr(status, name) << index for index, name in enumerate(names)) for names in STATUS_BIT_NAMES
    ]
    return StatusByte(0, status_bits[0]), StatusByte(1, status_bits[1])


def decode_status(first_byte: StatusByte, second_byte: StatusByte) -> PrinterStatus:
    """Return the printer's status that the two status bytes state."""
    return PrinterStatus(
        **{
            name: bool(byte.bits >> index & 1)
            for byte in (first_byte, second_byte)
            for index, name in enumerate(STATUS_BIT_NAMES[byte.status_byte_index])
        }
    )


def cut_status_byte(buffer: bytes) -> FrameCut[StatusByte] | None:
    """Return the printer's first reply in the received bytes, or the error, with the number of bytes that it used."""
    byte = buffer[0]
    for status_byte_index, byte_mark in enumerate(_STATUS_BYTE_MARKS):
        if byte & 0xC0 == byte_mark and byte & 0x3F < 1 << len(STATUS_BIT_NAMES[status_byte_index]):
            return FrameCut(1, StatusByte(status_byte_index, byte & 0x3F))
    return FrameCut(
        1, ProtocolError(ITHACA_PROTOCOL, "the byte is not a status byte of the printer", buffer[:1])
    )

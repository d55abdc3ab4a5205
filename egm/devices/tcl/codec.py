"""Encoding and decoding of the commands and replies of TCL-style ticket printers, without input or output.

A caret starts and ends each command, and bars separate its fields: ``^S^`` status, ``^C|a|^`` clear everything,
``^P|template|field|...|^`` print by template. The printer's status reply has asterisks instead of carets::

    *S|version|f1|f2|f3|*

The line is 9600 8N1; there is no checksum in either direction.

Reliability: the commands are in one public source. **The status reply's layout is in licensed manuals**; the
layout above, its three status characters (0x40 plus five bits, so none is a bar) and the meaning of their bits are
placeholders. :data:`STATUS_BIT_NAMES` is the only place that defines the bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from egm.devices.framing import FrameCut, ProtocolError, skip_to_start_byte
from egm.devices.printer_status import PrinterStatus

#: The name of this protocol in error messages.
TCL_PROTOCOL: Final = "tcl"
#: Character set of the printer.
TEXT_ENCODING: Final = "latin-1"
#: The character that starts and ends a command.
_CARET: Final = ord("^")
#: The character that starts and ends a reply.
_STAR: Final = ord("*")
#: Longest message, in bytes.
_MESSAGE_BYTES_MAX: Final = 2048

#: Names of the bits of each status character, bit 0 first.
STATUS_BIT_NAMES: Final[Sequence[Sequence[str]]] = (
    ("is_busy", "failure", "head_up", "paper_out", "jam"),
    ("paper_low", "ticket_in_path", "chassis_open"),
    ("barcode_done",),
)


@dataclass(frozen=True, slots=True)
class StatusQuery:
    """The machine's query of the printer's status, ``^S^``."""

    def encode(self) -> bytes:
        """Return the query of the printer's status as the bytes to send."""
        return b"^S^"


@dataclass(frozen=True, slots=True)
class ClearPrintJob:
    """A printer command that discards the print job, and clears the report of a printed bar code: ``^C|a|^``."""

    def encode(self) -> bytes:
        """Return the command to the TCL printer as the bytes to send."""
        return b"^C|a|^"


@dataclass(frozen=True, slots=True)
class PrintTicket:
    """A printer command that prints a ticket by template, ``^P|template|field|...|^``."""

    template: str
    fields: tuple[str, ...]

    def encode(self) -> bytes:
        """Return the command that prints a ticket as the bytes to send. Raises ValueError for an invalid field."""
        for field in (self.template, *self.fields):
            if not set("^|*").isdisjoint(field) or not field.isprintable():
                raise ValueError(
                    f"{TCL_PROTOCOL}: a field may not hold ^ | * or control characters: {field!r}"
                )
        try:
            text = "|".join((self.template, *self.fields)).encode(TEXT_ENCODING)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{TCL_PROTOCOL}: the printer has no character {error.object[error.start]!r}"
            ) from error
        return b"^P|" + text + b"|^"


@dataclass(frozen=True, slots=True)
class PrinterReply:
    """The printer's reply: its status and firmware version."""

    version: str
    status: PrinterStatus

    def encode(self) -> bytes:
        """Return the TCL printer's reply as the bytes to send."""
        status_characters = [
            chr(0x40 | sum(getattr(self.status, name) << index for index, name in enumerate(bit_names)))
            for bit_names in STATUS_BIT_NAMES
        ]
        return f"*S|{self.version}|{'|'.join(status_characters)}|*".encode("ascii")


def cut_printer_reply(buffer: bytes) -> FrameCut[PrinterReply] | None:
    """Separate the printer's first reply from the received bytes; return None until it is complete.

    The result has the reply, or the error of invalid bytes, and the number of bytes that it used.
    """
    frame = _cut_frame(buffer, _STAR)
    if not isinstance(frame, bytes):
        return frame
    fields = frame[1:-1].split(b"|")
    if len(fields) != 3 + len(STATUS_BIT_NAMES) or fields[0] != b"S" or fields[-1] or not frame.isascii():
        return FrameCut(
            len(frame) - 1,
            ProtocolError(TCL_PROTOCOL, "the message is not a status reply of the printer", frame),
        )
    status: dict[str, bool] = {}
    for character, bit_names in zip(fields[2:-1], STATUS_BIT_NAMES, strict=True):
        if len(character) != 1 or not 0x40 <= character[0] < 0x40 + (1 << len(bit_names)):
            return FrameCut(
                len(frame) - 1,
                ProtocolError(TCL_PROTOCOL, "the byte is not a valid group of status flags", character),
            )
        status.update({name: bool(character[0] >> index & 1) for index, name in enumerate(bit_names)})
    return FrameCut(len(frame), PrinterReply(fields[1].decode("ascii"), PrinterStatus(**status)))


def cut_command(buffer: bytes) -> FrameCut[StatusQuery | ClearPrintJob | PrintTicket] | None:
    """Separate the machine's first command from the received bytes; return None until it is complete.

    The result has the command, or the error of invalid bytes, and the number of bytes that it used.
    """
    frame = _cut_frame(buffer, _CARET)
    if not isinstance(frame, bytes):
        return frame
    fields = frame[1:-1].decode(TEXT_ENCODING).split("|")
    match fields:
        case ["S"]:
            return FrameCut(len(frame), StatusQuery())
        case ["C", "a", ""]:
            return FrameCut(len(frame), ClearPrintJob())
        case ["P", template, *field_texts, ""]:
            return FrameCut(len(frame), PrintTicket(template, tuple(field_texts)))
        case _:
            return FrameCut(len(frame) - 1, ProtocolError(TCL_PROTOCOL, "unknown printer command", frame))


def _cut_frame(buffer: bytes, frame_mark: int) -> bytes | FrameCut[Any] | None:
    """Return the first frame in the received bytes, with the frame mark (``frame_mark``) at both ends.

    Return a :class:`FrameCut` that refuses bytes before the first mark, or a frame that is too long; return None until
    the frame is complete.
    """
    if (garbage := skip_to_start_byte(buffer, frame_mark, TCL_PROTOCOL)) is not None:
        return garbage
    end = buffer.find(bytes((frame_mark,)), 1, _MESSAGE_BYTES_MAX)
    if end >= 0:
        return buffer[: end + 1]
    if len(buffer) < _MESSAGE_BYTES_MAX:
        return None
    refused_bytes = buffer[:_MESSAGE_BYTES_MAX]
    return FrameCut(
        _MESSAGE_BYTES_MAX,
        ProtocolError(TCL_PROTOCOL, f"no end within {_MESSAGE_BYTES_MAX} bytes", refused_bytes),
    )

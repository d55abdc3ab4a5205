"""Encoding and decoding of the reports of a roulette wheel's reader, without input or output.

The reader sends without being queried, every half second and at each change, a line of fields between
semicolons::

    *X;state;game number;last number;warnings;rotor speed;direction CR LF
    *X;5;117;13;0;002;0

``state`` is 1 to 6 (:class:`ReaderPhase`), a game is one spin of the wheel, ``warnings`` the hexadecimal sum of
:class:`WheelWarnings`. Between such lines it may send the number alone, and its errors after ``*F``. The line is 9600
8N1; there is no checksum.

Reliability: the states, the warnings and the order of the fields are as public users of Cammegh wheels quote
them from the owner's handbook (p. 49) and from their own logs; the handbook itself was not available. How a
wheel with a double zero reports it is unknown: :data:`WHEEL_NUMBERS` are for a single zero.
"""

import re
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Final

from egm.devices.framing import FrameCut, ProtocolError

#: The name of this protocol in error messages.
WHEEL_PROTOCOL: Final = "wheel"
#: The numbers of the wheel.
WHEEL_NUMBERS: Final = range(37)
#: Longest line of the reader, in bytes.
_LINE_BYTES_MAX: Final = 64
#: The form of a status line.
_STATUS_LINE_PATTERN: Final = re.compile(
    rb"\*X;([1-6]);(\d{3});(\d{1,2});([0-9A-F]);(\d{3});([01])", re.ASCII
)
#: The form of any other line.
_OTHER_LINE_PATTERN: Final = re.compile(rb"\d{1,2}|\*F[ -~]*", re.ASCII)


class ReaderPhase(IntEnum):
    """The phases of one spin of a real wheel, as the reader reports them."""

    WAITING = 1
    """The rotor turns; the previous spin is over."""
    BETTING = 2
    BALL_IN_TRACK = 3
    NO_MORE_BETS = 4
    NUMBER = 5
    """The ball is in a pocket, as all sensors confirm."""
    CLOSED = 6


class WheelWarnings(IntFlag):
    """The faults that a wheel's reader reports for the current spin."""

    NO_BALL = 1
    BALL_IN_ROTOR_DIRECTION = 2
    """The ball runs in the rotor's direction."""
    SENSOR_OR_MOTOR_FAILURE = 4
    """A sensor in the rim, the motor or its encoder has failed."""
    LAUNCH_FAILED = 8
    """The launch failed: the ball is launched again."""


#: No fault.
NO_WARNINGS: Final = WheelWarnings(0)


@dataclass(frozen=True, slots=True)
class WheelReaderStatus:
    """A status report of a wheel's reader.

    In phase NUMBER, ``winning_number`` is the result of the spin ``spin_counter``; in earlier phases it is the result
    of the previous spin.
    """

    phase: ReaderPhase
    spin_counter: int
    winning_number: int
    warnings: WheelWarnings = NO_WARNINGS
    rotor_speed: int = 0
    rotor_direction: int = 0

    def encode(self) -> bytes:
        """Return the status of the wheel's reader as the bytes to send."""
        fields = f"{self.phase:d};{self.spin_counter:03d};{self.winning_number:02d};{self.warnings:X}"
        return f"*X;{fields};{self.rotor_speed:03d};{self.rotor_direction}\r\n".encode("ascii")


@dataclass(frozen=True, slots=True)
class OtherReaderLine:
    """A line of the wheel's reader that is not a status report: a number alone, or an error as text."""

    text: str


#: Anything that the reader sends.
WheelReaderReport = WheelReaderStatus | OtherReaderLine


def cut_report(buffer: bytes) -> FrameCut[WheelReaderReport] | None:
    """Separate the first report of the wheel's reader from the received bytes; return None until it is complete.

    The result has the report, or the error of invalid bytes, and the number of bytes that it used.
    """
    line_end = next((index for index, byte in enumerate(buffer[:_LINE_BYTES_MAX]) if byte in b"\r\n"), None)
    if line_end is None:
        if len(buffer) < _LINE_BYTES_MAX:
            return None
        reason = f"no end within {_LINE_BYTES_MAX} bytes"
        return FrameCut(_LINE_BYTES_MAX, ProtocolError(WHEEL_PROTOCOL, reason, buffer[:_LINE_BYTES_MAX]))
    line = buffer[:line_end]
    size = line_end + 1
    while size < len(buffer) and buffer[size] in b"\r\n":
        size += 1
    return FrameCut(size, _parse_report_line(line))


def _parse_report_line(line: bytes) -> WheelReaderReport | ProtocolError:
    """Decode a line of the reader, or return the error."""
    if _OTHER_LINE_PATTERN.fullmatch(line):
        return OtherReaderLine(line.decode("ascii"))
    fields = _STATUS_LINE_PATTERN.fullmatch(line)
    if fields is None:
        return ProtocolError(WHEEL_PROTOCOL, "the line is not a report of the wheel reader", line)
    phase, spin_counter, number, warnings, speed, direction = fields.groups()
    if int(number) not in WHEEL_NUMBERS:
        return ProtocolError(WHEEL_PROTOCOL, f"the wheel has no pocket {int(number)}", line)
    return WheelReaderStatus(
        ReaderPhase(int(phase)),
        int(spin_counter),
        int(number),
        WheelWarnings(int(warnings, 16)),
        int(speed),
        int(direction),
    )

"""Interleaved 2 of 5: digits to bars and spaces (ISO/IEC 16390), with nothing drawn.

Each pair of digits is five bars (the first digit) interleaved with five spaces (the second); two of five are
wide. Tickets carry 18 digits and no check digit of the symbology's own: readers are told the length.
"""

from typing import Final

from egm.tickets.errors import InvalidTicket

#: Clear space wanted on each side, in modules (narrow elements).
QUIET_MODULES: Final = 10
#: Width of a wide element, in modules: within ISO/IEC 16390's 2.0 to 3.0, and whole so that dots are exact.
WIDE_MODULES: Final = 3

#: Which two of a digit's five elements are wide.
_WIDE: Final = ("00110", "10001", "01001", "11000", "00101", "10100", "01100", "00011", "10010", "01010")
_START: Final = (1, 1, 1, 1)
_STOP: Final = (WIDE_MODULES, 1, 1)


def bars(digits: str) -> tuple[int, ...]:
    """The widths, in modules, of bars and spaces in turn, beginning and ending with a bar; no quiet zones.

    Raises :class:`InvalidTicket` unless ``digits`` is an even number of digits, at least two.
    """
    if not digits or len(digits) % 2 or not (digits.isascii() and digits.isdigit()):
        raise InvalidTicket(f"Interleaved 2 of 5: {digits!r} is not an even number of digits")
    widths = list(_START)
    for first, second in zip(digits[::2], digits[1::2], strict=True):
        for bar, space in zip(_WIDE[int(first)], _WIDE[int(second)], strict=True):
            widths += (WIDE_MODULES if wide == "1" else 1 for wide in (bar, space))
    return (*widths, *_STOP)


def width_modules(digits: int) -> int:
    """The width of a symbol of so many digits, in modules, quiet zones included."""
    return 2 * QUIET_MODULES + sum(_START) + sum(_STOP) + digits // 2 * (4 * WIDE_MODULES + 6)

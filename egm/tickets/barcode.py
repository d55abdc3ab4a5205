"""Interleaved 2 of 5 bar code: digits to bar and space widths (ISO/IEC 16390), without drawing.

Each pair of digits is five bars (the first digit) interleaved with five spaces (the second); two of each five
are wide. Tickets carry 18 digits without the symbology's check digit: readers are configured for the length.
"""

from typing import Final

from egm.tickets.errors import InvalidTicket

#: Quiet zone on each side, in modules (narrow elements).
QUIET_ZONE_MODULES: Final = 10
#: Width of a wide element, in modules. ISO/IEC 16390 allows 2.0 to 3.0; an integer makes whole dots.
WIDE_MODULES: Final = 3

#: Which two of each digit's five elements are wide.
_WIDE_ELEMENTS_BY_DIGIT: Final = (
    "00110",
    "10001",
    "01001",
    "11000",
    "00101",
    "10100",
    "01100",
    "00011",
    "10010",
    "01010",
)
#: Widths of the start pattern, in modules.
_START_PATTERN_WIDTHS: Final = (1, 1, 1, 1)
#: Widths of the stop pattern, in modules.
_STOP_PATTERN_WIDTHS: Final = (WIDE_MODULES, 1, 1)


def encode_barcode_widths(digits: str) -> tuple[int, ...]:
    """Return the widths of a bar code's bars and spaces, alternately, from the first bar to the last bar.

    The unit is the module (the narrowest bar); quiet zones are left out. Raises :class:`InvalidTicket` unless
    ``digits`` is an even number of digits, at least two.
    """
    if not digits or len(digits) % 2 or not (digits.isascii() and digits.isdigit()):
        raise InvalidTicket(f"Interleaved 2 of 5: {digits!r} is not an even number of digits")
    widths = list(_START_PATTERN_WIDTHS)
    for bar_digit, space_digit in zip(digits[::2], digits[1::2], strict=True):
        for bar_flag, space_flag in zip(
            _WIDE_ELEMENTS_BY_DIGIT[int(bar_digit)], _WIDE_ELEMENTS_BY_DIGIT[int(space_digit)], strict=True
        ):
            widths += (WIDE_MODULES if wide_flag == "1" else 1 for wide_flag in (bar_flag, space_flag))
    return (*widths, *_STOP_PATTERN_WIDTHS)


def compute_width_modules(digit_count: int) -> int:
    """Return the width of a bar code of ``digit_count`` digits with its quiet zones, in modules (the narrowest bar)."""
    return (
        2 * QUIET_ZONE_MODULES
        + sum(_START_PATTERN_WIDTHS)
        + sum(_STOP_PATTERN_WIDTHS)
        + digit_count // 2 * (4 * WIDE_MODULES + 6)
    )

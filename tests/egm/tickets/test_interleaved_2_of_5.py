"""Interleaved 2 of 5: bar widths against the rules of the symbology, and decoded independently."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egm.tickets.barcode import QUIET_ZONE_MODULES, WIDE_MODULES, compute_width_modules, encode_barcode_widths
from egm.tickets.errors import InvalidTicket

#: Weight of each of a digit's five elements; the digit is the sum of the two wide ones (ISO/IEC 16390).
WEIGHTS = (1, 2, 4, 7, 0)
DIGITS = st.integers(1, 12).flatmap(
    lambda pairs: st.text("0123456789", min_size=2 * pairs, max_size=2 * pairs)
)


def read(widths):
    digits = ""
    for offset in range(4, len(widths) - 3, 10):
        for elements in (widths[offset : offset + 10 : 2], widths[offset + 1 : offset + 10 : 2]):
            assert sorted(elements) == [1, 1, 1, WIDE_MODULES, WIDE_MODULES]
            total = sum(w for w, e in zip(WEIGHTS, elements, strict=True) if e == WIDE_MODULES)
            digits += str(total % 11)
    return digits


@pytest.mark.requirement("H-02")
@given(DIGITS)
def test_the_bars_encode_the_digits(digits):
    widths = encode_barcode_widths(digits)
    assert widths[:4] == (1, 1, 1, 1)
    assert widths[-3:] == (WIDE_MODULES, 1, 1)
    assert len(widths) % 2 == 1  # begins and ends with a bar
    assert read(widths) == digits
    assert compute_width_modules(len(digits)) == sum(widths) + 2 * QUIET_ZONE_MODULES


@pytest.mark.parametrize("wrong", ["", "1", "123", "12a4", "1٣"])
def test_anything_but_an_even_number_of_digits_is_refused(wrong):
    with pytest.raises(InvalidTicket, match="not an even number of digits"):
        encode_barcode_widths(wrong)

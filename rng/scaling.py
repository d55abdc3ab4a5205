"""Scaling of random words to outcomes, without bias.

A draw below ``bound`` reads a word of w random bits, which has one of 2**w values. The values are divided, in
order, into ``bound`` shares of ``2**w // bound`` values, one share for each outcome. If the word has one of the
remaining highest values, it is rejected, and another word is read. All shares are equal, so every outcome has
exactly the same probability.

A word has at least 16 bits, and at least twice as many bits as the number of the largest outcome. So fewer
than one word in 256 is rejected, and with more than 256 outcomes fewer than one in 65,536. A draw below 1 has
only one outcome, and reads no word. Words are little-endian, so that a laboratory can read a whole stream of
them at once (:mod:`tools.lab.rng.bulk`).
"""

from functools import lru_cache
from typing import Final

from rng.errors import InvalidRange

#: The largest bound of a draw: the number of keys that the generator can have.
BOUND_MAX: Final = 2**256
#: Number of consecutive rejected words after which the generator is considered broken. In a working generator
#: this happens in fewer than one draw in 2**128.
REJECTIONS_MAX: Final = 16


def compute_word_bits(bound: int) -> int:
    """Return the number of random bits that a draw below ``bound`` reads: 0, 16, 32, 64, 128, 256 or 512."""
    if bound == 1:
        return 0
    bits = 16
    while bits < 2 * (bound - 1).bit_length():
        bits *= 2
    return bits


@lru_cache(maxsize=4096)
def choose_word_size(bound: int) -> tuple[int, int]:
    """Return a random word's size in bytes, and how many of its values stand for each outcome below ``bound``.

    ``bound`` must be valid (:func:`check_bound`).
    """
    bits = compute_word_bits(bound)
    return bits // 8, (1 << bits) // bound


def check_bound(bound: object) -> int:
    """Return ``bound`` if it is a valid bound of a draw; raise :class:`InvalidRange` otherwise."""
    if type(bound) is not int:
        raise InvalidRange(f"cannot draw below {bound!r}: expected a whole number")
    if not 1 <= bound <= BOUND_MAX:
        raise InvalidRange(f"cannot draw below {bound}: a range has from 1 to 2**256 outcomes")
    return bound

"""Scaling of random words to outcomes without any bias.

A draw below ``bound`` reads one word of 2**w values. The words are divided into ``bound`` equal shares of
``2**w // bound`` words each, in order; the few words left over at the top are rejected and another word is
read. Every outcome has exactly the same number of words, so the bias is zero, not merely small; the map is
monotone.

The word is at least twice as wide as the bound (and at least 16 bits), so fewer than one word in 256 is
rejected, and fewer than one in 65,536 above 256 outcomes. Words are little-endian, so that a laboratory can
read a whole stream of them at once (:mod:`tools.lab.rng.bulk`). A bound of 1 has one outcome and reads
nothing.
"""

from functools import lru_cache
from typing import Final

from rng.errors import InvalidRange

#: The largest bound: a draw may not have more outcomes than the generator has keys.
BOUND_MAX: Final = 2**256
#: Consecutive rejected words after which the generator is considered broken; by chance, one draw in 2**128.
REJECTIONS_MAX: Final = 16


def compute_word_bits(bound: int) -> int:
    """Return the width of the word that a draw below ``bound`` reads: 0, 16, 32, 64, 128, 256 or 512 bits."""
    if bound == 1:
        return 0
    bits = 16
    while bits < 2 * (bound - 1).bit_length():
        bits *= 2
    return bits


@lru_cache(maxsize=4096)
def choose_word_size(bound: int) -> tuple[int, int]:
    """Return the bytes per word and the number of words per outcome for a draw below ``bound``, which is valid."""
    bits = compute_word_bits(bound)
    return bits // 8, (1 << bits) // bound


def check_bound(bound: object) -> int:
    """Return ``bound`` if it is a valid bound of a draw; raise :class:`InvalidRange` otherwise."""
    if type(bound) is not int:
        raise InvalidRange(f"a range is a whole number of outcomes, not {bound!r}")
    if not 1 <= bound <= BOUND_MAX:
        raise InvalidRange(f"cannot draw below {bound}: a range has from 1 to 2**256 outcomes")
    return bound

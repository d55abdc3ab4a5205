"""Whether a machine hits a level improbably often: an upper bound on the probability that chance explains its hits.

Of ``n`` wagers that each hit with probability ``p`` at most, the probability that ``h`` or more hit is, by
Chernoff, at most ``(n p / h)^h (n (1 - p) / (n - h))^(n - h)`` for ``h > n p``. It is computed in integers, and both
powers are rounded up, so that the bound is never too low. The probability that a test of an honest machine gives a
false alarm is therefore below one in a billion (10^-9).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

#: A machine's hits are held for a ruling if chance explains them with a lower probability than this.
PLAUSIBLE_PROBABILITY_MIN: Final = Fraction(1, 10**9)
#: Bits to which intermediate results are rounded up.
_PRECISION_BITS: Final = 192
#: How many of the most recent hits serve as starting points: from each, the hits that follow it are tested together.
_RECENT_HITS_TESTED: Final = 32


def is_improbable(hit_numbers: Sequence[int], hits_per_wager: Fraction) -> bool:
    """Return whether a machine has hit a level so often that chance does not explain it.

    ``hit_numbers`` are the numbers of the contributions that hit, ascending: the last is also the number of
    contributions up to the newest hit. ``hits_per_wager`` is the level's theoretical hit rate. First all hits are
    tested together. Then the hits since each recent hit are tested, so that a sudden series of hits is detected
    even after a long time of honest play.
    """
    if (
        compute_hit_probability_bound(hit_numbers[-1], len(hit_numbers), hits_per_wager)
        < PLAUSIBLE_PROBABILITY_MIN
    ):
        return True
    recent_hit_numbers = hit_numbers[-_RECENT_HITS_TESTED:]
    return any(
        compute_hit_probability_bound(
            recent_hit_numbers[-1] - start_number, len(recent_hit_numbers) - index - 1, hits_per_wager
        )
        < PLAUSIBLE_PROBABILITY_MIN
        for index, start_number in enumerate(recent_hit_numbers[:-1])
    )


def compute_hit_probability_bound(wager_count: int, hit_count: int, hits_per_wager: Fraction) -> Fraction:
    """Return an upper bound on the probability of ``hit_count`` or more hits in ``wager_count`` wagers.

    The result is 1 if ``hit_count`` is not above the expected number.
    """
    if hit_count <= wager_count * hits_per_wager or hits_per_wager >= 1:
        return Fraction(1)
    if hit_count >= wager_count:
        return _raise_to_power(hits_per_wager, wager_count)
    miss_count = wager_count - hit_count
    return _raise_to_power(wager_count * hits_per_wager / hit_count, hit_count) * _raise_to_power(
        wager_count * (1 - hits_per_wager) / miss_count, miss_count
    )


def _raise_to_power(base: Fraction, exponent: int) -> Fraction:
    """Return ``base`` to the power ``exponent``, slightly rounded up so that large exponents stay fast."""
    result, square = Fraction(1), _round_up(base)
    while exponent:
        if exponent & 1:
            result = _round_up(result * square)
        square = _round_up(square * square)
        exponent >>= 1
    return result


def _round_up(value: Fraction) -> Fraction:
    """Return the value rounded up to a fixed number of bits."""
    shift = _PRECISION_BITS - value.numerator.bit_length() + value.denominator.bit_length()
    if shift >= 0:
        scaled_value = -(-(value.numerator << shift) // value.denominator)
        return Fraction(scaled_value, 1 << shift)
    scaled_value = -(-value.numerator // (value.denominator << -shift))
    return Fraction(scaled_value << -shift)

"""A bound on the probability of a machine's hits, never too low, computed in integers.

Of ``n`` wagers that each win with probability ``p`` at most, the probability that ``h`` or more win is, by
Chernoff, at most ``(n p / h)^h (n (1 - p) / (n - h))^(n - h)`` for ``h > n p``. Both powers are rounded up,
so that the bound is never too low. So the probability that a test of an honest machine gives a false alarm is
below one in a thousand million.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

#: The probability below which a machine's hits are held for a ruling.
IMPROBABLE_PROBABILITY: Final = Fraction(1, 10**9)
#: Bits to which intermediate results are rounded up.
_PRECISION_BITS: Final = 192
#: The number of most recent hits after each of which the series of hits up to the newest one is tested.
_RECENT_HITS_TESTED: Final = 32


def is_improbable(wins: Sequence[int], contribution_count: int, odds: Fraction) -> bool:
    """Return whether a machine has hit a level so often that chance does not explain it.

    ``wins`` has the numbers of the contributions that hit, ascending. ``contribution_count`` is the number of
    contributions up to the newest hit. ``odds`` is how often, on average, one wager hits the level. First all
    hits are tested together. Then the hits since each recent hit are tested, so that a sudden series of hits
    is detected even after a long time of honest play.
    """
    if bound_win_probability(contribution_count, len(wins), odds) < IMPROBABLE_PROBABILITY:
        return True
    recent_wins = wins[-_RECENT_HITS_TESTED:]
    return any(
        bound_win_probability(recent_wins[-1] - first, len(recent_wins) - index - 1, odds)
        < IMPROBABLE_PROBABILITY
        for index, first in enumerate(recent_wins[:-1])
    )


def bound_win_probability(wagers: int, wins: int, odds: Fraction) -> Fraction:
    """Return an upper bound on the probability of ``wins`` or more hits in ``wagers``.

    The result is 1 if ``wins`` is not above the expected number.
    """
    if wins <= wagers * odds or odds >= 1:
        return Fraction(1)
    if wins >= wagers:
        return _raise_to_power(odds, wagers)
    losses = wagers - wins
    return _raise_to_power(wagers * odds / wins, wins) * _raise_to_power(wagers * (1 - odds) / losses, losses)


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

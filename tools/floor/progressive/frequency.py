"""Whether hits come more often than their odds allow: a bound that is never too low, in integers.

Of ``n`` wagers that each win with probability ``p`` at most, the probability that ``h`` or more win is, by
Chernoff, no more than ``(n p / h)^h (n (1 - p) / (n - h))^(n - h)`` for ``h > n p``. Both powers are taken
with rounding up, so what is called improbable is: chance does it less often than once in a thousand million
times.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

IMPROBABLE: Final = Fraction(1, 10**9)
"""Less probable than this, hits are held for a person."""
_BITS: Final = 192
_RECENT: Final = 32


def improbable(wins: Sequence[int], counted: int, odds: Fraction) -> bool:
    """Whether so many of a machine's wagers can hardly have won by chance.

    ``wins``: the contributions that hit, ascending, the newest last; ``counted``: how many contributions
    there were up to the newest. ``odds``: the mean hits of one wager, which no less than bounds its chance.
    All of them are held against the odds, and so are the last few, from each of them on: a run of luck is
    found however long the machine has played before.
    """
    if at_most(counted, len(wins), odds) < IMPROBABLE:
        return True
    recent = wins[-_RECENT:]
    return any(
        at_most(recent[-1] - first, len(recent) - at - 1, odds) < IMPROBABLE
        for at, first in enumerate(recent[:-1])
    )


def at_most(wagers: int, wins: int, odds: Fraction) -> Fraction:
    """A bound on the probability that so many or more of ``wagers`` win; 1 where it says nothing."""
    if wins <= wagers * odds or odds >= 1:
        return Fraction(1)
    if wins >= wagers:
        return _power(odds, wagers)
    lost = wagers - wins
    return _power(wagers * odds / wins, wins) * _power(wagers * (1 - odds) / lost, lost)


def _power(base: Fraction, exponent: int) -> Fraction:
    """``base`` to a power, no less than it is and hardly more, however large the exponent."""
    result, square = Fraction(1), _up(base)
    while exponent:
        if exponent & 1:
            result = _up(result * square)
        square = _up(square * square)
        exponent >>= 1
    return result


def _up(value: Fraction) -> Fraction:
    """The value to so many bits, rounded up."""
    shift = _BITS - value.numerator.bit_length() + value.denominator.bit_length()
    if shift >= 0:
        scaled = -(-(value.numerator << shift) // value.denominator)
        return Fraction(scaled, 1 << shift)
    scaled = -(-value.numerator // (value.denominator << -shift))
    return Fraction(scaled << -shift)

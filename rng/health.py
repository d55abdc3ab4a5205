"""Health tests on the raw noise of an entropy source: repetition count and adaptive proportion.

They only detect a source that is dead or stuck; they do not measure its entropy. With a source whose output is already
conditioned, such as the operating system kernel's, they can only detect that it is dead. The claimed entropy is a
Fraction. Source: NIST SP 800-90B, sections 4.4.1 (repetition count) and 4.4.2 (adaptive proportion).
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import comb

from rng.errors import HealthTestFailed

#: Window of the adaptive proportion test for samples wider than one bit.
SAMPLES_IN_WINDOW = 512


def compute_repetition_cutoff(entropy_bits: Fraction, alpha_exponent: int) -> int:
    """Return the number of equal samples in a row at which the test rejects an entropy source: 1 + ceil(a / H).

    H is ``entropy_bits`` per sample, and a is ``alpha_exponent``: a good source fails once in 2**a samples.
    """
    return 1 + -(-alpha_exponent * entropy_bits.denominator // entropy_bits.numerator)


@lru_cache(maxsize=64)
def compute_proportion_cutoff(entropy_bits: Fraction, alpha_exponent: int, window: int) -> int:
    """Return the number of equal samples in a window at which the adaptive proportion test rejects an entropy source.

    It is 1 + critbinom(W, 2**-H, 1 - 2**-a). W is ``window`` in samples, H is ``entropy_bits`` per sample, and a is
    ``alpha_exponent``. ``critbinom`` is the smallest k whose upper tail P(X > k) is at most 2**-a. H need not be an
    integer, so 2**-H is a decimal of 60 digits. The tail is summed from its small end, which loses no precision.
    """
    with localcontext() as context:
        context.prec = 60
        p = Decimal(2) ** -(Decimal(entropy_bits.numerator) / entropy_bits.denominator)
        alpha = Decimal(2) ** -alpha_exponent
        tail = Decimal(0)
        for k in range(window, -1, -1):
            tail += comb(window, k) * p**k * (1 - p) ** (window - k)
            if tail > alpha:
                return 1 + k
    raise AssertionError  # pragma: no cover (the whole distribution sums to 1)


class HealthTests:
    """The two health tests of one entropy source, run continuously over its samples of one byte each."""

    __slots__ = (
        "_apt_cutoff",
        "_apt_match_count",
        "_apt_value",
        "_apt_window",
        "_last_sample",
        "_name",
        "_rct_cutoff",
        "_run_length",
        "sample_count",
    )

    def __init__(
        self, name: str, entropy_bits: Fraction, alpha_exponent: int, window: int = SAMPLES_IN_WINDOW
    ) -> None:
        self._name = name
        self._rct_cutoff = compute_repetition_cutoff(entropy_bits, alpha_exponent)
        """The number of equal samples in a row at which the repetition count test fails."""
        self._apt_cutoff = compute_proportion_cutoff(entropy_bits, alpha_exponent, window)
        """The adaptive proportion test fails if the first sample of a window occurs this many times in the window."""
        self._apt_window = window
        """The number of samples in a window of the adaptive proportion test."""
        self._last_sample = -1
        """The last sample, or -1 before the first."""
        self._run_length = 0
        """The number of equal samples in a row, up to the last one."""
        self._apt_value = -1
        """The first sample of the current window, or -1 before the first window."""
        self._apt_match_count = 0
        """How often the first sample of the current window has occurred in the window."""
        self.sample_count = 0
        """Samples tested since the start."""

    def feed(self, samples: bytes) -> None:
        """Test the next samples of the source, in order.

        Raises :class:`HealthTestFailed`; its message has the source, the failed test and the count.
        """
        for sample in samples:
            self._run_length = self._run_length + 1 if sample == self._last_sample else 1
            self._last_sample = sample
            if self._run_length >= self._rct_cutoff:
                raise HealthTestFailed(
                    f"source {self._name!r} failed the repetition count test: "
                    f"{self._run_length} equal samples in a row"
                )
            if self.sample_count % self._apt_window == 0:
                self._apt_value, self._apt_match_count = sample, 1
            elif sample == self._apt_value:
                self._apt_match_count += 1
                if self._apt_match_count >= self._apt_cutoff:
                    raise HealthTestFailed(
                        f"source {self._name!r} failed the adaptive proportion test: {self._apt_match_count} equal "
                        f"samples within {self._apt_window}"
                    )
            self.sample_count += 1

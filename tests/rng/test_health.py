"""The health tests: their cut-offs compared with published figures, and the defects they detect."""

import os
from fractions import Fraction
from math import ceil

import pytest

from rng import HealthTestFailed
from rng.health import HealthTests, compute_proportion_cutoff, compute_repetition_cutoff

#: H, window, then repetition and proportion cut-offs for false alarms of 2**-20, 2**-30 and 2**-40. Computed
#: from the formulas of SP 800-90B 4.4.1 and 4.4.2 with an independent binomial quantile (scipy.stats.binom).
CUTOFFS = [
    (Fraction(1, 2), 1024, (41, 61, 81), (793, 810, 824)),
    (Fraction(1), 1024, (21, 31, 41), (589, 609, 625)),
    (Fraction(2), 512, (11, 16, 21), (177, 190, 201)),
    (Fraction(4), 512, (6, 9, 11), (62, 71, 78)),
    (Fraction(6), 512, (5, 6, 8), (25, 31, 35)),
    (Fraction(8), 512, (4, 5, 6), (13, 16, 19)),
]


@pytest.mark.parametrize(("entropy", "window", "repetition", "proportion"), CUTOFFS)
def test_cutoffs_match_the_published_ones(
    entropy: Fraction, window: int, repetition: tuple[int, ...], proportion: tuple[int, ...]
) -> None:
    for exponent, rct, apt in zip((20, 30, 40), repetition, proportion, strict=True):
        assert compute_repetition_cutoff(entropy, exponent) == rct == 1 + ceil(exponent / entropy)
        assert compute_proportion_cutoff(entropy, exponent, window) == apt


def test_cutoffs_agree_with_an_independent_quantile() -> None:
    from scipy.stats import binom

    for entropy in (Fraction(1, 3), Fraction(3, 2), Fraction(5), Fraction(8)):
        quantile = int(binom.isf(2.0**-30, 512, 2.0 ** -float(entropy)))
        assert compute_proportion_cutoff(entropy, 30, 512) == 1 + quantile


def test_a_run_one_short_of_the_cutoff_passes_and_the_next_sample_fails() -> None:
    tests = HealthTests("noise", Fraction(8), 40)
    tests.feed(b"\x07" * 5)
    tests.feed(b"\x08" + b"\x07" * 5)
    with pytest.raises(HealthTestFailed, match=r"'noise' failed the repetition count test: 6 equal"):
        tests.feed(b"\x07")


def test_a_value_too_frequent_within_one_window_fails() -> None:
    half = bytes(7 if i % 20 == 0 else i % 5 for i in range(340))  # 17 of the window's first value
    tests = HealthTests("noise", Fraction(8), 40)
    tests.feed(half + bytes(8 + i % 200 for i in range(172)))
    tests.feed(half)
    with pytest.raises(HealthTestFailed, match="adaptive proportion test: 19 equal samples within 512"):
        tests.feed(b"\x07\x01\x07")


def test_kernel_noise_passes_the_health_tests() -> None:
    tests = HealthTests("kernel", Fraction(8), 40)
    tests.feed(os.getrandom(200_000))  # noqa: TID251
    assert tests.sample_count == 200_000


def test_noise_with_less_entropy_than_claimed_fails() -> None:
    nibbles = bytes(byte & 0x0F for byte in os.getrandom(4096))  # noqa: TID251
    HealthTests("nibbles", Fraction(4), 40).feed(nibbles)
    with pytest.raises(HealthTestFailed):
        HealthTests("nibbles", Fraction(8), 40).feed(nibbles)

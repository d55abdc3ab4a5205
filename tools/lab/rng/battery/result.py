"""The result of a statistical test, and the chi-square arithmetic that most tests share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rng.errors import RngError

#: Cells expected less often than this are merged with their neighbours.
CELL_EXPECTATION_MIN: Final = 5.0

#: An array of whole numbers.
Ints = NDArray[np.integer[Any]]
#: An array of floats.
Floats = NDArray[np.floating[Any]]


class TooFewOutcomesError(RngError):
    """Raised if there are too few outcomes for a statistical test to be valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticalResult:
    """The result of one statistical test of the RNG: its statistic and p-value.

    Both ends of the p-value are judged, unless there are very few degrees of freedom. Depending on the test:

    - chi-square: near 0, the values fit the expectation badly; near 1, they fit it too well.
    - runs: near 0, low and high values cluster; near 1, they alternate.
    - repeated outcomes: near 0, they repeat too often; near 1, too seldom.
    """

    test: str
    """The name of the test."""
    detail: str
    """The numbers to which the test was applied, such as ``position 1``."""
    statistic: float
    dof: int | None
    """The degrees of freedom; None if the statistic is not a chi-square."""
    p_value: float
    outcomes: int
    """The number of outcomes that the test used."""
    observed: tuple[int, ...] = ()
    """The observed count of each cell; empty if counts are not stored."""
    expected: tuple[float, ...] = ()
    """The expected count of each cell; empty if counts are not stored."""


def merge_small_cells(
    observed: Sequence[float] | Ints, expected: Sequence[float] | Floats
) -> tuple[Floats, Floats]:
    """Return observed and expected counts after merging neighbouring cells.

    Each merged cell has an expected count of at least :data:`CELL_EXPECTATION_MIN`.
    """
    cells: list[tuple[float, float]] = []
    observed_sum = expected_sum = 0.0
    for observed_count, expected_count in zip(observed, expected, strict=True):
        observed_sum += float(observed_count)
        expected_sum += float(expected_count)
        if expected_sum >= CELL_EXPECTATION_MIN:
            cells.append((observed_sum, expected_sum))
            observed_sum = expected_sum = 0.0
    if cells:
        cells[-1] = (cells[-1][0] + observed_sum, cells[-1][1] + expected_sum)
    if len(cells) < 2:
        raise TooFewOutcomesError(
            f"{sum(expected):.0f} outcomes fill {len(cells)} cells; a test needs 2 or more"
        )
    pairs = np.array(cells)
    return pairs[:, 0], pairs[:, 1]


def compute_chi_square_result(
    test: str,
    detail: str,
    observed: Sequence[float] | Ints,
    expected: Sequence[float] | Floats,
    *,
    outcome_count: int,
    keeps_counts: bool = False,
) -> StatisticalResult:
    """Return the result of Pearson's chi-square test against known expectations.

    Small cells are merged first. With ``keeps_counts``, the result stores the observed and expected counts.
    """
    observed_cells, expected_cells = merge_small_cells(observed, expected)
    statistic = float(((observed_cells - expected_cells) ** 2 / expected_cells).sum())
    dof = len(observed_cells) - 1
    return StatisticalResult(
        test=test,
        detail=detail,
        statistic=statistic,
        dof=dof,
        p_value=float(stats.chi2.sf(statistic, dof)),
        outcomes=outcome_count,
        observed=tuple(int(n) for n in observed) if keeps_counts else (),
        expected=tuple(float(n) for n in expected) if keeps_counts else (),
    )


def build_result_from_statistic(
    test: str, detail: str, statistic: float, dof: int, outcome_count: int
) -> StatisticalResult:
    """Return the result for a statistic that has a chi-square distribution with ``dof`` degrees of freedom."""
    p_value = float(stats.chi2.sf(statistic, dof))
    return StatisticalResult(
        test=test, detail=detail, statistic=statistic, dof=dof, p_value=p_value, outcomes=outcome_count
    )


def compute_runs_result(test: str, detail: str, values: Ints, bound: int) -> StatisticalResult:
    """Return the result of the Wald-Wolfowitz test of runs of low and high values.

    The middle value of an odd range is left out. The p-value is small if there are few runs, and close to 1
    if there are many. The test of runs up and down is not used: in small ranges, neighbours are often equal,
    and its distribution then does not hold.
    """
    doubled_values = 2 * values.astype(np.int64) + 1
    is_high = (doubled_values > bound)[doubled_values != bound]
    high_count = int(is_high.sum())
    low_count = len(is_high) - high_count
    if min(high_count, low_count) < 20:
        raise TooFewOutcomesError(
            f"{detail}: {high_count} high and {low_count} low values; a runs test needs 20 of each"
        )
    value_count = high_count + low_count
    mean = 1 + 2 * high_count * low_count / value_count
    variance = (mean - 1) * (mean - 2) / (value_count - 1)
    run_count = 1 + int((is_high[1:] != is_high[:-1]).sum())
    z_score = (run_count - mean) / variance**0.5
    p_value = float(stats.norm.cdf(z_score))
    return StatisticalResult(
        test=test, detail=detail, statistic=z_score, dof=None, p_value=p_value, outcomes=value_count
    )


def compute_duplicates_result(test: str, detail: str, codes: Ints, code_count: int) -> StatisticalResult:
    """Return the result of the test of repeated outcomes.

    ``codes`` has each play's outcome as a number below ``code_count``. The number of pairs of equal codes follows a
    Poisson distribution only while it is small; therefore at most a tenth of ``code_count`` plays is used. The p-value
    is small if there are many pairs. It is a mid-p value: the probability of exactly the observed count enters with
    half its weight.
    """
    used_codes = codes[: max(2, code_count // 10)]
    counts = np.unique(used_codes, return_counts=True)[1].astype(np.int64)
    equal_pair_count = int((counts * (counts - 1) // 2).sum())
    expected_pair_count = len(used_codes) * (len(used_codes) - 1) / 2 / code_count
    p_value = float(
        stats.poisson.sf(equal_pair_count, expected_pair_count)
        + stats.poisson.pmf(equal_pair_count, expected_pair_count) / 2
    )
    return StatisticalResult(
        test=test,
        detail=detail,
        statistic=float(equal_pair_count),
        dof=None,
        p_value=p_value,
        outcomes=len(used_codes),
    )


def group_values(values: Ints, bound: int, group_count: int) -> tuple[Ints, Floats]:
    """Return the group of each value, and the number of different values in each group.

    The range below ``bound`` is divided into ``group_count`` groups of neighbouring values.
    """
    group_by_value = np.arange(bound) * group_count // bound
    return group_by_value[values], np.bincount(group_by_value, minlength=group_count).astype(float)


def compute_group_count(bound: int, outcome_count: int) -> int:
    """Return the largest number of groups, at most ``bound``, for a table of pairs of successive outcomes.

    Each pair of groups must be expected at least ten times.
    """
    group_count = min(bound, int((outcome_count / 10) ** 0.5))
    if group_count < 2:
        raise TooFewOutcomesError(f"{outcome_count} outcomes are too few for a table of pairs")
    return group_count


def count_completions(lengths_pmf: Floats, observed_lengths: Sequence[int]) -> tuple[Ints, Floats]:
    """Return the observed and the expected number of gaps, or of collections of all values, of each length.

    The gap test counts gaps; the coupon collector's test counts collections.

    ``lengths_pmf`` has the probability of each length and ``observed_lengths`` the observed lengths; the last element
    of both results counts all longer ones.
    """
    observed = np.bincount(np.minimum(observed_lengths, len(lengths_pmf) - 1), minlength=len(lengths_pmf))
    return observed, lengths_pmf * len(observed_lengths)


def estimate_certain_completions(mean: float, variance: float, observation_count: int) -> int:
    """Return how many gaps or collections almost certainly end within ``observation_count`` observations.

    It is the mean number less 6 standard deviations, less one.
    ``mean`` and ``variance`` describe one length. The number is fixed in advance, because counting all that happen
    to end would over-represent short ones.
    """
    return int(observation_count / mean - 6 * (variance * observation_count / mean**3) ** 0.5) - 1

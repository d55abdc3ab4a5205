"""The joint judgement of all test results of a game, by rules that are fixed before any result is seen.

A perfect generator fails one test in a hundred at 99 %, so tests are never judged alone. Each p-value is
judged and also its complement, because a fit that is too good is a finding as well (not for tests with fewer
than three degrees of freedom). One more test judges whether all p-values are uniform. Holm's step-down
procedure keeps the chance of any false alarm among all these tests below ``alpha``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scipy import stats

from rng.errors import InvalidPolicy
from tools.lab.rng.battery.result import StatisticalResult

#: With fewer degrees of freedom a perfect fit is not rare, because counts are whole numbers.
_TWO_SIDED_DOF_MIN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A test result that Holm's method rejects."""

    what: str
    """The name and direction of the rejected test result."""
    adjusted: float
    """The p-value adjusted for the number of tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The joint judgement of all test results of a game at significance level ``alpha``."""

    alpha: float
    tests: int
    """The number of judged test results."""
    below_alpha: int
    """The number of single p-values under ``alpha``."""
    below_alpha_expected: float
    """The number of single p-values under ``alpha`` that chance alone explains."""
    evenness: float
    """The p-value of the Kolmogorov-Smirnov test that all p-values are uniform."""
    findings: tuple[Finding, ...]

    @property
    def has_passed(self) -> bool:
        """Return whether the joint judgement of the game's tests has no findings."""
        return not self.findings


def adjust_by_holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the order given. Source: S. Holm, Scand. J. Statist. 6 (1979)."""
    indices_by_p_value = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted_p_values = [1.0] * len(p_values)
    largest_adjusted = 0.0
    for rank, i in enumerate(indices_by_p_value):
        largest_adjusted = max(largest_adjusted, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted_p_values[i] = largest_adjusted
    return adjusted_p_values


def check_significance_level(alpha: float) -> None:
    """Raise :class:`InvalidPolicy` for a significance level outside 0 to 1."""
    if not 0 < alpha < 1:
        raise InvalidPolicy(f"the level of significance is {alpha}; expected more than 0 and less than 1")


def judge(results: Sequence[StatisticalResult], alpha: float) -> Judgement:
    """Judge all test results of a game together. Raises :class:`InvalidPolicy` for a level outside 0 to 1."""
    check_significance_level(alpha)
    evenness = float(stats.kstest([result.p_value for result in results], "uniform").pvalue)
    named_p_values = [(f"{result.test}, {result.detail}", result.p_value) for result in results]
    named_p_values += [
        (f"{result.test}, {result.detail}: the other end", 1 - result.p_value)
        for result in results
        if result.dof is None or result.dof >= _TWO_SIDED_DOF_MIN
    ]
    named_p_values.append(("the p-values together are not even", evenness))
    judged_p_values = zip(
        named_p_values, adjust_by_holm([p_value for _, p_value in named_p_values]), strict=True
    )
    return Judgement(
        alpha=alpha,
        tests=len(results),
        below_alpha=sum(result.p_value < alpha for result in results),
        below_alpha_expected=alpha * len(results),
        evenness=evenness,
        findings=tuple(
            Finding(what=name, adjusted=p_value) for (name, _), p_value in judged_p_values if p_value < alpha
        ),
    )

"""The calibration of the tests: each is run many times on good data, and its false alarms are counted.

The data is the laboratory's deterministic stream, one seed per data set, so that every figure is
reproducible. A test is calibrated if its p-values are uniform: the share below each level equals the level.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from scipy import stats

from tools.lab.rng.battery.judgement import judge
from tools.lab.rng.battery.run import run_all_tests
from tools.lab.rng.bulk import BulkDraws
from tools.lab.rng.outcomes import KENO_GAME, IndependentNumbers, SelectionWithoutReplacement
from tools.lab.rng.stream import LaboratoryStream

#: By the name of each calibrated game: its draws, and the number of plays in one data set.
#:
#: The plays are just enough for the approximations of all tests.
CALIBRATED_GAMES: Final[dict[str, tuple[IndependentNumbers | SelectionWithoutReplacement, int]]] = {
    "reels": (IndependentNumbers(22, 5), 20_000),
    "keno": (KENO_GAME, 32_000),
    "cards": (SelectionWithoutReplacement(52, 52), 14_000),
}
#: Levels at which false alarms are counted.
SIGNIFICANCE_LEVELS: Final = (0.05, 0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseAlarms:
    """How often one test rejects good data at each of :data:`SIGNIFICANCE_LEVELS`, and how uniform its p-values are."""

    test: str
    detail: str
    """What the test was applied to."""
    replications: int
    """The number of data sets that were tested."""
    alarms: tuple[int, ...]
    """Number of rejections of good data at each significance level."""
    evenness: float
    """P-value of the check that the test's own p-values are uniformly distributed; near 0 if they are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The false alarms of every test of one game, and of the joint judgement of all its tests."""

    game: str
    plays: int
    """The number of plays in each data set."""
    first_seed: int
    """The seed of the first data set; the next ones follow it."""
    replications: int
    """The number of data sets."""
    tests: tuple[FalseAlarms, ...]
    family_alarms: tuple[int, ...]
    """The number of data sets that the joint judgement of all tests rejects, at each significance level.

    To a statistician, tests that are judged together are a family (not to be confused with a family of games).
    """


def compute_false_alarm_range(
    replications: int, significance_level: float, outside_probability: float
) -> tuple[int, int]:
    """Return the lowest and the highest plausible number of false alarms at that significance level.

    A correct test gives a number outside this range with at most the probability ``outside_probability``.
    """
    low, high = stats.binom.interval(1 - outside_probability, replications, significance_level)
    return int(low), int(high)


def calibrate(name: str, replications: int, first_seed: int = 1) -> Calibration:
    """Run every test of the game ``name`` in :data:`CALIBRATED_GAMES` on good data, once for each seed."""
    game, plays = CALIBRATED_GAMES[name]
    p_values: dict[tuple[str, str], list[float]] = defaultdict(list)
    family_alarms = [0] * len(SIGNIFICANCE_LEVELS)
    for seed in range(first_seed, first_seed + replications):
        results = run_all_tests(game, game.draw_many(BulkDraws(LaboratoryStream(seed).read), plays))
        for result in results:
            p_values[result.test, result.detail].append(result.p_value)
        for i, level in enumerate(SIGNIFICANCE_LEVELS):
            family_alarms[i] += not judge(results, level).has_passed
    return Calibration(
        game=name,
        plays=plays,
        first_seed=first_seed,
        replications=replications,
        tests=tuple(
            FalseAlarms(
                test=test,
                detail=detail,
                replications=len(test_p_values),
                alarms=tuple(
                    sum(p_value < level for p_value in test_p_values) for level in SIGNIFICANCE_LEVELS
                ),
                evenness=float(stats.kstest(test_p_values, "uniform").pvalue),
            )
            for (test, detail), test_p_values in p_values.items()
        ),
        family_alarms=tuple(family_alarms),
    )


#: The probability that a calibrated test is outside its plausible range.
_OUTSIDE_RANGE_PROBABILITY: Final = 1e-4
#: A count of repeated plays is a whole number, so its p-values are discrete and never quite uniform.
_TEST_WITH_DISCRETE_P_VALUES: Final = "duplicates"


def describe_implausible_false_alarm_rates(calibration: Calibration) -> list[str]:
    """Return a sentence for each test whose rate of false alarms is not plausible for its significance level.

    For the joint judgement of all tests, only too many false alarms count.
    """
    sentences = []
    for i, level in enumerate(SIGNIFICANCE_LEVELS):
        alarms_min, alarms_max = compute_false_alarm_range(
            calibration.replications, level, _OUTSIDE_RANGE_PROBABILITY
        )
        sentences += [
            f"{calibration.game}: {test.test}, {test.detail}: {test.alarms[i]} alarms at {level}, "
            f"not {alarms_min} to {alarms_max}"
            for test in calibration.tests
            if not alarms_min <= test.alarms[i] <= alarms_max
        ]
        if calibration.family_alarms[i] > alarms_max:
            sentences.append(
                f"{calibration.game}: joint judgement: {calibration.family_alarms[i]} alarms at {level}"
            )
    sentences += [
        f"{calibration.game}: {test.test}, {test.detail}: p-values are not even ({test.evenness:.1e})"
        for test in calibration.tests
        if test.test != _TEST_WITH_DISCRETE_P_VALUES and test.evenness < _OUTSIDE_RANGE_PROBABILITY
    ]
    return sentences

"""Is each test what it says? Run it many times on good data and count its false alarms.

The data is the laboratory's deterministic stream, one seed a replication, so that every figure can be
computed again. A test is calibrated when its p-values are even: as many below each level as the level says.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from scipy import stats

from rng.battery.judgement import judge
from rng.battery.run import tests_of
from rng.bulk import BulkDraws
from rng.laboratory import LaboratoryStream
from rng.outcomes import KENO, Numbers, Selection

#: Games and plays a replication uses: enough for every test's distribution to hold, and no more.
CALIBRATED: Final[dict[str, tuple[Numbers | Selection, int]]] = {
    "reels": (Numbers(22, 5), 20_000),
    "keno": (KENO, 32_000),
    "cards": (Selection(52, 52), 14_000),
}
#: Levels at which false alarms are counted.
LEVELS: Final = (0.05, 0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCalibration:
    """False alarms of one test on good data: at each of :data:`LEVELS`, and the evenness of its p-values."""

    test: str
    detail: str
    replications: int
    alarms: tuple[int, ...]
    evenness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """All tests of one game, and the false alarms of the whole family judged together."""

    game: str
    plays: int
    first_seed: int
    replications: int
    tests: tuple[TestCalibration, ...]
    family_alarms: tuple[int, ...]


def band(replications: int, level: float, outside: float) -> tuple[int, int]:
    """The false alarms a test of that level gives, but for a chance of ``outside``."""
    low, high = stats.binom.interval(1 - outside, replications, level)
    return int(low), int(high)


def calibrate(name: str, replications: int, first_seed: int = 1) -> Calibration:
    """Run every test of a game of :data:`CALIBRATED` on good data of so many seeds, from ``first_seed``."""
    game, plays = CALIBRATED[name]
    p_values: dict[tuple[str, str], list[float]] = defaultdict(list)
    family = [0] * len(LEVELS)
    for seed in range(first_seed, first_seed + replications):
        results = tests_of(game, game.draw_many(BulkDraws(LaboratoryStream(seed).read), plays))
        for result in results:
            p_values[result.test, result.detail].append(result.p_value)
        for i, level in enumerate(LEVELS):
            family[i] += not judge(results, level).passed
    return Calibration(
        game=name,
        plays=plays,
        first_seed=first_seed,
        replications=replications,
        tests=tuple(
            TestCalibration(
                test=test,
                detail=detail,
                replications=len(values),
                alarms=tuple(sum(p < level for p in values) for level in LEVELS),
                evenness=float(stats.kstest(values, "uniform").pvalue),
            )
            for (test, detail), values in p_values.items()
        ),
        family_alarms=tuple(family),
    )

"""Each statistical test rejects good data at its stated rate and detects every planted defect (slow tests).

The seeds are stated: replication i uses the laboratory stream of seed i (defects: 10,000 + i).
"""

import pytest

from tools.lab.rng.battery.calibration import (
    CALIBRATED_GAMES,
    Calibration,
    FalseAlarms,
    calibrate,
    compute_false_alarm_range,
    describe_implausible_false_alarm_rates,
)
from tools.lab.rng.battery.judgement import judge
from tools.lab.rng.battery.planted import PLANTED_DEFECTS
from tools.lab.rng.battery.run import run_all_tests
from tools.lab.rng.bulk import BulkDraws
from tools.lab.rng.outcomes import KENO_GAME, IndependentNumbers, SelectionWithoutReplacement
from tools.lab.rng.stream import LaboratoryStream

REPLICATIONS = 1_000


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.requirement("B-02")
@pytest.mark.parametrize("name", CALIBRATED_GAMES)
def test_every_test_rejects_good_data_at_its_stated_rate(name: str) -> None:
    calibration = calibrate(name, REPLICATIONS, first_seed=1)
    assert all(test.replications == REPLICATIONS for test in calibration.tests)
    assert describe_implausible_false_alarm_rates(calibration) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.requirement("B-02")
@pytest.mark.parametrize(
    ("defect", "game", "plays"),
    [
        ("modulo-bias", IndependentNumbers(22, 5), 60_000),
        ("sticky", IndependentNumbers(22, 5), 20_000),
        ("sticky", KENO_GAME, 32_000),
        ("correlated-pair", IndependentNumbers(22, 5), 20_000),
        ("biased-shuffle", SelectionWithoutReplacement(52, 52), 14_000),
    ],
)
def test_a_planted_defect_is_detected_with_every_seed(
    defect: str, game: IndependentNumbers | SelectionWithoutReplacement, plays: int
) -> None:
    for seed in range(10_000, 10_100):
        data = PLANTED_DEFECTS[defect](BulkDraws(LaboratoryStream(seed).read), game, plays)
        assert not judge(run_all_tests(game, data), 0.01).has_passed, seed


def test_a_calibration_repeats_with_the_same_counts() -> None:
    first, second = (calibrate("reels", 5, first_seed=3) for _ in range(2))
    assert first == second
    assert {test.replications for test in first.tests} == {5}


@pytest.mark.parametrize(
    ("alarms", "evenness", "family", "found"),
    [
        ((50, 10), 0.5, (50, 10), 0),
        ((50, 40), 0.5, (0, 0), 1),
        ((5, 10), 0.5, (0, 0), 1),
        ((50, 10), 1e-6, (0, 0), 1),
        ((50, 10), 0.5, (50, 40), 1),
    ],
)
def test_a_test_off_its_stated_level_is_reported(
    alarms: tuple[int, int], evenness: float, family: tuple[int, int], found: int
) -> None:
    test = FalseAlarms(test="gap", detail="d", replications=1000, alarms=alarms, evenness=evenness)
    calibration = Calibration(
        game="g", plays=1, first_seed=1, replications=1000, tests=(test,), family_alarms=family
    )
    assert len(describe_implausible_false_alarm_rates(calibration)) == found


def test_the_range_of_false_alarms_contains_what_chance_gives() -> None:
    low, high = compute_false_alarm_range(1000, 0.01, 1e-4)
    assert low <= 1
    assert 22 <= high <= 30

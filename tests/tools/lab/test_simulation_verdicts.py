"""A simulation's verdicts on hit frequency and distribution are right as often as stated."""

import random
from collections import Counter
from fractions import Fraction

import pytest

from paytables import WinDistribution
from tools.lab.simulation import SimulationTally, judge_distribution, judge_frequency

LAW = WinDistribution(1000, {0: 700, 1: 150, 2: 100, 10: 45, 500: 5})
GAMES = 4000


def sample(seed, law=LAW):
    generator = random.Random(seed)
    wins = Counter(
        generator.choices(list(law.case_count_by_win), list(law.case_count_by_win.values()), k=GAMES)
    )
    return SimulationTally(GAMES, 0, 0, GAMES - wins[0], max(wins), wins)


@pytest.mark.requirement("R-10")
def test_honest_simulations_agree_and_their_z_scores_are_normally_spread():
    tallies = [sample(seed) for seed in range(400)]
    fits = [judge_distribution(tally, LAW) for tally in tallies]
    shares = [judge_frequency(tally.winning_game_count, GAMES, Fraction(3, 10)) for tally in tallies]
    assert {fit.class_count for fit in fits} == {5}
    assert sum(not fit.agrees_with_exact for fit in fits) <= 3
    assert sum(not share.agrees_with_exact for share in shares) <= 3
    for zs in ([fit.z_score for fit in fits], [share.z_score for share in shares]):
        assert abs(sum(zs) / len(zs)) < 0.2
        assert 0.8 < sum(z * z for z in zs) / len(zs) < 1.2


@pytest.mark.requirement("R-10:b")
def test_a_game_with_the_same_return_and_another_distribution_is_detected():
    """Two wins of 1 replace a win of 2: the return is the same, hit frequency and distribution are not."""
    other = WinDistribution(1000, {0: 600, 1: 350, 10: 45, 500: 5})
    assert other.compute_moment(1) == LAW.compute_moment(1)
    tally = sample(7, other)
    assert not judge_distribution(tally, LAW).agrees_with_exact
    assert not judge_frequency(
        tally.winning_game_count, GAMES, LAW.compute_chance_of_at_least(1)
    ).agrees_with_exact
    same_hits = WinDistribution(1000, {0: 700, 1: 190, 2: 50, 10: 55, 500: 5})
    tally = sample(7, same_hits)
    assert judge_frequency(
        tally.winning_game_count, GAMES, LAW.compute_chance_of_at_least(1)
    ).agrees_with_exact
    assert not judge_distribution(tally, LAW).agrees_with_exact


@pytest.mark.parametrize(
    ("games", "largest"),
    [(13, 0), (33, 0), (34, 1), (66, 1), (67, 2), (199, 2), (200, 10), (1999, 10), (2000, 500)],
)
def test_the_largest_win_expected_ten_times_follows_from_its_probability(games, largest):
    assert LAW.find_highest_win_reached_on_average(10, games) == largest
    assert largest == max(
        (win for win in LAW.case_count_by_win if LAW.compute_chance_of_at_least(win) * games >= 10), default=0
    )
    cut = WinDistribution(1000, {0: 700, 1: 150, 2: 100}, Fraction(50, 1000))
    assert cut.find_highest_win_reached_on_average(10, games) == min(largest, 2)


def test_the_unlisted_part_of_a_distribution_is_a_class_of_its_own():
    cut = WinDistribution(1000, {0: 700, 1: 150, 2: 100}, Fraction(50, 1000))
    assert judge_distribution(sample(3), cut).class_count == 4
    assert judge_distribution(sample(3), cut).agrees_with_exact
    never = WinDistribution(1000, {0: 700, 1: 150, 2: 150})
    assert not judge_distribution(sample(3), never).agrees_with_exact
    few = SimulationTally(9, 0, 0, 0, 0, Counter({0: 9}))
    assert judge_distribution(few, LAW) is None

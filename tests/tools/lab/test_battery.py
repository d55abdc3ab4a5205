"""The statistical tests: exact distributions, defects that they detect, and the verdict on a family of tests."""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import comb

import numpy as np
import pytest
from scipy import stats

from rng import InvalidPolicy
from tools.lab.rng.battery import independent, selection
from tools.lab.rng.battery.judgement import adjust_by_holm, judge
from tools.lab.rng.battery.planted import PLANTED_DEFECTS
from tools.lab.rng.battery.result import (
    StatisticalResult,
    TooFewOutcomesError,
    compute_chi_square_result,
    compute_duplicates_result,
    compute_runs_result,
    merge_small_cells,
)
from tools.lab.rng.battery.run import RETEST_FACTOR, TESTED_GAMES, draw_honestly, run_all_tests, run_game
from tools.lab.rng.bulk import BulkDraws
from tools.lab.rng.errors import InvalidSampleError
from tools.lab.rng.outcomes import KENO_GAME, IndependentNumbers, SelectionWithoutReplacement
from tools.lab.rng.stream import LaboratoryStream


def good(game: IndependentNumbers | SelectionWithoutReplacement, plays: int, seed: int = 1) -> np.ndarray:
    return game.draw_many(BulkDraws(LaboratoryStream(seed).read), plays)


def p_value(results: list[StatisticalResult], test: str, detail: str = "") -> float:
    return min(r.p_value for r in results if r.test == test and r.detail.startswith(detail))


class TestDistributions:
    """Each expected distribution is compared with an enumeration of every case of a small game."""

    def test_lengths_of_complete_number_collections_match_enumeration(self) -> None:
        lengths = independent.compute_collection_length_chances(3)
        for length in range(3, 8):
            complete = sum(
                len(set(draws)) == 3 and len(set(draws[:-1])) == 2
                for draws in product(range(3), repeat=length)
            )
            assert lengths[length] == pytest.approx(complete / 3**length, abs=1e-12)
        assert sum(lengths) == pytest.approx(1)

    def test_lengths_of_complete_selection_collections_match_enumeration(self) -> None:
        lengths = selection.compute_collection_length_chances(4, 2)
        hands = [frozenset(hand) for hand in permutations(range(4), 2)]
        for length in range(2, 5):
            complete = sum(
                len(frozenset().union(*plays)) == 4 and len(frozenset().union(*plays[:-1])) < 4
                for plays in product(hands, repeat=length)
            )
            assert lengths[length] == pytest.approx(complete / len(hands) ** length, abs=1e-12)

    def test_cards_at_the_same_position_match_enumeration(self) -> None:
        decks = np.array(list(permutations(range(5))))
        first = np.repeat(decks[:1], len(decks), axis=0)
        together = np.stack([first, decks], axis=1).reshape(-1, 5)
        same, chances = selection.count_common_numbers(together, 5)
        counts = np.bincount(same[::2], minlength=6)
        assert counts / len(decks) == pytest.approx(chances)

    def test_numbers_in_common_match_enumeration(self) -> None:
        hands = np.array(list(permutations(range(5), 2)))
        pairs = np.array([hand for pair in product(hands, repeat=2) for hand in pair])
        same, chances = selection.count_common_numbers(pairs, 5)
        assert np.bincount(same[::2]) / len(hands) ** 2 == pytest.approx(chances)

    def test_cycles_of_shuffles_match_enumeration(self) -> None:
        decks = np.array(list(permutations(range(5))))
        assert Counter(selection.count_cycles(decks).tolist()) == {1: 24, 2: 50, 3: 35, 4: 10, 5: 1}

    def test_order_patterns_of_four_have_24_codes(self) -> None:
        codes = independent.encode_order_patterns(np.array(list(permutations(range(4)))))
        assert sorted(codes.tolist()) == list(range(24))

    def test_different_numbers_in_a_hand_match_enumeration(self) -> None:
        hands = Counter(len(set(hand)) for hand in product(range(4), repeat=5))
        for k, count in hands.items():
            ways = independent._compute_stirling_second(5, k) * np.prod([4 - i for i in range(k)])
            assert ways == count

    def test_runs_match_an_enumeration_of_every_order(self) -> None:
        """Checks mean and variance of the number of runs of 3 high and 4 low values, over all 35 orders."""
        counts = []
        for highs in {frozenset(p[:3]) for p in permutations(range(7), 3)}:
            row = [i in highs for i in range(7)]
            counts.append(1 + sum(a != b for a, b in pairwise(row)))
        mean = Fraction(sum(counts), len(counts))
        variance = Fraction(sum(c * c for c in counts), len(counts)) - mean**2
        assert mean == 1 + Fraction(2 * 3 * 4, 7)
        assert variance == (mean - 1) * (mean - 2) / 6

    def test_plain_chi_square_of_selections_is_not_uniform_and_the_corrected_one_is(self) -> None:
        plain, corrected = [], []
        for seed in range(200):
            data = good(KENO_GAME, 1_000, seed)
            observed = np.bincount(data.ravel(), minlength=80)
            plain.append(stats.chi2.sf(((observed - 250) ** 2 / 250).sum(), 79))
            corrected.append(next(selection.run_distribution_test(data, 80)).p_value)
        assert stats.kstest(corrected, "uniform").pvalue > 0.001
        assert stats.kstest(plain, "uniform").pvalue < 1e-20
        assert min(plain) > 0.01


class TestArithmetic:
    def test_the_chi_square_result_matches_scipy(self) -> None:
        observed, expected = [12, 9, 21, 18], [15.0, 15.0, 15.0, 15.0]
        result = compute_chi_square_result("t", "d", observed, expected, outcome_count=60)
        assert (result.statistic, result.p_value) == pytest.approx(tuple(stats.chisquare(observed, expected)))
        assert result.dof == 3

    def test_small_cells_are_merged_without_losing_counts(self) -> None:
        observed, expected = merge_small_cells([1, 2, 3, 10, 0, 1], [2.0, 2.0, 2.0, 10.0, 1.0, 0.5])
        assert observed.tolist() == [6, 11]
        assert expected.tolist() == [6.0, 11.5]

    def test_the_contingency_result_matches_scipy(self) -> None:
        data = good(IndependentNumbers(6, 2), 5_000)
        ours = independent.compute_contingency_result("t", "d", data[:, 0], data[:, 1], 6)
        table = np.zeros((6, 6))
        np.add.at(table, (data[:, 0], data[:, 1]), 1)
        theirs = stats.chi2_contingency(table, correction=False)
        assert (ours.statistic, ours.dof, ours.p_value) == pytest.approx(
            (theirs.statistic, theirs.dof, theirs.pvalue)
        )

    def test_repeated_plays_are_counted_as_pairs(self) -> None:
        codes = np.array([1, 2, 1, 3, 1, 2, 9])
        assert compute_duplicates_result("t", "d", codes, 1_000).statistic == 3 + 1

    @pytest.mark.parametrize(
        "test",
        [
            independent.run_overlaps_test,
            independent.run_coupon_collector_test,
            independent.run_low_high_runs_test,
            independent.run_interplay_test,
            independent.run_gap_test,
            independent.run_maximum_test,
        ],
    )
    def test_too_few_numbers_are_refused(
        self, test: Callable[[np.ndarray, int], Iterator[StatisticalResult]]
    ) -> None:
        with pytest.raises(TooFewOutcomesError):
            list(test(good(IndependentNumbers(22, 2), 6), 22))

    def test_the_runs_test_needs_high_and_low_values(self) -> None:
        with pytest.raises(TooFewOutcomesError, match="0 high and 50 low"):
            compute_runs_result("runs", "stuck", np.zeros(50, dtype=int), 22)

    def test_the_overlaps_test_needs_enough_plays_to_fill_its_cells(self) -> None:
        with pytest.raises(TooFewOutcomesError, match="31600 are needed"):
            list(selection.run_overlaps_test(good(KENO_GAME, 100), 80))


class TestJudgement:
    def test_holm_adjustment_matches_the_published_procedure(self) -> None:
        assert adjust_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
        assert adjust_by_holm([0.9, 0.8]) == [1.0, 1.0]

    def test_a_p_value_of_exactly_1_is_no_finding(self) -> None:
        even = compute_chi_square_result("t", "d", [500, 500], [500.0, 500.0], outcome_count=1000)
        assert even.p_value == 1.0
        assert judge([even, *self.results([0.3, 0.6])], 0.01).has_passed

    def results(self, p_values: list[float]) -> list[StatisticalResult]:
        return [
            StatisticalResult(test=f"t{i}", detail="", statistic=0.0, dof=9, p_value=p, outcomes=1)
            for i, p in enumerate(p_values)
        ]

    def test_one_p_value_in_a_hundred_is_no_finding(self) -> None:
        judged = judge(self.results([(i + 0.5) / 100 for i in range(100)]), 0.01)
        assert judged.has_passed
        assert (judged.below_alpha, judged.below_alpha_expected) == (1, 1.0)

    @pytest.mark.requirement("B-02:b")
    @pytest.mark.parametrize(("worst", "finding_text"), [(1e-6, "t50, "), (1 - 1e-6, "t50, : the other end")])
    def test_a_fit_too_bad_and_a_fit_too_good_are_findings(self, worst: float, finding_text: str) -> None:
        p_values = [(i + 0.5) / 100 for i in range(100)]
        p_values[50] = worst
        judged = judge(self.results(p_values), 0.01)
        assert [finding.what for finding in judged.findings] == [finding_text]

    def test_crowded_p_values_are_a_finding(self) -> None:
        judged = judge(self.results([0.5 + i / 1000 for i in range(100)]), 0.01)
        assert [finding.what for finding in judged.findings] == ["the p-values together are not even"]

    @pytest.mark.parametrize("alpha", [0, 1, -0.01, 2])
    def test_an_invalid_significance_level_is_refused(self, alpha: float) -> None:
        with pytest.raises(InvalidPolicy):
            judge(self.results([0.5]), alpha)


class Streams:
    """Fresh laboratory streams, one for each run, with a count."""

    def __init__(self, first_seed: int) -> None:
        self.seed = first_seed

    def __call__(self) -> object:
        self.seed += 1
        return LaboratoryStream(self.seed).read


@pytest.mark.requirement("B-02:b")
@pytest.mark.parametrize("name", TESTED_GAMES)
def test_honest_outcomes_of_every_game_pass_the_battery(name: str) -> None:
    game, _ = TESTED_GAMES[name]
    verdict = run_game(name, game, 40_000, 0.01, Streams(100))
    assert verdict.has_passed
    run = verdict.runs[-1]
    kinds = {r.test for r in run.results}
    named = {
        "total distribution", "overlaps", "coupon collector", "runs", "serial correlation", "duplicates",
    }  # fmt: skip
    assert named <= kinds
    if name != "wheel":
        assert "interplay correlation" in kinds


CAUGHT = [
    ("modulo-bias", IndependentNumbers(22, 5), 60_000, "total distribution"),
    ("sticky", IndependentNumbers(22, 5), 20_000, "serial correlation"),
    ("sticky", KENO_GAME, 32_000, "serial correlation"),
    ("correlated-pair", IndependentNumbers(22, 5), 20_000, "interplay correlation"),
    ("biased-shuffle", SelectionWithoutReplacement(52, 52), 14_000, "total distribution"),
]


@pytest.mark.requirement("B-02:b")
@pytest.mark.parametrize(("defect", "game", "plays", "test"), CAUGHT)
def test_a_planted_defect_is_detected_by_the_test_meant_for_it(
    defect: str, game: IndependentNumbers | SelectionWithoutReplacement, plays: int, test: str
) -> None:
    data = PLANTED_DEFECTS[defect](BulkDraws(LaboratoryStream(5).read), game, plays)
    results = run_all_tests(game, data)
    assert not judge(results, 0.01).has_passed
    assert p_value(results, test) < 1e-6
    honest_results = run_all_tests(game, draw_honestly(BulkDraws(LaboratoryStream(5).read), game, plays))
    assert p_value(honest_results, test) > 1e-6


def test_repeated_numbers_fail_the_dependence_tests_but_not_the_distribution() -> None:
    game = IndependentNumbers(22, 5)
    results = run_all_tests(
        game, PLANTED_DEFECTS["sticky"](BulkDraws(LaboratoryStream(5).read), game, 20_000)
    )
    assert p_value(results, "total distribution") > 1e-3
    assert p_value(results, "runs") < 1e-3


@pytest.mark.requirement("B-02:b")
class TestRetest:
    def test_a_defect_fails_twice_and_both_runs_are_reported(self) -> None:
        streams = Streams(1)
        verdict = run_game(
            "reels", IndependentNumbers(22, 5), 40_000, 0.01, streams, PLANTED_DEFECTS["modulo-bias"]
        )
        assert not verdict.has_passed
        assert [run.plays for run in verdict.runs] == [40_000, 40_000 * RETEST_FACTOR]
        assert streams.seed == 3

    def test_a_chance_finding_is_retested_once_and_the_second_run_decides(self) -> None:
        """Only the first run has the defect, like a rare chance finding."""
        turns = iter([PLANTED_DEFECTS["modulo-bias"], draw_honestly])

        def in_turn(
            draws: BulkDraws, game: IndependentNumbers | SelectionWithoutReplacement, plays: int
        ) -> np.ndarray:
            return next(turns)(draws, game, plays)

        verdict = run_game("reels", IndependentNumbers(22, 5), 40_000, 0.01, Streams(1), in_turn)
        assert verdict.has_passed
        assert [run.judgement.has_passed for run in verdict.runs] == [False, True]

    def test_a_run_without_findings_is_not_repeated(self) -> None:
        assert len(run_game("dice", IndependentNumbers(6, 2), 5_000, 0.01, Streams(1)).runs) == 1

    def test_the_data_of_a_run_is_identified_by_its_digest(self) -> None:
        first, second = (
            run_game("dice", IndependentNumbers(6, 2), 5_000, 0.01, Streams(1)) for _ in range(2)
        )
        other = run_game("dice", IndependentNumbers(6, 2), 5_000, 0.01, Streams(2))
        assert first.runs[0].data_sha256 == second.runs[0].data_sha256 != other.runs[0].data_sha256

    def test_no_plays_are_refused(self) -> None:
        with pytest.raises(InvalidSampleError):
            run_game("dice", IndependentNumbers(6, 2), 0, 0.01, Streams(1))


@pytest.mark.parametrize(
    ("defect", "game"),
    [
        ("modulo-bias", KENO_GAME),
        ("correlated-pair", IndependentNumbers(37)),
        ("biased-shuffle", IndependentNumbers(22, 5)),
    ],
)
def test_a_defect_that_cannot_be_planted_is_refused(
    defect: str, game: IndependentNumbers | SelectionWithoutReplacement
) -> None:
    with pytest.raises(InvalidSampleError, match="planted"):
        PLANTED_DEFECTS[defect](BulkDraws(LaboratoryStream(1).read), game, 100)


def test_repeats_of_short_plays_are_counted_among_enough_cells() -> None:
    for game in (IndependentNumbers(6, 2), IndependentNumbers(37), IndependentNumbers(2)):
        data = good(game, 40_000)
        (result,) = independent.run_repeated_plays_test(data, game.bound)
        assert 1 < result.statistic < 1_000


def test_hands_of_five_repeat_as_often_as_expected() -> None:
    data = good(KENO_GAME, 100_000)
    (result,) = selection.run_repeated_hands_test(data, 80)
    assert result.statistic == pytest.approx(comb(100_000, 2) / comb(80, 5), rel=0.3)

"""Statistical tests of numbers drawn with replacement: reels, dice, wheels.

The data is an array of shape (play_count, position_count) of numbers below ``bound``. The tests are those named by
GLI-19 3.2.2 and the classical ones of Knuth (The Art of Computer Programming, volume 2, section 3.3.2), each
on the game's own range.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from math import comb, factorial

import numpy as np

from tools.lab.rng.battery.result import (
    Floats,
    Ints,
    StatisticalResult,
    TooFewOutcomesError,
    build_result_from_statistic,
    compute_chi_square_result,
    compute_duplicates_result,
    compute_group_count,
    compute_runs_result,
    count_completions,
    estimate_certain_completions,
    group_values,
)

#: Distances, in games, at which the same position is compared with itself.
SERIAL_TEST_LAGS = (1, 2, 3)
#: The coupon collector works outcome by outcome; more outcomes than this only take time.
_COUPON_OUTCOMES_MAX = 2_000_000


def run_distribution_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test that every number is equally frequent at each position."""
    play_count, position_count = numbers_by_play.shape
    for i in range(position_count):
        observed_counts = np.bincount(numbers_by_play[:, i], minlength=bound)
        expected = np.full(bound, play_count / bound)
        yield compute_chi_square_result(
            "total distribution",
            f"position {i + 1}",
            observed_counts,
            expected,
            outcome_count=play_count,
            keeps_counts=True,
        )


def run_overlaps_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test whether each number is independent of the number before it, by overlapping pairs.

    Source: I. J. Good, The serial test for sampling numbers (1953). The chi-square statistic of overlapping
    pairs does not follow chi-square itself; its difference from the statistic of single numbers does.
    """
    numbers = numbers_by_play.ravel()
    number_count = len(numbers)
    group_count = compute_group_count(bound, number_count)
    group_by_number, group_sizes = group_values(numbers, bound, group_count)
    group_chances = group_sizes / bound
    observed_pairs = np.bincount(
        group_by_number * group_count + np.roll(group_by_number, -1), minlength=group_count * group_count
    )
    single_statistic = (
        (np.bincount(group_by_number, minlength=group_count) - number_count * group_chances) ** 2
        / (number_count * group_chances)
    ).sum()
    expected_pairs = np.outer(group_chances, group_chances).ravel() * number_count
    statistic = float(((observed_pairs - expected_pairs) ** 2 / expected_pairs).sum() - single_statistic)
    yield build_result_from_statistic(
        "overlaps",
        f"overlapping pairs of {group_count} groups",
        statistic,
        group_count * (group_count - 1),
        number_count,
    )


def compute_collection_length_chances(bound: int) -> Floats:
    """Return the probability that draw number 0, 1, 2, ... completes the set of all numbers below ``bound``.

    The last element is the probability that more draws are needed. The computation follows, draw by draw, the
    count of different numbers seen, which avoids cancellation errors.
    """
    chance_by_seen = np.zeros(bound + 1)
    chance_by_seen[0] = 1.0
    new_value_chances = (bound - np.arange(bound + 1)) / bound
    chances = [0.0]
    while 1 - sum(chances) > 1e-9:
        chance_before = chance_by_seen[bound]
        chance_of_new = chance_by_seen * new_value_chances
        chance_by_seen = chance_by_seen - chance_of_new
        chance_by_seen[1:] += chance_of_new[:-1]
        chances.append(chance_by_seen[bound] - chance_before)
    chances.append(1 - sum(chances))
    return np.array(chances)


def count_plays_per_collection(
    plays: Iterable[Iterable[int]], outcome_count: int, collection_count: int
) -> list[int]:
    """Return, for the first ``collection_count`` collections, how many plays each takes to complete.

    A collection is complete when ``outcome_count`` different numbers have occurred; the next one starts after it. A
    collection that is never complete counts all plays.
    """
    lengths: list[int] = []
    numbers_seen: set[int] = set()
    last_play_of_previous = play_number = 0
    for play_number, play in enumerate(plays, 1):
        numbers_seen.update(play)
        if len(numbers_seen) == outcome_count:
            lengths.append(play_number - last_play_of_previous)
            if len(lengths) == collection_count:
                break
            last_play_of_previous = play_number
            numbers_seen.clear()
    return lengths + [play_number] * (collection_count - len(lengths))


def compute_mean_and_variance(chances: Floats) -> tuple[float, float]:
    """Return the mean and the variance of a distribution; ``chances`` has the probabilities of 0, 1, 2 and so on."""
    values = np.arange(len(chances))
    mean = float((chances * values).sum())
    return mean, float((chances * (values - mean) ** 2).sum())


def run_coupon_collector_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test how many draws it takes until every number has been drawn."""
    numbers = numbers_by_play.ravel()[:_COUPON_OUTCOMES_MAX]
    chances = compute_collection_length_chances(bound)
    collection_count = estimate_certain_completions(*compute_mean_and_variance(chances), len(numbers))
    if collection_count < 20:
        raise TooFewOutcomesError(
            f"too few plays: {len(numbers)} numbers below {bound} complete {max(collection_count, 0)} collections, "
            "20 are needed"
        )
    lengths = count_plays_per_collection(((value,) for value in numbers.tolist()), bound, collection_count)
    observed_counts, expected = count_completions(chances, lengths)
    yield compute_chi_square_result(
        "coupon collector",
        f"{len(lengths)} collections",
        observed_counts,
        expected,
        outcome_count=len(numbers),
    )


def run_low_high_runs_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test the runs of low and high numbers in consecutive plays, at each position."""
    for i in range(numbers_by_play.shape[1]):
        yield compute_runs_result("runs", f"position {i + 1}", numbers_by_play[:, i], bound)


def compute_contingency_result(
    test: str, detail: str, first_values: Ints, second_values: Ints, bound: int
) -> StatisticalResult:
    """Return the chi-square result of the test that ``first_values`` and ``second_values`` are independent series.

    It compares how often each pair of values below ``bound`` occurs.
    """
    pair_total = len(first_values)
    group_count = compute_group_count(bound, pair_total)
    pair_counts = np.bincount(
        group_values(first_values, bound, group_count)[0] * group_count
        + group_values(second_values, bound, group_count)[0],
        minlength=group_count * group_count,
    ).reshape(group_count, group_count)
    pair_counts = pair_counts[pair_counts.any(axis=1)][:, pair_counts.any(axis=0)].astype(float)
    expected = np.outer(pair_counts.sum(axis=1), pair_counts.sum(axis=0)) / pair_total
    dof = (pair_counts.shape[0] - 1) * (pair_counts.shape[1] - 1)
    if not dof:
        raise TooFewOutcomesError(f"{detail}: one of the two numbers never changes")
    return build_result_from_statistic(
        test, detail, float(((pair_counts - expected) ** 2 / expected).sum()), dof, pair_total
    )


def run_interplay_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test that every two positions of the same play are independent."""
    for i, j in combinations(range(numbers_by_play.shape[1]), 2):
        detail = f"positions {i + 1} and {j + 1}"
        yield compute_contingency_result(
            "interplay correlation", detail, numbers_by_play[:, i], numbers_by_play[:, j], bound
        )


def run_serial_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test that each position (such as a reel) is independent of its values a few plays earlier."""
    for i in range(numbers_by_play.shape[1]):
        for lag in SERIAL_TEST_LAGS:
            detail = f"position {i + 1}, {lag} later"
            yield compute_contingency_result(
                "serial correlation", detail, numbers_by_play[:-lag, i], numbers_by_play[lag:, i], bound
            )


def run_repeated_plays_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test how often complete plays repeat; if plays are short, several are joined to one before comparing."""
    numbers, position_count = numbers_by_play.ravel(), numbers_by_play.shape[1]
    joined_length = position_count
    while bound**joined_length < 10 * (len(numbers) // joined_length):
        joined_length += position_count
    joined_plays = numbers[: len(numbers) // joined_length * joined_length].reshape(-1, joined_length)
    counted_length = min(joined_length, int(62 / math.log2(bound)))
    codes = np.zeros(len(joined_plays), dtype=np.int64)
    for i in range(counted_length):
        codes = codes * bound + joined_plays[:, i].astype(np.int64)
    detail = f"{joined_length // position_count} plays together, {counted_length} numbers of them"
    yield compute_duplicates_result("duplicates", detail, codes, bound**counted_length)


def run_gap_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test how many numbers lie between two numbers from the lowest eighth of the range."""
    numbers = numbers_by_play.ravel()
    marked_count = max(1, bound // 8)
    chance = marked_count / bound
    marked_indices = np.flatnonzero(numbers < marked_count)
    gap_count = estimate_certain_completions(1 / chance, (1 - chance) / chance**2, len(numbers))
    if gap_count < 50:
        raise TooFewOutcomesError(f"{len(numbers)} numbers hold {gap_count} gaps; 50 are needed")
    gaps = np.diff(marked_indices, prepend=-1)[:gap_count] - 1
    gap_length_count = int(gaps.max()) + 1
    expected = chance * (1 - chance) ** np.arange(gap_length_count) * gap_count
    observed_counts = np.bincount(gaps, minlength=gap_length_count)
    yield compute_chi_square_result(
        "gap",
        f"numbers below {marked_count}",
        [*observed_counts, 0],
        [*expected, gap_count - expected.sum()],
        outcome_count=gap_count,
    )


def _compute_stirling_second(n: int, k: int) -> int:
    """Return the number of ways to divide ``n`` things into ``k`` groups."""
    if k in {1, n}:
        return 1
    return k * _compute_stirling_second(n - 1, k) + _compute_stirling_second(n - 1, k - 1)


def run_poker_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test how many different values five consecutive numbers contain."""
    numbers = numbers_by_play.ravel()
    hands = np.sort(numbers[: len(numbers) // 5 * 5].reshape(-1, 5), axis=1)
    different_counts = 1 + (hands[:, 1:] != hands[:, :-1]).sum(axis=1)
    hand_counts = [
        _compute_stirling_second(5, different_count)
        * factorial(different_count)
        * comb(bound, different_count)
        for different_count in range(1, min(5, bound) + 1)
    ]
    expected = [len(hands) * (hand_count / bound**5) for hand_count in hand_counts]
    observed_counts = np.bincount(different_counts, minlength=6)[1 : len(hand_counts) + 1]
    yield compute_chi_square_result(
        "poker", "five in a row", observed_counts, expected, outcome_count=len(hands)
    )


def encode_order_patterns(rows: Ints) -> Ints:
    """Return, for each row of four different numbers, which of the 24 possible orders it has (0 to 23)."""
    code = np.zeros(len(rows), dtype=np.int64)
    for i in range(4):
        smaller = np.zeros(len(rows), dtype=np.int64)
        for j in range(i + 1, 4):
            smaller += rows[:, j] < rows[:, i]
        code = code * (4 - i) + smaller
    return code


def run_permutation_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test the order of each four consecutive numbers; groups with equal numbers are left out."""
    if bound < 4:
        return
    numbers = numbers_by_play.ravel()
    groups_of_four = numbers[: len(numbers) // 4 * 4].reshape(-1, 4).astype(np.int64)
    sorted_groups = np.sort(groups_of_four, axis=1)
    groups_of_four = groups_of_four[(sorted_groups[:, 1:] != sorted_groups[:, :-1]).all(axis=1)]
    observed_counts = np.bincount(encode_order_patterns(groups_of_four), minlength=24)
    yield compute_chi_square_result(
        "permutation",
        "four in a row",
        observed_counts,
        np.full(24, len(groups_of_four) / 24),
        outcome_count=len(groups_of_four),
    )


def run_maximum_test(numbers_by_play: Ints, bound: int) -> Iterator[StatisticalResult]:
    """Test the distribution of the largest of each five consecutive numbers."""
    numbers = numbers_by_play.ravel()
    maxima = numbers[: len(numbers) // 5 * 5].reshape(-1, 5).max(axis=1)
    chances = np.diff((np.arange(bound + 1) / bound) ** 5)
    observed_counts = np.bincount(maxima, minlength=bound)
    yield compute_chi_square_result(
        "maximum of t", "five in a row", observed_counts, chances * len(maxima), outcome_count=len(maxima)
    )


TESTS = (
    run_distribution_test, run_overlaps_test, run_coupon_collector_test, run_low_high_runs_test,
    run_interplay_test, run_serial_test, run_repeated_plays_test, run_gap_test, run_poker_test,
    run_permutation_test, run_maximum_test,
)  # fmt: skip


def run_battery(numbers_by_play: Ints, bound: int) -> list[StatisticalResult]:
    """Return the results of every test for games of independent numbers, in order."""
    return [result for test in TESTS for result in test(numbers_by_play, bound)]

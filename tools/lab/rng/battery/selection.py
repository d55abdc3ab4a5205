"""Tests of selections without replacement, in the order drawn: keno, bingo, cards.

The data is an array of shape (play_count, pick_count) of different numbers below ``population``. Within a play numbers
are not independent, and a statistic that ignores this is invalid: each test here includes its correction.
"""

from collections.abc import Iterator
from math import comb, factorial

import numpy as np
from scipy import stats

from tools.lab.rng.battery import independent
from tools.lab.rng.battery.result import (
    CELL_EXPECTATION_MIN,
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

#: How many numbers at the front of a selection are tested for repetition.
_REPEATED_HAND_NUMBER_COUNT = 5
#: How many numbers at the front of a selection are tested for their order.
_ORDER_TEST_NUMBER_COUNT = 4
#: Plays processed at once, in tests that split plays up.
_PLAYS_AT_ONCE = 100_000


def _iter_overlapping_parts(numbers_by_play: Ints, shared_plays: int = 0) -> Iterator[Ints]:
    """Yield the array of plays in parts; each part repeats the last ``shared_plays`` plays of the part before it."""
    for first_play in range(0, max(1, len(numbers_by_play) - shared_plays), _PLAYS_AT_ONCE):
        yield numbers_by_play[first_play : first_play + _PLAYS_AT_ONCE + shared_plays]


def _count_values(values: Ints, cell_count: int, offsets: Ints | int = 0) -> Ints:
    """Return how often each value below ``cell_count`` occurs, after adding ``offsets`` to the data's columns."""
    counts: Ints = np.zeros(cell_count, dtype=np.int64)
    for part in _iter_overlapping_parts(values):
        counts += np.bincount((part + offsets).ravel(), minlength=cell_count)
    return counts


def run_distribution_test(numbers_by_play: Ints, population: int) -> Iterator[StatisticalResult]:
    """Test that every number is equally frequent; for a full deck, every card at every position.

    A play cannot contain a number twice, so counts vary less than independent ones. With N numbers of which k
    are drawn, the plain statistic times (N - 1) / (N - k) follows chi-square with N - 1 degrees of freedom. For
    a full deck, the statistic of cards by position times (N - 1) / N follows it with (N - 1)**2 degrees.
    """
    play_count, pick_count = numbers_by_play.shape
    if pick_count < population:
        observed_counts = _count_values(numbers_by_play, population)
        expected = play_count * pick_count / population
        plain_statistic = float(((observed_counts - expected) ** 2 / expected).sum())
        result = build_result_from_statistic(
            "total distribution",
            f"{pick_count} of {population}",
            plain_statistic * (population - 1) / (population - pick_count),
            population - 1,
            play_count,
        )
    else:
        observed_counts = _count_values(
            numbers_by_play, population * population, np.arange(pick_count) * population
        )
        expected = play_count / population
        plain_statistic = float(((observed_counts - expected) ** 2 / expected).sum())
        result = build_result_from_statistic(
            "total distribution",
            "card by place",
            plain_statistic * (population - 1) / population,
            (population - 1) ** 2,
            play_count,
        )
    yield result
    first_number_counts = np.bincount(numbers_by_play[:, 0], minlength=population)
    first_number_expected = np.full(population, play_count / population)
    yield compute_chi_square_result(
        "total distribution",
        "first drawn",
        first_number_counts,
        first_number_expected,
        outcome_count=play_count,
        keeps_counts=True,
    )


def run_overlaps_test(numbers_by_play: Ints, population: int) -> Iterator[StatisticalResult]:
    """Test how often each ordered pair of neighbouring numbers occurs in the plays.

    Each play contributes one pair: the first play its first pair, the second play its second pair, and so on; after
    the last pair of a play, the first one again.
    """
    play_count, pick_count = numbers_by_play.shape
    cell_count = population * (population - 1)
    if play_count < CELL_EXPECTATION_MIN * cell_count:
        raise TooFewOutcomesError(
            f"{play_count} plays for {cell_count} pairs; {CELL_EXPECTATION_MIN * cell_count:.0f} are needed"
        )
    play_indices = np.arange(play_count)
    pair_indices = play_indices % (pick_count - 1)
    first_numbers = numbers_by_play[play_indices, pair_indices].astype(np.int64)
    second_numbers = numbers_by_play[play_indices, pair_indices + 1].astype(np.int64)
    codes = first_numbers * (population - 1) + second_numbers - (second_numbers > first_numbers)
    observed_counts = np.bincount(codes, minlength=cell_count)
    yield compute_chi_square_result(
        "overlaps",
        f"{cell_count} neighbouring pairs",
        observed_counts,
        np.full(cell_count, play_count / cell_count),
        outcome_count=play_count,
    )


def compute_collection_length_chances(population: int, pick_count: int) -> Floats:
    """Return the probability that play number 0, 1, 2, ... completes the set of all numbers.

    The last element is the probability that more plays are needed.
    """
    chance_by_seen = np.zeros(population + 1)
    chance_by_seen[0] = 1.0
    new_counts = np.arange(pick_count + 1)
    new_count_chances = [
        stats.hypergeom.pmf(new_counts, population, population - seen_count, pick_count)
        for seen_count in range(population + 1)
    ]
    chances = [0.0]
    while 1 - sum(chances) > 1e-9:
        chance_before = chance_by_seen[population]
        chance_after_play = np.zeros(population + 1)
        for seen_count in np.flatnonzero(chance_by_seen).tolist():
            new_count_max = min(pick_count, population - seen_count)
            chance_after_play[seen_count : seen_count + new_count_max + 1] += (
                chance_by_seen[seen_count] * new_count_chances[seen_count][: new_count_max + 1]
            )
        chance_by_seen = chance_after_play
        chances.append(chance_by_seen[population] - chance_before)
    chances.append(1 - sum(chances))
    return np.array(chances)


def run_coupon_collector_test(numbers_by_play: Ints, population: int) -> Iterator[StatisticalResult]:
    """Test how many plays it takes until every number was drawn.

    If a play deals the full deck, test how many plays it takes until every card was on top.
    """
    play_count, pick_count = numbers_by_play.shape
    if pick_count == population:
        yield from independent.run_coupon_collector_test(numbers_by_play[:, :1], population)
        return
    chances = compute_collection_length_chances(population, pick_count)
    collection_count = estimate_certain_completions(
        *independent.compute_mean_and_variance(chances), play_count
    )
    if collection_count < 20:
        raise TooFewOutcomesError(
            f"too few plays: {play_count} complete {max(collection_count, 0)} collections, 20 are needed"
        )
    lengths = independent.count_plays_per_collection(numbers_by_play.tolist(), population, collection_count)
    observed_counts, expected = count_completions(chances, lengths)
    yield compute_chi_square_result(
        "coupon collector", f"{len(lengths)} collections", observed_counts, expected, outcome_count=play_count
    )


def _choose_tested_indices(pick_count: int) -> tuple[int, ...]:
    """Return the indices of the first, the middle and the last number of a play."""
    return tuple(sorted({0, pick_count // 2, pick_count - 1}))


def run_low_high_runs_test(numbers_by_play: Ints, population: int) -> Iterator[StatisticalResult]:
    """Test the runs of low and high numbers at the first, the middle and the last position."""
    for pick_index in _choose_tested_indices(numbers_by_play.shape[1]):
        yield compute_runs_result(
            "runs", f"place {pick_index + 1}", numbers_by_play[:, pick_index], population
        )


def run_interplay_test(numbers_by_play: Ints, population: int) -> Iterator[StatisticalResult]:
    """Test pairs of neighbouring positions of a play, and the first with the last, against exact chances."""
    play_count, pick_count = numbers_by_play.shape
    group_count = compute_group_count(population, play_count)
    _, group_sizes = group_values(numbers_by_play[:1, 0], population, group_count)
    pair_ways = np.outer(group_sizes, group_sizes) - np.diag(group_sizes)
    expected = pair_ways.ravel() / pair_ways.sum() * play_count
    for first_pick, second_pick in sorted(
        {(i, i + 1) for i in range(pick_count - 1)} | {(0, pick_count - 1)}
    ):
        first_groups, second_groups = (
            group_values(numbers_by_play[:, place], population, group_count)[0]
            for place in (first_pick, second_pick)
        )
        observed_counts = np.bincount(
            first_groups * group_count + second_groups, minlength=group_count * group_count
        )
        detail = f"places {first_pick + 1} and {second_pick + 1}"
        yield compute_chi_square_result(
            "interplay correlation", detail, observed_counts, expected, outcome_count=play_count
        )


def count_common_numbers(numbers_by_play: Ints, population: int) -> tuple[Ints, Floats]:
    """Return how often consecutive plays have 0, 1, 2, ... numbers in common, and the exact probabilities.

    For full decks, cards at the same position are counted: fixed points of a permutation. For other
    selections the distribution is hypergeometric.
    """
    pick_count = numbers_by_play.shape[1]
    if pick_count == population:
        common_counts: Ints = np.count_nonzero(numbers_by_play[1:] == numbers_by_play[:-1], axis=1)
        order_count = factorial(population)
        permutation_counts = [
            comb(population, common_count) * _count_derangements(population - common_count)
            for common_count in range(population + 1)
        ]
        return common_counts, np.array(
            [permutation_count / order_count for permutation_count in permutation_counts]
        )
    common_number_counts = []
    for part in _iter_overlapping_parts(numbers_by_play, shared_plays=1):
        is_drawn = np.zeros((len(part), population), dtype=bool)
        np.put_along_axis(is_drawn, part.astype(np.int64), values=True, axis=1)
        common_number_counts.append(np.count_nonzero(is_drawn[1:] & is_drawn[:-1], axis=1))
    return np.concatenate(common_number_counts), stats.hypergeom.pmf(
        np.arange(pick_count + 1), population, pick_count, pick_count
    )


def _count_derangements(n: int) -> int:
    """Return the number of permutations of ``n`` things without a fixed point."""
    return 1 if n == 0 else n * _count_derangements(n - 1) + (-1) ** (n % 2)


def run_serial_test(numbers_by_play: Ints, population: int) -> Iterator[StatisticalResult]:
    """Test how many numbers each play has in common with the next one."""
    common_counts, chances = count_common_numbers(numbers_by_play, population)
    observed_counts = np.bincount(common_counts, minlength=len(chances))
    yield compute_chi_square_result(
        "serial correlation",
        "in common with the next",
        observed_counts,
        chances * len(common_counts),
        outcome_count=len(common_counts),
    )


def run_repeated_hands_test(numbers_by_play: Ints, population: int) -> Iterator[StatisticalResult]:
    """Test how often the first numbers of a play (a hand of limited size), in any order, are drawn again."""
    hand_size = min(_REPEATED_HAND_NUMBER_COUNT, numbers_by_play.shape[1])
    hands = np.sort(numbers_by_play[:, :hand_size].astype(np.int64), axis=1)
    codes = np.zeros(len(hands), dtype=np.int64)
    for i in range(hand_size):
        codes = codes * population + hands[:, i]
    hand_count = comb(population, hand_size)
    yield compute_duplicates_result("duplicates", f"first {hand_size} among {hand_count}", codes, hand_count)


def run_permutation_test(numbers_by_play: Ints, _population: int) -> Iterator[StatisticalResult]:
    """Test that the order of the first four numbers of a play is equally often each of the 24 orders."""
    if numbers_by_play.shape[1] < _ORDER_TEST_NUMBER_COUNT:
        return
    codes = independent.encode_order_patterns(numbers_by_play[:, :_ORDER_TEST_NUMBER_COUNT].astype(np.int64))
    observed_counts = np.bincount(codes, minlength=24)
    yield compute_chi_square_result(
        "permutation",
        "first four",
        observed_counts,
        np.full(24, len(numbers_by_play) / 24),
        outcome_count=len(numbers_by_play),
    )


def count_cycles(permutations: Ints) -> Ints:
    """Return the number of cycles of each shuffled deck, read as a permutation of the ordered deck."""
    rows = np.arange(len(permutations))[:, None]
    leader: Ints = np.broadcast_to(np.arange(permutations.shape[1]), permutations.shape).copy()
    jump = permutations.astype(np.int64)
    for _ in range(permutations.shape[1].bit_length()):
        leader = np.minimum(leader, leader[rows, jump])
        jump = jump[rows, jump]
    counts: Ints = np.count_nonzero(leader == np.arange(permutations.shape[1]), axis=1)
    return counts


def run_cycles_test(numbers_by_play: Ints, population: int) -> Iterator[StatisticalResult]:
    """Test the number of cycles of a shuffle against Stirling numbers of the first kind; full decks only."""
    if numbers_by_play.shape[1] < population:
        return
    permutations_by_cycles = [1]
    for deck_size in range(population):
        permutations_by_cycles = [
            deck_size * same_cycles + one_cycle_fewer
            for same_cycles, one_cycle_fewer in zip(
                [*permutations_by_cycles, 0], [0, *permutations_by_cycles], strict=True
            )
        ]
    expected = [
        permutation_count / factorial(population) * len(numbers_by_play)
        for permutation_count in permutations_by_cycles
    ]
    counts = np.concatenate([count_cycles(part) for part in _iter_overlapping_parts(numbers_by_play)])
    observed_counts = np.bincount(counts, minlength=population + 1)
    yield compute_chi_square_result(
        "cycles", "of each shuffle", observed_counts, expected, outcome_count=len(numbers_by_play)
    )


TESTS = (
    run_distribution_test, run_overlaps_test, run_coupon_collector_test, run_low_high_runs_test,
    run_interplay_test, run_serial_test, run_repeated_hands_test, run_permutation_test, run_cycles_test,
)  # fmt: skip


def run_battery(numbers_by_play: Ints, population: int) -> list[StatisticalResult]:
    """Return the results of every test for games that draw without replacement, in order."""
    return [result for test in TESTS for result in test(numbers_by_play, population)]

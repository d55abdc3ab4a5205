"""The compiled inner loops of :mod:`paytables.poker.paigow.solve`, for laboratories (numpy, numba)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numba

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints


@cache
def compile_kernel(kernel: Callable[..., None]) -> Callable[..., None]:
    """Return the function ``kernel`` compiled by numba, without Python's global lock, for use in threads."""
    compiled_kernel: Callable[..., None] = numba.njit(nogil=True)(kernel)
    return compiled_kernel


def count_bank_hands_by_ranks(player_counts: Ints, nodes: Ints, binomials: Ints, weights: Ints) -> None:
    """Fill ``weights[i]`` with the number of ways to deal the bank the ranks of node i without the player's cards.

    ``player_counts`` has the number of the player's cards of each rank. Each node is a row (index of its parent, rank,
    number of cards of that rank that it adds to the parent's); node 0 has no cards. ``binomials[n, k]`` is the binomial
    coefficient.
    """
    weights[0] = 1
    for node_index in range(1, nodes.shape[0]):
        parent_weight = weights[nodes[node_index, 0]]
        rank = nodes[node_index, 1]
        cards_left = (4 if rank < 13 else 1) - player_counts[rank]
        weights[node_index] = parent_weight * binomials[cards_left, nodes[node_index, 2]]


def count_hands_beaten(
    setting_strengths: Ints,
    bank_low_strengths: Ints,
    bank_high_strengths: Ints,
    weights: Ints,
    result_counts: Ints,
) -> None:
    """Count, for each setting of the player's cards, the bank hands that it beats and the bank hands that beat it.

    ``setting_strengths`` has the strength of the low and the high hand of each setting. ``bank_low_strengths`` and
    ``bank_high_strengths`` have these strengths for each combination of the bank's ranks, and ``weights`` its number of
    hands. ``result_counts`` gets both counts for each setting.
    """
    for setting_index in range(setting_strengths.shape[0]):
        low_strength, high_strength = setting_strengths[setting_index, 0], setting_strengths[setting_index, 1]
        win_count = 0
        loss_count = 0
        for bank_index in range(bank_low_strengths.shape[0]):
            wins_low = bank_low_strengths[bank_index] < low_strength
            wins_high = bank_high_strengths[bank_index] < high_strength
            win_count += weights[bank_index] * (wins_low & wins_high)
            loss_count += weights[bank_index] * (1 - (wins_low | wins_high))
        result_counts[setting_index, 0] = win_count
        result_counts[setting_index, 1] = loss_count


def correct_for_flushes(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    low_strength: int,
    flush_cases: Ints,
    card_counts_by_pattern: Ints,
    signed_flushes: Ints,
    table: Ints,
    corrections: Ints,
) -> None:
    """Count how the bank's flushes in one suit change the numbers of bank hands that a setting beats and loses to.

    All settings in ``flush_cases`` have the low hand ``low_strength``. Each row, by ascending high hand, has the
    strength of the high hand, the player's ranks in the suit as bits, and the row of the player's ranks in
    ``card_counts_by_pattern``. Each row of ``signed_flushes``, by ascending high hand, has the bank's high hand, its
    low hand, its ranks in the suit, the index of its other cards, and +1 or -1. ``table`` is a work array.
    ``corrections`` gets two numbers for each flush case.

    There are two passes. The first, by ascending high hand, is for bank hands that the setting beats: both strengths
    are lower. The second, by descending high hand, is for those that the setting loses to: both are at least as high.
    In each pass, ``table[ranks, other]`` is the sum of the +1 and -1 of the flushes so far that leave the player these
    ranks of the suit, by the index of the bank's other cards (as in ``OTHER_CARDS_OF_FLUSH``, then once more with the
    joker).
    """
    other_cards_count = table.shape[1] // 2
    for is_loss_pass in range(2):
        table[:] = 0
        flush_index = 0 if is_loss_pass == 0 else signed_flushes.shape[0] - 1
        for case_count_done in range(flush_cases.shape[0]):
            row = case_count_done if is_loss_pass == 0 else flush_cases.shape[0] - 1 - case_count_done
            high_strength, suit_ranks, pattern_row = (
                flush_cases[row, 0],
                flush_cases[row, 1],
                flush_cases[row, 2],
            )
            while 0 <= flush_index < signed_flushes.shape[0]:
                if is_loss_pass == 0:
                    if signed_flushes[flush_index, 0] >= high_strength:
                        break
                elif signed_flushes[flush_index, 0] < high_strength:
                    break
                if (signed_flushes[flush_index, 1] < low_strength) == (is_loss_pass == 0):
                    # every subset of the ranks that the bank's flush does not use, by counting down
                    free_ranks = 8191 & ~signed_flushes[flush_index, 2]
                    subset = free_ranks
                    while True:
                        table[subset, signed_flushes[flush_index, 3]] += signed_flushes[flush_index, 4]
                        if subset == 0:
                            break
                        subset = (subset - 1) & free_ranks
                flush_index += 1 if is_loss_pass == 0 else -1
            # multiply by the choices of the bank's other cards among those left in the three other suits
            hand_count = 0
            joker_cases = 1 if card_counts_by_pattern[pattern_row, 13] else 2
            for joker in range(joker_cases):
                other_index = joker * other_cards_count
                for a in range(13):
                    cards_left = 3 - card_counts_by_pattern[pattern_row, a] + (suit_ranks >> a & 1)
                    hand_count += cards_left * (cards_left - 1) // 2 * table[suit_ranks, other_index]
                    other_index += 1
                    for b in range(a + 1, 13):
                        other_left = 3 - card_counts_by_pattern[pattern_row, b] + (suit_ranks >> b & 1)
                        hand_count += cards_left * other_left * table[suit_ranks, other_index]
                        other_index += 1
                for a in range(13):
                    cards_left = 3 - card_counts_by_pattern[pattern_row, a] + (suit_ranks >> a & 1)
                    hand_count += cards_left * table[suit_ranks, other_index]
                    other_index += 1
                hand_count += table[suit_ranks, other_index]
            corrections[row, is_loss_pass] = hand_count


def sum_flushless_hands(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    pattern_rows: Ints,
    card_counts_by_pattern: Ints,
    suit_subsets: Ints,
    first_setting_indexes: Ints,
    first_case_indexes: Ints,
    flushless_counts: Ints,
    corrections: Ints,
    win_value: int,
    loss_value: int,
    sums: Ints,
) -> None:
    """Add up wins and losses over all player hands without a flush: set in the best way, and set as the bank does.

    ``pattern_rows`` are the combinations of ranks to process. ``suit_subsets[k]`` has the number of sets of k suits,
    then these sets as bits: for each rank of the hand, one of them is chosen, in every combination. ``sums`` gets four
    numbers: wins and losses with the best setting, then wins and losses if the player sets cards as the bank does.
    """
    chosen_sets = [0] * 8
    counts_of_ranks = [0] * 8
    ranks_by_suit = [0] * 4
    for pattern_index in range(pattern_rows.shape[0]):
        pattern_row = pattern_rows[pattern_index]
        rank_count = 0
        for rank in range(13):
            if card_counts_by_pattern[pattern_row, rank]:
                counts_of_ranks[rank_count] = card_counts_by_pattern[pattern_row, rank]
                chosen_sets[rank_count] = 0
                rank_count += 1
        flush_cards_min = 5 - card_counts_by_pattern[pattern_row, 13]
        while True:
            has_flush = False
            for suit in range(4):
                # bit i is the hand's i-th rank, so the bits are the number of the flush case (see PairCounter)
                rank_bits = 0
                cards_of_suit = 0
                for index in range(rank_count):
                    if suit_subsets[counts_of_ranks[index], 1 + chosen_sets[index]] >> suit & 1:
                        rank_bits |= 1 << index
                        cards_of_suit += 1
                ranks_by_suit[suit] = rank_bits
                has_flush = has_flush or cards_of_suit >= flush_cards_min
            if not has_flush:
                best_value = -(1 << 60)
                best_win_count = 0
                best_loss_count = 0
                for setting_index in range(
                    first_setting_indexes[pattern_row], first_setting_indexes[pattern_row + 1]
                ):
                    win_count = flushless_counts[setting_index, 0]
                    loss_count = flushless_counts[setting_index, 1]
                    for suit in range(4):
                        win_count += corrections[first_case_indexes[setting_index] + ranks_by_suit[suit], 0]
                        loss_count += corrections[first_case_indexes[setting_index] + ranks_by_suit[suit], 1]
                    if setting_index == first_setting_indexes[pattern_row]:  # the bank's setting is first
                        sums[2] += win_count
                        sums[3] += loss_count
                    if win_count * win_value - loss_count * loss_value > best_value:
                        best_value = win_count * win_value - loss_count * loss_value
                        best_win_count = win_count
                        best_loss_count = loss_count
                sums[0] += best_win_count
                sums[1] += best_loss_count
            # the next combination of sets of suits
            index = 0
            while index < rank_count:
                chosen_sets[index] += 1
                if chosen_sets[index] < suit_subsets[counts_of_ranks[index], 0]:
                    break
                chosen_sets[index] = 0
                index += 1
            if index == rank_count:
                break


def sum_flush_hands(
    other_kinds: Ints,
    distributions: Ints,
    first_setting_indexes: Ints,
    first_case_indexes: Ints,
    flushless_counts: Ints,
    corrections: Ints,
    win_value: int,
    loss_value: int,
    sums: Ints,
) -> None:
    """Add up wins and losses over all player hands with a flush: set in the best way, and set as the bank does.

    ``other_kinds`` has, for each hand, a number for its cards outside the flush: 0 none, 1 one card, 2 a pair, 3 two
    ranks. ``distributions`` has, for each such number, the ways to distribute these cards over three suits: how many
    distributions are alike, then how many suits hold each part of the cards. ``sums`` is as in
    :func:`sum_flushless_hands`.
    """
    for flush_hand in range(other_kinds.shape[0]):
        for distribution_index in range(distributions.shape[1]):
            equal_hand_count = 4 * distributions[other_kinds[flush_hand], distribution_index, 0]
            if not equal_hand_count:
                continue
            best_value = -(1 << 60)
            best_win_count = 0
            best_loss_count = 0
            for setting_index in range(
                first_setting_indexes[flush_hand], first_setting_indexes[flush_hand + 1]
            ):
                win_count = flushless_counts[setting_index, 0]
                loss_count = flushless_counts[setting_index, 1]
                for part in range(5):
                    suit_count = distributions[other_kinds[flush_hand], distribution_index, 1 + part]
                    win_count += suit_count * corrections[first_case_indexes[setting_index] + part, 0]
                    loss_count += suit_count * corrections[first_case_indexes[setting_index] + part, 1]
                if setting_index == first_setting_indexes[flush_hand]:  # the bank's setting is first
                    sums[2] += equal_hand_count * win_count
                    sums[3] += equal_hand_count * loss_count
                if win_count * win_value - loss_count * loss_value > best_value:
                    best_value = win_count * win_value - loss_count * loss_value
                    best_win_count = win_count
                    best_loss_count = loss_count
            sums[0] += equal_hand_count * best_win_count
            sums[1] += equal_hand_count * best_loss_count

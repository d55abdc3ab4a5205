"""Counts of the dealer hands that each player hand beats, computed for all hands at once (needs numpy, numba).

The dealer's hands are added to a table of counts, from the weakest up. The table has an entry for every set of cards up
to the size of a hand: the number of added hands that hold all these cards. The table is read twice for a player's hand:
when all weaker dealer hands have been added, and when the equal ones have been added too. If the dealer's hand must
qualify with a minimum strength, the table is also read once when all dealer hands below that strength have been added.
Inclusion and exclusion over the player's cards then gives the number of dealer hands that share no card with the
player's. So 134,459 classes of player hands against all dealer hands cost a few hundred million additions instead of
10 ** 11 comparisons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from paytables.cards.subsets import CardSets

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints


@dataclass(frozen=True, slots=True)
class DuelCounts:
    """How many of the dealer's hands are weaker than, or equal to, each of the player's hands.

    There is one row for each of the player's hands, and one column for each card that the dealer may show, or a single
    column if the dealer shows none. The column of a card that the player holds is zero.
    """

    weaker_counts: Ints
    """How many of the dealer's hands are weaker than each of the player's hands."""
    equal_counts: Ints
    """How many of the dealer's hands are equal to each of the player's hands."""
    unqualified_counts: Ints
    """How many of the dealer's hands do not qualify, for each of the player's hands."""


def count_duel_results(
    player_sets: CardSets,
    chosen: Ints,
    strengths: Ints,
    dealer_sets: CardSets,
    dealer_strengths: Ints,
    *,
    is_dealer_card_visible: bool,
    qualifying_strength: int = 0,
) -> DuelCounts:
    """Count the dealer's hands that are weaker than, and equal to, each of the player's hands in ``chosen``.

    ``player_sets`` and ``dealer_sets`` hold all hands of the player and of the dealer. ``strengths`` are the strengths
    of the player hands that ``chosen`` selects, ``dealer_strengths`` those of all dealer hands. With
    ``is_dealer_card_visible`` one of the dealer's cards is visible. The dealer's hand qualifies with a strength of at
    least ``qualifying_strength``.
    """
    deck_size = player_sets.deck_size
    binomial = np.array([[comb(card, k) for k in range(dealer_sets.size + 2)] for card in range(deck_size)])
    # the table has an entry for every set of up to ``dealer_sets.size`` cards; the sets of k cards start at starts[k]
    starts = np.cumsum([0] + [comb(deck_size, size) for size in range(dealer_sets.size + 1)])
    table = np.zeros(starts[-1], dtype=np.int32)
    weakest_first = np.argsort(dealer_strengths, kind="stable")
    hands = dealer_sets.cards_by_set[weakest_first]
    sorted_dealer_strengths = dealer_strengths[weakest_first]
    rows_by_strength = np.argsort(strengths, kind="stable")
    player_hands = player_sets.cards_by_set[chosen]
    columns = deck_size if is_dealer_card_visible else 1
    weaker_counts, weaker_or_equal_counts, unqualified_counts = (
        np.zeros((len(chosen), columns), dtype=np.int64) for _ in range(3)
    )
    count_sets_in_hands, count_disjoint_hands = _compile_kernels()
    counted_hands = 0
    thresholds = (
        np.unique(np.append(strengths, qualifying_strength)) if qualifying_strength else np.unique(strengths)
    )
    for threshold in thresholds:
        below, through = np.searchsorted(sorted_dealer_strengths, [threshold, threshold + 1])
        count_sets_in_hands(hands[counted_hands:below], table, starts, binomial)
        if threshold == qualifying_strength:
            count_disjoint_hands(
                player_hands,
                np.arange(len(player_hands)),
                table,
                starts,
                binomial,
                unqualified_counts,
                is_dealer_card_visible,
            )
        first_row, end_row = np.searchsorted(strengths[rows_by_strength], [threshold, threshold + 1])
        hand_rows = rows_by_strength[first_row:end_row]
        count_disjoint_hands(
            player_hands, hand_rows, table, starts, binomial, weaker_counts, is_dealer_card_visible
        )
        count_sets_in_hands(hands[below:through], table, starts, binomial)
        count_disjoint_hands(
            player_hands, hand_rows, table, starts, binomial, weaker_or_equal_counts, is_dealer_card_visible
        )
        counted_hands = through
    return DuelCounts(weaker_counts, weaker_or_equal_counts - weaker_counts, unqualified_counts)


@cache
def _compile_kernels() -> tuple[Callable[..., None], ...]:
    """Return :func:`_count_sets_in_hands` and :func:`_count_disjoint_hands`, compiled."""
    import numba  # noqa: PLC0415 (laboratory package)

    return tuple(numba.njit(nogil=True)(kernel) for kernel in (_count_sets_in_hands, _count_disjoint_hands))


def _count_sets_in_hands(hands: Ints, table: Ints, starts: Ints, binomial: Ints) -> None:
    """For each hand, add one to the ``table`` entry of every subset of its cards, the empty one included."""
    size = hands.shape[1]
    # for each subset of the hand's cards, as bits: its number among the sets of its size, and its size
    numbers = [0] * (1 << size)
    set_sizes = [0] * (1 << size)
    for row in range(hands.shape[0]):
        table[0] += 1
        for index in range(size):
            card = hands[row, index]
            bit = 1 << index
            for subset in range(bit):  # every subset of the cards below this one
                set_size = set_sizes[subset] + 1
                number = numbers[subset] + binomial[card, set_size]
                set_sizes[subset | bit] = set_size
                numbers[subset | bit] = number
                table[starts[set_size] + number] += 1


def _count_disjoint_hands(  # noqa: C901 (one loop, compiled by numba)
    player_hands: Ints,
    hand_rows: Ints,
    table: Ints,
    starts: Ints,
    binomial: Ints,
    counts: Ints,
    is_card_visible: bool,  # noqa: FBT001
) -> None:
    """Write to ``counts``, for each player hand in ``hand_rows``, how many dealer hands share no card with it.

    Only dealer hands that are in the ``table`` count. With ``is_card_visible`` they are counted separately for each
    visible card that they contain: the card of the column.

    By inclusion and exclusion: the dealer hands that contain a subset of the player's cards (and the visible card) are
    added if the subset has an even number of cards, and subtracted if it has an odd number.
    """
    size = player_hands.shape[1]
    set_size_max = starts.shape[0] - 2
    numbers = [0] * (1 << (size + 1))
    set_sizes = [0] * (1 << (size + 1))
    signs = [0] * (1 << (size + 1))
    for row in hand_rows:
        for column in range(counts.shape[1]):
            if is_card_visible:
                is_own_card = False
                for index in range(size):
                    is_own_card = is_own_card or player_hands[row, index] == column
                if is_own_card:
                    continue
            numbers[0] = 0
            set_sizes[0] = 0
            signs[0] = 1
            total = 0 if is_card_visible else table[0]
            # the bit of the visible card: 0 before it is reached, -1 without one
            visible_bit = 0 if is_card_visible else -1
            index = 0
            step = 0
            step_count = size + 1 if is_card_visible else size
            while step < step_count:
                # the player's cards in ascending order, with the visible card in its place among them
                bit = 1 << step
                card = player_hands[row, index] if index < size else 127  # above every card
                is_up_card = False
                if visible_bit == 0 and column < card:
                    card = column
                    is_up_card = True
                    visible_bit = bit
                else:
                    index += 1
                for subset in range(bit):
                    set_size = set_sizes[subset] + 1
                    set_sizes[subset | bit] = set_size
                    if set_size > set_size_max:
                        numbers[subset | bit] = 0
                        continue
                    number = numbers[subset] + binomial[card, set_size]
                    numbers[subset | bit] = number
                    signs[subset | bit] = signs[subset] if is_up_card else -signs[subset]
                    if not is_card_visible or (visible_bit > 0 and (subset | bit) & visible_bit):
                        total += signs[subset | bit] * table[starts[set_size] + number]
                step += 1
            counts[row, column] = total

"""The exact distribution of the blackjack dealer's final totals, counted for laboratory use (needs numpy).

The dealer's hands are enumerated as counts of cards, each with the number of orders that lead to it; the
number of ways to draw one from a shoe is a product of falling factorials. Example: two sixes and a nine come from a
shoe with 24 cards of each value in 24 * 23 * 24 ways for each order.

numpy counts the ways in 63 bits. Whether this is enough is checked first for the full shoe, with Python's integers; if
further cards are removed, there are only fewer ways.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from paytables.blackjack.hands import ShoeCounts
from paytables.blackjack.schema import (
    ACE_VALUE,
    BEST_HAND_TOTAL,
    TEN_VALUE,
    AnalysedHouseRules,
    compute_best_total,
    is_blackjack,
)
from paytables.errors import AnalysisError

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints

#: The number of the dealer's results: the totals 17 to 21, and bust.
DEALER_RESULT_COUNT: Final = 6
#: The number of classes of a player's standing hand: 16 and less, and each of 17 to 21.
STAND_CLASS_COUNT: Final = 6
#: The number of cards of each value: index 0 for the ace, index 9 for ten.
CardCounts = tuple[int, ...]


def compute_falling_factorial(number: int, times: int) -> int:
    """Return the product number * (number - 1) * ... of ``times`` factors."""
    return prod(range(number, number - times, -1))


def list_final_hands(
    house: AnalysedHouseRules, up_card_value: int, counts_after_up_card: ShoeCounts
) -> list[tuple[CardCounts, int, int]]:
    """Return every final hand of the dealer that may follow an up card of this value, except a blackjack.

    ``counts_after_up_card`` are the cards of the shoe without the up card. Each hand is: the counts of the cards drawn,
    the number of orders in which they can be drawn, and the result (0 to 4 for the totals 17 to 21, 5 for a bust).
    """
    order_count_by_hand_and_result: dict[tuple[CardCounts, int], int] = defaultdict(int)
    unfinished_hands: dict[CardCounts, int] = {(0,) * TEN_VALUE: 1}
    while unfinished_hands:
        still_unfinished: dict[CardCounts, int] = defaultdict(int)
        for drawn_counts, order_count in unfinished_hands.items():
            for index in (i for i in range(TEN_VALUE) if drawn_counts[i] < counts_after_up_card[i]):
                drawn_after = (*drawn_counts[:index], drawn_counts[index] + 1, *drawn_counts[index + 1 :])
                values = [
                    up_card_value,
                    *(v + 1 for v, count in enumerate(drawn_after) for _ in range(count)),
                ]
                if is_blackjack(values):
                    continue
                result = min(compute_best_total(values)[0], BEST_HAND_TOTAL + 1) - 17
                if house.should_dealer_draw(values):
                    still_unfinished[drawn_after] += order_count
                else:
                    order_count_by_hand_and_result[drawn_after, result] += order_count
        unfinished_hands = still_unfinished
    return [
        (drawn_counts, order_count, result)
        for (drawn_counts, result), order_count in order_count_by_hand_and_result.items()
    ]


class DealerFinalHands:
    """The dealer's final hands after one up card, and the player's net result of standing against them.

    The net result is also computed for shoes from which further cards are missing. It counts ordered draws of
    ``drawn_cards_max`` cards (of all cards if the shoe has fewer): those in which the player wins, minus those in which
    the player loses.
    """

    def __init__(self, house: AnalysedHouseRules, up_card_value: int, shoe: ShoeCounts) -> None:
        self.counts_after_up_card = tuple(
            count - (value == up_card_value) for value, count in enumerate(shoe, 1)
        )
        """The number of cards of each value in the full shoe without the dealer's up card."""
        self.final_hands = list_final_hands(house, up_card_value, self.counts_after_up_card)
        """The final hands: the cards drawn, the number of orders of drawing them, and the result."""
        self.drawn_cards_max = max(sum(drawn) for drawn, _, _ in self.final_hands)
        """The largest number of cards that the dealer can draw after the up card."""
        self.blackjack_card_value = {ACE_VALUE: TEN_VALUE, TEN_VALUE: ACE_VALUE}.get(up_card_value)
        """The card value that makes a blackjack with the dealer's up card, or None."""
        factor_count_limit = max(3, 1 + max(max(drawn) for drawn, _, _ in self.final_hands))
        self._falling_factorials = np.zeros(
            (factor_count_limit, max(self.counts_after_up_card) + 1), dtype=np.int64
        )
        """The falling factorials, by number of cards drawn and number of cards available."""
        for times in range(factor_count_limit):
            for number in range(max(self.counts_after_up_card) + 1):
                factorial = compute_falling_factorial(number, times)
                self._falling_factorials[times, number] = factorial if factorial < 1 << 63 else -1
        way_count_by_length: dict[int, int] = defaultdict(int)
        for drawn_counts, order_count, _ in self.final_hands:
            value_ways = [
                compute_falling_factorial(self.counts_after_up_card[index], times)
                for index, times in enumerate(drawn_counts)
            ]
            way_count_by_length[sum(drawn_counts)] += order_count * prod(value_ways)
        if max(way_count_by_length.values()) >= 1 << 63:
            raise AnalysisError("blackjack: the dealer's hands are too many to be counted in 63 bits")

    def compute_standing_nets(self, removed_counts: Ints, stand_classes: Ints) -> list[int]:
        """Return the net result of standing, wins minus losses in ordered draws, for each row of ``removed_counts``.

        A row counts the cards that are missing from the shoe in addition to the dealer's up card, by card
        value. ``stand_classes`` has the class of the player's total for each row (0 to ``STAND_CLASS_COUNT`` - 1).
        Rounds in which the dealer has a blackjack are not counted.
        """
        remaining_cards = np.array(self.counts_after_up_card, dtype=np.int64) - removed_counts
        if (remaining_cards < 0).any():
            raise AnalysisError("blackjack: more cards are removed from the shoe than it contains")
        way_counts = np.zeros(
            (DEALER_RESULT_COUNT, self.drawn_cards_max + 1, len(remaining_cards)), dtype=np.int64
        )
        columns = [np.ascontiguousarray(column) for column in remaining_cards.T]
        # most hands draw at most two cards of a value, so these falling factorials are looked up once
        factorials_up_to_two = [
            [self._falling_factorials[times][column] for times in range(3)] for column in columns
        ]
        for drawn_counts, order_count, result in self.final_hands:
            dealer_ways = None
            for index, times in enumerate(drawn_counts):
                if times:
                    value_ways = (
                        factorials_up_to_two[index][times]
                        if times < 3
                        else self._falling_factorials[times][columns[index]]
                    )
                    dealer_ways = (
                        value_ways * order_count if dealer_ways is None else dealer_ways * value_ways
                    )
            way_counts[result, sum(drawn_counts)] += dealer_ways
        cards_left = remaining_cards.sum(axis=1)
        return self._count_wins_minus_losses(way_counts, cards_left, stand_classes)

    def _count_wins_minus_losses(self, way_counts: Ints, cards_left: Ints, stand_classes: Ints) -> list[int]:
        """Return the player's wins minus losses for each row of removed cards, over all dealer hands.

        ``way_counts[result, length]`` are the ways to draw the dealer's hands with a result and a number of cards, for
        each row.
        ``cards_left`` is the number of cards left in the shoe, for each row.
        """
        differences: Ints = np.zeros(len(cards_left), dtype=object)
        shoe_sizes = sorted(set(cards_left.tolist()))
        shoe_size_indexes = np.searchsorted(np.array(shoe_sizes), cards_left)
        for length in range(1, self.drawn_cards_max + 1):
            continuation_ways = [
                compute_falling_factorial(shoe_size - length, min(self.drawn_cards_max, shoe_size) - length)
                for shoe_size in shoe_sizes
            ]
            weights = np.array(continuation_ways, dtype=object)[shoe_size_indexes]
            for stand_class in range(STAND_CLASS_COUNT):
                rows_of_class = np.flatnonzero(stand_classes == stand_class)
                ways_of_result = way_counts[:, length, rows_of_class]
                # result r of the dealer ties with class r + 1: the dealer loses with a lower total or a bust
                net = (
                    ways_of_result[: max(stand_class - 1, 0)].sum(axis=0)
                    + ways_of_result[DEALER_RESULT_COUNT - 1]
                    - ways_of_result[stand_class : DEALER_RESULT_COUNT - 1].sum(axis=0)
                )
                differences[rows_of_class] += net.astype(object) * weights[rows_of_class]
        return list(differences.tolist())

"""Exact results of every hold of every deal of a video poker game, and the best and worst holds (needs numba).

A pay table gives each of the 2,598,960 hands (2,869,685 with a joker) its prize. Deals that differ in suits only form a
class; one deal of each of the 134,459 classes (150,891) is evaluated. The result of each of its 32 holds is a sum over
all hands that contain the held cards but none of the discarded ones, by inclusion and exclusion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, lcm
from typing import TYPE_CHECKING, Final

import numpy as np

from paytables.cards.subsets import CardSets, build_sets
from paytables.errors import AnalysisError
from paytables.poker.pays import find_pay_row, parse_rank_range
from paytables.poker.policy import POLICY_HAND_CARD_COUNT
from paytables.poker.video.schema import HoldRule, SimpleStrategy, VideoPokerDefinition

if TYPE_CHECKING:
    from paytables.cards.arrays import Bools, Ints

#: How many low bits of a strength are below its combination and its first two deciding ranks.
BITS_BELOW_TWO_DECIDING_RANKS: Final = 12
#: How many low bits of a strength are below its combination.
BITS_BELOW_COMBINATION: Final = 20
#: The number of pairs of equal rank among the held cards, by the sizes of their sets (``sets`` of a hold rule). Three
#: of a kind contain three pairs.
PAIR_COUNT_BY_SETS: Final = {"none": 0, "2": 1, "2-2": 2, "3": 3, "4": 6}
#: The ranks of every straight, as bits.
STRAIGHT_RANK_MASKS: Final = (0b1000000001111, *(0b11111 << low for low in range(9)))


@dataclass(frozen=True, slots=True)
class HeldSubset:
    """For one of the 32 ways to hold cards: the properties of the held cards and their deal, for every class of deals.

    Each property is an array with an element for each class of deals.
    """

    ranks: Ints
    """The ranks of the cards that are not wild, as bits."""
    suits: Ints
    """The suits of the cards that are not wild, as bits."""
    pair_counts: Ints
    """The number of pairs of equal rank among the cards that are not wild."""
    deal_wild_counts: Ints
    """The number of wild cards in the whole deal."""
    holds_all_wilds: Bools
    """Whether these cards include every wild card of the deal."""

    def find_matching_deals(self, line: HoldRule, classes: Ints) -> Bools:
        """Return, for each of the deals ``classes``, whether holding these cards fits a line of a simple strategy."""
        is_match: Bools = self.holds_all_wilds[classes]
        ranks = self.ranks[classes]
        if line.dealt_wild_count is not None:
            is_match = is_match & (self.deal_wild_counts[classes] == line.dealt_wild_count)
        if not line.dealt_categories:
            is_match = is_match & (self.pair_counts[classes] == PAIR_COUNT_BY_SETS[line.held_sets])
        if line.is_suited:  # at most one bit
            is_match = is_match & (self.suits[classes] & (self.suits[classes] - 1) == 0)
        if line.rank_range is not None:
            is_match = is_match & (ranks & ~sum(1 << rank for rank in parse_rank_range(line.rank_range)) == 0)
        if line.is_consecutive:  # adding the lowest bit to consecutive bits carries through all of them
            is_match = is_match & (ranks & (ranks + (ranks & -ranks)) == 0)
        if line.straight_count_min:
            straights = [(ranks & ~straight == 0).astype(np.int64) for straight in STRAIGHT_RANK_MASKS]
            is_match = is_match & (np.sum(straights, axis=0) >= line.straight_count_min)
        return is_match


class HoldEvaluation:
    """The calculation of all 32 ways to hold cards in every deal of a video poker game.

    The pay-table row that each hand wins is computed once; bets only differ in what the rows pay.
    """

    def __init__(self, definition: VideoPokerDefinition) -> None:
        self.definition = definition
        self.sets: CardSets = build_sets(53 if definition.deck.has_joker else 52, POLICY_HAND_CARD_COUNT)
        """All hands of five cards of the deck."""
        self.deals, self.deals_per_class = self.sets.suit_classes_and_sizes
        """The set number of one deal of each class of deals that differ in suits only, and the class sizes."""
        undealt_count = self.sets.deck_size - POLICY_HAND_CARD_COUNT
        draw_count_by_mask = [
            comb(undealt_count, POLICY_HAND_CARD_COUNT - mask.bit_count())
            for mask in range(1 << POLICY_HAND_CARD_COUNT)
        ]
        self.unit = lcm(*draw_count_by_mask)
        """The number of parts into which a credit is divided, so that the mean win of every hold is a whole number."""
        self.scale = np.array([self.unit // count for count in draw_count_by_mask], dtype=np.int64)
        """The weight of one completed hand for each of the 32 holds: ``unit`` divided by the hold's number of draws."""

    @cached_property
    def strengths(self) -> Ints:
        """Return the strength of every hand of five cards, as an array."""
        return self.sets.compute_strengths(self.definition.deck.ranking_rules)

    @cached_property
    def pay_row_by_hand(self) -> Ints:
        """Return the index of the pay-table row that every hand of five cards wins.

        A hand that wins nothing has the number of rows as its index.
        """
        order = self.definition.deck.ranking_rules
        wild_counts: Ints = (
            self.sets.count_wilds(order)[0] if order.wild_ranks else np.zeros(1, dtype=np.int8)
        )
        keys = (
            self.strengths >> BITS_BELOW_TWO_DECIDING_RANKS
        ) * 8 + wild_counts  # rows depend on nothing else of a strength
        row_by_key = np.full(keys.max() + 1, len(self.definition.pay_rows), dtype=np.int8)
        for key in np.flatnonzero(np.bincount(keys)).tolist():
            row = find_pay_row(
                self.definition.pay_rows, key >> 3 << BITS_BELOW_TWO_DECIDING_RANKS, key & 7, order
            )
            row_by_key[key] = len(self.definition.pay_rows) if row is None else row
        row_by_hand: Ints = row_by_key[keys]
        return row_by_hand

    @cached_property
    def winning_hand_counts(self) -> list[list[Ints]]:
        """Return, for each pay-table row, how many winning hands of that row contain a given set of cards.

        An item of a row's list is an array over all sets of 0, 1, 2 ... 5 cards; see
        :meth:`CardSets.sum_over_supersets`.
        """
        return [
            self.sets.sum_over_supersets(self.pay_row_by_hand == row)
            for row in range(len(self.definition.pay_rows))
        ]

    def compute_mean_wins(self, pays: Sequence[int]) -> Ints:
        """Return the mean win of each of the 32 holds (rows) in each class of deals (columns), in ``1 / unit`` credits.

        ``pays`` has the credits of each row of the pay table.
        """
        tables: list[Ints] = [
            np.sum(
                [pay * table[size] for pay, table in zip(pays, self.winning_hand_counts, strict=True)], axis=0
            )
            for size in range(POLICY_HAND_CARD_COUNT)
        ]
        tables.append(np.array([*pays, 0], dtype=np.int64)[self.pay_row_by_hand])
        return self.sets.sum_over_holds(tables, self.deals) * self.scale[:, None]

    def evaluate_holds(self, mean_wins: Ints, masks: Ints) -> tuple[tuple[Fraction, ...], Fraction]:
        """Return the results of a strategy that holds the cards in ``masks`` (bits of indices) in each class of deals.

        The tuple has the probability of each row of the pay table. The fraction is the mean, over all deals, of the
        squared mean win of a deal. ``mean_wins`` is what :meth:`compute_mean_wins` returns.
        """
        total = self.unit * self.sets.count
        winning_draws = self.sets.sum_over_draws(self.winning_hand_counts, self.deals, masks) * (
            self.scale[masks] * self.deals_per_class
        )
        rates = tuple(Fraction(sum(row.tolist()), total) for row in winning_draws)
        means, mean_indexes = np.unique(mean_wins[masks, np.arange(len(masks))], return_inverse=True)
        deal_counts = np.zeros(len(means), dtype=np.int64)
        np.add.at(deal_counts, mean_indexes, self.deals_per_class)
        sum_of_squares = sum(
            mean**2 * deal_count
            for mean, deal_count in zip(means.tolist(), deal_counts.tolist(), strict=True)
        )
        return rates, Fraction(sum_of_squares, self.unit**2 * self.sets.count)

    def select_cards_held_by(self, strategy: SimpleStrategy) -> Ints:
        """Return which cards a simple strategy holds in each class of deals, as bits of indices.

        Raises :class:`AnalysisError` if some deal fits no line of the strategy.
        """
        order = self.definition.deck.ranking_rules
        categories = self.strengths[self.deals] >> BITS_BELOW_COMBINATION
        masks = np.full(len(self.deals), -1, dtype=np.int64)
        for line in strategy.hold_rules:
            undecided_classes = np.flatnonzero(masks < 0)
            if line.dealt_categories:
                undecided_classes = undecided_classes[
                    np.isin(
                        categories[undecided_classes],
                        [order.categories[::-1].index(name) for name in line.dealt_categories],
                    )
                ]
            lowest_ranks = np.full(len(undecided_classes), 1 << 13, dtype=np.int64)
            for mask in (
                mask
                for mask in range(1 << POLICY_HAND_CARD_COUNT)
                if mask.bit_count() == line.held_card_count
            ):
                ranks = self.held_subsets[mask].ranks[undecided_classes]
                is_match = self.held_subsets[mask].find_matching_deals(line, undecided_classes) & (
                    ranks < lowest_ranks
                )
                masks[undecided_classes[is_match]] = mask
                lowest_ranks[is_match] = ranks[is_match]
        if masks.min() < 0:
            raise AnalysisError(
                f"{self.definition.game.id}: {strategy.name.en}: some deals match no line of the strategy"
            )
        return masks

    @cached_property
    def held_subsets(self) -> list[HeldSubset]:
        """Return the properties of each of the 32 subsets of a deal's cards.

        The index in the list has a bit for each card: index 5 (bits 101) is the first and the third card.
        """
        wild_ranks = self.definition.deck.ranking_rules.wild_ranks
        cards = self.sets.cards_by_set[self.deals].astype(np.int64).T
        is_natural = ~np.isin(cards >> 2, wild_ranks)
        ranks = np.where(is_natural, 1 << (cards >> 2), 0)
        suits = np.where(is_natural, 1 << (cards & 3), 0)
        is_pair = {
            (a, b): (is_natural[a] & (ranks[a] == ranks[b])).astype(np.int8)
            for a, b in combinations(range(POLICY_HAND_CARD_COUNT), 2)
        }
        zero = np.zeros((1, len(self.deals)), dtype=np.int64)
        held_subsets = []
        for mask in range(1 << POLICY_HAND_CARD_COUNT):
            held_indexes = [index for index in range(POLICY_HAND_CARD_COUNT) if mask >> index & 1]
            other_indexes = [index for index in range(POLICY_HAND_CARD_COUNT) if index not in held_indexes]
            held_subsets.append(
                HeldSubset(
                    np.bitwise_or.reduce([*zero, *ranks[held_indexes]]),
                    np.bitwise_or.reduce([*zero, *suits[held_indexes]]),
                    np.sum([*zero, *(is_pair[pair] for pair in combinations(held_indexes, 2))], axis=0),
                    (~is_natural).sum(axis=0),
                    np.logical_and.reduce(is_natural[other_indexes], axis=0),
                )
            )
        return held_subsets

    def compute_mean(self, mean_wins: Ints, masks: Ints) -> Fraction:
        """Return the mean win per hand, in credits, over all deals, of the strategy in ``masks``.

        ``masks`` has one number for each class of deals: its bit *i* is set if the card with index *i* is held.
        ``mean_wins`` is what :meth:`compute_mean_wins` returns.
        """
        wins = mean_wins[masks, np.arange(len(masks))] * self.deals_per_class
        return Fraction(sum(wins.tolist()), self.unit * self.sets.count)

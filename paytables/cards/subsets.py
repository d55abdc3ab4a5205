"""Every hand of a deck at once, and sums over the hands that contain given cards, for laboratories (numpy).

Sets of k cards are in colexicographic order: {c1 < c2 < ... < ck} has the number C(c1, 1) + ... + C(ck, k).
So the sets whose highest card is m are consecutive, in the order of the sets of k - 1 cards below m; every
property of a set follows from the set without its highest card, for all of them at once. Example: the sets of two
cards are numbered {0, 1}, {0, 2}, {1, 2}, {0, 3}..., and {1, 2} has the number C(1, 1) + C(2, 2) = 2. A cabinet does
not import this module, because it imports numpy.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from paytables.cards.card import JOKER, get_rank
from paytables.cards.ranking import JOKER_RANK, HandRanking, RankingRules

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints


class CardSets:
    """Arrays over every set of ``size`` cards of a deck of ``deck_size`` cards (52, or 53 with the joker).

    A set's number is its index in each array.
    """

    def __init__(self, deck_size: int, set_size: int) -> None:
        self.deck_size, self.size = deck_size, set_size
        self.count = comb(deck_size, set_size)
        """The number of sets."""

    @cached_property
    def smaller_sets(self) -> CardSets:
        """Return the arrays for sets of one card fewer from the same deck."""
        return build_sets(self.deck_size, self.size - 1)

    @cached_property
    def highest_card(self) -> Ints:
        """Return the highest card of each set of cards, as an array."""
        set_counts = [comb(card, self.size - 1) for card in range(self.deck_size)]
        return np.repeat(np.arange(self.deck_size, dtype=np.int8), set_counts)

    @cached_property
    def index_without_highest_card(self) -> Ints:
        """Return, for each set of cards, the index of the set without its highest card."""
        runs = [np.arange(comb(card, self.size - 1), dtype=np.int32) for card in range(self.deck_size)]
        return np.concatenate(runs)

    @cached_property
    def index_without_each_card(self) -> tuple[Ints, ...]:
        """Return one array per card of a set, lowest first: the index of each set without that card."""
        first_index_by_card = np.array(
            [comb(card, self.size - 1) for card in range(self.deck_size)], dtype=np.int32
        )
        if self.size == 1:
            return (self.index_without_highest_card,)
        return (
            *(
                first_index_by_card[self.highest_card] + smaller_indexes[self.index_without_highest_card]
                for smaller_indexes in self.smaller_sets.index_without_each_card
            ),
            self.index_without_highest_card,
        )

    @cached_property
    def suit_masks(self) -> Ints:
        """Return the ranks of each set of cards as bits, 13 per suit, clubs lowest. The joker has no bit."""
        if not self.size:
            return np.zeros(1, dtype=np.int64)
        bits = [1 << (card % 4 * 13 + card // 4) if card != JOKER else 0 for card in range(self.deck_size)]
        return (
            self.smaller_sets.suit_masks[self.index_without_highest_card]
            | np.array(bits, dtype=np.int64)[self.highest_card]
        )

    @cached_property
    def cards_by_set(self) -> Ints:
        """Return the cards of each set, ascending, as the rows of an array."""
        if not self.size:
            return np.zeros((1, 0), dtype=np.int8)
        return np.hstack(
            [self.smaller_sets.cards_by_set[self.index_without_highest_card], self.highest_card[:, None]]
        )

    @cached_property
    def suit_classes_and_sizes(self) -> tuple[Ints, Ints]:
        """Return one set of each class of sets that differ only by an exchange of suits, and the class sizes.

        The chosen set has its suits in ascending order of their bits.
        """
        masks = [self.suit_masks >> 13 * suit & 8191 for suit in range(4)]
        chosen_sets = np.flatnonzero((masks[0] <= masks[1]) & (masks[1] <= masks[2]) & (masks[2] <= masks[3]))
        is_same_mask = [masks[n][chosen_sets] == masks[n + 1][chosen_sets] for n in range(3)]
        class_sizes = np.full(len(chosen_sets), 24, dtype=np.int64)
        class_sizes[is_same_mask[0]] //= 2
        class_sizes[is_same_mask[1]] //= 2
        class_sizes[is_same_mask[2]] //= 2
        class_sizes[is_same_mask[0] & is_same_mask[1]] = 4  # three suits alike: 24 / 3!
        class_sizes[is_same_mask[1] & is_same_mask[2]] = 4
        class_sizes[is_same_mask[0] & is_same_mask[2] & ~is_same_mask[1]] = 6
        class_sizes[is_same_mask[0] & is_same_mask[1] & is_same_mask[2]] = 1
        return chosen_sets, class_sizes

    @cached_property
    def suit_class_by_set(self) -> Ints:
        """Return, for each set of cards, the index in :attr:`suit_classes_and_sizes` of its class."""
        chosen_sets, _ = self.suit_classes_and_sizes
        parts = np.stack([self.suit_masks >> 13 * suit & 8191 for suit in range(4)], axis=1)
        parts.sort(axis=1)
        class_keys = parts[:, 0] | parts[:, 1] << 13 | parts[:, 2] << 26 | parts[:, 3] << 39
        if self.deck_size > JOKER:
            class_keys = class_keys << 1 | (self.highest_card == JOKER)
        known_keys = class_keys[chosen_sets]
        order = np.argsort(known_keys)
        class_by_set: Ints = order[np.searchsorted(known_keys[order], class_keys)]
        return class_by_set

    def compute_strengths(self, ranking_rules: RankingRules) -> Ints:
        """Return the poker strength of each set of cards; if a set has more cards than a hand, of its best hand."""
        ranking = HandRanking(ranking_rules)
        states, rank_combinations = self._rank_combinations
        best_strengths = np.array(
            [ranking.compute_strength_without_flushes(combination) for combination in rank_combinations],
            dtype=np.int32,
        )[states]
        if not any("flush" in name for name in ranking_rules.categories):
            return best_strengths
        wild_counts, wild_rank_mask = self.count_wilds(ranking_rules)
        wilds_max = int(wild_counts.max())
        # the strength of a flush by number of wild cards and ranks of one suit as bits
        flush_strengths = np.zeros((wilds_max + 1, 8192), dtype=np.int32)
        for wild_count in range(wilds_max + 1):
            rank_masks = [
                mask
                for mask in range(8192)
                if ranking_rules.hand_size - wild_count <= mask.bit_count() <= self.size - wild_count
            ]
            flush_strengths[wild_count, rank_masks] = [
                ranking.compute_flush_strength(mask, wild_count) for mask in rank_masks
            ]
        for suit in range(4):
            masks = self.suit_masks >> 13 * suit & (8191 & ~wild_rank_mask)
            np.maximum(best_strengths, flush_strengths[wild_counts, masks], out=best_strengths)
        return best_strengths

    def count_wilds(self, ranking_rules: RankingRules) -> tuple[Ints, int]:
        """Return the number of wild cards in each set, and the order's wild ranks as bits, without the joker."""
        wild_count_by_card = np.array(
            [(card >> 2) in ranking_rules.wild_ranks for card in range(self.deck_size)], dtype=np.int8
        )
        wild_counts = np.zeros(1, dtype=np.int8)
        for size in range(1, self.size + 1):
            card_sets = build_sets(self.deck_size, size)
            wild_counts = (
                wild_counts[card_sets.index_without_highest_card] + wild_count_by_card[card_sets.highest_card]
            )
        return wild_counts, sum(1 << rank for rank in ranking_rules.wild_ranks if rank != JOKER_RANK)

    @cached_property
    def _rank_combinations(self) -> tuple[Ints, list[tuple[int, ...]]]:
        """Return, for each set of cards, the index of its combination of ranks, and the list of these combinations."""
        steps, combinations = build_rank_steps(self.size, get_rank(self.deck_size - 1) + 1)
        if not self.size:
            return np.zeros(1, dtype=np.int32), combinations
        smaller_indexes, _ = self.smaller_sets._rank_combinations  # noqa: SLF001 (another object of this class)
        return steps[-1][
            smaller_indexes[self.index_without_highest_card], self.highest_card >> 2
        ], combinations

    def sum_over_supersets(self, values: Ints) -> list[Ints]:
        """Return, for each smaller set of cards, the sum of ``values`` over the sets that contain it.

        Element k of the result has the sums for the sets of k cards, by their number.
        """
        tables: list[Ints] = [values.astype(np.int64)]
        card_sets = self
        while card_sets.size:
            table = tables[-1]
            used_indexes = np.flatnonzero(table)
            rows: Ints | slice = used_indexes if 2 * len(used_indexes) < card_sets.count else slice(None)
            smaller_sums = np.zeros(card_sets.smaller_sets.count, dtype=np.int64)
            for smaller_set_index in card_sets.index_without_each_card:
                # Sums below 2 ** 53 are exact in the floats that bincount adds.
                smaller_sums += np.bincount(
                    smaller_set_index[rows], table[rows], card_sets.smaller_sets.count
                ).astype(np.int64)
            # a set that contains the smaller set was added once for each of its other cards
            tables.append(smaller_sums // (self.size - card_sets.size + 1))
            card_sets = card_sets.smaller_sets
        return tables[::-1]

    def find_held_set_indexes(self, chosen_hands: Ints, held_mask: int) -> Ints:
        """Return, for each chosen hand, the index of the set of its held cards.

        Bit n of ``held_mask`` says that the n-th lowest card of the hand is held.
        """
        set_indexes = np.zeros(len(chosen_hands), dtype=np.int64)
        cards = self.cards_by_set[chosen_hands]
        for held_count, index in enumerate(
            [index for index in range(self.size) if held_mask >> index & 1], 1
        ):
            binomials = np.array([comb(card, held_count) for card in range(self.deck_size)])
            set_indexes += binomials[cards[:, index]]
        return set_indexes

    def sum_over_holds(self, tables: list[Ints], chosen_hands: Ints) -> Ints:
        """Return, for each way to hold cards of each chosen hand, the sum of values over the final hands.

        Row ``mask`` (bit n: the n-th lowest card is held) sums over the hands of :attr:`size` cards that
        contain the held cards and none of the discarded ones, by inclusion and exclusion. ``tables`` come
        from :meth:`sum_over_supersets`.
        """
        rows = np.empty((1 << self.size, len(chosen_hands)), dtype=np.int64)
        for mask in range(1 << self.size):
            rows[mask] = tables[mask.bit_count()][self.find_held_set_indexes(chosen_hands, mask)]
        # card after card: from the sums of the masks that discard the card, subtract the hands that contain it
        for index in range(self.size):
            for mask in range(1 << self.size):
                if not mask >> index & 1:
                    rows[mask] -= rows[mask | 1 << index]
        return rows

    def sum_over_draws(self, tables_by_set: list[list[Ints]], chosen_hands: Ints, held_masks: Ints) -> Ints:
        """Return, for each of several tables, the sum over all final hands that each chosen hand can become by a draw.

        ``held_masks[n]`` has, as bits, the cards that the n-th chosen hand holds. Unlike :meth:`sum_over_holds`,
        only this one way to hold cards of each hand is computed, by inclusion and exclusion over the discarded cards.
        """
        sums = np.zeros((len(tables_by_set), len(chosen_hands)), dtype=np.int64)
        every_card = (1 << self.size) - 1
        for mask in np.unique(held_masks).tolist():
            mask_indexes = np.flatnonzero(held_masks == mask)
            for larger_mask in range(mask, every_card + 1):
                if larger_mask & mask == mask:
                    sign = -1 if (larger_mask ^ mask).bit_count() % 2 else 1
                    held_set_indexes = self.find_held_set_indexes(chosen_hands[mask_indexes], larger_mask)
                    for row, tables in zip(sums, tables_by_set, strict=True):
                        row[mask_indexes] += sign * tables[larger_mask.bit_count()][held_set_indexes]
        return sums


@lru_cache(maxsize=16)
def build_rank_steps(rank_count: int, different_rank_count: int) -> tuple[list[Ints], list[tuple[int, ...]]]:
    """Return the steps by which ranks are added to a hand one by one, and every combination of ``rank_count`` ranks.

    ``steps[k][state, rank]`` is the state of k + 1 cards that follows a state of k cards, whatever the order
    of the cards. A state of ``rank_count`` cards is its index in the list of combinations. There are four cards of
    a rank, and one joker.
    """
    steps: list[Ints] = []
    combinations: list[tuple[int, ...]] = [()]
    for _ in range(rank_count):
        step = np.zeros((len(combinations), different_rank_count), dtype=np.int32)
        index_by_combination: dict[tuple[int, ...], int] = {}
        for n, combination in enumerate(combinations):
            for rank in range(different_rank_count):
                if combination.count(rank) < (1 if rank == JOKER_RANK else 4):
                    step[n, rank] = index_by_combination.setdefault(
                        tuple(sorted((*combination, rank))), len(index_by_combination)
                    )
        steps.append(step)
        combinations = list(index_by_combination)
    return steps, combinations


@lru_cache(maxsize=16)
def build_sets(deck_size: int, set_size: int) -> CardSets:
    """Return the sets of ``set_size`` cards of a deck of ``deck_size`` cards; each is created only once."""
    return CardSets(deck_size, set_size)

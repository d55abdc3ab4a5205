"""The exact solution of pai gow poker: every hand, in every setting, against every hand of the bank.

For laboratories. 154,143,080 hands against 53,524,680 each are too many to enumerate, but suits matter in
flushes only. So:

* First the hands are compared by ranks alone, as if there were no flushes: 67,600 patterns of the bank with as
  many of the player, each counted in the number of ways in which its cards can still be in the deck.
* Then the bank's hands with five cards of a suit (four with the joker) are corrected: each is added at its true
  strength, and subtracted at its strength by ranks alone. The corrections depend, suit by suit, on the player's
  ranks in that suit and on how many of the player's other cards are of each rank (:class:`FlushPatterns`).

The counts are exact integers. A deck of fewer ``ranks`` is solved in the same way. With a deck so small that all
pairs of hands can be compared, the method is verified by brute force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Final

import numpy as np

from paytables.cards import JOKER
from paytables.cards.ranking import JOKER_RANK
from paytables.contract import Json
from paytables.poker.paigow.hands import (
    CARDS_PER_HAND,
    HIGH_HAND_RANKING,
    LOW_HAND_RANKING,
    HouseWayRules,
    list_settings,
    list_settings_by_strength,
)
from paytables.poker.paigow.kernels import (
    compile_kernel,
    correct_for_flushes,
    count_bank_hands_by_ranks,
    count_hands_beaten,
    sum_flush_hands,
    sum_flushless_hands,
)
from paytables.poker.paigow.schema import PaiGowPokerDefinition, ProvedFigures
from paytables.poker.proof import format_fraction
from paytables.poker.two_hands import HandSetting, WinPushLoseChances

if TYPE_CHECKING:
    from typing import TypeAlias

    from paytables.cards.arrays import Ints

    #: ``map``, or the ``map`` of a thread pool.
    ParallelMap: TypeAlias = Callable[..., Iterator[tuple[Ints, ...]]]

#: Every rank of a deck.
ALL_RANKS: Final = tuple(range(13))
#: The ranks of the other cards of a hand with a flush, the joker left out: two ranks, one, or none.
OTHER_CARDS_OF_FLUSH: Final = (
    *combinations_with_replacement(ALL_RANKS, 2),
    *((rank,) for rank in ALL_RANKS),
    (),
)


@dataclass(frozen=True)
class RankPatterns:
    """All pai gow poker hands of seven cards by their ranks alone, one row for each combination of ranks."""

    card_counts: Ints
    """The number of cards of each rank, by row; the last column is the joker."""
    bank_hands: Ints
    """The strengths of the low and the high hand that the bank makes of these ranks, by row."""
    unsurpassed_settings: list[list[HandSetting]]
    """For each row, the bank's setting and those that no other setting beats in both hands."""
    row_by_ranks: dict[tuple[int, ...], int]
    """The row of each combination of ranks, by the ranks of its cards in ascending order."""


@dataclass(frozen=True)
class FlushPatterns:
    """All pai gow poker hands of seven cards with five cards of a suit, or four with the joker.

    Each field has one element or row for each hand.
    """

    flush_rank_masks: Ints
    """The ranks of the cards in the flush suit, as bits."""
    other_cards_indexes: Ints
    """The index in ``OTHER_CARDS_OF_FLUSH`` of the ranks outside the flush; a joker adds the list's length to it."""
    pattern_rows: Ints
    """The row in :class:`RankPatterns` with the same ranks."""
    bank_hands: Ints
    """The strengths of the low and the high hand as the bank sets these cards."""
    flushless_bank_hands: Ints
    """The strengths of the low and the high hand as the bank would set the cards if flushes did not count."""
    unsurpassed_settings: list[list[HandSetting]] = field(repr=False)
    """For each hand, the bank's setting and those that no other setting beats in both hands."""


def list_unsurpassed_settings(
    all_settings: Sequence[HandSetting], bank_setting: HandSetting
) -> list[HandSetting]:
    """Return ``bank_setting``, then the settings that no other setting beats in both hands.

    ``bank_setting`` is the bank's choice. ``all_settings`` are the possible settings, the best low hand first.
    """
    settings = [bank_setting]
    best_high_strength = -1
    for setting in all_settings:  # the best low hand first, of equal ones that with the better high hand
        if setting.high_strength > best_high_strength:
            best_high_strength = setting.high_strength
            if setting[:2] != bank_setting[:2]:
                settings.append(setting)
    return settings


def list_rank_patterns(house_way: HouseWayRules, ranks: Sequence[int] = ALL_RANKS) -> RankPatterns:
    """Return all combinations of ranks of seven cards, with the bank's setting and the settings worth choosing."""
    compute_high_strength = cache(HIGH_HAND_RANKING.compute_strength_without_flushes)
    rank_sets = [
        ranks_of_hand + joker
        for joker in ((), (JOKER_RANK,))
        for ranks_of_hand in combinations_with_replacement(sorted(ranks), CARDS_PER_HAND - len(joker))
        if max(map(ranks_of_hand.count, ranks_of_hand)) <= 4
    ]
    card_counts = np.zeros((len(rank_sets), 14), dtype=np.int8)
    bank_strengths, unsurpassed_settings = np.zeros((len(rank_sets), 2), dtype=np.int32), []
    for row, ranks_of_hand in enumerate(rank_sets):
        for rank in ranks_of_hand:
            card_counts[row, rank] += 1
        settings = list_settings_by_strength(
            ranks_of_hand,
            LOW_HAND_RANKING.compute_strength_without_flushes,
            lambda cards: compute_high_strength(tuple(cards)),
        )
        bank_setting = house_way.choose_setting_by_ranks(ranks_of_hand, settings)
        bank_strengths[row] = bank_setting[:2]
        unsurpassed_settings.append(list_unsurpassed_settings(settings, bank_setting))
    return RankPatterns(
        card_counts,
        bank_strengths,
        unsurpassed_settings,
        {ranks_of_hand: row for row, ranks_of_hand in enumerate(rank_sets)},
    )


def list_flush_patterns(
    house_way: HouseWayRules, patterns: RankPatterns, ranks: Sequence[int] = ALL_RANKS
) -> FlushPatterns:
    """Return every pai gow poker hand with a flush in one suit; the other suits are symmetric.

    Hands that differ only in the suits of their other cards are listed once.
    """
    flush_rank_masks, other_cards_indexes, pattern_rows, bank_strengths, unsurpassed_settings = (
        [],
        [],
        [],
        [],
        [],
    )
    for joker in (0, 1):
        for n, other_ranks in enumerate(OTHER_CARDS_OF_FLUSH):
            if not set(other_ranks) <= set(ranks):
                continue
            other_cards = [
                rank * 4 + 1 + (k and other_ranks[0] == rank) for k, rank in enumerate(other_ranks)
            ]
            for suited in combinations(sorted(ranks), CARDS_PER_HAND - joker - len(other_ranks)):
                cards = [*(rank * 4 for rank in suited), *other_cards, *([JOKER] * joker)]
                settings = list_settings(cards)
                ranks_of_hand = tuple(sorted([*suited, *other_ranks, *([JOKER_RANK] * joker)]))
                bank_setting = house_way.choose_setting_by_ranks(ranks_of_hand, settings)
                flush_rank_masks.append(sum(1 << rank for rank in suited))
                other_cards_indexes.append(joker * len(OTHER_CARDS_OF_FLUSH) + n)
                pattern_rows.append(patterns.row_by_ranks[ranks_of_hand])
                bank_strengths.append(bank_setting[:2])
                unsurpassed_settings.append(list_unsurpassed_settings(settings, bank_setting))
    pattern_row_array = np.array(pattern_rows, dtype=np.int32)
    return FlushPatterns(
        np.array(flush_rank_masks, dtype=np.int32),
        np.array(other_cards_indexes, dtype=np.int32),
        pattern_row_array,
        np.array(bank_strengths, dtype=np.int32).reshape(-1, 2),
        patterns.bank_hands[pattern_row_array],
        unsurpassed_settings,
    )


@dataclass(frozen=True)
class WinLossCounts:
    """Numbers of wins and losses over all pairs of a player's and a bank's pai gow poker hand."""

    pair_count: int
    """The total number of pairs of hands."""
    best_wins_and_losses: tuple[int, int]
    """The numbers of pairs won and lost by a player with the best settings."""
    house_way_wins_and_losses: tuple[int, int]
    """The numbers of pairs won and lost by a player who sets cards as the bank does."""

    def compute_chances(self, wins_and_losses: tuple[int, int]) -> WinPushLoseChances:
        """Return the probabilities of a win, push and loss from the numbers of pairs won and lost."""
        win_chance, loss_chance = (Fraction(cases, self.pair_count) for cases in wins_and_losses)
        return WinPushLoseChances(
            win=format_fraction(win_chance),
            push=format_fraction(1 - win_chance - loss_chance),
            lose=format_fraction(loss_chance),
        )


def solve(definition: PaiGowPokerDefinition, *solver_options: Json) -> ProvedFigures:
    """Return the exact figures of a game: for cards set as the bank sets them, and for the best settings.

    ``solver_options`` are the last arguments of :func:`count_wins_and_losses`: ``parallel_map``, ``report_progress``.
    """
    commission_unit = definition.commission.part_credits
    win_loss_counts = count_wins_and_losses(
        HouseWayRules(definition.house_way_lines),
        commission_unit - definition.commission.compute_credits(commission_unit),
        commission_unit,
        ALL_RANKS,
        *solver_options,
    )
    return ProvedFigures(
        best=win_loss_counts.compute_chances(win_loss_counts.best_wins_and_losses),
        **win_loss_counts.compute_chances(win_loss_counts.house_way_wins_and_losses).model_dump(),
    )


def count_wins_and_losses(
    house_way: HouseWayRules,
    win_value: int,
    loss_value: int,
    ranks: Sequence[int] = ALL_RANKS,
    parallel_map: ParallelMap = map,
    report_progress: Callable[[int, int], None] = lambda *_: None,
) -> WinLossCounts:
    """Count wins and losses over all pairs of a player's and a bank's hand, from a deck of these ranks and the joker.

    A won hand is worth ``win_value``, a lost one minus ``loss_value``; the best setting of a hand has the highest total
    worth over all hands of the bank. ``parallel_map`` is ``map``, or the ``map`` of a thread pool. ``report_progress``
    is called with the number of steps done, and the number of all steps.
    """
    rank_patterns = list_rank_patterns(house_way, ranks)
    report_progress(1, 5)
    flush_patterns = list_flush_patterns(house_way, rank_patterns, ranks)
    report_progress(2, 5)
    pair_counter = PairCounter(rank_patterns, flush_patterns)
    flushless_counts = pair_counter.count_without_flushes(parallel_map)
    report_progress(3, 5)
    corrections = pair_counter.correct_for_flushes(parallel_map)
    report_progress(4, 5)
    sums = pair_counter.count_pairs(parallel_map, flushless_counts, corrections, win_value, loss_value)
    report_progress(5, 5)
    deck_card_count = 4 * len(ranks) + 1
    return WinLossCounts(
        comb(deck_card_count, CARDS_PER_HAND) * comb(deck_card_count - CARDS_PER_HAND, CARDS_PER_HAND),
        (sums[0], sums[1]),
        (sums[2], sums[3]),
    )


class PairCounter:
    """Counts, for all settings of all player hands, how many bank hands each beats and loses to.

    The count is made first without flushes, and then corrected for the flushes that the bank may have.

    A *flush case* is one setting, with one set of ranks that its hand may have in one suit: how do the bank's flushes
    in that suit change the number of bank hands that the setting beats, and the number that beat the setting?
    """

    def __init__(self, rank_patterns: RankPatterns, flush_patterns: FlushPatterns) -> None:
        self.rank_patterns, self.flush_patterns = rank_patterns, flush_patterns
        all_settings = [*rank_patterns.unsurpassed_settings, *flush_patterns.unsurpassed_settings]
        self.first_setting_by_hand = np.cumsum([0, *map(len, all_settings)]).astype(np.int64)
        """For each player hand, the index in ``settings`` of its first setting."""
        self.settings = np.array(
            [setting[:2] for settings_of_hand in all_settings for setting in settings_of_hand], dtype=np.int32
        )
        """The strengths of the low and the high hand of every setting of every player hand."""
        pattern_row_by_hand = np.concatenate(
            [np.arange(len(rank_patterns.unsurpassed_settings)), flush_patterns.pattern_rows]
        ).astype(np.int32)
        self.pattern_row_by_setting = np.repeat(pattern_row_by_hand, np.diff(self.first_setting_by_hand))
        """For each setting, the row in :class:`RankPatterns` with the ranks of its hand."""

    def count_without_flushes(self, parallel_map: ParallelMap) -> Ints:
        """Return how many bank hands each setting beats and loses to, if flushes do not count."""
        nodes, end_nodes = build_pattern_steps(self.rank_patterns)
        binomials = np.array([[comb(n, k) for k in range(5)] for n in range(5)], dtype=np.int32)
        # the settings sorted by the row of their pattern, and for each row the index of its first setting in this order
        order = np.argsort(self.pattern_row_by_setting, kind="stable")
        first_index_by_row = np.searchsorted(
            self.pattern_row_by_setting[order], np.arange(len(self.rank_patterns.card_counts) + 1)
        )
        bank_lows, bank_highs = (np.ascontiguousarray(self.rank_patterns.bank_hands[:, n]) for n in (0, 1))
        flushless_counts = np.zeros((len(self.settings), 2), dtype=np.int64)

        def compute_batch(pattern_rows: Iterable[int]) -> tuple[Ints]:
            """Return the bank hands beaten and lost to by each setting of the given combinations of ranks."""
            weights = np.zeros(len(nodes), dtype=np.int32)
            batch_parts = []
            for row in pattern_rows:
                settings_of_row = order[first_index_by_row[row] : first_index_by_row[row + 1]]
                batch_counts = np.zeros((len(settings_of_row), 2), dtype=np.int64)
                compile_kernel(count_bank_hands_by_ranks)(
                    self.rank_patterns.card_counts[row], nodes, binomials, weights
                )
                compile_kernel(count_hands_beaten)(
                    self.settings[settings_of_row], bank_lows, bank_highs, weights[end_nodes], batch_counts
                )
                batch_parts.append(batch_counts)
            return (np.concatenate(batch_parts),)

        batches = split_into_batches(len(self.rank_patterns.card_counts))
        for pattern_rows, (batch_counts,) in zip(batches, parallel_map(compute_batch, batches), strict=True):
            settings_of_batch = np.concatenate(
                [order[first_index_by_row[row] : first_index_by_row[row + 1]] for row in pattern_rows]
            )
            flushless_counts[settings_of_batch] = batch_counts
        return flushless_counts

    @cached_property
    def flush_cases(self) -> tuple[Ints, Ints]:
        """Return the index of each setting's first flush case, and all flush cases.

        A case has the strength of the setting's high hand, the player's ranks in the suit as bits, and the row of the
        player's ranks in :class:`RankPatterns`. A hand without a flush has one case for every part of its ranks
        that may be in one suit. A hand with a flush has five: its own suit; a suit with none of its other cards; with
        the first of them; with the second; with both.
        """
        rank_bits = (self.rank_patterns.card_counts[:, :13] > 0) @ (1 << np.arange(13))
        masks_by_hand = [_list_subsets(int(bits)) for bits in rank_bits]
        other_ranks_by_hand = self._list_other_ranks()
        for mask, other_ranks in zip(
            self.flush_patterns.flush_rank_masks.tolist(), other_ranks_by_hand, strict=True
        ):
            first_rank, second_rank = ([1 << rank for rank in other_ranks] + [0, 0])[:2]
            masks_by_hand.append(np.array([mask, 0, first_rank, second_rank, first_rank | second_rank]))
        setting_counts = np.diff(self.first_setting_by_hand)
        case_counts = np.repeat([len(masks) for masks in masks_by_hand], setting_counts)
        first_case_by_setting = np.concatenate([[0], np.cumsum(case_counts)]).astype(np.int64)
        mask_by_case = np.concatenate(
            [np.tile(masks, n) for masks, n in zip(masks_by_hand, setting_counts, strict=True)]
        )
        flush_cases = np.stack(
            [
                np.repeat(self.settings[:, 1], case_counts),
                mask_by_case,
                np.repeat(self.pattern_row_by_setting, case_counts),
            ],
            axis=1,
        )
        return first_case_by_setting, flush_cases.astype(np.int32)

    def _list_other_ranks(self) -> list[tuple[int, ...]]:
        """Return, for each hand with a flush, the ranks of its cards outside the flush, the joker left out."""
        return [
            OTHER_CARDS_OF_FLUSH[index % len(OTHER_CARDS_OF_FLUSH)]
            for index in self.flush_patterns.other_cards_indexes.tolist()
        ]

    def correct_for_flushes(self, parallel_map: ParallelMap) -> Ints:
        """Return, for each flush case, the corrections to how many bank hands its setting beats and loses to.

        The corrections account for the bank's flushes in the suit of the case.
        """
        first_case_by_setting, flush_cases = self.flush_cases
        low_by_case = np.repeat(self.settings[:, 0], np.diff(first_case_by_setting))
        # the cases sorted by low and then by high hand; those of the n-th low hand start at first_index_by_low[n]
        order = np.lexsort((flush_cases[:, 0], low_by_case))
        different_lows = np.unique(low_by_case)
        first_index_by_low = np.searchsorted(low_by_case[order], [*different_lows, different_lows[-1] + 1])
        corrections = np.zeros((len(flush_cases), 2), dtype=np.int32)
        signed_flushes = self._list_signed_flushes()

        def correct_for_low_hand(n: int) -> tuple[Ints]:
            """Return the corrections for all flush cases of settings with the ``n``-th low hand."""
            table = np.zeros((8192, 2 * len(OTHER_CARDS_OF_FLUSH)), dtype=np.int32)
            low_corrections = np.zeros((first_index_by_low[n + 1] - first_index_by_low[n], 2), dtype=np.int32)
            rows = flush_cases[order[first_index_by_low[n] : first_index_by_low[n + 1]]]
            compile_kernel(correct_for_flushes)(
                different_lows[n],
                rows,
                self.rank_patterns.card_counts,
                signed_flushes,
                table,
                low_corrections,
            )
            return (low_corrections,)

        for n, (low_corrections,) in enumerate(
            parallel_map(correct_for_low_hand, range(len(different_lows)))
        ):
            corrections[order[first_index_by_low[n] : first_index_by_low[n + 1]]] = low_corrections
        return corrections

    def _list_signed_flushes(self) -> Ints:
        """Return two rows for each bank hand whose flush changes its strength, by ascending high hand.

        One row adds the hand (+1) at its true strength, the other subtracts it (-1) at its strength by ranks alone.
        """
        flushes = self.flush_patterns
        changed_rows = np.flatnonzero((flushes.bank_hands != flushes.flushless_bank_hands).any(axis=1))
        rows = [
            np.column_stack(
                [
                    strengths[changed_rows, 1],
                    strengths[changed_rows, 0],
                    flushes.flush_rank_masks[changed_rows],
                    flushes.other_cards_indexes[changed_rows],
                    [sign] * len(changed_rows),
                ]
            )
            for strengths, sign in ((flushes.bank_hands, 1), (flushes.flushless_bank_hands, -1))
        ]
        signed_flushes = np.concatenate(rows).astype(np.int32)
        return signed_flushes[np.argsort(signed_flushes[:, 0], kind="stable")]

    def count_pairs(
        self,
        parallel_map: ParallelMap,
        flushless_counts: Ints,
        corrections: Ints,
        win_value: int,
        loss_value: int,
    ) -> list[int]:
        """Return four numbers of pairs of hands: won and lost with the best settings, won and lost with the bank's.

        A pair is a player's and a bank's hand. ``flushless_counts`` has the bank hands that each setting beats and
        loses to if flushes do not count, and ``corrections`` how flushes change them. A win is worth ``win_value``, a
        loss minus ``loss_value``.
        """
        first_case_by_setting, _ = self.flush_cases
        # for 0 to 4 suits: the number of sets of that many suits, then these sets as bits
        suit_sets = [[bits for bits in range(16) if bits.bit_count() == n] for n in range(5)]
        suit_subsets = np.array(
            [[len(sets), *sets, *[0] * (6 - len(sets))] for sets in suit_sets], dtype=np.int32
        )
        card_counts, hand_count = self.rank_patterns.card_counts, len(self.rank_patterns.unsurpassed_settings)

        def compute_batch(pattern_rows: range) -> tuple[Ints]:
            """Return the pairs won and lost (best settings, bank's settings) for the patterns ``pattern_rows``.

            Player hands with a flush are left out.
            """
            sums = np.zeros(4, dtype=np.int64)
            compile_kernel(sum_flushless_hands)(
                np.array(pattern_rows),
                card_counts,
                suit_subsets,
                self.first_setting_by_hand,
                first_case_by_setting,
                flushless_counts,
                corrections,
                win_value,
                loss_value,
                sums,
            )
            return (sums,)

        # the rows of SUIT_DISTRIBUTIONS: no other card, one, a pair, two ranks
        other_kinds = np.array(
            [len(ranks) + (len(set(ranks)) == 2) for ranks in self._list_other_ranks()], dtype=np.int32
        )
        sums = np.zeros(4, dtype=np.int64)
        compile_kernel(sum_flush_hands)(
            other_kinds,
            SUIT_DISTRIBUTIONS,
            self.first_setting_by_hand[hand_count:],
            first_case_by_setting,
            flushless_counts,
            corrections,
            win_value,
            loss_value,
            sums,
        )
        for (batch_sums,) in parallel_map(compute_batch, split_into_batches(hand_count)):
            sums += batch_sums
        return [int(total) for total in sums]


#: For no other cards, one, a pair, two ranks: their distributions over the three suits other than the flush's. First
#: the number of equivalent distributions, then the number of suits: of the flush, without other cards, with the first,
#: with the second, with both. Example: two ranks are in different suits in 6 ways, and in the same suit in 3.
SUIT_DISTRIBUTIONS: Final = np.array(
    [
        [[1, 1, 3, 0, 0, 0], [0] * 6],
        [[3, 1, 2, 1, 0, 0], [0] * 6],
        [[3, 1, 1, 2, 0, 0], [0] * 6],
        [[6, 1, 1, 1, 1, 0], [3, 1, 2, 0, 0, 1]],
    ],
    dtype=np.int64,
)


def split_into_batches(count: int) -> list[range]:
    """Return the numbers below ``count`` in 64 batches for threads. Each batch takes every 64th number."""
    return [range(n, count, 64) for n in range(min(64, count))]


def build_pattern_steps(patterns: RankPatterns) -> tuple[Ints, Ints]:
    """Return a tree of rank combinations, and the index of the node that completes each row of ``patterns``.

    Each node of the tree adds one or more cards of one rank to its parent: (parent's index, rank, number of cards).
    """
    nodes: list[tuple[int, int, int]] = [(0, 0, 0)]
    node_by_path: dict[tuple[tuple[int, int], ...], int] = {(): 0}
    ends = []
    for counts in patterns.card_counts.tolist():
        path = tuple((rank, count) for rank, count in enumerate(counts) if count)
        for length in range(1, len(path) + 1):
            if path[:length] not in node_by_path:
                node_by_path[path[:length]] = len(nodes)
                nodes.append((node_by_path[path[: length - 1]], *path[length - 1]))
        ends.append(node_by_path[path])
    return np.array(nodes, dtype=np.int32), np.array(ends)


def _list_subsets(bits: int) -> Ints:
    """Return every subset of the bits of a number, in ascending order."""
    ones = [1 << n for n in range(13) if bits >> n & 1]
    subsets = np.zeros(1, dtype=np.int64)
    for bit in ones:
        subsets = np.concatenate([subsets, subsets | bit])
    return subsets

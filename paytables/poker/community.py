"""The exact solution of hold'em against the bank: two hole cards, a board of five, bets on every street.

For laboratories (numpy, numba). On each board every pair of hole cards is ranked once, and the pairs are sorted.
One pass through the sorted list counts, for each pair, the bank's pairs that it beats, ties with and loses to;
pairs that share a card with it are subtracted. The flops are processed one after the other (1,755 classes, each
with 1,176 boards). When all boards of a flop have been ranked, the sums needed for the bets after the turn and
after the flop are complete; after the last flop, so are those for the bet before the flop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb
from typing import TYPE_CHECKING, Final

import numpy as np

from paytables.cards.ranking import FIVE_CARD_RANKING, HandRanking
from paytables.cards.subsets import build_rank_steps, build_sets

if TYPE_CHECKING:
    from paytables.cards.arrays import Bits, Bools, Ints

#: The number of ways to complete the board and the bank's hand after a flop and two hole cards, turn and
#: river in order.
COMPLETION_COUNT_AFTER_FLOP: Final = 47 * 46 * 990
#: The number of the bank's possible hands on one board: two of the 45 cards that the player and the board leave.
BANK_HAND_COUNT: Final = comb(45, 2)
#: The number of flops after two hole cards.
FLOP_COUNT: Final = comb(50, 3)
#: The number of pairs of hole cards.
HOLE_CARD_PAIR_COUNT: Final = comb(52, 2)


@dataclass(frozen=True, slots=True)
class StreetBets:
    """The bets and pays of a hold'em game against the bank, with raises before the flop and on every street.

    Amounts are integers in units; ``unit`` units are one ante.
    """

    unit: int
    """The number of units that make one ante."""
    ante: int
    """The ante, in units."""
    preflop_bets: tuple[int, ...]
    """The sizes of bet that a player may choose from before the flop, in units, ascending."""
    flop_bet: int
    """The size of the bet at the flop, in units."""
    turn_bet: int
    """The size of the bet at the turn, in units; a player who does not make it folds."""
    river_bet: int
    """The size of the additional bet at the river, in units."""
    super_ante_pays: tuple[int, ...]
    """The extra pay of a winning hand for each category, lowest category first, in units."""
    fold_loss: int
    """The total loss of a player who folds, in units."""
    lowest_qualifying_strength: int
    """The strength of the lowest hand with which the bank qualifies."""


@dataclass(frozen=True, slots=True)
class SolvedStrategy:
    """The best strategy of a hold'em game against the bank, and its results in the units of :class:`StreetBets`.

    The river decision is not stored: the player bets if the hand beats more of the bank's possible hands than beat it.
    """

    mean_net: Fraction
    """The player's mean net result with the best strategy, in units."""
    worst_mean_net: Fraction
    """The player's mean net result if every decision is the worst possible, in units."""
    preflop_bets: tuple[int, ...]
    """The best bet before the flop, in units, for each of the 169 classes of hole cards; 0: no bet."""
    bets_at_flop: Bools
    """Whether to bet at the flop. Rows are the classes of flops, columns the 1,326 pairs of hole cards."""
    case_count_by_net: dict[int, int]
    """How many of the ``case_count`` cases end with each net result; the keys are net results in units."""
    case_count: int
    """The number of equally likely cases (flop, hole cards, turn, river and the bank's hand)."""
    mean_stake: Fraction
    """The mean total stake of a round, all bets included, in units."""
    result_counts: tuple[tuple[int, ...], ...]
    """The number of cases by the bet made (row) and the result (column), numbered as in :func:`_count_flop_cases`."""


class HoldemSolver:
    """The calculation of the best strategy of one hold'em game against the bank.

    ``parallel_map`` applies a function to every flop: ``map``, or the ``map`` of a thread pool. ``report_progress`` is
    called after each flop with the number of flops processed, and the number to process.
    """

    def __init__(
        self,
        street_bets: StreetBets,
        parallel_map: Callable[..., Iterator[tuple[Ints, ...]]] = map,
        report_progress: Callable[[int, int], None] = lambda *_: None,
    ) -> None:
        self.street_bets, self.parallel_map, self.report_progress = street_bets, parallel_map, report_progress
        self.tables = build_strength_tables(street_bets.lowest_qualifying_strength)
        self.flop_set_indexes, self.flops_per_class = build_sets(52, 3).suit_classes_and_sizes
        """The set number of one flop of each class of flops that differ in suits only, and the class sizes."""
        self.flop_cards = build_sets(52, 3).cards_by_set[self.flop_set_indexes].astype(np.int64)
        """The three cards of each of ``flop_set_indexes``."""
        self.hole_card_pairs = build_sets(52, 2).cards_by_set
        """All 1,326 pairs of hole cards."""
        self.pays = np.array(street_bets.super_ante_pays, dtype=np.int64)
        """The extra pay of a winning hand for each category, lowest category first, in units."""

    def solve_strategy(self) -> SolvedStrategy:
        """Return the best strategy. Each flop is processed twice: to find decisions, then to count results."""
        flop_count, preflop_option_count = len(self.flop_set_indexes), 1 + len(self.street_bets.preflop_bets)
        bets_at_flop = np.zeros((flop_count, HOLE_CARD_PAIR_COUNT), dtype=np.bool_)
        turn_bits = np.zeros((flop_count, 52, (HOLE_CARD_PAIR_COUNT + 7) // 8), dtype=np.uint8)
        # the sums are below 10 ** 15
        best_sums, worst_sums = (
            np.zeros((preflop_option_count, HOLE_CARD_PAIR_COUNT), dtype=np.int64) for _ in range(2)
        )
        for n, flop_decision in enumerate(self.parallel_map(self._find_best_bets, range(flop_count))):
            bets_at_flop[n], turn_bits[n], best_sums_at_flop, worst_sums_at_flop = flop_decision
            best_sums += best_sums_at_flop * int(self.flops_per_class[n])
            worst_sums += worst_sums_at_flop * int(self.flops_per_class[n])
            self.report_progress(n + 1, 2 * flop_count)
        chosen_bets, preflop_bet_indexes, mean_net, worst_mean_net = self._decide_before_flop(
            best_sums, worst_sums
        )
        result_counts = np.zeros((3 + preflop_option_count, 13), dtype=np.int64)
        counts_of_flops = self.parallel_map(
            lambda n: (self._count_flop_results(n, preflop_bet_indexes, bets_at_flop[n], turn_bits[n]),),
            range(flop_count),
        )
        for n, (counts_of_flop,) in enumerate(counts_of_flops):
            result_counts += counts_of_flop
            self.report_progress(flop_count + n + 1, 2 * flop_count)
        case_count_by_net, stake_sum = self._count_nets(result_counts)
        case_count = int(result_counts.sum())
        return SolvedStrategy(
            mean_net,
            worst_mean_net,
            chosen_bets,
            bets_at_flop,
            case_count_by_net,
            case_count,
            Fraction(stake_sum, case_count),
            tuple(map(tuple, result_counts.tolist())),
        )

    def sum_net_results(self, flop_index: int) -> tuple[Ints, Ints]:
        """Return a player's net results, summed over all boards of a flop, for each pair of hole cards.

        The first array has a sum for each turn card, if the player continues at the turn. The second array has the sum
        over all turn and river cards; see :func:`_add_flop_nets`.
        """
        street_bets, tables = self.street_bets, self.tables
        turn_sums = np.zeros((52, HOLE_CARD_PAIR_COUNT, 2), dtype=np.int64)
        board_sums = np.zeros((HOLE_CARD_PAIR_COUNT, 2), dtype=np.int64)
        bank_hand_counts = np.zeros((HOLE_CARD_PAIR_COUNT, 3), dtype=np.int64)
        fill_strengths, count_bank_hands, add_flop_nets, _ = _compile_kernels()
        bet_sizes = (street_bets.ante, street_bets.turn_bet, street_bets.river_bet)
        flop_arguments = (
            self.flop_cards[flop_index],
            tables.rank_tables,
            tables.category_by_strength,
            tables.lowest_qualifying_index,
            bet_sizes,
            self.pays,
        )
        add_flop_nets(
            *flop_arguments, fill_strengths, count_bank_hands, bank_hand_counts, turn_sums, board_sums
        )
        return turn_sums, board_sums

    def _find_best_bets(self, flop_index: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Find the player's best bets at the flop and at the turn, for the flop number ``flop_index``.

        Return four arrays: which hole cards bet at the flop; which hole cards continue at the turn, for each turn card;
        and, for the decision before the flop, the best and the worst sums of net results by bet and hole cards.
        """
        street_bets = self.street_bets
        turn_sums, board_sums = self.sum_net_results(flop_index)
        is_flop_card = np.isin(np.arange(52), self.flop_cards[flop_index])
        is_possible_pair = ~np.isin(self.hole_card_pairs, self.flop_cards[flop_index]).any(axis=1)
        # by turn card and hole cards: whether they are different cards, and none is on the flop
        is_possible = is_possible_pair & ~is_flop_card[:, None]
        for column in range(2):
            is_possible &= np.arange(52)[:, None] != self.hole_card_pairs[:, column]
        # for each of the 46 rivers after a turn card
        fold_sum = -street_bets.fold_loss * 46 * BANK_HAND_COUNT
        continues_at_turn = is_possible & (turn_sums[:, :, 0] > fold_sum)
        no_bet_sums = np.where(continues_at_turn, turn_sums[:, :, 0], np.where(is_possible, fold_sum, 0)).sum(
            axis=0
        )
        worst_no_bet_sums = np.where(is_possible, np.minimum(turn_sums[:, :, 1], fold_sum), 0).sum(axis=0)
        # doubled, because the sums over turn cards count each board in both orders of turn and river
        bet_sums = 2 * (board_sums[:, 0] + street_bets.flop_bet * board_sums[:, 1])
        preflop_bet_sums = [
            2 * (board_sums[:, 0] + size * board_sums[:, 1]) for size in street_bets.preflop_bets
        ]
        bets_at_flop = is_possible_pair & (bet_sums > no_bet_sums)
        best_sums = np.stack([np.maximum(bet_sums, no_bet_sums), *preflop_bet_sums])
        worst_sums = np.stack([np.minimum(bet_sums, worst_no_bet_sums), *preflop_bet_sums])
        return bets_at_flop, np.packbits(continues_at_turn, axis=1), best_sums, worst_sums

    def _decide_before_flop(
        self, best_sums: Ints, worst_sums: Ints
    ) -> tuple[tuple[int, ...], Ints, Fraction, Fraction]:
        """Find the player's best bet before the flop, from the best and the worst sums of net results after it.

        Return the bet by class of hole cards, the index of the bet by pair of hole cards, and the mean net result with
        the best and with the worst decisions.
        """
        class_by_hole_cards = build_sets(52, 2).suit_class_by_set
        bet_sizes = (0, *self.street_bets.preflop_bets)
        chosen_options: list[int] = []
        best_sum = worst_sum = 0
        for class_index in range(len(build_sets(52, 2).suit_classes_and_sizes[0])):
            option_sums = [sum(row[class_by_hole_cards == class_index].tolist()) for row in best_sums]
            best_sum += max(option_sums)
            worst_sum += min(sum(row[class_by_hole_cards == class_index].tolist()) for row in worst_sums)
            chosen_options.append(option_sums.index(max(option_sums)))
        case_count = HOLE_CARD_PAIR_COUNT * FLOP_COUNT * COMPLETION_COUNT_AFTER_FLOP
        return (
            tuple(bet_sizes[option] for option in chosen_options),
            np.array(chosen_options)[class_by_hole_cards],
            Fraction(best_sum, case_count),
            Fraction(worst_sum, case_count),
        )

    def _count_flop_results(
        self, flop_index: int, preflop_bet_indexes: Ints, bets_at_flop: Bools, turn_bits: Bits
    ) -> Ints:
        """Return how often each bet (row) and result (column) occurs after flop number ``flop_index``.

        ``preflop_bet_indexes`` is the index of the bet before the flop by hole cards, ``bets_at_flop`` says which hole
        cards bet at the flop, and ``turn_bits`` which continue at each turn card.
        """
        result_counts = np.zeros((4 + len(self.street_bets.preflop_bets), 13), dtype=np.int64)
        early_bet_indexes = np.where(
            preflop_bet_indexes > 0,
            preflop_bet_indexes,
            np.where(bets_at_flop, 1 + len(self.street_bets.preflop_bets), 0),
        )
        continues_at_turn = np.unpackbits(turn_bits, axis=1, count=HOLE_CARD_PAIR_COUNT).astype(np.bool_)
        bank_hand_counts = np.zeros((HOLE_CARD_PAIR_COUNT, 3), dtype=np.int64)
        fill_strengths, count_bank_hands, _, count_flop_cases = _compile_kernels()
        tables = self.tables
        flop_arguments = (
            self.flop_cards[flop_index],
            tables.rank_tables,
            tables.category_by_strength,
            tables.lowest_qualifying_index,
            int(self.flops_per_class[flop_index]),
        )
        count_flop_cases(
            *flop_arguments,
            fill_strengths,
            count_bank_hands,
            bank_hand_counts,
            early_bet_indexes,
            continues_at_turn,
            result_counts,
        )
        return result_counts

    def _count_nets(self, result_counts: Ints) -> tuple[dict[int, int], int]:
        """Return the number of cases with each net result of the player, and the sum of all stakes, in units.

        ``result_counts`` has the number of cases by bet and result (:func:`_count_flop_cases`).
        """
        street_bets = self.street_bets
        bets = (
            0,
            street_bets.turn_bet,
            street_bets.turn_bet + street_bets.river_bet,
            *street_bets.preflop_bets,
            street_bets.flop_bet,
        )
        case_count_by_net: dict[int, int] = {}
        stake_sum = 0
        for row, bet in zip(result_counts.tolist(), bets, strict=True):
            net_by_result = [street_bets.ante, -2 * street_bets.ante - bet, 0]
            net_by_result += [street_bets.ante + bet + extra for extra in street_bets.super_ante_pays]
            for result_net, case_count in zip(net_by_result, row, strict=True):
                if case_count:
                    net = result_net if bet else -street_bets.fold_loss
                    case_count_by_net[net] = case_count_by_net.get(net, 0) + case_count
                    stake_sum += case_count * (2 * street_bets.ante + bet)
        return case_count_by_net, stake_sum


@dataclass(frozen=True, slots=True)
class StrengthTables:
    """Lookup tables for the poker strength of seven cards; see :func:`paytables.cards.subsets.build_rank_steps`."""

    rank_tables: tuple[Ints, ...]
    """Tables to look up the rank state after each further card, and the strength of each final state and flush."""
    strengths: Ints
    """All different strengths in ascending order. The other tables refer to a strength by its index here."""
    category_by_strength: Ints
    """The category (pair, flush ...) of each strength in ``strengths``, as a number."""
    lowest_qualifying_index: int
    """The index in ``strengths`` of the lowest strength with which the bank qualifies."""


def build_strength_tables(lowest_qualifying_strength: int) -> StrengthTables:
    """Return the lookup tables for the poker strength of seven cards, with strengths numbered without gaps.

    ``lowest_qualifying_strength`` is the strength of the lowest hand with which the bank qualifies.
    """
    steps, rank_sets = build_rank_steps(7, 13)
    ranking = HandRanking(FIVE_CARD_RANKING)
    plain_strengths = np.array([ranking.compute_strength_without_flushes(key) for key in rank_sets])
    flush_strength_by_mask = [
        ranking.compute_flush_strength(mask, 0) if 5 <= mask.bit_count() <= 7 else 0 for mask in range(8192)
    ]
    strengths = np.unique(np.append(plain_strengths, [value for value in flush_strength_by_mask if value]))
    flush_index_by_mask = np.where(
        np.array(flush_strength_by_mask) > 0, np.searchsorted(strengths, flush_strength_by_mask), -1
    )
    step_sizes = [len(step) for step in steps[:5]]
    first_five_steps = np.zeros((5, max(step_sizes), 13), dtype=np.int32)
    for n, step in enumerate(steps[:5]):
        first_five_steps[n, : len(step)] = step
    return StrengthTables(
        rank_tables=(
            first_five_steps,
            steps[5],
            steps[6],
            np.searchsorted(strengths, plain_strengths).astype(np.int32),
            flush_index_by_mask.astype(np.int32),
        ),
        strengths=strengths,
        category_by_strength=(strengths >> 20).astype(np.int8),
        lowest_qualifying_index=int(np.searchsorted(strengths, lowest_qualifying_strength)),
    )


def _fill_strengths(
    board: Ints, unseen: Ints, rank_tables: Ints, strengths: Ints, strength_counts: Ints
) -> tuple[int, int]:
    """Write to ``strengths`` the strength of each pair of hole cards on one board of five cards.

    ``strength_counts`` gets the number of pairs with each strength. Return the lowest and the highest strength. The
    pair of hole cards a < b has the index b (b - 1) / 2 + a.
    """
    first_five_steps, sixth_step, seventh_step, plain_strengths, flush_strengths = rank_tables
    state = 0
    masks = [0, 0, 0, 0]
    flush_suit = -1
    for n in range(5):
        suit = board[n] & 3
        state = first_five_steps[n, state, board[n] >> 2]
        masks[suit] |= 1 << (board[n] >> 2)
    for suit in range(4):
        mask = masks[suit]
        if mask & (mask - 1) and (mask & (mask - 1)) & ((mask & (mask - 1)) - 1):  # three bits or more
            flush_suit = suit
    lowest_strength, highest_strength = 1 << 20, 0
    for b_index in range(47):
        b = unseen[b_index]
        state_after_six = sixth_step[state, b >> 2]
        for a_index in range(b_index):
            a = unseen[a_index]
            strength = plain_strengths[seventh_step[state_after_six, a >> 2]]
            if flush_suit >= 0:
                mask = masks[flush_suit]
                if a & 3 == flush_suit:
                    mask |= 1 << (a >> 2)
                if b & 3 == flush_suit:
                    mask |= 1 << (b >> 2)
                strength = max(strength, flush_strengths[mask])
            strengths[b * (b - 1) // 2 + a] = strength
            strength_counts[strength] += 1
            lowest_strength, highest_strength = (
                min(lowest_strength, strength),
                max(highest_strength, strength),
            )
    return lowest_strength, highest_strength


def _count_bank_hands(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    board: tuple[int, ...],
    rank_tables: Ints,
    lowest_qualifying_index: int,
    fill_strengths: Callable[..., tuple[int, int]],
    strengths: Ints,
    sorted_pairs: Ints,
    strength_counts: Ints,
    bank_hand_counts: Ints,
) -> None:
    """Count how each pair of hole cards on a board compares with the bank's possible hands.

    ``bank_hand_counts`` gets three numbers for each pair: the bank's hands that do not qualify, those that qualify and
    are weaker, and those that are equal. ``strengths`` gets the strength of each pair, and ``sorted_pairs`` the pairs b
    << 6 | a, weakest first; ``strength_counts`` is a work array of zeros.
    """
    unseen = [card for card in range(52) if card not in board]
    lowest, highest = fill_strengths(board, unseen, rank_tables, strengths, strength_counts)
    # sort the pairs by strength: strength_counts[strength] becomes the index of the first pair of this strength
    next_start = 0
    for strength in range(lowest, highest + 1):
        next_start, strength_counts[strength] = next_start + strength_counts[strength], next_start
    for b_index in range(47):
        for a_index in range(b_index):
            a, b = unseen[a_index], unseen[b_index]
            strength = strengths[b * (b - 1) // 2 + a]
            sorted_pairs[strength_counts[strength]] = b << 6 | a
            strength_counts[strength] += 1
    # the number of pairs that contain each card: among the weaker pairs, the equal ones and those that do not qualify
    weaker_by_card = [0] * 52
    equal_by_card = [0] * 52
    unqualified_by_card = [0] * 52
    unqualified_count = group_start = 0
    for strength in range(lowest, highest + 1):
        group_end, strength_counts[strength] = strength_counts[strength], 0
        if group_end == group_start:
            continue
        for n in range(group_start, group_end):
            equal_by_card[sorted_pairs[n] >> 6] += 1
            equal_by_card[sorted_pairs[n] & 63] += 1
        for n in range(group_start, group_end):
            b, a = sorted_pairs[n] >> 6, sorted_pairs[n] & 63
            pair_index = b * (b - 1) // 2 + a
            bank_hand_counts[pair_index, 1] = group_start - weaker_by_card[a] - weaker_by_card[b]
            # the pair itself is counted once and subtracted twice
            bank_hand_counts[pair_index, 2] = (
                group_end - group_start - equal_by_card[a] - equal_by_card[b] + 1
            )
        for card in unseen:
            weaker_by_card[card] += equal_by_card[card]
            equal_by_card[card] = 0
            if strength < lowest_qualifying_index:
                unqualified_by_card[card] = weaker_by_card[card]
        if strength < lowest_qualifying_index:
            unqualified_count = group_end
        group_start = group_end
    for b_index in range(47):
        for a_index in range(b_index):
            a, b = unseen[a_index], unseen[b_index]
            pair_index = b * (b - 1) // 2 + a
            if strengths[pair_index] < lowest_qualifying_index:
                bank_hand_counts[pair_index, 0] = (
                    unqualified_count - unqualified_by_card[a] - unqualified_by_card[b] + 1
                )
                bank_hand_counts[pair_index, 1] = bank_hand_counts[pair_index, 2] = 0
            else:
                bank_hand_counts[pair_index, 0] = (
                    unqualified_count - unqualified_by_card[a] - unqualified_by_card[b]
                )
                bank_hand_counts[pair_index, 1] -= bank_hand_counts[pair_index, 0]


def _add_flop_nets(
    flop: Ints,
    rank_tables: Ints,
    category_by_strength: Ints,
    lowest_qualifying_index: int,
    bet_sizes: Ints,
    super_ante_pays: Ints,
    fill_strengths: Callable[..., tuple[int, int]],
    count_bank_hands: Callable[..., object],
    bank_hand_counts: Ints,
    turn_sums: Ints,
    board_sums: Ints,
) -> None:
    """Add up the player's net results with each pair of hole cards over the 1,176 boards of a flop.

    ``bet_sizes`` has the ante, the turn bet and the river bet. ``turn_sums[turn, hole]`` gets two sums over all rivers,
    if the player continues at the turn: with the best and with the worst river decision. ``board_sums[hole]`` gets two
    sums over all boards: the net result without a raise, and what each unit raised before the turn adds to it.
    """
    ante, turn_bet, river_bet = bet_sizes
    strength_by_pair = [0] * 1326
    sorted_pairs = [0] * 1081  # the pairs of the 47 unseen cards, b << 6 | a
    strength_counts = [0] * len(category_by_strength)
    unseen_after_flop = [card for card in range(52) if card not in (flop[0], flop[1], flop[2])]
    for second_index in range(49):
        for first_index in range(second_index):
            turn, river = unseen_after_flop[first_index], unseen_after_flop[second_index]
            count_bank_hands(
                (flop[0], flop[1], flop[2], turn, river),
                rank_tables,
                lowest_qualifying_index,
                fill_strengths,
                strength_by_pair,
                sorted_pairs,
                strength_counts,
                bank_hand_counts,
            )
            for pair in sorted_pairs:
                pair_index = (pair >> 6) * ((pair >> 6) - 1) // 2 + (pair & 63)
                unqualified_count, weaker_count, equal_count = bank_hand_counts[pair_index]
                better_count = BANK_HAND_COUNT - unqualified_count - weaker_count - equal_count
                base_net = (
                    unqualified_count * ante
                    + weaker_count
                    * (ante + super_ante_pays[category_by_strength[strength_by_pair[pair_index]]])
                    - 2 * ante * better_count
                )
                # what each unit of a bet adds, over all hands of the bank that qualify
                net_per_unit = weaker_count - better_count
                net_after_turn = base_net + net_per_unit * turn_bet
                best_net = net_after_turn + max(0, net_per_unit * river_bet)
                worst_net = net_after_turn + min(0, net_per_unit * river_bet)
                for card in (turn, river):
                    turn_sums[card, pair_index, 0] += best_net
                    turn_sums[card, pair_index, 1] += worst_net
                board_sums[pair_index, 0] += base_net
                board_sums[pair_index, 1] += net_per_unit


def _count_flop_cases(
    flop: Ints,
    rank_tables: Ints,
    category_by_strength: Ints,
    lowest_qualifying_index: int,
    equal_flop_count: int,
    fill_strengths: Callable[..., tuple[int, int]],
    count_bank_hands: Callable[..., object],
    bank_hand_counts: Ints,
    early_bet_indexes: Ints,
    continues_at_turn: Ints,
    result_counts: Ints,
) -> None:
    """Count the results of all rounds with one flop, for given decisions before the river.

    ``early_bet_indexes[hole]`` is the index of the bet made before the turn, 0 for none; ``continues_at_turn[turn,
    hole]`` says whether a player without such a bet continues. ``equal_flop_count`` is the number of flops that this
    one represents. ``result_counts[bet, result]`` gets the number of cases. Bets: 0 folded, 1 turn, 2 turn and river,
    then the bets before the turn. Results: the bank does not qualify, the player is worse, equal, then better by
    category.
    """
    strength_by_pair = [0] * 1326
    sorted_pairs = [0] * 1081  # the pairs of the 47 unseen cards, b << 6 | a
    strength_counts = [0] * len(category_by_strength)
    unseen_after_flop = [card for card in range(52) if card not in (flop[0], flop[1], flop[2])]
    for second_index in range(49):
        for first_index in range(second_index):
            turn, river = unseen_after_flop[first_index], unseen_after_flop[second_index]
            count_bank_hands(
                (flop[0], flop[1], flop[2], turn, river),
                rank_tables,
                lowest_qualifying_index,
                fill_strengths,
                strength_by_pair,
                sorted_pairs,
                strength_counts,
                bank_hand_counts,
            )
            for pair in sorted_pairs:
                pair_index = (pair >> 6) * ((pair >> 6) - 1) // 2 + (pair & 63)
                unqualified_count, weaker_count, equal_count = bank_hand_counts[pair_index]
                better_count = BANK_HAND_COUNT - unqualified_count - weaker_count - equal_count
                for card in (turn, river):
                    bet_index = 2 if weaker_count > better_count else 1
                    if early_bet_indexes[pair_index]:
                        bet_index = 2 + early_bet_indexes[pair_index]
                    elif not continues_at_turn[card, pair_index]:
                        result_counts[0, 0] += BANK_HAND_COUNT * equal_flop_count
                        continue
                    result_counts[bet_index, 0] += unqualified_count * equal_flop_count
                    result_counts[bet_index, 1] += better_count * equal_flop_count
                    result_counts[bet_index, 2] += equal_count * equal_flop_count
                    result_counts[bet_index, 3 + category_by_strength[strength_by_pair[pair_index]]] += (
                        weaker_count * equal_flop_count
                    )


@cache
def _compile_kernels() -> tuple[Callable[..., object], ...]:
    """Return this module's four inner loops, compiled by numba: strengths, bank hands, net results, cases."""
    import numba  # noqa: PLC0415 (laboratory package)

    return tuple(
        numba.njit(nogil=True)(kernel)
        for kernel in (_fill_strengths, _count_bank_hands, _add_flop_nets, _count_flop_cases)
    )

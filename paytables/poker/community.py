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
    """The extra pay of a winning hand for each combination, lowest combination first, in units."""
    fold_loss: int
    """The total loss of a player who folds, in units."""
    lowest_qualifying_strength: int
    """The strength of the lowest hand with which the bank qualifies."""


@dataclass(frozen=True, slots=True)
class SolvedStrategy:
    """The best strategy of a hold'em game against the bank, and its results in the units of :class:`StreetBets`.

    The river decision is not stored: the player bets if the hand beats more of the bank's possible hands than beat it.
    """

    mean: Fraction
    """The player's mean net result with the best strategy, in units."""
    worst_mean: Fraction
    """The player's mean net result if every decision is the worst possible, in units."""
    preflop_bets: tuple[int, ...]
    """The best bet before the flop, in units, for each of the 169 classes of hole cards; 0: no bet."""
    bets_at_flop: Bools
    """Whether to bet at the flop. Rows are the classes of flops, columns the 1,326 pairs of hole cards."""
    net_counts: dict[int, int]
    """How many of the ``case_count`` cases end with each net result; the keys are net results in units."""
    case_count: int
    """The number of equally likely cases (flop, hole cards, turn, river and the bank's hand)."""
    mean_staked: Fraction
    """The mean total stake of a round, all bets included, in units."""
    result_counts: tuple[tuple[int, ...], ...]
    """The number of cases by the bet made (row) and the result (column), as in :func:`_count_flop_cases`."""


class HoldemSolver:
    """The calculation of the best strategy of one hold'em game against the bank.

    ``parallel_map`` applies a function to every flop: ``map``, or the ``map`` of a thread pool. ``report_progress`` is
    called after each flop with the number of flops processed, and the number to process.
    """

    def __init__(
        self,
        streets: StreetBets,
        parallel_map: Callable[..., Iterator[tuple[Ints, ...]]] = map,
        report_progress: Callable[[int, int], None] = lambda *_: None,
    ) -> None:
        self.streets, self.parallel_map, self.report_progress = streets, parallel_map, report_progress
        self.tables = build_strength_tables(streets.lowest_qualifying_strength)
        self.flops, self.flops_per_class = build_sets(52, 3).suit_classes_and_sizes
        """The set number of one flop of each class of flops that differ in suits only, and the class sizes."""
        self.cards = build_sets(52, 3).cards_by_set[self.flops].astype(np.int64)
        """The three cards of each of ``flops``."""
        self.holes = build_sets(52, 2).cards_by_set
        """All 1,326 pairs of hole cards."""
        self.pays = np.array(streets.super_ante_pays, dtype=np.int64)
        """The extra pay of a winning hand for each combination, lowest combination first, in units."""

    def solve_strategy(self) -> SolvedStrategy:
        """Return the best strategy. Each flop is processed twice: to find decisions, then to count results."""
        count, preflop_option_count = len(self.flops), 1 + len(self.streets.preflop_bets)
        bets_at_flop = np.zeros((count, HOLE_CARD_PAIR_COUNT), dtype=np.bool_)
        turn_bits = np.zeros((count, 52, (HOLE_CARD_PAIR_COUNT + 7) // 8), dtype=np.uint8)
        # the sums are below 10 ** 15
        best, worst = (
            np.zeros((preflop_option_count, HOLE_CARD_PAIR_COUNT), dtype=np.int64) for _ in range(2)
        )
        for n, flop_decision in enumerate(self.parallel_map(self._find_best_bets, range(count))):
            bets_at_flop[n], turn_bits[n] = flop_decision[:2]
            best += flop_decision[2] * int(self.flops_per_class[n])
            worst += flop_decision[3] * int(self.flops_per_class[n])
            self.report_progress(n + 1, 2 * count)
        chosen_bets, preflop_options, mean, worst_mean = self._decide_before_flop(best, worst)
        distribution = np.zeros((3 + preflop_option_count, 13), dtype=np.int64)
        distributions = self.parallel_map(
            lambda n: (self._count_flop_results(n, preflop_options, bets_at_flop[n], turn_bits[n]),),
            range(count),
        )
        for n, (part,) in enumerate(distributions):
            distribution += part
            self.report_progress(count + n + 1, 2 * count)
        nets, staked = self._count_nets(distribution)
        total = int(distribution.sum())
        result_counts = tuple(map(tuple, distribution.tolist()))
        return SolvedStrategy(
            mean,
            worst_mean,
            chosen_bets,
            bets_at_flop,
            nets,
            total,
            Fraction(staked, total),
            result_counts,
        )

    def sum_net_results(self, n: int) -> tuple[Ints, Ints]:
        """Return a player's net results, summed over all boards of flop number ``n``, for each pair of hole cards.

        The first array has a sum for each turn card, if the player continues at the turn. The second array has the sum
        over all turn and river cards; see :func:`_add_flop_nets`.
        """
        streets, tables = self.streets, self.tables
        turns = np.zeros((52, HOLE_CARD_PAIR_COUNT, 2), dtype=np.int64)
        sums = np.zeros((HOLE_CARD_PAIR_COUNT, 2), dtype=np.int64)
        counts = np.zeros((HOLE_CARD_PAIR_COUNT, 3), dtype=np.int64)
        strengths, count_bank_hands, add, _ = _compile_kernels()
        money = (streets.ante, streets.turn_bet, streets.river_bet)
        flop_arguments = (
            self.cards[n],
            tables.ranks,
            tables.combination_by_strength,
            tables.lowest_qualifying_index,
            money,
            self.pays,
        )
        add(*flop_arguments, strengths, count_bank_hands, counts, turns, sums)
        return turns, sums

    def _find_best_bets(self, n: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Find the player's best bets at the flop and at the turn, for the flop number ``n``.

        Return four arrays: which hole cards bet at the flop; which hole cards continue at the turn, for each turn card;
        and, for the decision before the flop, the best and the worst sums of net results by bet and hole cards.
        """
        streets = self.streets
        turns, sums = self.sum_net_results(n)
        is_flop_card = np.isin(np.arange(52), self.cards[n])
        are_possible_holes = ~np.isin(self.holes, self.cards[n]).any(axis=1)
        # by turn card and hole cards: whether they are different cards, and none is on the flop
        is_possible = are_possible_holes & ~is_flop_card[:, None]
        for column in range(2):
            is_possible &= np.arange(52)[:, None] != self.holes[:, column]
        fold = -streets.fold_loss * 46 * BANK_HAND_COUNT  # for each of the 46 rivers after a turn card
        continues = is_possible & (turns[:, :, 0] > fold)
        no_bet = np.where(continues, turns[:, :, 0], np.where(is_possible, fold, 0)).sum(axis=0)
        worst_no_bet = np.where(is_possible, np.minimum(turns[:, :, 1], fold), 0).sum(axis=0)
        # doubled, because the sums over turn cards count each board in both orders of turn and river
        bet = 2 * (sums[:, 0] + streets.flop_bet * sums[:, 1])
        preflop_bets = [2 * (sums[:, 0] + size * sums[:, 1]) for size in streets.preflop_bets]
        bets_at_flop = are_possible_holes & (bet > no_bet)
        best = np.stack([np.maximum(bet, no_bet), *preflop_bets])
        worst = np.stack([np.minimum(bet, worst_no_bet), *preflop_bets])
        return bets_at_flop, np.packbits(continues, axis=1), best, worst

    def _decide_before_flop(
        self, best: Ints, worst: Ints
    ) -> tuple[tuple[int, ...], Ints, Fraction, Fraction]:
        """Find the player's best bet before the flop, from the ``best`` and ``worst`` sums of net results after it.

        Return the bet by class of hole cards, the index of the bet by pair of hole cards, and the mean net result with
        the best and with the worst decisions.
        """
        class_by_hole_cards = build_sets(52, 2).suit_class_by_set
        sizes = (0, *self.streets.preflop_bets)
        chosen_options: list[int] = []
        mean = worst_sum = 0
        for class_index in range(len(build_sets(52, 2).suit_classes_and_sizes[0])):
            values = [sum(row[class_by_hole_cards == class_index].tolist()) for row in best]
            mean += max(values)
            worst_sum += min(sum(row[class_by_hole_cards == class_index].tolist()) for row in worst)
            chosen_options.append(values.index(max(values)))
        ways = HOLE_CARD_PAIR_COUNT * FLOP_COUNT * COMPLETION_COUNT_AFTER_FLOP
        return (
            tuple(sizes[option] for option in chosen_options),
            np.array(chosen_options)[class_by_hole_cards],
            Fraction(mean, ways),
            Fraction(worst_sum, ways),
        )

    def _count_flop_results(
        self, n: int, preflop_options: Ints, bets_at_flop: Bools, continue_bits: Bits
    ) -> Ints:
        """Return how often each bet (row) and result (column) occurs after flop number ``n``.

        ``preflop_options`` is the index of the bet before the flop by hole cards, ``bets_at_flop`` says which hole
        cards bet at the flop, and ``continue_bits`` which continue at each turn card.
        """
        distribution = np.zeros((4 + len(self.streets.preflop_bets), 13), dtype=np.int64)
        early_bets = np.where(
            preflop_options > 0,
            preflop_options,
            np.where(bets_at_flop, 1 + len(self.streets.preflop_bets), 0),
        )
        continues = np.unpackbits(continue_bits, axis=1, count=HOLE_CARD_PAIR_COUNT).astype(np.bool_)
        counts = np.zeros((HOLE_CARD_PAIR_COUNT, 3), dtype=np.int64)
        strengths, count_bank_hands, _, count = _compile_kernels()
        tables = self.tables
        flop_arguments = (
            self.cards[n],
            tables.ranks,
            tables.combination_by_strength,
            tables.lowest_qualifying_index,
            int(self.flops_per_class[n]),
        )
        count(*flop_arguments, strengths, count_bank_hands, counts, early_bets, continues, distribution)
        return distribution

    def _count_nets(self, distribution: Ints) -> tuple[dict[int, int], int]:
        """Return the number of cases with each net result of the player, and the sum of all stakes, in units.

        ``distribution`` has the number of cases by bet and result (:func:`_count_flop_cases`).
        """
        streets = self.streets
        bets = (
            0,
            streets.turn_bet,
            streets.turn_bet + streets.river_bet,
            *streets.preflop_bets,
            streets.flop_bet,
        )
        nets: dict[int, int] = {}
        staked = 0
        for row, bet in zip(distribution.tolist(), bets, strict=True):
            net_by_result = [streets.ante, -2 * streets.ante - bet, 0]
            net_by_result += [streets.ante + bet + extra for extra in streets.super_ante_pays]
            for result_net, cases in zip(net_by_result, row, strict=True):
                if cases:
                    net = result_net if bet else -streets.fold_loss
                    nets[net] = nets.get(net, 0) + cases
                    staked += cases * (2 * streets.ante + bet)
        return nets, staked


@dataclass(frozen=True, slots=True)
class StrengthTables:
    """Lookup tables for the poker strength of seven cards; see :func:`paytables.cards.subsets.build_rank_steps`."""

    ranks: tuple[Ints, ...]
    """Tables to look up the rank state after each further card, and the strength of each final state and flush."""
    strengths: Ints
    """All different strengths in ascending order. The other tables refer to a strength by its index here."""
    combination_by_strength: Ints
    """The combination (pair, flush ...) of each strength in ``strengths``, as a number."""
    lowest_qualifying_index: int
    """The index in ``strengths`` of the lowest strength with which the bank qualifies."""


def build_strength_tables(lowest_qualifying_strength: int) -> StrengthTables:
    """Return the lookup tables for the poker strength of seven cards, with strengths numbered without gaps.

    ``lowest_qualifying_strength`` is the strength of the lowest hand with which the bank qualifies.
    """
    steps, keys = build_rank_steps(7, 13)
    ranking = HandRanking(FIVE_CARD_RANKING)
    plain = np.array([ranking.compute_rank_strength(key) for key in keys])
    flush = [
        ranking.compute_flush_strength(mask, 0) if 5 <= mask.bit_count() <= 7 else 0 for mask in range(8192)
    ]
    strengths = np.unique(np.append(plain, [value for value in flush if value]))
    suited = np.where(np.array(flush) > 0, np.searchsorted(strengths, flush), -1)
    sizes = [len(step) for step in steps[:5]]
    five = np.zeros((5, max(sizes), 13), dtype=np.int32)
    for n, step in enumerate(steps[:5]):
        five[n, : len(step)] = step
    return StrengthTables(
        ranks=(
            five,
            steps[5],
            steps[6],
            np.searchsorted(strengths, plain).astype(np.int32),
            suited.astype(np.int32),
        ),
        strengths=strengths,
        combination_by_strength=(strengths >> 20).astype(np.int8),
        lowest_qualifying_index=int(np.searchsorted(strengths, lowest_qualifying_strength)),
    )


def _fill_strengths(
    board: Ints, unseen: Ints, ranks: Ints, strengths: Ints, strength_counts: Ints
) -> tuple[int, int]:
    """Write to ``strengths`` the strength of each pair of hole cards on one board of five cards.

    ``strength_counts`` gets the number of pairs with each strength. Return the lowest and the highest strength. The
    pair of hole cards a < b has the index b (b - 1) / 2 + a.
    """
    five, sixth, seventh, plain, suited = ranks
    state = 0
    masks = [0, 0, 0, 0]
    flush = -1
    for n in range(5):
        suit = board[n] & 3
        state = five[n, state, board[n] >> 2]
        masks[suit] |= 1 << (board[n] >> 2)
    for suit in range(4):
        mask = masks[suit]
        if mask & (mask - 1) and (mask & (mask - 1)) & ((mask & (mask - 1)) - 1):  # three bits or more
            flush = suit
    low, high = 1 << 20, 0
    for nb in range(47):
        b = unseen[nb]
        after = sixth[state, b >> 2]
        for na in range(nb):
            a = unseen[na]
            best = plain[seventh[after, a >> 2]]
            if flush >= 0:
                mask = masks[flush]
                if a & 3 == flush:
                    mask |= 1 << (a >> 2)
                if b & 3 == flush:
                    mask |= 1 << (b >> 2)
                best = max(best, suited[mask])
            strengths[b * (b - 1) // 2 + a] = best
            strength_counts[best] += 1
            low, high = min(low, best), max(high, best)
    return low, high


def _count_bank_hands(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    unseen: Ints,
    low: int,
    high: int,
    lowest_qualifying_index: int,
    strengths: Ints,
    sorted_holes: Ints,
    strength_counts: Ints,
    counts: Ints,
) -> None:
    """Count how each pair of hole cards on a board compares with the bank's possible hands.

    ``counts`` gets three numbers for each pair: the bank's hands that do not qualify, those that qualify and are
    weaker, and those that are equal. ``sorted_holes`` is a work array.
    """
    # sort the pairs by strength: strength_counts[strength] becomes the index of the first pair of this strength
    start = 0
    for strength in range(low, high + 1):
        start, strength_counts[strength] = start + strength_counts[strength], start
    for nb in range(47):
        for na in range(nb):
            a, b = unseen[na], unseen[nb]
            best = strengths[b * (b - 1) // 2 + a]
            sorted_holes[strength_counts[best]] = b << 6 | a
            strength_counts[best] += 1
    # the number of pairs that contain each card: among the weaker pairs, the equal ones and those that do not qualify
    weaker_by_card = [0] * 52
    equal_by_card = [0] * 52
    unqualified_by_card = [0] * 52
    unqualified = begin = 0
    for strength in range(low, high + 1):
        end, strength_counts[strength] = strength_counts[strength], 0
        if end == begin:
            continue
        for n in range(begin, end):
            equal_by_card[sorted_holes[n] >> 6] += 1
            equal_by_card[sorted_holes[n] & 63] += 1
        for n in range(begin, end):
            b, a = sorted_holes[n] >> 6, sorted_holes[n] & 63
            hole = b * (b - 1) // 2 + a
            counts[hole, 1] = begin - weaker_by_card[a] - weaker_by_card[b]
            # the pair itself is counted once and subtracted twice
            counts[hole, 2] = end - begin - equal_by_card[a] - equal_by_card[b] + 1
        for card in unseen:
            weaker_by_card[card] += equal_by_card[card]
            equal_by_card[card] = 0
            if strength < lowest_qualifying_index:
                unqualified_by_card[card] = weaker_by_card[card]
        if strength < lowest_qualifying_index:
            unqualified = end
        begin = end
    for nb in range(47):
        for na in range(nb):
            a, b = unseen[na], unseen[nb]
            hole = b * (b - 1) // 2 + a
            if strengths[hole] < lowest_qualifying_index:
                counts[hole, 0] = unqualified - unqualified_by_card[a] - unqualified_by_card[b] + 1
                counts[hole, 1] = counts[hole, 2] = 0
            else:
                counts[hole, 0] = unqualified - unqualified_by_card[a] - unqualified_by_card[b]
                counts[hole, 1] -= counts[hole, 0]


def _add_flop_nets(
    flop: Ints,
    ranks: Ints,
    combination_by_strength: Ints,
    lowest_qualifying_index: int,
    money: Ints,
    pays: Ints,
    strengths: Callable[..., tuple[int, int]],
    count_bank_hands: Callable[..., object],
    counts: Ints,
    turns: Ints,
    sums: Ints,
) -> None:
    """Add up the player's net results with each pair of hole cards over the 1,176 boards of a flop.

    ``money`` has the ante, the turn bet and the river bet. ``turns[turn, hole]`` gets two sums over all rivers, if the
    player continues at the turn: with the best and with the worst river decision. ``sums[hole]`` gets two sums over all
    boards: the net result without a raise, and what each unit raised before the turn adds to it.
    """
    ante, turn_bet, river_bet = money
    strength_by_hole = [0] * 1326
    sorted_holes = [0] * 1081  # the pairs of the 47 unseen cards
    strength_counts = [0] * len(combination_by_strength)
    unseen_by_flop = [card for card in range(52) if card not in (flop[0], flop[1], flop[2])]
    for second in range(49):
        for first in range(second):
            turn, river = unseen_by_flop[first], unseen_by_flop[second]
            unseen = [card for card in unseen_by_flop if card not in (turn, river)]
            board = (flop[0], flop[1], flop[2], turn, river)
            low, high = strengths(board, unseen, ranks, strength_by_hole, strength_counts)
            count_bank_hands(
                unseen,
                low,
                high,
                lowest_qualifying_index,
                strength_by_hole,
                sorted_holes,
                strength_counts,
                counts,
            )
            for nb in range(47):
                for na in range(nb):
                    hole = unseen[nb] * (unseen[nb] - 1) // 2 + unseen[na]
                    unqualified, weaker, equal = counts[hole, 0], counts[hole, 1], counts[hole, 2]
                    better = BANK_HAND_COUNT - unqualified - weaker - equal
                    base = (
                        unqualified * ante
                        + weaker * (ante + pays[combination_by_strength[strength_by_hole[hole]]])
                        - 2 * ante * better
                    )
                    # what each unit of a bet adds, over all hands of the bank that qualify
                    net_per_unit = weaker - better
                    after_turn = base + net_per_unit * turn_bet
                    best = after_turn + max(0, net_per_unit * river_bet)
                    worst = after_turn + min(0, net_per_unit * river_bet)
                    for card in (turn, river):
                        turns[card, hole, 0] += best
                        turns[card, hole, 1] += worst
                    sums[hole, 0] += base
                    sums[hole, 1] += net_per_unit


def _count_flop_cases(
    flop: Ints,
    ranks: Ints,
    combination_by_strength: Ints,
    lowest_qualifying_index: int,
    equal_flops: int,
    strengths: Callable[..., tuple[int, int]],
    count_bank_hands: Callable[..., object],
    counts: Ints,
    early_bets: Ints,
    continues: Ints,
    distribution: Ints,
) -> None:
    """Count the results of all rounds with one flop, for given decisions before the river.

    ``early_bets[hole]`` is the index of the bet made before the turn, 0 for none; ``continues[turn, hole]`` says
    whether a player without such a bet continues. ``equal_flops`` is the number of flops that this one
    represents. ``distribution[bet, result]`` gets the number of cases. Bets: 0 folded, 1 turn, 2 turn and
    river, then the bets before the turn. Results: the bank does not qualify, the player is worse, equal, then
    better by combination.
    """
    strength_by_hole = [0] * 1326
    sorted_holes = [0] * 1081  # the pairs of the 47 unseen cards
    strength_counts = [0] * len(combination_by_strength)
    unseen_by_flop = [card for card in range(52) if card not in (flop[0], flop[1], flop[2])]
    for second in range(49):
        for first in range(second):
            turn, river = unseen_by_flop[first], unseen_by_flop[second]
            unseen = [card for card in unseen_by_flop if card not in (turn, river)]
            board = (flop[0], flop[1], flop[2], turn, river)
            low, high = strengths(board, unseen, ranks, strength_by_hole, strength_counts)
            count_bank_hands(
                unseen,
                low,
                high,
                lowest_qualifying_index,
                strength_by_hole,
                sorted_holes,
                strength_counts,
                counts,
            )
            for nb in range(47):
                for na in range(nb):
                    hole = unseen[nb] * (unseen[nb] - 1) // 2 + unseen[na]
                    unqualified, weaker, equal = counts[hole, 0], counts[hole, 1], counts[hole, 2]
                    better = BANK_HAND_COUNT - unqualified - weaker - equal
                    for card in (turn, river):
                        bet = 2 if weaker > better else 1
                        if early_bets[hole]:
                            bet = 2 + early_bets[hole]
                        elif not continues[card, hole]:
                            distribution[0, 0] += BANK_HAND_COUNT * equal_flops
                            continue
                        distribution[bet, 0] += unqualified * equal_flops
                        distribution[bet, 1] += better * equal_flops
                        distribution[bet, 2] += equal * equal_flops
                        distribution[bet, 3 + combination_by_strength[strength_by_hole[hole]]] += (
                            weaker * equal_flops
                        )


@cache
def _compile_kernels() -> tuple[Callable[..., object], ...]:
    """Return this module's four inner loops, compiled by numba: strengths, bank hands, net results, cases."""
    import numba  # noqa: PLC0415 (laboratory package)

    return tuple(
        numba.njit(nogil=True)(kernel)
        for kernel in (_fill_strengths, _count_bank_hands, _add_flop_nets, _count_flop_cases)
    )

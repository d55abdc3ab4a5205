"""The exact distribution of a blackjack box's net result for a given strategy (needs numpy and numba).

The hands of a split share the shoe and the dealer's hand. But each hand is played by its own cards, and all
orders of the shoe are equally likely. So the number of ways to get given cards is the number of ways to draw
them, and the dealer's hand depends only on the combined cards of all hands. The results of the hands are
therefore summed by their combined cards, one hand after the other, and the dealer is enumerated once for each
combination.

Two hands take seconds. Three would take more than a minute. Their second moment follows from the second moments of two
hands and of one hand, so the variance is exact; net results are simulated
(:mod:`paytables.blackjack.round_simulation`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from paytables.blackjack.advice import (
    DOUBLE_OPTION,
    HIT_OPTION,
    PACKED_SIX_SEVEN_EIGHT,
    PACKED_STARTS_OF_SUITED_678,
    HandQuestion,
    HandSituation,
)
from paytables.blackjack.dealer import DEALER_RESULT_COUNT, compute_falling_factorial
from paytables.blackjack.hands import (
    PACKED_CARD_BY_VALUE,
    PACKED_COUNT_BITS,
    PACKED_COUNT_MAX,
    list_card_values,
)
from paytables.blackjack.net_weights import compile_kernel, count_orders_by_net
from paytables.blackjack.schema import ACE_VALUE, BEST_HAND_TOTAL, TEN_VALUE

if TYPE_CHECKING:
    from paytables.blackjack.policies import StrategyCalculator, StrategyResult
    from paytables.blackjack.solve import HandNodes, SolvedRound, SplitBranch, SplitPair
    from paytables.cards.arrays import Ints

#: The maximum number of hands of a split for which the distribution, and the variance, are computed.
EXACT_DISTRIBUTION_HANDS_MAX: Final = 2
#: The maximum number of hands of a split for which the variance is computed.
EXACT_VARIANCE_HANDS_MAX: Final = 3
#: The packed hand of three sevens.
_PACKED_THREE_SEVENS: Final = 3 * PACKED_CARD_BY_VALUE[6]
#: The packed hand of an ace and a ten.
_PACKED_BLACKJACK: Final = PACKED_CARD_BY_VALUE[ACE_VALUE - 1] + PACKED_CARD_BY_VALUE[TEN_VALUE - 1]
#: The net result of a hand for each final result of the dealer, a blackjack last.
NetByDealerResult: TypeAlias = tuple[int, ...]
#: Finished hands: all their cards and their nets, with the number of orders that lead there. Hands that bust
#: are counted as any hand with one more card, minus those that do not bust.
HandEnds: TypeAlias = Mapping[tuple[int, NetByDealerResult], int]


@dataclass(frozen=True, slots=True)
class _JointResults:
    """Counts of the joint results of several hands of a blackjack box.

    ``ways[row, end, n]`` is the number of ways in which the hands together have the cards ``cards[row]`` and
    the net result of the box is ``lowest_net + net_step * n`` if the dealer ends with the result ``end``.
    """

    cards: Ints
    """The combined cards of the hands, as one packed hand for each row of ``ways``."""
    ways: Ints
    """The number of ways, by combined cards, result of the dealer, and net result."""
    lowest_net: int
    """The lowest net result of the box, in units; it has index 0 in the last axis of ``ways``."""
    net_step: int
    """The difference between the net results of two adjacent indices in ``ways``, in units."""

    def refine_step(self, net_step: int) -> _JointResults:
        """Return the same counts with net results in smaller steps; ``net_step`` must divide the current step."""
        if net_step == self.net_step or not self.net_step:
            return self
        ratio = self.net_step // net_step
        ways: Ints = np.zeros((*self.ways.shape[:2], (self.ways.shape[2] - 1) * ratio + 1), dtype=np.int64)
        ways[:, :, ::ratio] = self.ways
        return _JointResults(self.cards, ways, self.lowest_net, net_step)


def can_be_counted_exactly(calculator: StrategyCalculator, strategy: StrategyResult, hands_max: int) -> bool:
    """Return whether the distribution of a blackjack strategy's net result can be counted exactly.

    It can if the strategy splits into at most ``hands_max`` hands and no split depends on suits or ranks.
    """
    has_suited_pay = calculator.house.suited_678_odds is not None
    return all(
        hand_count <= hands_max
        and not (pair == TEN_VALUE and calculator.house.splits_same_rank_only)
        and not (has_suited_pay and 6 <= pair <= 8)
        for (_, pair, _), hand_count in strategy.hand_count_by_pair.items()
    )


def compute_net_distribution(
    calculator: StrategyCalculator, option_by_question: Mapping[HandQuestion, int], strategy: StrategyResult
) -> dict[Fraction, Fraction]:
    """Return the probability of each net result, in stakes, of one initial blackjack stake.

    ``option_by_question`` has the option that the strategy takes at each decision on a hand. ``strategy`` has its
    decisions on insurance, even money and splits.
    """
    return _NetDistribution(calculator, option_by_question, strategy).compute_distribution()


def compute_net_variance(
    calculator: StrategyCalculator, option_by_question: Mapping[HandQuestion, int], strategy: StrategyResult
) -> Fraction:
    """Return the variance of the net result of one initial blackjack stake, in stakes squared.

    It takes the arguments of :func:`compute_net_distribution`.
    """
    chance_by_net = _NetDistribution(calculator, option_by_question, strategy).compute_distribution()
    mean = sum((net * chance for net, chance in chance_by_net.items()), Fraction(0))
    return sum((net**2 * chance for net, chance in chance_by_net.items()), -(mean**2))


def compute_back_bet_distribution(
    calculator: StrategyCalculator, option_by_question: Mapping[HandQuestion, int], strategy: StrategyResult
) -> dict[Fraction, Fraction]:
    """Return the probability of each net result of one stake on another player's hand.

    ``option_by_question`` and ``strategy`` are the decisions of that player. The stake stays on the first hand of a
    split, and is never insured or doubled (Québec s. 16). The strategy must split into two hands at most.
    """
    return _BackBetDistribution(
        calculator, option_by_question, replace(strategy, insured_hands=set(), even_money_up_cards=set())
    ).compute_distribution()


class _NetDistribution:
    """The distribution of one strategy's net result, computed for each up card of the dealer in turn."""

    stake_count_after_double = 2
    """The number of stakes on a hand after a double."""

    def __init__(
        self,
        calculator: StrategyCalculator,
        option_by_question: Mapping[HandQuestion, int],
        strategy: StrategyResult,
    ) -> None:
        house = calculator.house
        self.calculator, self.house, self.option_by_question, self.strategy = (
            calculator,
            house,
            option_by_question,
            strategy,
        )
        all_odds = [
            house.blackjack_odds,
            house.insurance_odds or Fraction(0),
            house.sevens_odds,
            house.suited_678_odds,
        ]
        self.unit = 2 * lcm(*(odds.denominator for odds in all_odds if odds is not None))
        """The number of parts (units) into which a stake is divided, so that every net result is a whole number."""
        # two cards are of one suit in a quarter of the orders, and a third card of it in a quarter of these
        self.suit_parts = 1 if house.suited_678_odds is None else 16
        self.original_bets_only = house.has_hole_card or house.original_bets_only

    def compute_distribution(self) -> dict[Fraction, Fraction]:
        """Return the probability of each net result of one initial blackjack stake.

        If a pair is split into three hands, the result has only the right mean and variance.
        """
        chance_by_net: dict[int, Fraction] = defaultdict(Fraction)
        for round_ in self.calculator.rounds:
            up_card_chance = Fraction(
                self.calculator.shoe[round_.up_card_value - 1], sum(self.calculator.shoe)
            )
            for net, chance in self._iter_round_nets(round_):
                chance_by_net[net] += up_card_chance * chance
        return {Fraction(net, self.unit): chance for net, chance in sorted(chance_by_net.items()) if chance}

    def _iter_round_nets(self, round_: SolvedRound) -> Iterable[tuple[int, Fraction]]:
        """Yield each net result with its probability, given the dealer's up card."""
        single_hand_ends: dict[tuple[int, NetByDealerResult], int] = defaultdict(int)
        split_by_hand = {
            2 * PACKED_CARD_BY_VALUE[split.card_value - 1]: split
            for split in round_.splits
            if (round_.up_card_value, split.card_value, split.dealer_has_pair_rank)
            in self.strategy.hand_count_by_pair
        }
        for hand in (hand for hand in round_.tree if round_.hand_values[hand].card_count == 2):
            insurance_nets = self._find_insurance_nets(round_.up_card_value, hand)
            if hand == _PACKED_BLACKJACK:
                takes_even_money = round_.up_card_value in self.strategy.even_money_up_cards
                nets = (
                    (self.unit,) * (DEALER_RESULT_COUNT + 1)
                    if takes_even_money
                    else (*(self._convert_odds_to_units(self.house.blackjack_odds),) * DEALER_RESULT_COUNT, 0)
                )
                single_hand_ends[hand, _add_nets(nets, insurance_nets)] += 2 * self.suit_parts
            elif hand not in split_by_hand:
                order_count = self.suit_parts * (1 if len(set(list_card_values(hand))) == 1 else 2)
                order_count_by_end = self._count_hand_ends(
                    round_,
                    round_.tree,
                    HandSituation(round_.up_card_value),
                    {hand: order_count},
                    has_first_stake=True,
                )
                for (cards, nets), end_orders in order_count_by_end.items():
                    single_hand_ends[cards, _add_nets(nets, insurance_nets)] += end_orders
        yield from _iter_net_chances(round_, _create_one_hand_results(single_hand_ends), self.suit_parts)
        for hand, split in split_by_hand.items():
            yield from self._iter_split_nets(
                round_, split, self._find_insurance_nets(round_.up_card_value, hand)
            )

    def _convert_odds_to_units(self, odds: Fraction) -> int:
        """Return what net odds pay on one stake, in units (``unit`` units are one stake)."""
        return int(odds * self.unit)

    def _find_insurance_nets(self, up_card_value: int, hand: int) -> NetByDealerResult:
        """Return the net result of insurance, in units, for each dealer result; all zero if the hand is not insured."""
        odds = self.house.insurance_odds
        if odds is None or up_card_value != ACE_VALUE or hand not in self.strategy.insured_hands:
            return (0,) * (DEALER_RESULT_COUNT + 1)
        return (*(-self.unit // 2,) * DEALER_RESULT_COUNT, self._convert_odds_to_units(odds / 2))

    def _iter_split_nets(
        self, round_: SolvedRound, split: SplitPair, insurance_nets: NetByDealerResult
    ) -> Iterable[tuple[int, Fraction]]:
        """Yield each net result of a split pair, with its probability.

        The pair is split into two hands, or into three if a second card has the pair's value. ``insurance_nets`` are
        the net results of insurance, which are added.
        """
        hands_max = self.strategy.hand_count_by_pair[
            round_.up_card_value, split.card_value, split.dealer_has_pair_rank
        ]
        first_hand_ends, other_hand_ends = (
            self._count_split_hand_ends(round_, split.branches[hands_max], has_first_stake=is_first_hand)
            for is_first_hand in (True, False)
        )
        first_hand_ends = {
            (cards, _add_nets(nets, insurance_nets)): orders
            for (cards, nets), orders in first_hand_ends.items()
        }
        if hands_max == EXACT_DISTRIBUTION_HANDS_MAX:
            yield from _iter_net_chances(
                round_,
                _add_hand_results(_create_one_hand_results(first_hand_ends), other_hand_ends),
                self.suit_parts**2,
            )
            return
        done_first_hand_ends, done_other_hand_ends = (
            self._count_split_hand_ends(round_, split.branches[hands_max][:1], has_first_stake=is_first_hand)
            for is_first_hand in (True, False)
        )
        done_first_hand_ends = {
            (cards, _add_nets(nets, insurance_nets)): orders
            for (cards, nets), orders in done_first_hand_ends.items()
        }
        # two hands: the second card of neither has the pair's value
        yield from _iter_net_chances(
            round_,
            _add_hand_results(_create_one_hand_results(done_first_hand_ends), done_other_hand_ends),
            self.suit_parts**2,
        )
        # Three hands with the nets x, y and z: x + y + z = (x + y) + (x + z) + (y + z) - x - y - z, and the same is
        # true of the squares of these seven sums. So the mean and the variance follow from pairs of hands and from
        # single hands, with these signs. A hand that is left out only takes its first card, which has the pair's value,
        # out of the shoe. The first hand (x) either was split again, and then takes any second card, or was done before
        # the second hand was split again. A done hand that is left out has any second card (+1) except one of the
        # pair's value (-1, with one more such card out of the shoe).
        for hand_end, orders in done_first_hand_ends.items():
            first_hand_ends[hand_end] = first_hand_ends.get(hand_end, 0) + orders
        pair_card = PACKED_CARD_BY_VALUE[split.card_value - 1]
        for order_count_by_end, removed_cards, factor in (
            (first_hand_ends, 1, 2),  # x + y, x + z
            (other_hand_ends, 1, 2),  # y + z: the first hand was split again, or has any second card
            (other_hand_ends, 2, -1),  # y + z: the first hand has a second card of the pair's value
        ):
            joint_results = _add_hand_results(
                _create_one_hand_results(order_count_by_end, removed_cards * pair_card), other_hand_ends
            )
            yield from _iter_net_chances(round_, joint_results, self.suit_parts**2, factor)
        for order_count_by_end, removed_cards, factor in (
            (first_hand_ends, 2, -1),  # x
            (other_hand_ends, 2, -4),  # y, z: the first hand was split again, or has any second card
            (other_hand_ends, 3, 2),  # y, z: the first hand has a second card of the pair's value
        ):
            yield from _iter_net_chances(
                round_,
                _create_one_hand_results(order_count_by_end, removed_cards * pair_card),
                self.suit_parts,
                factor,
            )

    def _count_split_hand_ends(
        self, round_: SolvedRound, branches: Iterable[SplitBranch], *, has_first_stake: bool
    ) -> dict[tuple[int, NetByDealerResult], int]:
        """Return the ways in which one hand of a blackjack split may end, by its cards and net results.

        ``branches`` are the groups of split hands to add up; ``has_first_stake``: the hand has the box's first stake.
        """
        order_count_by_end: dict[tuple[int, NetByDealerResult], int] = defaultdict(int)
        for branch in branches:
            start_orders = dict.fromkeys(
                self.calculator.evaluation.list_start_hands(round_.hand_values, branch), self.suit_parts
            )
            for hand_end, orders in self._count_hand_ends(
                round_, branch.tree, branch.situation, start_orders, has_first_stake=has_first_stake
            ).items():
                order_count_by_end[hand_end] += orders
        return order_count_by_end

    # ------------------------------------------------------------ one hand
    def _count_hand_ends(
        self,
        round_: SolvedRound,
        tree: HandNodes,
        situation: HandSituation,
        start_order_counts: Mapping[int, int],
        *,
        has_first_stake: bool,
    ) -> dict[tuple[int, NetByDealerResult], int]:
        """Return the number of ways in which a blackjack hand may end, by its final cards and its net results.

        ``start_order_counts`` has the number of orders of each hand of two cards; ``has_first_stake``: the hand has the
        box's first stake.
        """
        order_count_by_end: dict[tuple[int, NetByDealerResult], int] = defaultdict(int)
        unfinished_hands = dict(start_order_counts)
        while unfinished_hands:
            still_unfinished: dict[int, int] = defaultdict(int)
            for hand, orders in unfinished_hands.items():
                order_shares = [(False, orders)]
                if self.house.suited_678_odds is not None and hand in PACKED_STARTS_OF_SUITED_678:
                    order_shares = [(False, orders * 3 // 4), (True, orders // 4)]
                for is_suited, order_share in order_shares:
                    option = self.option_by_question[situation, hand, is_suited]
                    if option not in {HIT_OPTION, DOUBLE_OPTION}:
                        order_count_by_end[
                            hand, self._find_hand_nets(round_, hand, 1, has_first_stake=has_first_stake)
                        ] += order_share
                        continue
                    stake_count = self.stake_count_after_double if option == DOUBLE_OPTION else 1
                    bust_nets = self._find_lost_nets(stake_count, has_first_stake=has_first_stake)
                    # any card busts the hand; then subtract the cards that do not
                    order_count_by_end[hand, bust_nets] += order_share
                    for child in (c for _, c in round_.hand_values[hand].hands_after_card if c in tree):
                        order_count_by_end[child, bust_nets] -= order_share
                        count = order_share
                        if (
                            is_suited
                            and child == PACKED_SIX_SEVEN_EIGHT
                            and self.house.suited_678_odds is not None
                        ):
                            count = order_share * 3 // 4
                            nets = self._find_immediate_nets(
                                self.house.suited_678_odds, stake_count, has_first_stake=has_first_stake
                            )
                            order_count_by_end[child, nets] += order_share // 4
                        if option == HIT_OPTION:
                            still_unfinished[child] += count
                        else:
                            order_count_by_end[
                                child,
                                self._find_hand_nets(
                                    round_, child, stake_count, has_first_stake=has_first_stake
                                ),
                            ] += count
            unfinished_hands = still_unfinished
        return order_count_by_end

    def _find_hand_nets(
        self, round_: SolvedRound, hand: int, stake_count: int, *, has_first_stake: bool
    ) -> NetByDealerResult:
        """Return what a finished player's hand wins or loses (negative), in units, for each result of the dealer."""
        if hand == _PACKED_THREE_SEVENS and self.house.sevens_odds is not None:
            return self._find_immediate_nets(
                self.house.sevens_odds, stake_count, has_first_stake=has_first_stake
            )
        best_total, won_units = round_.hand_values[hand].best_total, stake_count * self.unit
        nets = [
            won_units if best_total > end else -won_units if best_total < end else 0
            for end in range(17, BEST_HAND_TOTAL + 1)
        ]
        return (*nets, won_units, self._find_lost_nets(stake_count, has_first_stake=has_first_stake)[-1])

    def _find_lost_nets(self, stake_count: int, *, has_first_stake: bool) -> NetByDealerResult:
        """Return the net result of a player's bust hand, in units, for each result of the dealer.

        Against a blackjack, only the box's first stake may be lost, if the rules say so.
        """
        lost_stakes = int(has_first_stake) if self.original_bets_only else stake_count
        return (*(-stake_count * self.unit,) * DEALER_RESULT_COUNT, -lost_stakes * self.unit)

    def _find_immediate_nets(
        self, odds: Fraction, stake_count: int, *, has_first_stake: bool
    ) -> NetByDealerResult:
        """Return the net result, in units, of a hand that is paid before the dealer draws, for each dealer result."""
        won_units = self._convert_odds_to_units(odds) * stake_count
        return (
            *(won_units,) * DEALER_RESULT_COUNT,
            -int(has_first_stake) * self.unit if self.house.has_hole_card else won_units,
        )


class _BackBetDistribution(_NetDistribution):
    """The distribution of the net result of a stake on another player's blackjack hand."""

    stake_count_after_double = 1
    """The number of stakes after a double: a stake on another player's hand is not doubled."""

    def _iter_split_nets(
        self,
        round_: SolvedRound,
        split: SplitPair,
        insurance_nets: NetByDealerResult,  # noqa: ARG002 (signature of the base class)
    ) -> Iterable[tuple[int, Fraction]]:
        """Yield each net result of the first hand of a split pair, with its probability, without insurance."""
        hands_max = self.strategy.hand_count_by_pair[
            round_.up_card_value, split.card_value, split.dealer_has_pair_rank
        ]
        order_count_by_end = self._count_split_hand_ends(
            round_, split.branches[hands_max], has_first_stake=True
        )
        yield from _iter_net_chances(
            round_,
            _create_one_hand_results(order_count_by_end, PACKED_CARD_BY_VALUE[split.card_value - 1]),
            self.suit_parts,
        )


def _add_nets(nets: NetByDealerResult, other_nets: NetByDealerResult) -> NetByDealerResult:
    """Return the sum of the net results of a hand and of other bets on it, for each result of the dealer."""
    return tuple(map(sum, zip(nets, other_nets, strict=True)))


# ------------------------------------------------------------ several hands together
def _create_one_hand_results(ends: HandEnds, removed_hand: int = 0) -> _JointResults:
    """Return the joint results of a single blackjack hand, from the counts of its possible ends.

    ``removed_hand`` are further cards out of the shoe, as a packed hand.
    """
    removed_cards: Ints = np.array([removed_hand], dtype=np.int64)
    return _add_hand_results(
        _JointResults(removed_cards, np.ones((1, DEALER_RESULT_COUNT + 1, 1), dtype=np.int64), 0, 0), ends
    )


def _add_hand_results(joint_results: _JointResults, ends: HandEnds) -> _JointResults:
    """Return the joint results ``joint_results`` of several blackjack hands with one more hand added.

    ``ends`` are the counts of the added hand's possible ends.
    """
    counted_ends = [(cards, nets, orders) for (cards, nets), orders in ends.items() if orders]
    different_nets = {net for _, nets, _ in counted_ends for net in nets}
    net_min, net_max = min(different_nets), max(different_nets)
    net_step = gcd(joint_results.net_step, *(net - net_min for net in different_nets))
    joint_results = joint_results.refine_step(net_step)
    own_cards: Ints = np.array([cards for cards, _, _ in counted_ends], dtype=np.int64)
    nets: Ints = (
        np.array([hand_nets for _, hand_nets, _ in counted_ends], dtype=np.int64) - net_min
    ) // net_step
    orders: Ints = np.array([count for _, _, count in counted_ends], dtype=np.int64)
    cards: Ints = np.zeros(0, dtype=np.int64)
    for part in np.array_split(np.unique(own_cards), 1 + len(own_cards) * len(joint_results.cards) // 10**7):
        cards = np.union1d(cards, (part[:, None] + joint_results.cards).ravel())
    width = joint_results.ways.shape[2] + (net_max - net_min) // net_step
    ways: Ints = np.zeros((len(cards), DEALER_RESULT_COUNT + 1, width), dtype=np.int64)
    compile_kernel(_add_hand)(joint_results.cards, joint_results.ways, own_cards, nets, orders, cards, ways)
    return _JointResults(cards, ways, joint_results.lowest_net + net_min, net_step)


def _add_hand(
    cards: Ints, ways: Ints, own_cards: Ints, nets: Ints, orders: Ints, joint_cards: Ints, joint_counts: Ints
) -> None:  # pragma: no cover (compiled)
    """Add one more blackjack hand to the joint results of several hands; the counts are added to ``joint_counts``.

    ``own_cards`` and ``orders`` are the cards of the hand and its number of ways by result; ``nets[n, end]`` is the
    index of hand n's net result. The combined cards ``joint_cards`` are sorted.
    """
    for n in range(len(own_cards)):
        joint_row = 0
        for row in range(len(cards)):
            joint_hand, end = cards[row] + own_cards[n], len(joint_cards)
            while joint_row < end:  # binary search; both are sorted, so it starts at the last hit
                middle = (joint_row + end) // 2
                if joint_cards[middle] < joint_hand:
                    joint_row = middle + 1
                else:
                    end = middle
            for dealer_end in range(ways.shape[1]):
                for net in range(ways.shape[2]):
                    joint_counts[joint_row, dealer_end, net + nets[n, dealer_end]] += (
                        orders[n] * ways[row, dealer_end, net]
                    )


def _iter_net_chances(
    round_: SolvedRound, joint_results: _JointResults, parts: int, factor: int = 1
) -> Iterable[tuple[int, Fraction]]:
    """Yield each net result of the joint hands against the dealer, with its probability multiplied by ``factor``.

    ``parts`` is the number of parts into which the orders of the hands' cards were divided.
    """
    dealer = round_.dealer
    removed_counts: Ints = (
        joint_results.cards[:, None] >> PACKED_COUNT_BITS * np.arange(TEN_VALUE) & PACKED_COUNT_MAX
    )
    fits = (removed_counts <= np.array(dealer.counts_after_up_card)).all(axis=1)
    removed_counts, ways, removed_card_counts = (
        removed_counts[fits],
        joint_results.ways[fits],
        removed_counts[fits].sum(axis=1),
    )
    for removed_card_count in np.unique(removed_card_counts).tolist():
        has_that_count = removed_card_counts == removed_card_count
        cards_left = round_.cards_left - removed_card_count
        drawn_count_max = min(dealer.drawn_cards_max, cards_left)
        continuation_ways = [
            compute_falling_factorial(cards_left - length, drawn_count_max - length)
            for length in range(drawn_count_max + 1)
        ]
        net_ways = count_orders_by_net(
            dealer, removed_counts[has_that_count], ways[has_that_count], continuation_ways
        )
        order_count = (
            parts
            * compute_falling_factorial(round_.cards_left, removed_card_count)
            * compute_falling_factorial(cards_left, drawn_count_max)
        )
        for net, count in enumerate(net_ways):
            yield (
                joint_results.net_step * net + joint_results.lowest_net,
                factor * Fraction(count, order_count),
            )

"""Exact solution of blackjack from a full shoe: for laboratories (numpy counts the dealer's results).

After the dealer's up card, each course of play has an integer weight: of all sequences in which a fixed number
of further cards can be drawn, the number in which it occurs. The figures of a hand are therefore sums over the hands
that it can become. A condition, such as that the dealer has no blackjack, only changes the weights. The only
division is the last step.

Splits: the strategies considered here decide on a hand of a split by its own cards and the dealer's first
card, not by the cards of the other hands. For every such strategy all orders of the shoe are equally likely,
so each hand may be treated as the first, and the mean of a split is a sum over hands in shoes that lack pair
cards (inclusion and exclusion, see :func:`~.hands.compute_split_coefficients`). The best and the worst strategy are
those among these strategies. A decision on a hand that was not split uses all cards that the player sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from paytables.blackjack.advice import (
    DOUBLE_OPTION,
    HIT_OPTION,
    PACKED_SIX_SEVEN_EIGHT,
    PACKED_STARTS_OF_SUITED_678,
    STAND_OPTION,
    HandSituation,
)
from paytables.blackjack.dealer import DealerFinalHands, compute_falling_factorial
from paytables.blackjack.hands import (
    PACKED_CARD_BY_VALUE,
    PACKED_COUNT_BITS,
    PACKED_COUNT_MAX,
    HandValue,
    ShoeCounts,
    compute_hand_values,
    compute_split_coefficients,
    is_part_of_hand,
    list_card_values,
    list_hands_containing,
    pack_counts,
)
from paytables.blackjack.schema import ACE_VALUE, BEST_HAND_TOTAL, TEN_VALUE, AnalysedHouseRules

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints

#: The packed hand of three sevens.
_PACKED_THREE_SEVENS: Final = 3 * PACKED_CARD_BY_VALUE[6]

#: Two sums over all ways to continue from a hand with a strategy: of the net results, and of the stakes added.
NetAndStakeSums: TypeAlias = tuple[int, int]
#: For each permitted decision on a hand, by its number: the sums that follow from it.
SumsByOption: TypeAlias = Mapping[int, NetAndStakeSums]


@dataclass(slots=True)
class HandNode:
    """The number of card orders in which a blackjack hand occurs, and its net result if it stands."""

    ordinary_ways: int = 0
    """The card orders in which the dealer has no blackjack."""
    blackjack_ways: int = 0
    """The card orders in which the dealer has a blackjack."""
    first_stake_ways: int = 0
    """Those of ``blackjack_ways`` in which the hand has its box's first stake."""
    standing_net: int = 0
    """The orders in which the hand wins, less those in which it loses, if it stands."""

    def add_counts(self, node: HandNode, times: int, first_stake_times: int, divisor: int = 1) -> None:
        """Add the counts of ``node``, divided by ``divisor`` and multiplied by ``times``, to this node's counts.

        ``first_stake_ways`` is an exception: to it are added ``node.blackjack_ways``, divided by ``divisor`` and
        multiplied by ``first_stake_times``.
        """
        if divisor > 1:
            node = HandNode(
                node.ordinary_ways // divisor,
                node.blackjack_ways // divisor,
                node.first_stake_ways // divisor,
                node.standing_net // divisor,
            )
        self.ordinary_ways += node.ordinary_ways * times
        self.blackjack_ways += node.blackjack_ways * times
        self.standing_net += node.standing_net * times
        self.first_stake_ways += node.blackjack_ways * first_stake_times


#: How often each hand occurs, by the packed hand.
HandNodes: TypeAlias = dict[int, HandNode]
#: A function that returns a strategy's decision for a hand. Its arguments are the situation, the packed hand,
#: whether two cards are of one suit, and the sums of each permitted decision.
OptionChooser: TypeAlias = Callable[[HandSituation, int, bool, SumsByOption], int]


@dataclass(frozen=True, slots=True)
class SplitBranch:
    """A group of hands of a split pair for which the strategy uses the same decisions."""

    situation: HandSituation
    """The situation of these hands, apart from their cards."""
    start_hand: int
    """The packed hand (one card, or the pair again) that all these hands begin with."""
    excluded_card: int
    """The card value that cannot come second because the hand would be split again; 0: no such value."""
    tree: HandNodes
    """Every hand that the start may become, with its number of card orders."""


@dataclass(slots=True)
class SplitPair:
    """A blackjack pair that may be split: the orders that deal it, and the hands of the split."""

    card_value: int
    """The value of the paired cards."""
    order_count: int
    """The number of card orders that deal the pair."""
    pair_cards_left: int
    """The number of cards of the pair's value that are left in the shoe."""
    dealer_has_pair_rank: bool = False
    """Whether tens are split by rank and the dealer's up card has the pair's rank."""
    branches: dict[int, list[SplitBranch]] = field(default_factory=dict)
    """The groups of hands of the split, by how many hands the pair may become at most."""


class SolvedRound:
    """All blackjack hands against one up card of the dealer, each with its number of card orders, and all splits."""

    def __init__(self, house: AnalysedHouseRules, up_card_value: int, shoe: ShoeCounts) -> None:
        self.house, self.up_card_value, self.shoe = house, up_card_value, shoe
        self.dealer = DealerFinalHands(house, up_card_value, shoe)
        self.hand_values = compute_hand_values(shoe)
        """The properties of every possible hand of up to 21, by packed hand."""
        self._packed_shoe_after_up_card = pack_counts(self.dealer.counts_after_up_card)
        self.cards_left = sum(self.dealer.counts_after_up_card)
        """The number of cards in the shoe after the dealer's up card."""
        hand_cards_max = max(hand_value.card_count for hand_value in self.hand_values.values())
        self.order_length = min(
            self.cards_left, hand_cards_max + 2 * house.hands_max + 2 + self.dealer.drawn_cards_max
        )
        """The number of cards dealt in one counted order; no round needs more."""
        self._weights = [
            self._count_ways_to_continue(cards_left) for cards_left in range(self.cards_left + 1)
        ]
        """The result of :meth:`_count_ways_to_continue` for each number of cards left in the shoe."""
        # the shoes that occur, each as the value of a split pair (0: none) and the number of further cards of it
        # missing
        shoes: list[tuple[int, int]] = [(0, 0)]
        self.splits = self._list_splits()
        """The pairs that may be split."""
        for split in self.splits:
            coefficients = compute_split_coefficients(self._find_hands_max(split.card_value))
            shoes += [
                (split.card_value, n)
                for n in range(len(coefficients))
                if compute_falling_factorial(split.pair_cards_left, n)
            ]
        shoes = list(dict.fromkeys(shoes))
        self._standing_nets = self._compute_standing_nets(shoes)
        """The net results of standing, by the cards missing from the shoe and the player's total."""
        self.tree = self._build_tree(0, 0)
        """The hands that follow one another, from the empty hand on, if no pair is split."""
        tree_by_shoe: dict[tuple[int, int], HandNodes] = {
            (pair_value, missing_cards): self._build_tree(pair_value, missing_cards)
            for pair_value, missing_cards in shoes
            if pair_value
        }
        for split in self.splits:
            for hand_count in range(2, self._find_hands_max(split.card_value) + 1):
                split.branches[hand_count] = self._build_split_branches(split, hand_count, tree_by_shoe)

    @property
    def total_ways(self) -> int:
        """Return the number of orders in which the cards after the dealer's up card can be dealt."""
        return compute_falling_factorial(self.cards_left, self.order_length)

    def _find_hands_max(self, pair_value: int) -> int:
        """Return how many hands a blackjack pair of this value may become at most, by splits."""
        return self.house.ace_hands_max if pair_value == ACE_VALUE else self.house.hands_max

    def _count_ways_to_continue(self, cards_left: int) -> tuple[int, int, int]:
        """Return three numbers of ways to deal the remaining cards of an order from a shoe of ``cards_left`` cards.

        Every counted order has the same fixed number of cards. The first number is for all cards that are not dealt
        yet, the second for those after one more card, and the third for those after as many cards as the longest
        dealer hand has.
        """
        further_cards = self.order_length - (self.cards_left - cards_left)
        if further_cards < 0:
            return 0, 0, 0
        dealer_cards = min(self.dealer.drawn_cards_max, cards_left)
        return (
            compute_falling_factorial(cards_left, further_cards),
            compute_falling_factorial(cards_left - 1, further_cards - 1) if further_cards else 0,
            compute_falling_factorial(cards_left - dealer_cards, further_cards - dealer_cards)
            if further_cards >= dealer_cards
            else 0,
        )

    def _list_splits(self) -> list[SplitPair]:
        """Return the pairs that the rules allow to split.

        If tens are split by rank, pairs of the rank of the dealer's up card are listed separately.
        """
        splits: list[SplitPair] = []
        for pair_value in range(ACE_VALUE, TEN_VALUE + 1):
            card_count = self.dealer.counts_after_up_card[pair_value - 1]
            if self._find_hands_max(pair_value) < 2 or card_count < 2:
                continue
            if pair_value < TEN_VALUE or not self.house.splits_same_rank_only:
                splits.append(SplitPair(pair_value, card_count * (card_count - 1), card_count - 2))
                continue
            rank_cards = 4 * self.house.deck_count
            if self.up_card_value == TEN_VALUE:
                splits.append(
                    SplitPair(
                        pair_value,
                        compute_falling_factorial(rank_cards - 1, 2),
                        rank_cards - 3,
                        dealer_has_pair_rank=True,
                    )
                )
                splits.append(
                    SplitPair(pair_value, 3 * compute_falling_factorial(rank_cards, 2), rank_cards - 2)
                )
            else:
                splits.append(
                    SplitPair(pair_value, 4 * compute_falling_factorial(rank_cards, 2), rank_cards - 2)
                )
        return [split for split in splits if split.order_count]

    def _list_reached_hands(self, pair_value: int, missing_cards: int) -> list[tuple[int, int]]:
        """Return each hand that a player can reach, with the combined cards that are then out of the shoe.

        The dealer's up card is not included. For ``pair_value`` and ``missing_cards`` see :meth:`_build_tree`.
        """
        cards_out = (1 + missing_cards) * PACKED_CARD_BY_VALUE[pair_value - 1] if pair_value else 0
        start_hand = PACKED_CARD_BY_VALUE[pair_value - 1] if pair_value else 0
        shoe_after_up_card = self._packed_shoe_after_up_card
        hands = list_hands_containing(self.shoe, start_hand)
        if pair_value == ACE_VALUE and self.house.aces_get_one_card:
            hands = [hand for hand in hands if self.hand_values[hand].card_count <= 2]
        return [
            (hand, hand + cards_out)
            for hand in hands
            if is_part_of_hand(hand + cards_out, shoe_after_up_card)
        ]

    def _compute_standing_nets(self, shoes: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Return wins minus losses of standing in blackjack, by the cards out of the shoe and the class of the total.

        ``shoes`` has the ``pair_value`` and ``missing_cards`` (see :meth:`_build_tree`) of each shoe that occurs.
        """
        rows: dict[tuple[int, int], None] = {}
        for pair_value, missing_cards in shoes:
            for hand, out_of_shoe in self._list_reached_hands(pair_value, missing_cards):
                rows[out_of_shoe, max(self.hand_values[hand].best_total - 16, 0)] = None
        cards_out: Ints = np.array([out_of_shoe for out_of_shoe, _ in rows], dtype=np.int64)
        removed_counts: Ints = (
            cards_out[:, None] >> PACKED_COUNT_BITS * np.arange(TEN_VALUE) & PACKED_COUNT_MAX
        )
        stand_classes: Ints = np.array([stand_class for _, stand_class in rows], dtype=np.int64)
        return dict(zip(rows, self.dealer.compute_standing_nets(removed_counts, stand_classes), strict=True))

    def _build_tree(self, pair_value: int, missing_cards: int) -> HandNodes:
        """Return the number of card orders that lead to each blackjack hand, by packed hand.

        ``pair_value`` is the value of the split pair from which the hands come, or 0 if no pair was split. A hand of a
        split begins with one card of the pair; the other one and ``missing_cards`` further cards of its value are not
        in the shoe.
        """
        drawing_ways: dict[int, int] = {}
        tree: HandNodes = {}
        blackjack_card = self.dealer.blackjack_card_value
        cards_left = self.cards_left - (1 + missing_cards if pair_value else 0)

        def count_cards_left(value_index: int, removed_cards: int) -> int:
            """Return how many cards of a value the shoe has without the packed hand ``removed_cards``."""
            removed_count = (removed_cards >> (PACKED_COUNT_BITS * value_index)) & PACKED_COUNT_MAX
            return self.dealer.counts_after_up_card[value_index] - removed_count

        for hand, removed_cards in self._list_reached_hands(pair_value, missing_cards):
            hand_ways = drawing_ways.get(hand, 0) if tree else 1
            hand_value = self.hand_values[hand]
            all_ways, ways_after_card, ways_after_dealer = self._weights[cards_left - hand_value.card_count]
            blackjack_ways = 0
            if blackjack_card:
                blackjack_ways = (
                    hand_ways * count_cards_left(blackjack_card - 1, removed_cards) * ways_after_card
                )
            standing_net = self._standing_nets[removed_cards, max(hand_value.best_total - 16, 0)]
            tree[hand] = HandNode(
                hand_ways * all_ways - blackjack_ways,
                blackjack_ways,
                blackjack_ways,
                hand_ways * standing_net * ways_after_dealer,
            )
            for value_index, child in hand_value.hands_after_card:
                # a product of falling factorials, the same in whatever order the cards of the child are drawn
                if child not in drawing_ways:
                    drawing_ways[child] = hand_ways * count_cards_left(value_index, removed_cards)
        return tree

    def _build_split_branches(
        self, split: SplitPair, hands_max: int, tree_by_shoe: Mapping[tuple[int, int], HandNodes]
    ) -> list[SplitBranch]:
        """Return the groups of hands of a pair that is split into up to ``hands_max`` hands.

        The counts of each group are sums over shoes that lack cards of the pair's value. ``tree_by_shoe`` has the hands
        of each shoe, by ``pair_value`` and ``missing_cards`` (see :meth:`_build_tree`).
        """
        pair_value = split.card_value
        one_card = PACKED_CARD_BY_VALUE[split.card_value - 1]
        two_cards = 2 * PACKED_CARD_BY_VALUE[split.card_value - 1]
        # the hands whose second card has another value, has the pair's value (or rank), or is a ten of another rank
        unpaired_nodes, paired_nodes, other_rank_nodes = HandNodes(), HandNodes(), HandNodes()
        splits_by_rank = pair_value == TEN_VALUE and self.house.splits_same_rank_only
        for missing_cards, coefficients in enumerate(compute_split_coefficients(hands_max)):
            ways = split.order_count * compute_falling_factorial(split.pair_cards_left, missing_cards)
            if not ways:
                continue
            rank_cards_left = split.pair_cards_left - missing_cards
            value_cards_left = self.dealer.counts_after_up_card[pair_value - 1] - 2 - missing_cards
            for hand, node in tree_by_shoe[pair_value, missing_cards].items():
                if coefficients.unpaired_hand:
                    unpaired_nodes.setdefault(hand, HandNode()).add_counts(
                        node, ways * coefficients.unpaired_hand, ways * coefficients.first_unpaired_hand
                    )
                if not is_part_of_hand(two_cards, hand):
                    continue
                # The orders of a hand with two tens contain the factor ``value_cards_left`` for the second ten. If tens
                # are split by rank, the factor is replaced by the number of tens of the rank, or of the other ranks.
                if splits_by_rank:
                    other_rank_ways = ways * (value_cards_left - rank_cards_left)
                    other_rank_nodes.setdefault(hand, HandNode()).add_counts(
                        node,
                        other_rank_ways * coefficients.unpaired_hand,
                        other_rank_ways * coefficients.first_unpaired_hand,
                        value_cards_left,
                    )
                if coefficients.paired_hand:
                    paired_ways = ways * (rank_cards_left if splits_by_rank else 1)
                    paired_nodes.setdefault(hand, HandNode()).add_counts(
                        node,
                        paired_ways * coefficients.paired_hand,
                        paired_ways * coefficients.first_paired_hand,
                        value_cards_left if splits_by_rank else 1,
                    )
        situation = HandSituation(
            self.up_card_value, pair_value, dealer_has_pair_rank=split.dealer_has_pair_rank
        )
        pair_situation = HandSituation(
            self.up_card_value,
            pair_value,
            is_unsplittable_pair=True,
            dealer_has_pair_rank=split.dealer_has_pair_rank,
        )
        branches = [
            SplitBranch(situation, one_card, pair_value, unpaired_nodes),
            SplitBranch(pair_situation, two_cards, 0, paired_nodes),
        ]
        if splits_by_rank:
            branches.append(SplitBranch(pair_situation, two_cards, 0, other_rank_nodes))
        return branches


class StrategyEvaluation:
    """The calculation of a blackjack strategy's value over all hands.

    A value is an integer: the player's net result in ``unit`` parts of a stake, summed over all ways to deal
    the cards. Added stakes are summed in the same way.
    """

    def __init__(self, house: AnalysedHouseRules) -> None:
        self.house = house
        self.original_bets_only = house.has_hole_card or house.original_bets_only
        """Whether a dealer's blackjack takes only the first stake of a box."""
        bonus_odds = [odds for odds in (house.sevens_odds, house.suited_678_odds) if odds is not None]
        insurance_denominator = 2 if house.insurance_odds is None else 2 * house.insurance_odds.denominator
        self.unit = 16 * lcm(
            insurance_denominator,
            house.blackjack_odds.denominator,
            *(odds.denominator for odds in bonus_odds),
        )
        """The number of parts into which a stake is divided, so that every pay is a whole number."""

    def _count_ways_at_risk(self, node: HandNode) -> int:
        """Return the number of card orders in which a bust hand loses its added stakes.

        Orders with a dealer blackjack are excluded if the rules then return added stakes.
        """
        return node.ordinary_ways if self.original_bets_only else node.ordinary_ways + node.blackjack_ways

    def count_completed_ways(self, node: HandNode) -> int:
        """Return the number of ways in which a hand is played to its end.

        If the dealer peeks, those with a dealer's blackjack are not counted.
        """
        return node.ordinary_ways if self.house.has_hole_card else node.ordinary_ways + node.blackjack_ways

    def _compute_immediate_win_value(self, node: HandNode, odds: Fraction, stake_count: int) -> int:
        """Return the value of a hand that is paid at once at the odds ``odds``, before the dealer draws."""
        # the caller subtracts the first stake against every dealer's blackjack; a hand already paid does not lose it
        kept_stake_ways = (
            node.first_stake_ways if self.original_bets_only and not self.house.has_hole_card else 0
        )
        return (
            int(odds * stake_count * self.unit) * self.count_completed_ways(node)
            + self.unit * kept_stake_ways
        )

    def compute_standing_value(self, hand: int, node: HandNode, stake_count: int = 1) -> int:
        """Return the value of standing on a blackjack hand that carries the given number of stakes."""
        if hand == _PACKED_THREE_SEVENS and self.house.sevens_odds is not None:
            return self._compute_immediate_win_value(node, self.house.sevens_odds, stake_count)
        lost_ways = 0 if self.original_bets_only else node.blackjack_ways
        return (node.standing_net - lost_ways) * stake_count * self.unit

    def evaluate_options(
        self,
        hand_value: HandValue,
        tree: HandNodes,
        hand: int,
        sums_by_hand: Mapping[int, NetAndStakeSums],
        situation: HandSituation,
        *,
        is_suited: bool,
    ) -> dict[int, NetAndStakeSums]:
        """Return the value, and the added stakes, of each permitted decision for a blackjack hand.

        ``sums_by_hand`` has the values of the hands after a draw; ``is_suited``: two cards are of one suit, and a
        quarter of the third cards of a 6, 7 and 8 are of this suit too.
        """
        node, house = tree[hand], self.house
        sums_by_option = {STAND_OPTION: (self.compute_standing_value(hand, node), 0)}
        if (hand_value.best_total == BEST_HAND_TOTAL and not hand_value.is_soft) or (
            hand == _PACKED_THREE_SEVENS and house.sevens_odds is not None
        ):
            return sums_by_option
        gets_one_card = situation.split_pair_value == ACE_VALUE and house.aces_get_one_card
        if gets_one_card and hand_value.card_count > 1:
            return sums_by_option
        hit_value = added_stake_sum = double_value = 0
        # the orders in which the next card busts the hand: all orders, less those that lead to each child
        ways_at_risk = self._count_ways_at_risk(node)
        for _, child in hand_value.hands_after_card:
            if (child_node := tree.get(child)) is None:
                continue
            ways_at_risk -= self._count_ways_at_risk(child_node)
            value, added_stakes = sums_by_hand[child]
            doubled_value = self.compute_standing_value(child, child_node, 2)
            if is_suited and child == PACKED_SIX_SEVEN_EIGHT and house.suited_678_odds is not None:
                value = (
                    3 * value + self._compute_immediate_win_value(child_node, house.suited_678_odds, 1)
                ) // 4
                doubled_value = (
                    3 * doubled_value
                    + self._compute_immediate_win_value(child_node, house.suited_678_odds, 2)
                ) // 4
            hit_value, added_stake_sum, double_value = (
                hit_value + value,
                added_stake_sum + added_stakes,
                double_value + doubled_value,
            )
        sums_by_option[HIT_OPTION] = (hit_value - ways_at_risk * self.unit, added_stake_sum)
        if house.can_double(list_card_values(hand), split=bool(situation.split_pair_value)):
            sums_by_option[DOUBLE_OPTION] = (
                double_value - 2 * ways_at_risk * self.unit,
                self.count_completed_ways(node) * self.unit,
            )
        return sums_by_option

    def evaluate_hands(
        self,
        hand_values: Mapping[int, HandValue],
        tree: HandNodes,
        situation: HandSituation,
        choose_option: OptionChooser,
    ) -> dict[int, NetAndStakeSums]:
        """Return the value, and the added stakes, of every blackjack hand in ``tree`` under a strategy.

        ``choose_option`` makes the decisions. Hands of one card are left out.
        """
        sums_by_hand: dict[int, NetAndStakeSums] = {}
        has_suited_pay = self.house.suited_678_odds is not None
        for hand in reversed(tree):
            if hand_values[hand].card_count < 2:
                break
            options = self.evaluate_options(
                hand_values[hand], tree, hand, sums_by_hand, situation, is_suited=False
            )
            sums_by_hand[hand] = options[choose_option(situation, hand, False, options)]
            if has_suited_pay and hand_values[hand].card_count == 2 and hand in PACKED_STARTS_OF_SUITED_678:
                options = self.evaluate_options(
                    hand_values[hand], tree, hand, sums_by_hand, situation, is_suited=True
                )
                suited_sums = options[choose_option(situation, hand, True, options)]
                net, staked_sum = sums_by_hand[hand]
                # two cards are of one suit in a quarter of the orders
                sums_by_hand[hand] = ((3 * net + suited_sums[0]) // 4, (3 * staked_sum + suited_sums[1]) // 4)
        return sums_by_hand

    def evaluate_split(
        self, round_: SolvedRound, split: SplitPair, hand_count: int, choose_option: OptionChooser
    ) -> NetAndStakeSums:
        """Return the value, and the added stakes, of a blackjack pair that is split.

        ``hand_count`` is how many hands it may become at most.
        """
        net, staked_sum = 0, 0
        for branch in split.branches[hand_count]:
            sums_by_hand = self.evaluate_hands(
                round_.hand_values, branch.tree, branch.situation, choose_option
            )
            for hand in self.list_start_hands(round_.hand_values, branch):
                net += sums_by_hand[hand][0]
                staked_sum += sums_by_hand[hand][1] + self.count_completed_ways(branch.tree[hand]) * self.unit
        return net, staked_sum - self.count_completed_ways(self.build_pair_node(round_, split)) * self.unit

    @staticmethod
    def list_start_hands(hand_values: Mapping[int, HandValue], branch: SplitBranch) -> list[int]:
        """Return the two-card blackjack hands that start a branch of a split."""
        if hand_values[branch.start_hand].card_count == 2:
            return [branch.start_hand] if branch.start_hand in branch.tree else []
        hands_after_card = hand_values[branch.start_hand].hands_after_card
        return [hand for n, hand in hands_after_card if n + 1 != branch.excluded_card and hand in branch.tree]

    @staticmethod
    def build_pair_node(round_: SolvedRound, split: SplitPair) -> HandNode:
        """Return the counts of card orders in which the two cards of a splittable blackjack pair are dealt."""
        card_count = round_.dealer.counts_after_up_card[split.card_value - 1]
        node = HandNode()
        node.add_counts(
            round_.tree[2 * PACKED_CARD_BY_VALUE[split.card_value - 1]],
            split.order_count,
            split.order_count,
            card_count * (card_count - 1),
        )
        return node

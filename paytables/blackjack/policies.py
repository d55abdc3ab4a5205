"""Blackjack strategies and their values: best and worst by composition, and play by the dealer's own rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from paytables.blackjack.advice import HIT_OPTION, STAND_OPTION, HandQuestion, HandSituation, PairSituation
from paytables.blackjack.hands import PACKED_CARD_BY_VALUE, ShoeCounts, build_shoe, list_card_values
from paytables.blackjack.schema import ACE_VALUE, TEN_VALUE, AnalysedHouseRules
from paytables.blackjack.solve import (
    NetAndStakeSums,
    OptionChooser,
    SolvedRound,
    SplitPair,
    StrategyEvaluation,
    SumsByOption,
)

#: The dealer's up cards, ace to ten.
DEALER_UP_CARDS: Final = tuple(range(ACE_VALUE, TEN_VALUE + 1))
#: The packed hand of an ace and a ten.
PACKED_BLACKJACK: Final = PACKED_CARD_BY_VALUE[ACE_VALUE - 1] + PACKED_CARD_BY_VALUE[TEN_VALUE - 1]


class PairQuestion(NamedTuple):
    """A decision about a two-card blackjack hand: ``split`` or ``insurance``.

    The options of ``insurance`` are, in this order: no insurance, insurance if it is offered, and even money if it is
    offered.
    """

    kind: str
    """``split`` or ``insurance``."""
    up_card_value: int
    """The value of the dealer's up card."""
    hand: int
    """The player's two-card hand, packed into one number."""


#: A function that decides a question about a two-card hand: it returns the index of one of several sums. Index 0
#: declines; for a pair, index n splits it into up to n + 1 hands.
OfferChooser: TypeAlias = Callable[[PairQuestion, list[NetAndStakeSums]], int]


@dataclass(slots=True)
class StrategyResult:
    """The value of a blackjack strategy for one initial stake, and its decisions on two-card hands."""

    mean: Fraction = Fraction(0)
    """The mean net result of one initial stake, in stakes."""
    mean_staked: Fraction = Fraction(1)
    """The mean of all stakes (doubles, splits and insurance included) for one initial stake."""
    hand_count_by_pair: dict[PairSituation, int] = field(default_factory=dict)
    """The largest number of hands that each pair becomes by splits; a pair that the strategy does not split is absent.

    The key is (dealer's up card, value of the pair's cards, whether the dealer's card has the pair's rank).
    """
    insured_hands: set[int] = field(default_factory=set)
    """The two-card hands, as packed numbers, that the strategy insures."""
    even_money_up_cards: set[int] = field(default_factory=set)
    """The values of the dealer's up card for which the strategy takes even money."""


class StrategyCalculator:
    """The calculation of the expected returns of blackjack strategies under one set of house rules.

    It includes the dealer's up cards whose values are in ``up_card_values``. ``shoe`` is the number of cards of each
    value, by default those of the full shoe.
    """

    def __init__(
        self,
        house: AnalysedHouseRules,
        up_card_values: Sequence[int] = DEALER_UP_CARDS,
        report_progress: Callable[[int, int], None] = lambda *_: None,
        shoe: ShoeCounts | None = None,
    ) -> None:
        self.house, self.evaluation = house, StrategyEvaluation(house)
        self.shoe = shoe or build_shoe(house.deck_count)
        self.rounds: list[SolvedRound] = []
        """For each up card of the dealer, all hands against it, each with its number of card orders."""

        for up_card_value in up_card_values:
            self.rounds.append(SolvedRound(house, up_card_value, self.shoe))
            report_progress(len(self.rounds), len(up_card_values))

    def evaluate(self, choose_option: OptionChooser, choose_offer: OfferChooser) -> StrategyResult:
        """Return the value of a blackjack strategy per initial stake.

        ``choose_option`` decides whether a hand stands, hits or doubles; ``choose_offer`` decides on splits, insurance
        and even money.
        """
        result = StrategyResult(mean_staked=Fraction(0))
        for round_ in self.rounds:
            net_sum, stake_sum = self._sum_round(round_, choose_option, choose_offer, result)
            up_card_ways = self.shoe[round_.up_card_value - 1]
            unit_ways = sum(self.shoe) * round_.total_ways * self.evaluation.unit
            result.mean += Fraction(up_card_ways * net_sum, unit_ways)
            result.mean_staked += Fraction(up_card_ways * stake_sum, unit_ways)
        result.mean_staked += 1
        return result

    def _sum_round(
        self,
        round_: SolvedRound,
        choose_option: OptionChooser,
        choose_offer: OfferChooser,
        result: StrategyResult,
    ) -> NetAndStakeSums:
        """Return the sums of net results and added stakes over all first hands against one up card of the dealer.

        The decisions about splits and insurance are recorded in ``result``.
        """
        sums_by_hand = self.evaluation.evaluate_hands(
            round_.hand_values, round_.tree, HandSituation(round_.up_card_value), choose_option
        )
        net_sum = stake_sum = 0
        for hand, unsplit_sums in sums_by_hand.items():
            if round_.hand_values[hand].card_count > 2:
                continue
            # two different cards come in either order
            order_count = 1 if len(set(list_card_values(hand))) == 1 else 2
            splits = [
                split for split in round_.splits if 2 * PACKED_CARD_BY_VALUE[split.card_value - 1] == hand
            ]
            insurance_net_sum, insurance_stake_sum = self._sum_with_insurance(
                round_, hand, choose_offer, result
            )
            hand_net_sum, hand_stake_sum = unsplit_sums
            if hand == PACKED_BLACKJACK:
                hand_net_sum = hand_stake_sum = 0
            elif splits:
                hand_net_sum, hand_stake_sum = self._sum_pair(
                    round_, hand, unsplit_sums, splits, choose_option, choose_offer, result
                )
            # if only the first stake is lost to a dealer's blackjack, it is subtracted here, once for the box
            lost_to_blackjack = 0
            if self.evaluation.original_bets_only and hand != PACKED_BLACKJACK:
                lost_to_blackjack = round_.tree[hand].blackjack_ways * self.evaluation.unit
            net_sum += order_count * (hand_net_sum - lost_to_blackjack + insurance_net_sum)
            stake_sum += order_count * (hand_stake_sum + insurance_stake_sum)
        return net_sum, stake_sum

    def _sum_pair(
        self,
        round_: SolvedRound,
        hand: int,
        unsplit_sums: NetAndStakeSums,
        splits: list[SplitPair],
        choose_option: OptionChooser,
        choose_offer: OfferChooser,
        result: StrategyResult,
    ) -> NetAndStakeSums:
        """Return the sums of net results and added stakes of a pair, split or not as ``choose_offer`` decides.

        If tens must be equal in rank to be split, only the deals with equal ranks are split.
        """
        pair_cards = round_.dealer.counts_after_up_card[splits[0].card_value - 1]
        order_count = pair_cards * (pair_cards - 1)
        net_sum, stake_sum = unsplit_net_sum, unsplit_stake_sum = unsplit_sums
        for split in splits:
            net_share = unsplit_net_sum * split.order_count // order_count
            stake_share = unsplit_stake_sum * split.order_count // order_count
            hands_max = max(split.branches)
            sums = [
                (net_share, stake_share),
                *(
                    self.evaluation.evaluate_split(round_, split, n, choose_option)
                    for n in range(2, hands_max + 1)
                ),
            ]
            chosen_index = choose_offer(PairQuestion("split", round_.up_card_value, hand), sums)
            if chosen_index:
                result.hand_count_by_pair[
                    round_.up_card_value, split.card_value, split.dealer_has_pair_rank
                ] = chosen_index + 1
                # Let a recording ``choose_option`` see the split that is played last.
                if chosen_index + 1 < hands_max:
                    self.evaluation.evaluate_split(round_, split, chosen_index + 1, choose_option)
            chosen_net_sum, chosen_stake_sum = sums[chosen_index]
            net_sum += chosen_net_sum - net_share
            stake_sum += chosen_stake_sum - stake_share
        return net_sum, stake_sum

    def _sum_with_insurance(
        self, round_: SolvedRound, hand: int, choose_offer: OfferChooser, result: StrategyResult
    ) -> NetAndStakeSums:
        """Return the sums of net results and added stakes of insuring a hand or not, as ``choose_offer`` decides.

        Insurance stakes half of the bet on the dealer's blackjack. A blackjack may take even money instead,
        if the dealer's up card allows it.
        """
        node, unit, up_card_value = round_.tree[hand], self.evaluation.unit, round_.up_card_value
        blackjack_net = (
            int(self.house.blackjack_odds * unit) * node.ordinary_ways if hand == PACKED_BLACKJACK else 0
        )
        sums, insurance_units = [(blackjack_net, 0)], unit // 2
        can_be_insured = up_card_value == ACE_VALUE and self.house.insurance_odds is not None
        if can_be_insured and self.house.insurance_odds is not None:
            won_units = int(self.house.insurance_odds * insurance_units) * node.blackjack_ways
            sums.append(
                (
                    blackjack_net + won_units - insurance_units * node.ordinary_ways,
                    insurance_units * (node.ordinary_ways + node.blackjack_ways),
                )
            )
        if hand == PACKED_BLACKJACK and up_card_value in self.house.even_money_up_cards:
            sums.append((unit * (node.ordinary_ways + node.blackjack_ways), 0))
        chosen_index = choose_offer(PairQuestion("insurance", up_card_value, hand), sums)
        if chosen_index == 1 and can_be_insured:
            result.insured_hands.add(hand)
        elif chosen_index:
            result.even_money_up_cards.add(up_card_value)
        return sums[chosen_index]


def choose_best(_situation: HandSituation, _hand: int, _is_suited: bool, options: SumsByOption) -> int:  # noqa: FBT001 (signature of OptionChooser)
    """Return the decision with the highest value for a blackjack hand; among equal ones, the one that stakes less."""
    return max(options, key=lambda option: (options[option][0], -option))


def choose_worst(_situation: HandSituation, _hand: int, _is_suited: bool, options: SumsByOption) -> int:  # noqa: FBT001 (signature of OptionChooser)
    """Return the decision with the lowest value for a blackjack hand."""
    return min(options, key=lambda option: options[option][0])


def choose_highest_sum(_question: PairQuestion, sums: list[NetAndStakeSums]) -> int:
    """Return the index of the split or insurance decision with the highest net; the first of equal ones."""
    return max(range(len(sums)), key=lambda index: (sums[index][0], -index))


def choose_lowest_sum(_question: PairQuestion, sums: list[NetAndStakeSums]) -> int:
    """Return the index of the split or insurance decision with the lowest net: the worst play."""
    return min(range(len(sums)), key=lambda index: sums[index][0])


def decline_every_offer(_question: PairQuestion, _sums: list[NetAndStakeSums]) -> int:
    """Return 0 for every decision on a two-card hand: do not split, insure or take even money."""
    return 0


def build_dealer_rule_chooser(house: AnalysedHouseRules) -> OptionChooser:
    """Return the strategy of a player who follows the dealer's drawing rule and never doubles."""

    def choose_like_dealer(
        _situation: HandSituation,
        hand: int,
        _is_suited: bool,  # noqa: FBT001 (signature of OptionChooser)
        options: SumsByOption,
    ) -> int:
        """Return "hit" if it is permitted and the dealer would draw with this hand, otherwise "stand"."""
        return (
            HIT_OPTION
            if HIT_OPTION in options and house.should_dealer_draw(list_card_values(hand))
            else STAND_OPTION
        )

    return choose_like_dealer


def build_recording_chooser(
    choose_option: OptionChooser, recorded_options: dict[HandQuestion, int]
) -> OptionChooser:
    """Return a function that decides as ``choose_option`` does and stores each decision in ``recorded_options``."""

    def choose_and_record(situation: HandSituation, hand: int, is_suited: bool, options: SumsByOption) -> int:  # noqa: FBT001
        """Return the wrapped strategy's decision for a blackjack hand, after storing it."""
        recorded_options[situation, hand, is_suited] = choose_option(situation, hand, is_suited, options)
        return recorded_options[situation, hand, is_suited]

    return choose_and_record

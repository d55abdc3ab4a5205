"""The best blackjack strategy chart that a person can remember: the decision by hand total, and the pairs to split.

A chart has one decision for all hands of a total, hard or soft, against each up card of the dealer. It is
improved total by total, with each hand weighted by how often the chart itself reaches it, until no single
change improves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from paytables.blackjack.advice import (
    DOUBLE_OPTION,
    HIT_OPTION,
    PACKED_SIX_SEVEN_EIGHT,
    PACKED_STARTS_OF_SUITED_678,
    STAND_OPTION,
    HandSituation,
)
from paytables.blackjack.hands import PACKED_CARD_BY_VALUE, list_card_values
from paytables.blackjack.policies import PACKED_BLACKJACK, PairQuestion, StrategyCalculator
from paytables.blackjack.schema import ACE_VALUE, BEST_HAND_TOTAL, TEN_VALUE
from paytables.blackjack.solve import (
    NetAndStakeSums,
    OptionChooser,
    SolvedRound,
    SplitBranch,
    StrategyEvaluation,
    SumsByOption,
)

#: The dealer's up cards in chart order.
DEALER_UP_CARDS: Final = (*range(2, TEN_VALUE + 1), ACE_VALUE)
#: What a chart's decision depends on, apart from the dealer's up card: whether the hand is soft, and its total.
HandTotal: TypeAlias = tuple[bool, int]


class ChartDecision(NamedTuple):
    """A chart's decision for a total and a dealer's up card."""

    fallback_option: int
    """The option, hit or stand, for a hand that is not doubled."""
    doubles: bool
    """Whether a hand of two cards is doubled if that is permitted."""


#: The totals in the order of evaluation: drawing a card leads only to totals listed before.
TOTALS_IN_EVALUATION_ORDER: Final[tuple[HandTotal, ...]] = (
    *((False, total) for total in range(BEST_HAND_TOTAL, 11, -1)),
    *((True, total) for total in range(BEST_HAND_TOTAL, 11, -1)),
    *((False, total) for total in range(11, 3, -1)),
)
#: Letter of each decision in a chart's text.
_LETTER_BY_DECISION: Final[Mapping[ChartDecision, str]] = {
    ChartDecision(STAND_OPTION, doubles=False): "S",
    ChartDecision(HIT_OPTION, doubles=False): "H",
    ChartDecision(HIT_OPTION, doubles=True): "D",
    ChartDecision(STAND_OPTION, doubles=True): "E",
}
#: Decision of each letter.
_DECISION_BY_LETTER: Final = {letter: decision for decision, letter in _LETTER_BY_DECISION.items()}
#: Letter of a pair that is split.
SPLIT_LETTER: Final = "P"


@dataclass(slots=True)
class TotalsChart:
    """A blackjack strategy chart: the decision for each total and dealer's up card, and the pairs to split.

    A pair is split as often as the rules permit. :func:`format_chart` and :func:`parse_chart` convert a chart
    to lines of text and back: S stand, H hit, D double or else hit, E double or else stand, P split; a dot if
    a pair is played by its total.
    """

    decision_by_situation: dict[tuple[int, HandTotal], ChartDecision] = field(default_factory=dict)
    """The decision, by the dealer's up card and the softness and total of the player's hand."""
    split_pairs: set[tuple[int, int]] = field(default_factory=set)
    """The pairs to split, as (dealer's up card, value of the paired cards)."""

    def find_option(
        self,
        up_card_value: int,
        values: Sequence[int],
        best_total: int,
        *,
        is_soft: bool,
        options: Iterable[int],
    ) -> int:
        """Return the chart's decision for a hand that is not split or, if it is not in ``options``, the fallback.

        ``best_total`` is the hand's best total. A double that is not permitted becomes a hit or a stand, as the
        chart says; a hit that is not permitted becomes a stand.
        """
        fallback_option, doubles = self.decision_by_situation.get(
            (up_card_value, (is_soft, best_total)), ChartDecision(STAND_OPTION, doubles=False)
        )
        if doubles and DOUBLE_OPTION in options and len(values) == 2:
            return DOUBLE_OPTION
        return fallback_option if fallback_option in options else STAND_OPTION

    def build_chooser(self, calculator: StrategyCalculator) -> OptionChooser:
        """Return a function that makes every hit, stand or double decision as this chart does."""

        def choose_from_chart(
            situation: HandSituation,
            hand: int,
            _is_suited: bool,  # noqa: FBT001 (signature of OptionChooser)
            options: SumsByOption,
        ) -> int:
            """Return the chart's decision for a blackjack hand, chosen among the permitted ``options``."""
            known_hand = calculator.rounds[0].hand_values[hand]
            return self.find_option(
                situation.dealer_up_card,
                list_card_values(hand),
                known_hand.best_total,
                is_soft=known_hand.is_soft,
                options=options,
            )

        return choose_from_chart

    def decide_offer(self, question: PairQuestion, sums: list[NetAndStakeSums]) -> int:
        """Return the chart's decision about a two-card hand: the splits to make, up to the limit, or 0 to decline.

        Insurance is always declined.
        """
        if (
            question.kind != "split"
            or (question.up_card_value, list_card_values(question.hand)[0]) not in self.split_pairs
        ):
            return 0
        return len(sums) - 1


def guess_first_decision(hand_total: HandTotal) -> ChartDecision:
    """Return the decision for a total that the search for the best chart tries first.

    For a total that no hand reaches, the chart keeps this decision.
    """
    is_soft, total = hand_total
    fallback_option = HIT_OPTION if total < (18 if is_soft else 12) else STAND_OPTION
    return ChartDecision(fallback_option, doubles=False)


def format_chart(chart: TotalsChart) -> tuple[str, ...]:
    """Return a blackjack chart as text: a line per total or pair, a letter for each up card from two to ace."""
    lines = []
    for is_soft, name in ((False, "hard"), (True, "soft")):
        for total in range(4 if not is_soft else 12, BEST_HAND_TOTAL + 1):
            decisions = [
                chart.decision_by_situation.get((up_card_value, (is_soft, total)))
                for up_card_value in DEALER_UP_CARDS
            ]
            if any(decision is not None for decision in decisions):
                letters = [
                    _LETTER_BY_DECISION[decision or guess_first_decision((is_soft, total))]
                    for decision in decisions
                ]
                lines.append(f"{name} {total:2} " + "".join(letters))
    lines += [
        f"pair {pair:2} "
        + "".join(
            SPLIT_LETTER if (up_card_value, pair) in chart.split_pairs else "."
            for up_card_value in DEALER_UP_CARDS
        )
        for pair in range(ACE_VALUE, TEN_VALUE + 1)
        if any((up_card_value, pair) in chart.split_pairs for up_card_value in DEALER_UP_CARDS)
    ]
    return tuple(lines)


def parse_chart(text: Iterable[str]) -> TotalsChart:
    """Return the blackjack chart in these lines of text. Raises ValueError for an invalid line."""
    chart = TotalsChart()
    for line in text:
        name, total, letters = line.split() if len(line.split()) == 3 else ("", "", "")
        if (
            name not in {"hard", "soft", "pair"}
            or len(letters) != len(DEALER_UP_CARDS)
            or set(letters) - {*_DECISION_BY_LETTER, SPLIT_LETTER, "."}
        ):
            raise ValueError(
                f"{line!r} is not a line of a strategy chart: a name and a "
                "total, then one letter for each dealer's card"
            )
        for up_card_value, letter in zip(DEALER_UP_CARDS, letters, strict=True):
            if name != "pair":
                chart.decision_by_situation[up_card_value, (name == "soft", int(total))] = (
                    _DECISION_BY_LETTER[letter]
                )
            elif letter == SPLIT_LETTER:
                chart.split_pairs.add((up_card_value, int(total)))
    return chart


def find_best_chart(calculator: StrategyCalculator) -> TotalsChart:
    """Return the blackjack chart with the highest return under a calculator's house rules."""
    chart = TotalsChart()
    for round_ in calculator.rounds:
        _DealerCardColumn(calculator.evaluation, round_).improve_chart(chart)
    return chart


@dataclass(slots=True)
class _SearchedHand:
    """One hand in the search for the best blackjack chart, with its value for each decision.

    A value is the expected net result of the hand, as :class:`~.solve.StrategyEvaluation` computes it.
    """

    hand_total: HandTotal
    """The total, and whether it is soft, by which the chart decides this hand."""
    stand_value: int
    """The expected net result of standing with this hand."""
    double_value: int | None
    """The expected net result of doubling, or None if that is not permitted."""
    draw_value: int | None
    """The part of the value of drawing a card that comes from cards which bust the hand or end it at once.

    The values of the ``next_hands`` are added to it. None if drawing is not permitted.
    """
    next_hands: list[_SearchedHand] = field(default_factory=list)
    """The hands of up to 21 that this one may become by drawing a card."""
    value: int = 0
    """The value of the hand with the decisions of the current chart."""
    weight: int | Fraction = 0
    """The number of card orders in which the current chart's decisions lead to this hand."""

    def find_option(self, decision: ChartDecision) -> int:
        """Return the option that ``decision`` takes with this hand: its fallback if the hand may not take it."""
        if decision.doubles and self.double_value is not None:
            return DOUBLE_OPTION
        can_hit = self.draw_value is not None
        return HIT_OPTION if decision.fallback_option == HIT_OPTION and can_hit else STAND_OPTION

    def compute_value(self, decision: ChartDecision) -> int:
        """Return the blackjack hand's value for a decision of the chart.

        The hands that it may become by a draw must already have their values.
        """
        option = self.find_option(decision)
        if option == DOUBLE_OPTION:
            return self.double_value or 0
        return (
            self.stand_value
            if option == STAND_OPTION
            else (self.draw_value or 0) + sum(child.value for child in self.next_hands)
        )


@dataclass(slots=True)
class _SearchedPair:
    """A blackjack pair and its hands after a split, from which the search decides whether the chart splits it."""

    unsplit_hand: _SearchedHand
    """The two cards played as one hand, if the pair is not split."""
    splittable_share: Fraction
    """The share of the pair's deals that may be split; below 1 if tens must be equal in rank."""
    start_hands: list[_SearchedHand]
    """The possible hands after the split, of one card of the pair and a second card each."""

    @property
    def gain(self) -> Fraction:
        """Return by how much the value of a strategy rises if it splits the blackjack pair."""
        return sum(hand.value for hand in self.start_hands) - self.unsplit_hand.value * self.splittable_share


class _DealerCardColumn:
    """The search for a strategy chart's best decisions against one up card of the dealer."""

    def __init__(self, evaluation: StrategyEvaluation, round_: SolvedRound) -> None:
        self.evaluation, self.round = evaluation, round_
        self.hands_in_order: list[_SearchedHand] = []
        """All hands of the search; a hand comes before those that can follow it."""
        hands_of_box = self._build_hands(SplitBranch(HandSituation(round_.up_card_value), 0, 0, round_.tree))
        self.start_hands = [
            (searched_hand, 1 if len(set(list_card_values(hand))) == 1 else 2)
            for hand, searched_hand in hands_of_box.items()
            if round_.hand_values[hand].card_count == 2 and hand != PACKED_BLACKJACK
        ]
        """Every two-card hand except blackjack, with its number of card orders (1 or 2)."""
        self.pairs: dict[int, list[_SearchedPair]] = {}
        """The pairs that may be split, by card value."""
        for split in round_.splits:
            card_count, start_hands = (
                round_.dealer.counts_after_up_card[split.card_value - 1],
                list[_SearchedHand](),
            )
            for branch in split.branches[max(split.branches)]:
                hands_of_branch = self._build_hands(branch)
                start_hands += [
                    hands_of_branch[hand] for hand in evaluation.list_start_hands(round_.hand_values, branch)
                ]
            splittable_share = Fraction(split.order_count, card_count * (card_count - 1))
            pair = _SearchedPair(
                hands_of_box[2 * PACKED_CARD_BY_VALUE[split.card_value - 1]], splittable_share, start_hands
            )
            self.pairs.setdefault(split.card_value, []).append(pair)
        self.hands_by_total: dict[HandTotal, list[_SearchedHand]] = {
            hand_total: [] for hand_total in TOTALS_IN_EVALUATION_ORDER
        }
        """The hands of each hard and each soft total."""
        for searched_hand in self.hands_in_order:
            self.hands_by_total[searched_hand.hand_total].append(searched_hand)

    def _build_hands(self, branch: SplitBranch) -> dict[int, _SearchedHand]:
        """Return the blackjack hands of two and more cards that can occur in a branch, fewer cards first.

        A branch is the hands from the first deal, or the hands of a split.
        """
        known_hands, hands = self.round.hand_values, dict[int, _SearchedHand]()
        for hand in reversed(branch.tree):
            if known_hands[hand].card_count < 2:
                break
            options = self._compute_option_values(hand, branch)
            searched_hand = _SearchedHand(
                (known_hands[hand].is_soft, known_hands[hand].best_total),
                options[STAND_OPTION],
                options.get(DOUBLE_OPTION),
                options.get(HIT_OPTION),
            )
            if searched_hand.draw_value is not None:
                searched_hand.next_hands = [
                    hands[child] for _, child in known_hands[hand].hands_after_card if child in hands
                ]
            hands[hand] = searched_hand
        self.hands_in_order += reversed(hands.values())
        return hands

    def _compute_option_values(self, hand: int, branch: SplitBranch) -> dict[int, int]:
        """Return the value of each decision for a blackjack hand; for a draw, only the part that is known at once.

        The values of the hands of up to 21 that the draw may lead to are added later. If the rules treat cards of one
        suit differently, a value is the mean over suited and unsuited hands.
        """
        hand_value, evaluation = self.round.hand_values[hand], self.evaluation
        sums_by_hand: dict[int, NetAndStakeSums] = dict.fromkeys(branch.tree, (0, 0))
        unsuited_values = evaluation.evaluate_options(
            hand_value, branch.tree, hand, sums_by_hand, branch.situation, is_suited=False
        )
        value_by_option = {option: mean for option, (mean, _) in unsuited_values.items()}
        if (
            evaluation.house.suited_678_odds is not None
            and hand_value.card_count == 2
            and hand in PACKED_STARTS_OF_SUITED_678
        ):
            three_card_hand = PACKED_SIX_SEVEN_EIGHT
            if three_card_hand in branch.tree:
                sums_by_hand[three_card_hand] = (
                    evaluation.compute_standing_value(three_card_hand, branch.tree[three_card_hand]),
                    0,
                )
            for option in value_by_option:
                suited_sums = [
                    evaluation.evaluate_options(
                        hand_value, branch.tree, hand, sums_by_hand, branch.situation, is_suited=is_suited
                    )[option][0]
                    for is_suited in (False, True)
                ]
                value_by_option[option] += (suited_sums[1] - suited_sums[0]) // 4
        return value_by_option

    def improve_chart(self, chart: TotalsChart) -> None:
        """Improve the decisions of ``chart`` against this up card of the dealer until no change helps."""
        decision_by_total = {
            hand_total: guess_first_decision(hand_total) for hand_total in TOTALS_IN_EVALUATION_ORDER
        }
        split_values: set[int] = set()
        while True:
            self._count_orders(decision_by_total, split_values)
            improved_decision_by_total = {
                hand_total: self._choose_best_decision(hand_total, decision_by_total[hand_total])
                for hand_total in TOTALS_IN_EVALUATION_ORDER
            }
            improved_split_values = {
                card_value
                for card_value, searched_pairs in self.pairs.items()
                if sum(searched_pair.gain for searched_pair in searched_pairs) > 0
            }
            if improved_decision_by_total == decision_by_total and improved_split_values == split_values:
                break
            decision_by_total, split_values = improved_decision_by_total, improved_split_values
        for hand_total, decision in decision_by_total.items():
            if any(hand.weight and hand.draw_value is not None for hand in self.hands_by_total[hand_total]):
                chart.decision_by_situation[self.round.up_card_value, hand_total] = decision
        chart.split_pairs |= {(self.round.up_card_value, card_value) for card_value in split_values}

    def _count_orders(
        self, decision_by_total: Mapping[HandTotal, ChartDecision], split_values: set[int]
    ) -> None:
        """Set the weight of each blackjack hand: the number of card orders in which these decisions lead to it."""
        for hand in self.hands_in_order:
            hand.weight = 0
        for hand, orders in self.start_hands:
            hand.weight = orders
        for card_value in split_values:
            for split_pair in self.pairs[card_value]:
                split_pair.unsplit_hand.weight -= split_pair.splittable_share
                for hand in split_pair.start_hands:
                    hand.weight += 1
        for hand in self.hands_in_order:
            if hand.weight and hand.find_option(decision_by_total[hand.hand_total]) == HIT_OPTION:
                for child in hand.next_hands:
                    child.weight += hand.weight

    def _choose_best_decision(self, hand_total: HandTotal, current_decision: ChartDecision) -> ChartDecision:
        """Return the best decision for a blackjack total, or ``current_decision`` if it is equally good.

        This also stores the values of the total's hands.
        """
        hands = self.hands_by_total[hand_total]
        best_decision = current_decision
        reached_hands = [hand for hand in hands if hand.weight and hand.draw_value is not None]
        if reached_hands:
            value_by_decision = {
                decision: sum(hand.weight * hand.compute_value(decision) for hand in reached_hands)
                for decision in _LETTER_BY_DECISION
                if not decision.doubles or any(hand.double_value is not None for hand in reached_hands)
            }
            highest_sum = max(value_by_decision.values())
            if value_by_decision.get(current_decision) != highest_sum:
                best_decision = max(value_by_decision, key=lambda decision: value_by_decision[decision])
        for hand in hands:
            hand.value = hand.compute_value(best_decision)
        return best_decision

"""Exact figures of poker games against the bank, computed in the laboratory.

The method depends on the game:

* the player's cards alone, with bets that may be taken back: sums over the hands that hold the seen cards
  (:meth:`paytables.cards.subsets.CardSets.sum_over_supersets`);
* one decision against the bank without a board: the bank's hands counted against every class of the player's
  (:mod:`paytables.cards.duel`);
* a board for both: :mod:`paytables.poker.community`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paytables.cards import parse_cards
from paytables.cards.duel import count_duel_results
from paytables.cards.ranking import HandRanking
from paytables.cards.subsets import CardSets, build_sets
from paytables.errors import AnalysisError, BeyondExactAnalysisError
from paytables.poker.pays import find_pay_row
from paytables.poker.policy import POLICY_HAND_CARD_COUNT, pack_policy
from paytables.poker.proof import format_fraction
from paytables.poker.table.bet_payments import BetPayment, iter_row_returns, list_row_rates
from paytables.poker.table.bets import MAIN_BET, list_bets_with_ante, list_independent_bets
from paytables.poker.table.schema import (
    HAND_COMPARISONS,
    RANKING_RULES_BY_NAME,
    AdviceLine,
    BetSpot,
    DecisionOption,
    HandComparison,
    PayRow,
    PokerDefinition,
    ProvedFigures,
)

if TYPE_CHECKING:
    from paytables.cards.arrays import Bools, Ints


#: The longest policy that a definition stores, in characters.
POLICY_CHARACTERS_MAX = 64_000


def solve(definition: PokerDefinition, *solver_options: object) -> dict[str, ProvedFigures]:
    """Return the exact figures of a poker game's bets, by the id of the bet.

    The ante and the bets placed together with it share one set of figures, each independent bet has its own.
    ``solver_options`` are the further arguments of :class:`~paytables.poker.community.HoldemSolver`; only hold'em
    uses them.
    """
    figures_by_bet = {}
    if definition.ante.is_independent_of_bank and len(list_bets_with_ante(definition)) > 1:
        figures_by_bet[MAIN_BET] = solve_withdrawable_bets(definition)
    elif not definition.ante.is_independent_of_bank and any(
        step.deal and step.deal.board_card_count for step in definition.steps
    ):
        from paytables.poker.table.streets import solve_holdem  # noqa: PLC0415 (slow to load)

        figures_by_bet[MAIN_BET] = solve_holdem(definition, *solver_options)
    elif not definition.ante.is_independent_of_bank:
        figures_by_bet[MAIN_BET] = OneDecisionSolver(definition).build_figures()
    else:
        figures_by_bet[definition.ante.id] = solve_independent_bet(definition, definition.ante)
    for name in list_independent_bets(definition):
        figures_by_bet[name] = solve_independent_bet(definition, definition.spot_by_id[name])
    return figures_by_bet


def build_figures_from_cases(
    case_count_by_net: Counter[Fraction],
    mean_stake: Fraction,
    worst_return: Fraction,
    simplest_return: Fraction | None,
) -> ProvedFigures:
    """Return a poker bet's figures from the number of cases that end with each net result.

    ``worst_return`` and ``simplest_return`` are the mean net results of the worst and of the simplest published
    strategy.
    """
    total = sum(case_count_by_net.values())
    rates = {
        format_fraction(net): format_fraction(Fraction(cases, total))
        for net, cases in sorted(case_count_by_net.items())
        if cases
    }
    return ProvedFigures(
        law=rates,
        staked=format_fraction(mean_stake),
        worst=format_fraction(worst_return),
        simplest=None if simplest_return is None else format_fraction(simplest_return),
    )


def find_winning_rows(rows: tuple[PayRow, ...], strengths: Ints, spot: BetSpot) -> Ints:
    """Return the index of the pay-table row that a hand of each strength wins on a spot; -1 for no row."""
    distinct_strengths, strength_indexes = np.unique(strengths, return_inverse=True)
    order = RANKING_RULES_BY_NAME[spot.ranking_name]
    row_by_strength = [find_pay_row(rows, int(strength), 0, order) for strength in distinct_strengths]
    row_indexes: Ints = np.array([-1 if row is None else row for row in row_by_strength])[strength_indexes]
    return row_indexes


class WithdrawalTerms(NamedTuple):
    """The terms on which a bet may be taken back."""

    hand_card_count: int
    seen_card_count: int | None
    """The number of cards that the player sees when deciding; None if the bet cannot be taken back."""
    returned_share: Fraction
    """The part of the bet that the player gets back on taking it back."""
    withdraw_and_keep_indexes: tuple[int, int]
    """The indexes of the options to take the bet back and to keep it; (0, 0) if the bet cannot be taken back."""


def find_withdrawal_terms(definition: PokerDefinition, spot: BetSpot) -> WithdrawalTerms:
    """Return when a bet may be taken back and how much of it is then returned.

    ``seen_card_count`` of the terms is None if the bet cannot be taken back.
    """
    own_card_count = board_card_count = 0
    seen_card_count: int | None = None
    returned_share = Fraction(0)
    withdraw_and_keep_indexes = (0, 0)
    for step in definition.steps:
        if step.deal is not None:
            own_card_count += step.deal.player_card_count
            board_card_count += step.deal.board_card_count
        for index, option in enumerate(step.options):
            if option.spot == spot.id and option.returned_share is not None:
                seen_card_count = own_card_count + board_card_count
                returned_share = Fraction(option.returned_share)
                keep_index = next(n for n, other in enumerate(step.options) if other.returned_share is None)
                withdraw_and_keep_indexes = (index, keep_index)
    hand_card_count = (own_card_count if spot.player_card_count is None else spot.player_card_count) + (
        board_card_count if spot.board_card_count is None else spot.board_card_count
    )
    return WithdrawalTerms(hand_card_count, seen_card_count, returned_share, withdraw_and_keep_indexes)


def solve_independent_bet(definition: PokerDefinition, spot: BetSpot) -> ProvedFigures:
    """Return the exact figures of a bet that depends on the player's cards alone.

    A bet on seven cards may also be one that the player can take back at the game's decision. Raises
    :class:`~paytables.errors.BeyondExactAnalysisError` for such a bet on fewer cards.
    """
    terms = find_withdrawal_terms(definition, spot)
    card_count, seen_card_count = terms.hand_card_count, terms.seen_card_count
    if card_count > 6 and any(row.pays.level_share for row in spot.pay_rows):
        raise BeyondExactAnalysisError(
            f"{spot.id}: no exact figures for a bet on {card_count} cards that pays a share of a level"
        )
    if card_count > 6:
        from paytables.poker.table.completions import SEEN_CARD_COUNT, solve_completions  # noqa: PLC0415 (numba)

        if card_count > 7 or seen_card_count not in {None, SEEN_CARD_COUNT}:
            seen_text = "" if seen_card_count is None else f" that may be taken back after {seen_card_count}"
            raise BeyondExactAnalysisError(
                f"{spot.id}: no exact figures for a bet on {card_count} cards{seen_text}"
            )

        return solve_completions(spot, seen_card_count, terms.returned_share, terms.withdraw_and_keep_indexes)
    if seen_card_count is not None:
        raise BeyondExactAnalysisError(
            f"{spot.id}: no exact figures for a bet on {card_count} cards that may be taken back alone"
        )
    hands = build_sets(52, card_count)
    rows = find_winning_rows(
        spot.pay_rows, hands.compute_strengths(RANKING_RULES_BY_NAME[spot.ranking_name]), spot
    )
    counts_by_row = np.bincount(rows + 1, minlength=len(spot.pay_rows) + 1)
    case_count_by_net: Counter[Fraction] = Counter({Fraction(-1): int(counts_by_row[0])})
    for row, count in zip(spot.pay_rows, counts_by_row[1:].tolist(), strict=True):
        case_count_by_net[row.pays.net] += count
    mean = _compute_mean(case_count_by_net)
    row_counts = zip(spot.pay_rows, counts_by_row[1:].tolist(), strict=True)
    level_row_probabilities = {
        row.id: format_fraction(Fraction(count, hands.count))
        for row, count in row_counts
        if row.pays.level_share
    }
    payment_counts = dict(zip(iter_row_returns(spot, Fraction(1)), counts_by_row[1:].tolist(), strict=True))
    extra_figures = {
        "level_row_probabilities": level_row_probabilities,
        "payment_rates": list_row_rates((), payment_counts, hands.count),
    }
    return build_figures_from_cases(case_count_by_net, Fraction(1), mean, None).model_copy(
        update=extra_figures
    )


def _compute_mean(case_count_by_net: Counter[Fraction]) -> Fraction:
    """Return the mean net result, from the number of cases with each net result."""
    return sum((net * cases for net, cases in case_count_by_net.items()), Fraction(0)) / sum(
        case_count_by_net.values()
    )


def solve_withdrawable_bets(definition: PokerDefinition) -> ProvedFigures:
    """Return the exact figures of Let It Ride: three equal bets on one hand, two of which may be taken back.

    Each is taken back by its own decision. The simplest published strategy keeps a bet only if the cards seen so far
    already win.
    """
    spots = [definition.spot_by_id[name] for name in list_bets_with_ante(definition)]
    withdrawal_terms = [find_withdrawal_terms(definition, spot) for spot in spots]
    hand_card_count = withdrawal_terms[0].hand_card_count
    seen_counts = sorted(
        terms.seen_card_count for terms in withdrawal_terms if terms.seen_card_count is not None
    )
    if len(seen_counts) != 2 or any(terms.returned_share not in {0, 1} for terms in withdrawal_terms):
        raise BeyondExactAnalysisError(
            f"{definition.game.id}: this analysis needs three bets of which two may be taken back in full"
        )
    hands = build_sets(52, hand_card_count)
    row_by_hand = find_winning_rows(
        spots[0].pay_rows, hands.compute_strengths(RANKING_RULES_BY_NAME[spots[0].ranking_name]), spots[0]
    )
    unit = lcm(*(row.pays.net.denominator for row in spots[0].pay_rows))
    row_nets = np.array([int(row.pays.net * unit) for row in spots[0].pay_rows] + [-unit], dtype=np.int64)
    net_sums_by_seen_count = hands.sum_over_supersets(row_nets[row_by_hand])
    class_hands, hands_per_class = hands.suit_classes_and_sizes
    seen_rows = [
        find_winning_rows(
            spots[0].pay_rows,
            build_sets(52, seen_count).compute_strengths(RANKING_RULES_BY_NAME[spots[0].ranking_name]),
            spots[0],
        )
        for seen_count in seen_counts
    ]
    case_counts_by_play: list[Counter[Fraction]] = [Counter(), Counter(), Counter()]
    payment_counts: Counter[BetPayment] = Counter()
    for first_indexes in combinations(range(hand_card_count), seen_counts[0]):
        for further_indexes in combinations(
            sorted(set(range(hand_card_count)) - {*first_indexes}), seen_counts[1] - seen_counts[0]
        ):
            masks = (
                sum(1 << n for n in first_indexes),
                sum(1 << n for n in (*first_indexes, *further_indexes)),
            )
            keeps_by_decision = [
                net_sums_by_seen_count[seen_count][hands.find_held_set_indexes(class_hands, mask)] > 0
                for seen_count, mask in zip(seen_counts, masks, strict=True)
            ]
            keeps_winning_by_decision = [
                row_by_seen_set[hands.find_held_set_indexes(class_hands, mask)] >= 0
                for row_by_seen_set, mask in zip(seen_rows, masks, strict=True)
            ]
            # the best strategy, the worst, and the simplest: which of the two bets stay, by class of hands
            for case_count_by_net, kept_by_decision in zip(
                case_counts_by_play,
                (keeps_by_decision, [~keeps for keeps in keeps_by_decision], keeps_winning_by_decision),
                strict=True,
            ):
                bet_counts = np.sum(kept_by_decision, axis=0, dtype=np.int64) + 1
                cases = np.zeros((4, len(row_nets)), dtype=np.int64)
                np.add.at(cases, (bet_counts, row_by_hand[class_hands]), hands_per_class)
                for (bet_count, row), n in np.ndenumerate(cases):
                    case_count_by_net[Fraction(int(row_nets[row]) * bet_count, unit)] += int(n)
            for spot, terms in zip(spots, withdrawal_terms, strict=True):
                keeps_bet = (
                    np.ones(len(class_hands), dtype=np.bool_)
                    if terms.seen_card_count is None
                    else keeps_by_decision[seen_counts.index(terms.seen_card_count)]
                )
                counts = np.bincount(
                    row_by_hand[class_hands][keeps_bet] + 1,
                    hands_per_class[keeps_bet],
                    len(spot.pay_rows) + 1,
                ).astype(np.int64)
                row_payments = zip(iter_row_returns(spot, Fraction(1)), counts[1:].tolist(), strict=True)
                payment_counts.update(dict(row_payments))
                payment_counts[spot.id, "withdrawn", Fraction(1)] += int(hands_per_class[~keeps_bet].sum())
    all_rows = [row for spot in spots for row in iter_row_returns(spot, Fraction(1))]
    payment_counts = +payment_counts  # drop zero counts: the bet that cannot be taken back has no withdrawals
    figures = build_figures_from_cases(
        case_counts_by_play[0],
        Fraction(len(spots)),
        _compute_mean(case_counts_by_play[1]),
        _compute_mean(case_counts_by_play[2]),
    )
    return figures.model_copy(
        update={
            "payment_rates": list_row_rates(all_rows, payment_counts, sum(case_counts_by_play[0].values()))
        }
    )


@dataclass(frozen=True, slots=True)
class SolvedOption:
    """One option of the game's decision, with its net results, its stake, and the hands that may choose it."""

    option: DecisionOption
    """The option, as the definition states it."""
    nets: Ints
    """The net result, in ``1 / unit`` antes, for each comparison with the bank (row) and class of hands (column)."""
    stake_antes: Fraction
    """The total stake in antes after the option is chosen."""
    offered_classes: Bools
    """For each class of hands: whether the option may be chosen with such a hand."""


class OneDecisionSolver:
    """The calculation of any poker game with one decision, against the bank and without a board.

    Net results are whole numbers of ``1 / unit`` antes.
    """

    def __init__(self, definition: PokerDefinition) -> None:
        duel = definition.duel
        if duel is None:
            raise BeyondExactAnalysisError(
                f"{definition.game.id}: this analysis needs a duel against the bank"
            )
        self.definition, self.duel = definition, duel
        deals = [step.deal for step in definition.steps if step.deal is not None]
        decision_step_indexes = [
            n for n, step in enumerate(definition.steps) if step.decision_name is not None
        ]
        deals_before = [
            step.deal for step in definition.steps[: decision_step_indexes[0]] if step.deal is not None
        ]
        if len(decision_step_indexes) > 1:
            raise BeyondExactAnalysisError(
                f"{definition.game.id}: this analysis allows one question, "
                f"but the game has {len(decision_step_indexes)}"
            )
        self.step = definition.steps[decision_step_indexes[0]]
        """The step in which the player decides."""
        self.own_card_count = sum(deal.player_card_count for deal in deals)
        """The number of cards that the player has at the end of the round."""
        self.known_card_count = sum(deal.player_card_count for deal in deals_before)
        """The number of own cards that the player has seen when deciding."""
        self.face_up_bank_card_count = sum(deal.bank_card_count for deal in deals_before)
        """The number of bank cards that are face up when the player decides."""
        self.player_hands: CardSets = build_sets(52, self.own_card_count)
        self.class_hands, self.hands_per_class = self.player_hands.suit_classes_and_sizes
        """One hand (its set number) of each class of hands that differ in suits only, and the size of each class."""
        order = RANKING_RULES_BY_NAME[duel.ranking_name]
        self.strengths = self.player_hands.compute_strengths(order)[self.class_hands]
        """The strength of the player's hand in each class."""
        self.unit = lcm(
            2,
            *(
                row.pays.net.denominator
                for spot in definition.bet_spots
                for row in (*spot.pay_rows, *spot.overriding_rows, *spot.bonus_rows)
            ),
        )

    def count_bank_hands_by_comparison(self) -> Ints:
        """Return how many bank hands do not qualify, or lose to, tie with or beat each class of player hands.

        The axes are the comparison (as in :data:`HAND_COMPARISONS`), the class and the bank's visible card.
        """
        bank_hands = build_sets(52, self.duel.bank_card_count)
        qualifying_strength = self.duel.lowest_qualifying_strength
        counts = count_duel_results(
            self.player_hands,
            self.class_hands,
            self.strengths,
            bank_hands,
            bank_hands.compute_strengths(RANKING_RULES_BY_NAME[self.duel.ranking_name]),
            is_dealer_card_visible=self.face_up_bank_card_count > 0,
            qualifying_strength=qualifying_strength,
        )
        bank_hand_count = comb(
            52 - self.own_card_count - self.face_up_bank_card_count,
            self.duel.bank_card_count - self.face_up_bank_card_count,
        )
        # a hand below the qualifying strength neither beats nor ties a bank hand that qualifies
        can_win = self.strengths[:, None] >= qualifying_strength
        better_counts = np.where(can_win, counts.weaker_counts - counts.unqualified_counts, 0)
        equal_counts = np.where(can_win, counts.equal_counts, 0)
        worse_counts = bank_hand_count - counts.unqualified_counts - better_counts - equal_counts
        hand_counts = np.stack([counts.unqualified_counts, better_counts, equal_counts, worse_counts])
        if self.face_up_bank_card_count:
            cards = self.player_hands.cards_by_set[self.class_hands]
            for index in range(self.own_card_count):
                hand_counts[:, np.arange(len(cards)), cards[:, index]] = 0
        return hand_counts

    def list_solved_options(self) -> list[SolvedOption]:
        """Return every option of the decision with its net results."""
        initial_bets = list_bets_with_ante(self.definition)
        ranking = HandRanking(RANKING_RULES_BY_NAME[self.duel.ranking_name])
        solved_options = []
        for option in self.step.options:
            bets = self._find_bets_after(option) or initial_bets  # a fold loses the bets placed at the start
            nets = np.zeros((len(HAND_COMPARISONS), len(self.class_hands)), dtype=np.int64)
            if option.is_fold:
                nets -= int(sum(initial_bets.values()) * self.unit)
            else:
                for name, factor in bets.items():
                    nets += self.compute_spot_nets(self.definition.spot_by_id[name], factor)
            lowest_strength = (
                0 if option.lowest_hand is None else ranking.compute_strength(parse_cards(option.lowest_hand))
            )
            solved_options.append(
                SolvedOption(option, nets, Fraction(sum(bets.values())), self.strengths >= lowest_strength)
            )
        return solved_options

    def compute_spot_nets(self, spot: BetSpot, stake_antes: Fraction) -> Ints:
        """Return one bet's net results if its stake is ``stake_antes`` antes.

        Rows are the comparisons with the bank's hand (as in :data:`HAND_COMPARISONS`), columns the classes of the
        player's hands.
        """
        strengths = self.player_hands.compute_strengths(RANKING_RULES_BY_NAME[spot.ranking_name])[
            self.class_hands
        ]

        def find_spot_win(rows: tuple[PayRow, ...], default_net: Fraction) -> tuple[Ints, Bools]:
            """Return the bet's net result in each class of hands, and in which classes a pay-table row wins.

            Without a winning row the net result is ``default_net``.
            """
            row_indexes = find_winning_rows(rows, strengths, spot)
            row_nets = [int(row.pays.net * stake_antes * self.unit) for row in rows]
            return np.array([*row_nets, int(default_net * stake_antes * self.unit)], dtype=np.int64)[
                row_indexes
            ], row_indexes >= 0

        net_by_result = {"win": Fraction(1), "push": Fraction(0), "lose": Fraction(-1)}
        nets_by_comparison = []
        for comparison in HAND_COMPARISONS:
            result = spot.find_result(comparison)
            net_without_row = net_by_result[spot.result_without_row if result == "pays" else result]
            nets, _ = find_spot_win(spot.pay_rows if result == "pays" else (), net_without_row)
            overriding_nets, has_overriding_row = find_spot_win(spot.overriding_rows, Fraction(0))
            bonus_nets, _ = find_spot_win(spot.bonus_rows, Fraction(0))
            nets_by_comparison.append(np.where(has_overriding_row, overriding_nets, nets) + bonus_nets)
        return np.stack(nets_by_comparison)

    def build_figures(self) -> ProvedFigures:
        """Return the exact figures of the game with the best decisions, the worst and the simplest ones."""
        bank_hand_counts, solved_options = self.count_bank_hands_by_comparison(), self.list_solved_options()
        net_sums = np.stack(
            [
                (bank_hand_counts * solved_option.nets[:, :, None]).sum(axis=0, dtype=np.int64)
                for solved_option in solved_options
            ]
        )
        is_unavailable = np.stack([~solved_option.offered_classes for solved_option in solved_options])
        simplest_options = self.find_published_options(solved_options, self.definition.simplest_strategy)
        published_best_options = self.find_published_options(solved_options, self.definition.best_strategy)
        if self.known_card_count < self.own_card_count:
            return self._build_early_decision_figures(bank_hand_counts, solved_options, net_sums)
        never_chosen = np.int64(1) << 62
        best_options = np.where(is_unavailable[:, :, None], -never_chosen, net_sums).argmax(axis=0)
        worst_options = np.where(is_unavailable[:, :, None], never_chosen, net_sums).argmin(axis=0)
        case_count_by_net, mean_stake = self._count_nets(bank_hand_counts, solved_options, best_options)
        worst_case_count_by_net, _ = self._count_nets(bank_hand_counts, solved_options, worst_options)
        simplest_mean = None
        if simplest_options is not None:
            published_options = np.broadcast_to(simplest_options[:, None], best_options.shape)
            simplest_mean = _compute_mean(
                self._count_nets(bank_hand_counts, solved_options, published_options)[0]
            )
        if published_best_options is not None:
            published_options = np.broadcast_to(published_best_options[:, None], best_options.shape)
            if self._count_nets(bank_hand_counts, solved_options, published_options)[0] != case_count_by_net:
                raise AnalysisError(f"{self.definition.game.id}: best: these lines are not the best play")
        payment_counts = self._count_bet_payments(bank_hand_counts, solved_options, best_options)
        figures = build_figures_from_cases(
            case_count_by_net, mean_stake, _compute_mean(worst_case_count_by_net), simplest_mean
        )
        figures = figures.model_copy(
            update={
                "payment_rates": list_row_rates(
                    self._iter_rows(solved_options), payment_counts, sum(case_count_by_net.values())
                )
            }
        )
        if self.own_card_count != POLICY_HAND_CARD_COUNT or published_best_options is not None:
            return figures
        policy = pack_policy(
            self._fill_impossible_cases(best_options, len(solved_options)).astype(np.uint8).tobytes()
        )
        return (
            figures if len(policy) > POLICY_CHARACTERS_MAX else figures.model_copy(update={"policy": policy})
        )

    def _fill_impossible_cases(self, best_options: Ints, option_count: int) -> Ints:
        """Return the best options, filled in for visible bank cards that the player's own hand holds.

        Such cases cannot occur; they get the option that is best most often in the class.
        """
        if not self.face_up_bank_card_count:
            return best_options
        is_held_card = np.zeros(best_options.shape, dtype=np.bool_)
        cards = self.player_hands.cards_by_set[self.class_hands]
        for index in range(self.own_card_count):
            is_held_card[np.arange(len(cards)), cards[:, index]] = True
        counts = np.stack(
            [((best_options == index) & ~is_held_card).sum(axis=1) for index in range(option_count)]
        )
        return np.where(is_held_card, counts.argmax(axis=0)[:, None], best_options)

    def find_published_options(
        self, solved_options: list[SolvedOption], lines: tuple[AdviceLine, ...]
    ) -> Ints | None:
        """Return, for each class of hands, the index of the option that a published strategy chooses.

        ``lines`` are the strategy. Return None if there are none, or if the player decides before seeing all own cards.
        """
        if not lines or self.known_card_count < self.own_card_count:
            return None
        index_by_option = {solved_option.option.id: n for n, solved_option in enumerate(solved_options)}
        options_by_class = np.full(
            len(self.class_hands), index_by_option[lines[-1].option_id], dtype=np.int64
        )
        ranking = HandRanking(RANKING_RULES_BY_NAME[self.duel.ranking_name])
        for line in reversed(lines):
            if line.lowest_hand is not None:
                is_strong_enough = self.strengths >= ranking.compute_strength(parse_cards(line.lowest_hand))
                options_by_class[is_strong_enough] = index_by_option[line.option_id]
        return options_by_class

    def _count_nets(
        self,
        bank_hand_counts: Ints,
        solved_options: list[SolvedOption],
        chosen_options: Ints,
    ) -> tuple[Counter[Fraction], Fraction]:
        """Return the number of cases for each net result, and the mean stake, for given decisions.

        ``chosen_options`` has the index of the chosen option by class of hands (row) and visible bank card (column).
        """
        case_count_by_net: Counter[Fraction] = Counter()
        stake_sum = Fraction(0)
        for n, solved_option in enumerate(solved_options):
            for comparison_index in range(len(HAND_COMPARISONS)):
                bank_hands = bank_hand_counts[comparison_index]
                class_case_counts = (
                    np.where(chosen_options == n, bank_hands, 0).sum(axis=1) * self.hands_per_class
                )
                distinct_nets, net_indexes = np.unique(
                    solved_option.nets[comparison_index], return_inverse=True
                )
                totals = np.bincount(net_indexes, class_case_counts).astype(np.int64)
                for net, count in zip(distinct_nets.tolist(), totals.tolist(), strict=True):
                    case_count_by_net[Fraction(net, self.unit)] += count
                    stake_sum += solved_option.stake_antes * count
        return case_count_by_net, stake_sum / sum(case_count_by_net.values())

    def _iter_rows(self, solved_options: list[SolvedOption]) -> Iterator[BetPayment]:
        """Yield each pay-table row, with its return, of each bet that may be made by the end of the decision."""
        for solved_option in solved_options:
            for name, factor in self._find_bets_after(solved_option.option).items():
                yield from iter_row_returns(self.definition.spot_by_id[name], factor)

    def _find_bets_after(self, option: DecisionOption) -> dict[str, Fraction]:
        """Return the bets on the table after the player's decision, in multiples of the ante; none after a fold."""
        bets = {} if option.is_fold else dict(list_bets_with_ante(self.definition))
        if option.spot is not None:
            bets[option.spot] = bets.get(option.spot, Fraction(0)) + Fraction(option.stake_multiple)
        return bets

    def _count_bet_payments(
        self,
        bank_hand_counts: Ints,
        solved_options: list[SolvedOption],
        chosen_options: Ints,
    ) -> Counter[BetPayment]:
        """Return how often each bet is paid in each way (by a row, as won, as returned), for given decisions.

        ``chosen_options`` has the index of the chosen option by class of hands (row) and visible bank card (column).
        """
        payment_counts: Counter[BetPayment] = Counter()
        for n, solved_option in enumerate(solved_options):
            for comparison_index, comparison in enumerate(HAND_COMPARISONS):
                bank_hands = bank_hand_counts[comparison_index]
                class_case_counts = (
                    np.where(chosen_options == n, bank_hands, 0).sum(axis=1) * self.hands_per_class
                )
                for name, factor in self._find_bets_after(solved_option.option).items():
                    payment_counts += self._count_spot_payments(
                        self.definition.spot_by_id[name], factor, comparison, class_case_counts
                    )
        return payment_counts

    def _count_spot_payments(
        self, spot: BetSpot, stake_antes: Fraction, comparison: HandComparison, class_case_counts: Ints
    ) -> Counter[BetPayment]:
        """Return how often one bet is paid in each way (by a row, as won, as returned), for one comparison.

        ``comparison`` says how the player's hand compares with the bank's; ``class_case_counts`` has the number of
        cases by class of hands.
        """
        strengths = self.player_hands.compute_strengths(RANKING_RULES_BY_NAME[spot.ranking_name])[
            self.class_hands
        ]
        result = spot.find_result(comparison)
        overriding_indexes, bonus_indexes = (
            find_winning_rows(rows, strengths, spot) for rows in (spot.overriding_rows, spot.bonus_rows)
        )
        pay_indexes = find_winning_rows(spot.pay_rows if result == "pays" else (), strengths, spot)
        pay_indexes = np.where(overriding_indexes >= 0, -1, pay_indexes)
        payment_counts: Counter[BetPayment] = Counter()
        # a bonus is paid in addition to the bet's result, so it does not return the stake
        for row_indexes, rows, returned_stakes in (
            (overriding_indexes, spot.overriding_rows, 1),
            (bonus_indexes, spot.bonus_rows, 0),
            (pay_indexes, spot.pay_rows, 1),
        ):
            totals = (
                np.bincount(row_indexes + 1, class_case_counts, len(rows) + 1).astype(np.int64).tolist()[1:]
            )
            for row, count in zip(rows, totals, strict=True):
                payment_counts[spot.id, row.id, stake_antes * (returned_stakes + row.pays.net)] += count
        final_result = spot.result_without_row if result == "pays" else result
        cases_without_row = int(class_case_counts[(overriding_indexes < 0) & (pay_indexes < 0)].sum())
        if final_result in {"win", "push"}:
            name, returned_stakes = {"win": ("won", 2), "push": ("push", 1)}[final_result]
            payment_counts[spot.id, name, stake_antes * returned_stakes] += cases_without_row
        return +payment_counts

    def _build_early_decision_figures(
        self, bank_hand_counts: Ints, solved_options: list[SolvedOption], values: Ints
    ) -> ProvedFigures:
        """Return the exact figures of a game in which the player decides before the last cards are dealt."""
        # the sum of the net results over all hands with the known cards, by option (row) and set of known cards
        sums_by_option = np.stack(
            [
                self.player_hands.sum_over_supersets(value[self.player_hands.suit_class_by_set, 0])[
                    self.known_card_count
                ]
                for value in values
            ]
        )
        case_counts_by_play: list[Counter[Fraction]] = [Counter(), Counter(), Counter()]
        stake_sum, payment_counts = Fraction(0), Counter[BetPayment]()
        ids = [solved_option.option.id for solved_option in solved_options]
        strategies = [sums_by_option.argmax(axis=0), sums_by_option.argmin(axis=0)]
        for line in self.definition.best_strategy[:1]:
            is_best = sums_by_option[ids.index(line.option_id)] == sums_by_option.max(axis=0)
            if line.lowest_hand is not None or not is_best.all():
                raise AnalysisError(f"{self.definition.game.id}: best: these lines are not the best play")
        simple = self.definition.simplest_strategy[:1]
        strategies += [
            np.full_like(strategies[0], ids.index(line.option_id))
            for line in simple
            if line.lowest_hand is None
        ]
        for mask in range(1 << self.own_card_count):
            if mask.bit_count() != self.known_card_count:
                continue
            known_set_indexes = self.player_hands.find_held_set_indexes(self.class_hands, mask)
            for n, chosen_options in enumerate(strategies):
                case_count_by_net, cost = self._count_nets(
                    bank_hand_counts, solved_options, chosen_options[known_set_indexes][:, None]
                )
                case_counts_by_play[n] += case_count_by_net
                stake_sum += cost if n == 0 else 0
            payment_counts += self._count_bet_payments(
                bank_hand_counts, solved_options, strategies[0][known_set_indexes][:, None]
            )
        simplest = _compute_mean(case_counts_by_play[2]) if len(strategies) > 2 else None
        figures = build_figures_from_cases(
            case_counts_by_play[0],
            stake_sum / comb(self.own_card_count, self.known_card_count),
            _compute_mean(case_counts_by_play[1]),
            simplest,
        )
        rates = list_row_rates(
            self._iter_rows(solved_options), payment_counts, sum(case_counts_by_play[0].values())
        )
        return figures.model_copy(update={"payment_rates": rates})

"""The best decision for a player at a poker table, read from the definition's stored figures or computed during play.

It is computed near the end of a round, when few cards are unknown: plain Python then counts every case while the player
looks at the cards. If a bet may be withdrawn, the cases are the completions of the player's hand. Against the bank,
they are the remaining board cards and all hands of the bank, counted by ranks and by the suit that may make a flush.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Final

from paytables.cards import Card, build_deck, get_rank, get_suit, parse_cards
from paytables.cards.ranking import HandRanking
from paytables.poker.pays import find_pay_row
from paytables.poker.policy import look_up_option, look_up_shared_cards_option, unpack_policy
from paytables.poker.table.bets import MAIN_BET
from paytables.poker.table.schema import BetSpot, DecisionOption, HandComparison, PokerDefinition, RoundStep

#: Maximum number of completions of a hand to count while a player waits.
COUNTED_COMPLETIONS_MAX: Final = 2_000
#: Maximum number of boards for which all of the bank's hands are counted: one card is to come.
COUNTED_BOARDS_MAX: Final = 50
#: The net result, in stakes, of an even-money bet, by its result.
_NET_BY_RESULT: Final = {"win": Fraction(1), "push": Fraction(0), "lose": Fraction(-1)}


class BestOptionAdvice:
    """The decisions that a poker game recommends to its player.

    ``rankings`` has the ranking of poker hands by the name of its ranking order.
    """

    def __init__(self, definition: PokerDefinition, rankings: Mapping[str, HandRanking]) -> None:
        self.definition, self.rankings = definition, rankings

    def find_best_option(
        self,
        step: RoundStep,
        bets: Mapping[str, int],
        hole_cards: Sequence[Card],
        bank_cards: Sequence[Card],
        board: list[Card],
    ) -> str | None:
        """Return the best option at the decision ``step`` with the current bets, or None if none is known."""
        definition, duel = self.definition, self.definition.duel
        if definition.best_strategy and duel is not None:
            ranking = self.rankings[duel.ranking_name]
            own_strength = ranking.compute_strength(hole_cards)
            return next(
                line.option_id
                for line in definition.best_strategy
                if line.lowest_hand is None
                or own_strength >= ranking.compute_strength(parse_cards(line.lowest_hand))
            )
        figures_with_policy = [
            definition.proved[name]
            for name in (
                MAIN_BET,
                *(option.spot for option in step.options if option.returned_share is not None),
            )
            if name in definition.proved and definition.proved[name].policy is not None
        ]
        if duel is not None and self._board_card_count:
            missing_card_count = self._board_card_count - len(board)
            if comb(52 - len(hole_cards) - len(board), missing_card_count) <= COUNTED_BOARDS_MAX:
                return self._find_option_with_board(step, bets, hole_cards, board)
            return (
                step.options[
                    look_up_shared_cards_option(
                        unpack_policy(str(figures_with_policy[0].policy)), hole_cards, board
                    )
                ].id
                if figures_with_policy
                else None
            )
        if figures_with_policy:
            known_cards = [*hole_cards, *board]
            return step.options[
                look_up_option(
                    unpack_policy(str(figures_with_policy[0].policy)),
                    known_cards,
                    next(iter(bank_cards), None),
                )
            ].id
        return self._find_withdrawal_option(step, hole_cards, board)

    @property
    def _board_card_count(self) -> int:
        """Return the number of cards on the shared board at the end of a round."""
        return sum(step.deal.board_card_count for step in self.definition.steps if step.deal is not None)

    def _find_withdrawal_option(
        self, step: RoundStep, hole_cards: Sequence[Card], board: Sequence[Card]
    ) -> str | None:
        """Return the best option at a decision whether to withdraw a bet or to leave it.

        Every completion of the hand is examined. Return None if that would take too long.
        """
        deals = [dealt_step.deal for dealt_step in self.definition.steps if dealt_step.deal is not None]
        missing_card_count = (
            sum(deal.player_card_count + deal.board_card_count for deal in deals)
            - len(hole_cards)
            - len(board)
        )
        unseen_cards = [card for card in build_deck() if card not in {*hole_cards, *board}]
        withdrawal_options = [
            withdrawal_option
            for withdrawal_option in step.options
            if withdrawal_option.returned_share is not None
        ]
        if (
            len(withdrawal_options) != 1
            or comb(len(unseen_cards), missing_card_count) > COUNTED_COMPLETIONS_MAX
        ):
            return None
        withdrawal_option, completions = (
            withdrawal_options[0],
            list(combinations(unseen_cards, missing_card_count)),
        )
        spot = self.definition.spot_by_id[str(withdrawal_option.spot)]
        own_cards, board_cards = list(hole_cards)[: spot.player_card_count], list(board)
        compute_strength = self.rankings[spot.ranking_name].compute_strength
        net_sum = Fraction(0)
        for completion in completions:
            own_strength = compute_strength(
                [*own_cards, *[*board_cards, *completion][: spot.board_card_count]]
            )
            row_index = find_pay_row(spot.pay_rows, own_strength, 0, self.rankings[spot.ranking_name].rules)
            net_sum += Fraction(-1) if row_index is None else spot.pay_rows[row_index].pays.net
        keeping_option_id = next(other.id for other in step.options if other.returned_share is None)
        return (
            keeping_option_id
            if net_sum > (Fraction(str(withdrawal_option.returned_share)) - 1) * len(completions)
            else withdrawal_option.id
        )

    # ------------------------------------------------------------ against the bank, on a board
    def _find_option_with_board(
        self, step: RoundStep, bets: Mapping[str, int], hole_cards: Sequence[Card], board: list[Card]
    ) -> str | None:
        """Return the option with the highest mean net result in a game with a board.

        Of equal options, the one with the lowest stake is returned.
        """
        step_index = self.definition.steps.index(step)
        ante = Fraction(bets[self.definition.ante.id])
        bets_in_antes = {
            name: credits_ / ante
            for name, credits_ in bets.items()
            if not self.definition.spot_by_id[name].is_independent_of_bank
        }
        option_means = [
            (option, self._compute_mean_after_option(step_index, option, bets_in_antes, hole_cards, board))
            for option in _sort_options_by_cost(step)
        ]
        return max(option_means, key=lambda pair: pair[1])[0].id

    def _compute_mean_after_option(
        self,
        step_index: int,
        option: DecisionOption,
        bets_in_antes: dict[str, Fraction],
        hole_cards: Sequence[Card],
        board: list[Card],
    ) -> Fraction:
        """Return the mean net result, in antes, of choosing ``option`` at a step and the best options after it."""
        if option.is_fold:
            return -sum(bets_in_antes.values(), Fraction(0))
        if option.added_stake_factor:
            name = str(option.spot)
            bets_in_antes = {
                **bets_in_antes,
                name: bets_in_antes.get(name, Fraction(0)) + option.added_stake_factor,
            }
        return self._compute_best_mean(step_index + 1, bets_in_antes, hole_cards, board)

    def _compute_best_mean(
        self,
        step_index: int,
        bets_in_antes: dict[str, Fraction],
        hole_cards: Sequence[Card],
        board: list[Card],
    ) -> Fraction:
        """Return the mean net result, in antes, of a round with the best decisions from step ``step_index`` on."""
        for n in range(step_index, len(self.definition.steps)):
            step = self.definition.steps[n]
            if step.deal is not None:
                unseen_cards = [card for card in build_deck() if card not in {*hole_cards, *board}]
                means = [
                    self._compute_best_mean(n + 1, bets_in_antes, hole_cards, [*board, *new_board_cards])
                    for new_board_cards in combinations(unseen_cards, step.deal.board_card_count)
                ]
                return sum(means, Fraction(0)) / len(means)
            is_required = not step.asked_with_bets or any(
                name in bets_in_antes for name in step.asked_with_bets
            )
            if is_required and not any(name in bets_in_antes for name in step.skipped_with_bets):
                return max(
                    self._compute_mean_after_option(n, option, bets_in_antes, hole_cards, board)
                    for option in step.options
                )
        return self._compute_final_mean(bets_in_antes, hole_cards, board)

    def _compute_final_mean(
        self, bets_in_antes: Mapping[str, Fraction], hole_cards: Sequence[Card], board: list[Card]
    ) -> Fraction:
        """Return the mean net result, in antes, over all possible bank hands, after the last decision."""
        duel = self.definition.duel
        if duel is None:
            return Fraction(0)
        ranking = self.rankings[duel.ranking_name]
        own_strength = ranking.compute_strength([*hole_cards, *board])
        hand_counts: Counter[HandComparison] = Counter()
        for bank_strength, count in _iter_bank_hands(ranking, {*hole_cards, *board}, board):
            comparison: HandComparison = (
                "better"
                if own_strength > bank_strength
                else "equal"
                if own_strength == bank_strength
                else "worse"
            )
            hand_counts["unqualified" if bank_strength < duel.lowest_qualifying_strength else comparison] += (
                count
            )
        net_sum = sum(
            (
                factor
                * self._compute_spot_net(self.definition.spot_by_id[name], comparison, own_strength)
                * count
                for name, factor in bets_in_antes.items()
                for comparison, count in hand_counts.items()
            ),
            Fraction(0),
        )
        return net_sum / hand_counts.total()

    def _compute_spot_net(self, spot: BetSpot, comparison: HandComparison, own_strength: int) -> Fraction:
        """Return one bet's net result, as a multiple of its stake, for a player's hand of strength ``own_strength``.

        ``comparison`` says how the player's hand compares with the bank's.
        """
        ranking_rules = self.rankings[spot.ranking_name].rules
        bonus_row, overriding_row, pay_row = (
            find_pay_row(rows, own_strength, 0, ranking_rules)
            for rows in (spot.bonus_rows, spot.overriding_rows, spot.pay_rows)
        )
        bonus_net = Fraction(0) if bonus_row is None else spot.bonus_rows[bonus_row].pays.net
        if overriding_row is not None:
            return bonus_net + spot.overriding_rows[overriding_row].pays.net
        result = spot.find_result(comparison)
        if result == "pays" and pay_row is not None:
            return bonus_net + spot.pay_rows[pay_row].pays.net
        return bonus_net + _NET_BY_RESULT[spot.result_without_row if result == "pays" else result]


def _sort_options_by_cost(step: RoundStep) -> list[DecisionOption]:
    """Return the options of a player decision, those that stake the least first."""
    return sorted(step.options, key=lambda option: option.added_stake_factor)


def _iter_bank_hands(
    ranking: HandRanking, seen_cards: set[Card], board: Sequence[Card]
) -> Iterator[tuple[int, int]]:
    """Yield the strength of each hand that the bank's two unknown cards can make, and how many pairs of cards make it.

    The same strength may be yielded more than once. ``seen_cards`` are the cards that the bank cannot hold.
    """
    suit_counts = Counter(map(get_suit, board))
    flush_suit = next(
        (suit for suit, count in suit_counts.items() if count >= ranking.rules.hand_size - 2), None
    )
    ranks = tuple(map(get_rank, board))
    board_suited_mask = sum(1 << get_rank(card) for card in board if get_suit(card) == flush_suit)
    unseen_cards = [card for card in build_deck() if card not in seen_cards]
    suited_ranks = [get_rank(card) for card in unseen_cards if get_suit(card) == flush_suit]
    other_ranks = Counter(get_rank(card) for card in unseen_cards if get_suit(card) != flush_suit)

    def rank_hand(a: int, b: int, suited_ranks_mask: int) -> int:
        """Return the strength of the bank's best hand from the board and two cards of ranks ``a`` and ``b``.

        ``suited_ranks_mask`` are the ranks of the bank's cards in the suit that may make a flush.
        """
        strength = ranking.compute_strength_without_flushes(tuple(sorted((*ranks, a, b))))
        return (
            max(strength, ranking.compute_flush_strength(suited_ranks_mask, 0))
            if suited_ranks_mask.bit_count() >= ranking.rules.hand_size
            else strength
        )

    for a, b in combinations(other_ranks, 2):
        yield rank_hand(a, b, board_suited_mask), other_ranks[a] * other_ranks[b]
    for a, count in other_ranks.items():
        if count > 1:
            yield rank_hand(a, a, board_suited_mask), comb(count, 2)
        for b in suited_ranks:
            yield rank_hand(a, b, board_suited_mask | 1 << b), count
    for a, b in combinations(suited_ranks, 2):
        yield rank_hand(a, b, board_suited_mask | 1 << a | 1 << b), 1

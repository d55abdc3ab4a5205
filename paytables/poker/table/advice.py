"""The best decision for a player at a poker table, read from the definition's stored figures or computed during play.

It is computed near the end of a round, when few cards are unknown: plain Python then counts every case while the player
looks at the cards. If a bet may be taken back, the cases are the completions of the player's hand. Against the bank,
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


class BestAnswerAdvice:
    """The decisions that a poker game recommends to its player.

    ``rankings`` has the ranking of poker hands for each name of a ranking order.
    """

    def __init__(self, definition: PokerDefinition, rankings: Mapping[str, HandRanking]) -> None:
        self.definition, self.rankings = definition, rankings

    def find_best_answer(
        self,
        step: RoundStep,
        bets: Mapping[str, int],
        hole_cards: Sequence[Card],
        bank: Sequence[Card],
        board: list[Card],
    ) -> str | None:
        """Return the best option at the decision ``step`` with the current bets, or None if none is known."""
        definition, duel = self.definition, self.definition.duel
        if definition.best and duel is not None:
            ranking = self.rankings[duel.order]
            own_strength = ranking.compute_strength(hole_cards)
            return next(
                line.option
                for line in definition.best
                if line.least is None or own_strength >= ranking.compute_strength(parse_cards(line.least))
            )
        figures_with_policy = [
            definition.proved[name]
            for name in (MAIN_BET, *(option.spot for option in step.option if option.back is not None))
            if name in definition.proved and definition.proved[name].policy is not None
        ]
        if duel is not None and self._board_card_count:
            missing_cards = self._board_card_count - len(board)
            if comb(52 - len(hole_cards) - len(board), missing_cards) <= COUNTED_BOARDS_MAX:
                return self._find_answer_with_board(step, bets, hole_cards, board)
            return (
                step.option[
                    look_up_shared_cards_option(
                        unpack_policy(str(figures_with_policy[0].policy)), hole_cards, board
                    )
                ].id
                if figures_with_policy
                else None
            )
        if figures_with_policy:
            known_cards = [*hole_cards, *board]
            return step.option[
                look_up_option(
                    unpack_policy(str(figures_with_policy[0].policy)), known_cards, next(iter(bank), None)
                )
            ].id
        return self._find_withdrawal_answer(step, hole_cards, board)

    @property
    def _board_card_count(self) -> int:
        """Return the number of cards on the shared board at the end of a round."""
        return sum(step.deal.board for step in self.definition.step if step.deal is not None)

    def _find_withdrawal_answer(
        self, step: RoundStep, hole_cards: Sequence[Card], board: Sequence[Card]
    ) -> str | None:
        """Return the best option at a decision whether to take a poker bet back or to leave it.

        Every completion of the hand is examined. Return None if that would take too long.
        """
        deals = [dealt_step.deal for dealt_step in self.definition.step if dealt_step.deal is not None]
        missing_cards = sum(deal.player + deal.board for deal in deals) - len(hole_cards) - len(board)
        unseen = [card for card in build_deck() if card not in {*hole_cards, *board}]
        backs = [option for option in step.option if option.back is not None]
        if len(backs) != 1 or comb(len(unseen), missing_cards) > COUNTED_COMPLETIONS_MAX:
            return None
        option, ways = backs[0], list(combinations(unseen, missing_cards))
        spot = self.definition.spots[str(option.spot)]
        own_cards, board_cards = list(hole_cards)[: spot.player], list(board)
        compute_strength = self.rankings[spot.order].compute_strength
        net = Fraction(0)
        for completion in ways:
            own_strength = compute_strength([*own_cards, *[*board_cards, *completion][: spot.board]])
            row = find_pay_row(spot.pay, own_strength, 0, self.rankings[spot.order].rules)
            net += Fraction(-1) if row is None else spot.pay[row].pays.net
        staying_option = next(other.id for other in step.option if other.back is None)
        return staying_option if net > (Fraction(str(option.back)) - 1) * len(ways) else option.id

    # ------------------------------------------------------------ against the bank, on a board
    def _find_answer_with_board(
        self, step: RoundStep, bets: Mapping[str, int], hole_cards: Sequence[Card], board: list[Card]
    ) -> str | None:
        """Return the option with the highest mean net result in a game with a board.

        Of equal options, the one with the lowest stake is returned.
        """
        step_index = self.definition.step.index(step)
        ante = Fraction(bets[self.definition.ante.id])
        bets_in_antes = {
            name: credits_ / ante
            for name, credits_ in bets.items()
            if not self.definition.spots[name].is_independent_of_bank
        }
        option_means = [
            (option, self._compute_mean_after_answer(step_index, option, bets_in_antes, hole_cards, board))
            for option in _sort_options_by_cost(step)
        ]
        return max(option_means, key=lambda pair: pair[1])[0].id

    def _compute_mean_after_answer(
        self,
        step_index: int,
        option: DecisionOption,
        bets: dict[str, Fraction],
        hole_cards: Sequence[Card],
        board: list[Card],
    ) -> Fraction:
        """Return the mean net result, in antes, of choosing ``option`` at a step and the best options after it."""
        if option.fold:
            return -sum(bets.values(), Fraction(0))
        if option.added_stake_factor:
            name = str(option.spot)
            bets = {**bets, name: bets.get(name, Fraction(0)) + option.added_stake_factor}
        return self._compute_best_mean(step_index + 1, bets, hole_cards, board)

    def _compute_best_mean(
        self, step_index: int, bets: dict[str, Fraction], hole_cards: Sequence[Card], board: list[Card]
    ) -> Fraction:
        """Return the mean net result, in antes, of a round with the best decisions from step ``step_index`` on."""
        for n in range(step_index, len(self.definition.step)):
            step = self.definition.step[n]
            if step.deal is not None:
                unseen = [card for card in build_deck() if card not in {*hole_cards, *board}]
                means = [
                    self._compute_best_mean(n + 1, bets, hole_cards, [*board, *new_board_cards])
                    for new_board_cards in combinations(unseen, step.deal.board)
                ]
                return sum(means, Fraction(0)) / len(means)
            is_required = not step.asked_with_bets or any(name in bets for name in step.asked_with_bets)
            if is_required and not any(name in bets for name in step.skipped_with_bets):
                return max(
                    self._compute_mean_after_answer(n, option, bets, hole_cards, board)
                    for option in step.option
                )
        return self._compute_final_mean(bets, hole_cards, board)

    def _compute_final_mean(
        self, bets: Mapping[str, Fraction], hole_cards: Sequence[Card], board: list[Card]
    ) -> Fraction:
        """Return the mean net result, in antes, over all possible bank hands, after the last decision."""
        duel = self.definition.duel
        if duel is None:
            return Fraction(0)
        ranking = self.rankings[duel.order]
        own_strength = ranking.compute_strength([*hole_cards, *board])
        counts: Counter[HandComparison] = Counter()
        for bank_strength, count in _iter_bank_hands(ranking, {*hole_cards, *board}, board):
            beaten: HandComparison = (
                "better"
                if own_strength > bank_strength
                else "equal"
                if own_strength == bank_strength
                else "worse"
            )
            counts["closed" if bank_strength < duel.lowest_qualifying_strength else beaten] += count
        net = sum(
            (
                factor * self._compute_spot_net(self.definition.spots[name], comparison, own_strength) * count
                for name, factor in bets.items()
                for comparison, count in counts.items()
            ),
            Fraction(0),
        )
        return net / counts.total()

    def _compute_spot_net(self, spot: BetSpot, comparison: HandComparison, own_strength: int) -> Fraction:
        """Return one bet's net result, as a multiple of its stake, for a player's hand of strength ``own_strength``.

        ``comparison`` says how the player's hand compares with the bank's.
        """
        ranking_rules = self.rankings[spot.order].rules
        bonus, first, pays = (
            find_pay_row(rows, own_strength, 0, ranking_rules) for rows in (spot.bonus, spot.first, spot.pay)
        )
        extra = Fraction(0) if bonus is None else spot.bonus[bonus].pays.net
        if first is not None:
            return extra + spot.first[first].pays.net
        result = spot.find_result(comparison)
        if result == "pays" and pays is not None:
            return extra + spot.pay[pays].pays.net
        return extra + _NET_BY_RESULT[spot.otherwise if result == "pays" else result]


def _sort_options_by_cost(step: RoundStep) -> list[DecisionOption]:
    """Return the options of a player decision, those that stake the least first."""
    return sorted(step.option, key=lambda option: option.added_stake_factor)


def _iter_bank_hands(
    ranking: HandRanking, seen_cards: set[Card], board: Sequence[Card]
) -> Iterator[tuple[int, int]]:
    """Yield the strength of each hand that the bank's two unknown cards can make, and how many pairs of cards make it.

    The same strength may be yielded more than once. ``seen_cards`` are the cards that the bank cannot hold.
    """
    suits = Counter(map(get_suit, board))
    flush = next((suit for suit, count in suits.items() if count >= ranking.rules.hand_size - 2), None)
    ranks = tuple(map(get_rank, board))
    mask = sum(1 << get_rank(card) for card in board if get_suit(card) == flush)
    unseen = [card for card in build_deck() if card not in seen_cards]
    suited = [get_rank(card) for card in unseen if get_suit(card) == flush]
    other_ranks = Counter(get_rank(card) for card in unseen if get_suit(card) != flush)

    def rank_hand(a: int, b: int, cards: int) -> int:
        """Return the strength of the bank's best hand from the board and two cards of ranks ``a`` and ``b``.

        ``cards`` are the ranks of the bank's cards in the suit that may make a flush.
        """
        best = ranking.compute_rank_strength(tuple(sorted((*ranks, a, b))))
        return (
            max(best, ranking.compute_flush_strength(cards, 0))
            if cards.bit_count() >= ranking.rules.hand_size
            else best
        )

    for a, b in combinations(other_ranks, 2):
        yield rank_hand(a, b, mask), other_ranks[a] * other_ranks[b]
    for a, count in other_ranks.items():
        if count > 1:
            yield rank_hand(a, a, mask), comb(count, 2)
        for b in suited:
            yield rank_hand(a, b, mask | 1 << b), count
    for a, b in combinations(suited, 2):
        yield rank_hand(a, b, mask | 1 << a | 1 << b), 1

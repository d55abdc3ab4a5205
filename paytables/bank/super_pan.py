"""Super Pan 9 (Québec by-law, ss. 54-62): eight decks without sevens to tens; each hand has three or four cards.

Each hand is dealt three cards. The player may draw a fourth; the bank draws on five or less and stands on six or more.
The hand whose total has the higher last digit wins. A win pays even money less 5 % of the stake, which for this
commission is rounded up to a multiple of ten dollars; equal hands push. A player may be the bank (s. 62), and the bank
draws by the same rule for every holder (:mod:`paytables.player_bank`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations_with_replacement
from math import comb, prod
from typing import ClassVar, Final, Self, TypeAlias

from pydantic import model_validator

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.bank.rules import (
    BANK_NAMES,
    PLAYER_NAMES,
    HandDescriptions,
    SeatedBankRules,
    build_bank_family,
)
from paytables.bank.schema import BankBet, BankDefinition
from paytables.bank.seat_hands import DRAW_OPTION, STAND_OPTION, RoundHands
from paytables.cards.card import Card, Shoe, get_rank
from paytables.commission import BaccaratCommission
from paytables.contract import Bet, Cue, Decision, DrawSource, Outcome, RoundEvents, Settlement, Wager
from paytables.layout import TableLayout, WeightedResult, compute_mean_return, settle_bet, settle_push
from paytables.player_bank import (
    BANK_SPOT,
    FIRST_BANK_TURN,
    NOT_COVERED_SETTLEMENT_NAME,
    STAKE_SPOT,
    BankTurn,
    PlayerBank,
    PlayerBankRules,
    mirror_settlement,
)
from paytables.seating import can_see_seat_cards, format_hand_id

#: Points of each rank, two to ace; sevens to tens are not in the shoe.
CARD_POINTS_BY_RANK: Final = (2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 1)
#: Ranks that are not in the shoe: sevens to tens.
_EXCLUDED_RANKS: Final = (5, 6, 7, 8)
#: The highest points with which the bank draws a card.
_BANK_DRAWS_UP_TO_POINTS: Final = 5
#: Cards that are dealt to each hand.
_CARDS_PER_HAND: Final = 3

#: A function that returns the player's option, draw or stand, from the points of three cards in ascending order.
DrawDecider: TypeAlias = Callable[[tuple[int, ...]], str]


class SuperPanBet(BankBet):
    """The only bet of Super Pan 9, and its commission if it wins."""

    commission: BaccaratCommission
    """The commission on a winning bet."""

    def compute_commission(self, credits_: int) -> int:
        """Return the commission on a winning Super Pan 9 bet of ``credits_``, in credits."""
        return self.commission.compute_credits(credits_)

    def describe_pay(self) -> Mapping[str, str]:
        """Return what a winning Super Pan 9 bet pays after the commission, as text by language."""
        return {
            language: f"{self.odds.text}, {text}" for language, text in self.commission.describe().items()
        }


class SuperPanDefinition(BankDefinition):
    """The definition of a Super Pan 9 game; without ``[player_bank]`` the machine is always the bank."""

    stake: SuperPanBet
    """The bet against the bank."""
    player_bank: PlayerBank | None = None
    """The terms on which a player may be the bank, or None."""

    @model_validator(mode="after")
    def _check_bank(self) -> Self:
        """If a player may hold the bank, refuse invalid terms of that bank, and any stake id but ``stake``."""
        if self.player_bank is not None:
            if self.stake.id != STAKE_SPOT:
                raise ValueError(f"stake.id: must be {STAKE_SPOT!r} if a player may be the bank")
            denomination_count = len(self.game.denominations_cents)
            self.player_bank.check_table(self.table.seat_count, self.stake.limits, denomination_count)
        return self

    @model_validator(mode="after")
    def _check_shoe_is_fresh(self) -> Self:
        """Refuse a shoe that is not shuffled for every round."""
        if self.shoe.is_shoe_carried_over or self.shoe.burned_card_count:
            raise ValueError("shoe: must be shuffled for every round, without burnt cards")
        return self

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return what the Super Pan 9 bet pays, as text by language."""
        bet, bank = self.stake, self.player_bank
        return {
            language: [
                f"{getattr(bet.name, language)} - {terms}",
                *([] if bank is None else [bank.format_row(language)]),
            ]
            for language, terms in bet.describe_pay().items()
        }


@dataclass(frozen=True)
class SuperPanRules(PlayerBankRules, SeatedBankRules[SuperPanDefinition]):
    """The rules of a playable game of Super Pan 9, with a shoe shuffled for every round."""

    bank_turn: BankTurn = FIRST_BANK_TURN
    """Which seat is offered the bank of the next round first."""

    hands: ClassVar[HandDescriptions] = ((BANK_SPOT, BANK_NAMES, 4), ("player", PLAYER_NAMES, 4))

    def list_bets(self) -> tuple[SuperPanBet, ...]:
        """Return the only bet of the game."""
        return (self.definition.stake,)

    @property
    def player_bank(self) -> PlayerBank | None:
        """Return the terms on which a player may be the bank, or None if the machine always is."""
        return self.definition.player_bank

    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout: the spot of the stake, and that of the bank if the table now offers it to players."""
        layout = super().table_layout
        return replace(layout, spots=(*layout.spots, *self.list_bank_spots(self.definition.table.seat_count)))

    def describe_hands(self) -> list[dict[str, object]]:
        """Return the bank's hand, which a player may hold, and one for each seat."""
        bank, *player_hands = super().describe_hands()
        return [{**bank, **self.bank_owner_data}, *player_hands]

    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a round: deal three cards each, let each seat draw, turn all hands, draw for the bank, settle."""
        banked_round = self.arrange_bank(bets)
        hand_id_by_seat = {bet.seat: format_hand_id(bet.seat) for bet in banked_round.played_bets}
        holder_by_hand_id = {
            BANK_SPOT: banked_round.bank_seat,
            **{hand_id: seat for seat, hand_id in hand_id_by_seat.items()},
        }
        round_hands = RoundHands(
            holder_by_hand_id, viewer, _count_points, face_down_card_count=_CARDS_PER_HAND + 1
        )
        if not (yield from self.ask_whether_bank_covers(banked_round, round_hands.to_json(), viewer)):
            return (yield from self.return_stakes(bets, round_hands.to_json()))
        yield from banked_round.returned_settlements
        shoe = Shoe.from_decks(self.definition.shoe.deck_count, excluded_ranks=_EXCLUDED_RANKS)
        yield Cue("shuffle", {"decks": self.definition.shoe.deck_count})
        for _ in range(_CARDS_PER_HAND):
            for hand_id in (*hand_id_by_seat.values(), BANK_SPOT):
                yield round_hands.deal_card(hand_id, shoe, draw)
        own_hand = hand_id_by_seat.get(
            banked_round.played_bets[0].seat if viewer is None else viewer, BANK_SPOT
        )
        for bet in banked_round.played_bets:
            hand_id = hand_id_by_seat[bet.seat]
            points = tuple(
                sorted(CARD_POINTS_BY_RANK[get_rank(card)] for card in round_hands.cards_by_hand_id[hand_id])
            )
            prompt = _build_display(round_hands, own_hand)
            if can_see_seat_cards(bet.seat, viewer):
                prompt["advice"] = self.find_best_option(points, bet.credits)
            decision = Decision("super-pan", (STAND_OPTION, DRAW_OPTION), prompt, seat=bet.seat)
            if decision.get_chosen_option((yield decision)) == DRAW_OPTION:
                yield round_hands.deal_card(hand_id, shoe, draw)
        yield from round_hands.turn_face_up(*holder_by_hand_id)
        if round_hands.count_points(BANK_SPOT) <= _BANK_DRAWS_UP_TO_POINTS:
            yield round_hands.deal_card(BANK_SPOT, shoe, draw)
        for bet in banked_round.played_bets:
            settlement = self._settle_bet(
                bet, round_hands.count_points(hand_id_by_seat[bet.seat]), round_hands.count_points(BANK_SPOT)
            )
            yield settlement
            yield from banked_round.settle_bank(settlement)
        return Outcome(
            display=_build_display(round_hands, own_hand),
            table_state=self.build_table_after_bank(banked_round, bets, viewer),
        )

    def _settle_bet(self, bet: Bet, player_points: int, bank_points: int) -> Settlement:
        """Return the settlement of a bet by the points of its player's and the bank's hand."""
        bet_terms = self.definition.stake
        if player_points == bank_points:
            return settle_push(bet)
        if player_points < bank_points:
            return settle_bet(bet, None)
        settlement, commission = settle_bet(bet, bet_terms.odds), bet_terms.compute_commission(bet.credits)
        return replace(settlement, credits=settlement.credits - commission, detail={"commission": commission})

    def find_best_option(self, hand: tuple[int, ...], stake_credits: int) -> str:
        """Return the player's better decision, ``draw`` or ``stand``; ``hand`` has the points of the three cards.

        It is computed for a fresh shoe without these cards, whatever cards other seats show.
        """
        stand_chances, draw_chances = _compute_chances(hand, self.definition.shoe.deck_count)
        should_draw = self._compute_stake_value(draw_chances, stake_credits) > self._compute_stake_value(
            stand_chances, stake_credits
        )
        return DRAW_OPTION if should_draw else STAND_OPTION

    def _compute_stake_value(self, chances: Mapping[int, Fraction], stake_credits: int) -> Fraction:
        """Return the expected return of a stake from the chances to win (1), push (0) and lose (-1)."""
        return (
            chances[1] * (2 * stake_credits - self.definition.stake.compute_commission(stake_credits))
            + chances[0] * stake_credits
        )

    def iter_cases(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every possible result of a wager if the players make the best decision with each hand.

        A seat with a bet on the bank holds it, against one stake of the same credits.
        """
        stakes = {bet.spot: bet.credits for bet in wager.bets}
        if BANK_SPOT in stakes:
            return self._iter_bank_cases(stakes, lambda hand: self.find_best_option(hand, stakes[BANK_SPOT]))
        return self._iter_cases(
            stakes, lambda hand: self.find_best_option(hand, stakes[self.definition.stake.id])
        )

    def iter_every_case(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every case of a Super Pan 9 round, once if the player draws a card and once if not.

        If the wager includes a bet on the bank, the cases in which it is accepted and those in which it is
        returned are both included.
        """
        stakes = {bet.spot: bet.credits for bet in wager.bets}
        deciders: tuple[DrawDecider, ...] = (lambda _: DRAW_OPTION, lambda _: STAND_OPTION)
        for choose_option in deciders:
            yield from self._iter_cases(stakes, choose_option)
            if BANK_SPOT in stakes:
                yield from self._iter_bank_cases(stakes, choose_option)

    def _iter_cases(self, stakes: Mapping[str, int], choose_option: DrawDecider) -> Iterable[WeightedResult]:
        """Yield a weighted case for each hand of the player and each result (win, push or loss) that it may have.

        ``choose_option`` returns the option for a hand: draw or stand.
        """
        deck_count, name = self.definition.shoe.deck_count, self.definition.stake.id
        counts, bet = _count_cards_by_points(deck_count), Bet(name, stakes[name])
        bank_settlements = (
            [settle_push(Bet(BANK_SPOT, stakes[BANK_SPOT]), NOT_COVERED_SETTLEMENT_NAME)]
            if BANK_SPOT in stakes
            else []
        )
        hand_count = comb(sum(counts), _CARDS_PER_HAND)
        for hand in combinations_with_replacement(range(len(counts)), _CARDS_PER_HAND):
            hand_chance = Fraction(_count_ways(counts, hand), hand_count)
            stand_chances, draw_chances = _compute_chances(hand, deck_count)
            chances = draw_chances if choose_option(hand) == DRAW_OPTION else stand_chances
            for result, chance in chances.items():
                if chance * hand_chance:
                    # any points that compare like the result: 1 wins against 0, 0 ties, -1 loses
                    settlements = [*bank_settlements, self._settle_bet(bet, result, 0)]
                    yield WeightedResult(chance * hand_chance, settlements)

    def _iter_bank_cases(
        self, stakes: Mapping[str, int], choose_option: DrawDecider
    ) -> Iterable[WeightedResult]:
        """Yield the cases of a seat that holds the bank, against one opposing stake of the same credits.

        The seat's own stake, if any, is returned.
        """
        own_settlements = (
            [settle_push(Bet(STAKE_SPOT, stakes[STAKE_SPOT]), NOT_COVERED_SETTLEMENT_NAME)]
            if STAKE_SPOT in stakes
            else []
        )
        for case in self._iter_cases({STAKE_SPOT: stakes[BANK_SPOT]}, choose_option):
            (settlement,) = case.settlements
            yield WeightedResult(case.weight, [*own_settlements, mirror_settlement(settlement)])

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of the stake and, if a player may hold the bank, of the bank, to this depth."""
        analysis, bank = super().analyse(depth), self.definition.player_bank
        if bank is None:
            return analysis
        figures = self.table_layout.with_required_bets(
            self.analyse_stakes(BANK_SPOT, {BANK_SPOT: bank.limits.bet_min}, depth)
        )
        return replace(analysis, bets=(*analysis.bets, figures))

    def analyse_stakes(self, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth) -> BetAnalysis:
        """Return a bet's figures for the best decisions, for decisions by the bank's drawing rule, and for the worst.

        The bank has no choice: its figures are those against the best decisions, in a round in which one
        other seat has a stake of the same credits.
        """
        base_figures = super().analyse_stakes(bet_name, stakes, depth)
        if BANK_SPOT in stakes:
            other_bets = {"1": {STAKE_SPOT: stakes[BANK_SPOT]}}
            return replace(
                base_figures,
                options={"bets": dict(stakes), "seat": 0, "others": other_bets},
                is_covered_by_players=True,
                table={BANK_SPOT: BankTurn(eligible_seats=(0, 1)).to_json()},
            )
        wager = Wager(sum(stakes.values()), {"bets": dict(stakes)})
        opposite_option = {DRAW_OPTION: STAND_OPTION, STAND_OPTION: DRAW_OPTION}
        worst_rtp = compute_mean_return(
            wager,
            self._iter_cases(
                stakes, lambda hand: opposite_option[self.find_best_option(hand, wager.credits)]
            ),
        )
        bank_rule_cases = self._iter_cases(
            stakes, lambda hand: DRAW_OPTION if sum(hand) % 10 <= _BANK_DRAWS_UP_TO_POINTS else STAND_OPTION
        )
        drawing_hands = [
            hand for hand in _iter_hands() if self.find_best_option(hand, wager.credits) == DRAW_OPTION
        ]
        highest_total = max(sum(hand) % 10 for hand in drawing_hands)
        return replace(
            base_figures,
            strategy=f"draw on {highest_total} or less",
            simplest_strategy="draw on five or less, as the bank does",
            simplest_rtp=compute_mean_return(wager, bank_rule_cases),
            worst_rtp=worst_rtp,
        )


def _build_display(round_hands: RoundHands, own_hand: str) -> dict[str, object]:
    """Return the hands as the screen shows them, with the points of the viewer's own hand as the result."""
    return round_hands.to_json() | {"result": str(round_hands.count_points(own_hand))}


def _count_points(hand: Sequence[Card]) -> int:
    """Return the points of a Super Pan 9 hand: the last digit of the sum of its cards' points."""
    return sum(CARD_POINTS_BY_RANK[get_rank(card)] for card in hand) % 10


# ---------------------------------------------------------------------------------- exact figures, by points
def _count_cards_by_points(deck_count: int) -> tuple[int, ...]:
    """Return the number of cards in the shoe by points 0 to 6: faces count 0, aces 1, two to six their number."""
    return (12 * deck_count, *([4 * deck_count] * 6))


def _iter_hands() -> Iterable[tuple[int, ...]]:
    """Yield every Super Pan 9 hand of three cards as the points of its cards, ascending."""
    return combinations_with_replacement(range(7), _CARDS_PER_HAND)


def _count_ways(counts: Sequence[int], hand: Sequence[int]) -> int:
    """Return the number of ways to deal cards of these points; ``counts`` has the shoe's number of cards by points."""
    ways = 1
    for points, times in Counter(hand).items():
        ways *= comb(counts[points], times)
    return ways


@cache
def _compute_chances(
    hand: tuple[int, ...], deck_count: int
) -> tuple[Mapping[int, Fraction], Mapping[int, Fraction]]:
    """Return the chances to win (1), push (0) and lose (-1) with a Super Pan 9 hand: if it stands, and if it draws."""
    counts_left = list(_count_cards_by_points(deck_count))
    for points in hand:
        counts_left[points] -= 1
    own_points, cards_left = sum(hand) % 10, sum(counts_left)
    stand_chances = _compute_chances_against(own_points, counts_left)
    draw_chances = dict.fromkeys((1, 0, -1), Fraction(0))
    for points, value_count in enumerate(counts_left):
        if value_count:
            counts_left[points] -= 1
            for result, chance in _compute_chances_against((own_points + points) % 10, counts_left).items():
                draw_chances[result] += Fraction(value_count, cards_left) * chance
            counts_left[points] += 1
    return stand_chances, draw_chances


def _compute_chances_against(points: int, counts_left: Sequence[int]) -> Mapping[int, Fraction]:
    """Return the chances that a hand's ``points`` win (1), push (0) and lose (-1) against the bank of Super Pan 9.

    The bank's hand is dealt from ``counts_left``, the number of remaining cards by points.
    """
    bank_ways = _count_bank_points(tuple(counts_left))
    ways_by_result = {1: sum(bank_ways[:points]), 0: bank_ways[points], -1: sum(bank_ways[points + 1 :])}
    total = sum(bank_ways)
    return {result: Fraction(ways, total) for result, ways in ways_by_result.items()}


@cache
def _count_bank_points(counts_left: tuple[int, ...]) -> tuple[int, ...]:
    """Return, for each final total 0 to 9, the number of ways in which the bank's hand ends on it.

    The hand is dealt from ``counts_left``, the number of remaining cards by points.
    """
    cards_left = sum(counts_left)
    selections = [[comb(n, k) for k in range(_CARDS_PER_HAND + 1)] for n in counts_left]
    ways_by_total = [0] * 10
    for hand in _iter_hands():
        ways = prod(selections[card_points][hand.count(card_points)] for card_points in {*hand})
        total = sum(hand) % 10
        if total > _BANK_DRAWS_UP_TO_POINTS:  # any fourth card, so that all totals are counted alike
            ways_by_total[total] += ways * (cards_left - _CARDS_PER_HAND)
            continue
        for card_points, n in enumerate(counts_left):
            ways_by_total[(total + card_points) % 10] += ways * (n - hand.count(card_points))
    return tuple(ways_by_total)


FAMILY = build_bank_family(SuperPanDefinition, SuperPanRules)

"""Baccarat: Québec's Grand and Midi, Monaco's punto banco and punto 2000, with dragon bonus and pairs.

Two hands, the player's and the bank's; 2 to 9 count their face value, an ace 1, ten and faces 0, and only the
units digit of the sum counts. Cards 1 and 3 are the player's, 2 and 4 the bank's; 8 or 9 in two cards is a
natural and ends the round; third cards follow the tables of Québec s.37 and Monaco art. 13.6, which are the
same.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from math import perm, prod
from typing import Final, Literal, TypeAlias

from pydantic import Field, model_validator

from paytables.bank.dealing import build_table_after_round, open_shoe
from paytables.bank.rules import BankRules, HandDescriptions, build_bank_family
from paytables.bank.schema import BankBet, BankDefinition
from paytables.cards.card import Card, Shoe, format_card, get_rank
from paytables.commission import BaccaratCommission
from paytables.contract import Bet, Cue, DrawSource, Outcome, RoundEvents, Settlement, Wager
from paytables.layout import Odds, WeightedResult, WrittenOdds, settle_bet, settle_push

#: Points of each rank, two to ace.
CARD_POINTS_BY_RANK: Final = (2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 1)
#: When the bank draws a third card, by its own points: the points of the player's third card (None: the
#: player stood).
BANK_DRAW_TABLE: Final[Mapping[int, frozenset[int | None]]] = {
    **dict.fromkeys((0, 1, 2), frozenset({None, *range(10)})),
    3: frozenset({None, 0, 1, 2, 3, 4, 5, 6, 7, 9}),
    4: frozenset({None, 2, 3, 4, 5, 6, 7}),
    5: frozenset({None, 4, 5, 6, 7}),
    6: frozenset({6, 7}),
    7: frozenset(),
}
#: The points from which the player's hand draws no third card.
_PLAYER_STAND_POINTS_MIN: Final = 6
#: The points of the first two cards that end a coup: a natural.
NATURAL_POINTS_MIN: Final = 8

#: A value for the player's hand and one for the bank's.
PlayerAndBank: TypeAlias = tuple[int, int]
#: Whether the player's hand and the bank's begin with a pair.
PairFlags: TypeAlias = tuple[bool, bool]
#: What a baccarat bet is on.
BaccaratBetKind = Literal[
    "player", "bank", "tie", "player-pair", "bank-pair", "pairs", "player-dragon", "bank-dragon"
]


class BaccaratBet(BankBet):
    """A baccarat bet: on a hand, on a tie, on a pair of a hand's first two cards, or on the winning margin.

    A bet on ``pairs`` (*à cheval*) is half on a pair of the player's hand and half on a pair of the bank's hand
    (art. 13.10), so it must be an even number of credits. A dragon bonus bet is paid ``pays`` on a natural and
    ``margins`` on any other win; a tie of two naturals returns its stake.
    """

    kind: BaccaratBetKind = Field(alias="on")
    """What the bet is on, such as a hand, the tie or a pair."""
    odds_with_six: WrittenOdds | None = Field(default=None, alias="pays_six")
    """The odds of a bet on the bank if the bank wins with six points; None: ``pays``."""
    commission: BaccaratCommission | None = None
    """The commission on a winning bet on the bank, or None."""
    odds_by_margin: dict[int, WrittenOdds] = Field(
        {}, description="a dragon bonus bet's odds, by the margin of the win", alias="margins"
    )
    """The odds of a dragon bonus bet, by the margin of a win without a natural."""
    three_cards_only: bool = False
    """Whether ``odds_by_margin`` are paid only if the winning hand has three cards, as art. 13.9 literally says.

    A natural is paid ``pays`` in any case.
    """

    def list_every_pay(self) -> tuple[Odds, ...]:
        """Return all the odds that this baccarat bet may pay."""
        half_odds = (Odds(self.odds.text, (self.odds.net - 1) / 2),) if self.kind == "pairs" else ()
        return (
            self.odds,
            *half_odds,
            *self.odds_by_margin.values(),
            *(() if self.odds_with_six is None else (self.odds_with_six,)),
        )

    def compute_commission(self, credits_: int) -> int:
        """Return the commission on this bet if it wins with a stake of ``credits_``; 0 if the bet pays none."""
        return 0 if self.commission is None else self.commission.compute_credits(credits_)

    def describe_pay(self) -> Mapping[str, str] | None:
        """Return, by language, what a bet pays if its odds alone do not say it, otherwise None.

        The text states a dragon bonus's pays by margin, the commission on a bet on the bank, or what that bet pays if
        the bank wins with six points.
        """
        texts = {language: _format_pays(self, language) for language in ("en", "fr")}
        return None if texts["en"] == self.odds.text else texts

    @model_validator(mode="after")
    def _check_margins(self) -> "BaccaratBet":
        """Refuse a dragon bonus bet without margins, and fields that do not belong to the kind of bet.

        ``odds_by_margin`` belong only to a dragon bonus, ``odds_with_six`` and ``commission`` only to a bet on the
        bank.
        """
        if bool(self.odds_by_margin) != self.kind.endswith("dragon") or set(self.odds_by_margin) - set(
            range(1, 10)
        ):
            raise ValueError(
                "margins: a dragon bonus must have margins from 1 to 9, and no other bet may have any"
            )
        if self.kind != "bank" and (self.odds_with_six is not None or self.commission is not None):
            raise ValueError("pays_six and commission are only valid for a bet on the bank")
        return self


class BaccaratDefinition(BankDefinition):
    """A baccarat game as its definition file describes it."""

    bets: tuple[BaccaratBet, ...] = Field(min_length=1, alias="bet")
    """The bets that the game offers."""

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return what each baccarat bet pays and the number of decks, as text by language."""
        return {
            language: [
                *(_format_pay_line(bet, language) for bet in self.bets),
                self.shoe.format_deck_line(language),
            ]
            for language in ("en", "fr")
        }


def _format_pay_line(bet: BaccaratBet, language: str) -> str:
    """Return the name of a bet and what it pays, as text in one language."""
    return f"{getattr(bet.name, language)} - {_format_pays(bet, language)}"


def _format_pays(bet: BaccaratBet, language: str) -> str:
    """Return the odds of a baccarat bet as text in one language, with the bet's other terms, if any."""
    if bet.odds_by_margin:
        by_text = {"en": "natural {0}; by {1}", "fr": "naturel {0}; par {1}"}[language]
        if bet.three_cards_only:
            by_text = {
                "en": "natural {0}; with three cards, by {1}",
                "fr": "naturel {0}; avec trois cartes, par {1}",
            }[language]
        margins = ", ".join(
            f"{n}: {odds.text}" for n, odds in sorted(bet.odds_by_margin.items(), reverse=True)
        )
        return by_text.format(bet.odds.text, margins)
    if bet.kind == "pairs":
        return {"en": "half on each, {0}", "fr": "moitié sur chacune, {0}"}[language].format(bet.odds.text)
    six_text = {"en": "{0}, with six {1}", "fr": "{0}, avec six {1}"}[language]
    pays = (
        bet.odds.text if bet.odds_with_six is None else six_text.format(bet.odds.text, bet.odds_with_six.text)
    )
    if bet.commission is not None:
        pays += f", {bet.commission.describe()[language]}"
    return pays


@dataclass(frozen=True, slots=True)
class BaccaratCoup:
    """The result of a coup (a round of baccarat): points, numbers of cards and pairs of both hands, player first."""

    points: PlayerAndBank
    """The points of the player's and the bank's hand, 0 to 9."""
    card_counts: PlayerAndBank
    """The number of cards of the player's and the bank's hand."""
    pair_flags: PairFlags
    """Whether the first two cards of the player's and the bank's hand are a pair."""

    @property
    def winner(self) -> str:
        """Return which hand won the coup: ``player``, ``bank`` or ``tie``."""
        player, bank = self.points
        return "player" if player > bank else "bank" if bank > player else "tie"

    def is_natural(self, hand_index: int) -> bool:
        """Return whether a hand (0 the player's, 1 the bank's) has eight or nine points in two cards."""
        return self.card_counts[hand_index] == 2 and self.points[hand_index] >= NATURAL_POINTS_MIN


def settle_baccarat_bet(bet: Bet, bet_terms: BaccaratBet, coup: BaccaratCoup) -> Settlement:
    """Return the settlement of one bet of a baccarat coup."""
    if bet_terms.odds_by_margin:
        return _settle_dragon_bet(bet, bet_terms, coup)
    if "pair" in bet_terms.kind:
        return _settle_pair_bet(bet, bet_terms, coup.pair_flags)
    if coup.winner == "tie" and bet_terms.kind != "tie":
        return settle_push(bet)
    if coup.winner != bet_terms.kind:
        return settle_bet(bet, None)
    if bet_terms.odds_with_six is not None and coup.points[1] == 6:
        return settle_bet(bet, bet_terms.odds_with_six, "won with six")
    settlement = settle_bet(bet, bet_terms.odds)
    commission = bet_terms.compute_commission(bet.credits)
    return (
        settlement
        if not commission
        else replace(settlement, credits=settlement.credits - commission, detail={"commission": commission})
    )


def _settle_pair_bet(bet: Bet, bet_terms: BaccaratBet, pair_flags: PairFlags) -> Settlement:
    """Return the settlement of a bet on one hand's pair or, *à cheval*, of a bet with half its stake on each pair."""
    if bet_terms.kind != "pairs":
        return settle_bet(bet, bet_terms.odds if pair_flags[bet_terms.kind == "bank-pair"] else None)
    half_bet_settlement = settle_bet(
        replace(bet, credits=bet.credits // 2), bet_terms.odds if any(pair_flags) else None
    )
    name = ("lost", "one pair", "two pairs")[sum(pair_flags)]
    return replace(
        half_bet_settlement,
        name=name,
        credits=half_bet_settlement.credits * sum(pair_flags),
        staked_credits=bet.credits,
    )


def _settle_dragon_bet(bet: Bet, bet_terms: BaccaratBet, coup: BaccaratCoup) -> Settlement:
    """Return the settlement of a dragon bonus: a natural or a winning margin pays, two tied naturals push."""
    hand_index = int(bet_terms.kind == "bank-dragon")
    if coup.is_natural(0) and coup.is_natural(1) and coup.winner == "tie":
        return settle_push(bet)
    if coup.winner != ("player", "bank")[hand_index]:
        return settle_bet(bet, None)
    if coup.is_natural(hand_index):
        return settle_bet(bet, bet_terms.odds, "natural")
    margin = abs(coup.points[0] - coup.points[1])
    odds = bet_terms.odds_by_margin.get(margin)
    if bet_terms.three_cards_only and coup.card_counts[hand_index] == 2:
        odds = None
    return settle_bet(bet, odds, "" if odds is None else f"by {margin}")


class BaccaratRules(BankRules[BaccaratDefinition]):
    """The rules of a playable game of baccarat."""

    def list_bets(self) -> tuple[BaccaratBet, ...]:
        """Return every bet that this baccarat game offers."""
        return self.definition.bets

    def list_displayed_hands(self) -> HandDescriptions:
        """Return the player's and the bank's hand, each displayed under the name of the bet on that hand."""
        bets = reversed(self.list_bets())
        name_by_hand: dict[str, Mapping[str, str]] = {bet.kind: bet.name.model_dump() for bet in bets}
        hands = reversed(self.hands)  # the player's hand is on the left, as dealt
        return tuple(
            (hand, name_by_hand.get(hand, names), card_count_max) for hand, names, card_count_max in hands
        )

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs: betting spots, hands, and the results that have scoreboard columns."""
        return {**super().build_presentation(), "roads": ["bank", "player"]}

    @cached_property
    def _bet_by_id(self) -> dict[str, BaccaratBet]:
        """Return the bets that this baccarat game offers, by their ids."""
        return {bet.id: bet for bet in self.definition.bets}

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a round: deal both hands and their third cards, and settle every bet."""
        accepted_wager = self.build_wager(wager.credits, **wager.options)
        shoe_rules = self.definition.shoe
        shoe, cues = open_shoe(shoe_rules, self.table_state, draw)
        yield from cues
        hands: tuple[list[Card], list[Card]] = ([], [])
        for n in range(4):
            yield _deal_card(hands, n % 2, shoe, draw)
        third_card: Card | None = None
        if not any(count_points(hand) >= NATURAL_POINTS_MIN for hand in hands):
            if count_points(hands[0]) < _PLAYER_STAND_POINTS_MIN:
                yield _deal_card(hands, 0, shoe, draw)
                third_card = hands[0][-1]
            third_card_points = None if third_card is None else CARD_POINTS_BY_RANK[get_rank(third_card)]
            if third_card_points in BANK_DRAW_TABLE[count_points(hands[1])]:
                yield _deal_card(hands, 1, shoe, draw)
        coup = BaccaratCoup(
            (count_points(hands[0]), count_points(hands[1])),
            (len(hands[0]), len(hands[1])),
            (_is_pair(hands[0]), _is_pair(hands[1])),
        )
        for bet in accepted_wager.bets:
            yield settle_baccarat_bet(bet, self._bet_by_id[bet.spot], coup)
        display = {
            "kind": "table",
            "felt": "cards",
            "result": coup.winner,
            **({"new_shoe": True} if shoe_rules.is_shoe_carried_over and self.table_state is None else {}),
            "hands": [
                {"id": name, "cards": [format_card(card) for card in hand], "says": str(count_points(hand))}
                for name, hand in zip(("player", "bank"), hands, strict=True)
            ],
        }
        return Outcome(
            display=display, table_state=build_table_after_round(shoe_rules, shoe, self.table_state)
        )

    def iter_cases(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every possible coup from a fresh shoe, with the settlements of the wager in that coup."""
        return (
            WeightedResult(
                weight, [settle_baccarat_bet(bet, self._bet_by_id[bet.spot], coup) for bet in wager.bets]
            )
            for coup, weight in compute_coup_chances(self.definition.shoe.deck_count).items()
        )


def count_points(hand: Sequence[Card]) -> int:
    """Return the points of a baccarat hand: the last digit of the sum of its cards' values."""
    return sum(CARD_POINTS_BY_RANK[get_rank(card)] for card in hand) % 10


def _is_pair(hand: Sequence[Card]) -> bool:
    """Return whether the first two cards of a baccarat hand have the same rank."""
    return get_rank(hand[0]) == get_rank(hand[1])


def _deal_card(hands: tuple[list[Card], list[Card]], hand_index: int, shoe: Shoe, draw: DrawSource) -> Cue:
    """Deal a card to a baccarat hand (``hand_index``: 0 the player's, 1 the bank's); return the animation cue."""
    name = ("player", "bank")[hand_index]
    card = shoe.deal(draw, f"{name} card {len(hands[hand_index]) + 1}")
    hands[hand_index].append(card)
    return Cue("deal", {"hand": name, "card": format_card(card)})


# ---------------------------------------------------------------------------------- exact figures, from a fresh shoe
@cache
def compute_coup_chances(
    deck_count: int, stand_points_min: int = _PLAYER_STAND_POINTS_MIN
) -> Mapping[BaccaratCoup, Fraction]:
    """Return every possible result of a baccarat round from a fresh shoe, with its exact probability.

    The player draws a third card with fewer than ``stand_points_min`` points.
    """
    ways_by_coup = Counter[tuple[PlayerAndBank, PlayerAndBank, PairFlags]]()
    for coup, ways in _iter_result_ways(deck_count, stand_points_min):
        ways_by_coup[coup] += ways
    total = ways_by_coup.total()
    return {BaccaratCoup(*coup): Fraction(ways, total) for coup, ways in ways_by_coup.items()}


#: Bits for one count in a packed row of ten: no sum of the orders of six cards, by rank, needs more.
_PACKED_COUNT_BITS: Final = 96
#: Three sums over all first four cards with the same totals and pairs: the number of orders of four cards; that number
#: times the remaining cards of each point value (packed); and that number times the ways to draw one remaining card
#: of each of two point values (packed).
_OrderSums: TypeAlias = tuple[int, int, int]


def _iter_result_ways(
    deck_count: int, stand_points_min: int
) -> Iterator[tuple[tuple[PlayerAndBank, PlayerAndBank, PairFlags], int]]:
    """Yield every result of a baccarat round, with the number of orders of six cards that give it, times a constant.

    The constant, the sum of the weights of :func:`_weigh_pairs`, is the same for all results. A result is the points,
    card counts and pairs of both hands.

    The first four cards are enumerated by points. Cards of no points (tens and faces) may be of four ranks, which
    matters only for pairs, so their ranks are counted separately. The number of ways to draw one or two third cards is
    a product of the numbers of cards left with their points. These products are summed over all first cards with the
    same totals, before third cards are considered: the ten numbers, and the hundred products, are packed into one
    integer each.
    """
    counts_by_points = [16 * deck_count if points == 0 else 4 * deck_count for points in range(10)]
    two_card_points = [(a, b) for a in range(10) for b in range(a, 10)]
    # The field ``a`` of packed_counts and the field ``10 * b`` of packed_counts_by_tens are the cards left with a and
    # with b points. So the field ``a + 10 * b`` of their product is the number of ways to draw one card of each.
    packed_counts_of_full_shoe = sum(
        n << (_PACKED_COUNT_BITS * points) for points, n in enumerate(counts_by_points)
    )
    packed_tens_of_full_shoe = sum(
        n << (10 * _PACKED_COUNT_BITS * points) for points, n in enumerate(counts_by_points)
    )
    order_sums_by_result: dict[tuple[int, int, PairFlags], _OrderSums] = {}
    for player_card_points, bank_card_points in product(two_card_points, two_card_points):
        counts_left = list(counts_by_points)
        ways = (1 + (player_card_points[0] != player_card_points[1])) * (
            1 + (bank_card_points[0] != bank_card_points[1])
        )
        packed_counts, packed_counts_by_tens = packed_counts_of_full_shoe, packed_tens_of_full_shoe
        for points in (*player_card_points, *bank_card_points):
            ways *= counts_left[points]
            counts_left[points] -= 1
            packed_counts -= 1 << (_PACKED_COUNT_BITS * points)
            packed_counts_by_tens -= 1 << (10 * _PACKED_COUNT_BITS * points)
        if not ways:
            continue
        packed_products = packed_counts * packed_counts_by_tens
        for pair_flags, pair_weight in _weigh_pairs(deck_count, player_card_points, bank_card_points).items():
            result_key = sum(player_card_points) % 10, sum(bank_card_points) % 10, pair_flags
            (order_sum, count_sum, product_sum), orders = (
                order_sums_by_result.get(result_key, (0, 0, 0)),
                ways * pair_weight,
            )
            order_sums_by_result[result_key] = (
                order_sum + orders,
                count_sum + orders * packed_counts,
                product_sum + orders * packed_products,
            )
    for (player_points, bank_points, pair_flags), order_sums in order_sums_by_result.items():
        for (final_points, card_counts), orders in _count_third_card_orders(
            player_points, bank_points, order_sums, sum(counts_by_points) - 4, stand_points_min
        ).items():
            yield (final_points, card_counts, pair_flags), orders


def _unpack_counts(packed: int, count: int) -> list[int]:
    """Return the ``count`` counts that are packed into one integer."""
    mask = (1 << _PACKED_COUNT_BITS) - 1
    return [(packed >> (_PACKED_COUNT_BITS * n)) & mask for n in range(count)]


def _count_third_card_orders(
    player_points: int, bank_points: int, order_sums: _OrderSums, cards_left: int, stand_points_min: int
) -> Mapping[tuple[PlayerAndBank, PlayerAndBank], int]:
    """Return the number of orders of six cards, by the final points and card counts of both hands.

    ``player_points`` and ``bank_points`` are those of each hand's first two cards; ``order_sums`` has the orders of
    these cards, and ``cards_left`` the number of cards left after them. The player draws with fewer points than
    ``stand_points_min``. If fewer than six cards are dealt, any other cards complete the order.
    """
    orders, packed_counts, packed_products = order_sums
    if max(player_points, bank_points) >= NATURAL_POINTS_MIN:
        return {((player_points, bank_points), (2, 2)): orders * cards_left * (cards_left - 1)}
    orders_by_result = Counter[tuple[PlayerAndBank, PlayerAndBank]]()
    counts_by_points = _unpack_counts(packed_counts, 10)
    if player_points >= stand_points_min:
        if None not in BANK_DRAW_TABLE[bank_points]:
            return {((player_points, bank_points), (2, 2)): orders * cards_left * (cards_left - 1)}
        for bank_third_points, five_card_orders in enumerate(counts_by_points):
            orders_by_result[(player_points, (bank_points + bank_third_points) % 10), (2, 3)] += (
                five_card_orders * (cards_left - 1)
            )
        return orders_by_result
    ways_by_two_points = _unpack_counts(packed_products, 100)
    for player_third_points, five_card_orders in enumerate(counts_by_points):
        final_points = (player_points + player_third_points) % 10
        if player_third_points not in BANK_DRAW_TABLE[bank_points]:
            orders_by_result[(final_points, bank_points), (3, 2)] += five_card_orders * (cards_left - 1)
            continue
        for bank_third_points in range(10):
            six_card_orders = ways_by_two_points[10 * player_third_points + bank_third_points]
            if bank_third_points == player_third_points:  # n * (n - 1) ways to draw two of n cards, not n * n
                six_card_orders -= five_card_orders
            orders_by_result[(final_points, (bank_points + bank_third_points) % 10), (3, 3)] += (
                six_card_orders
            )
    return orders_by_result


@cache
def _weigh_pairs(
    deck_count: int, player_card_points: tuple[int, int], bank_card_points: tuple[int, int]
) -> Mapping[PairFlags, int]:
    """Return the weights with which cards of these points give the player, the bank, both or neither a pair.

    ``player_card_points`` and ``bank_card_points`` are the points of each hand's first two cards. A card of one to nine
    points has one rank; a card of no points may be a ten or any face, which are four ranks. For all points, the weights
    have the same sum: the number of orders of four cards without points.
    """
    hands = (player_card_points, bank_card_points)
    if (0, 0) not in hands:
        return {
            (
                player_card_points[0] == player_card_points[1],
                bank_card_points[0] == bank_card_points[1],
            ): perm(16 * deck_count, 4)
        }
    # the cards without points, each as (hand, index of the card)
    zero_cards = [(hand, n) for hand, cards in enumerate(hands) for n in range(2) if cards[n] == 0]
    ways_by_pairs = Counter[PairFlags]()
    for ranks in product(range(4), repeat=len(zero_cards)):
        ways = prod(perm(4 * deck_count, ranks.count(rank)) for rank in range(4))
        rank_by_zero_card = dict(zip(zero_cards, ranks, strict=True))
        player_has_pair, bank_has_pair = (
            cards[0] == cards[1]
            and (cards[0] != 0 or rank_by_zero_card[hand, 0] == rank_by_zero_card[hand, 1])
            for hand, cards in enumerate(hands)
        )
        ways_by_pairs[player_has_pair, bank_has_pair] += ways
    other_orders = perm(16 * deck_count - len(zero_cards), 4 - len(zero_cards))
    return {pair_flags: ways * other_orders for pair_flags, ways in ways_by_pairs.items()}


FAMILY = build_bank_family(BaccaratDefinition, BaccaratRules)

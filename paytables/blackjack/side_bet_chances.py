"""The exact win probabilities of blackjack side bets, found by counting orders of the first cards.

Pay-table rows of three cards and more are counted for a player who draws while such a row is still possible.
The player may always do so, because no hand of so few cards exceeds 20. If the dealer looks at a hidden
second card, the dealer's blackjack ends the round before a third card is dealt.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import perm
from typing import Final, TypeAlias

from paytables.blackjack.schema import (
    ACE_VALUE,
    TEN_VALUE,
    BlackjackSideBet,
    SideBetRow,
    get_card_value,
    parse_named_hands,
)
from paytables.cards.card import Card, get_rank, get_suit, is_red

#: Suits of a pack.
_SUIT_COUNT: Final = 4
#: Cards of a pack.
_DECK_CARD_COUNT: Final = 52
#: The probability of each row of a side bet, by its id.
RowChances: TypeAlias = dict[str, Fraction]


@lru_cache(maxsize=64)
def compute_row_chances(
    side_bet: BlackjackSideBet, deck_count: int, *, has_hole_card: bool, player_draws_more_cards: bool = True
) -> RowChances:
    """Return the probability that each row of the side bet's pay table is paid.

    With ``has_hole_card`` the dealer looks at a hidden second card, so that a blackjack ends the round. With
    ``player_draws_more_cards`` the player draws further cards while a row needs them; otherwise rows of three and more
    cards are never paid.
    """
    ways_by_row: dict[tuple[str, int], int | Fraction] = {}
    rows = tuple(row for row in side_bet.rows if player_draws_more_cards or row.card_count <= 2)
    for ways, dealt_cards, up_card in _iter_deal_orders(rows, (), [deck_count] * _DECK_CARD_COUNT, 1):
        for row, chance in _iter_won_rows(
            rows, dealt_cards, up_card, deck_count, has_hole_card=has_hole_card
        ):
            key = row.id, len(dealt_cards) + (up_card is not None)
            ways_by_row[key] = ways_by_row.get(key, 0) + ways * chance
    return {
        row.id: sum(
            (
                Fraction(ways) / perm(_DECK_CARD_COUNT * deck_count, card_count)
                for (row_id, card_count), ways in ways_by_row.items()
                if row_id == row.id
            ),
            Fraction(0),
        )
        for row in side_bet.rows
    }


def _iter_deal_orders(
    rows: Sequence[SideBetRow], dealt_cards: tuple[Card, ...], counts_left: list[int], ways: int
) -> Iterator[tuple[int, tuple[Card, ...], Card | None]]:
    """Yield each order in which the first cards of a blackjack round may be dealt.

    Each item has the number of equivalent orders, the box's cards, and the dealer's up card or None. The
    box's cards come in order while a row with more cards is still possible, then the dealer's up card.
    Cards that all rows treat alike are dealt once and counted as often as they occur. If no row has a single
    card, two first cards of different ranks are dealt in one order only, which is counted for both orders.
    """
    open_rows = [
        row for row in rows if row.card_count > len(dealt_cards) and _can_complete_row(row, dealt_cards)
    ]
    if open_rows:
        ignores_order = len(dealt_cards) == 1 and all(row.card_count > 1 for row in rows)
        for card, equivalent_count in _iter_different_cards(rows, dealt_cards):
            order = get_rank(card) - get_rank(dealt_cards[0]) if ignores_order else 0
            if counts_left[card] and order >= 0:
                count = counts_left[card] * equivalent_count * (2 if order else 1)
                counts_left[card] -= 1
                yield from _iter_deal_orders(rows, (*dealt_cards, card), counts_left, ways * count)
                counts_left[card] += 1
    elif any(
        row.counts_up_card and row.card_count == len(dealt_cards) and _can_complete_row(row, dealt_cards)
        for row in rows
    ):
        for card, equivalent_count in _iter_different_cards(rows, dealt_cards):
            if counts_left[card]:
                yield ways * counts_left[card] * equivalent_count, dealt_cards, card
    else:
        yield ways, dealt_cards, None


def _iter_different_cards(
    rows: Sequence[SideBetRow], dealt_cards: Sequence[Card]
) -> Iterator[tuple[Card, int]]:
    """Yield one next card of each kind that a side bet's rows distinguish, and the number of suits it represents.

    All suits that were not dealt yet are equivalent. If a row requires colours, only suits of the same colour
    are equivalent; before the first card the colours are equivalent too, unless a row names one.
    """
    names_colours = any(row.suit_condition in {"red", "black"} for row in rows)
    distinguishes_colours = names_colours or (
        bool(dealt_cards) and any(row.suit_condition == "colour" for row in rows)
    )
    seen_suits = {get_suit(card) for card in dealt_cards}
    suits: dict[object, list[Card]] = {}
    for card in range(_SUIT_COUNT):  # the four cards of the first rank
        kind = card if get_suit(card) in seen_suits else is_red(card) if distinguishes_colours else None
        suits.setdefault((get_suit(card) in seen_suits, kind), []).append(card)
    for first_of_rank in range(0, _DECK_CARD_COUNT, _SUIT_COUNT):
        for equivalent_cards in suits.values():
            yield first_of_rank + equivalent_cards[0], len(equivalent_cards)


def _can_complete_row(row: SideBetRow, dealt_cards: Sequence[Card]) -> bool:
    """Return whether the dealt cards may still become a winning hand of a side-bet row that needs more cards.

    If False, the hand cannot win. If True, it may still be impossible, because not all conditions are examined.
    """
    ranks = [get_rank(card) for card in dealt_cards]
    if row.named_hands:
        patterns = parse_named_hands(row.named_hands)
        if not any(all(ranks.count(rank) <= pattern.count(rank) for rank in ranks) for pattern in patterns):
            return False
    if row.rank_condition == "same" and len(set(ranks)) > 1:
        return False
    return not dealt_cards or row.has_required_suits(dealt_cards)


def _iter_won_rows(
    rows: Sequence[SideBetRow],
    dealt_cards: Sequence[Card],
    up_card: Card | None,
    deck_count: int,
    *,
    has_hole_card: bool,
) -> Iterator[tuple[SideBetRow, int | Fraction]]:
    """Yield each side-bet row that these cards may win, with its probability; nothing if they win none.

    Without ``has_hole_card`` it is the first row that fits, with the probability 1. With it, a row of three or more
    cards is won only if the round continues to the third card; otherwise the dealer's blackjack ends the round, and a
    later row with fewer cards may be won.
    """
    remaining_probability: int | Fraction = 1  # the probability that no earlier row is paid
    for row in rows:
        if len(dealt_cards) < row.card_count or (row.counts_up_card and up_card is None):
            continue
        cards = [
            *dealt_cards[: row.card_count],
            *([up_card] if row.counts_up_card and up_card is not None else []),
        ]
        if not row.is_satisfied_by(cards):
            continue
        if row.card_count <= 2 or not has_hole_card:
            yield row, remaining_probability
            return
        third_card_chance = 1 - _compute_blackjack_chance(dealt_cards[: row.card_count], deck_count)
        yield row, remaining_probability * third_card_chance
        remaining_probability *= 1 - third_card_chance


def _compute_blackjack_chance(cards_out: Sequence[Card], deck_count: int) -> Fraction:
    """Return the probability that two cards drawn from the shoe, without the cards ``cards_out``, are a blackjack."""
    values = [get_card_value(card) for card in cards_out]
    cards_left = _DECK_CARD_COUNT * deck_count - len(cards_out)
    aces, tens = 4 * deck_count - values.count(ACE_VALUE), 16 * deck_count - values.count(TEN_VALUE)
    return Fraction(2 * aces * tens, cards_left * (cards_left - 1))

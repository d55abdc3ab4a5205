"""Bets beside the main one, by counting: in how many of all orders of the first cards each row pays.

Rows of three cards and more are counted for a player who takes these cards: while one of them can still be
had, drawing is open to him (no hand of so few cards is over 20). Where the dealer looks at a hidden second
card, his blackjack ends the round before a third card comes.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import perm
from typing import TypeAlias

from paytables.blackjack.schema import ACES, TEN, Row, Side, patterns, value_of
from paytables.cards.card import Card, deck, rank_of

#: The chance of each row, by its id.
Chances: TypeAlias = dict[str, Fraction]


@lru_cache(maxsize=64)
def chances(side: Side, decks: int, *, hole: bool, taken: bool = True) -> Chances:
    """Return the chance of each row of a bet; not ``taken``: no third card is drawn."""
    found: dict[tuple[str, int], int | Fraction] = {}
    rows = tuple(row for row in side.row if taken or row.cards <= 2)
    for ways, dealt, up in _orders(rows, (), [decks] * 52, 1):
        for row, part in _won(rows, dealt, up, decks, hole=hole):
            key = row.id, len(dealt) + (up is not None)
            found[key] = found.get(key, 0) + ways * part
    return {
        row.id: sum(
            (Fraction(ways) / perm(52 * decks, cards) for (of, cards), ways in found.items() if of == row.id),
            Fraction(0),
        )
        for row in side.row
    }


def _orders(
    rows: Sequence[Row], dealt: tuple[Card, ...], left: list[int], ways: int
) -> Iterator[tuple[int, tuple[Card, ...], Card | None]]:
    """Deal the box's cards in order while a row of more of them can still be had, then the dealer's first."""
    open_ = [row for row in rows if row.cards > len(dealt) and _may_become(row, dealt)]
    if open_:
        # suits are alike but for colour: where that is nothing to any row, one first card stands for four
        alike = 4 if not dealt and all(row.suits not in {"red", "black"} for row in rows) else 1
        for card in deck():
            if left[card] and card % alike == 0:
                left[card] -= 1
                yield from _orders(rows, (*dealt, card), left, ways * alike * (left[card] + 1))
                left[card] += 1
    elif any(row.dealer and row.cards == len(dealt) and _may_become(row, dealt) for row in rows):
        for card in deck():
            if left[card]:
                yield ways * left[card], dealt, card
    else:
        yield ways, dealt, None


def _may_become(row: Row, dealt: Sequence[Card]) -> bool:
    """Whether more cards may make a row of these: never no where they may."""
    ranks = [rank_of(card) for card in dealt]
    if row.ranks:
        known = patterns(row.ranks)
        if not any(all(ranks.count(rank) <= each.count(rank) for rank in ranks) for each in known):
            return False
    if row.kind == "same" and len(set(ranks)) > 1:
        return False
    return not dealt or row.of_suits(dealt)


def _won(
    rows: Sequence[Row], dealt: Sequence[Card], up: Card | None, decks: int, *, hole: bool
) -> Iterator[tuple[Row, int | Fraction]]:
    """The row that is paid; of rows of more than two cards only as often as the round goes so far."""
    rest: int | Fraction = 1
    for row in rows:
        if len(dealt) < row.cards or (row.dealer and up is None):
            continue
        cards = [*dealt[: row.cards], *([up] if row.dealer and up is not None else [])]
        if not row.fits(cards):
            continue
        if row.cards <= 2 or not hole:
            yield row, rest
            return
        goes_on = 1 - _blackjack(dealt[: row.cards], decks)
        yield row, rest * goes_on
        rest *= 1 - goes_on


def _blackjack(out: Sequence[Card], decks: int) -> Fraction:
    """The chance that two cards of what is left are a blackjack."""
    values = [value_of(card) for card in out]
    left = 52 * decks - len(out)
    aces, tens = 4 * decks - values.count(ACES), 16 * decks - values.count(TEN)
    return Fraction(2 * aces * tens, left * (left - 1))

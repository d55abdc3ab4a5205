"""Cards, decks and shoes; how hands rank by each game's own order; hands that differ in suit only."""

from paytables.cards.card import (
    ACE,
    JOKER,
    PACKS,
    RANKS,
    SUITS,
    Card,
    Shoe,
    card_name,
    card_of,
    cards_of,
    deck,
    is_red,
    rank_of,
    suit_of,
)

__all__ = [
    "ACE",
    "JOKER",
    "PACKS",
    "RANKS",
    "SUITS",
    "Card",
    "Shoe",
    "card_name",
    "card_of",
    "cards_of",
    "deck",
    "is_red",
    "rank_of",
    "suit_of",
]

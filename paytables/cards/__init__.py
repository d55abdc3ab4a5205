"""Cards, decks and shoes; hand rankings by each game's own order; hands that differ in suits only."""

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

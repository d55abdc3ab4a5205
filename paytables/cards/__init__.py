"""Cards, decks and shoes; hand rankings by each game's own order; hands that differ in suits only."""

from paytables.cards.card import (
    ACE,
    JOKER,
    PACKS,
    RANKS,
    SUITS,
    Card,
    Shoe,
    build_deck,
    format_card,
    is_red,
    parse_card,
    parse_cards,
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
    "build_deck",
    "format_card",
    "is_red",
    "parse_card",
    "parse_cards",
    "rank_of",
    "suit_of",
]

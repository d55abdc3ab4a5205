"""Cards, decks and shoes; hand rankings by each game's own order; hands that differ in suits only."""

from paytables.cards.card import (
    ACE,
    JOKER,
    RANKS,
    STANDARD_DECK_SIZES,
    SUITS,
    Card,
    Shoe,
    build_deck,
    format_card,
    get_rank,
    get_suit,
    is_red,
    parse_card,
    parse_cards,
)

__all__ = [
    "ACE",
    "JOKER",
    "RANKS",
    "STANDARD_DECK_SIZES",
    "SUITS",
    "Card",
    "Shoe",
    "build_deck",
    "format_card",
    "get_rank",
    "get_suit",
    "is_red",
    "parse_card",
    "parse_cards",
]

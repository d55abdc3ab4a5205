"""Cards, decks and shoes, the ranking of poker hands by each game's own order, and arrays over all hands of a deck."""

from paytables.cards.card import (
    ACE_RANK,
    JOKER,
    RANK_LETTERS,
    SHOE_SIZES,
    SUIT_LETTERS,
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
    "ACE_RANK",
    "JOKER",
    "RANK_LETTERS",
    "SHOE_SIZES",
    "SUIT_LETTERS",
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

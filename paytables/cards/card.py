"""Cards as integers, and a shoe that deals them: a draw without replacement from counts.

A card is ``rank * 4 + suit``: rank 0 is the two, 12 the ace; suits 0 to 3 are clubs, diamonds, hearts and
spades, so 1 and 2 are red. 52 is the joker. A name is rank and suit in the usual letters: ``Td`` is the ten
of diamonds.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final, TypeAlias

from paytables.contract import DrawSource

#: A card as an integer.
Card: TypeAlias = int

#: The letters of the ranks, two to ace.
RANK_LETTERS: Final = "23456789TJQKA"
#: The letters of the suits.
SUIT_LETTERS: Final = "cdhs"
#: The rank of an ace.
ACE_RANK: Final = 12
#: The joker's integer.
JOKER: Final[Card] = 52
#: The joker's name.
_JOKER_NAME: Final = "Jk"
#: The name of each card.
_CARD_NAMES: Final = (*(rank + suit for rank in RANK_LETTERS for suit in SUIT_LETTERS), _JOKER_NAME)
#: The card of each name.
_CARD_BY_NAME: Final = {name: card for card, name in enumerate(_CARD_NAMES)}
#: The numbers of cards in one to eight decks, which help texts may mention although no definition contains them.
SHOE_SIZES: Final = frozenset(range(52, 8 * 52 + 1, 52))


def get_rank(card: Card) -> int:
    """Return a card's rank: 0 (two) to 12 (ace); 13 for the joker."""
    return card >> 2


def get_suit(card: Card) -> int:
    """Return a card's suit: 0 clubs, 1 diamonds, 2 hearts or 3 spades; it is meaningless for the joker."""
    return card & 3


def is_red(card: Card) -> bool:
    """Return whether the card is a diamond or a heart."""
    return card != JOKER and get_suit(card) in {1, 2}


def format_card(card: Card) -> str:
    """Return the card's name, two characters: ``As``, ``2c``, ``Jk`` for the joker."""
    return _CARD_NAMES[card]


def parse_card(card_name: str) -> Card:
    """Return the card of this name; :func:`format_card` is the inverse. Raises :class:`ValueError` if there is none."""
    card = _CARD_BY_NAME.get(card_name)
    if card is None:
        raise ValueError(
            f"{card_name!r} is not a card: a rank of {RANK_LETTERS}, then a suit of {SUIT_LETTERS}, or {_JOKER_NAME}"
        )
    return card


def parse_cards(card_names: str) -> tuple[Card, ...]:
    """Return the cards in a text, separated by spaces. Raises :class:`ValueError` if one is not a card."""
    return tuple(parse_card(name) for name in card_names.split())


def build_deck(*, joker: bool = False, excluded_ranks: Iterable[int] = ()) -> tuple[Card, ...]:
    """Return the cards of one deck in order, with a joker if ``joker``, without those of ``excluded_ranks``."""
    excluded = set(excluded_ranks)
    return tuple(c for c in range(52) if get_rank(c) not in excluded) + ((JOKER,) if joker else ())


@lru_cache
def _count_deck(joker: bool, excluded: frozenset[int]) -> tuple[int, ...]:  # noqa: FBT001 (part of the cache key)
    """Return the number of each card in one deck, with a joker if ``joker``, without the ranks ``excluded``."""
    cards = set(build_deck(joker=joker, excluded_ranks=excluded))
    return tuple(int(card in cards) for card in range(JOKER + 1))


@dataclass(slots=True)
class Shoe:
    """The cards of a shoe that are not dealt yet. Each of them is equally likely to be dealt next."""

    counts: list[int]
    """The number of cards left of each kind, by card number."""

    @classmethod
    def from_decks(cls, decks: int = 1, *, joker: bool = False, excluded_ranks: Iterable[int] = ()) -> "Shoe":
        """Return a full shoe of ``decks`` decks, each with a joker if ``joker``, without ``excluded_ranks``."""
        return cls([decks * count for count in _count_deck(joker, frozenset(excluded_ranks))])

    @property
    def cards_left(self) -> int:
        """Return the number of cards left in the shoe."""
        return sum(self.counts)

    def deal(self, draw: DrawSource, purpose: str) -> Card:
        """Deal a card by one random number below the number of cards left, and return it.

        Raises :class:`ValueError` if the shoe is empty.
        """
        sums = list(accumulate(self.counts))
        if not sums[-1]:
            raise ValueError(f"{purpose}: no card is left in the shoe")
        card = bisect_right(sums, draw.below(sums[-1], purpose))
        self.counts[card] -= 1
        return card

    def to_json(self) -> dict[str, int]:
        """Return the remaining cards by name, as the journal stores them; :meth:`from_json` is the inverse."""
        return {format_card(card): count for card, count in enumerate(self.counts) if count}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "Shoe":
        """Return the shoe that :meth:`to_json` has written to ``data``. Raises :class:`ValueError` for invalid data."""
        counts = [0] * (JOKER + 1)
        for name, count in data.items():
            if type(count) is not int or count < 0:
                raise ValueError(f"{name}: {count!r} is not a count of cards")
            counts[parse_card(name)] = count
        return cls(counts)

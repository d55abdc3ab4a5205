"""Rows of a poker pay table, best row first, and the hands that each row pays."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from paytables.cards import RANK_LETTERS
from paytables.cards.ranking import FIVE_CARD_RANKING, RankingRules, find_category_of_strength, unpack_ranks
from paytables.definition import Identifier, NaturalInt, StrictTable, Text

#: Names of the hand categories in the terms of the Québec by-law, in English and French; a straight flush
#: of fewer than five cards has its own name.
CATEGORY_NAMES: Final[dict[str, tuple[str, str]]] = {
    "five-of-a-kind": ("Five of a kind", "Cinq cartes de même valeur"),
    "royal-flush": ("Royal flush", "Quinte royale"),
    "straight-flush": ("Straight flush", "Quinte"),
    "four-of-a-kind": ("Four of a kind", "Carré"),
    "full-house": ("Full house", "Main pleine"),
    "flush": ("Flush", "Couleur"),
    "straight": ("Straight", "Séquence"),
    "three-of-a-kind": ("Three of a kind", "Brelan"),
    "two-pair": ("Two pairs", "Double paire"),
    "pair": ("Pair", "Paire"),
    "high-card": ("High card", "Carte la plus élevée"),
}

#: The name of a hand category.
HandCategory = Literal[
    "five-of-a-kind",
    "royal-flush",
    "straight-flush",
    "four-of-a-kind",
    "full-house",
    "flush",
    "straight",
    "three-of-a-kind",
    "two-pair",
    "pair",
    "high-card",
]


def _check_rank_range(range_text: str) -> str:
    """Return a span of card ranks such as "9-J" unchanged. Raises ValueError if it is not valid."""
    lowest, _, highest = range_text.partition("-")
    rank_indexes = [RANK_LETTERS.find(rank) if len(rank) == 1 else -1 for rank in (lowest, highest or lowest)]
    if min(rank_indexes) < 0 or rank_indexes != sorted(rank_indexes):
        raise ValueError(
            f"{range_text!r} is neither a rank nor two ranks in order, as in J-A; ranks are {RANK_LETTERS}"
        )
    return range_text


#: A card rank, or the lowest and the highest of several: ``A``, ``J-A``.
RankRange = Annotated[str, AfterValidator(_check_rank_range)]


def parse_rank_range(range_text: str) -> range:
    """Return the card ranks of a span such as "9-J" as a range of rank numbers."""
    lowest, _, highest = range_text.partition("-")
    return range(RANK_LETTERS.index(lowest), RANK_LETTERS.index(highest or lowest) + 1)


class HandPayRow(StrictTable):
    """A row of a poker pay table and the hands that it pays. Of several rows that fit a hand, the first pays."""

    id: Identifier
    category: HandCategory = Field(alias="hand")
    """The category that the row pays, such as ``flush``."""
    name: Text | None = None
    """The name of the row for the player; None: the name of the category."""
    rank_range: RankRange | None = Field(default=None, alias="of")
    """The permitted ranks of the pair (of two, the higher), three or four of a kind; None: any."""
    kicker_range: RankRange | None = Field(default=None, alias="kicker")
    """The permitted ranks of the remaining card; None: any."""
    wild_count: NaturalInt | None = Field(default=None, alias="wilds")
    """The number of wild cards that the hand must have; None: any."""

    @property
    def title(self) -> dict[str, str]:
        """Return the text for the player, by language: the row's own name or, without one, the name of the category."""
        if self.name is not None:
            return self.name.model_dump()
        english, french = CATEGORY_NAMES[self.category]
        return {"en": english, "fr": french}

    def is_satisfied_by(
        self, strength: int, wild_count: int, ranking_rules: RankingRules = FIVE_CARD_RANKING
    ) -> bool:
        """Return whether this pay table row pays a poker hand of that strength with ``wild_count`` wild cards.

        ``ranking_rules`` is the ranking order in which the strength was computed.
        """
        if find_category_of_strength(strength, ranking_rules) != self.category or self.wild_count not in {
            None,
            wild_count,
        }:
            return False
        first_rank, second_rank, *_ = unpack_ranks(strength)
        if self.rank_range is not None and first_rank not in parse_rank_range(self.rank_range):
            return False
        return self.kicker_range is None or second_rank in parse_rank_range(self.kicker_range)


def find_pay_row(
    rows: Sequence[HandPayRow],
    strength: int,
    wild_count: int = 0,
    ranking_rules: RankingRules = FIVE_CARD_RANKING,
) -> int | None:
    """Return the index of the first pay table row that fits a poker hand of that strength, or None if none does."""
    return next(
        (n for n, row in enumerate(rows) if row.is_satisfied_by(strength, wild_count, ranking_rules)), None
    )


def parse_wild_ranks(names: Iterable[str]) -> tuple[int, ...]:
    """Return the rank numbers of wild ranks given by their letters."""
    return tuple(RANK_LETTERS.index(name) for name in names)

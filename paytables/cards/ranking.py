"""Poker hand rankings: one implementation for hands of two to five cards, by the rules of each game.

A :class:`RankingRules` is data: how many cards count, the categories from highest to lowest, where the ace-low
straight (A-2-3-4-5) ranks among the straights, and what is wild. A strength is an integer that is larger for the better
hand and equal for equal hands: ``category << 20``, then up to five nibbles of ranks in the order in which they decide.
:class:`HandRanking` evaluates single hands, or the best hand of more cards, with small tables that fill on demand. The
laboratory's tools build complete tables with it (:mod:`paytables.cards.subsets`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Final, Literal

from paytables.cards.card import ACE_RANK, JOKER, RANK_LETTERS, Card, get_rank, get_suit

#: Every hand category that any ranking rules may contain, from the highest.
HAND_CATEGORIES: Final = (
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
)
#: The rank of the joker.
JOKER_RANK: Final = 13
#: Bits below the category in a strength.
_CATEGORY_SHIFT: Final = 20
#: The category by shape. A shape is the sizes of the groups of equal rank, largest first, without single cards:
#: (3, 2) is a full house.
_CATEGORY_BY_SHAPE: Final[dict[tuple[int, ...], str]] = {
    (5,): "five-of-a-kind",
    (4,): "four-of-a-kind",
    (3, 2): "full-house",
    (3,): "three-of-a-kind",
    (2, 2): "two-pair",
    (2,): "pair",
    (): "high-card",
}


@dataclass(frozen=True, slots=True)
class RankingRules:
    """A game's rules for ranking poker hands."""

    hand_size: int = 5
    """The number of cards in a hand."""
    categories: tuple[str, ...] = HAND_CATEGORIES
    """The categories from the highest to the lowest."""
    ace_low_straight: Literal["lowest", "second"] = "lowest"
    """Where the ace-low straight (A-2-3-4-5) ranks: lowest of the straights, or second only to A-K-Q-J-10 (pai gow)."""
    wild_ranks: tuple[int, ...] = ()
    """The ranks of the wild cards; 13 is the joker."""
    wild_cards_are_bugs: bool = False
    """Whether wild cards are bugs: cards that may only be an ace or complete a straight or a flush."""


#: The usual ranking of five cards, as in Let It Ride (Québec by-law, s.67.2), Caribbean Stud, Boston, French hold'em.
FIVE_CARD_RANKING: Final = RankingRules(categories=HAND_CATEGORIES[1:])
#: Three cards (Québec by-law): Three Card Poker (s.67.23), 3-5-7 (s.67.42), Boston (s.67.53).
THREE_CARD_RANKING: Final = RankingRules(
    hand_size=3, categories=("straight-flush", "three-of-a-kind", "straight", "flush", "pair", "high-card")
)
#: Four cards: Four Card and Crazy Four (Québec by-law, s.67.65).
FOUR_CARD_RANKING: Final = RankingRules(
    hand_size=4,
    categories=(
        "four-of-a-kind",
        "straight-flush",
        "three-of-a-kind",
        "flush",
        "straight",
        "two-pair",
        "pair",
        "high-card",
    ),
)
#: Pai gow poker (Québec by-law, ss.39-40): its joker is a bug, and A-2-3-4-5 is its second-highest straight.
PAI_GOW_RANKING: Final = RankingRules(
    ace_low_straight="second", wild_ranks=(JOKER_RANK,), wild_cards_are_bugs=True
)
#: The low hand of pai gow poker: two cards, in which the joker is an ace.
PAI_GOW_LOW_RANKING: Final = RankingRules(
    hand_size=2, categories=("pair", "high-card"), wild_ranks=(JOKER_RANK,), wild_cards_are_bugs=True
)


def find_category_of_strength(strength: int, ranking_rules: RankingRules = FIVE_CARD_RANKING) -> str:
    """Return the name of the category, such as a pair or a flush, of a hand of that strength."""
    return ranking_rules.categories[-1 - (strength >> _CATEGORY_SHIFT)]


def unpack_ranks(strength: int) -> tuple[int, ...]:
    """Return the five numbers in a strength that decide between hands of one category, the most important first.

    They are the ranks of pairs and other sets, then the ranks of single cards. For a straight, the first number is its
    rank among straights: the larger number is the better straight. The lowest straight has 0, in pai gow poker 1.
    """
    return tuple(strength >> shift & 15 for shift in (16, 12, 8, 4, 0))


class HandRanking:
    """The strength of poker hands by one game's ranking rules, with tables that are filled on demand."""

    def __init__(self, ranking_rules: RankingRules) -> None:
        self.rules = ranking_rules
        self._number_by_category = {name: n for n, name in enumerate(reversed(ranking_rules.categories))}
        """The number of each category in ascending order, 0 for the lowest."""
        self._strength_by_ranks: dict[tuple[int, ...], int] = {}
        self._flush_strength_by_mask: dict[tuple[int, int], int] = {}
        """Flush strengths computed so far, by (ranks held in one suit as bits, number of wild cards)."""
        self._has_flush_categories = bool(
            {"flush", "straight-flush", "royal-flush"} & self._number_by_category.keys()
        )
        """Whether any category needs cards of one suit."""

    def compute_strength(self, cards: Iterable[Card]) -> int:
        """Return the strength of the best hand among the cards. There must be at least ``rules.hand_size`` cards."""
        wild_ranks = self.rules.wild_ranks
        ranks: list[int] = []
        rank_masks = [0, 0, 0, 0]
        for card in cards:
            rank = JOKER_RANK if card == JOKER else get_rank(card)
            ranks.append(rank)
            if rank not in wild_ranks:
                rank_masks[get_suit(card)] |= 1 << rank
        best_strength = self.compute_strength_without_flushes(tuple(sorted(ranks)))
        if self._has_flush_categories:
            wild_count = sum(rank in wild_ranks for rank in ranks)
            for rank_mask in rank_masks:
                if rank_mask.bit_count() + wild_count >= self.rules.hand_size:
                    best_strength = max(best_strength, self.compute_flush_strength(rank_mask, wild_count))
        return best_strength

    def find_category(self, cards: Iterable[Card]) -> str:
        """Return the name of the category of the best hand among the cards."""
        return find_category_of_strength(self.compute_strength(cards), self.rules)

    def compute_strength_without_flushes(self, ranks: tuple[int, ...]) -> int:
        """Return the strength of the best hand with these sorted ranks, ignoring flushes."""
        strength = self._strength_by_ranks.get(ranks)
        if strength is None:
            if len(ranks) > self.rules.hand_size:
                smaller_hands = {ranks[:n] + ranks[n + 1 :] for n in range(len(ranks))}
                strength = max(map(self.compute_strength_without_flushes, smaller_hands))
            else:
                strength = self._compute_strength_with_wilds(ranks)
            self._strength_by_ranks[ranks] = strength
        return strength

    def compute_flush_strength(self, rank_mask: int, wild_count: int) -> int:
        """Return the strength of the best flush, straight flush or royal flush that the cards make, or 0 if none.

        ``rank_mask`` has the ranks of the cards of one suit as bits; ``wild_count`` is the number of wild cards.
        """
        strength = self._flush_strength_by_mask.get((rank_mask, wild_count))
        if strength is None:
            strength = self._flush_strength_by_mask[rank_mask, wild_count] = self._find_best_flush_strength(
                rank_mask, wild_count
            )
        return strength

    def _compute_strength_with_wilds(self, ranks: Sequence[int]) -> int:
        """Return the strength of a hand's ranks, with the best substitution for each wild one."""
        natural_ranks = [rank for rank in ranks if rank not in self.rules.wild_ranks]
        wild_count = len(ranks) - len(natural_ranks)
        best_strength = -1
        for substitutes in combinations_with_replacement(range(13), wild_count):
            strength = self._compute_natural_strength([*natural_ranks, *substitutes])
            is_straight = strength >> _CATEGORY_SHIFT == self._number_by_category.get("straight")
            if (
                is_straight
                or not self.rules.wild_cards_are_bugs
                or all(rank == ACE_RANK for rank in substitutes)
            ):
                best_strength = max(best_strength, strength)
        return best_strength

    def _compute_natural_strength(self, ranks: Sequence[int]) -> int:
        """Return the strength of a hand's ranks, none of which is wild."""
        # for a full house of three eights and two kings: ((3, rank of 8), (2, rank of king)), and the shape (3, 2)
        groups = sorted(((count, rank) for rank, count in Counter(ranks).items()), reverse=True)
        shape = tuple(count for count, _ in groups if count > 1)
        deciding_ranks = [rank for _, rank in groups]
        if not shape and "straight" in self._number_by_category:
            straight_rank = self._rank_by_straight_mask.get(sum(1 << rank for rank in ranks))
            if straight_rank is not None:
                return self._encode_strength("straight", [straight_rank])
        return self._encode_strength(_CATEGORY_BY_SHAPE[shape], deciding_ranks)

    def _find_best_flush_strength(self, rank_mask: int, wild_count: int) -> int:
        """Return the strength of the best flush of the ranks in ``rank_mask`` and ``wild_count`` wild cards, or 0."""
        best_strength = 0
        size = self.rules.hand_size
        for straight_mask, straight_rank in self._rank_by_straight_mask.items():
            if size - (rank_mask & straight_mask).bit_count() <= wild_count:
                is_royal = (
                    "royal-flush" in self._number_by_category and straight_mask == self._highest_straight_mask
                )
                category = "royal-flush" if is_royal else "straight-flush"
                best_strength = max(best_strength, self._encode_strength(category, [straight_rank]))
        # each wild card becomes the highest rank that the flush does not have yet
        for _ in range(wild_count):
            rank_mask |= 1 << next(rank for rank in range(ACE_RANK, -1, -1) if not rank_mask >> rank & 1)
        ranks_descending = [rank for rank in range(ACE_RANK, -1, -1) if rank_mask >> rank & 1]
        if len(ranks_descending) < size:
            return 0
        return max(best_strength, self._encode_strength("flush", ranks_descending[:size]))

    def _encode_strength(self, category: str, deciding_ranks: Sequence[int]) -> int:
        """Return the strength of a category; ``deciding_ranks`` decide between hands of one category."""
        strength = self._number_by_category[category]
        for n in range(5):
            strength = strength << 4 | (deciding_ranks[n] if n < len(deciding_ranks) else 0)
        return strength

    @property
    def _highest_straight_mask(self) -> int:
        """Return the ranks of the highest straight, as bits."""
        return ((1 << self.rules.hand_size) - 1) << (len(RANK_LETTERS) - self.rules.hand_size)

    @cached_property
    def _rank_by_straight_mask(self) -> dict[int, int]:
        """Return the rank of each straight among straights, by the bit mask of its card ranks.

        The larger number is the better straight. A straight that begins with a two has 1. The ace-low straight has 0
        or, if it is the second-highest, the number below the highest.
        """
        size = self.rules.hand_size
        lowest_mask = (1 << size) - 1  # the straight that begins with the lowest rank
        straight_rank_by_mask = {lowest_mask << low: low + 1 for low in range(len(RANK_LETTERS) - size + 1)}
        ace_low_mask = 1 << ACE_RANK | (lowest_mask >> 1)
        highest_straight_rank = straight_rank_by_mask[self._highest_straight_mask]
        if self.rules.ace_low_straight == "second":
            straight_rank_by_mask[self._highest_straight_mask] = highest_straight_rank + 1
            straight_rank_by_mask[ace_low_mask] = highest_straight_rank
        else:
            straight_rank_by_mask[ace_low_mask] = 0
        return straight_rank_by_mask

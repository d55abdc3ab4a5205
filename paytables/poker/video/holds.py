"""Every hold of every deal of a video poker game, exactly: the best, the worst, and what comes of them.

For laboratories (numpy). A pay table gives each of the 2,598,960 hands (2,869,685 with a joker) its prize;
sums of prizes over the hands that hold given cards, and inclusion and exclusion over the cards thrown away,
give all 32 holds of one deal of each of the 134,459 (150,891) classes that differ in suits only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, lcm
from typing import Any

from paytables.cards.subsets import Sets, sets
from paytables.poker.pays import row_of
from paytables.poker.video.schema import VideoPokerDefinition

HAND = 5


@dataclass(frozen=True, slots=True)
class Held:
    """What holding by one policy comes to: the chance of each row of the pay table, and how deals differ.

    ``deals`` is the mean, over the deals, of the squared mean win of a deal in credits: hands played of one
    deal are alike only in the cards they begin with.
    """

    rates: tuple[Fraction, ...]
    deals: Fraction

    def mean(self, pays: Sequence[int]) -> Fraction:
        """Return the mean win of one hand, in credits."""
        return sum((rate * pay for rate, pay in zip(self.rates, pays, strict=True)), Fraction(0))

    def variance(self, pays: Sequence[int], hands: int = 1) -> Fraction:
        """Return the variance of the win of so many hands of one deal, in credits squared."""
        mean = self.mean(pays)
        squares = sum((rate * pay * pay for rate, pay in zip(self.rates, pays, strict=True)), Fraction(0))
        return hands * (squares - mean**2) + hands * (hands - 1) * (self.deals - mean**2)


class Holds:
    """All holds of a game at one bet; ``pays`` are credits by row of the pay table."""

    def __init__(self, definition: VideoPokerDefinition, pays: Sequence[int]) -> None:
        import numpy as np  # noqa: PLC0415 (laboratory package)

        self.np, self.definition, self.pays = np, definition, tuple(pays)
        self.sets: Sets = sets(53 if definition.deck.joker else 52, HAND)
        self.deals, self.like = self.sets.classes
        left = self.sets.cards - HAND
        finished = [comb(left, HAND - kept.bit_count()) for kept in range(1 << HAND)]
        self.unit = lcm(*finished)
        self.scale = np.array([self.unit // count for count in finished], dtype=np.int64)

    @cached_property
    def rows(self) -> Any:
        """The row of the pay table of every hand; the number of rows where it pays nothing."""
        np = self.np
        order = self.definition.deck.order
        strengths = self.sets.strengths(order)
        if not order.wild:
            wilds: Any = np.zeros(1, dtype=np.int8)
        else:
            wilds, _ = self.sets.wilds(order)
        keys, inverse = np.unique(strengths * 8 + wilds, return_inverse=True)
        table = self.definition.pay
        found = [row_of(table, int(key) >> 3, int(key) & 7, order) for key in keys]
        return np.array([len(table) if row is None else row for row in found], dtype=np.int8)[inverse]

    @cached_property
    def values(self) -> Any:
        """What each hold of each deal is worth, in ``unit``-ths of a credit: 32 rows, a column a class."""
        np = self.np
        pays = np.array([*self.pays, 0], dtype=np.int64)
        tables = self.sets.sums(pays[self.rows])
        return self.sets.holds(tables, self.deals) * self.scale[:, None]

    def best(self) -> Any:
        """Return the cards to keep of each class of deals, as bits; of equally good holds the first."""
        return self.values.argmax(axis=0)

    def worst(self) -> Any:
        """Return the worst hold of each class of deals, as bits."""
        return self.values.argmin(axis=0)

    def held(self, kept: Any) -> Held:
        """Return what holding ``kept`` in each class of deals comes to."""
        np = self.np
        total = self.unit * self.sets.count
        rates = []
        for row in range(len(self.pays)):
            tables = self.sets.sums(self.rows == row)
            finished = self.sets.held(tables, self.deals, kept) * self.scale[kept]
            rates.append(Fraction(int(sum((finished * self.like).tolist())), total))
        means = self.values[kept, np.arange(len(kept))].tolist()
        squares = sum(mean * mean * like for mean, like in zip(means, self.like.tolist(), strict=True))
        return Held(tuple(rates), Fraction(squares, self.unit**2 * self.sets.count))

    def mean(self, kept: Any) -> Fraction:
        """Return the mean win of one hand in credits, without what it is made of."""
        found = self.values[kept, self.np.arange(len(kept))] * self.like
        return Fraction(sum(found.tolist()), self.unit * self.sets.count)

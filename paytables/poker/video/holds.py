"""Every hold of every deal of a video poker game, exactly: the best, the worst, and what comes of them.

For laboratories (numpy). A pay table gives each of the 2,598,960 hands (2,869,685 with a joker) its prize;
sums of prizes over the hands that hold given cards, and inclusion and exclusion over the cards thrown away,
give all 32 holds of one deal of each of the 134,459 (150,891) classes that differ in suits only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import comb, lcm
from typing import TYPE_CHECKING, Final

import numpy as np

from paytables.cards.subsets import Sets, sets
from paytables.poker.pays import row_of
from paytables.poker.policy import HAND
from paytables.poker.video.schema import VideoPokerDefinition

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints

#: The bits of a strength after its combination and the first two ranks that decide.
DECIDING: Final = 12


class Holds:
    """All holds of a game; what a hand wins stands apart from what that pays, so bets share the work."""

    def __init__(self, definition: VideoPokerDefinition) -> None:
        self.definition = definition
        self.sets: Sets = sets(53 if definition.deck.joker else 52, HAND)
        self.deals, self.like = self.sets.classes
        left = self.sets.cards - HAND
        finished = [comb(left, HAND - kept.bit_count()) for kept in range(1 << HAND)]
        self.unit = lcm(*finished)
        self.scale = np.array([self.unit // count for count in finished], dtype=np.int64)

    @cached_property
    def rows(self) -> Ints:
        """The row of the pay table of every hand; the number of rows where it pays nothing."""
        order = self.definition.deck.order
        wilds: Ints = self.sets.wilds(order)[0] if order.wild else np.zeros(1, dtype=np.int8)
        keys = (self.sets.strengths(order) >> DECIDING) * 8 + wilds  # rows ask for no more of a strength
        table = np.full(keys.max() + 1, len(self.definition.pay), dtype=np.int8)
        for key in np.flatnonzero(np.bincount(keys)).tolist():
            row = row_of(self.definition.pay, key >> 3 << DECIDING, key & 7, order)
            table[key] = len(self.definition.pay) if row is None else row
        rows: Ints = table[keys]
        return rows

    @cached_property
    def counts(self) -> list[list[Ints]]:
        """For each row of the pay table how many of its hands hold given cards; see :meth:`Sets.sums`."""
        return [self.sets.sums(self.rows == row) for row in range(len(self.definition.pay))]

    def values(self, pays: Sequence[int]) -> Ints:
        """Return what each hold of each deal is worth in ``unit``-ths: 32 rows, a column a class.

        ``pays`` are credits by row of the pay table.
        """
        tables: list[Ints] = [
            np.sum([pay * table[size] for pay, table in zip(pays, self.counts, strict=True)], axis=0)
            for size in range(HAND)
        ]
        tables.append(np.array([*pays, 0], dtype=np.int64)[self.rows])
        return self.sets.holds(tables, self.deals) * self.scale[:, None]

    def held(self, values: Ints, kept: Ints) -> tuple[tuple[Fraction, ...], Fraction]:
        """Return what keeping the cards at the places in ``kept``, by class of deals, comes to.

        First the chance of each row of the pay table, then the mean of the squared mean win of a deal.
        """
        total = self.unit * self.sets.count
        finished = self.sets.held(self.counts, self.deals, kept) * (self.scale[kept] * self.like)
        rates = tuple(Fraction(sum(row.tolist()), total) for row in finished)
        means = values[kept, np.arange(len(kept))].tolist()
        squares = sum(mean * mean * like for mean, like in zip(means, self.like.tolist(), strict=True))
        return rates, Fraction(squares, self.unit**2 * self.sets.count)

    def mean(self, values: Ints, kept: Ints) -> Fraction:
        """Return the mean win of one hand in credits, without what it is made of."""
        found = values[kept, np.arange(len(kept))] * self.like
        return Fraction(sum(found.tolist()), self.unit * self.sets.count)

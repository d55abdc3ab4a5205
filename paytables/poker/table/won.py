"""What pays the bets of a poker game, and how often: rows of its tables, wins, pushes, stakes taken back."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from paytables.poker.proof import exact
from paytables.poker.table.schema import Stake, Won

#: What pays a bet: its spot, the row or word it is settled by, and what comes back in antes.
Pays: TypeAlias = tuple[str, str, Fraction]


def every_row(spot: Stake, factor: Fraction) -> Iterator[Pays]:
    """Return what each row of a bet of so many antes gives back; a bonus is paid beside the bet."""
    for row in (*spot.first, *spot.pay):
        yield spot.id, row.id, factor * (1 + row.pays.net)
    for row in spot.bonus:
        yield spot.id, row.id, factor * row.pays.net


def won_of(rows: Iterable[Pays], cases: Mapping[Pays, int], total: int) -> tuple[Won, ...]:
    """Return how often each row pays, those that no hand wins too, and then what else pays."""
    every = {**dict.fromkeys(rows, 0), **cases}
    return tuple(
        Won(spot=spot, prize=prize, back=exact(back), rate=exact(Fraction(n, total)))
        for (spot, prize, back), n in every.items()
    )

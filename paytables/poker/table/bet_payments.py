"""Lists of how often each bet of a poker game is paid: by pay-table row, as a win, a push or a withdrawal."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from paytables.poker.proof import format_fraction
from paytables.poker.table.schema import BetPaymentRate, BetSpot

#: One way in which a bet is paid: its spot, the pay-table row (or "won", "push", "withdrawn"), and the antes returned.
BetPayment: TypeAlias = tuple[str, str, Fraction]


def iter_row_returns(spot: BetSpot, factor: Fraction) -> Iterator[BetPayment]:
    """Yield, for each row of a spot's pay tables, what a bet of ``factor`` antes returns if it wins that row.

    The return of a bonus row is without the stake, because the row is paid in addition to the bet.
    """
    for row in (*spot.first, *spot.pay):
        yield spot.id, row.id, factor * (1 + row.pays.net)
    for row in spot.bonus:
        yield spot.id, row.id, factor * row.pays.net


def list_row_rates(
    rows: Iterable[BetPayment], cases: Mapping[BetPayment, int], total: int
) -> tuple[BetPaymentRate, ...]:
    """Return the probability of each way in which bets are paid: by each row, as won, or as returned.

    ``cases`` has the number of cases of each way, out of ``total``. ``rows`` are rows to list even if no hand wins
    them.
    """
    cases_by_row = {**dict.fromkeys(rows, 0), **cases}
    return tuple(
        BetPaymentRate(
            spot=spot, prize=prize, back=format_fraction(back), rate=format_fraction(Fraction(n, total))
        )
        for (spot, prize, back), n in cases_by_row.items()
    )

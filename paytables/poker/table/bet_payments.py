"""Lists of how often each bet of a poker game is paid: by pay-table row, as a win, a push or a withdrawal."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from paytables.poker.proof import format_fraction
from paytables.poker.table.schema import BetPaymentRate, BetSpot

#: One way in which a bet is paid: its spot, the pay-table row (or "won", "push", "withdrawn"), and the antes returned.
BetPayment: TypeAlias = tuple[str, str, Fraction]


def iter_row_returns(spot: BetSpot, stake_antes: Fraction) -> Iterator[BetPayment]:
    """Yield, for each row of a spot's pay tables, what a bet of ``stake_antes`` antes returns if it wins that row.

    The return of a bonus row does not include the stake, because the row is paid in addition to the bet.
    """
    for row in (*spot.overriding_rows, *spot.pay_rows):
        yield spot.id, row.id, stake_antes * (1 + row.pays.net)
    for row in spot.bonus_rows:
        yield spot.id, row.id, stake_antes * row.pays.net


def list_row_rates(
    listed_payments: Iterable[BetPayment], case_count_by_payment: Mapping[BetPayment, int], case_count: int
) -> tuple[BetPaymentRate, ...]:
    """Return the probability of each way in which bets are paid: by each row, as won, or as returned.

    ``case_count_by_payment`` has the number of cases of each way, out of ``case_count``. ``listed_payments`` are rows
    to list even if no hand wins them.
    """
    all_case_counts = {**dict.fromkeys(listed_payments, 0), **case_count_by_payment}
    return tuple(
        BetPaymentRate(
            spot=spot,
            prize=prize,
            back=format_fraction(returned_antes),
            rate=format_fraction(Fraction(n, case_count)),
        )
        for (spot, prize, returned_antes), n in all_case_counts.items()
    )

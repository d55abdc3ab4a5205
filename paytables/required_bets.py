"""Bets that require a bet on a second spot, and the permitted ratio of the two amounts."""

from collections.abc import Iterator, Mapping

from paytables.contract import Spot
from paytables.errors import WagerError
from paytables.wording import format_count


def check_required_bet(spot: Spot, required_id: str, bets: Mapping[str, int]) -> None:
    """Check a seat's bet on ``spot`` against the bet on the spot ``required_id`` that it requires.

    ``bets`` are the seat's credits by spot. Raises :class:`WagerError` if the required bet is missing, or if
    the amounts do not fit.
    """
    credits_, required_credits, bet_key = bets.get(spot.id, 0), bets.get(required_id, 0), f"bets.{spot.id}"
    amount = format_count(credits_, "credit")
    if credits_ and not required_credits:
        raise WagerError(f"{bet_key}: needs a bet on {required_id!r}, which was not placed")
    if spot.required_multiple is not None and credits_ != spot.required_multiple * required_credits:
        raise WagerError(
            f"{bet_key}: {amount} staked; expected {spot.required_multiple} times the bet on {required_id!r},"
            f" which is {required_credits:,}"
        )
    if (
        credits_
        and spot.insured_credits_per_credit is not None
        and credits_ * spot.insured_credits_per_credit != required_credits
    ):
        raise WagerError(
            f"{bet_key}: {amount} staked with {required_credits:,} on {required_id!r};"
            f" expected one for each {format_count(spot.insured_credits_per_credit, 'credit')},"
            f" and a multiple of them on {required_id!r}"
        )
    if spot.required_multiple_max is not None and credits_ > (
        bet_max := spot.required_multiple_max * required_credits
    ):
        raise WagerError(f"{bet_key}: {amount} staked; the bet on {required_id!r} allows {bet_max:,} at most")


def find_smallest_bets_with(spot_by_id: Mapping[str, Spot], spot: Spot, credits_: int) -> dict[str, int]:
    """Return the smallest bets, by spot, with ``credits_`` on ``spot`` and every bet that they require."""
    dependent_spots = [other for other in spot_by_id.values() if other.required_multiple is not None]
    bets = {spot.id: credits_}
    while True:
        more_bets = dict(bets)
        for spot_id, bet_credits in bets.items():
            for required_id, bet_min in _iter_required_bet(spot_by_id, spot_by_id[spot_id], bet_credits):
                more_bets[required_id] = max(more_bets.get(required_id, 0), bet_min)
        for dependent_spot in dependent_spots:
            if dependent_spot.required_multiple is not None and dependent_spot.required_spot in more_bets:
                more_bets[dependent_spot.id] = (
                    dependent_spot.required_multiple * more_bets[dependent_spot.required_spot]
                )
        if more_bets == bets:
            return {spot_id: bets[spot_id] for spot_id in spot_by_id if spot_id in bets}
        bets = more_bets


def find_minimum_stakes(spot_by_id: Mapping[str, Spot]) -> set[int]:
    """Return the different costs in credits of the minimum bets on open spots, each with all bets that it requires."""
    return {
        sum(find_smallest_bets_with(spot_by_id, spot, spot.bet_min).values())
        for spot in spot_by_id.values()
        if spot.accepts_bets
    }


def _iter_required_bet(
    spot_by_id: Mapping[str, Spot], spot: Spot, credits_: int
) -> Iterator[tuple[str, int]]:
    """Yield the id of the one spot that a bet of ``credits_`` on ``spot`` requires, with the minimum bet on that spot.

    Yield nothing if the bet requires none.
    """
    if spot.required_spot is None:
        return
    required_spot = spot_by_id[spot.required_spot]
    bet_min = max(required_spot.bet_min, credits_ * (spot.insured_credits_per_credit or 0))
    if (multiple := spot.required_multiple or spot.required_multiple_max) is not None:
        bet_min = max(bet_min, -(-credits_ // multiple))
    yield required_spot.id, -(-bet_min // required_spot.bet_step) * required_spot.bet_step

"""The prizes of a tournament to the cent, and the legal minimum: 30 % of the fees are returned as prizes (s. 127)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, groupby, pairwise
from math import ceil, floor
from typing import Final, Literal

#: The least part of the fees sold that goes back to the participants (s. 127).
RETURN_MIN: Final = Fraction(30, 100)

#: Who gets the cents left after a division: the best rank all of them, or each rank one in order.
Remainders = Literal["best-rank", "in-order"]
#: What happens to the prizes of ranks that nobody has.
Unclaimed = Literal["shared", "not-awarded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizePlan:
    """The prizes by rank: an exact share of the fees and a fixed amount for each rank, one of the two being 0."""

    shares: tuple[Fraction, ...]
    amounts_cents: tuple[int, ...]
    unclaimed: Unclaimed
    """What happens to the prizes of ranks that nobody has."""
    remainders: Remainders
    """Who gets the cents left after a division."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeShortfall:
    """The smallest number of entries for which the prizes may be less than 30 % of the fees, and the missing amount."""

    entry_count: int
    ranked_count: int
    """The number of participants assumed to have a rank."""
    prizes_cents: int
    missing_cents: int
    """The amount that the prizes lack to return 30 % of the fees."""


def find_missing_cents(sold_cents: int, prizes_cents: int) -> int:
    """Return the cents that must be added to the prizes so that they return 30 % of the fees sold."""
    return max(0, ceil(RETURN_MIN * sold_cents) - prizes_cents)


def split_cents(total_cents: int, weights: Sequence[Fraction], remainders: Remainders) -> list[int]:
    """Divide an amount in proportion to ``weights``, each part rounded down, and distribute the cents left over.

    ``remainders``: with ``best-rank`` the first part gets all of them; with ``in-order`` each part gets one
    cent, from the first on, until none is left.
    """
    weight_sum = sum(weights, Fraction(0))
    parts = [floor(total_cents * weight / weight_sum) for weight in weights]
    left = total_cents - sum(parts)  # fewer cents than parts, as each was rounded down by less than one
    if remainders == "best-rank":
        parts[0] += left
    else:
        for i in range(left):
            parts[i] += 1
    return parts


def compute_prizes(plan: PrizePlan, sold_cents: int, ranked: int) -> list[int]:
    """Return the prize of each ranked participant, best rank first, before ties share their prizes.

    ``ranked`` is the number of participants with a rank. The sum of the shares that are awarded is rounded up
    to a whole cent, so that rounding never lowers the total returned.
    """
    if not ranked:
        return []
    awarded = _count_awarded(plan, ranked)
    prizes = [*plan.amounts_cents[:awarded]]
    shares = plan.shares[:awarded]
    with_share = [i for i, share in enumerate(shares) if share]
    if with_share:
        pool_cents = ceil(sum(shares, Fraction(0)) * sold_cents)
        parts = split_cents(pool_cents, [shares[i] for i in with_share], plan.remainders)
        for i, cents in zip(with_share, parts, strict=True):
            prizes[i] += cents
    prizes += [0] * (ranked - len(prizes))
    unclaimed_cents = sum(prizes[ranked:])
    unclaimed_shares = split_cents(unclaimed_cents, [Fraction(1)] * ranked, plan.remainders)
    return [prize + more for prize, more in zip(prizes, unclaimed_shares, strict=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeInversion:
    """A number of entries at which a rank wins more than the one above it."""

    entry_count: int
    rank: int
    """The rank whose prize is higher than that of the rank above it."""
    prize_cents: int
    prize_above_cents: int


def find_inversion(
    plan: PrizePlan, fee_cents: int, *, entries_min: int, entries_max: int
) -> PrizeInversion | None:
    """Return the first rank whose prize is higher than that of the rank above it, or None.

    Only two numbers of entries are checked: the smallest, at which fixed amounts are highest compared with
    shares, and the largest, at which shares are highest compared with fixed amounts.
    """
    ranks = len(plan.shares)
    for entries in sorted({max(entries_min, min(ranks, entries_max)), entries_max}):
        prizes = compute_prizes(plan, entries * fee_cents, min(ranks, entries))
        for rank, (above_cents, cents) in enumerate(pairwise(prizes), 2):
            if cents > above_cents:
                return PrizeInversion(
                    entry_count=entries, rank=rank, prize_cents=cents, prize_above_cents=above_cents
                )
    return None


def _count_awarded(plan: PrizePlan, ranked: int) -> int:
    """Return the number of ranks whose prizes are paid if ``ranked`` participants have a rank."""
    return len(plan.shares) if plan.unclaimed == "shared" else min(ranked, len(plan.shares))


def divide_prizes_of_ties(prizes: Sequence[int], ranks: Sequence[int], remainders: Remainders) -> list[int]:
    """Return the prize of each participant in rank order; participants with equal rank share their prizes equally.

    ``ranks`` has the rank of each participant, for example 1, 2, 2, 4. Cents left over are distributed as
    ``remainders`` says (:func:`split_cents`).
    """
    shared: list[int] = []
    for _, group in groupby(ranks):
        start, tied = len(shared), len([*group])
        shared += split_cents(sum(prizes[start : start + tied]), [Fraction(1)] * tied, remainders)
    return shared


def find_shortfall(
    plan: PrizePlan,
    fee_cents: int,
    *,
    entries_min: int,
    participants_max: int,
    per_participant: int,
    one_ranked: bool,
) -> PrizeShortfall | None:
    """Return the smallest number of entries whose prizes may be less than 30 % of the fees, or None.

    For each number of entries, the smallest possible number of participants is assumed to be ranked: the
    fewest who can have bought these entries. With ``one_ranked`` it is one participant, for rules under which
    entries can lose their rank.
    """
    fixed_sums, share_sums = [*accumulate(plan.amounts_cents)], [*accumulate(plan.shares)]
    for entries in range(entries_min, participants_max * per_participant + 1):
        ranked = 1 if one_ranked else -(-entries // per_participant)
        awarded = _count_awarded(plan, ranked)
        sold_cents = entries * fee_cents
        prizes_cents = fixed_sums[awarded - 1] + ceil(share_sums[awarded - 1] * sold_cents)
        if missing_cents := find_missing_cents(sold_cents, prizes_cents):
            return PrizeShortfall(
                entry_count=entries,
                ranked_count=ranked,
                prizes_cents=prizes_cents,
                missing_cents=missing_cents,
            )
    return None

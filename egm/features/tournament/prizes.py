"""The prizes of a tournament to the cent, and the legal minimum: 30 % of the fees are returned as prizes (s. 127)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, groupby, pairwise
from math import ceil, floor
from typing import Final, Literal

#: The minimum share of the entry fees that goes back to the participants (s. 127).
RETURN_TO_PARTICIPANTS_MIN: Final = Fraction(30, 100)

#: Who gets the cents left after a division. ``best-rank``: the best rank gets all. ``in-order``: each rank gets one,
#: from the best rank on.
RemainderRule = Literal["best-rank", "in-order"]
#: What happens to the prizes of ranks that nobody has.
UnclaimedPrizeRule = Literal["shared", "not-awarded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizePlan:
    """The plan from which prizes are computed.

    Each rank has either an exact share of the fees or a fixed amount; the other is 0.
    """

    fee_shares: tuple[Fraction, ...]
    amounts_cents: tuple[int, ...]
    unclaimed_prize_rule: UnclaimedPrizeRule
    """What happens to the prizes of ranks that no participant has."""
    remainder_rule: RemainderRule
    """Who gets the cents that are left over after a division."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeShortfall:
    """A case in which the prizes may be less than 30 % of the fees."""

    entry_count: int
    ranked_count: int
    """How many participants are assumed to have a rank."""
    prizes_cents: int
    shortfall_cents: int
    """The amount that must be added so that the prizes are 30 % of the fees, in minor units."""


def compute_prize_shortfall_cents(fees_cents: int, prizes_cents: int) -> int:
    """Return the amount that must be added to the prizes so that they are 30 % of the entry fees, in cents."""
    return max(0, ceil(RETURN_TO_PARTICIPANTS_MIN * fees_cents) - prizes_cents)


def split_cents(total_cents: int, weights: Sequence[Fraction], remainder_rule: RemainderRule) -> list[int]:
    """Return an amount divided in proportion to ``weights``, in whole cents.

    Each part is rounded down. With the remainder rule ``best-rank``, the first part gets all cents left over;
    with ``in-order``, each part from the first on gets one cent until none is left.
    """
    weight_sum = sum(weights, Fraction(0))
    parts_cents = [floor(total_cents * weight / weight_sum) for weight in weights]
    # Fewer cents than parts, because each part was rounded down by less than one cent.
    remainder_cents = total_cents - sum(parts_cents)
    if remainder_rule == "best-rank":
        parts_cents[0] += remainder_cents
    else:
        for index in range(remainder_cents):
            parts_cents[index] += 1
    return parts_cents


def compute_prizes(plan: PrizePlan, fees_cents: int, ranked_count: int) -> list[int]:
    """Return the prize in cents of each participant with a rank, the best rank first.

    Ties are not considered here (see :func:`divide_prizes_of_ties`).

    ``ranked_count`` is the number of participants with a rank. The total of the shares that are paid is rounded up to a
    whole cent, so that rounding does not reduce what is returned.
    """
    if not ranked_count:
        return []
    awarded_rank_count = _count_awarded(plan, ranked_count)
    prizes = [*plan.amounts_cents[:awarded_rank_count]]
    shares = plan.fee_shares[:awarded_rank_count]
    indexes_with_share = [index for index, share in enumerate(shares) if share]
    if indexes_with_share:
        pool_cents = ceil(sum(shares, Fraction(0)) * fees_cents)
        parts_cents = split_cents(
            pool_cents, [shares[index] for index in indexes_with_share], plan.remainder_rule
        )
        for index, cents in zip(indexes_with_share, parts_cents, strict=True):
            prizes[index] += cents
    prizes += [0] * (ranked_count - len(prizes))
    unclaimed_cents = sum(prizes[ranked_count:])
    unclaimed_shares = split_cents(unclaimed_cents, [Fraction(1)] * ranked_count, plan.remainder_rule)
    return [
        prize + unclaimed_cents_of_rank
        for prize, unclaimed_cents_of_rank in zip(prizes, unclaimed_shares, strict=False)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeInversion:
    """A case in which a rank wins more than the next better rank."""

    entry_count: int
    rank: int
    """The rank that wins more than the next better rank."""
    prize_cents: int
    better_rank_prize_cents: int


def find_prize_inversion(
    plan: PrizePlan, fee_cents: int, *, entries_min: int, entries_max: int
) -> PrizeInversion | None:
    """Return the first rank that would win more than the next better rank, or None.

    Only the smallest and the largest number of entries are checked. With few entries, fixed amounts are large
    relative to shares of the fees; with many, they are small.
    """
    ranks = len(plan.fee_shares)
    for entry_count in sorted({max(entries_min, min(ranks, entries_max)), entries_max}):
        prizes = compute_prizes(plan, entry_count * fee_cents, min(ranks, entry_count))
        for rank, (better_cents, cents) in enumerate(pairwise(prizes), 2):
            if cents > better_cents:
                return PrizeInversion(
                    entry_count=entry_count,
                    rank=rank,
                    prize_cents=cents,
                    better_rank_prize_cents=better_cents,
                )
    return None


def _count_awarded(plan: PrizePlan, ranked_count: int) -> int:
    """Return how many ranks have a prize that is paid, if ``ranked_count`` participants have a rank."""
    return (
        len(plan.fee_shares)
        if plan.unclaimed_prize_rule == "shared"
        else min(ranked_count, len(plan.fee_shares))
    )


def divide_prizes_of_ties(
    prizes_cents: Sequence[int], ranks: Sequence[int], remainder_rule: RemainderRule
) -> list[int]:
    """Return the prize in cents of each participant, in rank order, with the prizes of ties divided equally.

    ``prizes_cents`` has the prizes without regard to ties, and ``ranks`` the rank of each participant, such as 1, 2, 2,
    4. ``remainder_rule`` says who gets the cents left over (:func:`split_cents`).
    """
    divided_prizes: list[int] = []
    for _, group in groupby(ranks):
        start, tied_count = len(divided_prizes), len([*group])
        divided_prizes += split_cents(
            sum(prizes_cents[start : start + tied_count]), [Fraction(1)] * tied_count, remainder_rule
        )
    return divided_prizes


def find_prize_shortfall(
    plan: PrizePlan,
    fee_cents: int,
    *,
    entries_min: int,
    participants_max: int,
    entries_per_participant: int,
    can_entries_lose_rank: bool,
) -> PrizeShortfall | None:
    """Return the smallest number of entries at which the prizes may be less than 30 % of the fees, or None.

    The worst case is assumed. Each participant has bought as many entries as permitted, so that few have a rank. If
    entries can lose their rank (``can_entries_lose_rank``), only one participant has one.
    """
    fixed_sums, share_sums = [*accumulate(plan.amounts_cents)], [*accumulate(plan.fee_shares)]
    for entry_count in range(entries_min, participants_max * entries_per_participant + 1):
        ranked_count = 1 if can_entries_lose_rank else -(-entry_count // entries_per_participant)
        awarded_rank_count = _count_awarded(plan, ranked_count)
        fees_cents = entry_count * fee_cents
        prizes_cents = fixed_sums[awarded_rank_count - 1] + ceil(
            share_sums[awarded_rank_count - 1] * fees_cents
        )
        if shortfall_cents := compute_prize_shortfall_cents(fees_cents, prizes_cents):
            return PrizeShortfall(
                entry_count=entry_count,
                ranked_count=ranked_count,
                prizes_cents=prizes_cents,
                shortfall_cents=shortfall_cents,
            )
    return None

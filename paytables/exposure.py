"""The maximum that one round at a table can stake, found from all sums that bets and raises can reach.

Sets of sums are integers used as bit sets.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from math import floor
from operator import or_

from paytables.contract import Spot

#: A set of sums in credits: bit n is set if the sum of n credits can be reached.
ReachableSumsMask = int


def find_highest_stake(spots: Sequence[Spot], table_max_credits: int | None, limit_credits: int) -> int:
    """Return the highest total stake of one seat's round that is at most ``limit_credits``, raises included.

    If stakes can be added in a round, the table limit is not applied: it limits only the initial stakes, and the
    result may be too high. Otherwise it limits the total. Of spots that exclude each other, the one with the higher
    stake counts.
    """
    ids = {spot.id for spot in spots}
    excluding_spot = next((spot for spot in spots if not ids.isdisjoint(spot.excluded_spots)), None)
    if excluding_spot is not None:
        alternatives = (
            _remove_spots(spots, set(excluding_spot.excluded_spots)),
            _remove_spots(spots, {excluding_spot.id}),
        )
        return max(
            find_highest_stake(alternative, table_max_credits, limit_credits) for alternative in alternatives
        )
    can_stakes_be_added = any(spot.reserve_per_credit or spot.optional_per_credit for spot in spots)
    stake_max_credits = (
        limit_credits
        if can_stakes_be_added or table_max_credits is None
        else min(limit_credits, table_max_credits)
    )
    return _ReachableStakes(
        [spot for spot in spots if not spot.added_bet_multiples], max(stake_max_credits, 0)
    ).find_highest_sum()


def _remove_spots(spots: Sequence[Spot], removed_ids: set[str]) -> Sequence[Spot]:
    """Return the spots that are not removed and do not require, directly or indirectly, a bet on a removed spot."""
    remaining_spots = [
        spot for spot in spots if spot.id not in removed_ids and spot.required_spot not in removed_ids
    ]
    return (
        remaining_spots
        if len(remaining_spots) == len(spots)
        else _remove_spots(remaining_spots, {spot.id for spot in spots} - {s.id for s in remaining_spots})
    )


class _ReachableStakes:
    """All total stakes, up to ``stake_max_credits``, that a seat's bets on these spots can have."""

    def __init__(self, spots: Sequence[Spot], stake_max_credits: int) -> None:
        self.spots = {spot.id: spot for spot in spots}
        self._limit_mask = (1 << stake_max_credits + 1) - 1
        """A mask of the sums up to ``stake_max_credits``, one bit per sum."""
        self._sums_by_spot: dict[str, list[ReachableSumsMask]] = {}
        """Cached reachable sums by spot id. Element n has the sums of the spot's n smallest bets."""

    @cached_property
    def _spots_by_required_spot(self) -> dict[str, list[Spot]]:
        """Return, for each betting spot, the spots whose bets require a bet on it.

        Spots that require each other in a circle are left out.
        """
        dependent_spots: dict[str, list[Spot]] = {name: [] for name in self.spots}
        for spot in self.spots.values():
            if spot.required_spot is not None and len(self._find_cycle(spot)) == 1:
                dependent_spots[spot.required_spot].append(spot)
        return dependent_spots

    def _find_cycle(self, spot: Spot) -> tuple[str, ...]:
        """Return the spots that require bets on one another in a circle through ``spot``; else only ``spot``."""
        cycle = [spot.id]
        while (
            required_spot := self.spots[cycle[-1]].required_spot
        ) is not None and required_spot not in cycle:
            cycle.append(required_spot)
        return tuple(sorted(cycle)) if required_spot == spot.id else (spot.id,)

    def find_highest_sum(self) -> int:
        """Return the highest permitted sum of stakes that a seat's bets can have, in credits."""
        reachable_sums: ReachableSumsMask = 1
        cycles = {self._find_cycle(spot) for spot in self.spots.values()}
        for cycle in sorted(cycles, key=lambda cycle: -max(self.spots[name].bet_max for name in cycle)):
            members = [self.spots[name] for name in cycle]
            if len(members) == 1 and members[0].required_spot is not None:
                continue  # its bets are added with those on the spot that it requires
            joint_sums: ReachableSumsMask = 1
            for member in members:
                joint_sums = self._add_sums(joint_sums, self._find_sums_up_to(member, member.bet_max))
            reachable_sums = self._add_sums(reachable_sums, 1 | joint_sums)
            if reachable_sums >> self._limit_mask.bit_length() - 1:
                break  # the limit is reached
        return reachable_sums.bit_length() - 1

    def _find_sums_up_to(self, spot: Spot, bet_max: int) -> ReachableSumsMask:
        """Return the sums of every bet of up to ``bet_max`` credits on a spot, dependent bets included.

        Dependent bets are those that require a bet on the spot.
        """
        cached_sums = self._sums_by_spot.setdefault(spot.id, [0])
        bets = range(
            spot.bet_min, min(spot.bet_max, bet_max, self._limit_mask.bit_length()) + 1, spot.bet_step
        )
        cached_sums += accumulate(
            (self._find_bet_sums(spot, credits_) for credits_ in bets[len(cached_sums) - 1 :]),
            or_,
            initial=cached_sums.pop(),
        )
        return cached_sums[len(bets)]

    def _find_bet_sums(self, spot: Spot, credits_: int) -> ReachableSumsMask:
        """Return the total stakes of a bet of ``credits_`` on a spot, with the bets that depend on it, in credits.

        All raises of the bet are included. Its other options, such as insurance, are all taken or all left.
        """
        staked_credits = (1 + spot.reserve_per_credit) * credits_
        sums: ReachableSumsMask = 1 << floor(staked_credits) | 1 << floor(
            staked_credits + spot.optional_per_credit * credits_
        )
        for dependent_spot in self._spots_by_required_spot[spot.id]:
            sums = self._add_sums(sums, self._find_dependent_sums(dependent_spot, credits_))
        return sums & self._limit_mask

    def _find_dependent_sums(self, spot: Spot, required_credits: int) -> ReachableSumsMask:
        """Return the possible total stakes on ``spot`` if the bet that it requires is ``required_credits``."""
        if spot.required_multiple is not None:
            return self._find_bet_sums(spot, spot.required_multiple * required_credits)
        if spot.insured_credits_per_credit is not None:
            return (
                1
                if required_credits % spot.insured_credits_per_credit
                else 1 | self._find_bet_sums(spot, required_credits // spot.insured_credits_per_credit)
            )
        return 1 | self._find_sums_up_to(
            spot,
            spot.bet_max
            if spot.required_multiple_max is None
            else spot.required_multiple_max * required_credits,
        )

    def _add_sums(self, sums: ReachableSumsMask, added_sums: ReachableSumsMask) -> ReachableSumsMask:
        """Return every sum of one element from each of two sets of stakes; all sets are stored as bits."""
        combined: ReachableSumsMask = 0
        smaller, larger = sorted((sums, added_sums), key=ReachableSumsMask.bit_count)
        for stake in _iter_stakes_in_mask(smaller):
            combined |= larger << stake
        return combined & self._limit_mask


def _iter_stakes_in_mask(sums: ReachableSumsMask) -> Iterator[int]:
    """Yield the stakes in a set that is stored as bits, in ascending order."""
    return (bit for bit, digit in enumerate(reversed(f"{sums:b}")) if digit == "1")

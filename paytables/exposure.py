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
Sums = int


def find_highest_stake(spots: Sequence[Spot], table_most: int | None, credits_: int) -> int:
    """Return the highest total stake of one seat's round that is at most ``credits_``, raises included.

    The table limit applies to the initial stakes. If nothing can be added in a round, it applies to the
    total. Of spots that exclude each other, the one with the higher stake counts.
    """
    ids = {spot.id for spot in spots}
    excluding = next((spot for spot in spots if not ids.isdisjoint(spot.excludes)), None)
    if excluding is not None:
        choices = (_remove_spots(spots, set(excluding.excludes)), _remove_spots(spots, {excluding.id}))
        return max(find_highest_stake(choice, table_most, credits_) for choice in choices)
    raised = any(spot.reserve or spot.optional for spot in spots)
    most = credits_ if raised or table_most is None else min(credits_, table_most)
    return _ReachableStakes([spot for spot in spots if not spot.added], max(most, 0)).find_highest_sum()


def _remove_spots(spots: Sequence[Spot], removed_ids: set[str]) -> Sequence[Spot]:
    """Return the spots that are not removed and do not require, directly or indirectly, a bet on a removed spot."""
    left = [spot for spot in spots if spot.id not in removed_ids and spot.needs not in removed_ids]
    return (
        left
        if len(left) == len(spots)
        else _remove_spots(left, {spot.id for spot in spots} - {s.id for s in left})
    )


class _ReachableStakes:
    """All total stakes, up to ``max_credits``, that a seat's bets on these spots can have."""

    def __init__(self, spots: Sequence[Spot], max_credits: int) -> None:
        self.spots = {spot.id: spot for spot in spots}
        self.within = (1 << max_credits + 1) - 1
        """A mask of the sums up to the largest permitted bet, one bit per sum."""
        self._known: dict[str, list[Sums]] = {}
        """Cached reachable sums of each spot: element n is for its n smallest bets."""

    @cached_property
    def _spots_by_required_spot(self) -> dict[str, list[Spot]]:
        """Return, for each betting spot, the spots whose bets require a bet on it.

        Spots that require each other in a circle are left out.
        """
        following: dict[str, list[Spot]] = {name: [] for name in self.spots}
        for spot in self.spots.values():
            if spot.needs is not None and len(self._find_cycle(spot)) == 1:
                following[spot.needs].append(spot)
        return following

    def _find_cycle(self, spot: Spot) -> tuple[str, ...]:
        """Return the spots that require bets on one another in a circle through ``spot``; else only ``spot``."""
        cycle = [spot.id]
        while (needs := self.spots[cycle[-1]].needs) is not None and needs not in cycle:
            cycle.append(needs)
        return tuple(sorted(cycle)) if needs == spot.id else (spot.id,)

    def find_highest_sum(self) -> int:
        """Return the highest permitted sum of stakes that a seat's bets can have, in credits."""
        sums: Sums = 1
        rounds = {self._find_cycle(spot) for spot in self.spots.values()}
        for names in sorted(rounds, key=lambda names: -max(self.spots[name].most for name in names)):
            members = [self.spots[name] for name in names]
            if len(members) == 1 and members[0].needs is not None:
                continue  # a bet that follows another is placed with it
            together: Sums = 1
            for member in members:
                together = self._add_sums(together, self._find_sums_up_to(member, member.most))
            sums = self._add_sums(sums, 1 | together)
            if sums >> self.within.bit_length() - 1:
                break  # the limit is reached
        return sums.bit_length() - 1

    def _find_sums_up_to(self, spot: Spot, max_bet: int) -> Sums:
        """Return the sums of every bet of up to ``max_bet`` credits on a spot, dependent bets included.

        Dependent bets are those that require a bet on the spot.
        """
        cached = self._known.setdefault(spot.id, [0])
        bets = range(spot.least, min(spot.most, max_bet, self.within.bit_length()) + 1, spot.step)
        cached += accumulate(
            (self._find_bet_sums(spot, credits_) for credits_ in bets[len(cached) - 1 :]),
            or_,
            initial=cached.pop(),
        )
        return cached[len(bets)]

    def _find_bet_sums(self, spot: Spot, credits_: int) -> Sums:
        """Return the possible total stakes of a bet on a spot with its raises and the bets that depend on it.

        Totals are in credits, ``credits_`` is the bet itself.
        """
        staked = (1 + spot.reserve) * credits_
        sums: Sums = 1 << floor(staked) | 1 << floor(staked + spot.optional * credits_)
        for follower in self._spots_by_required_spot[spot.id]:
            sums = self._add_sums(sums, self._find_following_sums(follower, credits_))
        return sums & self.within

    def _find_following_sums(self, spot: Spot, needed: int) -> Sums:
        """Return the possible total stakes on ``spot`` if ``needed`` credits are on the spot that it requires."""
        if spot.times is not None:
            return self._find_bet_sums(spot, spot.times * needed)
        if spot.share is not None:
            return 1 if needed % spot.share else 1 | self._find_bet_sums(spot, needed // spot.share)
        return 1 | self._find_sums_up_to(
            spot, spot.most if spot.most_times is None else spot.most_times * needed
        )

    def _add_sums(self, sums: Sums, added_sums: Sums) -> Sums:
        """Return every sum of one element from each of two sets of stakes; all sets are stored as bits."""
        combined: Sums = 0
        smaller, larger = sorted((sums, added_sums), key=Sums.bit_count)
        for bit in _iter_bits(smaller):
            combined |= larger << bit
        return combined & self.within


def _iter_bits(sums: Sums) -> Iterator[int]:
    """Yield the stakes in a set that is stored as bits, in ascending order."""
    return (bit for bit, digit in enumerate(reversed(f"{sums:b}")) if digit == "1")

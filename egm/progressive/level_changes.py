"""Changes that one step of a game makes to its progressive levels, collected until its journal entry is written.

A step's numbers are drawn first. In the first step, the increment of the wager is then added to every level, and
mystery prizes are drawn. Then each hit of the outcome is paid the amount that the level shows at that moment,
including this wager's contribution, or is claimed from the level's controller. All changes are in the transaction of
the step: no wager is recorded without its contribution, and no hit without its amount or claim.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, Protocol

from egm.errors import InvariantError
from egm.play.records.game_record import DrawRecord, LevelContribution, LevelHitRecord, LevelsPlayed
from egm.progressive import posting
from egm.progressive.level import WHOLE_LEVEL_SHARE, Level
from egm.progressive.pools import LevelKeeper, ProgressivePool
from egm.record_codec import stored_as
from egm.record_fields import CentsOrZero, Count
from meters import Transfer
from paytables import LevelHit, PartialLevelHit

#: Prefix of the recorded purpose of a mystery prize's draw; the pool's id follows.
MYSTERY_DRAW_PURPOSE: Final = "progressive."


class RandomSource(Protocol):
    """Source of random numbers for a mystery draw; the game's outcome is drawn from the same source."""

    def below(self, bound: int, purpose: str) -> int:
        """Return a uniform random integer from 0 to ``bound`` - 1, and record its ``purpose``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkProgress:
    """The stored counts of this machine's contributions to a controller's progressive level."""

    contribution_number: Count = field(default=0, metadata=stored_as("sequence"))
    """The number of the last contribution that this machine has made."""
    last_counted_number: Count = field(default=0, metadata=stored_as("counted"))
    """The number of the last contribution that the controller is known to have counted."""
    uncounted_since_sequence: Count = field(default=0, metadata=stored_as("since"))
    """The number of a journal entry; every contribution not yet counted was recorded after it."""
    shown_cents: CentsOrZero = 0
    """The amount that the level showed last, in minor units."""
    fall_count: Count = field(default=0, metadata=stored_as("falls"))
    """How often the level's amount had been lowered when it showed ``shown_cents``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedHit:
    """A hit of a controller's level, which the machine claims from the controller."""

    pool_id: str
    level_name: str
    contribution_number: int
    """The number of the contribution of the wager that hit the level."""
    shown_cents: int
    """The displayed amount of the level, or of the part that was won, at the hit, in minor units."""
    won_share: Fraction | None = None
    """The part of the level that was won; None for the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelAccess:
    """Functions that read the stored data of the progressive levels; each takes a pool id."""

    read_level: Callable[[str], Level]
    """Function that returns the state of a level of this machine."""
    find_link_progress: Callable[[str], LinkProgress]
    """Function that returns the counts of this machine's contributions to a controller's level."""
    find_shown_cents: Callable[[str], int]
    """Function that returns the amount that a controller's or host's level shows now, in minor units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerPool:
    """A level that an open game plays for and that is no longer in the cabinet file.

    What the game has won of it is still owed.
    """

    id: str
    keeper: LevelKeeper

    @property
    def is_own(self) -> bool:
        """Return whether this machine managed the progressive level itself, without a controller or SAS host."""
        return self.keeper is LevelKeeper.MACHINE


@dataclass(slots=True)
class LevelChanges:
    """The changes that one step of a game makes to its progressive levels, until they are recorded."""

    pool_by_level: Mapping[str, ProgressivePool | FormerPool]
    """The pools that the game plays for, by the level's name in the game's definition."""
    qualifying_stake_cents_by_level: Mapping[str, int]
    """The stake that qualifies for each level's increment, in minor units by its name in the game's definition."""
    level_access: LevelAccess
    claim_prefix: str
    """The prefix of the ids of the claims that this step makes."""
    earlier_levels_played: LevelsPlayed
    """The contributions and hits of the game's earlier steps."""
    level_by_pool_id: dict[str, Level] = field(default_factory=dict)
    """The changed states of this machine's own levels, by pool id."""
    link_progress_by_pool_id: dict[str, LinkProgress] = field(default_factory=dict)
    """The changed counts of contributions to controllers' levels, by pool id."""
    hit_by_claim_id: dict[str, ClaimedHit] = field(default_factory=dict)
    """The hits of controllers' levels, by the id of the claim."""
    broadcast_hits: list[tuple[str, int]] = field(default_factory=list)
    """The hits of broadcast levels, as pairs of pool id and amount in minor units."""
    transfers: list[Transfer] = field(default_factory=list)
    contributions: list[LevelContribution] = field(default_factory=list)
    mystery_draws: list[DrawRecord] = field(default_factory=list)
    hits: list[LevelHitRecord] = field(default_factory=list)
    broadcast_cents: dict[str, int] = field(default_factory=dict)
    """The amount that each broadcast level of the game showed at the wager, in minor units by pool id."""

    def contribute_and_draw_mysteries(self, random_source: RandomSource) -> None:
        """Add the wager's contribution to every level of the game; draw mystery prizes of the machine's own levels.

        A broadcast level gets no contribution, but the amount that it shows now is stored. To be called once per game.
        """
        for level_name, pool in self.pool_by_level.items():
            qualifying_stake_cents = self.qualifying_stake_cents_by_level[level_name]
            if isinstance(pool, FormerPool):
                raise InvariantError(
                    f"the wager contributes to level {pool.id}, which this machine no longer has"
                )
            if pool.keeper is LevelKeeper.CONTROLLER:
                self._contribute_to_controller(pool, qualifying_stake_cents)
            elif pool.keeper is LevelKeeper.BROADCAST:
                self.broadcast_cents[pool.id] = self.level_access.find_shown_cents(pool.id)
            if not pool.is_own:  # a broadcasting host reads the wagers from the meters
                continue
            level_before = self.level_access.read_level(pool.id)
            hit_chance = level_before.compute_mystery_hit_chance(qualifying_stake_cents)
            self._replace_level(pool, level_before, level_before.add_contribution(qualifying_stake_cents))
            self.contributions.append(LevelContribution(pool_id=pool.id, wager_cents=qualifying_stake_cents))
            if hit_chance is not None and self._draw_mystery_hit(pool, hit_chance, random_source):
                self._record_hit(level_name, pool, is_mystery=True)

    def record_outcome_hits(self, hits: Iterable[LevelHit]) -> None:
        """Record the hits of the game's outcome, in order, each with its amount or as a claim to the controller.

        A hit is the level's name in the game's definition, or a part of that level.
        """
        for hit in hits:
            level_name, share = (hit.level, hit.share) if isinstance(hit, PartialLevelHit) else (hit, None)
            if level_name not in self.pool_by_level:
                raise InvariantError(
                    f"a game hit the level {level_name!r}, which its wager does not play for"
                )
            self._record_hit(level_name, self.pool_by_level[level_name], is_mystery=False, share=share)

    @property
    def levels_played(self) -> LevelsPlayed:
        """Return the game's contributions, mystery draws and hits, to be stored in its first journal entry."""
        return LevelsPlayed(
            pool_id_by_level={level_name: pool.id for level_name, pool in self.pool_by_level.items()},
            contributions=tuple(self.contributions),
            mystery_draws=tuple(self.mystery_draws),
            hits=tuple(self.hits),
            broadcast_cents=self.broadcast_cents,
        )

    # ------------------------------------------------------------------ contributions and hits
    def _contribute_to_controller(self, pool: ProgressivePool, qualifying_stake_cents: int) -> None:
        """Record contributions to a controller's level, one for each of the level's stakes.

        ``qualifying_stake_cents`` is the sum of these stakes.
        """
        stake_cents = pool.definition.stake_and_hit_rate.stake_cents
        amount = stake_cents * pool.definition.terms.increment
        progress = self.level_access.find_link_progress(pool.id)
        for _ in range(qualifying_stake_cents // stake_cents):
            progress = replace(progress, contribution_number=progress.contribution_number + 1)
            self.contributions.append(
                LevelContribution(
                    pool_id=pool.id,
                    wager_cents=stake_cents,
                    contribution_number=progress.contribution_number,
                    amount=amount,
                )
            )
        self.link_progress_by_pool_id[pool.id] = progress

    def _find_contribution_number_of_hit(self, pool: ProgressivePool | FormerPool) -> int:
        """Return the number of the contribution to which the next hit of a controller's level belongs.

        If the wager contains several stakes, each hit belongs to a different contribution.
        """
        contribution_numbers = [
            contribution.contribution_number
            for contribution in (*self.earlier_levels_played.contributions, *self.contributions)
            if contribution.pool_id == pool.id
        ]
        hit_count = sum(hit.pool_id == pool.id for hit in (*self.earlier_levels_played.hits, *self.hits))
        if len(contribution_numbers) > 1 and hit_count < len(contribution_numbers):
            return contribution_numbers[-1 - hit_count] or 0
        progress = self.link_progress_by_pool_id.get(pool.id) or self.level_access.find_link_progress(pool.id)
        return progress.contribution_number

    def _draw_mystery_hit(
        self, pool: ProgressivePool, hit_chance: tuple[int, int], random_source: RandomSource
    ) -> bool:
        """Draw whether this wager wins a mystery prize with the given chance, and record the draw."""
        winning_count, bound = hit_chance
        if winning_count >= bound:
            return True
        purpose = f"{MYSTERY_DRAW_PURPOSE}{pool.id}"
        drawn_number = random_source.below(bound, purpose)
        self.mystery_draws.append((bound, drawn_number, purpose))
        return drawn_number < winning_count

    def _record_hit(
        self,
        level_name: str,
        pool: ProgressivePool | FormerPool,
        *,
        is_mystery: bool,
        share: Fraction | None = None,
    ) -> None:
        """Record the game's hit of a progressive level, or of the part ``share`` of it.

        For the machine's own level and a broadcast one the amount is known; otherwise it is claimed from the
        controller.
        """
        hit = LevelHitRecord(pool_id=pool.id, level_name=level_name, is_mystery=is_mystery, won_share=share)
        if pool.is_own:
            level_before = self._find_current_level(pool)
            amount_cents, level_after = level_before.pay_hit(share or WHOLE_LEVEL_SHARE)
            self._replace_level(pool, level_before, level_after)
            self.hits.append(replace(hit, amount_cents=amount_cents))
            return
        if pool.keeper is LevelKeeper.BROADCAST:
            amount_cents = self.level_access.find_shown_cents(pool.id)
            self.broadcast_hits.append((pool.id, amount_cents))
            self.hits.append(replace(hit, amount_cents=amount_cents))
            return
        claim_id = f"{self.claim_prefix}.{len(self.hits) + 1}"
        shown_cents = int(self.level_access.find_shown_cents(pool.id) * (share or 1))
        contribution_number = self._find_contribution_number_of_hit(pool)
        self.hit_by_claim_id[claim_id] = ClaimedHit(
            pool_id=pool.id,
            level_name=level_name,
            contribution_number=contribution_number,
            shown_cents=shown_cents,
            won_share=share,
        )
        self.hits.append(replace(hit, claim_id=claim_id, shown_cents=shown_cents))

    def _find_current_level(self, pool: ProgressivePool | FormerPool) -> Level:
        """Return the state of one of the machine's own levels, including the changes that this game has made so far."""
        return self.level_by_pool_id.get(pool.id) or self.level_access.read_level(pool.id)

    def _replace_level(
        self, pool: ProgressivePool | FormerPool, level_before: Level, level_after: Level
    ) -> None:
        """Store the changed state of one of the machine's own levels, and add the transfers of this change."""
        self.transfers += posting.build_change_transfers(pool.id, level_before, level_after)
        self.level_by_pool_id[pool.id] = level_after

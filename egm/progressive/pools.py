"""Pools: the progressive amounts that a machine's games feed and can win.

A level has one pool for each stake at which it is played, because a larger stake plays for a larger amount. The
game's definition states base, increment, hit rate and stake; the cabinet file states who manages the level
(:class:`egm.config.levels.ProgressiveLevelTable`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.errors import OperatorError
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import LevelTerms
from paytables import Game, LevelParticipation, PaytableError, Wager


class LevelConfigurationError(OperatorError):
    """Raised if a progressive level is not configured on this machine, or cannot be; the text says why."""


class LevelKeeper(StrEnum):
    """The manager of a progressive amount, which determines how a hit is paid: this machine, a controller or a host."""

    MACHINE = "machine"
    CONTROLLER = "controller"
    """A controller that receives contributions and claims."""
    BROADCAST = "broadcast"
    """A SAS host that broadcasts the amount; a hit pays the amount received last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressivePool:
    """One progressive amount, with the level's definition and the game whose wagers play for it."""

    definition: LevelDefinition
    game_id: str
    level_name: str
    keeper: LevelKeeper

    @property
    def id(self) -> str:
        """Return the pool's id, unique on the machine.

        It is the level's id at a controller, ``sas.group.level`` for a SAS broadcast, or ``game.level.stake``
        for the machine's own level.
        """
        return self.definition.id

    @property
    def is_own(self) -> bool:
        """Return whether this machine manages the progressive level itself, without a controller or SAS host."""
        return self.keeper is LevelKeeper.MACHINE


class BroadcastLevel(NamedTuple):
    """The numbers by which SAS names a level whose amount a host broadcasts: progressive group, and level in it."""

    group_number: int
    level_number: int

    @classmethod
    def parse_pool_id(cls, pool_id: str) -> "BroadcastLevel":
        """Return the level that the id of its pool names, ``sas.group.level``."""
        _, group_text, level_text = pool_id.split(".")
        return cls(int(group_text), int(level_text))


class ProgressivePools:
    """All progressive amounts of a machine's games, to be found by the wagers that play for them."""

    def __init__(self, pools: Iterable[ProgressivePool] = ()) -> None:
        """Store the pools. Raises :class:`LevelConfigurationError` if two levels share one amount."""
        all_pools = tuple(pools)
        self.pool_by_id: Mapping[str, ProgressivePool] = {pool.id: pool for pool in all_pools}
        if len(self.pool_by_id) < len(all_pools):
            duplicate = next(pool.id for pool in all_pools if self.pool_by_id[pool.id] is not pool)
            raise LevelConfigurationError(
                f"progressive level {duplicate}: two levels of this machine name it"
            )
        self._pool_by_game_level_and_stake = {
            (pool.game_id, pool.level_name, pool.definition.stake_and_hit_rate.stake_cents): pool
            for pool in all_pools
        }

    def list_played_pools(
        self, game: Game, wager: Wager, denomination_cents: int
    ) -> tuple[ProgressivePool, ...]:
        """Return the pools of the progressive levels that a wager feeds and can win.

        Raises :class:`LevelConfigurationError` if one of them is not configured.
        """
        return tuple(
            self._find_pool(game, participation, denomination_cents)
            for participation in game.list_levels(wager)
        )

    def find_side_bet_pools(self, game: Game, denomination_cents: int) -> dict[str, ProgressivePool]:
        """Return the configured progressive levels of a game's side bets at a denomination, by the side bet's spot."""
        pools = {
            spot: self._pool_by_game_level_and_stake.get(
                (game.id, participation.level, participation.stake_credits * denomination_cents)
            )
            for participation in game.list_every_level()
            for spot in participation.spots
        }
        return {spot: pool for spot, pool in pools.items() if pool is not None}

    def _find_pool(
        self, game: Game, participation: LevelParticipation, denomination_cents: int
    ) -> ProgressivePool:
        """Return the pool of the progressive level of ``participation`` at its stake and denomination.

        Raises LevelConfigurationError if it is not configured, or if another bet of this stake hits it at another rate.
        """
        stake_cents = participation.stake_credits * denomination_cents
        pool = self._pool_by_game_level_and_stake.get((game.id, participation.level, stake_cents))
        if pool is None:
            raise LevelConfigurationError(
                f"{game.id}: this machine has no level {participation.level!r} for a stake of {stake_cents}"
            )
        if pool.definition.stake_and_hit_rate.hit_rate != participation.hit_rate:
            raise LevelConfigurationError(
                f"{game.id}: two bets of {stake_cents} hit level {participation.level!r} at different rates, which "
                "must be equal"
            )
        return pool


def combine_pools(game_pools: Iterable[ProgressivePools]) -> ProgressivePools:
    """Combine the pools of several games into one collection.

    Raises :class:`LevelConfigurationError` if two of the pools have the same amount.
    """
    return ProgressivePools(pool for pools in game_pools for pool in pools.pool_by_id.values())


def create_pools(
    game: Game, denominations_cents: Iterable[int], level_tables: Iterable[ProgressiveLevelTable]
) -> ProgressivePools:
    """Create the pools of one game's progressive levels at all denominations at which the game is offered.

    ``level_tables`` are the levels in the cabinet file; a side bet's level may be missing there. Raises
    :class:`LevelConfigurationError` if any other level of the game is missing, or if one cannot be managed as stated.
    """
    level_table_by_level_name = {
        level_table.level_name: level_table for level_table in level_tables if level_table.game_id == game.id
    }
    pool_by_level_and_stake: dict[tuple[str, int], ProgressivePool] = {}
    for participation in game.list_every_level():
        level_table = level_table_by_level_name.get(participation.level)
        if level_table is None and participation.spots:
            continue  # a side bet that the venue does not offer
        if level_table is None:
            unknown_levels = ", ".join(
                sorted(
                    level_table_by_level_name.keys()
                    - {participation.level for participation in game.list_every_level()}
                )
            )
            unknown_text = f", but {unknown_levels}, which the game does not have" if unknown_levels else ""
            raise LevelConfigurationError(
                f"{game.id}: it can win the progressive level {participation.level!r}, which the cabinet file "
                f"does not configure{unknown_text}"
            )
        if level_table.scope is not LevelScope.STAND_ALONE and not participation.has_single_stake:
            raise LevelConfigurationError(
                f"{game.id}: wagers of several prices play for level {participation.level!r}; a shared level "
                "takes one stake only"
            )
        if _find_keeper(level_table) is LevelKeeper.BROADCAST and participation.partial_hit_rates:
            raise LevelConfigurationError(
                f"{game.id}: level {participation.level!r} is also won in part, which a broadcast cannot express"
            )
        for denomination_cents in denominations_cents:
            pool = (
                _create_pool(game, participation, level_table, denomination_cents)
                if _is_stake_possible(game, participation, denomination_cents)
                else None
            )
            if pool is not None:
                pool_by_level_and_stake[
                    participation.level, pool.definition.stake_and_hit_rate.stake_cents
                ] = pool
    return ProgressivePools(pool_by_level_and_stake.values())


def _is_stake_possible(game: Game, participation: LevelParticipation, denomination_cents: int) -> bool:
    """Return whether the stake of ``participation`` may be bet at a denomination.

    Regulations prescribe the amount of some bets; another amount is then not possible.
    """
    spots = [spot for spot in game.rules.list_spots() if spot.id in participation.spots]
    stake_cents = participation.stake_credits * denomination_cents
    return all(stake_cents in spot.list_stakes_cents(denomination_cents) for spot in spots)


def meets_prescribed_amounts(game: Game, wager: Wager, denomination_cents: int) -> bool:
    """Return whether each bet of the wager has the amount that a regulation prescribes for its spot, if any."""
    prescribed_cents_by_spot = {spot.id: spot.worth_cents for spot in game.rules.list_spots()}
    return all(
        prescribed_cents_by_spot.get(bet.spot) in {None, bet.credits * denomination_cents}
        for bet in wager.bets
    )


def list_closed_spots(pools: ProgressivePools, game: Game, denomination_cents: int) -> tuple[str, ...]:
    """Return the ids of a game's betting spots that accept no bet at a denomination.

    A spot is closed if its progressive level is not configured. It is also closed if a regulation prescribes the
    amount of its bet, and no number of credits of this denomination is that amount.
    """
    pool_by_side_bet_spot = pools.find_side_bet_pools(game, denomination_cents)
    unavailable_spots = {
        spot for participation in game.list_every_level() for spot in participation.spots
    } - pool_by_side_bet_spot.keys()
    return tuple(
        spot.id
        for spot in game.rules.list_spots()
        if spot.id in unavailable_spots or not spot.list_stakes_cents(denomination_cents)
    )


def list_available_bets(pools: ProgressivePools, game: Game, denomination_cents: int) -> tuple[int, ...]:
    """Return the total bets of a game, in credits, that are possible at a denomination.

    Their progressive levels are configured, and their amounts are as regulations prescribe.
    """
    return tuple(
        bet_credits
        for bet_credits in game.bet_options
        if _are_levels_configured(pools, game, bet_credits, denomination_cents)
    )


def _are_levels_configured(
    pools: ProgressivePools, game: Game, bet_credits: int, denomination_cents: int
) -> bool:
    """Return whether a bet of ``bet_credits`` is possible: its levels are configured, its amounts as prescribed."""
    try:
        wager = game.build_wager(bet_credits)
        pools.list_played_pools(game, wager, denomination_cents)
    except (LevelConfigurationError, PaytableError):
        return False
    return meets_prescribed_amounts(game, wager, denomination_cents)


def _find_keeper(level_table: ProgressiveLevelTable) -> LevelKeeper:
    """Return who manages a progressive level: this machine, a SAS host, or a controller."""
    if level_table.scope is LevelScope.STAND_ALONE:
        return LevelKeeper.MACHINE
    return LevelKeeper.BROADCAST if level_table.carrier == "sas" else LevelKeeper.CONTROLLER


def _create_pool(
    game: Game, participation: LevelParticipation, level_table: ProgressiveLevelTable, denomination_cents: int
) -> ProgressivePool | None:
    """Create the pool of a game's level at one stake; None if the level is shared, but not at this stake."""
    stake_cents = participation.stake_credits * denomination_cents
    keeper = _find_keeper(level_table)
    shared_level_id = level_table.level_id_by_stake.get(str(stake_cents))
    if keeper is not LevelKeeper.MACHINE and shared_level_id is None:
        return None
    pool_id = {
        LevelKeeper.MACHINE: f"{game.id}.{participation.level}.{stake_cents}",
        LevelKeeper.CONTROLLER: f"{shared_level_id}",
        LevelKeeper.BROADCAST: f"sas.{shared_level_id}",
    }[keeper]
    if keeper is LevelKeeper.BROADCAST and participation.ceiling_credits is not None:
        raise LevelConfigurationError(
            f"{game.id}: level {participation.level!r} is a mystery level, and a broadcast does not state which "
            "machine hit it"
        )
    base_cents = participation.reset_credits * denomination_cents
    ceiling_cents = (
        None if level_table.ceiling_in_bases is None else level_table.ceiling_in_bases * base_cents
    )
    if participation.ceiling_credits is not None:
        ceiling_cents = participation.ceiling_credits * denomination_cents
    return ProgressivePool(
        game_id=game.id,
        level_name=participation.level,
        keeper=keeper,
        definition=LevelDefinition(
            id=pool_id,
            names=participation.names,
            scope=level_table.scope,
            terms=LevelTerms(
                base_cents=base_cents,
                increment=participation.increment,
                hidden_increment=level_table.hidden_share,
                ceiling_cents=ceiling_cents,
                is_mystery=participation.ceiling_credits is not None,
            ),
            stake_and_hit_rate=LevelStakeAndHitRate(
                stake_cents=stake_cents,
                hit_rate=participation.hit_rate,
                hit_rate_by_share=participation.partial_hit_rates,
            ),
        ),
    )

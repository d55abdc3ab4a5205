"""The progressive levels of the current bet, the amounts that they show, and their metrics."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from egm.kernel.machine import PositionMachine
from egm.kernel.messages import ProgressiveView
from egm.progressive.bet import find_current_bet
from egm.progressive.display import DisplayedAmount, LevelAmountSources, LevelStatus
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.progressive.pools import LevelKeeper, ProgressivePool, ProgressivePools


def read_own_level(machine: PositionMachine, pool_id: str) -> Level | None:
    """Return the state of a level that this machine manages, or managed earlier; None if it was never opened."""
    stored_level = machine.journal.state(f"{ProgressiveKey.OWN_LEVEL}{pool_id}")
    return None if stored_level is None else Level.from_json(stored_level)


def read_displayed_amount(machine: PositionMachine, pool: ProgressivePool) -> DisplayedAmount:
    """Return the amount that a progressive level shows now; its status is down if its source is not connected."""
    if pool.is_own:
        level = read_own_level(machine, pool.id)
        return (
            DisplayedAmount(0, LevelStatus.DOWN)
            if level is None
            else DisplayedAmount(level.shown_cents, LevelStatus.UP)
        )
    displays = machine.component(LevelAmountSources)
    display = displays.broadcasts if pool.keeper is LevelKeeper.BROADCAST else displays.link
    return DisplayedAmount(0, LevelStatus.DOWN) if display is None else display.find_displayed_amount(pool.id)


def list_levels_of_bet_in_force(machine: PositionMachine) -> tuple[ProgressivePool, ...]:
    """Return the progressive levels that the bet in force plays for; empty without a bet."""
    bet = find_current_bet(machine)
    return () if bet is None else bet.progressive_pools


def build_level_views(machine: PositionMachine) -> tuple[ProgressiveView, ...]:
    """Return the progressive levels of the selected bet and of all side bets of its table, for the screen.

    A side bet's level must be visible at the table even if no bet plays for it (Québec by-law, ss.21.2, 67.21).
    """
    pools = {pool.id: pool for pool in list_levels_of_bet_in_force(machine)}
    game = machine.games.get(machine.selection.game_id)
    if game is not None:
        side_bet_pools = machine.component(ProgressivePools).find_side_bet_pools(
            game, machine.selection.denomination_cents
        )
        pools |= {pool.id: pool for pool in side_bet_pools.values()}
    return tuple(_build_view(machine, pool) for pool in pools.values())


def read_all_displayed_amounts(machine: PositionMachine) -> dict[str, DisplayedAmount]:
    """Return the displayed amount of every progressive level of this machine, by the level's id.

    Levels that the current bet does not play for are included.
    """
    return {
        pool_id: read_displayed_amount(machine, pool)
        for pool_id, pool in sorted(machine.component(ProgressivePools).pool_by_id.items())
    }


def iter_level_metrics(machine: PositionMachine) -> Iterator[Metric]:
    """Yield the metrics of every progressive level of the machine."""
    amount_metric = GaugeMetricFamily(
        "egm_progressive_level_cents", "What a progressive level shows.", labels=("level",)
    )
    up_metric = GaugeMetricFamily(
        "egm_progressive_level_up", "1 while the level can be won.", labels=("level",)
    )
    for pool_id, displayed_amount in read_all_displayed_amounts(machine).items():
        amount_metric.add_metric((pool_id,), displayed_amount.amount_cents)
        up_metric.add_metric((pool_id,), int(displayed_amount.status is LevelStatus.UP))
    yield from (amount_metric, up_metric)


def _build_view(machine: PositionMachine, pool: ProgressivePool) -> ProgressiveView:
    """Return a progressive level as the screen displays it."""
    amount = read_displayed_amount(machine, pool)
    return ProgressiveView(
        id=pool.id,
        level=pool.level_name,
        names=dict(pool.definition.names),
        amount_cents=amount.amount_cents,
        status=amount.status.value,
        scope=pool.definition.scope.value,
        mystery=pool.definition.terms.is_mystery,
    )

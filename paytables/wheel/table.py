"""A wheel of fortune at a table: its areas are betting spots, its segments are the results of a spin."""

from fractions import Fraction

from paytables.contract import Spot
from paytables.errors import DefinitionError
from paytables.layout import Odds, PresetBet, TableLimits, check_preset_bets
from paytables.onedraw.bets import SpotRules
from paytables.roulette.wheel_table import WheelTable  # the rules of any wheel, not of roulette alone
from paytables.wheel.schema import BettingArea, WheelDefinition


def build_wheel_table(definition: WheelDefinition, table_limits: TableLimits, file: str) -> WheelTable:
    """Build the rules of a wheel of fortune at a table.

    Raises :class:`DefinitionError`, which names the wrong key.
    """
    for symbol in definition.symbols:
        if symbol.respin_factor is not None:
            raise DefinitionError(
                file, f"symbol.{symbol.id}.again", "is not valid at a table, where every round has one spin"
            )
    if "stake_options" in definition.stake_rules.model_fields_set:
        raise DefinitionError(file, "layout.stakes", "is not valid at a table: give layout.limits instead")
    wheel, bet_min = definition.wheel, definition.stake_rules.limits.bet_min
    preset_bets = tuple(
        PresetBet(id=preset_bet.id, name=preset_bet.name, bets=dict.fromkeys(preset_bet.area_ids, bet_min))
        for preset_bet in definition.preset_bets
    )
    rules = WheelTable(
        header=definition.game,
        spot_rules=tuple(_build_spot_rules(area, definition) for area in definition.areas),
        table_limits=table_limits,
        preset_bets=preset_bets,
        felt_kind="wheel",
        segments=wheel.segments,
        revolutions_min=wheel.revolutions_min,
        screen_data={
            "colours": {s.id: s.colour for s in definition.symbols if s.colour},
            "names": {s.id: s.name.model_dump() for s in definition.symbols},
        },
    )
    check_preset_bets(rules.table_layout, file)
    return rules


def _build_spot_rules(area: BettingArea, definition: WheelDefinition) -> SpotRules:
    """Convert an area of the wheel's layout to a betting spot.

    An area's pays include the stake; a spot's odds do not.
    """
    odds_by_result = {
        symbol_id: Odds(f"{pay - 1}:1", Fraction(pay - 1)) for symbol_id, pay in area.pay_by_symbol.items()
    }
    limits = definition.stake_rules.limits
    spot = Spot(
        id=area.id,
        group=area.id,
        names=area.name.model_dump(),
        odds=" / ".join(dict.fromkeys(odds.text for odds in odds_by_result.values())),
        bet_min=limits.bet_min,
        bet_max=limits.bet_max,
        bet_step=limits.bet_step,
        covered_results=tuple(odds_by_result),
    )
    return SpotRules(spot, odds_by_result)

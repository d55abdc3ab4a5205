"""Building of a roulette from its definition: the cylinder, the layout and the preset bets, with checks."""

from paytables.contract import Spot
from paytables.errors import DefinitionError
from paytables.layout import check_credit_multiples, check_preset_bets
from paytables.onedraw.bets import SpotRules
from paytables.roulette.bet_areas import list_bet_areas
from paytables.roulette.schema import Cylinder, RouletteBetKind, RouletteDefinition
from paytables.roulette.wheel_table import WheelTable


def build_rules(definition: RouletteDefinition, file: str) -> WheelTable:
    """Build the rules of a roulette table from its definition. Raises :class:`DefinitionError` for a wrong key."""
    cylinder = definition.cylinder
    spot_rules: list[SpotRules] = []
    for n, bet in enumerate(definition.bets):
        _check_bet(bet, f"bet.{n}", file)
        if bet.id in {other.id for other in definition.bets[:n]}:
            raise DefinitionError(file, f"bet.{n}.id", f"{bet.id!r} is listed twice")
    offered_bet_by_index, unavailable_spots = definition.map_permitted_bets_by_index(), set[str]()
    for n, bet in enumerate(definition.bets):
        # A bet that is not offered is built too, because its spots' ids show which preset bets are not offered either.
        try:
            bet_rules = _build_spot_rules(offered_bet_by_index.get(n, bet), cylinder)
        except ValueError as error:
            raise DefinitionError(file, f"bet.{n}", str(error)) from None
        if n in offered_bet_by_index:
            spot_rules += bet_rules
        else:
            unavailable_spots |= {rules.spot.id for rules in bet_rules}
    ids = [rules.spot.id for rules in spot_rules]
    duplicate = next((name for name in ids if ids.count(name) > 1), None)
    if duplicate is not None:
        raise DefinitionError(file, "bet", f"two spots have the id {duplicate!r}")
    table = WheelTable(
        header=definition.game,
        segments=cylinder.pockets,
        spot_rules=tuple(spot_rules),
        table_limits=definition.table,
        preset_bets=tuple(
            preset_bet
            for preset_bet in definition.preset_bets
            if not unavailable_spots & set(preset_bet.bets)
        ),
        zero_results=frozenset(cylinder.zero_pockets),
        felt_kind=cylinder.felt_kind,
        revolutions_min=cylinder.revolutions_min,
        is_decided_by_wheel=cylinder.decided_by == "wheel",
        screen_data={"colours": cylinder.map_pocket_colours()},
    )
    if not table.preset_bets:
        raise DefinitionError(
            file, "form", "every form contains a bet that this table refuses with these options"
        )
    check_preset_bets(table.table_layout, file)
    return table


def _check_bet(bet: RouletteBetKind, definition_key: str, file: str) -> None:
    """Raise :class:`DefinitionError` if the limits or the terms of one kind of roulette bet are wrong."""
    odds = [bet.odds] if bet.odds_with_triple is None else [bet.odds, bet.odds_with_triple]
    check_credit_multiples(definition_key, bet, odds, file)
    if bet.on_zero != "lost" and bet.bet_step % 2:
        raise DefinitionError(
            file,
            f"{definition_key}.step",
            f"{bet.bet_step} is not even, but half of a stake is returned at zero",
        )
    if bet.on_zero != "lost" and bet.consecutive_spins > 1:
        raise DefinitionError(
            file, f"{definition_key}.on_zero", 'must be "lost" for a bet on several spins in a row'
        )
    if (
        bet.required_option is not None
        and bet.consecutive_spins != {"double": 2, "triple": 3}[bet.required_option]
    ):
        raise DefinitionError(
            file,
            f"{definition_key}.spins",
            f"{bet.consecutive_spins} spins in a row are not a valid {bet.required_option}",
        )


def _build_spot_rules(bet: RouletteBetKind, cylinder: Cylinder) -> list[SpotRules]:
    """Return the betting spots of one kind of roulette bet. Raises ValueError for numbers that are not pockets."""
    spot_rules = []
    for area in list_bet_areas(bet, cylinder):
        if bet.consecutive_spins > 1 and len(area.covered_pockets) > 1:
            raise ValueError(
                f"{area.id!r} covers several numbers; a bet on several spins must cover a single one"
            )
        if bet.on_zero != "lost" and set(area.covered_pockets) & set(cylinder.zero_pockets):
            raise ValueError(f"{area.id!r} covers a zero itself, so that no zero can return half of it")
        spot = Spot(
            id=area.id,
            group=bet.id,
            names=area.names,
            odds=bet.odds.text,
            bet_min=bet.bet_min,
            bet_max=bet.bet_max,
            bet_step=bet.bet_step,
            covered_results=area.covered_pockets,
        )
        spot_rules.append(
            SpotRules(spot, dict.fromkeys(area.covered_pockets, bet.odds), bet.consecutive_spins, bet.on_zero)
        )
    return spot_rules

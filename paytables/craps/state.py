"""The craps table state between throws: the point, the shooter, standing bets, and their on/off choices."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from paytables.contract import Bet, Settlement
from paytables.craps.schema import POINT_NUMBERS
from paytables.craps.spots import CrapsSpots, SpotRules
from paytables.definition import DEFINITION_CREDITS_MAX
from paytables.layout import bets_from_json, bets_to_json
from paytables.wording import format_count


@dataclass(frozen=True, slots=True)
class CrapsState:
    """The state of a craps table between two throws: point, shooter, standing bets, and their on/off choices."""

    point: int | None = None
    """The point that the shooter must throw again, or None on a come-out."""
    shooter: int = 0
    """The seat that throws; on a come-out, the seat that is offered the dice first."""
    bets: tuple[Bet, ...] = ()
    """The bets that stand on the table."""
    switched_bets: frozenset[tuple[int, str]] = frozenset()
    """The bets, as (seat, spot), that the player turned on or off against the default."""

    def find_seat_bets(self, seat: int) -> dict[str, int]:
        """Return the standing craps bets of one seat, credits by spot."""
        return {bet.spot: bet.credits for bet in self.bets if bet.seat == seat}

    def with_bets(
        self, bets: Iterable[Bet], switched_bets: Iterable[tuple[int, str]], seat_count: int = 1
    ) -> Self:
        """Return this table state with ``bets`` as its standing bets; on/off choices for other bets are dropped.

        At a table for one player, the point is cleared with the last bet: nobody is left to throw for it.
        """
        ordered = tuple(sorted(bets, key=lambda bet: (bet.seat, bet.spot)))
        still_switched = frozenset((bet.seat, bet.spot) for bet in ordered) & frozenset(switched_bets)
        return replace(
            self,
            point=self.point if ordered or seat_count > 1 else None,
            bets=ordered,
            switched_bets=still_switched,
        )

    def to_json(self) -> object:
        """Return the table state as an outcome stores it; None for a newly opened table.

        :func:`state_from_json` is the inverse.
        """
        if not self.bets:
            parts = {"point": self.point, "shooter": self.shooter or None}
            return {key: value for key, value in parts.items() if value is not None} or None
        return {
            "point": self.point,
            "shooter": self.shooter,
            "bets": bets_to_json(self.bets),
            "told": [list(switched_bet) for switched_bet in sorted(self.switched_bets)],
        }


#: A newly opened table: a come-out, and no bets.
OPENING_STATE: Final = CrapsState()


def state_from_json(state_data: object, craps_spots: CrapsSpots) -> CrapsState:
    """Return the craps table state that is stored in ``state_data``.

    Raises ValueError, with the reason, for a state that cannot follow from any throw.
    """
    if state_data is None:
        return OPENING_STATE
    seat_count = craps_spots.definition.table.seat_count
    if (
        isinstance(state_data, Mapping)
        and seat_count > 1
        and state_data
        and set(state_data) <= {"point", "shooter"}
    ):
        state_data = {"point": None, "shooter": 0, "bets": [], "told": [], **state_data}
    if not isinstance(state_data, Mapping) or set(state_data) != {"point", "shooter", "bets", "told"}:
        raise ValueError(f"a craps table must have point, shooter, bets and told, not {state_data!r}")
    point, shooter = state_data["point"], state_data["shooter"]
    if point is not None and (not isinstance(point, int) or point not in POINT_NUMBERS):
        raise ValueError(f"{point!r} is not a point of craps")
    if isinstance(shooter, bool) or not isinstance(shooter, int) or shooter not in range(seat_count):
        raise ValueError(f"the shooter's seat {shooter!r} does not exist")
    bets = bets_from_json(state_data["bets"], craps_spots.rules_by_spot, seat_count)
    try:
        switched_bets = frozenset((int(seat), str(spot)) for seat, spot in state_data["told"])
    except (TypeError, ValueError):
        raise ValueError(
            f"'told': {state_data['told']!r} is not a list of bets, each as seat and spot"
        ) from None
    state = CrapsState(point, shooter).with_bets(bets, switched_bets, seat_count)
    if (
        state.point != point
        or state.switched_bets != switched_bets
        or len({(b.seat, b.spot) for b in bets}) != len(bets)
    ):
        raise ValueError(f"the table cannot be in this state after a throw: {state_data!r}")
    for bet in bets:
        _check_standing_bet(bet, craps_spots, state)
    return state


def _check_standing_bet(bet: Bet, craps_spots: CrapsSpots, state: CrapsState) -> None:
    """Raise ValueError for a craps bet that cannot stay on the table between throws."""
    spot_rules, spot = craps_spots.rules_by_spot[bet.spot], craps_spots.spots_by_point[state.point][bet.spot]
    is_switched = (bet.seat, bet.spot) in state.switched_bets
    # A pass bet and an odds bet on it stand between throws only with a point.
    lacks_point = (
        state.point is None
        and not spot_rules.number_or_dice
        and (spot_rules.flat_bet_kind or spot_rules.bet.kind in {"pass", "dontpass"})
    )
    # A come bet leaves the come box at the next throw: it is moved to a number or decided.
    is_in_come_box = (
        spot_rules.bet.kind in {"come", "dontcome"}
        and not spot_rules.number_or_dice
        and not spot_rules.bet.can_wait
    )
    if (
        not spot_rules.can_outlast_throw
        or lacks_point
        or is_in_come_box
        or (is_switched and not spot_rules.can_switch_on_off)
    ):
        raise ValueError(
            f"the bet on {bet.spot!r} cannot stand after a throw with point {state.point}: {bet!r}"
        )
    if bet.credits % spot.bet_step:
        raise ValueError(
            f"{format_count(bet.credits, 'credit')} on {bet.spot!r}: not a multiple of {spot.bet_step}"
        )
    seat_bets = state.find_seat_bets(bet.seat)
    if spot_rules.required_spot is not None and spot_rules.required_spot not in seat_bets:
        raise ValueError(
            f"there is a bet on {bet.spot!r}, but none on {spot_rules.required_spot!r}, which it needs"
        )
    if (
        not spot.bet_min
        <= bet.credits
        <= min(spot.bet_max, find_odds_bet_max_credits(spot_rules, seat_bets, state.point))
    ):
        raise ValueError(
            f"{format_count(bet.credits, 'credit')} on {bet.spot!r}: outside the limits of the spot"
        )


def find_odds_bet_max_credits(spot_rules: SpotRules, seat_bets: Mapping[str, int], point: int | None) -> int:
    """Return the largest odds bet, in credits, that a seat may make behind a flat bet.

    ``seat_bets`` are the seat's bets, credits by spot. If the definition sets no multiple, only
    :data:`~paytables.definition.DEFINITION_CREDITS_MAX` applies.
    """
    multiple_max = spot_rules.find_odds_multiple_max(point)
    return (
        DEFINITION_CREDITS_MAX
        if multiple_max is None
        else multiple_max * seat_bets.get(str(spot_rules.required_spot), 0)
    )


def apply_throw(
    rules_by_spot: Mapping[str, SpotRules], state: CrapsState, dice: tuple[int, int], seat_count: int = 1
) -> tuple[tuple[Settlement, ...], CrapsState]:
    """Return the settlements of the bets that a throw of the dice decides, and the table after it.

    The settlements are in the order of the bets. A seven-out passes the dice to the next seat if any
    other seat has bets.
    """
    settlements, bets_after = _decide_bets(rules_by_spot, state, dice)
    point, shooter, total = state.point, state.shooter, sum(dice)
    if point is None:
        point = total if total in POINT_NUMBERS else None
    elif total in {7, point}:
        point = None
        has_other_bets = any(bet.seat != shooter for bet in state.bets)
        shooter = (shooter + 1) % seat_count if total == 7 and has_other_bets else shooter
    switched_bets = [
        switched_bet
        for switched_bet in state.switched_bets
        if switched_bet in {(bet.seat, bet.spot) for bet in bets_after}
    ]
    return tuple(settlements), replace(state, point=point, shooter=shooter).with_bets(
        bets_after, switched_bets, seat_count
    )


def _decide_bets(
    rules_by_spot: Mapping[str, SpotRules], state: CrapsState, dice: tuple[int, int]
) -> tuple[list[Settlement], list[Bet]]:
    """Return the settlements of the bets that a throw decides, and the bets that stay on the table."""
    settlements: list[Settlement] = []
    bets_after: list[Bet] = []
    for bet in state.bets:
        spot_rules = rules_by_spot[bet.spot]
        result = spot_rules.decide_bet(
            dice, state.point, is_switched=(bet.seat, bet.spot) in state.switched_bets
        )
        if isinstance(result, str):
            bets_after.append(bet if result == bet.spot else replace(bet, spot=result))
        else:
            settlements.append(spot_rules.settle_decided(bet, result, state.point))
    return settlements, bets_after

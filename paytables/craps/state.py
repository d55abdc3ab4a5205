"""The table state between throws: the point, the shooter, the standing bets, and their on/off choices."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from paytables.contract import Bet, Settlement
from paytables.craps.places import Felt, Place
from paytables.craps.schema import NUMBERS
from paytables.definition import CREDITS_MAX
from paytables.layout import bets_from_json, bets_to_json
from paytables.wording import counted


@dataclass(frozen=True, slots=True)
class State:
    """The table between two throws. ``told`` are the bets, by seat and spot, turned on or off against the default.

    ``shooter`` is the seat that throws; on a come-out, the first seat to which the dice are offered.
    """

    point: int | None = None
    shooter: int = 0
    bets: tuple[Bet, ...] = ()
    told: frozenset[tuple[int, str]] = frozenset()

    def at(self, seat: int) -> dict[str, int]:
        """Return the standing bets of one seat, credits by spot."""
        return {bet.spot: bet.credits for bet in self.bets if bet.seat == seat}

    def with_bets(self, bets: Iterable[Bet], told: Iterable[tuple[int, str]], seats: int = 1) -> Self:
        """Return the table with these bets instead; the on/off choice of a bet ends with it.

        At a table for one player, the point is cleared with the last bet: nobody is left to throw for it.
        """
        kept = tuple(sorted(bets, key=lambda bet: (bet.seat, bet.spot)))
        there = frozenset((bet.seat, bet.spot) for bet in kept) & frozenset(told)
        return replace(self, point=self.point if kept or seats > 1 else None, bets=kept, told=there)

    def to_json(self) -> object:
        """Return the table as an outcome stores it, or None if newly opened. Inverse: :func:`state_from_json`."""
        if not self.bets:
            parts = {"point": self.point, "shooter": self.shooter or None}
            return {key: value for key, value in parts.items() if value is not None} or None
        return {
            "point": self.point,
            "shooter": self.shooter,
            "bets": bets_to_json(self.bets),
            "told": [list(each) for each in sorted(self.told)],
        }


#: A newly opened table: a come-out, and no bets.
OPENING: Final = State()


def state_from_json(data: object, felt: Felt) -> State:
    """Read a table back. Raises ValueError, with the reason, for a table that no throw leaves."""
    if data is None:
        return OPENING
    seats = felt.definition.table.seats
    if isinstance(data, Mapping) and seats > 1 and data and set(data) <= {"point", "shooter"}:
        data = {"point": None, "shooter": 0, "bets": [], "told": [], **data}
    if not isinstance(data, Mapping) or set(data) != {"point", "shooter", "bets", "told"}:
        raise ValueError(f"a craps table has a point, a shooter, bets and what was told of them: {data!r}")
    point, shooter = data["point"], data["shooter"]
    if point is not None and (not isinstance(point, int) or point not in NUMBERS):
        raise ValueError(f"{point!r} is no point")
    if isinstance(shooter, bool) or not isinstance(shooter, int) or shooter not in range(seats):
        raise ValueError(f"there is no seat {shooter!r} to throw")
    bets = bets_from_json(data["bets"], felt.places, seats)
    try:
        told = frozenset((int(seat), str(spot)) for seat, spot in data["told"])
    except (TypeError, ValueError):
        raise ValueError(f"told: {data['told']!r} are no bets, by seat and spot") from None
    state = State(point, shooter).with_bets(bets, told, seats)
    if state.point != point or state.told != told or len({(b.seat, b.spot) for b in bets}) != len(bets):
        raise ValueError(f"no throw leaves this table: {data!r}")
    for bet in bets:
        _stands(bet, felt, state)
    return state


def _stands(bet: Bet, felt: Felt, state: State) -> None:
    """Refuse a bet that cannot stand between throws."""
    place, spot = felt.places[bet.spot], felt.spots[state.point][bet.spot]
    told = (bet.seat, bet.spot) in state.told
    ended = state.point is None and not place.key and (place.line or place.bet.kind in {"pass", "dontpass"})
    boxed = place.bet.kind in {"come", "dontcome"} and not place.key and not place.bet.waits
    if not place.stays or ended or boxed or (told and not place.asks):
        raise ValueError(f"no throw leaves a bet on {bet.spot!r} with point {state.point} as {bet!r}")
    if bet.credits % spot.step:
        raise ValueError(f"{counted(bet.credits, 'credit')} on {bet.spot!r}: no multiple of {spot.step}")
    laid = state.at(bet.seat)
    if place.needs is not None and place.needs not in laid:
        raise ValueError(f"a bet on {bet.spot!r}, and none on {place.needs!r}")
    if not spot.least <= bet.credits <= min(spot.most, most_odds(place, laid, state.point)):
        raise ValueError(
            f"{counted(bet.credits, 'credit')} on {bet.spot!r}: more or less than may stand there"
        )


def most_odds(place: Place, laid: Mapping[str, int], point: int | None) -> int:
    """Return the maximum odds on the bet they are placed on, in credits; unlimited if no multiple is set."""
    times = place.most_times(point)
    return CREDITS_MAX if times is None else times * laid.get(str(place.needs), 0)


def thrown(
    places: Mapping[str, Place], state: State, dice: tuple[int, int], seats: int = 1
) -> tuple[tuple[Settlement, ...], State]:
    """Return what a throw settles of the bets on the table, in their order, and the table it leaves."""
    settled: list[Settlement] = []
    after = list(_after(places, state, dice, settled))
    point, shooter, total = state.point, state.shooter, sum(dice)
    if point is None:
        point = total if total in NUMBERS else None
    elif total in {7, point}:
        point = None
        others = any(bet.seat != shooter for bet in state.bets)
        shooter = (shooter + 1) % seats if total == 7 and others else shooter
    told = [each for each in state.told if each in {(bet.seat, bet.spot) for bet in after}]
    return tuple(settled), replace(state, point=point, shooter=shooter).with_bets(after, told, seats)


def _after(
    places: Mapping[str, Place], state: State, dice: tuple[int, int], settled: list[Settlement]
) -> Iterator[Bet]:
    for bet in state.bets:
        place = places[bet.spot]
        fate = place.fate(dice, state.point, told=(bet.seat, bet.spot) in state.told)
        if isinstance(fate, str):
            yield bet if fate == bet.spot else replace(bet, spot=fate)
        else:
            settled.append(place.decided(bet, fate, state.point))

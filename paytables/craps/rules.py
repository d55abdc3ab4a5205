"""The rules of one craps table: a round is one throw of two dice, which decides every bet that is on."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.contract import (
    Bet,
    Cue,
    DefinitionRemark,
    DrawSource,
    Outcome,
    RoundEvents,
    Settlement,
    Wager,
    throw_dice,
)
from paytables.craps import figures
from paytables.craps.schema import CrapsDefinition
from paytables.craps.spots import CrapsSpots, SpotRules
from paytables.craps.state import OPENING_STATE, CrapsState, apply_throw, state_from_json
from paytables.errors import WagerError
from paytables.layout import TableLayout, TableRules
from paytables.wording import format_count


@dataclass(frozen=True)
class CrapsRules(TableRules):
    """The rules of a playable craps table, in the state after the last throw."""

    craps_spots: CrapsSpots
    """The betting spots of the table."""
    state: CrapsState = OPENING_STATE
    """The point, the shooter and the standing bets."""
    enforces_win_limit: ClassVar[bool] = True

    @property
    def definition(self) -> CrapsDefinition:
        """Return the definition of these craps rules."""
        return self.craps_spots.definition

    @property
    def rules_by_spot(self) -> Mapping[str, SpotRules]:
        """Return the rules of every betting spot, by id."""
        return self.craps_spots.rules_by_spot

    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout of betting spots and limits in the table's current state."""
        return TableLayout(
            spots=tuple(self.craps_spots.spots_by_point[self.state.point].values()),
            table=self.definition.table,
            preset_bets=self.definition.preset_bets,
            standing_bets=self.state.bets,
            removable_spots=self.craps_spots.removable_spots,
        )

    def with_table_state(self, table_state: object) -> Self:
        """Return the craps rules for a stored table state.

        Raises ValueError for a state that cannot follow from any throw.
        """
        return replace(self, state=state_from_json(table_state, self.craps_spots))

    @property
    def shared_state_fields(self) -> frozenset[str]:
        """Return the field of the table state that is the same for all seats: the point."""
        return frozenset({"point"})

    @property
    def standing_bet_state_fields(self) -> frozenset[str]:
        """Return the shared field of the table state that standing bets depend on: the point."""
        return frozenset({"point"})

    def list_standing_bets(self) -> tuple[Bet, ...]:
        """Return the bets that stay on the craps table from one throw to the next."""
        return self.state.bets

    def build_current_view(self) -> dict[str, object]:
        """Return the craps table's point, the bets required on a come-out, and the on/off states, for the screen.

        ``first``: a new bet requires a bet on one of these spots. ``plays``: whether each bet that a player
        may turn on or off is on.
        """
        point = self.state.point
        switched_spots = {spot for seat, spot in self.state.switched_bets if not seat}
        line_spots = [
            spot_rules.id
            for spot_rules in self.rules_by_spot.values()
            if spot_rules.bet.kind in {"pass", "dontpass"}
        ]
        switchable_spot_rules = [
            spot_rules for spot_rules in self.rules_by_spot.values() if spot_rules.can_switch_on_off
        ]
        return {
            "point": point,
            "first": tuple(line_spots) if self.definition.requires_shooter_bet and point is None else (),
            "plays": {
                spot_rules.id: spot_rules.bet.is_off_on_come_out == (spot_rules.id in switched_spots)
                for spot_rules in switchable_spot_rules
            },
        }

    def take_down_standing_bets(self) -> tuple[tuple[Settlement, ...], object]:
        """Return the settlements of the bets that a leaving player takes down, and the table without them.

        Pass and come bets cannot be taken down; they stay and are played to their end. If the shooter must
        leave the minimum don't pass bet, that bet stays too, without its odds.
        """
        remaining_bets: list[Bet] = []
        settlements: list[Settlement] = []
        for bet in self.state.bets:
            spot_rules = self.rules_by_spot[bet.spot]
            stake_min = (
                self._find_minimum_left_on_spot(spot_rules, bet.seat)
                if spot_rules.is_removable
                else bet.credits
            )
            if stake_min < bet.credits:
                taken_down = replace(bet, credits=bet.credits - stake_min)
                settlements.append(spot_rules.settle_taken_down(taken_down, self.state.point))
            if stake_min:
                remaining_bets.append(replace(bet, credits=min(stake_min, bet.credits)))
        state_after = self.state.with_bets(
            remaining_bets, self.state.switched_bets, self.definition.table.seat_count
        )
        return tuple(settlements), state_after.to_json()

    def _find_minimum_left_on_spot(self, spot_rules: SpotRules, seat: int) -> int:
        """Return the fewest credits that a seat may leave on a spot when it takes bets down.

        It is more than zero only for the shooter's don't pass bet while a point is set, and only if the definition
        requires that the shooter leaves it (``shooter_keeps``).
        """
        must_leave = (
            spot_rules.bet.requires_shooter_minimum
            and seat == self.state.shooter
            and self.state.point is not None
        )
        return self.table_layout.spot_by_id[spot_rules.id].bet_min if must_leave else 0

    def build_wager(self, credits_: int, **options: object) -> Wager:
        """Return the wager of ``credits_`` with the player's on/off choices for craps bets.

        ``working`` has these choices by spot (with ``seats``: by seat, then spot). A bet that is off on a
        come-out may be turned on (true), and a don't come bet may be made to wait (false). A choice applies
        while the bet stands. For other options see :meth:`paytables.layout.TableLayout.build_wager`. Raises
        :class:`WagerError`.
        """
        on_off_choices = options.pop("working", None)
        wager = (
            self._find_available_wager(credits_)
            if not options and credits_
            else self.table_layout.build_wager(credits_, **options)
        )
        if on_off_choices is not None:
            wager = replace(wager, options={**wager.options, "working": on_off_choices})
        table_state = self.place_bets(wager)
        if self.definition.table.win_max_credits is not None:
            self.table_layout.check_highest_win(
                figures.find_highest_throw_return(self.rules_by_spot, table_state)
            )
        return wager

    def _find_available_wager(self, credits_: int) -> Wager:
        """Return, as a wager, the first offered bet of ``credits_`` that the table accepts in its present state."""
        first_error: WagerError | None = None
        for preset_bet in self.definition.preset_bets:
            if sum(preset_bet.bets.values()) == credits_:
                try:
                    wager = self.table_layout.build_wager(credits_, form=preset_bet.id)
                    self.place_bets(wager)
                except WagerError as error:
                    first_error = first_error or error
                else:
                    return wager
        raise first_error or WagerError(
            f"no bet of {format_count(credits_, 'credit')}; the game offers {list(self.bet_options)}"
        )

    def place_bets(self, wager: Wager) -> CrapsState:
        """Return the table state with the wager's bets placed, before the throw.

        Raises :class:`WagerError` if a bet cannot be placed in this state of the table.
        """
        state_before = self.state
        standing_credits = {(bet.seat, bet.spot): bet.credits for bet in state_before.bets}
        for bet in wager.bets:
            seat_and_spot, spot_rules = (bet.seat, bet.spot), self.rules_by_spot[bet.spot]
            standing_stake = standing_credits.pop(seat_and_spot, 0)
            if standing_stake and bet.credits > 0 and spot_rules.bet.kind in {"dontpass", "dontcome"}:
                raise WagerError(
                    f"bets.{bet.spot}: {format_count(standing_stake, 'credit')} stand there and may not be increased"
                )
            if standing_stake + bet.credits < (
                stake_min := self._find_minimum_left_on_spot(spot_rules, bet.seat)
            ):
                raise WagerError(
                    f"bets.{bet.spot}: the shooter must leave {format_count(stake_min, 'credit')} there"
                )
            if standing_stake + bet.credits:
                standing_credits[seat_and_spot] = standing_stake + bet.credits
        if not standing_credits:
            raise WagerError("bets: all bets would be taken down; to take them all, leave the table")
        bets = [Bet(spot, credits_, seat) for (seat, spot), credits_ in standing_credits.items()]
        table_state = state_before.with_bets(bets, self._list_switched_bets(wager, standing_credits))
        return self._with_next_shooter(table_state, wager)

    def _list_switched_bets(
        self, wager: Wager, standing_credits: Mapping[tuple[int, str], int]
    ) -> Iterable[tuple[int, str]]:
        """Return seat and spot of each bet that is turned on or off, by this wager or in an earlier round.

        Raises :class:`WagerError` for a choice that is not possible.
        """
        switched_bets = set(self.state.switched_bets)
        for seat, spot, is_on in _iter_on_off_choices(wager.options):
            spot_rules = self.rules_by_spot.get(spot)
            if spot_rules is None or not spot_rules.can_switch_on_off:
                raise WagerError(f"working: {spot!r} is not a bet that a player can turn on or off")
            if not isinstance(is_on, bool):
                raise WagerError(f"working.{spot}: must be true or false, not {is_on!r}")
            if (seat, spot) not in standing_credits:
                raise WagerError(f"working.{spot}: no bet stands there")
            (switched_bets.add if is_on == spot_rules.bet.is_off_on_come_out else switched_bets.discard)(
                (seat, spot)
            )
        return switched_bets

    def _with_next_shooter(self, table_state: CrapsState, wager: Wager) -> CrapsState:
        """Return the table with the dice passed, on a come-out, to the next seat with a bet on pass or don't pass.

        If nobody has such a bet, the table is returned unchanged, and the dice are thrown for the standing bets. New
        bets then raise :class:`WagerError` if the rules require a shooter with a pass or don't pass bet.
        """
        if table_state.point is not None:
            return table_state
        seat_count = self.definition.table.seat_count
        line_bet_seats = {
            bet.seat
            for bet in table_state.bets
            if self.rules_by_spot[bet.spot].bet.kind in {"pass", "dontpass"}
        }
        if not line_bet_seats:
            if self.definition.requires_shooter_bet and any(bet.credits > 0 for bet in wager.bets):
                raise WagerError("bets: the shooter of a come-out must have a bet on pass or don't pass")
            return table_state
        shooter = min(line_bet_seats, key=lambda seat: (seat - table_state.shooter) % seat_count)
        return replace(table_state, shooter=shooter)

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a round: throw the dice once, and settle every bet that the throw decides."""
        wager = self.build_wager(wager.credits, **wager.options)
        table_state = self.place_bets(wager)
        first_die, second_die = throw_dice(draw, 2)
        dice = (first_die, second_die)
        yield Cue("dice", {"dice": list(dice)})
        for bet in wager.bets:
            if bet.credits < 0:
                taken_down = replace(bet, credits=-bet.credits)
                yield self.rules_by_spot[bet.spot].settle_taken_down(taken_down, self.state.point)
        settlements, state_after = apply_throw(
            self.rules_by_spot, table_state, dice, self.definition.table.seat_count
        )
        yield from settlements
        display = {
            "kind": "table",
            "felt": "craps",
            "result": f"{dice[0]}-{dice[1]}",
            "dice": list(dice),
            "total": sum(dice),
            "come_out": table_state.point is None,
            "point": state_after.point,
            "shooter": state_after.shooter,
            "standing": [bet.to_json() for bet in state_after.bets],
        }
        return Outcome(display=display, table_state=state_after.to_json())

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the table: the layout, the point, and which bets may be off."""
        return {
            "kind": "table",
            "felt": "craps",
            "dice": 2,
            "point": self.state.point,
            **self.table_layout.to_json(),
            "spots": [spot.to_json() for spot in self.table_layout.spots],
            "off": [
                spot_rules.id
                for spot_rules in self.rules_by_spot.values()
                if spot_rules.bet.is_off_on_come_out
            ],
            "says": [
                spot_rules.id for spot_rules in self.rules_by_spot.values() if spot_rules.can_switch_on_off
            ],
        }

    def explain_pays(self) -> tuple[str, ...]:
        """Return sentences on what each craps bet pays in addition to its stake, and on which throws."""
        return tuple(self.definition.format_pay_table_rows()["en"])

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return remarks on a definition that is legal but may surprise: a pay that only returns the stake."""
        return tuple(
            DefinitionRemark(f"bet.{bet_index}.pays.{key}", "gives the stake back, and nothing more")
            for bet_index, bet in enumerate(self.definition.bets)
            for key, odds in bet.odds_by_result.items()
            if not odds.net
        )

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of each bet, played to its end; see :mod:`paytables.craps.figures`."""
        header = self.definition.game
        bets = figures.analyse_spots(self.rules_by_spot, depth)
        return Analysis(game_id=header.id, version=header.version, family=header.family, bets=bets)

    def find_highest_round_return(self, wager: Wager) -> int:
        """Return the most credits that this or a later throw may return to a seat, standing bets included."""
        return max(figures.find_highest_throw_return(self.rules_by_spot, self.place_bets(wager)).values())

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of a wager's new stakes, each bet played to its end."""
        wager = self.build_wager(wager.credits, **wager.options)
        return figures.analyse_wager(self.rules_by_spot, self.place_bets(wager), wager)


def _iter_on_off_choices(options: Mapping[str, object]) -> Iterator[tuple[int, str, object]]:
    """Yield the choices in a wager to turn craps bets on or off: the seat, the spot, and the value."""
    on_off_choices = options.get("working", {})
    choices_by_seat = on_off_choices if "seats" in options else {0: on_off_choices}
    if not isinstance(choices_by_seat, Mapping) or not all(
        isinstance(choices, Mapping) for choices in choices_by_seat.values()
    ):
        raise WagerError(
            "working: must map spots to true or false, or seats to such maps if several seats play"
        )
    for seat, choices in choices_by_seat.items():
        if not str(seat).isdecimal():
            raise WagerError(f"working: there is no seat {seat!r}")
        for spot, is_on in choices.items():
            yield int(seat), str(spot), is_on

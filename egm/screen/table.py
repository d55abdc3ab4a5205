"""Bets on a table as data: the spots that a game offers, the chips on them, and the bet request.

The machine registers the bet. The chips are the player's input, sent to the machine as soon as they form a valid bet.
Standing bets from earlier rounds are held by the machine only; chips do not include them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from egm.kernel.messages import FeltState, GameView, Intent, Snapshot, SpotState
from egm.screen.reel_data import GameDataError

#: The values that chips above the lowest chip may have, in credits.
_CHIP_VALUES_CREDITS: Final = tuple(base * 10**power for power in range(7) for base in (1, 5))
#: The largest number of different chip values at one table.
_CHIP_VALUES_MAX: Final = 5
#: Maximum number of undo steps.
_UNDO_STEPS_MAX: Final = 40
#: The number of neighbours on each side of a pocket, in the order in which the key selects them.
NEIGHBOUR_COUNTS: Final = (2, 3, 4, 1)

#: The actions that change the chips.
CHIP_CHANGING_ACTIONS: Final = frozenset(
    {"spot", "pocket", "announced_bet", "undo", "clear", "repeat", "double"}
)
#: All actions of a table, including those that change only the display or the tool.
TABLE_ACTIONS: Final = CHIP_CHANGING_ACTIONS | {
    "chip",
    "tool",
    "felt_part",
    "sheet",
    "neighbours",
    "suits",
    "board",
}

#: The reasons for which the total of all bets is refused. It exceeds the player's credit (``credit``), the table's
#: maximum (``table``), or the venue's maximum (``here``); or the credit does not cover later raises (``raise``).
TotalLimitReason: TypeAlias = Literal["credit", "table", "here", "raise"]
_TOTAL_LIMIT_REASONS: Final = frozenset(get_args(TotalLimitReason))

#: The credits on each spot, by the spot's id.
BetsBySpot = Mapping[str, int]
#: What a touch of a spot does: place a chip, remove the bet, show the spot's odds, or switch its bet on or off.
ChipTool = Literal["chip", "take", "ask", "plays"]


@dataclass(frozen=True, slots=True)
class BetSpot:
    """A betting spot, as the game publishes it (:class:`paytables.contract.Spot`)."""

    id: str
    group: str
    names: Mapping[str, str]
    odds: str
    bet_min: int
    """The lowest bet on the spot, in credits."""
    bet_max: int
    """The highest bet on the spot, in credits."""
    bet_step: int
    """The increment of bets, in credits: a bet on the spot is a multiple of it."""
    required_spot: str | None
    """The id of another spot on which a bet must be placed first, or None."""
    excluded_spots: tuple[str, ...]
    """The ids of the spots that cannot hold a bet together with this one."""
    covered_pockets: tuple[str, ...]
    """The results (such as pockets of the wheel) with which a bet on the spot wins."""
    required_bet_divisor: int | None = None
    """If set, the only permitted bet is the bet on ``required_spot``, divided by this number.

    If None, the player chooses the amount.
    """
    required_spot_multiple: int | None = None
    """If set, the bet is this multiple of the bet on ``required_spot``.

    The two bets are made together: a chip on either spot places both.
    """
    required_spot_multiple_max: int | None = None
    """The highest bet, as a multiple of the bet on ``required_spot``; None if there is no such limit."""
    raise_reserve: Fraction = Fraction(0)
    """How many credits the player may have to add during the round for each credit bet on the spot, at most.

    When the bet is placed, the player's credit and the limits must cover this amount too.
    """
    added_bet_multiples: tuple[str, ...] = ()
    """The permitted amounts of a bet that is made during a round, as multiples of the bet on ``required_spot``.

    Empty for a bet that is made before the round.
    """
    pay_texts: Mapping[str, str] = field(default_factory=dict)
    """Text about what the spot pays, by language, if its odds alone do not say it."""
    cycle_spot_ids: tuple[str, ...] = ()
    """The other spots of a cycle: a group in which each spot needs a bet on the next.

    A chip on one of them places the lowest bet on all. Empty if the spot is in no cycle.
    """


@dataclass(frozen=True, slots=True)
class AnnouncedBet:
    """An announced (call) bet at a table: one touch places a given number of chips on each of several spots."""

    names: Mapping[str, str]
    chips_by_spot: BetsBySpot
    """The number of chips on each spot."""


@dataclass(frozen=True, eq=False)
class TableGameData:
    """The data of a table game for its screen: the felt, the spots in the felt's order, and the bets on offer.

    It is parsed once. Values derived from it are cached in the object or under its identity.
    """

    felt_kind: str
    """The kind of felt, such as roulette or craps."""
    spots: Mapping[str, BetSpot]
    preset_bets: tuple[BetsBySpot, ...]
    """The complete bets that the game offers by name, each as the credits on its spots."""
    total_bet_max: int | None
    """The highest total of all bets, in credits; None if there is no maximum."""
    wheel_pockets: tuple[str, ...]
    """The pockets in wheel order; empty without a wheel."""
    pocket_colours: Mapping[str, str]
    """The colour of each pocket."""
    pocket_names: Mapping[str, Mapping[str, str]]
    """The names of the wheel's pockets or segments whose label is not a number, by label and language."""
    spot_ids_off_on_come_out: frozenset[str] = frozenset()
    """Craps: the spots whose bets are off on a come-out roll, unless the player switches them on."""
    switchable_spot_ids: frozenset[str] = frozenset()
    """Craps: the spots for which the player decides whether a bet is on or off for the next throw."""
    announced_bets: Mapping[str, AnnouncedBet] = field(default_factory=dict)
    """The announced (call) bets, each of which places chips on several spots with one touch; by id."""
    scoreboard_sides: tuple[str, ...] = ()
    """The two results that have columns on a scoreboard, such as player and banker; empty if there is no scoreboard."""
    has_suits: bool = False
    """Whether the game is played with cards that have suits; False for pai gow tiles and for games without cards."""

    @property
    def chip_values(self) -> tuple[int, ...]:
        """Return the values of the chips on offer in credits, ascending; none exceeds the highest bet on a spot.

        The lowest chip is the smallest increment of a bet. The value of every other chip is a multiple of it.
        """
        spots = self.spots.values()
        smallest_step = min((spot.bet_step for spot in spots), default=1)
        largest_bet = max((spot.bet_max for spot in spots), default=1)
        higher_values = [
            value
            for value in _CHIP_VALUES_CREDITS
            if smallest_step < value <= largest_bet and value % smallest_step == 0
        ]
        return (smallest_step, *higher_values[: _CHIP_VALUES_MAX - 1])

    @cached_property
    def lowest_round_credits(self) -> int:
        """Return the cost of the cheapest bet that starts a round, in credits.

        It is the lowest bet on a spot, with the lowest bets on all spots that must be bet together with it.
        """
        return min(
            sum(self.spots[spot_id].bet_min for spot_id in (spot.id, *spot.cycle_spot_ids))
            + sum(
                max(other.bet_min, other.required_spot_multiple * spot.bet_min)
                for other in self.spots.values()
                if other.required_spot == spot.id and other.required_spot_multiple is not None
            )
            for spot in self.spots.values()
            if spot.required_spot is None or spot.cycle_spot_ids
        )

    @cached_property
    def groups(self) -> Mapping[str, tuple[BetSpot, ...]]:
        """Return the bet spots of each group, by the group's id, in the felt's order."""
        spots_by_group: dict[str, list[BetSpot]] = {}
        for spot in self.spots.values():
            spots_by_group.setdefault(spot.group, []).append(spot)
        return {group: tuple(spots) for group, spots in spots_by_group.items()}

    @property
    def can_bets_stay_after_round(self) -> bool:
        """Return whether bets may stay on the table after a round, as at craps.

        At such a table, the chips of new bets are removed from the player's chips after each round.
        """
        return self.felt_kind == "craps"


def is_table_game(game: GameView | None) -> bool:
    """Return whether the game is played on a table (:file:`paytables/FELTS.md`)."""
    return game is not None and game.presentation.get("kind") == "table"


def read_table(game: GameView) -> TableGameData:
    """Parse what a table game has published for its screen: spots, limits and odds. Raises :class:`GameDataError`."""
    data = game.presentation
    try:
        spots = [
            BetSpot(
                id=str(spot_data["id"]),
                group=str(spot_data["group"]),
                names={str(code): str(text) for code, text in spot_data["names"].items()},
                odds=str(spot_data["odds"]),
                bet_min=int(spot_data["least"]),
                bet_max=int(spot_data["most"]),
                bet_step=int(spot_data.get("step", 1)),
                required_spot=None if spot_data.get("needs") is None else str(spot_data["needs"]),
                excluded_spots=tuple(map(str, spot_data.get("excludes", ()))),
                covered_pockets=tuple(map(str, spot_data.get("covers", ()))),
                required_bet_divisor=None if spot_data.get("share") is None else int(spot_data["share"]),
                required_spot_multiple_max=None
                if spot_data.get("most_times") is None
                else int(spot_data["most_times"]),
                raise_reserve=Fraction(spot_data.get("reserve", 0)),
                added_bet_multiples=tuple(map(str, spot_data.get("added", ()))),
                pay_texts={str(code): str(text) for code, text in spot_data.get("terms", {}).items()},
                required_spot_multiple=None if spot_data.get("times") is None else int(spot_data["times"]),
            )
            for spot_data in data.get("spots", ())
        ]
        total_bet_max = data.get("table", {}).get("most")
        return TableGameData(
            felt_kind=str(data["felt"]),
            spots=_add_spot_cycles({spot.id: spot for spot in spots}),
            preset_bets=tuple(_read_bets(form.get("bets", {})) for form in data.get("forms", ())),
            total_bet_max=None if total_bet_max is None else int(total_bet_max),
            wheel_pockets=tuple(map(str, data.get("wheel", ()))),
            pocket_colours={str(name): str(colour) for name, colour in data.get("colours", {}).items()},
            pocket_names=data.get("names", {}),
            spot_ids_off_on_come_out=frozenset(map(str, data.get("off", ()))),
            switchable_spot_ids=frozenset(map(str, data.get("says", ()))),
            announced_bets={
                str(bet_data["id"]): AnnouncedBet(bet_data["names"], _read_bets(bet_data["bets"]))
                for bet_data in data.get("calls", ())
            },
            scoreboard_sides=tuple(map(str, data.get("roads", ()))),
            has_suits=data["felt"] == "cards"
            and not any("-" in hand.get("back", "") for hand in data.get("hands", ())),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise GameDataError(f"game {game.id}: presentation: {error!r}") from error


def _add_spot_cycles(spots: Mapping[str, BetSpot]) -> dict[str, BetSpot]:
    """Return the bet spots by id, with ``cycle_spot_ids`` set.

    Spots form a cycle if each needs a bet on the next; every spot then lists the others.
    """

    def list_cycle(spot: BetSpot) -> tuple[str, ...]:
        """Return the other spots of the cycle to which a spot belongs; empty if it is in no cycle.

        In a cycle, each spot needs a bet on the next spot, and the last needs a bet on the first.
        """
        spot_chain = [spot.id]
        while (
            required_id := spots[spot_chain[-1]].required_spot
        ) is not None and required_id not in spot_chain:
            spot_chain.append(required_id)
        return tuple(spot_chain[1:]) if required_id == spot.id else ()

    return {name: replace(spot, cycle_spot_ids=list_cycle(spot)) for name, spot in spots.items()}


def _read_bets(data: Mapping[str, Any]) -> dict[str, int]:
    """Return the credits (or numbers of chips) on each spot, by the spot's id, from a game's published data."""
    return {str(spot_id): int(credits_) for spot_id, credits_ in data.items()}


def list_neighbour_spots(table: TableGameData, pocket: str, neighbour_count: int) -> tuple[str, ...]:
    """Return the straight-up spots of a pocket and of ``neighbour_count`` pockets on either side of it on the wheel.

    Empty if the wheel has no such pocket.
    """
    if pocket not in table.wheel_pockets:
        return ()
    pocket_index, count = table.wheel_pockets.index(pocket), len(table.wheel_pockets)
    spot_id_by_pocket = map_pockets_to_straight_up_spots(table)
    neighbour_pockets = (
        table.wheel_pockets[(pocket_index + step) % count]
        for step in range(-neighbour_count, neighbour_count + 1)
    )
    return tuple(
        spot_id_by_pocket[neighbour] for neighbour in neighbour_pockets if neighbour in spot_id_by_pocket
    )


def map_pockets_to_straight_up_spots(table: TableGameData) -> dict[str, str]:
    """Return the id of each pocket's straight-up spot (a bet on this pocket only), by pocket.

    They are in the first group whose spots cover one pocket each.
    """
    straight_spots = [spot for spot in table.spots.values() if len(spot.covered_pockets) == 1]
    return {
        spot.covered_pockets[0]: spot.id for spot in straight_spots if spot.group == straight_spots[0].group
    }


# ---------------------------------------------------------------------- chips
@dataclass(frozen=True, slots=True)
class ChipsOnTable:
    """The player's chips on a table: the new bets, their undo history, and the selected tool."""

    bets: BetsBySpot = field(default_factory=dict)
    """The new bet on each spot, in credits. A negative amount withdraws a standing bet of this amount."""
    is_on_by_spot: Mapping[str, bool] = field(default_factory=dict)
    """Craps: whether the bet on a spot is on for the next throw, for the spots that the player has switched."""
    undo_bets: tuple[BetsBySpot, ...] = ()
    """The bets before each change that can be undone, the latest change last."""
    chip_value: int = 0
    """The value of the selected chip, in credits; 0 means the lowest chip."""
    selected_tool: ChipTool = "chip"
    """The selected tool, which decides what a touch of a spot does."""
    last_round_bets: BetsBySpot = field(default_factory=dict)
    """The bets staked in the last round, which the player can repeat."""
    open_part: str = ""
    """The name of the part of the felt that the player has opened; empty for the first."""
    sheet_index: int = 0
    """On a telephone: the index of the sheet shown of the open part of the felt."""
    neighbour_count: int = NEIGHBOUR_COUNTS[0]
    """How many pockets on each side of the touched pocket a bet on the racetrack includes."""
    explained_spot_id: str = ""
    """The id of the spot touched last, which the side panel explains."""
    refusal_key: str = ""
    """Why the last touch did not change the bets, or not all of them, as requested; empty if it was not refused.

    The text has the catalogue key ``felt.refused_`` followed by this reason.
    """
    must_report_clearing: bool = False
    """Whether the last round's chips were removed on the screen and the machine has not been informed yet."""
    is_clearing_reply_pending: bool = False
    """Whether the machine was informed that the last round's chips were removed, but has not replied yet.

    Until it replies, its bet is still that of the last round, and is not shown as a bet for the next round.
    """
    requested_bets: BetsBySpot | None = None
    """The bets requested from the machine, until it replies; None if no request is pending."""
    requested_at: float = -10.0
    """When a bet was last requested from the machine, in monotonic seconds; a negative number if none was requested."""

    @property
    def credits(self) -> int:
        """Return the total of the new bets in credits, without standing bets."""
        return sum(credits_ for credits_ in self.bets.values() if credits_ > 0)

    def with_bets(self, bets: BetsBySpot, touched_spot: str = "") -> "ChipsOnTable":
        """Return the chips with ``bets`` instead of the present bets; an undo then restores the present ones.

        ``touched_spot`` is the spot that the side panel then explains; if empty, it explains the same spot as before.
        """
        nonzero_bets = {spot_id: amount for spot_id, amount in bets.items() if amount}
        undo_history = (*self.undo_bets, self.bets)[-_UNDO_STEPS_MAX:]
        return replace(
            self,
            bets=nonzero_bets,
            undo_bets=undo_history,
            explained_spot_id=touched_spot or self.explained_spot_id,
            refusal_key="",
            must_report_clearing=False,
        )


@dataclass(frozen=True, slots=True)
class BetLimits:
    """The limits of bets in the table's current state, in addition to the limits of each bet spot."""

    player_credits: int
    """The player's credit, in credits of the denomination."""
    standing_bets: BetsBySpot
    """The bets that stay on the table from earlier rounds, in credits by spot."""
    closed_spot_ids: frozenset[str]
    """The ids of the spots that take no bet now."""
    table_state: FeltState
    """What the machine reports about the table, such as the point at craps or the spots that must be bet first."""
    venue_bet_min: int = 0
    """The lowest total stake of a round that the venue permits, in credits."""
    venue_bet_max: int | None = None
    """The highest total stake that the venue permits, with standing bets, in credits.

    None if only the table's own maximum applies.
    """

    def apply_limits_to_spot(self, spot: BetSpot) -> BetSpot:
        """Return a bet spot with the limits that apply to it in the table's current state."""
        return apply_current_limits(spot, self.table_state.spots.get(spot.id))

    def find_bet(self, bets: BetsBySpot, spot_id: str | None) -> int:
        """Return the total bet on a spot in credits, from ``bets`` and the standing bets; 0 if there is no spot."""
        return 0 if spot_id is None else bets.get(spot_id, 0) + self.standing_bets.get(spot_id, 0)

    def find_spot_maximum(self, spot: BetSpot) -> int:
        """Return the highest bet on a spot in credits, if no other bet limits it.

        It is the spot's own maximum or, if lower, the venue's.
        """
        return spot.bet_max if self.venue_bet_max is None else min(spot.bet_max, self.venue_bet_max)

    def find_maximum(self, spot: BetSpot, bets: BetsBySpot) -> int:
        """Return the highest bet on a spot in credits, given the other ``bets``.

        It is at most :meth:`find_spot_maximum`. If the spot has ``required_spot_multiple_max``, it is also at most that
        multiple of the bet on ``required_spot``.
        """
        bet_multiple_max = spot.required_spot_multiple_max
        return (
            self.find_spot_maximum(spot)
            if bet_multiple_max is None
            else min(self.find_spot_maximum(spot), bet_multiple_max * self.find_bet(bets, spot.required_spot))
        )

    def compute_total_bet_max(self, bets: BetsBySpot) -> int | None:
        """Return the highest permitted total of new bets in credits: the venue's maximum less the standing bets.

        Standing bets that ``bets`` withdraws are not subtracted. None if the venue has no maximum.
        """
        if self.venue_bet_max is None:
            return None
        withdrawn_credits = -sum(credits_ for credits_ in bets.values() if credits_ < 0)
        return self.venue_bet_max - sum(self.standing_bets.values()) + withdrawn_credits


def apply_current_limits(spot: BetSpot, spot_state: SpotState | None) -> BetSpot:
    """Return the bet spot with its current odds and limits; unchanged without ``spot_state``."""
    if spot_state is None:
        return spot
    return replace(
        spot,
        odds=spot_state.odds,
        bet_min=spot_state.bet_min_credits,
        bet_max=spot_state.bet_max_credits,
        bet_step=spot_state.bet_step_credits,
        required_spot_multiple_max=spot_state.bet_max_multiple,
    )


def build_bet_limits(snapshot: Snapshot) -> BetLimits:
    """Return the bet limits in the table's current state."""
    unit_cents, most_cents = max(1, snapshot.denomination_cents), snapshot.bet_max_cents
    return BetLimits(
        snapshot.credit_cents // unit_cents,
        snapshot.standing_credits_by_spot,
        frozenset(snapshot.closed_spots),
        snapshot.felt_state,
        -(-snapshot.bet_min_cents // unit_cents),
        None if most_cents is None else most_cents // unit_cents,
    )


class SpotClosure(NamedTuple):
    """Whether a bet spot takes a bet now and, if it takes none, the reason."""

    refusal_key: str
    """The reason (:attr:`ChipsOnTable.refusal_key`); empty if the spot takes a bet."""
    needed_spot_ids: tuple[str, ...] = ()
    """The ids of the spots on which a bet must be placed first."""


def find_spot_closure(spot: BetSpot, bets: BetsBySpot, limits: BetLimits) -> SpotClosure:
    """Return whether a spot takes a bet now and, if not, why. ``bets`` are the bets already placed."""
    if (
        spot.required_spot is not None
        and not spot.cycle_spot_ids
        and spot.required_spot_multiple is None
        and _find_bet_on_required_spot(spot, bets, limits) <= 0
    ):
        return SpotClosure("needs", (spot.required_spot,))
    if spot.id in limits.closed_spot_ids:
        return SpotClosure("shut")
    if any(bets.get(excluded_spot_id, 0) > 0 for excluded_spot_id in spot.excluded_spots):
        return SpotClosure("apart")
    opening_spot_ids = limits.table_state.first
    if (
        opening_spot_ids
        and spot.id not in opening_spot_ids
        and not any(bets.get(spot_id, 0) > 0 for spot_id in opening_spot_ids)
    ):
        return SpotClosure("first", opening_spot_ids)
    required_spot_bet = _find_bet_on_required_spot(spot, bets, limits)
    has_no_valid_share = spot.required_bet_divisor is not None and (
        required_spot_bet % spot.required_bet_divisor
        or required_spot_bet // spot.required_bet_divisor < spot.bet_min
    )
    return SpotClosure("share" if has_no_valid_share else "")


def place_chips(
    table: TableGameData,
    chips: ChipsOnTable,
    spot_ids: tuple[str, ...],
    limits: BetLimits,
    chips_by_spot: BetsBySpot | None = None,
) -> ChipsOnTable:
    """Return the chips after a touch of bet spots with the selected tool.

    With the chip tool, either a chip is placed on all of ``spot_ids``, or on none; ``chips_by_spot`` is the number of
    chips for each spot, by default one. The bets that must be made together with these are placed too. Other tools
    apply to the first of ``spot_ids`` only.
    """
    if chips.selected_tool == "ask":
        return replace(chips, explained_spot_id=spot_ids[0], refusal_key="")
    if chips.selected_tool == "take":
        return _remove_bet(table, chips, spot_ids[0], limits)
    if chips.selected_tool == "plays":
        return _toggle_bet_on(table, chips, spot_ids[0], limits)
    bets, reason = dict(chips.bets), ""
    for spot_id in dict.fromkeys(_find_spot_that_records_chip(table, spot_id) for spot_id in spot_ids):
        spot = table.spots[spot_id]
        bets |= {
            cycle_spot_id: limits.apply_limits_to_spot(table.spots[cycle_spot_id]).bet_min
            for cycle_spot_id in spot.cycle_spot_ids
            if not bets.get(cycle_spot_id)
        }
        new_credits, reason = _add_chip(
            table,
            spot,
            bets,
            find_chip_value(table, chips, limits) * (chips_by_spot or {}).get(spot_id, 1),
            limits,
        )
        if reason:
            return replace(chips, explained_spot_id=spot_id, refusal_key=reason)
        bets[spot_id] = new_credits
    bets = _update_dependent_bets(table, bets, limits)
    reason = _find_exceeded_limit(table, bets, limits)
    return (
        replace(chips, explained_spot_id=spot_ids[0], refusal_key=reason)
        if reason
        else chips.with_bets(bets, spot_ids[0])
    )


def _find_spot_that_records_chip(table: TableGameData, spot_id: str) -> str:
    """Return the spot whose bet is recorded when a chip is placed on ``spot_id``; usually ``spot_id`` itself.

    A spot with ``required_spot_multiple`` is always bet together with the spot that it requires. The chip is then
    recorded on that spot.
    """
    required_spot = table.spots[spot_id].required_spot
    return (
        spot_id
        if required_spot is None or table.spots[spot_id].required_spot_multiple is None
        else _find_spot_that_records_chip(table, required_spot)
    )


def _find_exceeded_limit(
    table: TableGameData, bets: BetsBySpot, limits: BetLimits
) -> TotalLimitReason | Literal[""]:
    """Return the name of the limit that the total of ``bets`` exceeds, such as ``credit``, or "" if it exceeds none."""
    total_credits = sum(credits_ for credits_ in bets.values() if credits_ > 0)
    total_max = limits.compute_total_bet_max(bets)
    reserve_credits = sum(
        (table.spots[name].raise_reserve * credits_ for name, credits_ in bets.items() if credits_ > 0),
        Fraction(0),
    )
    if total_credits > limits.player_credits:
        return "credit"
    if (
        table.total_bet_max is not None
        and total_credits + sum(limits.standing_bets.values()) > table.total_bet_max
    ):
        return "table"
    if total_max is not None and total_credits + reserve_credits > total_max:
        return "here"
    return "raise" if total_credits + reserve_credits > limits.player_credits else ""


def list_chip_values(table: TableGameData, limits: BetLimits) -> tuple[int, ...]:
    """Return the chip values in credits, ascending.

    Chips above the venue's maximum are left out, except the lowest chip.
    """
    lowest_value, *higher_values = table.chip_values
    return (
        lowest_value,
        *(value for value in higher_values if limits.venue_bet_max is None or value <= limits.venue_bet_max),
    )


def find_chip_value(table: TableGameData, chips: ChipsOnTable, limits: BetLimits) -> int:
    """Return the value in credits of the selected chip, or of the lowest one if the selected is not on offer."""
    values = list_chip_values(table, limits)
    return chips.chip_value if chips.chip_value in values else values[0]


def _add_chip(
    table: TableGameData, spot: BetSpot, bets: BetsBySpot, chip_credits: int, limits: BetLimits
) -> tuple[int, str]:
    """Return the new bet on a spot and "" after a chip was added, or the old bet and why nothing was added.

    The bet grows by ``chip_credits``, is raised to the spot's minimum, rounded up to its increment, and lowered to its
    maximum. If the spot has a ``required_bet_divisor``, its bet follows from another bet, and ``chip_credits`` is
    ignored.
    """
    standing_credits, current_credits = limits.standing_bets.get(spot.id, 0), max(0, bets.get(spot.id, 0))
    closure = find_spot_closure(spot, bets, limits)
    if closure.refusal_key:
        return current_credits, closure.refusal_key
    spot = limits.apply_limits_to_spot(spot)
    if spot.required_bet_divisor is not None:
        chip_credits = (
            _find_bet_on_required_spot(spot, bets, limits) // spot.required_bet_divisor
            - standing_credits
            - current_credits
        )
    new_credits = max(standing_credits + current_credits + chip_credits, spot.bet_min) - standing_credits
    new_credits = -(-new_credits // spot.bet_step) * spot.bet_step
    new_credits = min(
        new_credits, (limits.find_maximum(spot, bets) - standing_credits) // spot.bet_step * spot.bet_step
    )
    if new_credits <= current_credits or standing_credits + new_credits < spot.bet_min:
        return current_credits, "most"
    reason = _find_exceeded_limit(table, {**bets, spot.id: new_credits}, limits)
    return (current_credits, reason) if reason else (new_credits, "")


def _find_bet_on_required_spot(spot: BetSpot, bets: BetsBySpot, limits: BetLimits) -> int:
    """Return the bet in credits on the spot that ``spot`` requires; 1 if it requires none, so that no bet is missing.

    If the spot has a ``required_bet_divisor``, the standing bet on the required spot is not counted.
    """
    if spot.required_spot is None:
        return 1
    return bets.get(spot.required_spot, 0) + (
        limits.standing_bets.get(spot.required_spot, 0) if spot.required_bet_divisor is None else 0
    )


def _update_dependent_bets(table: TableGameData, bets: BetsBySpot, limits: BetLimits) -> dict[str, int]:
    """Return ``bets``, one of which was just changed, with the bets that depend on it adjusted.

    If the bet that a spot needs is gone, the bet on the spot is removed. A bet that is a fixed share or multiple of the
    changed bet gets the corresponding amount.
    """
    updated_bets = dict(bets)
    for spot in table.spots.values():
        required_spot_bet = _find_bet_on_required_spot(spot, updated_bets, limits)
        current_credits = updated_bets.get(spot.id, 0)
        if current_credits > 0 and spot.required_bet_divisor is not None:
            updated_bets[spot.id] = (
                0
                if required_spot_bet % spot.required_bet_divisor
                else min(required_spot_bet // spot.required_bet_divisor, spot.bet_max)
            )
        if spot.required_spot_multiple is not None and spot.required_spot is not None:
            updated_bets[spot.id] = spot.required_spot_multiple * updated_bets.get(spot.required_spot, 0)
        elif current_credits > 0 and required_spot_bet <= 0:
            updated_bets[spot.id] = 0
    return updated_bets if updated_bets == bets else _update_dependent_bets(table, updated_bets, limits)


def _remove_bet(table: TableGameData, chips: ChipsOnTable, spot_id: str, limits: BetLimits) -> ChipsOnTable:
    """Return the chips after a touch of a spot with the tool that removes bets.

    A new bet on the spot is removed. If the spot has no new bet, its standing bet is marked to be withdrawn, or
    unmarked. If the spot has no bet at all, or if another bet depends on its bet, no bet changes and ``refusal_key``
    has the reason.
    """
    spot_id = _find_spot_that_records_chip(table, spot_id)
    current_credits, standing_credits = chips.bets.get(spot_id, 0), limits.standing_bets.get(spot_id, 0)
    if not current_credits and not standing_credits:
        return replace(chips, explained_spot_id=spot_id, refusal_key="nothing")
    bets = {**chips.bets, spot_id: -standing_credits if current_credits == 0 else 0}
    bets = _update_dependent_bets(table, bets, limits)
    for other_spot_id, credits_ in bets.items():
        # Another bet may need this one first, or depend on it for its maximum.
        other_spot = limits.apply_limits_to_spot(table.spots[other_spot_id])
        if credits_ > 0 and (
            find_spot_closure(other_spot, bets, limits).refusal_key
            or limits.find_bet(bets, other_spot_id) > limits.find_maximum(other_spot, bets)
        ):
            return replace(chips, explained_spot_id=spot_id, refusal_key="needed")
    return chips.with_bets(bets, spot_id)


def is_bet_on(table: TableGameData, chips: ChipsOnTable, spot_id: str, limits: BetLimits) -> bool | None:
    """Return whether the bet on a spot is on for the next throw (craps).

    None if the player cannot decide this for the spot.
    """
    if spot_id not in table.switchable_spot_ids:
        return None
    is_on_by_default = limits.table_state.plays.get(spot_id, spot_id not in table.spot_ids_off_on_come_out)
    return chips.is_on_by_spot.get(spot_id, is_on_by_default)


def _toggle_bet_on(
    table: TableGameData, chips: ChipsOnTable, spot_id: str, limits: BetLimits
) -> ChipsOnTable:
    """Return the chips with the bet on a spot switched on or off for the next throw (craps)."""
    is_on = is_bet_on(table, chips, spot_id, limits)
    if is_on is None or limits.find_bet(chips.bets, spot_id) <= 0:
        return replace(chips, explained_spot_id=spot_id, refusal_key="always" if is_on is None else "nothing")
    return replace(
        chips,
        explained_spot_id=spot_id,
        refusal_key="",
        is_on_by_spot={**chips.is_on_by_spot, spot_id: not is_on},
    )


def undo_chips(chips: ChipsOnTable) -> ChipsOnTable:
    """Return the chips as they were before the player's last change of a bet."""
    if not chips.undo_bets:
        return replace(chips, refusal_key="nothing")
    return replace(
        chips,
        bets=chips.undo_bets[-1],
        undo_bets=chips.undo_bets[:-1],
        refusal_key="",
        must_report_clearing=False,
    )


def clear_chips(chips: ChipsOnTable) -> ChipsOnTable:
    """Return the chips without any new bet. Standing bets remain."""
    return chips.with_bets({}) if chips.bets else replace(chips, refusal_key="nothing")


def replace_bets(
    table: TableGameData, chips: ChipsOnTable, target_bets: BetsBySpot, limits: BetLimits
) -> ChipsOnTable:
    """Return the chips with the bets ``target_bets``, each lowered to its maximum; closed spots get no bet.

    Standing bets that were marked to be withdrawn stay marked. If the credit or the limit of the total bet does not
    cover all of the target bets, the bets do not change and ``refusal_key`` has the reason.
    """
    bets: dict[str, int] = {spot_id: credits_ for spot_id, credits_ in chips.bets.items() if credits_ < 0}
    refusal_key = "" if target_bets else "nothing"
    for spot_id in table.spots:
        if target_bets.get(spot_id, 0) > 0:
            bets[spot_id], reason = _add_chip(table, table.spots[spot_id], bets, target_bets[spot_id], limits)
            if refusal_key not in _TOTAL_LIMIT_REASONS:
                refusal_key = reason or refusal_key
    new_bets = {
        spot_id: credits_
        for spot_id, credits_ in _update_dependent_bets(table, bets, limits).items()
        if credits_
    }
    exceeded_limit = _find_exceeded_limit(table, new_bets, limits)
    if exceeded_limit or refusal_key in _TOTAL_LIMIT_REASONS or new_bets == chips.bets:
        return replace(chips, refusal_key=exceeded_limit or refusal_key or "most")
    return replace(chips.with_bets(new_bets), refusal_key=refusal_key)


# ---------------------------------------------------------------------- the bet in force
def read_registered_bets(table: TableGameData, snapshot: Snapshot) -> BetsBySpot:
    """Return the bets that the machine has registered for the coming round, in credits by spot.

    Standing bets are not included. If the machine states only the total, return the first preset bet of that total.
    """
    bets = snapshot.bet_wager.get("bets")
    if isinstance(bets, Mapping):
        return _read_bets(bets)
    return next(
        (preset_bet for preset_bet in table.preset_bets if sum(preset_bet.values()) == snapshot.bet_credits),
        {},
    )


def is_total_bet_below_venue_minimum(chips: ChipsOnTable, snapshot: Snapshot) -> bool:
    """Return whether the player's bets total less than the venue's minimum, and so are not a valid bet.

    False without any bet.
    """
    return 0 < chips.credits < build_bet_limits(snapshot).venue_bet_min


def request_bet(
    chips: ChipsOnTable, snapshot: Snapshot, now: float
) -> tuple[ChipsOnTable, tuple[Intent, ...]]:
    """Return the chips with a pending request, and the request to the machine to register these bets.

    If the bets total less than the venue's minimum, an empty bet is requested.
    """
    limits = build_bet_limits(snapshot)
    is_on_by_spot = {
        spot_id: is_on
        for spot_id, is_on in chips.is_on_by_spot.items()
        if limits.find_bet(chips.bets, spot_id) > 0
    }
    chips = replace(chips, is_clearing_reply_pending=chips.must_report_clearing)
    if is_total_bet_below_venue_minimum(chips, snapshot):
        request = Intent(name="bet", value=0, options={"bets": {}})
        return replace(chips, must_report_clearing=False, requested_bets={}, requested_at=now), (request,)
    on_off_options: dict[str, object] = {"working": is_on_by_spot} if is_on_by_spot else {}
    request = Intent(name="bet", value=chips.credits, options={"bets": dict(chips.bets), **on_off_options})
    return replace(chips, must_report_clearing=False, requested_bets=chips.bets, requested_at=now), (request,)


def apply_machine_reply(
    table: TableGameData, chips: ChipsOnTable, snapshot: Snapshot, *, is_request_in_transit: bool
) -> ChipsOnTable:
    """Return the chips after a snapshot from the machine.

    The chips become the machine's bet, except in these cases:

    * The removal of the last round's chips is still to be reported. The chips stay as they are.
    * The machine may not have received the last bet request (``is_request_in_transit``), and shows another bet without
      refusing the request. The chips stay as they are, because the snapshot may be older than the request.
    * The machine still has the last round's bet, although the removal of its chips was reported. It is reported again.
    * The chips total less than the venue's minimum, and the machine has no bet registered. The chips stay as they are.
    """
    registered_bets = read_registered_bets(table, snapshot)
    is_bet_refused = any(notice.code.startswith("refused.bet") for notice in snapshot.notices)
    if chips.must_report_clearing or (
        is_request_in_transit
        and chips.requested_bets is not None
        and registered_bets != chips.requested_bets
        and not is_bet_refused
    ):
        return chips
    if chips.is_clearing_reply_pending and registered_bets and not chips.bets:
        # The request was refused or lost: send it again.
        return replace(chips, requested_bets=None, must_report_clearing=True)
    chips = replace(chips, requested_bets=None, is_clearing_reply_pending=False)
    if registered_bets == chips.bets or (
        not registered_bets and is_total_bet_below_venue_minimum(chips, snapshot)
    ):
        return chips
    return replace(
        chips, bets=registered_bets, is_on_by_spot=snapshot.bet_wager.get("working", {}), undo_bets=()
    )

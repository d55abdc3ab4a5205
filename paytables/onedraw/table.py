"""A playable table with one draw: bets on spots, one result, and its effect on every bet.

A bet may outlast its draw: a bet on the same number several times in a row, and a stake that its player left
"in prison" at zero. Those are the table's state, ``{"held": [{"spot", "credits", "count", "seat"?}]}``, where
``count`` is the number of completed spins of a repeat, or of zeros that imprisoned the stake.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

from paytables.analysis import Analysis, BetAnalysis, Depth
from paytables.contract import (
    Bet,
    Choice,
    Cue,
    Decision,
    Draw,
    Json,
    Outcome,
    Play,
    Remark,
    Settlement,
    Spot,
    Wager,
)
from paytables.definition import Header
from paytables.layout import Form, Layout, Odds, Table, TableRules, settle_bet
from paytables.onedraw import figures
from paytables.prison import (
    Fate,
    Held,
    held_from_json,
    held_to_json,
    list_bets_on_table,
    release_stake,
    settle,
    settle_part_back,
)
from paytables.wording import format_count


@dataclass(frozen=True, slots=True)
class SpotRules:
    """A betting spot with what it pays on each result, and the options of its definition."""

    spot: Spot
    pays: Mapping[str, Odds]
    spins: int = 1
    on_zero: Literal["lost", "half", "choice"] = "lost"


@dataclass(frozen=True)
class OneDrawTable(TableRules):
    """The rules of a table with one draw; its family defines the draw (:meth:`drawn`, :attr:`weights`)."""

    header: Header
    places: tuple[SpotRules, ...]
    table: Table
    forms: tuple[Form, ...]
    felt: Literal["roulette", "wheel", "dice"]
    zero: frozenset[str] = frozenset()
    held: tuple[Held, ...] = ()

    @property
    def weights(self) -> Mapping[str, int]:
        """Return the number of equally likely cases of each result."""
        raise NotImplementedError

    def drawn(self, draw: Draw) -> tuple[str, Cue, dict[str, object]]:
        """Draw a result; return its key in :attr:`weights`, the animation cue, and the display data."""
        raise NotImplementedError

    def obtain_result(
        self, draw: Draw
    ) -> Generator[Decision, Choice | None, tuple[str, Cue, dict[str, object]]]:
        """Return the result of :meth:`drawn`; a family with a real wheel asks the wheel instead."""
        yield from ()
        return self.drawn(draw)

    def build_display_data(self) -> dict[str, object]:
        """Return what the screen needs in addition to the layout."""
        raise NotImplementedError

    @cached_property
    def by_spot(self) -> dict[str, SpotRules]:
        """Return the places by the ids of their spots."""
        return {place.spot.id: place for place in self.places}

    @cached_property
    def cloth(self) -> Layout:
        """Return the layout; bets that outlast their spin can no longer be changed and do not count in its limits."""
        return Layout(tuple(place.spot for place in self.places), self.table, self.forms)

    @property
    def betting_seconds(self) -> int | None:
        """Return the time in which several seats place bets on one spin, or None if only one seat plays."""
        return self.table.common_seconds

    def wager(self, credits_: int, **options: Json) -> Wager:
        """Return the wager of ``credits_`` (:meth:`paytables.layout.Layout.wager`).

        While bets are held a spin may cost nothing. Raises :class:`WagerError`.
        """
        if self.held and credits_ == 0 and options in ({}, {"bets": {}}):
            return Wager(0, {"bets": {}})
        wager = self.cloth.wager(credits_, **options)
        if self.table.most_win is not None:
            self.cloth.most_win(figures.find_highest_returns(self, wager))
        return wager

    def at(self, table: object) -> Self:
        """Return the table as a round has left it. Raises ValueError for a state that no round leaves."""
        held = () if table is None else self._read_held_bets(table)
        return self if held == self.held else replace(self, held=held)

    def _read_held_bets(self, table: object) -> tuple[Held, ...]:
        """Parse the standing bets of a stored table. Raises ValueError if a round cannot leave them."""
        if not isinstance(table, Mapping) or set(table) != {"held"} or not table["held"]:
            raise ValueError(f"no round of this table leaves {table!r}")
        held = held_from_json(table["held"], self.by_spot, self.table.seats)
        results = set(self.weights)
        for bet in held:
            place = self.by_spot[bet.spot]
            least, most, step = place.spot.least, place.spot.most, place.spot.step
            if not least <= bet.credits <= most or bet.credits % step or not self._may_stand(place, bet):
                raise ValueError(f"no bet of this table can be {bet.to_json()} with count {bet.count}")
            results &= set(place.pays) if place.spins > 1 else self.zero
        if not results:
            raise ValueError("the standing bets have different results")
        return held

    @staticmethod
    def _may_stand(place: SpotRules, bet: Held) -> bool:
        if place.spins > 1:
            return bet.count < place.spins
        return place.on_zero == "choice" and bet.may_stay

    def standing(self) -> tuple[Bet, ...]:
        """Return the bets that stay: repeats in progress, and stakes in prison."""
        return tuple(Bet(bet.spot, bet.credits, bet.seat) for bet in self.held)

    def take_down(self) -> tuple[tuple[Settlement, ...], object]:
        """Return the part of each stake in prison that its player could have taken at the zero.

        For a leaving player, that spin was the last (Monaco, art. 8.2). A repeat in progress cannot be taken
        down.
        """
        prison = [bet for bet in self.held if self.by_spot[bet.spot].spins == 1]
        left = tuple(bet for bet in self.held if bet not in prison)
        return tuple(settle_part_back(bet) for bet in prison), _build_table_state(left)

    def fate(self, bet: Held, result: str) -> Fate:
        """Return the effect of a result on a bet: a settlement, or the bet that stays; with both, a choice."""
        place = self.by_spot[bet.spot]
        if place.spins > 1:
            if result in place.pays and bet.count + 1 < place.spins:
                return None, replace(bet, count=bet.count + 1)
            return settle_bet(bet, place.pays.get(result)), None
        if result in self.zero and place.on_zero != "lost" and result not in place.pays:
            met = replace(bet, count=bet.count + 1)
            may_stand = self._may_stand(place, met)
            return settle_part_back(met), met if may_stand else None
        if bet.count:
            return release_stake(bet, won=result in place.pays), None
        return settle_bet(bet, place.pays.get(result)), None

    def play(self, wager: Wager, draw: Draw) -> Play:
        """Draw once, and settle every bet; at zero, players of even-money bets may be asked about their stakes."""
        bets = list_bets_on_table(self.held, self.wager(wager.credits, **wager.options), self.cloth.spots)
        result, cue, drawn = yield from self.obtain_result(draw)
        yield cue
        shown = {"kind": "table", "felt": self.felt, **drawn}
        standing = yield from settle(bets, lambda bet: self.fate(bet, result), shown, "zero")
        return Outcome(display=shown, table=_build_table_state(standing))

    def presentation(self) -> dict[str, object]:
        """Return the layout with its spots, and the family's own display data."""
        return {"kind": "table", "felt": self.felt, **self.build_display_data(), **self.cloth.to_json()}

    def groups(self) -> dict[str, list[SpotRules]]:
        """Return the places by the group of their spots, in layout order."""
        found: dict[str, list[SpotRules]] = {}
        for place in self.places:
            found.setdefault(place.spot.group, []).append(place)
        return found

    def explain(self) -> tuple[str, ...]:
        """Return what each kind of bet pays, on how many of the cases, and on how many spots."""
        total = sum(self.weights.values())
        return tuple(
            f"{group}: {places[0].spot.odds}"
            f" on {sum(self.weights[result] for result in places[0].pays):,} of {total:,}"
            + (f", {places[0].spins} times in a row" if places[0].spins > 1 else "")
            + f"; {format_count(len(places), 'place')}"
            for group, places in self.groups().items()
        )

    def remarks(self) -> tuple[Remark, ...]:
        """Return an empty tuple: tables of one draw have no remarks."""
        return ()

    def analyse(self, depth: Depth) -> Analysis:
        """Return the exact figures of every kind of bet and of every form."""
        return figures.analyse(self, depth)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of any combination of bets, each followed to its end."""
        return figures.analyse_bets(self, self.wager(wager.credits, **wager.options), "bets")


def _build_table_state(held: Sequence[Held]) -> object:
    if not held:
        return None
    return {"held": held_to_json(held)}

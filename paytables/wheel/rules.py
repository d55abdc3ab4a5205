"""The rules of one wheel game: stakes on the areas of a layout, one spin, and its prizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from paytables import layout
from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.contract import (
    DefinitionRemark,
    DrawSource,
    Json,
    Outcome,
    RoundEvents,
    Settlement,
    Spot,
    Wager,
)
from paytables.errors import DefinitionError, WagerError
from paytables.tableless import TablelessRules
from paytables.wheel import figures
from paytables.wheel.schema import NamedWheelBet, WheelDefinition
from paytables.wording import format_count


@dataclass(frozen=True)
class WheelRules(TablelessRules):
    """The rules of a wheel game for one player, whose bets are on no shared table."""

    definition: WheelDefinition

    @cached_property
    def bet_options(self) -> tuple[int, ...]:
        """Return the cost of every form (preset bet) at every stake, in credits, ascending.

        Other bets may cost other amounts.
        """
        return tuple(sorted({sum(stakes.values()) for _, stakes in self._list_offered_bets()}))

    def _list_offered_bets(self) -> list[tuple[NamedWheelBet, dict[str, int]]]:
        """Return every preset bet (form) with every stake that it may be placed for."""
        bet_layout = self.definition.layout
        return [
            (form, dict.fromkeys(form.areas, stake))
            for form in self.definition.form
            for stake in bet_layout.stakes
            if bet_layout.cost is None or stake * len(form.areas) <= bet_layout.cost
        ]

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Return the wager of ``credits_``: the requested ``bets`` (credits by area), or a preset bet of that cost.

        ``form`` requests a preset bet by its id; without it, the first one of that cost is used. Raises
        :class:`WagerError`.
        """
        bet_layout, wager = self.definition.layout, self._layout.build_wager(credits_, **options)
        stakes = wager.options["bets"]
        for area, stake in stakes.items():
            if stake not in bet_layout.stakes:
                raise WagerError(
                    f"bets.{area}: the stake is {stake!r}; expected one of {list(bet_layout.stakes)}"
                )
        if bet_layout.areas is not None and len(stakes) > bet_layout.areas:
            raise WagerError(
                f"bets: {format_count(len(stakes), 'area')}; at most {bet_layout.areas} may be staked on"
            )
        return wager

    @cached_property
    def _layout(self) -> layout.TableLayout:
        """Return the wheel's betting areas as the spots of a layout, with every preset bet at every stake."""
        stakes, most = self.definition.layout.stakes, self.definition.layout.cost
        spots = tuple(
            Spot(
                id=area.id,
                group=area.id,
                names=area.name.model_dump(),
                odds="",
                bet_min=min(stakes),
                bet_max=max(stakes),
                covered_results=tuple(area.pays),
            )
            for area in self.definition.area
        )
        forms = tuple(
            layout.NamedWager(id=f.id, name=f.name, bets=stakes) for f, stakes in self._list_offered_bets()
        )
        return layout.TableLayout(spots, layout.TableLimits(most=most), forms)

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a game: spin again as long as a segment says so, then pay every area that wins."""
        stakes = self.build_wager(wager.credits, **wager.options).options["bets"]
        wheel = self.definition.wheel
        factor_by_symbol = {s.id: s.again for s in self.definition.symbol if s.again is not None}
        factor = 1
        steps: list[dict[str, Json]] = []
        while True:
            part = draw.below(len(wheel.parts), f"spin {len(steps) + 1}")
            symbol = wheel.parts[part]
            wins = self._list_wins(symbol, stakes, factor)
            steps.append(self._describe_spin(part, stakes, factor, wins))
            if symbol not in factor_by_symbol:
                break
            factor = min(factor * factor_by_symbol[symbol], wheel.most_factor)
        yield from wins
        win_credits = sum(win.credits for win in wins)
        display = {
            "kind": "wheel",
            "revolutions": wheel.revolutions,
            "bets": dict(stakes),
            "steps": steps,
            "credits": win_credits,
        }
        return Outcome(display=display)

    def _list_wins(self, symbol: str, stakes: Mapping[str, int], factor: int) -> tuple[Settlement, ...]:
        """Return the settlement of each staked area that the symbol wins, multiplied by ``factor``."""
        return tuple(
            Settlement(
                f"{area.id} {symbol}",
                stakes[area.id] * area.pays[symbol] * factor,
                {"area": area.id, "stake": stakes[area.id], "factor": factor},
            )
            for area in self.definition.area
            if area.id in stakes and symbol in area.pays
        )

    def _describe_spin(
        self, segment_index: int, stakes: Mapping[str, int], factor: int, wins: tuple[Settlement, ...]
    ) -> dict[str, Json]:
        """Return one spin for the screen: every segment with its pay for these stakes, and the segment at the pin."""
        parts = self.definition.wheel.parts
        credits_by_symbol = {
            s: sum(win.credits for win in self._list_wins(s, stakes, factor)) for s in set(parts)
        }
        return {
            "stage": "wheel",
            "parts": [{"item": symbol, "credits": credits_by_symbol[symbol]} for symbol in parts],
            "part": segment_index,
            "symbol": parts[segment_index],
            "factor": factor,
            "wins": [win.to_json() for win in wins],
            "credits": credits_by_symbol[parts[segment_index]],
        }

    def build_presentation(self) -> dict[str, Json]:
        """Return what a screen needs: the wheel's segments in order, its symbols, the layout, and the minimum turns."""
        definition = self.definition
        return {
            "kind": "wheel",
            "parts": list(definition.wheel.parts),
            "revolutions": definition.wheel.revolutions,
            "most_factor": definition.wheel.most_factor,
            "symbols": {
                s.id: {
                    "name": s.name.model_dump(),
                    "again": s.again,
                    "parts": definition.wheel.parts.count(s.id),
                }
                for s in definition.symbol
            },
            "areas": [area.model_dump(mode="json", by_alias=True) for area in definition.area],
            "layout": definition.layout.model_dump(mode="json", by_alias=True),
            "forms": [form.model_dump(mode="json", by_alias=True) for form in definition.form],
        }

    def explain_pays(self) -> tuple[str, ...]:
        """Return what each area pays, stake included, and on how many segments of the wheel."""
        parts = self.definition.wheel.parts
        return tuple(
            f"{area.id}: "
            + ", ".join(
                f"{s} pays {pay:,} on {parts.count(s)} of {len(parts)}" for s, pay in area.pays.items()
            )
            for area in self.definition.area
        )

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return remarks on what is legal but may surprise: a prize that only returns the stake."""
        return tuple(
            DefinitionRemark(
                f"area.{n}.pays.{symbol}", "pays 1, which only gives the stake back: pays include it"
            )
            for n, area in enumerate(self.definition.area)
            for symbol, pay in area.pays.items()
            if pay == 1
        )

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of the wheel game; see :func:`paytables.wheel.figures.analyse`."""
        least = min(self.definition.layout.stakes)
        forms = [(form, dict.fromkeys(form.areas, least)) for form in self.definition.form]
        return figures.analyse(self.definition, forms, depth)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of any combination of stakes on areas."""
        stakes = self.build_wager(wager.credits, **wager.options).options["bets"]
        return figures.analyse_bets(self.definition, stakes, "bets")


def check_definition(definition: WheelDefinition, file: str) -> None:
    """Check the rules of a wheel definition that its data model cannot check.

    Raises :class:`DefinitionError`, which names the wrong key.
    """
    try:
        _check_ids(definition)
        _check_segments(definition)
        _check_areas(definition)
        _check_forms(definition)
    except _WheelDefinitionError as fault:
        raise DefinitionError(file, fault.key, fault.reason) from None


class _WheelDefinitionError(Exception):
    """Error in a wheel definition, with its key and the reason; the file is added later."""

    def __init__(self, definition_key: str, reason: str) -> None:
        self.key, self.reason = definition_key, reason


def _check_ids(definition: WheelDefinition) -> None:
    """Refuse a wheel definition in which two symbols, areas or preset bets have the same id."""
    for key, items in (("symbol", definition.symbol), ("area", definition.area), ("form", definition.form)):
        if len({item.id for item in items}) != len(items):
            raise _WheelDefinitionError(key, "two have the same id")


def _check_segments(definition: WheelDefinition) -> None:
    """Refuse a wheel definition whose segments do not fit its symbols.

    These are unknown symbols, symbols on no segment, a factor above the maximum, and wheels with a single symbol or
    whose game never ends.
    """
    wheel, symbols = definition.wheel, {s.id: s for s in definition.symbol}
    for n, part in enumerate(wheel.parts):
        if part not in symbols:
            raise _WheelDefinitionError(f"wheel.parts.{n}", f"unknown symbol {part!r}")
    for symbol in definition.symbol:
        if symbol.id not in wheel.parts:
            raise _WheelDefinitionError(f"symbol.{symbol.id}", "is on no part of the wheel")
        if (symbol.again or 1) > wheel.most_factor:
            raise _WheelDefinitionError(
                "wheel.most_factor",
                f"{wheel.most_factor} is less than the factor of {symbol.id}, {symbol.again}",
            )
    if len(set(wheel.parts)) == 1:
        raise _WheelDefinitionError(
            "wheel.parts", "all parts show the same symbol, so that every spin has the same result"
        )
    if all(symbols[part].again for part in wheel.parts):
        raise _WheelDefinitionError(
            "wheel.parts", "at least one part must not be spun again, or the game never ends"
        )


def _check_areas(definition: WheelDefinition) -> None:
    """Refuse an area that pays on an unknown symbol, or on one after which the wheel is spun again."""
    symbols = {s.id: s for s in definition.symbol}
    for area in definition.area:
        for name in area.pays:
            if name not in symbols:
                raise _WheelDefinitionError(f"area.{area.id}.pays.{name}", f"unknown symbol {name!r}")
            if symbols[name].again:
                raise _WheelDefinitionError(
                    f"area.{area.id}.pays.{name}",
                    "pays nothing, because the wheel is spun again on this symbol",
                )


def _check_forms(definition: WheelDefinition) -> None:
    """Refuse a preset bet (form) on an unknown area, on one area twice, or beyond the limits of the layout."""
    layout, areas = definition.layout, {area.id for area in definition.area}
    for n, form in enumerate(definition.form):
        unknown_areas = set(form.areas) - areas
        if unknown_areas:
            raise _WheelDefinitionError(f"form.{n}.areas", f"there is no area {min(unknown_areas)!r}")
        if len(set(form.areas)) != len(form.areas):
            raise _WheelDefinitionError(f"form.{n}.areas", "an area is listed twice")
        if layout.areas is not None and len(form.areas) > layout.areas:
            raise _WheelDefinitionError(
                f"form.{n}.areas",
                f"has {format_count(len(form.areas), 'area')}; at most {layout.areas} may be staked on",
            )
        if layout.cost is not None and min(layout.stakes) * len(form.areas) > layout.cost:
            raise _WheelDefinitionError(
                f"form.{n}", f"costs more than layout.cost, {layout.cost}, the most that a spin may cost"
            )

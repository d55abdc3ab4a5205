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
from paytables.wheel.schema import PresetWheelBet, WheelDefinition
from paytables.wording import format_count


@dataclass(frozen=True)
class WheelRules(TablelessRules):
    """The rules of a wheel game for one player, who shares the betting areas with nobody."""

    definition: WheelDefinition

    @cached_property
    def bet_options(self) -> tuple[int, ...]:
        """Return the cost of every preset bet at every stake, in credits, ascending.

        Other bets may cost other amounts.
        """
        return tuple(sorted({sum(stakes.values()) for _, stakes in self._list_offered_bets()}))

    def _list_offered_bets(self) -> list[tuple[PresetWheelBet, dict[str, int]]]:
        """Return each preset bet with each stake that it accepts: pairs of the bet and its credits by area."""
        stake_rules = self.definition.stake_rules
        return [
            (preset_bet, dict.fromkeys(preset_bet.area_ids, stake))
            for preset_bet in self.definition.preset_bets
            for stake in stake_rules.stake_options
            if stake_rules.cost_max_credits is None
            or stake * len(preset_bet.area_ids) <= stake_rules.cost_max_credits
        ]

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Return the wager of ``credits_``: the requested ``bets`` (credits by area), or a preset bet of that cost.

        ``form`` requests a preset bet by its id; without it, the first one of that cost is used. Raises
        :class:`WagerError`.
        """
        stake_rules, wager = self.definition.stake_rules, self._layout.build_wager(credits_, **options)
        stakes = wager.options["bets"]
        for area, stake in stakes.items():
            if stake not in stake_rules.stake_options:
                raise WagerError(
                    f"bets.{area}: the stake is {stake!r}; expected one of {list(stake_rules.stake_options)}"
                )
        if stake_rules.areas_max is not None and len(stakes) > stake_rules.areas_max:
            raise WagerError(
                f"bets: {format_count(len(stakes), 'area')}; at most {stake_rules.areas_max} may be staked on"
            )
        return wager

    @cached_property
    def _layout(self) -> layout.TableLayout:
        """Return the wheel's betting areas as the spots of a layout, with every preset bet at every stake."""
        stake_rules = self.definition.stake_rules
        spots = tuple(
            Spot(
                id=area.id,
                group=area.id,
                names=area.name.model_dump(),
                odds="",
                bet_min=min(stake_rules.stake_options),
                bet_max=max(stake_rules.stake_options),
                covered_results=tuple(area.pay_by_symbol),
            )
            for area in self.definition.areas
        )
        preset_bets = tuple(
            layout.PresetBet(id=preset_bet.id, name=preset_bet.name, bets=stakes)
            for preset_bet, stakes in self._list_offered_bets()
        )
        return layout.TableLayout(spots, layout.TableLimits(most=stake_rules.cost_max_credits), preset_bets)

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a game: spin again as long as a segment says so, then pay every area that wins."""
        stakes = self.build_wager(wager.credits, **wager.options).options["bets"]
        wheel = self.definition.wheel
        factor_by_symbol = {
            s.id: s.respin_factor for s in self.definition.symbols if s.respin_factor is not None
        }
        factor = 1
        shown_spins: list[dict[str, Json]] = []
        while True:
            segment_index = draw.below(len(wheel.segments), f"spin {len(shown_spins) + 1}")
            symbol = wheel.segments[segment_index]
            wins = self._list_wins(symbol, stakes, factor)
            shown_spins.append(self._describe_spin(segment_index, stakes, factor, wins))
            if symbol not in factor_by_symbol:
                break
            factor = min(factor * factor_by_symbol[symbol], wheel.factor_max)
        yield from wins
        win_credits = sum(win.credits for win in wins)
        display = {
            "kind": "wheel",
            "revolutions": wheel.revolutions_min,
            "bets": dict(stakes),
            "steps": shown_spins,
            "credits": win_credits,
        }
        return Outcome(display=display)

    def _list_wins(self, symbol: str, stakes: Mapping[str, int], factor: int) -> tuple[Settlement, ...]:
        """Return the settlement of each staked area that the symbol wins, multiplied by ``factor``."""
        return tuple(
            Settlement(
                f"{area.id} {symbol}",
                stakes[area.id] * area.pay_by_symbol[symbol] * factor,
                {"area": area.id, "stake": stakes[area.id], "factor": factor},
            )
            for area in self.definition.areas
            if area.id in stakes and symbol in area.pay_by_symbol
        )

    def _describe_spin(
        self, segment_index: int, stakes: Mapping[str, int], factor: int, wins: tuple[Settlement, ...]
    ) -> dict[str, Json]:
        """Return one spin for the screen: every segment with its pay for these stakes, and the segment at the pin."""
        segments = self.definition.wheel.segments
        credits_by_symbol = {
            s: sum(win.credits for win in self._list_wins(s, stakes, factor)) for s in set(segments)
        }
        return {
            "stage": "wheel",
            "parts": [{"item": symbol, "credits": credits_by_symbol[symbol]} for symbol in segments],
            "part": segment_index,
            "symbol": segments[segment_index],
            "factor": factor,
            "wins": [win.to_json() for win in wins],
            "credits": credits_by_symbol[segments[segment_index]],
        }

    def build_presentation(self) -> dict[str, Json]:
        """Return what a screen needs: the segments in order, their symbols, the layout, and the fewest revolutions."""
        definition = self.definition
        return {
            "kind": "wheel",
            "parts": list(definition.wheel.segments),
            "revolutions": definition.wheel.revolutions_min,
            "most_factor": definition.wheel.factor_max,
            "symbols": {
                s.id: {
                    "name": s.name.model_dump(),
                    "again": s.respin_factor,
                    "parts": definition.wheel.segments.count(s.id),
                }
                for s in definition.symbols
            },
            "areas": [area.model_dump(mode="json", by_alias=True) for area in definition.areas],
            "layout": definition.stake_rules.model_dump(mode="json", by_alias=True),
            "forms": [
                preset_bet.model_dump(mode="json", by_alias=True) for preset_bet in definition.preset_bets
            ],
        }

    def explain_pays(self) -> tuple[str, ...]:
        """Return what each area pays, stake included, and on how many segments of the wheel."""
        segments = self.definition.wheel.segments
        return tuple(
            f"{area.id}: "
            + ", ".join(
                f"{s} pays {pay:,} on {segments.count(s)} of {len(segments)}"
                for s, pay in area.pay_by_symbol.items()
            )
            for area in self.definition.areas
        )

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return remarks on what is legal but may surprise: a prize that only returns the stake."""
        return tuple(
            DefinitionRemark(
                f"area.{area_index}.pays.{symbol}", "pays 1, which only gives the stake back: pays include it"
            )
            for area_index, area in enumerate(self.definition.areas)
            for symbol, pay in area.pay_by_symbol.items()
            if pay == 1
        )

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of the wheel game; see :func:`paytables.wheel.figures.analyse`."""
        stake_min = min(self.definition.stake_rules.stake_options)
        preset_bets = [
            (preset_bet, dict.fromkeys(preset_bet.area_ids, stake_min))
            for preset_bet in self.definition.preset_bets
        ]
        return figures.analyse(self.definition, preset_bets, depth)

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
        _check_preset_bets(definition)
    except _WheelDefinitionError as error:
        raise DefinitionError(file, error.key, error.reason) from None


class _WheelDefinitionError(Exception):
    """Error in a wheel definition, with its key and the reason; the file is added later."""

    def __init__(self, definition_key: str, reason: str) -> None:
        self.key, self.reason = definition_key, reason


def _check_ids(definition: WheelDefinition) -> None:
    """Refuse a wheel definition in which two symbols, areas or preset bets have the same id."""
    for key, named_tables in (
        ("symbol", definition.symbols),
        ("area", definition.areas),
        ("form", definition.preset_bets),
    ):
        if len({named_table.id for named_table in named_tables}) != len(named_tables):
            raise _WheelDefinitionError(key, "two have the same id")


def _check_segments(definition: WheelDefinition) -> None:
    """Refuse a wheel definition whose segments do not fit its symbols.

    It refuses:

    * a segment with an unknown symbol, and a symbol on no segment
    * a symbol whose respin factor is above the maximum
    * a wheel with a single symbol
    * a wheel that is always spun again, so that the game never ends
    """
    wheel, symbols = definition.wheel, {s.id: s for s in definition.symbols}
    for index, symbol_id in enumerate(wheel.segments):
        if symbol_id not in symbols:
            raise _WheelDefinitionError(f"wheel.parts.{index}", f"unknown symbol {symbol_id!r}")
    for symbol in definition.symbols:
        if symbol.id not in wheel.segments:
            raise _WheelDefinitionError(f"symbol.{symbol.id}", "is on no part of the wheel")
        if (symbol.respin_factor or 1) > wheel.factor_max:
            raise _WheelDefinitionError(
                "wheel.most_factor",
                f"{wheel.factor_max} is less than the factor of {symbol.id}, {symbol.respin_factor}",
            )
    if len(set(wheel.segments)) == 1:
        raise _WheelDefinitionError(
            "wheel.parts", "all parts show the same symbol, so that every spin has the same result"
        )
    if all(symbols[symbol_id].respin_factor for symbol_id in wheel.segments):
        raise _WheelDefinitionError(
            "wheel.parts", "at least one part must not be spun again, or the game never ends"
        )


def _check_areas(definition: WheelDefinition) -> None:
    """Refuse an area that pays on an unknown symbol, or on one after which the wheel is spun again."""
    symbols = {s.id: s for s in definition.symbols}
    for area in definition.areas:
        for symbol_id in area.pay_by_symbol:
            if symbol_id not in symbols:
                raise _WheelDefinitionError(
                    f"area.{area.id}.pays.{symbol_id}", f"unknown symbol {symbol_id!r}"
                )
            if symbols[symbol_id].respin_factor:
                raise _WheelDefinitionError(
                    f"area.{area.id}.pays.{symbol_id}",
                    "pays nothing, because the wheel is spun again on this symbol",
                )


def _check_preset_bets(definition: WheelDefinition) -> None:
    """Refuse a preset bet on an unknown area, on one area twice, or beyond the limits of the layout."""
    stake_rules, areas = definition.stake_rules, {area.id for area in definition.areas}
    for preset_bet_index, preset_bet in enumerate(definition.preset_bets):
        unknown_areas = set(preset_bet.area_ids) - areas
        if unknown_areas:
            raise _WheelDefinitionError(
                f"form.{preset_bet_index}.areas", f"there is no area {min(unknown_areas)!r}"
            )
        if len(set(preset_bet.area_ids)) != len(preset_bet.area_ids):
            raise _WheelDefinitionError(f"form.{preset_bet_index}.areas", "an area is listed twice")
        if stake_rules.areas_max is not None and len(preset_bet.area_ids) > stake_rules.areas_max:
            raise _WheelDefinitionError(
                f"form.{preset_bet_index}.areas",
                f"has {format_count(len(preset_bet.area_ids), 'area')}; at most {stake_rules.areas_max} "
                "may be staked on",
            )
        if (
            stake_rules.cost_max_credits is not None
            and min(stake_rules.stake_options) * len(preset_bet.area_ids) > stake_rules.cost_max_credits
        ):
            raise _WheelDefinitionError(
                f"form.{preset_bet_index}",
                f"costs more than layout.cost, {stake_rules.cost_max_credits}, the most that a spin may cost",
            )

"""The feature sheet of a wheel game for its PAR sheet."""

from collections.abc import Sequence
from fractions import Fraction

from paytables import Analysis
from paytables.roulette.wheel_table import WheelTable
from paytables.wheel.rules import WheelRules
from tools.lab.parsheet.figures import to_exact_data
from tools.lab.parsheet.sheet_data import LabelledValues, SheetData, build_sheet_data


def build_sheets(rules: WheelRules | WheelTable, _analysis: Analysis) -> list[SheetData]:
    """Return the sheet of a wheel: its segments, its turns, and the probability and pays of each symbol.

    The sheet of a standalone wheel also states the stakes; those of a table are the limits of its spots.
    """
    if isinstance(rules, WheelTable):
        return [_build_table_sheet(rules)]
    definition = rules.definition
    segments = definition.wheel.segments
    labelled_values: LabelledValues = [
        *_describe_wheel(segments, definition.wheel.revolutions_min),
        ("highest factor of repeated spins", definition.wheel.factor_max),
        ("stakes, credits per area", ", ".join(map(str, definition.stake_rules.stake_options))),
    ]
    rows = [
        [
            symbol.id,
            segments.count(symbol.id),
            to_exact_data(Fraction(segments.count(symbol.id), len(segments))),
            f"again, prizes times {symbol.respin_factor}" if symbol.respin_factor else "",
            ", ".join(
                f"{area.id} {area.pay_by_symbol[symbol.id]}"
                for area in definition.areas
                if symbol.id in area.pay_by_symbol
            ),
        ]
        for symbol in definition.symbols
    ]
    columns = ("symbol", "parts", "probability", "spun", "pays per credit, by area")
    return [build_sheet_data("Wheel", labelled_values, columns, rows)]


def _build_table_sheet(rules: WheelTable) -> SheetData:
    """Return the sheet of a wheel at a table, whose spots pay the stake back on top of their odds."""
    rows = [
        [
            symbol,
            segment_count,
            to_exact_data(Fraction(segment_count, len(rules.segments))),
            ", ".join(
                f"{spot_rules.spot.id} {spot_rules.odds_by_result[symbol].text}"
                for spot_rules in rules.spot_rules
                if symbol in spot_rules.odds_by_result
            ),
        ]
        for symbol, segment_count in rules.case_count_by_result.items()
    ]
    columns = ("symbol", "parts", "probability", "odds, by spot")
    return build_sheet_data("Wheel", _describe_wheel(rules.segments, rules.revolutions_min), columns, rows)


def _describe_wheel(segments: Sequence[str], revolutions_min: int | None) -> LabelledValues:
    """Return the first values of the sheet of any wheel; ``revolutions_min`` None: no minimum."""
    return [
        ("equal parts", len(segments)),
        ("segments in order", " ".join(segments)),
        ("fewest revolutions of a valid spin", revolutions_min or ""),
    ]

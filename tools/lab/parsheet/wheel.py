"""The feature sheet of a wheel game for its PAR sheet."""

from fractions import Fraction

from paytables import Analysis
from paytables.wheel.rules import WheelRules
from tools.lab.parsheet.figures import to_exact_data
from tools.lab.parsheet.sheet_data import LabelledValues, SheetData, build_sheet_data


def build_sheets(rules: WheelRules, _analysis: Analysis) -> list[SheetData]:
    """Return the sheet of a wheel: segments, turns, stakes, and the probability and pays of each symbol."""
    definition = rules.definition
    parts = definition.wheel.segments
    facts: LabelledValues = [
        ("equal parts", len(parts)),
        ("in order", " ".join(parts)),
        ("fewest turns of a valid spin", definition.wheel.revolutions_min),
        ("spinning again multiplies by at most", definition.wheel.factor_max),
        ("stakes, credits per area", ", ".join(map(str, definition.layout.stake_options))),
    ]
    rows = [
        [
            symbol.id,
            parts.count(symbol.id),
            to_exact_data(Fraction(parts.count(symbol.id), len(parts))),
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
    return [build_sheet_data("Wheel", facts, columns, rows)]

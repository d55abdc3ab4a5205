"""The data format of a PAR sheet's feature sheets (bonus stages, pay tables ...), and the sheets of levels.

Every sheet is data of one shape, ``{"sheet", "facts", "columns", "rows"}``, so that an output format handles
all sheets alike. A cell is a text, a whole number, or the data that :func:`to_exact_data` returns for an
exact figure.
"""

from collections.abc import Sequence
from typing import Any

from paytables import Analysis
from tools.lab.parsheet.figures import to_exact_data

#: One sheet as JSON data.
SheetData = dict[str, Any]
#: Labels with their values.
LabelledValues = list[tuple[str, Any]]


def build_sheet_data(
    name: str,
    labelled_values: LabelledValues,
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[Any]] = (),
) -> SheetData:
    """Return one sheet of a PAR sheet as JSON data; labels without a value are left out."""
    shown_values = [[label, value] for label, value in labelled_values if value not in (None, "", ())]
    return {
        "sheet": name,
        "facts": shown_values,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
    }


def build_level_sheets(levels: Sequence[tuple[str, LabelledValues]], analysis: Analysis) -> list[SheetData]:
    """Return the sheets of the progressive levels, with each level's return per bet."""
    columns = (
        "bet",
        "stake, credits",
        "probability",
        "return at reset",
        "increment",
        "return of both",
        "break-even, credits",
    )
    sheets = []
    for level_name, labelled_values in levels:
        rows = [
            [
                bet.bet,
                bet.cost_credits,
                to_exact_data(level_figures.rate),
                to_exact_data(level_figures.rtp_at_reset),
                to_exact_data(level_figures.increment),
                to_exact_data(level_figures.rtp_at_reset + level_figures.increment),
                to_exact_data(level_figures.break_even_credits),
            ]
            for bet in analysis.bets
            for level_figures in bet.progressives
            if level_figures.level == level_name and level_figures.rate
        ]
        sheets.append(build_sheet_data(f"Progressive level {level_name}", labelled_values, columns, rows))
    return sheets

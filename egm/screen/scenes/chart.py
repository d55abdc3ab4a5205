"""A best-play chart on a help page: a row for each hand, a column for each first card of the dealer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.stage import Stage
from egm.screen.theme import Colour, parse_colour

#: The colour of each answer; its letter means the same.
_COLOUR_BY_ANSWER: Final[Mapping[str, Colour]] = {
    "H": parse_colour("#7a1f2b"),
    "S": parse_colour("#1d5a35"),
    "D": parse_colour("#6b4a00"),
    "E": parse_colour("#5a5200"),
    "P": parse_colour("#23407f"),
    ".": parse_colour("#26222f"),
}
#: The share of the width for the names of the hands.
_HAND_NAMES_WIDTH_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class StrategyChart:
    """A strategy chart: a column for each first card of the dealer, and a row for each hand of the player.

    A row has the hand's names by language, and a letter for each column: the advised decision.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Mapping[str, str], str], ...]


def find_strategy_chart(stage: Stage) -> StrategyChart | None:
    """Return the strategy chart of the game on the screen; None if it has none or the venue does not allow charts."""
    data = stage.game_data.get("chart")
    if data is None:
        return None
    rows = tuple((row["names"], str(row["cells"])) for row in data["rows"])
    return StrategyChart(tuple(map(str, data["columns"])), rows)


def draw_chart(stage: Stage, rect: Rect) -> None:
    """Draw the chart, and the meaning of its letters below."""
    chart, p, (x, y, w, h) = find_strategy_chart(stage), stage.painter, rect
    if chart is None:
        return
    columns, rows = chart.columns, chart.rows
    height = min(46.0, (h - (64 if not stage.layout.is_telephone else 92)) / (len(rows) + 1))
    left, width = x + w * _HAND_NAMES_WIDTH_SHARE, w * (1 - _HAND_NAMES_WIDTH_SHARE) / len(columns)
    size = "small" if height > 34 else "caption"
    p.draw_label(
        stage.texts.say("chart.dealer"),
        (x, y, w * _HAND_NAMES_WIDTH_SHARE - 10, height),
        TextStyle("text", size, "text_dim"),
    )
    for n, column in enumerate(columns):
        p.draw_label(column, (left + n * width, y, width, height), TextStyle("strong", size, "meter"))
    for n, (names, cells) in enumerate(rows):
        top = y + (n + 1) * height
        p.draw_label(
            stage.texts.choose_translation(names),
            (x, top, w * _HAND_NAMES_WIDTH_SHARE - 10, height),
            TextStyle("strong", size, "text"),
            align="left",
        )
        for column_number, letter in enumerate(cells):
            cell: Rect = (left + column_number * width + 1, top + 1, width - 2, height - 2)
            p.draw_panel(cell, radius=4, fill=_COLOUR_BY_ANSWER[letter])
            if letter != ".":
                p.draw_label(_format_letter(stage, letter), cell, TextStyle("strong", size, "text"))
    p.write_paragraph(
        stage.texts.say("chart.legend"),
        (x, y + (len(rows) + 1) * height + 8, w, 56),
        TextStyle("text", "caption", "text"),
    )


def _format_letter(stage: Stage, letter: str) -> str:
    """Return the letter for a decision in the player's language. D, E and P are the same in all languages."""
    key = f"chart.{letter}"
    return stage.texts.say(key) if stage.texts.has_text(key) else letter

"""A best-play chart on a help page: a row for each hand, a column for each first card of the dealer."""

from collections.abc import Mapping
from typing import Final

from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.theme import Colour, parse_colour

#: The colour of each advised decision. Its letter distinguishes it without colour.
_COLOUR_BY_PLAY_LETTER: Final[Mapping[str, Colour]] = {
    "H": parse_colour("#7a1f2b"),
    "S": parse_colour("#1d5a35"),
    "D": parse_colour("#6b4a00"),
    "E": parse_colour("#5a5200"),
    "P": parse_colour("#23407f"),
    ".": parse_colour("#26222f"),
}
#: The share of the width for the names of the hands.
_HAND_NAMES_WIDTH_SHARE: Final = 0.3


def has_strategy_chart(context: DrawingContext) -> bool:
    """Return whether the game on the screen has a strategy chart, which shows the best decision for each hand.

    If the venue does not allow such charts, the machine publishes the game without its chart.
    """
    return context.game_data.get("chart") is not None


def draw_chart(context: DrawingContext, rect: Rect) -> None:
    """Draw the chart of a game that has one, and the meaning of its letters below.

    The chart has a column for each first card of the dealer, and a row for each hand of the player. A row has the name
    of the hand and, in each column, a letter that stands for the advised decision.
    """
    columns, rows = context.game_data["chart"]["columns"], context.game_data["chart"]["rows"]
    painter, (x, y, w, h) = context.painter, rect
    height = min(46.0, (h - (64 if not context.layout.is_telephone else 92)) / (len(rows) + 1))
    left, width = x + w * _HAND_NAMES_WIDTH_SHARE, w * (1 - _HAND_NAMES_WIDTH_SHARE) / len(columns)
    size = "small" if height > 34 else "caption"
    painter.draw_label(
        context.texts.translate("chart.dealer"),
        (x, y, w * _HAND_NAMES_WIDTH_SHARE - 10, height),
        TextStyle("text", size, "text_dim"),
    )
    for column_index, column in enumerate(columns):
        painter.draw_label(
            str(column), (left + column_index * width, y, width, height), TextStyle("strong", size, "meter")
        )
    for row_index, row in enumerate(rows):
        top = y + (row_index + 1) * height
        name = context.texts.choose_translation(row["names"])
        painter.draw_label(
            name,
            (x, top, w * _HAND_NAMES_WIDTH_SHARE - 10, height),
            TextStyle("strong", size, "text"),
            align="left",
        )
        for column_index, letter in enumerate(row["cells"]):
            cell: Rect = (left + column_index * width + 1, top + 1, width - 2, height - 2)
            painter.draw_panel(cell, radius=4, fill=_COLOUR_BY_PLAY_LETTER[letter])
            if letter != ".":
                painter.draw_label(_format_letter(context, letter), cell, TextStyle("strong", size, "text"))
    text = context.texts.translate("chart.legend")
    painter.draw_paragraph(
        text, (x, y + (len(rows) + 1) * height + 8, w, 56), TextStyle("text", "caption", "text")
    )


def _format_letter(context: DrawingContext, letter: str) -> str:
    """Return the letter for a decision in the player's language. D, E and P are the same in all languages."""
    text_key = f"chart.{letter}"
    return context.texts.translate(text_key) if context.texts.has_text(text_key) else letter

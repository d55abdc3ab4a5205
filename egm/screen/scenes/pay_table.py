"""Pay tables of table games: each row with its pay at the current bet or its odds, and which rows were won."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import DrawingContext, draw_heading
from egm.screen.steps import TableStep
from egm.screen.table import BetSpot, is_table_game
from egm.screen.view import find_last_step, is_presentation_running

#: The maximum height of a row, in units.
_ROW_HEIGHT_MAX: Final = 52.0
#: The gap between rows, in units.
_ROW_GAP: Final = 5.5
#: The margin at either end of a row, in units.
_ROW_END_MARGIN: Final = 10.0
#: Height of a line, as a multiple of its text size.
_LINE_HEIGHT_FACTOR: Final = 1.16
#: The possible text sizes of a name, the largest first, and the size of the pay beside it.
_PAY_TEXT_SIZE_BY_NAME_TEXT_SIZE: Final = {"small": "body", "caption": "small", "tiny": "caption"}
#: The possible text sizes of a name, the largest first.
_NAME_TEXT_SIZES: Final = tuple(_PAY_TEXT_SIZE_BY_NAME_TEXT_SIZE)


@dataclass(frozen=True, slots=True)
class PayTableRow:
    """A row of a pay table as a game publishes it (:file:`paytables/FELTS.md`)."""

    id: str
    names: Mapping[str, str]
    odds: str
    credits: int
    credits_by_bet: Mapping[str, int]
    """The row's pay for each bet, both in credits; empty if the pay is proportional to the bet."""
    spot: str
    """The id of the spot whose bet the row pays; empty if the game has a single bet."""


def list_pay_table_rows(context: DrawingContext) -> list[PayTableRow]:
    """Return the rows of the game's pay table in the game's order, which is the highest pay first."""
    game = context.view.game
    return [
        PayTableRow(
            str(row_data["name"]),
            row_data["names"],
            str(row_data.get("odds", "")),
            int(row_data.get("credits", 0)),
            row_data.get("by_credits", {}),
            str(row_data.get("spot", "")),
        )
        for row_data in (
            game.presentation.get("pays", ()) if game is not None and is_table_game(game) else ()
        )
    ]


@dataclass(frozen=True, slots=True)
class PayRowText:
    """A row of a pay table as text: the combination of cards, its pay, and whether it was just won."""

    name_text: str
    pay_text: str
    is_won: bool = False


def list_spot_pay_rows(context: DrawingContext, spot: BetSpot) -> list[PayTableRow]:
    """Return the rows of a bet spot's pay table.

    Return an empty list if there is no more than one row and the odds printed on the spot state its pay already.
    """
    pay_rows = [pay_row for pay_row in list_pay_table_rows(context) if pay_row.spot == spot.id]
    return (
        pay_rows
        if len(pay_rows) > 1 or any(format_pay(context, pay_row) != spot.odds for pay_row in pay_rows)
        else []
    )


def format_spot_odds(context: DrawingContext, spot: BetSpot) -> str:
    """Return the odds of a bet spot as text.

    If the spot can win at several odds, the text has the spot's own odds and the highest, or "up to" and the spot's own
    odds if these are the highest.
    """
    all_odds = [format_pay(context, pay_row) for pay_row in list_spot_pay_rows(context, spot)]
    if set(all_odds) <= {spot.odds}:
        return spot.odds
    highest_odds = max((spot.odds, *all_odds), key=_build_odds_sort_key)
    text_key = "felt.up_to" if highest_odds == spot.odds else "felt.odds_up_to"
    return context.texts.translate(text_key, odds=spot.odds, most=highest_odds)


@lru_cache(maxsize=1024)
def _build_odds_sort_key(odds: str) -> tuple[bool, Fraction]:
    """Return a sort key for odds, ascending: amounts by size, then shares of a progressive level."""
    if odds.endswith("%"):
        return True, Fraction(odds.rstrip("% "))
    if odds.startswith("x"):
        return False, Fraction(odds[1:])
    net, _, stake = odds.partition(":")
    return False, Fraction(net) / Fraction(stake)


def draw_pay_table_rows(context: DrawingContext, rect: Rect, rows: Sequence[PayTableRow]) -> None:
    """Draw rows of the pay table with their pays at the current bet. The rows that were won are lit."""
    draw_row_texts(context, rect, _format_pay_rows(context, rows))


def _format_pay_rows(context: DrawingContext, rows: Sequence[PayTableRow]) -> list[PayRowText]:
    """Return rows of a pay table as text; the rows that were won are marked."""
    won_pay_id, hand_count_by_pay_id = _find_won_pay_id(context), _count_hands_by_pay(context)
    pay_row_texts: list[PayRowText] = []
    for pay_row in rows:
        text, count = context.texts.choose_translation(pay_row.names), hand_count_by_pay_id[pay_row.id]
        text = context.texts.translate("felt.times", count=count, name=text) if count else text
        pay_row_texts.append(
            PayRowText(text, format_pay(context, pay_row), is_won=count > 0 or pay_row.id == won_pay_id)
        )
    return pay_row_texts


def _wrap_row_names(
    context: DrawingContext, row_texts: Sequence[PayRowText], width: float, text_size_name: str
) -> list[list[str]]:
    """Return the name of each row as lines that fit into the width next to the row's pay."""
    painter = context.painter
    style = TextStyle("strong", text_size_name, "text")
    pay_style = TextStyle("numbers", _PAY_TEXT_SIZE_BY_NAME_TEXT_SIZE[text_size_name], "meter")
    name_width = (
        width
        - 2 * _ROW_END_MARGIN
        - _ROW_END_MARGIN
        - max((painter.measure_text(row_text.pay_text, pay_style) for row_text in row_texts), default=0.0)
    )
    return [painter.wrap_evenly(row_text.name_text, name_width, style) for row_text in row_texts]


def _compute_lines_height(context: DrawingContext, lines: Sequence[str], text_size_name: str) -> float:
    """Return the height of a pay-table row whose name has the given lines, in units."""
    return len(lines) * context.theme.size_by_name[text_size_name] * _LINE_HEIGHT_FACTOR + _ROW_GAP


def compute_pay_rows_height(
    context: DrawingContext,
    row_texts: Sequence[PayRowText],
    width: float,
    text_size_name: str = _NAME_TEXT_SIZES[-1],
) -> float:
    """Return the minimum total height, in units, of the given rows of a pay table at a width and text size.

    If no text size is given, it is the smallest readable one.
    """
    return sum(
        _compute_lines_height(context, lines, text_size_name)
        for lines in _wrap_row_names(context, row_texts, width, text_size_name)
    )


def draw_row_texts(
    context: DrawingContext,
    rect: Rect,
    row_texts: Sequence[PayRowText],
    row_height_max: float = _ROW_HEIGHT_MAX,
) -> float:
    """Draw rows of a pay table as large as fits; long names have several lines. Return the height used.

    No row is higher than ``row_height_max``. All lengths are in units.
    """
    painter, (x, y, w, h) = context.painter, rect
    size = next(
        (
            text_size_name
            for text_size_name in _NAME_TEXT_SIZES
            if compute_pay_rows_height(context, row_texts, w, text_size_name) <= h
        ),
        _NAME_TEXT_SIZES[-1],
    )
    wrapped_names = _wrap_row_names(context, row_texts, w, size)
    additional_height = (h - compute_pay_rows_height(context, row_texts, w, size)) / max(1, len(row_texts))
    style = TextStyle("strong", size, "text")
    pay_style = TextStyle("numbers", _PAY_TEXT_SIZE_BY_NAME_TEXT_SIZE[size], "meter")
    line_height, top = context.theme.size_by_name[size] * _LINE_HEIGHT_FACTOR, y
    for row_text, lines in zip(row_texts, wrapped_names, strict=True):
        height_min = _compute_lines_height(context, lines, size)
        height = max(height_min, min(row_height_max, height_min + additional_height))
        if row_text.is_won:
            painter.draw_panel((x, top, w, height), radius=8, fill=(122, 66, 8, 255), edge_paint="meter")
        for i, text in enumerate(lines):
            middle = top + height / 2 + (i - (len(lines) - 1) / 2) * line_height
            painter.draw_text(text, (x + _ROW_END_MARGIN, middle), style, align="left", width_max=w)
        painter.draw_text(
            row_text.pay_text,
            (x + w - _ROW_END_MARGIN, top + height / 2),
            pay_style,
            align="right",
            width_max=w / 2,
        )
        top += height
    return top - y


def lay_out_pay_columns(
    context: DrawingContext, rect: Rect, key_rect: Rect
) -> list[tuple[Rect, list[PayTableRow]]]:
    """Return a telephone's pay table as two columns: the rectangle and the rows of each.

    The right column begins below the key whose rectangle is ``key_rect``. The rows are divided so that the higher
    column is as low as possible.
    """
    x, y, w, _ = rect
    width, rows = (w - _ROW_END_MARGIN) / 2, list_pay_table_rows(context)
    heights = [
        _compute_lines_height(context, lines, "caption")
        for lines in _wrap_row_names(context, _format_pay_rows(context, rows), width, "caption")
    ]
    right_column_offset = key_rect[1] + key_rect[3] - y
    left_row_count = min(
        range(len(rows) + 1),
        key=lambda row_count: max(sum(heights[:row_count]), right_column_offset + sum(heights[row_count:])),
    )
    return [
        ((x, y, width, sum(heights[:left_row_count])), rows[:left_row_count]),
        (
            (x + w - width, y + right_column_offset, width, sum(heights[left_row_count:])),
            rows[left_row_count:],
        ),
    ]


def draw_pay_columns(context: DrawingContext, rect: Rect, key_rect: Rect) -> None:
    """Draw a telephone's pay table in two columns, with its heading next to the key whose rectangle is ``key_rect``."""
    columns = lay_out_pay_columns(context, rect, key_rect)
    for column_rect, rows in columns:
        draw_pay_table_rows(context, column_rect, rows)
    (x, _, _, _), _ = columns[1]
    style = TextStyle("heavy", "small", context.look.accent_colour)
    context.painter.draw_label(
        format_pay_heading(context),
        (x + _ROW_END_MARGIN, key_rect[1], key_rect[0] - x - 2 * _ROW_END_MARGIN, key_rect[3]),
        style,
    )


def _find_won_pay_id(context: DrawingContext) -> str:
    """Return the id of the pay-table row that the hand on the table has won.

    While the player decides, it is the row that the present cards would win. Return "" if there is no such row,
    while the presentation runs, and once the win of the ended round has been collected.
    """
    step, view = find_last_step(context.view), context.view
    if not isinstance(step, TableStep) or view.snapshot is None:
        return ""
    has_nothing_to_collect = (
        view.snapshot.is_between_games and not view.snapshot.paid_cents and view.decision is None
    )
    return (
        ""
        if has_nothing_to_collect or is_presentation_running(view, context.theme)
        else str(step.display.get("won") or "")
    )


def _count_hands_by_pay(context: DrawingContext) -> Counter[str]:
    """Return how many hands have won each row of the pay table, for a bet on several hands.

    Empty for one hand.
    """
    step = find_last_step(context.view)
    if not _find_won_pay_id(context) or not isinstance(step, TableStep):
        return Counter()
    hands = step.display.get("hands", ())
    return Counter(str(hand["won"]) for hand in hands if hand.get("won")) if len(hands) > 1 else Counter()


def format_pay(context: DrawingContext, pay_row: PayTableRow) -> str:
    """Return a pay-table row's odds as text or, if it states none, its pay at the current bet on one hand."""
    if pay_row.odds:
        return pay_row.odds
    snapshot = context.view.snapshot
    if snapshot is None:
        return context.texts.format_number(pay_row.credits)
    bet = str(snapshot.bet_credits // _count_hands_bought(context))
    return context.texts.format_number(pay_row.credits_by_bet.get(bet, pay_row.credits))


def _count_hands_bought(context: DrawingContext) -> int:
    """Return how many hands the current bet buys.

    It is the number that the player chose. If the bet states no number, it is the smallest number of hands that can
    cost as much as the bet.
    """
    snapshot, game = context.view.snapshot, context.view.game
    if snapshot is None or game is None:
        return 1
    if "hands" in snapshot.bet_wager:
        return max(1, int(snapshot.bet_wager["hands"]))
    bets = game.presentation.get("bets", {})
    for hand_count in map(int, bets.get("hands", ())):
        credits_per_hand, remainder = divmod(snapshot.bet_credits, hand_count)
        if not remainder and credits_per_hand in bets["credits"]:
            return hand_count
    return 1


def format_pay_heading(context: DrawingContext) -> str:
    """Return the heading of the pay table. For several hands, it has their number and the bet on each."""
    hand_count, snapshot = _count_hands_bought(context), context.view.snapshot
    if hand_count == 1 or snapshot is None:
        return context.texts.translate("felt.pays")
    amount = context.format_money(snapshot.bet_credits // hand_count * snapshot.denomination_cents)
    return context.texts.translate("felt.hands_at", hands=hand_count, amount=amount)


def draw_pay_panels(context: DrawingContext) -> bool:
    """Draw the pay table on the left panel, or on both panels if the left one is too small.

    On a telephone, draw nothing, because the field shows the table. Return False if the game has no pay table.
    """
    rows, layout = list_pay_table_rows(context), context.layout
    if not rows or layout.is_telephone:
        return bool(rows)
    heading, height_max = format_pay_heading(context), layout.left_panel[3] - 54 - 62
    fits_on_left_panel = (
        compute_pay_rows_height(
            context, _format_pay_rows(context, rows), layout.left_panel[2] - 24, "caption"
        )
        <= height_max
    )
    left_row_count = len(rows) if fits_on_left_panel else -(-len(rows) // 2)
    for (panel_x, panel_y, panel_width, _), panel_rows in (
        (layout.left_panel, rows[:left_row_count]),
        (layout.right_panel, rows[left_row_count:]),
    ):
        if panel_rows:
            draw_heading(context, heading, (panel_x + 10, panel_y + 10, panel_width - 20, 40))
            draw_pay_table_rows(
                context, (panel_x + 12, panel_y + 54, panel_width - 24, height_max), panel_rows
            )
    return True

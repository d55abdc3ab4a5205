"""The two panels next to the game field: the game's prizes, and the small print below them."""

from collections.abc import Sequence
from typing import Final

from egm.kernel.messages import GameView
from egm.screen.keno_slip import (
    compute_current_preset_ticket_price,
    find_current_preset_ticket,
)
from egm.screen.layout import SMALL_PRINT_LINE_HEIGHT, Layout
from egm.screen.painter import Rect, TextStyle
from egm.screen.reel_data import ReelData, ReelPrize, compute_prize_at_bet
from egm.screen.scenes.drawing_context import DrawingContext, draw_heading
from egm.screen.scenes.keno import lay_out_preset_ticket_rows, list_keno_prizes
from egm.screen.scenes.limits_sign import LIMITS_TEXT_STYLE, draw_limits_sign, lay_out_small_print
from egm.screen.scenes.progressive import draw_levels, list_shown_levels
from egm.screen.scenes.reel_wins import find_highlighted_win
from egm.screen.scenes.reels import render_symbol
from egm.screen.scenes.table_side_panels import draw_table_side_panels
from egm.screen.scenes.wheel_game import draw_wheel_side_panels
from egm.screen.text import Texts
from egm.screen.wheel_stakes import is_wheel_game

#: A prize row higher than this has large digits.
_LARGE_DIGITS_ROW_HEIGHT_MIN: Final = 40.0
#: From this number of prizes on, a Keno card's prizes have two columns in portrait.
_PRIZES_FOR_TWO_COLUMNS_MIN: Final = 4
#: Space left and right of a Keno prize and between its two texts, in units.
_KENO_PRIZE_MARGIN: Final = 5.0
#: Height of the space below the small print of a telephone's strip, in units.
_STRIP_BOTTOM_MARGIN: Final = 6.0


def find_base_reel_data(context: DrawingContext) -> ReelData | None:
    """Return the reel data of the game's first stage, or None if it is not played on reels."""
    game = context.view.game
    reel_data_by_stage = context.view.reel_data_by_game.get(game.id, {}) if game else {}
    return next(iter(reel_data_by_stage.values()), None)


def list_current_prizes(context: DrawingContext, reel_data: ReelData) -> list[tuple[ReelPrize, int]]:
    """Return the prizes that the current bet can win, each with its value in credits, the highest first (C-22)."""
    game, snapshot = context.view.game, context.view.snapshot
    if game is None or snapshot is None:
        return []
    bet = snapshot.bet_credits
    prizes_and_credits = [
        (prize, compute_prize_at_bet(game, prize.name, prize.credits, bet)) for prize in reel_data.prizes
    ]
    return sorted(
        ((prize, credits_) for prize, credits_ in prizes_and_credits if credits_),
        key=lambda prize_and_credits: -prize_and_credits[1],
    )


def format_prize_name(
    texts: Texts, reel_data: ReelData, symbol_count: int, symbol: str, prize_name: str
) -> str:
    """Return a prize's name in the player's language, with the number of symbols that it needs.

    The number is left out if the game has its own name for the prize, and no prize with this name for another number.
    """
    if symbol:
        return texts.translate(
            "help.kind",
            count=symbol_count,
            name=texts.choose_translation(reel_data.symbol_names.get(symbol, {}), symbol),
        )
    count_text, _, remainder = prize_name.partition(" ")
    is_counted = count_text.isdigit() and bool(remainder)
    bare_name = remainder if is_counted else prize_name
    text = (
        texts.choose_translation(reel_data.prize_names[bare_name], bare_name)
        if bare_name in reel_data.prize_names
        else bare_name.replace("-", " ").capitalize()
    )
    is_only_prize = sum(1 for prize in reel_data.prizes if prize.name.partition(" ")[2] == remainder) <= 1
    return (
        text
        if not is_counted or (is_only_prize and bare_name in reel_data.prize_names)
        else texts.translate("help.kind", count=count_text, name=text)
    )


def draw_side_panels(context: DrawingContext) -> None:
    """Draw the two side panels of any game, with the displays of progressive levels and the small print.

    For a game on reels, they have the prizes of the current bet, the higher ones on the left. Tables, wheel games and
    Keno have panels of their own.
    """
    reel_data = find_base_reel_data(context)
    if context.view.snapshot is None:
        return
    has_strip = context.layout.is_telephone and context.view.table is not None
    right_panel_rect = (
        context.layout.right_panel if has_strip else draw_levels(context, context.layout.right_panel)
    )
    if is_wheel_game(context.view.game) or context.view.table is not None:
        if is_wheel_game(context.view.game):
            draw_wheel_side_panels(context)
        else:
            has_long_print = (
                context.layout.is_portrait and not has_strip
            )  # Elsewhere it has at most two lines.
            print_line_count = (
                len(lay_out_small_print(context, right_panel_rect[2] - 36)) if has_long_print else 1
            )
            print_height = _compute_small_print_height(context.layout)
            x, y, w, h = draw_limits_sign(context, right_panel_rect, print_height)
            draw_table_side_panels(
                context,
                (x, y, w, h - _compute_small_print_height(context.layout, print_line_count) + print_height),
            )
        _draw_small_print(context, context.layout.right_panel)
        return
    if reel_data is None:
        _draw_keno_side_panels(context, right_panel_rect)
        return
    prizes = list_current_prizes(context, reel_data)
    layout = context.layout
    left_row_count = 6 if not layout.is_portrait else 4 if not layout.is_telephone else 3
    right_row_count = max(
        1, int((right_panel_rect[3] - 126) / (layout.right_panel[3] - 126) * (left_row_count - 1) + 0.5)
    )
    left_prizes, right_prizes = (
        prizes[:left_row_count],
        prizes[left_row_count : left_row_count + right_row_count],
    )
    if len(prizes) <= left_row_count:
        left_count = (len(prizes) + 1) // 2
        left_prizes, right_prizes = prizes[:left_count], prizes[left_count:]
    _draw_prizes(
        context, reel_data, left_prizes, layout.left_panel, context.texts.translate("panel.top_prizes")
    )
    if layout.is_portrait and list_shown_levels(context):
        _draw_small_print(context, layout.right_panel)
        return
    line_count = len(reel_data.pay_lines)
    text_key = "panel.all_lines_one" if line_count == 1 else "panel.all_lines"
    _draw_prizes(
        context,
        reel_data,
        right_prizes,
        right_panel_rect,
        context.texts.translate(text_key, count=line_count)
        if line_count
        else context.texts.translate("key.pays"),
    )
    _draw_small_print(context, layout.right_panel)


def _draw_keno_side_panels(context: DrawingContext, right_panel_rect: Rect) -> None:
    """Draw the side panels of a Keno game.

    The left panel has the prize for each catch (how many marked numbers are drawn) for one credit staked; the right
    panel has the kinds of ticket.
    """
    painter, texts, game = context.painter, context.texts, context.view.game
    if game is None:
        return
    spot_count, prizes = list_keno_prizes(context)
    x, y, w, h = context.layout.left_panel
    draw_heading(context, texts.format_count("keno.spots", spot_count), (x + 10, y + 12, w - 20, 40))
    column_count = 1 if not context.layout.is_portrait or len(prizes) < _PRIZES_FOR_TWO_COLUMNS_MIN else 2
    head_height = 66.0 if not context.layout.is_portrait else 54.0
    row_height = min(
        64.0,
        (h - head_height - 2 - _compute_small_print_height(context.layout))
        / max(1, -(-len(prizes) // column_count)),
    )
    size, width = "lead" if row_height > 44 else "small", (w - 36) / column_count
    for i, (catch, text) in enumerate(prizes):
        left = x + 18 + i % column_count * width
        middle = y + head_height + (i // column_count + 0.5) * row_height
        style, prize_width = TextStyle("numbers", size, "meter"), width * 0.32
        painter.draw_text(
            texts.translate("keno.catch", count=catch),
            (left + _KENO_PRIZE_MARGIN, middle),
            TextStyle("strong", "small" if row_height > 30 else "caption", "text"),
            align="left",
            width_max=width - 3 * _KENO_PRIZE_MARGIN - min(prize_width, painter.measure_text(text, style)),
        )
        painter.draw_text(
            text, (left + width - _KENO_PRIZE_MARGIN, middle), style, align="right", width_max=prize_width
        )
    _draw_ticket_kinds(context, game, right_panel_rect)


def _draw_ticket_kinds(context: DrawingContext, game: GameView, right_panel_rect: Rect) -> None:
    """Draw the preset tickets of a Keno game on the right panel."""
    texts = context.texts
    x, y, w, h = right_panel_rect
    if context.layout.is_portrait and list_shown_levels(context):
        _draw_small_print(context, context.layout.right_panel)
        return
    draw_heading(context, texts.translate("keno.tickets"), (x + 10, y + 12, w - 20, 40))
    rows = lay_out_preset_ticket_rows(context.view, context.layout)
    for rect, action in rows:
        _draw_preset_ticket_row(context, game, rect, str(action.value))
    if not rows:
        names = [texts.choose_translation(ticket["name"]) for ticket in game.presentation.get("forms", [])]
        head_height = (
            70.0 if not context.layout.is_portrait else 52.0 if context.layout.is_telephone else 54.0
        )
        names_rect: Rect = (
            x + 26,
            y + head_height,
            w - 52,
            h - head_height - _compute_small_print_height(context.layout),
        )
        draw_names = _draw_close_lines if context.layout.is_telephone else _draw_paragraphs
        draw_names(context, names, names_rect)
    _draw_small_print(context, context.layout.right_panel)


def _draw_close_lines(context: DrawingContext, texts: Sequence[str], rect: Rect) -> None:
    """Draw each text as one line in a rectangle.

    If there are many, the lines are closer together; those that do not fit at a readable size are left out.
    """
    x, y, w, h = rect
    style, line_height_min = TextStyle("strong", "caption", "text"), context.theme.size_by_name["caption"]
    line_count = max(1, min(len(texts), int(h / line_height_min)))
    line_pitch = min(line_height_min * 1.3, h / line_count)
    for i, text in enumerate(texts[:line_count]):  # The help pages list all of them.
        context.painter.draw_text(text, (x, y + (i + 0.5) * line_pitch), style, align="left", width_max=w)


def _draw_paragraphs(context: DrawingContext, texts: Sequence[str], rect: Rect) -> None:
    """Draw paragraphs from the top of a rectangle. Those whose first line does not fit are left out."""
    x, top, w, h = rect
    bottom, is_portrait = top + h, context.layout.is_portrait
    for text in texts:
        if top + (26 if is_portrait else 40) > bottom:
            break  # The help pages list all of them.
        style = TextStyle("strong", "small", "text")
        top += context.painter.draw_paragraph(text, (x, top, w, 90), style, leading=1.2)
        top += 2 if is_portrait else 12


def _draw_preset_ticket_row(context: DrawingContext, game: GameView, rect: Rect, ticket_id: str) -> None:
    """Draw one preset ticket of a Keno game with its price. It is lit if PLAY would buy it."""
    view, painter, (x, y, w, h) = context.view, context.painter, rect
    assert view.snapshot is not None  # Rows exist only with a snapshot.
    ticket = next(ticket for ticket in game.presentation["forms"] if ticket["id"] == ticket_id)
    is_selected = (
        not view.marked_keno_slip.has_marks
        and find_current_preset_ticket(game, view.snapshot)["id"] == ticket_id
    )
    credits_ = (
        view.snapshot.bet_credits
        if is_selected
        else compute_current_preset_ticket_price(game, ticket, view.snapshot)
    )
    fill = (122, 66, 8, 255) if is_selected else (30, 24, 56, 255)
    edge = context.look.accent_colour if is_selected else (136, 120, 190, 255)
    painter.draw_panel(rect, radius=14, fill=fill, edge_paint=edge, edge_width=3 if is_selected else 2)
    amount = context.format_money(credits_ * view.snapshot.denomination_cents)
    style = TextStyle("strong", "caption", "text")
    name = context.texts.choose_translation(ticket["name"])
    if h < 80:
        painter.draw_text(name, (x + 12, y + h / 2), style, align="left", width_max=w * 0.6)
        painter.draw_text(
            amount,
            (x + w - 12, y + h / 2),
            TextStyle("numbers", "body", "meter"),
            align="right",
            width_max=w * 0.3,
        )
        return
    name_lines = painter.wrap_text(name, w - 24, style)[:2]
    for i, line in enumerate(name_lines):
        painter.draw_text(
            line,
            (x + 12, y + (22 if len(name_lines) > 1 else 32) + 23 * i),
            style,
            align="left",
            width_max=w - 24,
        )
    painter.draw_text(
        amount,
        (x + w - 12, y + h - 22),
        TextStyle("numbers", "body", "meter"),
        align="right",
        width_max=w - 24,
    )


def _draw_prizes(
    context: DrawingContext,
    reel_data: ReelData,
    prizes: list[tuple[ReelPrize, int]],
    rect: Rect,
    heading: str,
) -> None:
    """Draw prizes with their pays on a panel, below a heading."""
    painter, (x, y, w, h) = context.painter, rect
    draw_heading(context, heading, (x + 10, y + 12, w - 20, 40))
    painter.fill_rounded_rect((x + 24, y + 54, w - 48, 2), (*context.look.accent_colour[:3], 110))
    rows_height = h - 64 - _compute_small_print_height(context.layout)
    row_height = min(112.0, rows_height / max(1, len(prizes)))
    highlighted_win = find_highlighted_win(context)
    for i, (prize, credits_) in enumerate(prizes):
        top = y + 62 + i * row_height
        if highlighted_win is not None and highlighted_win.name == prize.name:
            painter.fill_rounded_rect(
                (x + 12, top, w - 24, row_height - 4), (*context.look.accent_colour[:3], 64), 12
            )
        _draw_prize(context, reel_data, prize, (x + 18, top, w - 36, row_height - 4), credits_)


def _draw_prize(
    context: DrawingContext, reel_data: ReelData, prize: ReelPrize, rect: Rect, credits_: int
) -> None:
    """Draw one prize on a side panel: its symbols, or else its name, and its pay in credits."""
    painter, (x, y, w, h) = context.painter, rect
    icons = reel_data.list_prize_icons(prize)
    icon_width = min(h - 6, 68.0, (w * 0.66) / max(1, len(icons)))
    middle = y + h / 2
    size = (painter.scale_length(icon_width), painter.scale_length(icon_width))
    for i, symbol in enumerate(icons):
        painter.draw_surface(
            render_symbol(context, reel_data, symbol, size),
            (painter.scale_length(x + i * icon_width), painter.scale_length(middle - icon_width / 2)),
        )
    if not icons:
        painter.draw_text(
            format_prize_name(context.texts, reel_data, prize.symbol_count, prize.symbol, prize.name),
            (x + 4, middle),
            TextStyle("strong", "small", "text"),
            align="left",
            width_max=w * 0.62,
        )
    painter.draw_text(
        context.texts.format_number(credits_),
        (x + w - 2, middle),
        TextStyle("numbers", "lead" if h > _LARGE_DIGITS_ROW_HEIGHT_MIN else "body", "meter"),
        align="right",
        width_max=w * 0.36,
    )


def _compute_small_print_height(layout: Layout, line_count: int = 1) -> float:
    """Return the height for ``line_count`` lines of small print on a side panel; one line gets the height of two."""
    return (62.0 if not layout.is_telephone else 50.0) + max(0, line_count - 2) * SMALL_PRINT_LINE_HEIGHT


def _draw_small_print(context: DrawingContext, rect: Rect) -> None:
    """Draw the small print below the panels: the value of a credit, a table's limits, and the malfunction clause."""
    game, snapshot = context.view.game, context.view.snapshot
    if game is None or snapshot is None:
        return
    painter = context.painter
    malfunction_text = context.texts.translate(f"defect.{snapshot.defect_rule}")
    if rect[2] <= 0:
        _draw_small_print_on_telephone(context, malfunction_text)
        return
    fact_texts = lay_out_small_print(context, rect[2] - 36)
    for (x, y, w, h), lines, style in (
        (rect, fact_texts, LIMITS_TEXT_STYLE),
        (context.layout.left_panel, [malfunction_text], TextStyle("text", "caption", "text_dim")),
    ):
        print_height = _compute_small_print_height(context.layout, len(lines))
        rule_top = y + h - print_height + 4
        painter.fill_rounded_rect((x + 24, rule_top, w - 48, 2), (*context.look.accent_colour[:3], 70))
        line_height = (print_height - 11) / len(lines)
        for i, text in enumerate(lines):
            painter.draw_label(text, (x + 18, rule_top + 3 + i * line_height, w - 36, line_height), style)


def _draw_small_print_on_telephone(context: DrawingContext, malfunction_text: str) -> None:
    """Draw the small print on a telephone: the malfunction clause, credit value and bet limits."""
    painter, (x, y, w, h) = context.painter, context.layout.left_panel
    lines = [
        (malfunction_text, TextStyle("text", "caption", "text_dim")),
        *(
            (line, LIMITS_TEXT_STYLE)
            for line in lay_out_small_print(context, context.layout.telephone_strip_width)
        ),
    ]
    top = y + h - _STRIP_BOTTOM_MARGIN - len(lines) * SMALL_PRINT_LINE_HEIGHT
    painter.fill_rounded_rect((x + 24, top - 1, w - 48, 2), (*context.look.accent_colour[:3], 70))
    for i, (line, style) in enumerate(lines):
        painter.draw_text(
            line,
            (x + w / 2, top + (i + 0.5) * SMALL_PRINT_LINE_HEIGHT),
            style,
            width_max=context.layout.telephone_strip_width,
        )

"""Drawing of games that are played on a wheel with betting areas.

This module draws the wheel at rest, and the pays of the areas on the panels and in the help.
"""

from functools import partial
from typing import Any, Final

from egm.screen.art.files import render_own_picture
from egm.screen.layout import SMALL_PRINT_HEIGHT, Layout
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.bonus import draw_wheel, find_rect_beside_wheel
from egm.screen.scenes.drawing_context import DrawingContext, draw_heading
from egm.screen.steps import BonusAward, WheelStep
from egm.screen.view import Action, Scene, View, find_last_step
from egm.screen.wheel_stakes import is_wheel_game, read_area_stakes

#: Up to this width of the rectangle next to the wheel, as in portrait, stakes are drawn there without their prizes.
_WIDTH_WITHOUT_PRIZES_MAX: Final = 300.0


def draw_idle_wheel(context: DrawingContext) -> None:
    """Draw the wheel of a wheel game at rest where the last game stopped it.

    Next to it is the award of the last game, if it won, or else the bet. Before any game, each segment shows what it
    pays for one credit staked, on the first area that pays for its symbol.
    """
    view, step = context.view, find_last_step(context.view)
    has_won = isinstance(step, WheelStep) and view.snapshot is not None and bool(view.snapshot.paid_cents)
    if not isinstance(step, WheelStep):
        pay_by_symbol: dict[str, int] = {}
        for area in _read_areas(context):
            for symbol, pay in area["pays"].items():
                pay_by_symbol.setdefault(symbol, int(pay))
        segments = tuple(
            BonusAward(str(name), pay_by_symbol.get(str(name), 0))
            for name in context.game_data.get("parts", ())
        )
        step = WheelStep("wheel", segments, 0, 0)
    # The text of the attract scene would cover half of the texts next to the wheel.
    has_room_for_texts = view.scene is not Scene.ATTRACT
    draw_wheel(context, step, None, 0.0, should_draw_result=has_won and has_room_for_texts)
    if has_room_for_texts and not has_won:
        _draw_bet(context)


def _draw_bet(context: DrawingContext) -> None:
    """Draw, next to the wheel, the stake on each betting area with its possible prize, and the cost of the bet.

    For an area that pays for several symbols, the first one and its prize are drawn.
    """
    view, (x, y, w, h) = context.view, find_rect_beside_wheel(context.layout.game_field)
    if view.game is None or view.snapshot is None:
        return
    painter, texts, unit_cents = context.painter, context.texts, view.snapshot.denomination_cents
    stake_by_area = read_area_stakes(view.game, view.snapshot)
    painter.draw_panel(
        (x, y, w, h), radius=24, fill=(10, 6, 22, 235), edge_paint=context.look.accent_colour, edge_width=3
    )
    painter.draw_text(
        texts.translate("wheel.own"),
        (x + w / 2, y + 32),
        TextStyle("strong", "small", context.look.accent_colour),
        width_max=w - 24,
    )
    areas_and_stakes = [
        (area, stake_by_area[str(area["id"])])
        for area in _read_areas(context)
        if str(area["id"]) in stake_by_area
    ]
    row_pitch = min(62.0, (h - 132) / max(1, len(areas_and_stakes)))
    for i, (area, stake_credits) in enumerate(areas_and_stakes):
        middle = y + 62 + (i + 0.5) * row_pitch
        symbol, pay = next(iter(area["pays"].items()))
        symbol_width = min(row_pitch - 6, 48.0)
        render_symbol = partial(painter.render_symbol, str(symbol), str(symbol))
        painter.draw_cached_picture(
            ("symbol", symbol), (x + 14, middle - symbol_width / 2, symbol_width, symbol_width), render_symbol
        )
        stake_text = context.format_money(stake_credits * unit_cents)
        prize_text = context.format_money(stake_credits * int(pay) * unit_cents)
        painter.draw_text(
            stake_text,
            (x + 24 + symbol_width, middle),
            TextStyle("numbers", "body", "text"),
            align="left",
            width_max=w * 0.3 if w > _WIDTH_WITHOUT_PRIZES_MAX else w * 0.6,
        )
        if w > _WIDTH_WITHOUT_PRIZES_MAX:
            text, style = (
                texts.translate("wheel.pays", amount=prize_text),
                TextStyle("strong", "caption", "meter"),
            )
            painter.draw_text(text, (x + w - 16, middle), style, align="right", width_max=w * 0.46)
    cost_text = context.format_money(view.snapshot.bet_credits * unit_cents)
    painter.draw_text(
        cost_text, (x + w / 2, y + h - 36), TextStyle("numbers", "title", "meter"), width_max=w - 30
    )


def _lay_out_areas(layout: Layout, area_count: int) -> list[Rect]:
    """Return a rectangle on the left panel for each of the ``area_count`` betting areas of a wheel game.

    They form one column; two in portrait; three on a telephone.
    """
    x, y, w, h = layout.left_panel
    row_pitch = min(86.0, (h - 124) / max(1, area_count))
    if layout.is_telephone:
        width, row_pitch = (w - 36) / 3, (h - 46 - SMALL_PRINT_HEIGHT) / -(-area_count // 3)
        return [
            (x + 12 + (i % 3) * (width + 6), y + 46 + i // 3 * row_pitch, width, row_pitch - 6)
            for i in range(area_count)
        ]
    if layout.is_portrait:
        width, row_pitch = (w - 30) / 2, (h - 116) / -(-area_count // 2)
        return [
            (x + 12 + (i % 2) * (width + 6), y + 50 + i // 2 * row_pitch, width, row_pitch - 6)
            for i in range(area_count)
        ]
    return [(x + 14, y + 58 + i * row_pitch, w - 28, row_pitch - 8) for i in range(area_count)]


def list_area_touch_targets(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return the touch targets of a wheel game's betting areas; a touch selects the area's next stake.

    Return an empty list while the machine takes no bets.
    """
    game = view.game
    if game is None or not is_wheel_game(game) or not view.is_request_accepted("bet"):
        return []
    areas = [str(area["id"]) for area in game.presentation["areas"]]
    rects = _lay_out_areas(layout, len(areas))
    return [(rect, Action("area", area)) for rect, area in zip(rects, areas, strict=True)]


def draw_wheel_side_panels(context: DrawingContext) -> None:
    """Draw the side panels of a wheel game: the betting areas with their pays and stakes, and the preset bets.

    On a telephone, draw only the betting areas.
    """
    x, y, w, _ = context.layout.left_panel
    draw_heading(context, context.texts.translate("wheel.prizes"), (x + 10, y + 10, w - 20, 40))
    view = context.view
    stake_by_area = read_area_stakes(view.game, view.snapshot) if view.game and view.snapshot else {}
    areas = _read_areas(context)
    for rect, area in zip(_lay_out_areas(context.layout, len(areas)), areas, strict=True):
        _draw_area(context, rect, area, stake_by_area.get(str(area["id"]), 0))
    if context.layout.is_telephone:
        return
    x, y, w, _ = context.layout.right_panel
    draw_heading(context, context.texts.translate("wheel.bets"), (x + 10, y + 10, w - 20, 40))
    top = y + 66
    style = TextStyle("strong", "small", "text")
    for preset_bet in context.game_data.get("forms", ()):
        text = context.texts.choose_translation(preset_bet["name"])
        top += context.painter.draw_paragraph(text, (x + 26, top, w - 52, 90), style, leading=1.2) + 10
    if context.layout.is_portrait:
        return  # The panel has room only for the preset bets, not for the text on touching the areas.
    text = context.texts.translate("wheel.touch")
    context.painter.draw_paragraph(
        text, (x + 26, top + 8, w - 52, 200), TextStyle("text", "caption", "text_dim")
    )


def _draw_area(context: DrawingContext, rect: Rect, area: dict[str, Any], stake_credits: int) -> None:
    """Draw a betting area of a wheel game: its name, its first symbol with what it pays, and the chip for its stake."""
    painter, (x, y, w, h) = context.painter, rect
    is_enabled = context.view.is_request_accepted("bet")
    edge_colour = context.look.accent_colour if stake_credits else (*context.look.accent_colour[:3], 80)
    painter.draw_panel(
        rect,
        radius=14,
        fill=(20, 10, 30, 235) if is_enabled else (14, 8, 22, 200),
        edge_paint=edge_colour,
        edge_width=3 if stake_credits else 2,
    )
    symbol, pay = next(iter(area["pays"].items()))
    symbol_width = min(h - 12, 60.0)
    painter.draw_cached_picture(
        ("symbol", symbol),
        (x + 8, y + (h - symbol_width) / 2, symbol_width, symbol_width),
        partial(painter.render_symbol, str(symbol), str(symbol)),
    )
    left, chip_width = x + symbol_width + 16, min(h - 14, 58.0)
    text_width = w - symbol_width - chip_width - 34
    name = context.texts.choose_translation(area["name"])
    painter.draw_text(
        name, (left, y + h * 0.3), TextStyle("strong", "caption", "text"), align="left", width_max=text_width
    )
    text = context.texts.translate("feature.multiplier", times=pay)
    painter.draw_text(
        text, (left, y + h * 0.68), TextStyle("numbers", "body", "meter"), align="left", width_max=text_width
    )
    if stake_credits:
        chip_rect: Rect = (x + w - chip_width - 8, y + (h - chip_width) / 2, chip_width, chip_width)
        painter.draw_cached_picture(("stake chip",), chip_rect, partial(render_own_picture, "chip"))
        style = TextStyle("heavy", "small", (40, 20, 0, 255))
        painter.draw_text(
            str(stake_credits),
            (chip_rect[0] + chip_width / 2, chip_rect[1] + chip_width / 2),
            style,
            width_max=chip_width * 0.6,
        )


def draw_wheel_prizes(context: DrawingContext, rect: Rect) -> None:
    """Draw the help page with each betting area's pays, for one credit staked (Québec s. 120)."""
    x, y, w, h = rect
    draw_heading(context, context.texts.translate("keno.table"), (x, y - 8, w, 44))
    y, h = y + 44, h - 44
    names_symbols_and_pays = [
        (area["name"], symbol, int(pay))
        for area in _read_areas(context)
        for symbol, pay in area["pays"].items()
    ]
    row_pitch = min(64.0, h / max(1, len(names_symbols_and_pays)))
    for i, (names, symbol, pay) in enumerate(names_symbols_and_pays):
        middle, symbol_width = y + (i + 0.5) * row_pitch, min(row_pitch - 6, 56.0)
        context.painter.draw_cached_picture(
            ("symbol", symbol),
            (x, middle - symbol_width / 2, symbol_width, symbol_width),
            partial(context.painter.render_symbol, symbol, symbol),
        )
        name, style = context.texts.choose_translation(names), TextStyle("strong", "small", "text")
        context.painter.draw_text(
            name, (x + symbol_width + 12, middle), style, align="left", width_max=w * 0.62 - symbol_width - 12
        )
        style = TextStyle("numbers", "lead" if row_pitch > 44 else "small", "meter")
        context.painter.draw_text(
            context.texts.format_number(pay), (x + w, middle), style, align="right", width_max=w * 0.36
        )


def _read_areas(context: DrawingContext) -> list[dict[str, Any]]:
    """Return the betting areas that a wheel game has published; none for any other game."""
    areas: list[dict[str, Any]] = context.game_data.get("areas", [])
    return areas

"""Drawing of progressive levels, their names and amounts, on the player's screen and on the top screen.

On the player's screen they are next to the game's title or, in portrait, on the right side panel.
"""

from typing import Final

from egm.kernel.messages import ProgressiveView
from egm.screen.art.vector_canvas import Paint
from egm.screen.painter import Rect, TextStyle, build_gold_gradient
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.odometer import compute_displayed_thousandths, draw_odometer
from egm.screen.view import have_moving_parts_stopped

#: More levels than this do not fit on the player's screen; the top screen shows them all.
SHOWN_LEVELS_MAX: Final = 3
#: The minimum height of drums below the level's name; if there is less room, the name stands beside them.
_DRUMS_HEIGHT_MIN: Final = 60.0


def draw_level(
    context: DrawingContext, level: ProgressiveView, rect: Rect, text_size_name: str = "small"
) -> None:
    """Draw one progressive level: its name, and its amount on drums below it or, in a low rectangle, beside it.

    If the amount may not be current, a text says so. A level that was won is reset at once; until the reels or balls of
    the game have stopped, its old amount is drawn (C-13).
    """
    painter, (x, y, w, h) = context.painter, rect
    view = context.view
    is_level_won = view.presentation is not None and any(
        win.id == level.id for win in view.presentation.outcome.progressives
    )
    has_game_stopped = not is_level_won or have_moving_parts_stopped(view, context.theme)
    should_show_win = is_level_won and has_game_stopped
    name_height = context.theme.size_by_name[text_size_name] * 1.35
    is_current = level.status == "up"
    text_paint: Paint | str = (
        "win" if should_show_win else build_gold_gradient(context.theme) if is_current else "amber"
    )
    text = context.texts.choose_translation(level.names, level.level)
    if not is_current:
        text = f"{text}  ·  {context.texts.translate(f'progressive.{level.status}')}"
    is_name_beside_drums = is_current and h < name_height + _DRUMS_HEIGHT_MIN
    if is_name_beside_drums:
        painter.draw_label(
            text, (x + 4, y, w * 0.3, h), TextStyle("heavy", text_size_name, text_paint, 1.5), align="left"
        )
    else:
        painter.draw_text(
            text,
            (x + w / 2, y + name_height / 2),
            TextStyle("heavy", text_size_name, text_paint, 1.5),
            width_max=w - 8,
        )
    cents_before = view.previous_cents_by_level.get(level.id, level.amount_cents)
    thousandths = compute_displayed_thousandths(
        cents_before, level.amount_cents, view.now - view.levels_changed_at
    )
    if view.is_motion_reduced:
        thousandths = level.amount_cents * 1000
    if not has_game_stopped and level.id in view.cents_before_win_by_level:
        thousandths = view.cents_before_win_by_level[level.id] * 1000
    drums_rect: Rect = (
        (x + w * 0.32, y, w * 0.68 - 4, h)
        if is_name_beside_drums
        else (x + 4, y + name_height, w - 8, h - name_height)
    )
    amount = context.format_money(thousandths // 1000)
    draw_odometer(painter, amount, drums_rect, thousandths=thousandths % 1000, is_dim=not is_current)


def list_shown_levels(context: DrawingContext) -> tuple[ProgressiveView, ...]:
    """Return the progressive levels that the current bet plays for, as many as fit on the player's screen."""
    snapshot = context.view.snapshot
    return snapshot.progressives[:SHOWN_LEVELS_MAX] if snapshot is not None else ()


def draw_levels(context: DrawingContext, area: Rect) -> Rect:
    """Draw the progressive levels next to the game's title, or in portrait on the side panel ``area``.

    Return the part of the panel that is still free: all of it, unless levels were drawn on it.
    """
    levels, displays_rect = list_shown_levels(context), context.layout.level_displays
    if not levels:
        return area
    if displays_rect is not None:
        x, y, w, h = displays_rect
        for i, level in enumerate(levels):
            draw_level(context, level, (x + i * w / len(levels) + 20, y, w / len(levels) - 40, h))
        return area
    x, y, w, h = area
    # The part of the panel that stays free is at least 66 high, or 48 on a telephone.
    row_pitch = min(130.0, (h - (56 if context.layout.is_telephone else 74)) / len(levels))
    for i, level in enumerate(levels):
        draw_level(context, level, (x + 14, y + 12 + i * row_pitch, w - 28, row_pitch - 8), "caption")
    used_height = len(levels) * row_pitch + 8
    context.painter.fill_rounded_rect(
        (x + 24, y + used_height + 4, w - 48, 2), (*context.look.accent_colour[:3], 110)
    )
    return (x, y + used_height, w, h - used_height)

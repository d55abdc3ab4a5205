"""Player protection on the screen: reminders between games, and limits that players set for themselves.

A reminder says how long and for how much the player has played, and waits for an answer. If a limit is reached, play
pauses, and the screen says until when. Nothing here hurries the player, warns of lost chances, or hides how to cash
out.
"""

from typing import Final

from egm.kernel.messages import Reminder
from egm.screen.layout import TOUCH_TARGET_SIZE_MIN, Layout
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import DrawingContext, draw_button, render_rim_panel
from egm.screen.view import Action, View, compute_seconds_since, is_presentation_running

#: The time limits that a player may choose, in minutes; 0 is no limit.
TIME_LIMITS_MINUTES: Final = (0, 30, 60, 120)
#: A page no wider than this is a telephone's.
_TELEPHONE_PAGE_WIDTH_MAX: Final = 800.0
#: The money limits that a player may choose, in minor units; 0 is no limit.
MONEY_LIMITS_CENTS: Final = (0, 20_00, 50_00, 100_00)


def find_due_reminder(context: DrawingContext) -> Reminder | None:
    """Return the reminder that the player must see now, or None.

    It is shown only between games, and not while a game is still being presented.
    """
    snapshot = context.view.snapshot
    if snapshot is None or snapshot.reminder is None or is_presentation_running(context.view, context.theme):
        return None
    return snapshot.reminder if snapshot.state == "idle" else None


def _compute_reminder_rect(layout: Layout) -> Rect:
    """Return the rectangle of the reminder, within the game field."""
    x, y, w, h = layout.game_field
    width, height = min(w, 940.0), 480.0
    return (x + (w - width) / 2, y + (h - height) / 2, width, height)


def lay_out_reminder_keys(context: DrawingContext) -> list[tuple[Rect, Action]]:
    """Return the keys of a reminder: cash out and, if the player may go on, continue.

    A single key is centred.
    """
    reminder = find_due_reminder(context)
    if reminder is None:
        return []
    x, y, w, h = _compute_reminder_rect(context.layout)
    top, width = y + h - 112, (w - 120) / 2
    keys: list[tuple[Rect, Action]] = []
    if context.view.is_request_accepted("acknowledge") and reminder.kind in {"time", "spend"}:
        keys.append(((x + w - 40 - width, top, width, TOUCH_TARGET_SIZE_MIN), Action("acknowledge")))
    if context.view.is_request_accepted("cash_out"):
        keys.append(((x + 40, top, width, TOUCH_TARGET_SIZE_MIN), Action("cash_out")))
    if len(keys) == 1:
        return [((x + (w - width) / 2, top, width, TOUCH_TARGET_SIZE_MIN), keys[0][1])]
    return keys


def draw_reminder(context: DrawingContext) -> None:
    """Draw the player-protection reminder over the game field."""
    reminder = find_due_reminder(context)
    if reminder is None:
        return
    painter, translate, rect = (
        context.painter,
        context.texts.translate,
        _compute_reminder_rect(context.layout),
    )
    x, y, w, _ = rect
    painter.fill_rounded_rect(context.layout.area_above_meters, (4, 2, 10, 150))
    fill_colour = (18, 13, 34, 252)
    painter.draw_cached_picture(
        ("reminder", context.look.name),
        rect,
        lambda size: render_rim_panel(
            size, painter.scale, painter.theme, context.look, radius=30, rim_width=8, fill_paint=fill_colour
        ),
    )
    title_style = TextStyle("heavy", "title", context.look.accent_colour)
    painter.draw_text(
        translate(f"reminder.title_{reminder.kind}"), (x + w / 2, y + 72), title_style, width_max=w - 90
    )
    spent_cents = reminder.spent_cents
    labelled_values = (
        (translate("reminder.time"), format_minutes(context, reminder.minutes)),
        (
            translate("reminder.spent" if spent_cents >= 0 else "reminder.ahead"),
            context.format_money(abs(spent_cents)),
        ),
    )
    for x_share, (label, value) in zip((0.27, 0.73), labelled_values, strict=True):
        painter.draw_text(
            label, (x + w * x_share, y + 148), TextStyle("strong", "small", "text_dim"), width_max=w * 0.42
        )
        painter.draw_text(
            value, (x + w * x_share, y + 206), TextStyle("numbers", "title", "meter"), width_max=w * 0.42
        )
    end_text = context.texts.format_time_of_day(reminder.until_utc) if reminder.until_utc else ""
    suffix = "" if reminder.is_own or reminder.kind not in {"time_limit", "spend_limit"} else "_place"
    key = f"reminder.say_{reminder.kind}{suffix}"
    text = translate(f"{key}_until", time=end_text) if end_text else translate(key)
    text_rect: Rect = (x + 50, y + 252, w - 100, 110)
    painter.draw_paragraph(text, text_rect, TextStyle("text", "body", "text"), align="centre", leading=1.25)
    for key_rect, action in lay_out_reminder_keys(context):
        label_key = "reminder.go_on" if action.name == "acknowledge" else "key.cash_out"
        draw_button(context, key_rect, translate(label_key), text_size_name="body")


def format_minutes(context: DrawingContext, minutes: int) -> str:
    """Return a number of minutes as text, such as ``1 h 05 min``."""
    hours, remainder = divmod(minutes, 60)
    if not hours:
        return context.texts.translate("reminder.minutes", minutes=remainder)
    return context.texts.translate("reminder.hours", hours=hours, minutes=f"{remainder:02d}")


# ---------------------------------------------------------------------- the player's own limits
def lay_out_limit_keys(view: View, rect: Rect) -> list[tuple[Rect, Action]]:
    """Return the keys with which a player sets limits of their own: limits of time above limits of money.

    A key that would relax a limit is left out.
    """
    if not view.is_request_accepted("limit"):
        return []
    current_limits = _read_player_limits(view)
    return [
        (key_rect, Action("limit", (kind, value)))
        for kind, value, key_rect in _lay_out_limits(rect)
        if not current_limits[kind] or 0 < value <= current_limits[kind]
    ]


def _lay_out_limits(rect: Rect) -> list[tuple[str, int, Rect]]:
    """Return the limits that a player can choose.

    Each has its kind (``minutes`` or ``cents``), its value, and the rectangle of its key.
    """
    x, y, w, h = rect
    width, height = (w - 36) / 4, 68.0 if w > _TELEPHONE_PAGE_WIDTH_MAX else TOUCH_TARGET_SIZE_MIN
    return [
        (kind, value, (x + i * (width + 12), y + h * (0.34 + 0.38 * row), width, height))
        for row, (kind, values) in enumerate(
            (("minutes", TIME_LIMITS_MINUTES), ("cents", MONEY_LIMITS_CENTS))
        )
        for i, value in enumerate(values)
    ]


def _read_player_limits(view: View) -> dict[str, int]:
    """Return the limits that the player has set, by kind, in minutes of play or in cents; 0 means no limit."""
    session = view.snapshot.session if view.snapshot is not None else None
    minutes, cents = (session.limit_minutes, session.limit_cents) if session is not None else (0, 0)
    return {"minutes": minutes, "cents": cents}


def draw_limits(context: DrawingContext, rect: Rect) -> None:
    """Draw how long and for how much the player has played, and the limits that the player can choose.

    The present limits are lit.
    """
    painter, translate, snapshot = context.painter, context.texts.translate, context.view.snapshot
    x, y, w, h = rect
    session = snapshot.session if snapshot is not None else None
    session_seconds = compute_seconds_since(context.view, session.since_utc) if session is not None else 0.0
    spent_cents = session.spent_cents if session is not None else 0
    text = translate(
        "limit.so_far" if spent_cents >= 0 else "limit.so_far_ahead",
        time=format_minutes(context, int(session_seconds // 60)),
        amount=context.format_money(abs(spent_cents)),
    )
    painter.draw_paragraph(text, (x, y, w, h * 0.2), TextStyle("strong", "body", context.look.accent_colour))
    current_limits = _read_player_limits(context.view)
    for row, kind in enumerate(("minutes", "cents")):
        label_style = TextStyle("strong", "body", "text")
        painter.draw_text(
            translate(f"limit.{kind}"),
            (x, y + h * (0.28 + 0.38 * row)),
            label_style,
            align="left",
            width_max=w,
        )
    offered_values = {action.value for _, action in lay_out_limit_keys(context.view, rect)}
    for kind, value, key_rect in _lay_out_limits(rect):
        limit_text = format_minutes(context, value) if kind == "minutes" else context.format_money(value)
        label = limit_text if value else translate("limit.none")
        draw_button(
            context,
            key_rect,
            label,
            is_enabled=(kind, value) in offered_values,
            is_active=current_limits[kind] == value,
            text_size_name="body",
        )

"""Animations of money that goes in or out: bills, coins and tickets, each with its amount if the notice has one.

An animation starts when the machine's notice of the event arrives. What is drawn depends only on the time since then.
"""

import math
from functools import partial
from typing import Final, NamedTuple

import pygame

from egm.kernel.messages import Notice
from egm.screen.art.files import render_own_picture
from egm.screen.art.symbols import render_drawing
from egm.screen.art.vector_canvas import LinearGradient
from egm.screen.keno_slip import is_keno_game
from egm.screen.motion import clamp_to_unit_interval, ease_out
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, format_message
from egm.screen.theme import mix_colours


class _MoneyAnimation(NamedTuple):
    """An animation of money that goes into the machine or out of it."""

    item_kind: str
    """What is drawn: a bill, a ticket or coins."""
    is_leaving: bool
    """Whether the money leaves the machine; if false, it goes in."""
    duration_seconds: float


#: The animation that each notice starts, by the notice's code.
_ANIMATION_BY_NOTICE: Final = {
    "bill_accepted": _MoneyAnimation("bill", is_leaving=False, duration_seconds=2.6),
    "ticket_accepted": _MoneyAnimation("ticket", is_leaving=False, duration_seconds=2.6),
    "coins_accepted": _MoneyAnimation("coins", is_leaving=False, duration_seconds=2.0),
    "ticket_printed": _MoneyAnimation("ticket", is_leaving=True, duration_seconds=8.0),
    "bill_returned": _MoneyAnimation("bill", is_leaving=True, duration_seconds=4.0),
    "ticket_returned": _MoneyAnimation("ticket", is_leaving=True, duration_seconds=4.0),
}


def find_moving_money_notice(context: DrawingContext) -> Notice | None:
    """Return the latest notice if its animation (a bill, ticket or coins entering or leaving) is still to be drawn.

    Return None for any other notice, after the end of the animation, and if the machine is neither idle nor out of
    service.
    """
    view, snapshot = context.view, context.view.snapshot
    notice = view.latest_notice
    if snapshot is None or notice is None or snapshot.state not in {"idle", "out_of_service"}:
        return None
    if (
        notice.code not in _ANIMATION_BY_NOTICE
        or view.now - view.notice_received_at > _ANIMATION_BY_NOTICE[notice.code].duration_seconds
    ):
        return None
    return notice


def compute_moving_money_rect(context: DrawingContext) -> Rect | None:
    """Return the rectangle in which an animation of money is drawn, or None if no money is moving.

    Touch targets that it covers cannot be touched.
    """
    if find_moving_money_notice(context) is None:
        return None
    x, y, w, h = context.layout.game_field
    width, height, top = min(760.0, w - 40), 168.0, y + h - 186
    tray_height, is_telephone = context.layout.tray_height, context.layout.is_telephone
    if tray_height:  # The plate covers the whole tray below a Keno board.
        width, height, top = (
            (w - 12, tray_height + 2, y + h - tray_height - 7)
            if is_telephone
            else (w - 40, 190.0, y + h - tray_height - 20)
        )
    is_beside_tray = is_keno_game(context.view.game) and not tray_height  # It leaves the tray's texts free.
    return (x + (24 if is_beside_tray else (w - width) / 2), top, width, height)


def draw_moving_money(context: DrawingContext) -> None:
    """Draw a plate over the lower part of the field with the moving bill, ticket or coin, and its amount."""
    notice, plate_rect = find_moving_money_notice(context), compute_moving_money_rect(context)
    if notice is None or plate_rect is None:
        return
    item_kind, is_leaving, duration_seconds = _ANIMATION_BY_NOTICE[notice.code]
    elapsed_seconds = context.view.now - context.view.notice_received_at
    is_motion_reduced = context.view.is_motion_reduced
    entrance_share = 1.0 if is_motion_reduced else ease_out(elapsed_seconds / 0.3)
    visible_share = (
        1.0
        if is_motion_reduced
        else 1 - clamp_to_unit_interval((elapsed_seconds - duration_seconds + 0.3) / 0.3)
    )
    x, y, width, height = plate_rect
    plate: Rect = (x, y + 40 * (1 - min(entrance_share, visible_share)), width, height)
    colour = context.theme.get_colour("emerald" if not is_leaving else "gold")
    rim = LinearGradient(
        ((0, mix_colours(colour, WHITE, 0.45)), (0.5, colour), (1, mix_colours(colour, BLACK, 0.55)))
    )
    context.painter.draw_panel(plate, radius=26, fill=(14, 10, 26, 250), edge_paint=rim, edge_width=4)
    draw_item_at_slot(
        context,
        item_kind,
        (plate[0] + 20, plate[1] + 14, 190, height - 28),
        elapsed_seconds,
        is_leaving=is_leaving,
    )
    rect: Rect = (plate[0] + 232, plate[1] + 18, width - 256, height - 36)
    amount = notice.values.get("amount_cents")
    if not isinstance(amount, int):
        style = TextStyle("strong", "body", "text")
        text = format_message(context, f"notice.{notice.code}", {"amount": "", **notice.values})
        context.painter.draw_text(
            text, (rect[0], rect[1] + rect[3] / 2), style, align="left", width_max=rect[2]
        )
        return
    context.painter.draw_text(
        context.format_money(amount),
        (rect[0], rect[1] + 42),
        TextStyle("numbers", "marquee", "win" if not is_leaving else "meter"),
        align="left",
        width_max=rect[2],
    )
    style = TextStyle("strong", "small", "text")
    value_key = f"value.{notice.code}"  # Without the amount, which is drawn above.
    text = (
        context.texts.translate(value_key)
        if context.texts.has_text(value_key)
        else format_message(context, f"notice.{notice.code}", notice.values)
    )
    context.painter.draw_text(text, (rect[0], rect[1] + 110), style, align="left", width_max=rect[2])


def draw_item_at_slot(
    context: DrawingContext, item_kind: str, rect: Rect, elapsed_seconds: float, *, is_leaving: bool
) -> None:
    """Draw a slot of the machine, and the bill or ticket that enters or (``is_leaving``) leaves it.

    For coins, draw only coins that fall into the coin tray.
    """
    painter, (x, y, w, h) = context.painter, rect
    moved_share = (
        1.0
        if context.view.is_motion_reduced
        else ease_out(clamp_to_unit_interval((elapsed_seconds - 0.25) / 1.1))
    )
    slot_rect: Rect = (x, y + 4, w, w * 0.18)
    if item_kind == "coins":
        _draw_falling_coins(context, rect, elapsed_seconds)
        return
    paper_rect: Rect = (x + w * 0.14, 0.0, w * 0.72, h - 40)
    hidden_share = 1 - moved_share if is_leaving else moved_share
    top = y + 22 - hidden_share * (paper_rect[3] + 4)
    with painter.clip_to((x, y + 21, w, h)):
        painter.draw_cached_picture(
            ("paper", item_kind),
            (paper_rect[0], top, paper_rect[2], paper_rect[3]),
            partial(render_own_picture, item_kind),
        )
    painter.draw_cached_picture(("slot",), slot_rect, partial(render_own_picture, "slot"))


def _draw_falling_coins(context: DrawingContext, rect: Rect, elapsed_seconds: float) -> None:
    """Draw coins that fall into the machine's coin tray."""
    x, y, w, h = rect
    for i in range(7):
        fall_progress = 0.8 if context.view.is_motion_reduced else (elapsed_seconds * 1.3 - i * 0.14) % 1.2
        coin_width = 52.0
        coin_top_left = (
            x + w * (0.1 + 0.8 * (i * 0.381966 % 1.0)) - coin_width / 2,
            y + (h + 40) * min(1.0, fall_progress) - 60,
        )
        if coin_top_left[1] + coin_width > y + h or fall_progress <= 0:
            coin_top_left = (coin_top_left[0], y + h - coin_width)
        width_step = round(abs(math.cos(fall_progress * 9 + i)) * 5)
        width = max(10.0, coin_width * width_step / 5)
        context.painter.draw_cached_picture(
            ("falling coin", width_step),
            (coin_top_left[0] + (coin_width - width) / 2, coin_top_left[1], width, coin_width),
            _render_coin,
        )


def _render_coin(size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of a coin."""
    return pygame.transform.smoothscale(render_drawing("coin", max(size)), size)

"""Drawing of an open service page. On a recall page, it replays a past game under the word RECALL."""

from dataclasses import replace
from functools import partial
from typing import Final

import pygame

from egm.kernel.service_pages import PageAction, Replay, ServicePage
from egm.screen.art.vector_canvas import VectorCanvas
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.background import render_background
from egm.screen.scenes.decision import lay_out_decision_options
from egm.screen.scenes.drawing_context import BLACK, DrawingContext, draw_focus_frame
from egm.screen.scenes.game_field import draw_game_field
from egm.screen.scenes.page_elements import draw_action_key, format_page_text
from egm.screen.scenes.service import (
    compute_back_key_rect,
    describe_active_faults,
    draw_notice_line,
    draw_service_page,
    list_service_page_touch_targets,
)
from egm.screen.theme import Colour, mix_colours
from egm.screen.view import Action

#: If each fact has at most this height, in units, its label and value are on one line.
_ONE_LINE_FACT_HEIGHT_MAX: Final = 56.0
#: The colour of the RECALL mark.
_RECALL_MARK_COLOUR: Final[Colour] = (255, 214, 64, 255)


def draw_page(context: DrawingContext) -> None:
    """Draw the open service page. If it recalls a past game, draw the replay of that game in the field."""
    page = context.view.service_page
    if page is None:
        return
    if page.replay is None or context.view.recalled_view is None:
        draw_service_page(context)
    else:
        _draw_recall(context, page, page.replay)


def list_page_touch_targets(context: DrawingContext) -> list[tuple[Rect, Action]]:
    """Return all touch targets of the open service page."""
    page = context.view.service_page
    if page is None or page.replay is None or context.view.recalled_view is None:
        return list_service_page_touch_targets(context)
    return [
        (rect, Action("answer", action.id))
        for rect, action in _lay_out_action_keys(context, page)
        if action.enabled
    ]


def _lay_out_action_keys(context: DrawingContext, page: ServicePage) -> list[tuple[Rect, PageAction]]:
    """Return the keys for the actions of a recall page, in a row below the field."""
    left, top, width_max, height = compute_back_key_rect(context.layout)
    width = min(
        width_max,
        (context.layout.size[0] - context.layout.drawer_width - 2 * left + 12) / max(1, len(page.actions))
        - 12,
    )
    return [((left + i * (width + 12), top, width, height), action) for i, action in enumerate(page.actions)]


def _draw_recall(context: DrawingContext, page: ServicePage, replay: Replay) -> None:
    """Draw a past game as the player saw it, under the word RECALL, and the keys of the recall page."""
    view = context.view
    assert view.recalled_view is not None
    recall_context = replace(
        context, view=replace(view.recalled_view, now=view.now, last_action_name=view.last_action_name)
    )
    context.painter.surface.blit(render_background(recall_context), (0, 0))
    draw_game_field(recall_context)
    for target_rect, action in lay_out_decision_options(recall_context):
        if replay.answer is not None and action == Action("choose", replay.answer):
            draw_focus_frame(context, target_rect)
    _draw_recall_frame(context)
    _draw_recall_facts(context, page, replay)
    severity, text = describe_active_faults(context)
    if text:
        draw_notice_line(context, (28, 8, context.layout.size[0] - 56, 46), severity, text)
    for rect, page_action in _lay_out_action_keys(context, page):
        draw_action_key(context, rect, page_action)


def _draw_recall_frame(context: DrawingContext) -> None:
    """Draw a hatched frame and the word RECALL around the field.

    Nobody can then mistake the recalled game for a game in progress.
    """
    painter, (x, y, w, h) = context.painter, context.layout.game_field
    for rect in (
        (x - 30, y - 30, w + 60, 30),
        (x - 30, y + h, w + 60, 30),
        (x - 30, y, 30, h),
        (x + w, y, 30, h),
    ):
        painter.draw_cached_picture(
            ("hatch", rect), rect, partial(_render_hatching, size_units=(rect[2], rect[3]))
        )
    text = context.texts.translate("page.recall")
    style = TextStyle("heavy", "body", BLACK)
    width = painter.measure_text(text, style) + 60
    # The mark lies on the hatching and covers nothing of the game.
    mark_rect: Rect = (x + w / 2 - width / 2, y - 37, width, 44)
    painter.draw_panel(mark_rect, radius=12, fill=_RECALL_MARK_COLOUR, edge_paint=BLACK, edge_width=4)
    painter.draw_text(text, (x + w / 2, mark_rect[1] + 22), style, width_max=width - 30)


def _render_hatching(size: tuple[int, int], *, size_units: tuple[float, float]) -> pygame.Surface:
    """Return the drawing of the yellow and black hatching around a recalled game."""
    width, height = size_units
    canvas = VectorCanvas(size, size_units, 1)
    canvas.fill_path([(0, 0), (width, 0), (width, height), (0, height)], BLACK)
    stripe_pitch = 44.0
    for i in range(-int(height / stripe_pitch) - 1, int(width / stripe_pitch) + 2):
        left = i * stripe_pitch
        canvas.fill_path(
            [
                (left, 0),
                (left + stripe_pitch / 2, 0),
                (left + stripe_pitch / 2 + height, height),
                (left + height, height),
            ],
            _RECALL_MARK_COLOUR,
        )
    return canvas.finish_surface()


def _draw_recall_facts(context: DrawingContext, page: ServicePage, replay: Replay) -> None:
    """Draw facts about the recalled game on the side panels: bet, win, time, and the moment of the game shown."""
    texts, format_money = context.texts, context.format_money
    win_text = (
        texts.translate("page.open_game") if replay.paid_cents is None else format_money(replay.paid_cents)
    )
    left_facts = [
        (texts.translate("page.when"), texts.format_date_and_time(replay.time_utc)),
        (texts.translate("page.play"), replay.play_id),
        (texts.translate("meter.bet"), format_money(replay.bet_credits * replay.denomination_cents)),
        (texts.translate("page.unit"), format_money(replay.denomination_cents)),
    ]
    right_facts = [
        (texts.translate("page.credit_before"), format_money(replay.credit_before_cents)),
        (texts.translate("meter.win"), win_text),
        (texts.translate("page.step"), f"{replay.step} / {replay.steps}"),
    ]
    if replay.answered is not None:
        right_facts.append((texts.translate("page.answer"), format_page_text(context, replay.answered)))
    right_facts += [
        (format_page_text(context, row.cells[0]), format_page_text(context, row.cells[-1]))
        for table in page.tables
        for row in table.rows
        if row.cells
    ]
    left_rect, right_rect = context.layout.left_panel, context.layout.right_panel
    if right_rect[2] <= 0:
        x, y, w, h = left_rect
        left_rect, right_rect = (x, y, w / 2 - 4, h), (x + w / 2 + 4, y, w / 2 - 4, h)
    for rect, facts in ((left_rect, left_facts), (right_rect, right_facts)):
        _draw_fact_column(context, rect, facts)


def _draw_fact_column(context: DrawingContext, rect: Rect, labelled_texts: list[tuple[str, str]]) -> None:
    """Draw facts about a recalled game on a side panel, one below another."""
    painter, (x, y, w, h) = context.painter, rect
    panel_colour: Colour = mix_colours(context.look.background_colours[2], BLACK, 0.4)
    painter.draw_panel(
        rect, radius=22, fill=(*panel_colour[:3], 255), edge_paint=_RECALL_MARK_COLOUR, edge_width=3
    )
    row_height = min(92.0, (h - 20) / max(1, len(labelled_texts)))
    label_style, value_style = TextStyle("text", "caption", "text_dim"), TextStyle("strong", "small", "text")
    for i, (label, value) in enumerate(labelled_texts):
        top = y + 12 + i * row_height
        if row_height <= _ONE_LINE_FACT_HEIGHT_MAX:  # Label and value on one line.
            label_width = painter.measure_text(label, label_style) + 10
            # If both do not fit, the value is drawn without its label.
            if label_width + painter.measure_text(value, TextStyle("strong", "caption")) > w - 36:
                label_width = 0.0
            else:
                painter.draw_text(label, (x + 18, top + row_height / 2), label_style, align="left")
            painter.draw_text(
                value,
                (x + w - 18, top + row_height / 2),
                value_style,
                align="right",
                width_max=w - 36 - label_width,
            )
            continue
        painter.draw_text(
            label, (x + 22, top + row_height * 0.28), label_style, align="left", width_max=w - 44
        )
        painter.draw_text(
            value, (x + 22, top + row_height * 0.68), value_style, align="left", width_max=w - 44
        )

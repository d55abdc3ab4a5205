"""The attract scene of an idle machine, and the celebrations of wins. Nothing here promises or predicts a win."""

import math
from collections.abc import Callable, Mapping
from typing import Final

import pygame

from egm.kernel.messages import GameOutcome
from egm.screen.art.paths import build_ellipse
from egm.screen.art.symbols import render_drawing
from egm.screen.art.vector_canvas import LinearGradient, RadialGradient, VectorCanvas, create_painted_surface
from egm.screen.motion import clamp_to_unit_interval, compute_roll_up_amount, ease_out
from egm.screen.painter import FACT_SEPARATOR, TextStyle, build_gold_gradient
from egm.screen.presentation import OutcomePresentation, find_step_stage, is_feature_step
from egm.screen.scenes.drawing_context import BLACK, DrawingContext, format_prizes_won, format_stage_name
from egm.screen.theme import fade_colour, mix_colours
from egm.screen.view import build_view_timeline, is_decision_due

#: The number of coins and symbols that move in the celebration of each level of win.
_ITEM_COUNT_BY_CELEBRATION_LEVEL: Final = (0, 0, 26, 60, 110)
#: The dark band behind the text of a smaller win.
_TEXT_BAND_PAINT: Final = LinearGradient(
    (
        (0, (0, 0, 0, 0)),
        (0.2, (10, 4, 20, 210)),
        (0.5, (26, 10, 44, 235)),
        (0.8, (10, 4, 20, 210)),
        (1, (0, 0, 0, 0)),
    )
)
#: The dark veil over the game field behind the text of a great win.
_FIELD_VEIL_PAINT: Final = LinearGradient(
    ((0, (8, 4, 18, 150)), (0.3, (10, 4, 20, 215)), (0.7, (18, 8, 32, 225)), (1, (8, 4, 18, 150)))
)


def draw_attract(context: DrawingContext) -> None:
    """Draw the welcome plate over the game field of an idle machine. It says how to start a game."""
    painter, view = context.painter, context.view
    x, y, w, h = context.layout.game_field
    beat = 0.0 if view.is_motion_reduced else math.sin(view.now * 1.6)
    height = 210.0
    top = y + h / 2 - height / 2
    band = LinearGradient(
        (
            (0, (0, 0, 0, 0)),
            (0.12, (8, 4, 18, 215)),
            (0.5, (18, 10, 36, 235)),
            (0.88, (8, 4, 18, 215)),
            (1, (0, 0, 0, 0)),
        )
    )
    painter.fill_rounded_rect((x, top, w, height), band)
    painter.draw_text(
        context.texts.translate("attract.welcome"),
        (x + w / 2, top + 74),
        TextStyle("display", "marquee", build_gold_gradient(context.theme), 3, (20, 6, 0, 220)),
        width_max=w - 60,
    )
    painter.draw_text(
        context.texts.translate("attract.insert"),
        (x + w / 2, top + 152 + 3 * beat),
        TextStyle("strong", "lead", "text", 2),
        width_max=w - 60,
    )


def draw_celebration(context: DrawingContext) -> None:
    """Draw the celebration of a win of celebration level 2 or higher, or of any win in a game that ends with a feature.

    It shows the level's name or a title, the amount rolling up, and coins and symbols, more of them at a higher level.
    Draw nothing while the player has a decision to make.
    """
    view, timeline = context.view, build_view_timeline(context.view, context.theme)
    if view.presentation is None or timeline is None or view.snapshot is None:
        return
    feature_title = _find_closing_title(context, view.presentation)
    if timeline.celebration_level < (
        0 if feature_title else 2
    ) or not view.presentation.outcome.paid_cents + len(view.presentation.outcome.prizes):
        return
    if view.decision is not None and is_decision_due(view, context.theme):
        return  # Do not hide the options.
    elapsed_seconds = view.now - view.presentation.began_at - timeline.last_stop_seconds
    roll_up_seconds = timeline.roll_up_end_seconds - timeline.last_stop_seconds
    if (
        elapsed_seconds < 0
        or elapsed_seconds > roll_up_seconds + 1.2
        or view.snapshot.state not in {"playing", "idle"}
    ):
        return
    painter = context.painter
    x, y, w, h = context.layout.game_field
    centre_x, centre_y = x + w / 2, y + h / 2
    entrance_share = 1.0 if view.is_motion_reduced else ease_out(elapsed_seconds / 0.35)
    visible_share = 1 - clamp_to_unit_interval((elapsed_seconds - roll_up_seconds) / 1.2)
    is_large = timeline.celebration_level >= 3 or bool(feature_title)
    if timeline.celebration_level >= 3 and not view.is_motion_reduced:
        _draw_rays(context, (centre_x, centre_y), entrance_share * visible_share)
    if not view.is_motion_reduced:
        _draw_celebration_items(
            context,
            elapsed_seconds,
            _ITEM_COUNT_BY_CELEBRATION_LEVEL[timeline.celebration_level],
            roll_up_seconds + 1.0,
        )
    height = 320.0 if is_large else 132.0
    top = centre_y - height / 2 if is_large else y + h - height - 6
    if visible_share > 0.6:
        painter.fill_rounded_rect(
            (x, y, w, h) if is_large else (x, top, w, height),
            _FIELD_VEIL_PAINT if is_large else _TEXT_BAND_PAINT,
        )
        outcome = view.presentation.outcome
        # The heading names a progressive or a prize in kind rather than the feature in which it was won.
        has_named_prize = bool(outcome.progressives or outcome.prizes)
        name = (
            feature_title
            if feature_title and not has_named_prize
            else _format_win_name(context, outcome, timeline.celebration_level)
        )
        amount_text = _format_win_amount(
            context,
            view.presentation.outcome,
            compute_roll_up_amount(view.presentation.outcome.paid_cents, elapsed_seconds, roll_up_seconds),
        )
        glow = LinearGradient(
            (
                (0, (255, 255, 255, 255)),
                (0.6, context.theme.get_colour("meter")),
                (1, context.theme.get_colour("amber")),
            )
        )
        if is_large:
            painter.draw_text(
                name,
                (centre_x, top + 76 - 30 * (1 - entrance_share)),
                TextStyle("display", "marquee", build_gold_gradient(context.theme), 3, (30, 8, 0, 230)),
                width_max=w - 80,
            )
            painter.draw_text(
                amount_text,
                (centre_x, top + 222),
                TextStyle("numbers", "hero", glow, 3, (30, 8, 0, 230)),
                width_max=w - 80,
            )
        else:
            painter.draw_text(
                name,
                (x + w * 0.3, top + height / 2),
                TextStyle("display", "title", build_gold_gradient(context.theme), 3, (30, 8, 0, 230)),
                width_max=w * 0.5,
            )
            painter.draw_text(
                amount_text,
                (x + w * 0.72, top + height / 2),
                TextStyle("numbers", "marquee", glow, 3, (30, 8, 0, 230)),
                width_max=w * 0.4,
            )


def _format_win_name(context: DrawingContext, outcome: GameOutcome, celebration_level: int) -> str:
    """Return the heading of a celebration: the merchandise or progressive won, or else the level's name."""
    if outcome.prizes:
        return format_prizes_won(context, outcome.prizes)
    if not outcome.progressives:
        return context.texts.translate(f"win.level_{celebration_level}")
    names = FACT_SEPARATOR.join(
        context.texts.choose_translation(progressive.names, progressive.level)
        for progressive in outcome.progressives
    )
    return context.texts.translate("progressive.won", name=names)


def _format_win_amount(context: DrawingContext, outcome: GameOutcome, win_cents: int) -> str:
    """Return the amount of a win as text.

    For merchandise alone, it is the stated value. For a progressive whose amount is not known yet, it says so.
    """
    if outcome.prizes and not outcome.paid_cents:
        value_cents = sum(prize.value_cents for prize in outcome.prizes)
        return context.texts.translate("win.worth", amount=context.format_money(value_cents))
    if not outcome.prizes and any(progressive.amount_cents is None for progressive in outcome.progressives):
        return context.texts.translate("progressive.confirming")
    return context.format_money(win_cents)


def _draw_rays(context: DrawingContext, centre: tuple[float, float], opacity: float) -> None:
    """Draw slowly turning rays of light around the point ``centre``, with the given opacity (0 to 1)."""
    painter = context.painter
    width = 900.0
    turn_degrees = int(context.view.now * 6) % 15 * 2

    def render_rays(size: tuple[int, int]) -> pygame.Surface:
        small_size = (max(1, size[0] // 3), max(1, size[1] // 3))  # A soft light needs few pixels.
        canvas = VectorCanvas(small_size, (100, 100), 1)
        for i in range(12):
            angle = math.radians(i * 30 + turn_degrees)
            canvas.fill_path(
                [
                    (50, 50),
                    (50 + 50 * math.cos(angle), 50 + 50 * math.sin(angle)),
                    (50 + 50 * math.cos(angle + 0.2), 50 + 50 * math.sin(angle + 0.2)),
                ],
                fade_colour(context.look.accent_colour, 0.16),
            )
        faded_light = canvas.finish_surface()
        mask = RadialGradient(
            ((0, (255, 255, 255, 255)), (0.4, (255, 255, 255, 200)), (1, (255, 255, 255, 0))), (0.5, 0.5), 0.5
        )
        faded_light.blit(
            create_painted_surface(small_size, mask), (0, 0), special_flags=pygame.BLEND_RGBA_MULT
        )
        return pygame.transform.smoothscale(faded_light, size)

    with painter.clip_to(context.layout.game_field):
        painter.draw_cached_picture(
            ("rays", turn_degrees, context.look.name),
            (centre[0] - width / 2, centre[1] - width / 2, width, width),
            render_rays,
            alpha=opacity,
        )


def _find_closing_title(context: DrawingContext, presentation: OutcomePresentation) -> str:
    """Return the title of the card that is shown after a feature, or "" if the game does not end with a feature."""
    last_index = len(presentation.steps) - 1
    if not presentation.is_last_section or not is_feature_step(presentation, last_index):
        return ""
    return context.texts.translate(
        "feature.total", name=format_stage_name(context, find_step_stage(presentation, last_index))
    )


def _draw_celebration_items(
    context: DrawingContext, elapsed_seconds: float, item_count: int, duration_seconds: float
) -> None:
    """Draw the moving items of a celebration: coins and the game's highest symbol.

    They move as the look of the game requires: thrown up, raining, bursting or streaming.
    """
    painter, symbol = context.painter, _find_highest_prize_symbol(context)
    x, y, w, h = context.layout.game_field
    place_item = _ITEM_POSITION_BY_ANIMATION[context.look.celebration_animation]
    with painter.clip_to(context.layout.game_field):
        for i in range(item_count):
            start_seconds = (i * 0.618034 % 1.0) * max(0.2, duration_seconds - 1.4)
            item_seconds = elapsed_seconds - start_seconds
            if not 0 <= item_seconds <= 1.6:
                continue
            side = 62.0
            x_share, y_share = place_item(i, item_seconds)
            centre_x, centre_y = x + w * x_share, y + h * y_share
            if symbol and i % 2:
                item_rect = (centre_x - side / 2, centre_y - side / 2, side, side)
                painter.draw_cached_picture(
                    ("cheer", symbol), item_rect, lambda size: painter.render_symbol(symbol, "", size)
                )
                continue
            frame = round(abs(math.cos(item_seconds * 7 + i)) * 6)
            width = max(8.0, side * frame / 6)
            painter.draw_cached_picture(
                ("coin", frame), (centre_x - width / 2, centre_y - side / 2, width, side), _render_turned_coin
            )


def _find_highest_prize_symbol(context: DrawingContext) -> str:
    """Return the symbol of the highest prize for equal symbols, or "" if the game has no such prize."""
    game = context.view.game
    reel_data_by_stage = context.view.reel_data_by_game.get(game.id, {}) if game else {}
    prizes = [
        prize for reel_data in reel_data_by_stage.values() for prize in reel_data.prizes if prize.symbol
    ]
    return max(prizes, key=lambda prize: prize.credits).symbol if prizes else ""


def _compute_scatter_fraction(item_index: int, factor: float) -> float:
    """Return a random-looking number from 0 to 1 for an item of a celebration, by which the items are scattered.

    Different values of ``factor`` give independent numbers.
    """
    return item_index * factor % 1.0


def _place_in_fountain(item_index: int, elapsed_seconds: float) -> tuple[float, float]:
    """Return the position after ``elapsed_seconds`` of an item that is thrown up from below the game field."""
    drift = (_compute_scatter_fraction(item_index, 0.754878) - 0.5) * 0.62
    return 0.5 + drift * (elapsed_seconds + 0.15), 1 - (
        1.8 + 0.5 * _compute_scatter_fraction(item_index, 0.381966)
    ) * elapsed_seconds + 2.3 * elapsed_seconds * elapsed_seconds


def _place_in_rain(item_index: int, elapsed_seconds: float) -> tuple[float, float]:
    """Return the position after ``elapsed_seconds`` of an item of a celebration that sways down like a leaf."""
    return _compute_scatter_fraction(item_index, 0.754878) + 0.03 * math.sin(
        elapsed_seconds * 5 + item_index
    ), -0.12 + (0.6 + 0.3 * _compute_scatter_fraction(item_index, 0.381966)) * elapsed_seconds


def _place_in_burst(item_index: int, elapsed_seconds: float) -> tuple[float, float]:
    """Return the position after ``elapsed_seconds`` of an item of a celebration that flies out from the middle."""
    angle = math.tau * _compute_scatter_fraction(item_index, 0.381966)
    radius = (0.35 + 0.3 * _compute_scatter_fraction(item_index, 0.754878)) * elapsed_seconds
    return 0.5 + 0.62 * radius * math.cos(angle), 0.5 + radius * math.sin(
        angle
    ) + 0.12 * elapsed_seconds * elapsed_seconds


def _place_in_stream(item_index: int, elapsed_seconds: float) -> tuple[float, float]:
    """Return the position after ``elapsed_seconds`` of an item of a celebration that crosses the field on a wave."""
    height = 0.2 + 0.6 * _compute_scatter_fraction(item_index, 0.754878)
    return -0.05 + 0.72 * elapsed_seconds, height + 0.08 * math.sin(elapsed_seconds * 4 + item_index)


#: The function that returns where an item of a celebration is at a time, by the name of the animation. The position is
#: two fractions, of the width and the height of the game field.
_ITEM_POSITION_BY_ANIMATION: Final[Mapping[str, Callable[[int, float], tuple[float, float]]]] = {
    "fountain": _place_in_fountain,
    "rain": _place_in_rain,
    "burst": _place_in_burst,
    "stream": _place_in_stream,
}


def _render_turned_coin(size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of a coin seen at an angle, with its face compressed."""
    if size[0] >= size[1] * 0.35:
        return pygame.transform.smoothscale(render_drawing("coin", max(size)), size)
    canvas = VectorCanvas(size, oversampling_factor=2)
    canvas.fill_path(build_ellipse(50, 50, 47), mix_colours((240, 180, 60, 255), BLACK, 0.25))
    canvas.fill_path(
        build_ellipse(50, 50, 38), RadialGradient(((0, (255, 236, 160, 255)), (1, (190, 120, 20, 255))))
    )
    return canvas.finish_surface()

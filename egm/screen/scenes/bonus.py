"""Drawing of features that are not played on reels: hold-and-spin, picks, and the bonus wheel."""

import math
from typing import Final

import pygame

from egm.screen.art.paths import build_ellipse, build_regular_polygon, build_rounded_box
from egm.screen.art.symbols import render_drawing
from egm.screen.art.vector_canvas import LinearGradient, RadialGradient, VectorCanvas
from egm.screen.motion import clamp_to_unit_interval, ease_out
from egm.screen.painter import Painter, Rect, TextStyle
from egm.screen.presentation import StepTimes
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, build_metal_gradient
from egm.screen.steps import BonusAward, HoldStep, PickStep, WheelStep
from egm.screen.theme import mix_colours, parse_colour
from egm.screen.wheel_stakes import find_wheel_turns_min

#: The minimum width beside a wheel for its pay, in units.
_WIDTH_BESIDE_WHEEL_MIN: Final = 230.0
#: The minimum number of turns of a bonus wheel.
_WHEEL_TURNS_MIN: Final = 4
#: A multiple of the number of pixels that a blit draws at once.
_BLIT_PIXELS_MULTIPLE: Final = 8
#: The colours of a wheel's segments, one for each kind of award.
_WHEEL_SEGMENT_COLOURS: Final = tuple(
    map(parse_colour, ("#c4183a", "#1f4fb8", "#0f8a4a", "#7a2cc0", "#d98a10", "#147a8a"))
)


def draw_board_background(context: DrawingContext) -> None:
    """Draw the dark background, lighter in the middle, on which features are drawn."""

    def render_board(size: tuple[int, int]) -> pygame.Surface:
        _, _, w, h = context.layout.game_field
        canvas = VectorCanvas(size, (w, h), 2)
        look = context.look
        canvas.fill_path(
            build_rounded_box(0, 0, w, h),
            RadialGradient(
                (
                    (0, mix_colours(look.background_colours[1], look.light_colour, 0.3)),
                    (0.5, mix_colours(look.background_colours[1], BLACK, 0.25)),
                    (1, mix_colours(look.background_colours[2], BLACK, 0.3)),
                ),
                (0.5, 0.5),
                0.7,
            ),
        )
        return canvas.finish_surface()

    context.painter.draw_cached_picture(("board", context.look.name), context.layout.game_field, render_board)


def format_bonus_award(context: DrawingContext, award: BonusAward) -> str:
    """Return the award of a wheel segment, box or coin as text: its credits, or else its name."""
    if award.credits:
        return context.texts.format_number(award.credits)
    symbol_data = context.game_data.get("symbols", {}).get(award.name)
    if symbol_data is not None:
        return context.texts.choose_translation(symbol_data["name"], award.name)
    name_by_language = context.game_data.get("names", {}).get(award.name)
    return (
        context.texts.choose_translation(name_by_language, award.name)
        if name_by_language
        else award.name.capitalize()
    )


# ---------------------------------------------------------------------- hold and spin
def draw_hold_and_spin(
    context: DrawingContext, step: HoldStep, step_times: StepTimes, elapsed_seconds: float
) -> None:
    """Draw the cells of a hold-and-spin feature at this moment, the spins left, and the total of the coins.

    Coins that have landed stay in their cells; empty cells shimmer while the feature spins.
    """
    draw_board_background(context)
    ended_spin_count = next(
        (i for i, stop in enumerate(step_times.stop_seconds) if elapsed_seconds < stop),
        len(step.cells_after_spins),
    )
    coin_indices = (
        step.cells_after_spins[ended_spin_count - 1]
        if ended_spin_count
        else (None,) * len(step.cells_after_spins[0])
    )
    row_count = 3 if len(coin_indices) % 3 == 0 else 1
    column_count = -(-len(coin_indices) // row_count)
    x, y, w, h = context.layout.game_field
    head_height = 64.0
    width, height = (w - 60) / column_count, (h - head_height - 24) / row_count
    for i, coin_index in enumerate(coin_indices):
        cell: Rect = (
            x + 30 + (i // row_count) * width + 5,
            y + head_height + (i % row_count) * height + 5,
            width - 10,
            height - 10,
        )
        _draw_hold_cell(
            context,
            cell,
            None if coin_index is None else step.coin_awards[coin_index],
            is_spinning=ended_spin_count < len(step.cells_after_spins),
            cell_index=i,
        )
    total_credits = sum(
        step.coin_awards[coin_index].credits for coin_index in coin_indices if coin_index is not None
    )
    spins_left = (
        step.spins_left[min(max(ended_spin_count - 1, 0), len(step.spins_left) - 1)]
        if ended_spin_count
        else step.spins_left[0]
    )
    painter = context.painter
    painter.draw_text(
        context.texts.translate("feature.spins_left", count=spins_left),
        (x + 30, y + 36),
        TextStyle("strong", "body", "text"),
        align="left",
        width_max=w * 0.5,
    )
    painter.draw_text(
        context.texts.format_number(total_credits),
        (x + w - 30, y + 36),
        TextStyle("numbers", "title", "meter"),
        align="right",
        width_max=w * 0.4,
    )


def _draw_hold_cell(
    context: DrawingContext, cell: Rect, coin: BonusAward | None, *, is_spinning: bool, cell_index: int
) -> None:
    """Draw one cell of hold-and-spin.

    ``coin`` is the coin that it holds; if None, the cell is empty and, if ``is_spinning``, shimmers.
    """
    painter, (x, y, w, h) = context.painter, cell
    painter.draw_panel(
        cell,
        radius=18,
        fill=(10, 6, 22, 220),
        edge_paint=(*context.look.accent_colour[:3], 120),
        edge_width=3,
    )
    if coin is None:
        if is_spinning and not context.view.is_motion_reduced:
            share = (context.view.now * 2.3 + cell_index * 0.37) % 1.0
            painter.fill_rounded_rect(
                (x + 8, y + 8 + (h - 40) * share, w - 16, 24), (*context.look.accent_colour[:3], 46), 10
            )
        return
    side = min(w, h) - 14
    painter.draw_cached_picture(
        ("hold coin",),
        (x + (w - side) / 2, y + (h - side) / 2, side, side),
        lambda size: render_drawing("blank_coin", min(size)),
    )
    painter.draw_text(
        format_bonus_award(context, coin),
        (x + w / 2, y + h / 2),
        TextStyle("numbers", "lead", (74, 38, 4, 255), 1.5, (255, 236, 170, 200)),
        width_max=side * 0.68,
    )


# ---------------------------------------------------------------------- picks
def lay_out_pick_boxes(game_field: Rect, box_count: int) -> list[Rect]:
    """Return the rectangle of each box of a pick feature with ``box_count`` boxes."""
    x, y, w, h = game_field
    column_count = max(1, min(box_count, round(math.sqrt(box_count * w / h))))
    row_count = -(-box_count // column_count)
    width, height = (w - 60) / column_count, (h - 90) / row_count
    return [
        (
            x + 30 + (i % column_count) * width + 8,
            y + 74 + (i // column_count) * height + 8,
            width - 16,
            height - 16,
        )
        for i in range(box_count)
    ]


def draw_pick_boxes(
    context: DrawingContext, step: PickStep, step_times: StepTimes, elapsed_seconds: float
) -> None:
    """Draw the boxes of a pick feature, opened one after another as time passes."""
    opened_count = sum(1 for stop in step_times.stop_seconds if elapsed_seconds >= stop)
    draw_boxes(context, step.box_count, dict(step.opened_boxes[:opened_count]), should_ask_player=False)


def draw_boxes(
    context: DrawingContext, box_count: int, opened_boxes: dict[int, BonusAward], *, should_ask_player: bool
) -> None:
    """Draw the boxes of a pick feature: closed ones with a number, opened ones with their contents.

    If ``should_ask_player``, also draw a text that asks the player to open one; otherwise the credits won so far.
    """
    draw_board_background(context)
    painter = context.painter
    x, y, w, _ = context.layout.game_field
    text = (
        context.texts.translate("feature.pick")
        if should_ask_player
        else context.texts.format_number(sum(award.credits for award in opened_boxes.values()))
    )
    painter.draw_text(
        text, (x + w / 2, y + 40), TextStyle("heavy", "lead", context.look.accent_colour), width_max=w - 60
    )
    for i, rect in enumerate(lay_out_pick_boxes(context.layout.game_field, box_count)):
        if i in opened_boxes:
            painter.draw_panel(
                rect, radius=20, fill=(12, 7, 24, 235), edge_paint=context.look.accent_colour, edge_width=3
            )
            award = opened_boxes[i]
            colour = "meter" if award.credits else "alarm"
            painter.draw_text(
                format_bonus_award(context, award),
                (rect[0] + rect[2] / 2, rect[1] + rect[3] / 2),
                TextStyle("numbers", "title", colour),
                width_max=rect[2] - 20,
            )
        else:
            painter.draw_cached_picture(
                ("gift", context.look.name),
                rect,
                lambda size, r=rect: _render_closed_box(context, size, r),  # type: ignore[misc]
            )
            painter.draw_text(
                str(i + 1),
                (rect[0] + rect[2] / 2, rect[1] + rect[3] * 0.64),
                TextStyle("heavy", "body", "text", 1.5),
                width_max=rect[2] - 20,
            )


def _render_closed_box(context: DrawingContext, size: tuple[int, int], rect: Rect) -> pygame.Surface:
    """Return the drawing of a closed box of a pick feature."""
    _, _, w, h = rect
    canvas = VectorCanvas(size, (w, h), 2)
    look = context.look
    canvas.fill_path(build_rounded_box(4, 4, w - 8, h - 8, 20), BLACK)
    canvas.fill_path(
        build_rounded_box(7, 7, w - 14, h - 14, 17),
        LinearGradient(
            (
                (0, mix_colours(look.light_colour, WHITE, 0.15)),
                (0.5, look.background_colours[1]),
                (1, mix_colours(look.background_colours[1], BLACK, 0.5)),
            )
        ),
    )
    canvas.fill_path(
        build_rounded_box(w / 2 - 10, 7, 20, h - 14, 2), build_metal_gradient(context.theme, look.rim_metal)
    )
    canvas.fill_path(
        build_rounded_box(7, h * 0.26, w - 14, 16, 2), build_metal_gradient(context.theme, look.rim_metal)
    )
    for side in (-1, 1):
        canvas.fill_path(
            build_ellipse(w / 2 + side * 16, h * 0.22, 15, 9, 24 * side),
            build_metal_gradient(context.theme, look.rim_metal),
        )
    return canvas.finish_surface()


# ---------------------------------------------------------------------- the wheel
def compute_wheel_degrees(
    step: WheelStep, elapsed_seconds: float, spin_seconds: float, turns_min: int = _WHEEL_TURNS_MIN
) -> float:
    """Return how many degrees the wheel has turned after ``elapsed_seconds`` of a spin of ``spin_seconds``.

    It slows down and stops on the winning segment. ``turns_min`` is the minimum number of whole turns; the wheel makes
    at least four.
    """
    segment_degrees = 360.0 / len(step.segments)
    end_degrees = 360.0 * max(_WHEEL_TURNS_MIN, turns_min) + (step.winning_index + 0.5) * segment_degrees
    return end_degrees * ease_out(clamp_to_unit_interval(elapsed_seconds / spin_seconds))


def _compute_wheel_width(game_field: Rect) -> float:
    """Return the width of a bonus wheel.

    It is the height of the game field, or less if text next to the wheel needs room.
    """
    return min(game_field[2] - _WIDTH_BESIDE_WHEEL_MIN, game_field[3]) - 24


def find_rect_beside_wheel(game_field: Rect) -> Rect:
    """Return the rectangle of the game field beside a wheel, which is free for text."""
    x, y, w, h = game_field
    wheel_width = _compute_wheel_width(game_field)
    left = x + w / 2 - (w - wheel_width) / 4 + wheel_width / 2 + 26
    return (left, y + 24, x + w - left - 20, h - 48)


def draw_wheel(
    context: DrawingContext,
    step: WheelStep,
    step_times: StepTimes | None,
    elapsed_seconds: float,
    *,
    should_draw_result: bool = True,
) -> None:
    """Draw a bonus wheel under its pointer.

    The wheel turns or, without ``step_times``, rests on the winning segment. If ``should_draw_result``, the award is
    written next to the wheel once it has stopped.
    """
    draw_board_background(context)
    painter = context.painter
    x, y, w, h = context.layout.game_field
    wheel_width = _compute_wheel_width(context.layout.game_field)
    centre_x, centre_y = x + w / 2 - (w - wheel_width) / 4, y + h / 2 + 6
    spin_seconds = step_times.stop_seconds[-1] - step_times.start_seconds if step_times is not None else 1.0
    elapsed_spin_seconds = (
        elapsed_seconds - step_times.start_seconds if step_times is not None else spin_seconds
    )
    game = context.view.game
    wheel_degrees = compute_wheel_degrees(
        step, elapsed_spin_seconds, spin_seconds, find_wheel_turns_min(game)
    )
    cache_key = ("wheel", step.segments, painter.scale_length(wheel_width), context.look.name)
    face = painter.find_or_create_surface(
        cache_key, lambda: _render_wheel_face(context, step, painter.scale_length(wheel_width))
    )
    rotated_face = painter.cache_result(
        "wheel", (face, wheel_degrees), lambda: pygame.transform.rotozoom(face, wheel_degrees, 1.0)
    )
    _draw_rotated_disc(
        painter,
        rotated_face,
        (painter.scale_length(centre_x), painter.scale_length(centre_y)),
        face.get_width(),
    )
    painter.draw_cached_picture(
        ("hub", context.look.name),
        (centre_x - 46, centre_y - 46, 92, 92),
        lambda size: _render_wheel_hub(context, size),
    )
    painter.draw_cached_picture(
        ("pointer",),
        (centre_x - 30, centre_y - wheel_width / 2 - 10, 60, 70),
        lambda size: render_wheel_pointer(context, size),
    )
    if should_draw_result and elapsed_spin_seconds >= spin_seconds:
        left, _, width, _ = find_rect_beside_wheel(context.layout.game_field)
        _draw_wheel_result(context, step.segments[step.winning_index], (left, centre_y - 130, width, 260))


def _draw_rotated_disc(
    painter: Painter, rotated_disc: pygame.Surface, centre: tuple[int, int], diameter: int
) -> None:
    """Draw a rotated picture of a disc around a point in pixels, without the transparent margin of the rotation.

    pygame draws pixels in groups, and rounds colours differently in a group that is not complete. The margin is
    therefore cut off in whole groups.
    """
    width, height = rotated_disc.get_size()
    left, top = (
        max(0, (side - diameter) // 2 // _BLIT_PIXELS_MULTIPLE - 2) * _BLIT_PIXELS_MULTIPLE
        for side in (width, height)
    )
    disc = rotated_disc.subsurface((left, top, width - 2 * left, height - 2 * top))
    painter.draw_surface(disc, (centre[0] - width // 2 + left, centre[1] - height // 2 + top))


def _draw_wheel_result(context: DrawingContext, award: BonusAward, rect: Rect) -> None:
    """Draw the award of the winning segment in the rectangle next to the wheel."""
    painter, (x, y, w, h) = context.painter, rect
    painter.draw_panel(
        rect, radius=24, fill=(10, 6, 22, 235), edge_paint=context.look.accent_colour, edge_width=4
    )
    symbol_data = context.game_data.get("symbols", {}).get(award.name)
    if symbol_data is None:
        painter.draw_text(
            format_bonus_award(context, award),
            (x + w / 2, y + h / 2),
            TextStyle("numbers", "hero", "meter"),
            width_max=w - 30,
        )
        return
    side = min(w - 40, 150.0)
    painter.draw_cached_picture(
        ("symbol", award.name),
        (x + (w - side) / 2, y + 16, side, side),
        lambda size: painter.render_symbol(award.name, "", size),
    )
    painter.draw_text(
        context.texts.choose_translation(symbol_data["name"], award.name),
        (x + w / 2, y + h - 66),
        TextStyle("strong", "lead", "text"),
        width_max=w - 30,
    )
    if award.credits:
        painter.draw_text(
            context.texts.format_number(award.credits),
            (x + w / 2, y + h - 28),
            TextStyle("numbers", "lead", "meter"),
            width_max=w - 30,
        )


def _render_wheel_face(context: DrawingContext, step: WheelStep, width_pixels: int) -> pygame.Surface:
    """Return the drawing of a wheel: coloured segments, each with its symbol or, if it has none, its award."""
    canvas = VectorCanvas((width_pixels, width_pixels), (100, 100), 2)
    canvas.fill_path(build_ellipse(50, 50, 50), BLACK)
    canvas.fill_path(build_ellipse(50, 50, 49.4), build_metal_gradient(context.theme, context.look.rim_metal))
    segment_degrees = 360.0 / len(step.segments)
    award_names = list(dict.fromkeys(award.name for award in step.segments))
    for i, award in enumerate(step.segments):
        angles = [math.radians(segment_degrees * (i + k / 12)) for k in range(13)]
        arc = [(50 + 47 * math.sin(a), 50 - 47 * math.cos(a)) for a in angles]
        canvas.fill_path(
            [(50.0, 50.0), *arc],
            _WHEEL_SEGMENT_COLOURS[award_names.index(award.name) % len(_WHEEL_SEGMENT_COLOURS)],
        )
        canvas.stroke_path([(50.0, 50.0), arc[0]], 0.4, context.theme.get_colour("gold_light"))
    face = canvas.finish_surface()
    symbols = context.game_data.get("symbols", {})
    side = min(width_pixels * 0.12, width_pixels * math.tau * 0.42 / len(step.segments) * 0.95)
    for i, award in enumerate(step.segments):
        segment_picture = (
            context.painter.render_symbol(award.name, "", (round(side), round(side)))
            if award.name in symbols
            else _render_segment_award(context, award, width_pixels)
        )
        rotated_picture = pygame.transform.rotozoom(
            segment_picture, (0 if award.name in symbols else 90) - segment_degrees * (i + 0.5), 1.0
        )
        draw_on_wheel_face(
            face, rotated_picture, segment_degrees * (i + 0.5), 0.43 if award.name in symbols else 0.36
        )
    return face


def draw_on_wheel_face(
    face: pygame.Surface, label_surface: pygame.Surface, degrees: float, distance_share: float
) -> None:
    """Draw a label on a square picture of a wheel, ``degrees`` clockwise from the top.

    ``distance_share`` is the distance between the middles of the label and the wheel, as a share of the wheel's width.
    """
    pixels, angle = face.get_width(), math.radians(degrees)
    x = pixels / 2 + pixels * distance_share * math.sin(angle) - label_surface.get_width() / 2
    y = pixels / 2 - pixels * distance_share * math.cos(angle) - label_surface.get_height() / 2
    face.blit(label_surface, (x, y), special_flags=pygame.BLEND_PREMULTIPLIED)


def _render_segment_award(
    context: DrawingContext, award: BonusAward, wheel_width_pixels: int
) -> pygame.Surface:
    """Return the text of a segment's award, for a picture of the wheel that is ``wheel_width_pixels`` wide."""
    font = pygame.font.Font(
        str(context.theme.font_path_by_role["numbers"]), max(8, round(wheel_width_pixels * 0.07))
    )
    return font.render(format_bonus_award(context, award), True, (255, 255, 255)).premul_alpha()


def _render_wheel_hub(context: DrawingContext, size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of the middle of a bonus wheel."""
    canvas = VectorCanvas(size)
    canvas.fill_path(build_ellipse(50, 50, 49), BLACK)
    canvas.fill_path(build_ellipse(50, 50, 46), build_metal_gradient(context.theme, context.look.rim_metal))
    canvas.fill_path(
        build_ellipse(50, 50, 34),
        RadialGradient(
            ((0, context.look.light_colour), (1, context.look.background_colours[2])), (0.4, 0.35), 0.8
        ),
    )
    return canvas.finish_surface()


def render_wheel_pointer(context: DrawingContext, size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of the pointer above a wheel."""
    canvas = VectorCanvas(size)
    canvas.fill_path(build_regular_polygon(50, 40, 48, 3, 90), BLACK)
    canvas.fill_path(
        build_regular_polygon(50, 39, 42, 3, 90), build_metal_gradient(context.theme, context.look.rim_metal)
    )
    return canvas.finish_surface()

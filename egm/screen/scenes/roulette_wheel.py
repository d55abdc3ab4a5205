"""Drawing of a roulette wheel and of its ball, which runs against the wheel and stops in the drawn pocket."""

import math
from functools import partial
from typing import Final

import pygame

from egm.screen.art.paths import build_ellipse
from egm.screen.art.vector_canvas import RadialGradient, VectorCanvas
from egm.screen.motion import clamp_to_unit_interval, ease_out
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.bonus import draw_on_wheel_face, render_wheel_pointer
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, build_metal_gradient
from egm.screen.table import TableGameData
from egm.screen.theme import Colour, parse_colour
from egm.screen.wheel_stakes import find_wheel_turns_min

#: The colour of a pocket, by the name that its game uses.
POCKET_COLOUR_BY_NAME: Final[dict[str, Colour]] = {
    "red": parse_colour("#b01026"),
    "black": parse_colour("#16161d"),
    "green": parse_colour("#0a652f"),
    "yellow": parse_colour("#d9a400"),
    "white": parse_colour("#e8e8ee"),
    "blue": parse_colour("#1f4fb8"),
}
#: The share of a cue during which the wheel and the ball move; then they rest, so that the pocket can be read.
_MOVING_SHARE_OF_CUE: Final = 0.78
#: Turns of the ball around the rim.
_BALL_TURNS: Final = 9
#: Turns of a wheel with a ball.
_WHEEL_TURNS: Final = 2
#: The minimum number of turns of a wheel under a pin: no fewer than any regulation requires of a valid spin.
_PIN_WHEEL_TURNS_MIN: Final = 7
#: A label with more characters than this is not a number; the wheel shows its first letter.
_POCKET_NUMBER_LENGTH_MAX: Final = 3


def draw_roulette_wheel(
    context: DrawingContext,
    table: TableGameData,
    rect: Rect,
    drawn_pocket: tuple[str, object],
    start_and_stop_seconds: tuple[float, float],
    elapsed_seconds: float,
    *,
    has_pin: bool,
) -> None:
    """Draw a turning roulette wheel, ``elapsed_seconds`` after the presentation began.

    Once it has stopped, the drawn pocket is shown in its middle. With reduced motion, neither the wheel nor the ball
    turns.

    Args:
        drawn_pocket: The pocket that was drawn, and its index on the wheel if several pockets have the same label.
        start_and_stop_seconds: When the spin's animation begins and ends, in seconds after the presentation began. The
            wheel stops before the end.
        has_pin: Whether the wheel turns under a pin at its top. If not, a ball runs against it.
    """
    start_seconds, stop_seconds = start_and_stop_seconds
    drawn_pocket_label, stated_part_index = drawn_pocket
    painter, (x, y, w, h) = context.painter, rect
    wheel_width = min(w, h) - 16
    centre_x, centre_y = x + w / 2, y + h / 2
    moving_share = clamp_to_unit_interval(
        (elapsed_seconds - start_seconds) / max(0.01, (stop_seconds - start_seconds) * _MOVING_SHARE_OF_CUE)
    )
    if context.view.is_motion_reduced:
        moving_share = 1.0 if moving_share >= 1 else 0.0
    progress = ease_out(moving_share)
    cache_key = (
        "rotor",
        table.wheel_pockets,
        painter.scale_length(wheel_width),
        context.look.name,
        context.texts.language,
    )
    face = painter.find_or_create_surface(
        cache_key, lambda: _render_wheel_face(context, table, painter.scale_length(wheel_width))
    )
    pocket_degrees, pocket_index = (
        360.0 / len(table.wheel_pockets),
        find_pocket_index(table, drawn_pocket_label, stated_part_index),
    )
    turns_min = find_wheel_turns_min(context.view.game)
    wheel_degrees = (
        360.0 * max(_PIN_WHEEL_TURNS_MIN, turns_min) + (pocket_index + 0.5) * pocket_degrees
        if has_pin
        else 360.0 * _WHEEL_TURNS
    ) * progress
    rotated_face = pygame.transform.rotate(face, round(wheel_degrees * 2) / 2)
    painter.draw_surface(
        rotated_face,
        (
            painter.scale_length(centre_x) - rotated_face.get_width() // 2,
            painter.scale_length(centre_y) - rotated_face.get_height() // 2,
        ),
    )
    if has_pin:
        painter.draw_cached_picture(
            ("pointer",),
            (centre_x - 26, centre_y - wheel_width / 2 - 6, 52, 60),
            partial(render_wheel_pointer, context),
        )
    else:
        ball_turns = max(_BALL_TURNS, turns_min)
        _draw_running_ball(
            context,
            (centre_x, centre_y),
            wheel_width,
            (pocket_index + 0.5) * pocket_degrees - wheel_degrees,
            (1 - progress) * ball_turns,
            progress,
        )
    if moving_share < 1:
        return
    fill = POCKET_COLOUR_BY_NAME.get(table.pocket_colours.get(drawn_pocket_label, ""), (20, 20, 30, 255))
    height = min(140.0, wheel_width * 0.34)
    plate: Rect = (centre_x - height * 0.64, centre_y - height / 2, height * 1.28, height)
    painter.draw_panel(plate, radius=26, fill=fill, edge_paint=WHITE, edge_width=4)
    text_colour = (
        BLACK if fill in {POCKET_COLOUR_BY_NAME["white"], POCKET_COLOUR_BY_NAME["yellow"]} else WHITE
    )
    text = context.texts.choose_translation(
        table.pocket_names.get(drawn_pocket_label, {}), drawn_pocket_label
    )
    style = TextStyle("heavy", "hero" if height > 120 else "title", text_colour)
    painter.draw_label(text, (plate[0] + 8, plate[1], plate[2] - 16, height), style)


def find_pocket_index(table: TableGameData, pocket: str, stated_part_index: object) -> int:
    """Return the index on the wheel of the pocket in which a spin has ended.

    Return ``stated_part_index`` if the pocket at this index has the label ``pocket``. Otherwise return the index of the
    first pocket with this label, or 0 if no pocket has it.
    """
    if (
        isinstance(stated_part_index, int)
        and 0 <= stated_part_index < len(table.wheel_pockets)
        and table.wheel_pockets[stated_part_index] == pocket
    ):
        return stated_part_index
    return table.wheel_pockets.index(pocket) if pocket in table.wheel_pockets else 0


def _draw_running_ball(
    context: DrawingContext,
    centre: tuple[float, float],
    wheel_width: float,
    final_degrees: float,
    turns: float,
    progress: float,
) -> None:
    """Draw the roulette ball on its way: first it runs around the rim, then it falls towards the pockets.

    It still has ``turns`` turns to go to its pocket, which is at ``final_degrees``.
    """
    angle = math.radians(final_degrees + 360.0 * turns)
    distance = wheel_width / 2 * (0.93 - 0.20 * clamp_to_unit_interval((progress - 0.8) / 0.2))
    ball_radius = wheel_width * 0.026
    ball_centre = (centre[0] + distance * math.sin(angle), centre[1] - distance * math.cos(angle))
    context.painter.draw_cached_picture(
        ("rotor ball",),
        (ball_centre[0] - ball_radius, ball_centre[1] - ball_radius, 2 * ball_radius, 2 * ball_radius),
        _render_ball,
    )


def shorten_pocket_label(pocket: str) -> str:
    """Return the label of a pocket, shortened for cells that have room for a number only."""
    return pocket if len(pocket) <= _POCKET_NUMBER_LENGTH_MAX else pocket[0].upper()


def _render_wheel_face(context: DrawingContext, table: TableGameData, width_pixels: int) -> pygame.Surface:
    """Return the drawing of a roulette wheel: the rim, the pockets in their colours with their labels, the cone."""
    canvas = VectorCanvas((width_pixels, width_pixels), (100, 100), 2)
    canvas.fill_path(build_ellipse(50, 50, 50), BLACK)
    canvas.fill_path(build_ellipse(50, 50, 49.4), build_metal_gradient(context.theme, context.look.rim_metal))
    canvas.fill_path(
        build_ellipse(50, 50, 48),
        RadialGradient(((0, (92, 48, 20, 255)), (1, (40, 18, 8, 255))), (0.5, 0.5), 0.5),
    )
    pocket_degrees = 360.0 / len(table.wheel_pockets)
    gold = context.theme.get_colour("gold_light")
    for i, pocket in enumerate(table.wheel_pockets):
        angles = [math.radians(pocket_degrees * (i + k / 6)) for k in range(7)]
        ring = [(50 + 43 * math.sin(a), 50 - 43 * math.cos(a)) for a in angles]
        ring += [(50 + 27 * math.sin(a), 50 - 27 * math.cos(a)) for a in reversed(angles)]
        canvas.fill_path(
            ring, POCKET_COLOUR_BY_NAME.get(table.pocket_colours.get(pocket, ""), (40, 40, 60, 255))
        )
        canvas.stroke_path([ring[0], ring[-1]], 0.35, gold, is_closed=False)
    canvas.stroke_path(build_ellipse(50, 50, 43), 0.5, gold)
    canvas.stroke_path(build_ellipse(50, 50, 34.5), 0.3, gold)
    canvas.fill_path(
        build_ellipse(50, 50, 27),
        RadialGradient(((0, (150, 92, 44, 255)), (1, (58, 26, 10, 255))), (0.45, 0.4), 0.6),
    )
    canvas.fill_path(build_ellipse(50, 50, 9), build_metal_gradient(context.theme, context.look.rim_metal))
    face = canvas.finish_surface()
    height = min(width_pixels * 0.052, width_pixels * math.tau * 0.38 / len(table.wheel_pockets) * 0.82)
    font = pygame.font.Font(str(context.theme.font_path_by_role["heavy"]), max(6, round(height)))
    for i, pocket in enumerate(table.wheel_pockets):
        is_pale = table.pocket_colours.get(pocket) in {"white", "yellow"}
        text = shorten_pocket_label(
            context.texts.choose_translation(table.pocket_names.get(pocket, {}), pocket)
        )
        label_surface = font.render(text, True, (0, 0, 0) if is_pale else (255, 255, 255)).premul_alpha()
        rotated_label = pygame.transform.rotozoom(label_surface, -pocket_degrees * (i + 0.5), 1.0)
        draw_on_wheel_face(face, rotated_label, pocket_degrees * (i + 0.5), 0.388)
    return face


def _render_ball(size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of a roulette ball."""
    canvas = VectorCanvas(size)
    canvas.fill_path(build_ellipse(50, 54, 46), (0, 0, 0, 150))
    white = RadialGradient(
        ((0, WHITE), (0.6, (232, 232, 240, 255)), (1, (150, 150, 168, 255))), (0.36, 0.3), 0.85
    )
    canvas.fill_path(build_ellipse(50, 48, 45), white)
    return canvas.finish_surface()

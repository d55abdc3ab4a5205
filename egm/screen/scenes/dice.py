"""Drawing of the dice thrown on a table, and of the craps point with its puck."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Final

import pygame

from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, VectorCanvas
from egm.screen.motion import clamp_to_unit_interval, ease_out
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext
from egm.screen.spot_layout import compute_felt_rect
from egm.screen.steps import TableStep
from egm.screen.theme import Colour, mix_colours, parse_colour

#: The share of a throw during which dice move; then they lie still, so that they can be read.
_MOVING_SHARE_OF_THROW: Final = 0.62
#: The colour of a die.
_DIE_COLOUR: Final = parse_colour("#c41226")
#: The largest side of a die, in units.
_DIE_SIDE_MAX: Final = 150.0
#: The gap between two dice, in units.
_DICE_GAP: Final = 34.0
#: The point numbers of craps.
_CRAPS_POINT_NUMBERS: Final = (4, 5, 6, 8, 9, 10)
#: Pip positions of each face, from -1 to 1.
PIP_POSITIONS_BY_FACE: Final[dict[int, tuple[tuple[int, int], ...]]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
    5: ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)),
    6: ((-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)),
}


def render_die_art(size: tuple[int, int], face: int) -> pygame.Surface:
    """Return the drawing of a die's face."""
    canvas = VectorCanvas(size)
    canvas.fill_path(build_rounded_box(2, 4, 96, 96, 20), (0, 0, 0, 130))
    canvas.fill_path(
        build_rounded_box(3, 2, 94, 94, 19),
        LinearGradient(
            ((0, mix_colours(_DIE_COLOUR, WHITE, 0.25)), (1, mix_colours(_DIE_COLOUR, BLACK, 0.25)))
        ),
    )
    canvas.stroke_path(build_rounded_box(6, 5, 88, 88, 16), 2, mix_colours(_DIE_COLOUR, WHITE, 0.5))
    for x, y in PIP_POSITIONS_BY_FACE[face]:
        canvas.fill_path(build_ellipse(50 + 26 * x, 49 + 26 * y, 10.5), WHITE)
    return canvas.finish_surface()


def draw_die(context: DrawingContext, rect: Rect, face: int) -> None:
    """Draw a die that lies on the table with ``face`` up."""
    context.painter.draw_cached_picture(("die", face), rect, partial(render_die_art, face=face))


def draw_resting_dice(context: DrawingContext, dice: Sequence[int], rect: Rect) -> None:
    """Draw dice that lie beside each other in the middle of a rectangle."""
    x, y, w, h = rect
    side = min(_DIE_SIDE_MAX, h, w / (len(dice) + 1.5))
    for i, face in enumerate(dice):
        middle = x + w / 2 + (i - (len(dice) - 1) / 2) * (side + _DICE_GAP)
        draw_die(context, (middle - side / 2, y + (h - side) / 2, side, side), face)


def draw_dice(
    context: DrawingContext,
    dice: Sequence[int],
    total: int | None,
    start_and_stop_seconds: tuple[float, float],
    elapsed_seconds: float,
) -> None:
    """Draw a throw: dice enter from the right, tumble and stop. Then show ``total``, if the game uses it.

    ``start_and_stop_seconds`` are the start and the end of the throw, in seconds from the start of the
    presentation. The dice stop before the end. With reduced motion, they do not move.
    """
    start_seconds, stop_seconds = start_and_stop_seconds
    painter, (x, y, w, h) = context.painter, context.layout.game_field
    moving_share = clamp_to_unit_interval(
        (elapsed_seconds - start_seconds) / max(0.01, (stop_seconds - start_seconds) * _MOVING_SHARE_OF_THROW)
    )
    are_dice_still = moving_share >= 1 or context.view.is_motion_reduced
    die_width = min(_DIE_SIDE_MAX, w / (len(dice) + 1.5))
    progress = ease_out(moving_share)
    for i, face in enumerate(dice):
        target = (x + w / 2 + (i - (len(dice) - 1) / 2) * (die_width + _DICE_GAP), y + h / 2 - 20)
        if are_dice_still:
            draw_die(
                context, (target[0] - die_width / 2, target[1] - die_width / 2, die_width, die_width), face
            )
            continue
        tumbling_face = 1 + (int(progress * 23) + 2 * i) % 6
        bounce = abs(math.sin(progress * math.pi * 3)) * (1 - progress) * h * 0.3
        centre = (target[0] + (1 - progress) * w * 0.5, target[1] - bounce)
        turn_degrees = round((1 - progress) * 900 + 40 * i) % 360 // 15 * 15
        cache_key = ("die turned", tumbling_face, turn_degrees, painter.scale_length(die_width))
        rotated_die = painter.find_or_create_surface(
            cache_key,
            partial(
                _render_turned_die,
                (painter.scale_length(die_width), painter.scale_length(die_width)),
                tumbling_face,
                turn_degrees,
            ),
        )
        painter.draw_surface(
            rotated_die,
            (
                painter.scale_length(centre[0]) - rotated_die.get_width() // 2,
                painter.scale_length(centre[1]) - rotated_die.get_height() // 2,
            ),
        )
    if are_dice_still and total is not None:
        style = TextStyle("numbers", "marquee", "meter", 2, (0, 20, 10, 200))
        painter.draw_text(str(total), (x + w / 2, y + h / 2 + die_width / 2 + 50), style, width_max=w - 80)


def _render_turned_die(size: tuple[int, int], face: int, rotation_degrees: int) -> pygame.Surface:
    """Return the drawing of a die's face, rotated by ``rotation_degrees``."""
    return pygame.transform.rotozoom(render_die_art(size, face), rotation_degrees, 1.0)


def draw_craps_point(context: DrawingContext, step: TableStep | None, *, is_throw_shown: bool) -> None:
    """Draw the point numbers of craps, the puck on the current point (or off), and the dice of ``step``.

    While the result of a throw is shown (``is_throw_shown``), the point is the one after that throw. Before
    that, and between throws, it is the point in the machine's snapshot. The last throw is not used then, because it may
    be another player's, or missing.
    """
    painter, (x, y, w, _) = context.painter, compute_felt_rect(context.layout)
    display = step.display if step is not None else {}
    dice = tuple(map(int, display.get("dice", ())))
    snapshot = context.view.snapshot
    point = display.get("point") if snapshot is None or is_throw_shown else snapshot.felt_state.point
    height = 76.0
    left, numbers_width = x + 2, w - 4 - (150.0 if w > 700 else 0.0)
    width = numbers_width / len(_CRAPS_POINT_NUMBERS)
    for i, number in enumerate(_CRAPS_POINT_NUMBERS):
        cell: Rect = (left + i * width + 2, y + 2, width - 4, height)
        is_point, is_wide = point == number, width > 110
        fill = (14, 84, 58, 255) if is_point else (10, 60, 42, 255)
        # An edge would look like a betting spot.
        painter.draw_panel(cell, radius=12, fill=fill, edge_paint=WHITE if is_point else fill)
        anchor = (
            cell[0] + width / 2 - (24 if is_point and is_wide else 0),
            y + 40 + (14 if is_point and not is_wide else 0),
        )
        painter.draw_text(str(number), anchor, TextStyle("heavy", "lead", "text"), width_max=width - 20)
        if is_point:
            _draw_puck(context, (cell[0] + width - 34, y + 30), is_on=True)
    if w > 700 and dice:
        for i, face in enumerate(dice):
            draw_die(context, (x + w - 140 + i * 68, y + 8, 60, 60), face)
    elif w > 700 and point is None:
        _draw_puck(context, (x + w - 70, y + 38), is_on=False)


def _draw_puck(context: DrawingContext, centre: tuple[float, float], *, is_on: bool) -> None:
    """Draw the puck, which marks the point at craps and shows ON or OFF."""
    x, y = centre
    context.painter.draw_cached_picture(
        ("puck", is_on), (x - 26, y - 26, 52, 52), partial(_render_puck_art, is_on=is_on)
    )
    text_colour: Colour = BLACK if is_on else WHITE
    text = context.texts.translate("felt.on" if is_on else "felt.off")
    context.painter.draw_text(
        text,
        (x, y),
        TextStyle("heavy", "tiny" if not context.layout.is_telephone else "caption", text_colour),
        width_max=44,
    )


def _render_puck_art(size: tuple[int, int], *, is_on: bool) -> pygame.Surface:
    """Return the drawing of the puck of craps: white with ON, or black with OFF."""
    canvas = VectorCanvas(size)
    canvas.fill_path(build_ellipse(50, 53, 47), (0, 0, 0, 160))
    canvas.fill_path(build_ellipse(50, 49, 46), WHITE if is_on else (24, 24, 30, 255))
    canvas.stroke_path(build_ellipse(50, 49, 40), 4, BLACK if is_on else WHITE)
    return canvas.finish_surface()

"""Drawing of chips: discs with their values, and the amount that a bet has returned in place of its chip."""

from functools import partial
from typing import Final

import pygame

from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, VectorCanvas
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext
from egm.screen.table import TableGameData
from egm.screen.theme import Colour, mix_colours, parse_colour

#: The colours of chips, from the lowest value to the highest.
CHIP_COLOURS: Final = tuple(map(parse_colour, ("#e9e4d4", "#c4183a", "#1f4fb8", "#0f8a4a", "#33303f")))
#: The colour of a standing bet's chip.
STANDING_BET_CHIP_COLOUR: Final = parse_colour("#8f6ad6")
#: The width of a chip on the felt, in units.
CHIP_WIDTH: Final = 42.0
#: The width of the plate that shows what a spot has returned, in units.
_RETURNED_AMOUNT_WIDTH: Final = 44.0


def render_chip_art(size: tuple[int, int], colour: Colour) -> pygame.Surface:
    """Return the drawing of a chip: a coloured disc with light marks at its rim, and a pale middle for its value."""
    canvas = VectorCanvas(size)
    canvas.fill_path(build_ellipse(50, 52, 48), (0, 0, 0, 150))
    canvas.fill_path(build_ellipse(50, 49, 47), mix_colours(colour, BLACK, 0.35))
    canvas.fill_path(
        build_ellipse(50, 47, 46), LinearGradient(((0, mix_colours(colour, WHITE, 0.2)), (1, colour)))
    )
    for turn_degrees in range(0, 360, 60):
        spot_offset = pygame.math.Vector2(0, -40).rotate(turn_degrees)
        canvas.fill_path(
            build_ellipse(50 + spot_offset.x, 47 + spot_offset.y, 8, 6, turn_degrees), (250, 248, 240, 255)
        )
    canvas.fill_path(build_ellipse(50, 47, 31), (252, 250, 244, 255))
    return canvas.finish_surface()


def draw_chip(
    context: DrawingContext, centre: tuple[float, float], credits_: int, colour: Colour, width: float
) -> None:
    """Draw a chip ``width`` units wide around the point ``centre``, with its value on it."""
    x, y = centre
    rect: Rect = (x - width / 2, y - width / 2, width, width)
    context.painter.draw_cached_picture(("chip", colour), rect, partial(render_chip_art, colour=colour))
    style = TextStyle("heavy", "small" if width > 48 else "caption", (20, 16, 30, 255))
    context.painter.draw_text(
        _format_short_credits(context, credits_), (x, y - width * 0.03), style, width_max=width * 0.56
    )


def _format_short_credits(context: DrawingContext, credits_: int) -> str:
    """Return credits as text for a chip, which has room for few digits: whole thousands as ``1k``."""
    if credits_ >= 1000 and credits_ % 1000 == 0:
        return f"{context.texts.format_number(credits_ // 1000)}k"
    return context.texts.format_number(credits_)


def find_chip_colour(table: TableGameData, credits_: int) -> Colour:
    """Return the colour of a chip that stands for an amount of credits.

    It is the colour of the chip with the highest value that is not above the amount.
    """
    chip_index = sum(value <= credits_ for value in table.chip_values) - 1
    return CHIP_COLOURS[max(0, min(chip_index, len(CHIP_COLOURS) - 1))]


def draw_returned_amount(context: DrawingContext, centre: tuple[float, float], credits_: int) -> None:
    """Draw the credits that a bet has returned, stake included, around the point ``centre`` in place of the bet's chip.

    From 10,000 credits on, whole thousands are shortened as on a chip. The list next to the felt has them in full.
    """
    painter = context.painter
    text = str(credits_) if credits_ < 10_000 else _format_short_credits(context, credits_)
    painter.draw_cached_picture(
        ("won",),
        (centre[0] - _RETURNED_AMOUNT_WIDTH / 2, centre[1] - 16, _RETURNED_AMOUNT_WIDTH, 32),
        _render_return_plate,
    )
    painter.draw_text(
        text,
        (centre[0], centre[1] - CHIP_WIDTH * 0.06),
        TextStyle("heavy", "caption", "win"),
        width_max=_RETURNED_AMOUNT_WIDTH - 10,
    )


def _render_return_plate(size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of the plate on which a returned amount is written."""
    canvas = VectorCanvas(size, (_RETURNED_AMOUNT_WIDTH, 32.0), 2)
    canvas.fill_path(build_rounded_box(0, 0, _RETURNED_AMOUNT_WIDTH, 32, 14), parse_colour("#7dffb2"))
    canvas.fill_path(build_rounded_box(2, 2, _RETURNED_AMOUNT_WIDTH - 4, 28, 12), (8, 30, 20, 255))
    return canvas.finish_surface()

"""Drawing of card faces, with the suits in two colours or, if the player chooses, in four."""

from functools import partial
from typing import Final

import pygame

from egm.screen.art.files import render_own_picture
from egm.screen.art.paths import Outline, build_ellipse, build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, VectorCanvas
from egm.screen.painter import Rect
from egm.screen.scenes.drawing_context import WHITE, DrawingContext
from egm.screen.scenes.pai_gow_tiles import is_tile, render_tile_art
from egm.screen.theme import Colour, parse_colour

#: The code of a card that lies face down.
FACE_DOWN_CARD_CODE: Final = "??"
#: The colour of the black suits.
_BLACK_SUIT_COLOUR: Final = parse_colour("#15151c")
#: The colour of the red suits.
_RED_SUIT_COLOUR: Final = parse_colour("#c40f2a")
#: The colour of each suit if the player has chosen four colours.
_FOUR_COLOUR_DECK: Final = {
    "c": parse_colour("#0c7a3a"),
    "d": parse_colour("#1650c8"),
    "h": _RED_SUIT_COLOUR,
    "s": _BLACK_SUIT_COLOUR,
}
#: The colour of each suit in the usual two colours.
_TWO_COLOUR_DECK: Final = {
    "c": _BLACK_SUIT_COLOUR,
    "d": _RED_SUIT_COLOUR,
    "h": _RED_SUIT_COLOUR,
    "s": _BLACK_SUIT_COLOUR,
}


def draw_card(context: DrawingContext, rect: Rect, card_code: str, *, is_small: bool = False) -> None:
    """Draw a card's face or back, or a tile, in a rectangle. Draw nothing for a removed card.

    A small card (``is_small``) has larger letters, and its suit only once.
    """
    if not card_code:
        return
    has_four_suit_colours = context.view.has_four_suit_colours
    render_card = partial(
        render_card_art,
        context,
        card_code=card_code,
        has_four_suit_colours=has_four_suit_colours,
        is_small=is_small,
    )
    context.painter.draw_cached_picture(
        ("playing card", card_code, has_four_suit_colours, is_small), rect, render_card
    )


def render_card_art(
    context: DrawingContext,
    size: tuple[int, int],
    *,
    card_code: str,
    has_four_suit_colours: bool,
    is_small: bool = False,
) -> pygame.Surface:
    """Return a drawing of a card: a large rank above its suit, which is repeated in the corner unless ``is_small``.

    If ``has_four_suit_colours``, each suit has its own colour. The code may also mean a joker, a card face down,
    or a tile.
    """
    if is_tile(card_code):
        return render_tile_art(size, card_code)
    if card_code == FACE_DOWN_CARD_CODE:
        return render_own_picture("card_back", size)
    canvas = VectorCanvas(size, (100.0, 140.0))
    canvas.fill_path(build_rounded_box(0, 0, 100, 140, 9), (0, 0, 0, 160))
    canvas.fill_path(
        build_rounded_box(1.2, 1.2, 97.6, 137.6, 8), LinearGradient(((0, WHITE), (1, (232, 230, 222, 255))))
    )
    font = str(context.theme.font_path_by_role["heavy"])
    if card_code == "Jk":
        canvas.draw_text(font, "JOKER", (50, 116), 20, parse_colour("#7a2cc0"), width_max=84)
        canvas.fill_path(_build_star_path(50, 56, 40), parse_colour("#7a2cc0"))
        return canvas.finish_surface()
    rank, suit = {"T": "10"}.get(card_code[0], card_code[0]), card_code[1]
    colour = (_FOUR_COLOUR_DECK if has_four_suit_colours else _TWO_COLOUR_DECK)[suit]
    if is_small:
        canvas.draw_text(font, rank, (50, 48), 92, colour, width_max=90)
        _draw_suit(canvas, suit, (50.0, 112.0), 22.0, colour)
        return canvas.finish_surface()
    canvas.draw_text(font, rank, (38, 40), 62, colour, width_max=62)
    _draw_suit(canvas, suit, (66.0, 100.0), 27.0, colour)
    _draw_suit(canvas, suit, (84.0, 20.0), 9.0, colour)
    return canvas.finish_surface()


def render_suits_art(size: tuple[int, int], *, has_four_suit_colours: bool) -> pygame.Surface:
    """Return a drawing of the four suits side by side.

    If ``has_four_suit_colours``, each suit has its own colour; otherwise there are two colours.
    """
    canvas = VectorCanvas(size, (108.0, 36.0))
    canvas.fill_path(
        build_rounded_box(0, 0, 108, 36, 7), LinearGradient(((0, WHITE), (1, (232, 230, 222, 255))))
    )
    for suit_index, suit in enumerate("shdc"):
        _draw_suit(
            canvas,
            suit,
            (16.0 + 25.0 * suit_index, 18.0),
            11.0,
            (_FOUR_COLOUR_DECK if has_four_suit_colours else _TWO_COLOUR_DECK)[suit],
        )
    return canvas.finish_surface()


def draw_suits(context: DrawingContext, rect: Rect) -> None:
    """Draw the four suits on the key that switches between two and four suit colours."""
    x, y, w, h = rect
    width = min(w - 10, (h - 10) * 3)
    suits_rect = (x + (w - width) / 2, y + (h - width / 3) / 2, width, width / 3)
    has_four_suit_colours = context.view.has_four_suit_colours
    context.painter.draw_cached_picture(
        ("suits", has_four_suit_colours),
        suits_rect,
        partial(render_suits_art, has_four_suit_colours=has_four_suit_colours),
    )


def _build_star_path(cx: float, cy: float, radius: float) -> Outline:
    """Return the outline of a five-pointed star, which marks a joker."""
    top_point = pygame.math.Vector2(0, -radius)
    points = (top_point.rotate(36 * i) * (1.0 if i % 2 == 0 else 0.42) for i in range(10))
    return [(cx + point.x, cy + point.y) for point in points]


def _draw_suit(
    canvas: VectorCanvas, suit: str, centre: tuple[float, float], half_height: float, colour: Colour
) -> None:
    """Draw the sign of a suit around the point ``centre``; ``half_height`` is half its height."""
    x, y = centre
    if suit == "d":
        canvas.fill_path(
            [
                (x, y - half_height),
                (x + 0.78 * half_height, y),
                (x, y + half_height),
                (x - 0.78 * half_height, y),
            ],
            colour,
        )
        return
    if suit in {"h", "s"}:
        direction = 1 if suit == "h" else -1
        for side in (-1, 1):
            canvas.fill_path(
                build_ellipse(
                    x + side * 0.45 * half_height, y - direction * 0.32 * half_height, 0.5 * half_height
                ),
                colour,
            )
        base_y = y - direction * 0.12 * half_height
        canvas.fill_path(
            [
                (x - 0.9 * half_height, base_y),
                (x + 0.9 * half_height, base_y),
                (x, y + direction * half_height),
            ],
            colour,
        )
    else:
        for dx, dy in ((0.0, -0.48), (-0.48, 0.22), (0.48, 0.22)):
            canvas.fill_path(
                build_ellipse(x + dx * half_height, y + dy * half_height, 0.45 * half_height), colour
            )
        canvas.fill_path(
            build_rounded_box(
                x - 0.3 * half_height, y - 0.3 * half_height, 0.6 * half_height, 0.6 * half_height
            ),
            colour,
        )
    if suit != "h":
        canvas.fill_path(
            [(x, y), (x + 0.42 * half_height, y + half_height), (x - 0.42 * half_height, y + half_height)],
            colour,
        )

"""The tiles of pai gow: two faces of a die, one above the other, on black.

Ones and fours are red. Each half of the double six has one red column and one white column.
"""

from typing import Final

import pygame

from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, VectorCanvas
from egm.screen.painter import Rect
from egm.screen.scenes.dice import PIP_POSITIONS_BY_FACE
from egm.screen.scenes.drawing_context import WHITE
from egm.screen.theme import parse_colour

#: The name of a tile that lies face down.
FACE_DOWN_TILE: Final = "?-?"
#: A tile's width, as a share of the width of a card of the same height.
_TILE_WIDTH_PER_CARD_WIDTH: Final = 0.66
#: The upper and the lower colour of a tile's face.
_TILE_FACE_COLOURS: Final = (parse_colour("#3a3a44"), parse_colour("#131318"))
#: The upper and the lower colour of a tile's back.
_TILE_BACK_COLOURS: Final = (parse_colour("#2f7d5a"), parse_colour("#0f3f2b"))
#: The colour of red pips.
_RED_PIP_COLOUR: Final = parse_colour("#f0314a")
#: The colour of a tile's edge.
_TILE_EDGE_COLOUR: Final = parse_colour("#8d8d9c")


def is_tile(piece_name: str) -> bool:
    """Return whether a name means a tile (two numbers of pips) and not a card."""
    return "-" in piece_name


def compute_tile_rect(rect: Rect) -> Rect:
    """Return the part of a card's rectangle in which a tile is drawn."""
    x, y, w, h = rect
    return (x + w * (1 - _TILE_WIDTH_PER_CARD_WIDTH) / 2, y, w * _TILE_WIDTH_PER_CARD_WIDTH, h)


def render_tile_art(size: tuple[int, int], tile_name: str) -> pygame.Surface:
    """Return the drawing of a pai gow tile, of the same size as a card."""
    canvas = VectorCanvas(size, (100.0, 140.0))
    width = 100.0 * _TILE_WIDTH_PER_CARD_WIDTH
    left = (100.0 - width) / 2
    top, bottom = _TILE_BACK_COLOURS if tile_name == FACE_DOWN_TILE else _TILE_FACE_COLOURS
    canvas.fill_path(build_rounded_box(left - 1, 1, width + 2, 139, 10), (0, 0, 0, 170))
    canvas.fill_path(build_rounded_box(left, 0, width, 137, 9), LinearGradient(((0, top), (1, bottom))))
    canvas.stroke_path(build_rounded_box(left + 2, 2, width - 4, 133, 8), 1.6, _TILE_EDGE_COLOUR)
    if tile_name == FACE_DOWN_TILE:
        canvas.stroke_path(build_rounded_box(left + 9, 9, width - 18, 119, 5), 1.4, (255, 255, 255, 110))
        return canvas.finish_surface()
    canvas.fill_path(build_rounded_box(left + 10, 67.6, width - 20, 1.8), _TILE_EDGE_COLOUR)
    for face, middle in zip(map(int, tile_name.split("-")), (35.0, 102.0), strict=True):
        for x, y in PIP_POSITIONS_BY_FACE[face]:
            is_red = face in {1, 4} or (tile_name == "6-6" and (x < 0) == (middle < 60))
            radius = 9.5 if face == 1 else 6.6
            canvas.fill_path(
                build_ellipse(50 + 17 * x, middle + 20 * y, radius), _RED_PIP_COLOUR if is_red else WHITE
            )
    return canvas.finish_surface()

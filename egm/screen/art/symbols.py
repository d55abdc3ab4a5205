"""The picture of each game symbol: the game's own, or a drawing chosen by the words in the symbol's identifier.

A drawing is a file of the folder ``svg``, 100 by 100 units, named like the symbol.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pygame

from egm.kernel.messages import ArtFile
from egm.screen.art.files import render_own_drawing
from egm.screen.art.game_pictures import get_game_picture
from egm.screen.art.paths import build_ellipse, build_regular_polygon, scale_outline
from egm.screen.art.vector_canvas import LinearGradient, RadialGradient, VectorCanvas
from egm.screen.theme import THEME_FOLDER, Colour, mix_colours, parse_colour

#: The folder of the symbols' drawings.
_DRAWINGS_FOLDER: Final = Path(__file__).parent / "svg"
#: Other names of a drawing.
_OTHER_SYMBOL_NAMES_BY_DRAWING: Final = {
    "bar": ("bar_1", "single_bar"),
    "blue_seven": ("seven_blue",),
    "cherry": ("cherries",),
    "clover": ("shamrock",),
    "double_bar": ("bar_2", "two_bar"),
    "flaming_seven": ("blazing_seven",),
    "melon": ("watermelon",),
    "pot": ("treasure",),
    "ruby": ("gem",),
    "seven": ("red_seven", "seven_red"),
    "snowflake": ("snow",),
    "triple_bar": ("bar_3", "three_bar"),
    "white_seven": ("seven_white",),
}
#: Drawings by name. A symbol uses, of the names whose words all occur in its identifier, the one with the most words.
DRAWING_FILE_BY_NAME: Final[Mapping[str, Path]] = {
    **{path.stem: path for path in sorted(_DRAWINGS_FOLDER.glob("*.svg"))},
    **{
        name: _DRAWINGS_FOLDER / f"{drawing}.svg"
        for drawing, names in _OTHER_SYMBOL_NAMES_BY_DRAWING.items()
        for name in names
    },
}
#: Short identifiers of cards and bars, and the drawings that they stand for.
_DRAWING_BY_SHORT_NAME: Final = {
    "a": "ace",
    "k": "king",
    "q": "queen",
    "j": "jack",
    "10": "ten",
    "t": "ten",
    "9": "nine",
    "7": "seven",
    "1bar": "bar_1",
    "2bar": "bar_2",
    "3bar": "bar_3",
}
#: Identifiers of symbols that show nothing.
_BLANK_SYMBOLS: Final = frozenset({"blank", "empty", "none", "space", "-", ""})
#: Light, base and deep shade of a token: ruby, sapphire, emerald, amethyst, topaz.
_TOKEN_SHADES: Final = (
    ("#ff9aa8", "#e0153c", "#6d0320"),
    ("#a9ccff", "#1f5fe0", "#061a5e"),
    ("#a4ffc9", "#12a860", "#043d24"),
    ("#ecbcff", "#9a35e0", "#3d0a6b"),
    ("#fff3b0", "#f2a91c", "#7a4204"),
)


def _build_gradient(*stops: tuple[float, str]) -> LinearGradient:
    """Return a linear gradient. Each argument is a stop: an offset (0 to 1) and a colour as hexadecimal text."""
    return LinearGradient(tuple((offset, parse_colour(colour)) for offset, colour in stops))


#: The gold of a token's face.
_TOKEN_FACE_PAINT: Final = _build_gradient(
    (0, "#fff8d2"), (0.35, "#ffd75e"), (0.55, "#e79f1f"), (0.75, "#ffdf7a"), (1, "#a8650f")
)
#: The dark gold of a token's edge.
_TOKEN_EDGE_PAINT: Final = _build_gradient((0, "#b8741a"), (1, "#5d3206"))
#: The paint of a token's text.
_TOKEN_TEXT_PAINT: Final = _build_gradient((0, "#ffffff"), (1, "#ffe9b0"))


def is_blank(symbol: str) -> bool:
    """Return whether the symbol with this identifier is a blank, for which nothing is drawn."""
    return symbol.lower() in _BLANK_SYMBOLS


def find_drawing_name(symbol: str) -> str | None:
    """Return the name of the drawing for a symbol, or None if no drawing suits its identifier."""
    name = re.sub(r"[^a-z0-9]+", "_", symbol.lower()).strip("_")
    name = _DRAWING_BY_SHORT_NAME.get(name, name).replace("7", "seven").replace("sevens", "seven")
    if name in DRAWING_FILE_BY_NAME:
        return name
    words = set(name.split("_"))
    matching_names = [key for key in DRAWING_FILE_BY_NAME if set(key.split("_")) <= words]
    return max(matching_names, key=lambda key: (key.count("_"), len(key)), default=None)


def render_drawing(drawing_name: str, side_pixels: int) -> pygame.Surface:
    """Return a symbol's drawing as a premultiplied square of ``side_pixels`` pixels. Raises :class:`PictureError`."""
    return render_own_drawing(DRAWING_FILE_BY_NAME[drawing_name], (side_pixels, side_pixels))


def render_symbol_art(
    symbol: str,
    fallback_text: str,
    size: tuple[int, int],
    pictures: Mapping[str, ArtFile] = MappingProxyType({}),
) -> pygame.Surface:
    """Return a game symbol as a premultiplied square surface; its side is the shorter one of ``size``, in pixels.

    The surface shows the picture that the game supplies for the symbol in ``pictures``, or else the built-in drawing,
    or else a token with the symbol's ``fallback_text``; a blank symbol shows nothing. A supplied picture that cannot be
    used is reported and ignored.
    """
    side = min(size)
    file = pictures.get(symbol)
    if file is not None and (game_picture := get_game_picture(file, side, pictures.values())) is not None:
        return game_picture
    if is_blank(symbol):
        return pygame.Surface((side, side), pygame.SRCALPHA)
    drawing_name = find_drawing_name(symbol)
    if drawing_name is None:
        return _render_name_token(symbol, fallback_text, side)
    return render_drawing(drawing_name, side)


def _render_name_token(symbol: str, name_text: str, side_pixels: int) -> pygame.Surface:
    """Return a token with the name ``name_text``, for a symbol that has no drawing."""
    light, base, deep = map(
        parse_colour, _TOKEN_SHADES[hashlib.sha256(symbol.encode()).digest()[0] % len(_TOKEN_SHADES)]
    )
    black: Colour = (0, 0, 0, 255)
    canvas = VectorCanvas((side_pixels, side_pixels))
    shape = build_regular_polygon(50, 50, 47, 8, -67.5)
    canvas.fill_path(shape, _TOKEN_EDGE_PAINT)
    canvas.fill_path(scale_outline(shape, 0.965), _TOKEN_FACE_PAINT)
    canvas.fill_path(
        scale_outline(shape, 0.86), RadialGradient(((0, light), (0.55, base), (1, deep)), (0.4, 0.3), 0.9)
    )
    canvas.fill_inside(scale_outline(shape, 0.86), build_ellipse(50, 14, 60, 30), (255, 255, 255, 56))
    font = str(THEME_FOLDER / "fonts" / "Lato-Black.ttf")
    canvas.draw_text(
        font,
        name_text,
        (50, 50),
        30,
        _TOKEN_TEXT_PAINT,
        edge_width=1.4,
        edge_paint=mix_colours(deep, black, 0.6),
        width_max=68,
    )
    return canvas.finish_surface()

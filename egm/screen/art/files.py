"""Picture files drawn at any size: the screen's own drawings, and pictures supplied by a game.

The screen's own drawings are SVG. The decoder supports shapes, strokes and gradients (positions in per cent of the
shape, ``xlink:href`` for shared stops), but no text, filters, clips, ``use`` or transparent colours. Text is therefore
drawn as outlines, and a glow as several strokes that get fainter. A game's files are not trusted: their format and size
are limited when the game is loaded (:mod:`paytables.assets`), files that were changed since then are not decoded, and
decoding happens outside the screen process (:mod:`egm.screen.art.game_pictures`).
"""

import hashlib
import io
import xml.parsers.expat
from functools import lru_cache
from pathlib import Path
from typing import Final

import pygame

from egm.errors import LocalError
from egm.kernel.messages import ArtFile
from egm.screen.art.vector_canvas import premultiply_colour
from egm.screen.theme import Colour
from egm.terminal import echo

#: The maximum number of bytes that are read of a picture or sound file. The machine refuses longer files, so a longer
#: one has changed since.
_FILE_BYTES_MAX: Final = 1024 * 1024
#: Pictures in scenes, other than symbols.
_SCENE_PICTURES_FOLDER: Final = Path(__file__).parent / "pictures"


class PictureError(LocalError):
    """Raised if a picture file is missing or is not a valid picture; the message names the file."""


@lru_cache(maxsize=256)
def read_unchanged_file(file: ArtFile) -> bytes | None:
    """Return the bytes of a game's picture or sound file.

    None if it has changed since the machine loaded the game, or cannot be read. Either problem is reported, but only
    once for each file while its result is cached.
    """
    try:
        with Path(file.path).open("rb") as open_file:
            file_bytes = open_file.read(_FILE_BYTES_MAX + 1)
    except OSError as error:
        echo(f"screen: {file.path}: {error.strerror}", err=True)
        return None
    if hashlib.sha256(file_bytes).hexdigest() != file.sha256:
        echo(f"screen: {file.path}: is not the file the machine read; it is not used", err=True)
        return None
    return file_bytes


def rasterise_picture(picture_file_bytes: bytes, file_name: str, size: tuple[int, int]) -> pygame.Surface:
    """Return an SVG or PNG picture as a premultiplied surface of ``size`` pixels.

    The picture keeps its proportions, is scaled to fit into the surface, and is centred. A ``file_name`` that ends in
    ``.svg`` means SVG, any other name PNG. Raises :class:`PictureError`, whose message has ``file_name``, if
    ``picture_file_bytes`` are not a valid picture of this format.
    """
    try:
        if file_name.endswith(".svg"):
            # The decoder silently draws a truncated file.
            xml.parsers.expat.ParserCreate().Parse(picture_file_bytes, True)
            picture = pygame.image.load_sized_svg(io.BytesIO(picture_file_bytes), size)
        else:
            picture = pygame.image.load(io.BytesIO(picture_file_bytes), "picture.png")
    except (pygame.error, xml.parsers.expat.ExpatError, ValueError, MemoryError) as error:
        raise PictureError(f"{file_name}: {error}") from None
    image = picture.convert_alpha().premul_alpha()
    width, height = image.get_size()
    scale = min(size[0] / width, size[1] / height)
    fitted_size = (max(1, round(width * scale)), max(1, round(height * scale)))
    if fitted_size != (width, height):
        image = pygame.transform.smoothscale(image, fitted_size)
    surface = pygame.Surface(size, pygame.SRCALPHA)
    top_left = ((size[0] - fitted_size[0]) // 2, (size[1] - fitted_size[1]) // 2)
    surface.blit(image, top_left, special_flags=pygame.BLEND_PREMULTIPLIED)
    return surface


def render_own_drawing(path: Path, size: tuple[int, int]) -> pygame.Surface:
    """Return one of the screen's own drawings as a surface of ``size`` pixels. Raises :class:`PictureError`."""
    try:
        return rasterise_picture(path.read_bytes(), str(path), size)
    except OSError as error:
        raise PictureError(f"{path}: {error.strerror}") from None


def render_own_picture(name: str, size: tuple[int, int], colour: Colour | None = None) -> pygame.Surface:
    """Return a picture of the folder ``pictures`` as a surface of ``size`` pixels.

    If ``colour`` is given, it replaces the white of the picture. Raises :class:`PictureError`.
    """
    surface = render_own_drawing(_SCENE_PICTURES_FOLDER / f"{name}.svg", size)
    if colour is not None:
        surface.fill(premultiply_colour(colour), special_flags=pygame.BLEND_RGBA_MULT)
    return surface

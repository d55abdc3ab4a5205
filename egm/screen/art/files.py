"""Picture files, the screen's own drawings and those a game brings, at the size that is wanted.

The screen's own are SVG. The decoder knows shapes, strokes and gradients (places in per cent of the shape,
``xlink:href`` for the same stops), no letters, filters, clips, ``use`` or colours with an alpha: letters are
outlines, glows are strokes that get fainter.

A game's files are not trusted: their form and size were bounded when the game was loaded
(:mod:`paytables.assets`), bytes that are others now than the machine read are not decoded, and what decodes
them is not the screen (:mod:`egm.screen.art.own`).
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
from egm.screen.art.ink import premultiplied
from egm.screen.theme import Colour
from egm.terminal import echo

_BYTES_MAX: Final = 1024 * 1024
#: What scenes show besides symbols.
_PICTURES: Final = Path(__file__).parent / "pictures"


class PictureError(LocalError):
    """A picture file that is not there or is no picture: names the file."""


@lru_cache(maxsize=256)
def checked(file: ArtFile) -> bytes | None:
    """The bytes of a file, or None where they are not those the machine read; says so once."""
    try:
        with Path(file.path).open("rb") as opened:
            data = opened.read(_BYTES_MAX + 1)
    except OSError as error:
        echo(f"screen: {file.path}: {error.strerror}", err=True)
        return None
    if hashlib.sha256(data).hexdigest() != file.sha256:
        echo(f"screen: {file.path}: is not the file the machine read; it is not used", err=True)
        return None
    return data


def rasterised(data: bytes, path: str, size: tuple[int, int]) -> pygame.Surface:
    """An SVG or PNG file's picture as a premultiplied surface of ``size`` pixels, whole and in the middle.

    Raises :class:`PictureError` naming ``path`` for what is no such picture.
    """
    try:
        if path.endswith(".svg"):
            xml.parsers.expat.ParserCreate().Parse(data, True)  # the decoder draws half a file without a word
            loaded = pygame.image.load_sized_svg(io.BytesIO(data), size)
        else:
            loaded = pygame.image.load(io.BytesIO(data), "picture.png")
    except (pygame.error, xml.parsers.expat.ExpatError, ValueError, MemoryError) as error:
        raise PictureError(f"{path}: {error}") from None
    whole = loaded.convert_alpha().premul_alpha()
    wide, high = whole.get_size()
    scale = min(size[0] / wide, size[1] / high)
    fitted = (max(1, round(wide * scale)), max(1, round(high * scale)))
    if fitted != (wide, high):
        whole = pygame.transform.smoothscale(whole, fitted)
    surface = pygame.Surface(size, pygame.SRCALPHA)
    at = ((size[0] - fitted[0]) // 2, (size[1] - fitted[1]) // 2)
    surface.blit(whole, at, special_flags=pygame.BLEND_PREMULTIPLIED)
    return surface


def drawn(path: Path, size: tuple[int, int]) -> pygame.Surface:
    """A drawing of the screen's own, as :func:`rasterised`. Raises :class:`PictureError` naming it."""
    try:
        return rasterised(path.read_bytes(), str(path), size)
    except OSError as error:
        raise PictureError(f"{path}: {error.strerror}") from None


def picture(name: str, size: tuple[int, int], colour: Colour | None = None) -> pygame.Surface:
    """A picture of the folder ``pictures`` as :func:`drawn`; ``colour``: what it has for white."""
    surface = drawn(_PICTURES / f"{name}.svg", size)
    if colour is not None:
        surface.fill(premultiplied(colour), special_flags=pygame.BLEND_RGBA_MULT)
    return surface

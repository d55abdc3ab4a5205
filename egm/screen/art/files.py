"""Picture files, the screen's own drawings and those a game brings, at the size that is wanted.

A game's files are not trusted: their form and size were bounded when the game was loaded
(:mod:`paytables.assets`), and bytes that are others now than the machine read are not decoded.
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
from egm.terminal import echo

_BYTES_MAX: Final = 1024 * 1024


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


def rasterised(data: bytes, path: str, side: int) -> pygame.Surface:
    """An SVG or PNG file's picture as a premultiplied square of ``side`` pixels, whole and in the middle.

    Raises :class:`PictureError` naming ``path`` for what is no such picture.
    """
    try:
        if path.endswith(".svg"):
            xml.parsers.expat.ParserCreate().Parse(data, True)  # the decoder draws half a file without a word
            loaded = pygame.image.load_sized_svg(io.BytesIO(data), (side, side))
        else:
            loaded = pygame.image.load(io.BytesIO(data), "picture.png")
    except (pygame.error, xml.parsers.expat.ExpatError, ValueError, MemoryError) as error:
        raise PictureError(f"{path}: {error}") from None
    picture = loaded.convert_alpha().premul_alpha()
    wide, high = picture.get_size()
    scale = side / max(wide, high)
    if scale != 1:
        size = (max(1, round(wide * scale)), max(1, round(high * scale)))
        picture = pygame.transform.smoothscale(picture, size)
    square = pygame.Surface((side, side), pygame.SRCALPHA)
    at = ((side - picture.get_width()) // 2, (side - picture.get_height()) // 2)
    square.blit(picture, at, special_flags=pygame.BLEND_PREMULTIPLIED)
    return square

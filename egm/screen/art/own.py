"""A game's own pictures: read once, held to the SHA-256 the machine read, drawn at the size that is wanted.

They are not trusted: their form and size were bounded when the game was loaded (:mod:`paytables.assets`), and
bytes that are others now are not decoded.
"""

import hashlib
import io
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

import pygame

from egm.kernel.messages import ArtFile

_BYTES_MAX: Final = 1024 * 1024


@lru_cache(maxsize=256)
def checked(file: ArtFile) -> bytes | None:
    """The bytes of a file, or None where they are not those the machine read; says so once."""
    try:
        with Path(file.path).open("rb") as opened:
            data = opened.read(_BYTES_MAX + 1)
    except OSError as error:
        sys.stderr.write(f"screen: {file.path}: {error.strerror}\n")
        return None
    if hashlib.sha256(data).hexdigest() != file.sha256:
        sys.stderr.write(f"screen: {file.path}: is not the file the machine read; it is not used\n")
        return None
    return data


def draw_own(file: ArtFile, side: int) -> pygame.Surface | None:
    """A picture as a premultiplied square of so many pixels, whole and in the middle; None: not to be had."""
    data = checked(file)
    if data is None:
        return None
    try:
        if file.path.endswith(".svg"):
            loaded = pygame.image.load_sized_svg(io.BytesIO(data), (side, side))
        else:
            loaded = pygame.image.load(io.BytesIO(data), "own.png")
    except (pygame.error, ValueError, MemoryError) as error:
        sys.stderr.write(f"screen: {file.path}: {error}\n")
        return None
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

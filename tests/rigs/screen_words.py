"""Reading a lock-up's words, or a top screen's sign, off a display: dot for dot as the screen's program draws it.

A guest's picture is compared with what the same program draws here of the same words; another fault's plate
is some thirty times as far from it as the same plate at another minute.
"""

from dataclasses import replace
from functools import cache

import pygame
from PIL import Image, ImageChops, ImageStat

from egm.app.stopped import bare_snapshot
from egm.config.cabinet_file import Machine
from egm.kernel.faults import fault
from egm.kernel.messages import Hello, Notice, Tilt
from egm.profiles import load_profile
from egm.screen.layout import LANDSCAPE
from egm.screen.message_reducer import heard, lost
from egm.screen.picture import Picture
from egm.screen.theme import load_theme
from egm.screen.top import TopPicture, sign
from egm.screen.view import View
from paytables import load_game
from tools.lab.views import at_rest, game_view

#: Share of the display that a plate's title and large line fill: left, top, right, bottom.
_PLATE = (0.2, 0.28, 0.8, 0.47)
#: Sum of the mean differences of the three colours; the same words at another minute differ by less than one.
_SAME = 5.0
_SINCE = "2026-11-23T04:33:20+00:00"


def says(shown: Image.Image, code: str, why: str = "") -> bool:
    """Whether a display shows the plate of a machine without memory that has this fault; ``lost``: no machine."""
    width = shown.size[0]
    height = width * 9 // 16
    top = (shown.size[1] - height) // 2
    picture = shown.crop((0, top, width, top + height)).convert("RGB")
    left, upper, right, lower = _PLATE
    box = tuple(round(a) for a in (left * width, upper * height, right * width, lower * height))
    difference = ImageChops.difference(picture.crop(box), _drawn(code, why, width).crop(box))
    return sum(ImageStat.Stat(difference).mean) < _SAME


@cache
def _drawn(code: str, why: str, width: int) -> Image.Image:
    _prepare()
    identity = Machine.model_construct(
        serial="EGM-0000001",
        operator_number="1",
        profile="generic",
        site="Emulated computer",
        time_zone="UTC",
    )
    tilt = Tilt(code=code, since=_SINCE, cleared_by=fault(code).cleared_by, detail=why)
    notice = Notice(code=f"fault.{code}", severity="alarm", values={"why": why})
    snapshot = bare_snapshot(identity, load_profile("generic"), _SINCE).model_copy(
        update={"notices": (notice,), "tilts": (tilt,)}
    )
    view = heard(heard(View(reduced_motion=True), Hello()), snapshot)
    view = replace(lost(view) if code == "lost" else view, now=1000.0)
    return _image(Picture(load_theme(), scale=width / LANDSCAPE.size[0]), view)


def is_sign_of(shown: Image.Image, game: str, language: str) -> bool:
    """Whether a display of the picture's proportions shows the top screen's sign of a game of the library."""
    drawn = _sign_drawn(game, language, shown.size[0])
    assert drawn.size == shown.size
    left, top, wide, high = (x * shown.size[0] / LANDSCAPE.size[0] for x in sign(LANDSCAPE))
    box = (round(left), round(top), round(left + wide), round(top + high))
    difference = ImageChops.difference(shown.convert("RGB").crop(box), drawn.crop(box))
    return sum(ImageStat.Stat(difference).mean) < _SAME


@cache
def _sign_drawn(game: str, language: str, width: int) -> Image.Image:
    _prepare()
    found = game_view(load_game(game))
    picture = TopPicture(load_theme(), scale=width / LANDSCAPE.size[0])
    return _image(picture, replace(at_rest((found,), found, language), now=1000.0))


def _prepare() -> None:
    if not pygame.display.get_init():
        pygame.display.init()
    if pygame.display.get_surface() is None:
        pygame.display.set_mode((1, 1))
    pygame.font.init()


def _image(picture: Picture, view: View) -> Image.Image:
    surface = pygame.Surface(picture.pixels)
    picture.draw(surface, view)
    return Image.frombytes("RGB", surface.get_size(), pygame.image.tobytes(surface, "RGB"))

"""Recognition of what an emulated computer's display shows: a plate, a service page, a sign or a text console.

A picture of the display is compared with the picture that the screen's own code draws for the expected content. The
plate of another fault differs about thirty times as much as the same plate at another minute.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pygame
from PIL import Image, ImageChops, ImageStat
from rigs.display import open_display

from egm.app.tilt_screen import build_snapshot_without_memory
from egm.config.cabinet_file import MachineTable
from egm.kernel.faults import get_fault_definition
from egm.kernel.messages import Hello, Notice, Snapshot, Tilt
from egm.kernel.service_pages import ServicePage
from egm.profiles import load_profile
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message, mark_machine_connection_lost
from egm.screen.painter import Rect
from egm.screen.picture import Picture
from egm.screen.theme import load_theme
from egm.screen.top import TopPicture, compute_title_rect
from egm.screen.view import Action, View
from paytables import load_game
from tools.lab.views import build_game_view, build_idle_view

#: Share of the display that a plate's title and large line fill: left, top, right, bottom.
_PLATE = (0.2, 0.28, 0.8, 0.47)
#: Limit for the sum of the three colours' mean differences. The same text at another minute differs by less than one.
_SAME = 5.0
_SINCE = "2026-11-23T04:33:20+00:00"
#: A plate with more lines starts higher up, by at most this many units.
_HIGHER = 120
#: Number of pixels of a page that may differ, because of the pointer at the last touch.
_DOTS = 400
_APART = 64
#: Width and height of a letter of the kernel's console, in pixels.
_CELL = (8, 16)


def is_plate_shown(shown: Image.Image, code: str, reason: str = "") -> bool:
    """Return whether a display shows a plate: of a fault, of an ``out_of_service.`` notice, or ``lost``."""
    picture = _picture_in(shown)
    width = picture.size[0]
    left, upper, right, lower = (round(a * b) for a, b in zip(_PLATE, picture.size * 2, strict=True))
    expected = _plate(code, reason, width).crop((left, upper, right, lower))
    for higher in range(round(_HIGHER * width / LANDSCAPE_LAYOUT.size[0])):
        plate = picture.crop((left, upper - higher, right, lower - higher))
        if sum(ImageStat.Stat(ImageChops.difference(plate, expected)).mean) < _SAME:
            return True
    return False


def is_page_shown(shown: Image.Image, page: ServicePage, *standing: Notice, body: bool = True) -> bool:
    """Return whether a display shows the page and the notices; if not ``body``, compare only its head and foot."""
    picture = _picture_in(shown)
    expected = draw_snapshot(page_snapshot(page, *standing), picture.size[0])[1]
    scale = picture.size[0] / LANDSCAPE_LAYOUT.size[0]
    x, y, w, h = (round(a * scale) for a in LANDSCAPE_LAYOUT.service_page)
    head, foot = round(78 * scale), round(76 * scale)
    boxes = [(x, y, x + w, y + h)] if body else [(x, y, x + w, y + head), (x, y + h - foot, x + w, y + h)]
    apart = 0
    for box in boxes:
        difference = ImageChops.difference(picture.crop(box), expected.crop(box)).convert("L")
        apart += sum(difference.histogram()[_APART:])
    return apart < _DOTS


def _picture_in(shown: Image.Image) -> Image.Image:
    """Return the 16:9 picture in the middle of a display of another shape."""
    width = shown.size[0]
    height = width * 9 // 16
    top = (shown.size[1] - height) // 2
    return shown.crop((0, top, width, top + height)).convert("RGB")


def _plate(code: str, reason: str, width: int) -> Image.Image:
    kind, _, of = code.rpartition(".")
    if kind:
        notice = Notice(code=code, severity="alarm")
        changes: dict[str, object] = {"state": kind, "notices": (notice,)}
    else:
        tilt = Tilt(code=of, since=_SINCE, cleared_by=get_fault_definition(of).cleared_by, detail=reason)
        notice = Notice(code=f"fault.{of}", severity="alarm", values={"why": reason}, is_lasting=True)
        changes = {"notices": (notice,), "tilts": (tilt,)}
    return draw_snapshot(_bare().model_copy(update=changes), width, is_lost=code == "lost")[1]


def page_snapshot(page: ServicePage, *standing: Notice) -> Snapshot:
    """Return the snapshot of a machine that shows this page."""
    return _bare().model_copy(update={"state": "service_menu", "service_page": page, "notices": standing})


def draw_snapshot(
    snapshot: Snapshot, width: int, *, is_lost: bool = False
) -> tuple[list[tuple[Rect, Action]], Image.Image]:
    """Return the touch areas, in units of the picture, and the image of a machine with this snapshot."""
    return _drawn(snapshot.model_dump_json(), width, is_lost)


@cache
def _drawn(snapshot_json: str, width: int, is_lost: bool) -> tuple[list[tuple[Rect, Action]], Image.Image]:
    open_display()
    view = apply_message(
        apply_message(View(is_motion_reduced=True), Hello()), Snapshot.model_validate_json(snapshot_json)
    )
    view = replace(mark_machine_connection_lost(view) if is_lost else view, now=1000.0)
    picture = Picture(load_theme(), scale=width / LANDSCAPE_LAYOUT.size[0])
    return [(touch.rect, touch.action) for touch in picture.list_touch_targets(view)], _image(picture, view)


def _bare() -> Snapshot:
    identity = MachineTable.model_construct(
        serial="EGM-0000001",
        operator_number="1",
        profile="generic",
        site="Emulated computer",
        time_zone="UTC",
    )
    return build_snapshot_without_memory(identity, load_profile("generic"), _SINCE)


def is_sign_of(shown: Image.Image, game: str, language: str) -> bool:
    """Return whether a 16:9 display shows the top screen's sign of a library game."""
    drawn = _sign_drawn(game, language, shown.size[0])
    assert drawn.size == shown.size
    left, top, width, height = (
        x * shown.size[0] / LANDSCAPE_LAYOUT.size[0] for x in compute_title_rect(LANDSCAPE_LAYOUT)
    )
    box = (round(left), round(top), round(left + width), round(top + height))
    difference = ImageChops.difference(shown.convert("RGB").crop(box), drawn.crop(box))
    return sum(ImageStat.Stat(difference).mean) < _SAME


@cache
def _sign_drawn(game: str, language: str, width: int) -> Image.Image:
    open_display()
    found = build_game_view(load_game(game))
    picture = TopPicture(load_theme(), scale=width / LANDSCAPE_LAYOUT.size[0])
    return _image(picture, replace(build_idle_view((found,), found, language), now=1000.0))


def _image(picture: Picture, view: View) -> Image.Image:
    surface = pygame.Surface(picture.size_pixels)
    picture.draw_view(surface, view)
    return Image.frombytes("RGB", surface.get_size(), pygame.image.tobytes(surface, "RGB"))


def is_console_text_shown(shown: Image.Image, lines: Sequence[str]) -> bool:
    """Return whether a text console shows these lines at its top.

    The font is unknown: equal letters must have equal shapes, and different letters different ones.
    """
    width, height = _CELL
    shapes: dict[str, bytes] = {}
    plain = shown.convert("L").point(lambda light: 255 * (light > _APART))
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            box = (column * width, row * height, (column + 1) * width, (row + 1) * height)
            shape = plain.crop(box).tobytes()
            if shapes.setdefault(letter, shape) != shape:
                return False
    return len(set(shapes.values())) == len(shapes)

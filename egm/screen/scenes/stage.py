"""What a scene is given to draw with, and the unmoving picture: hall, marquee, frame, wells, deck."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pygame

from egm.screen.art.ink import Ink, Linear, Radial, painted
from egm.screen.art.paths import box, ellipse
from egm.screen.layout import Layout, grown
from egm.screen.painter import PREMULTIPLIED, Painter, Rect, Style
from egm.screen.text import Texts
from egm.screen.theme import Colour, Look, Theme, fade, mix
from egm.screen.view import View

BLACK: Colour = (0, 0, 0, 255)
WHITE: Colour = (255, 255, 255, 255)


@dataclass(frozen=True, slots=True)
class Stage:
    """The painter, the words, the layout, and the view to draw."""

    painter: Painter
    texts: Texts
    layout: Layout
    view: View

    @property
    def theme(self) -> Theme:
        """The theme."""
        return self.painter.theme

    @property
    def look(self) -> Look:
        """The look of the game on the screen."""
        game = self.view.game
        return self.theme.look(game.id, game.family) if game else self.theme.looks["midnight"]

    def money(self, amount_cents: int) -> str:
        """An amount in the machine's currency and the player's language."""
        snapshot = self.view.snapshot
        return self.texts.money(amount_cents, snapshot.currency if snapshot else "CAD")

    def flashing(self) -> float:
        """A light between 0 and 1 at the theme's flash rate; steady where motion is reduced."""
        if self.view.reduced_motion:
            return 1.0
        return 0.5 - 0.5 * math.cos(self.view.now * self.theme.motion.flash_hz * math.tau)


def metal(theme: Theme, rim: str) -> Linear:
    """The gradient of a rim: gold or silver."""
    if rim == "silver":
        return Linear(
            (
                (0, (250, 252, 255, 255)),
                (0.35, (168, 180, 204, 255)),
                (0.55, (84, 94, 120, 255)),
                (0.75, (190, 200, 222, 255)),
                (1, (70, 78, 100, 255)),
            )
        )
    return Linear(
        (
            (0, theme.colour("gold_light")),
            (0.35, theme.colour("gold")),
            (0.55, theme.colour("gold_deep")),
            (0.75, theme.colour("gold")),
            (1, theme.colour("gold_dark")),
        )
    )


def rim_panel(
    size: tuple[int, int],
    scale: float,
    theme: Theme,
    look: Look,
    *,
    radius: float,
    rim: float,
    fill: Linear | Radial | Colour,
) -> pygame.Surface:
    """A plate in a bevelled metal rim with a dark lip, as a premultiplied surface."""
    w, h = size[0] / scale, size[1] / scale
    ink = Ink(size, (w, h), 2)
    ink.fill(box(0, 0, w, h, radius), fade(BLACK, 0.75))
    ink.fill(box(1.5, 1.5, w - 3, h - 3, radius - 1.5), metal(theme, look.rim))
    inner = rim * 0.55
    ink.fill(
        box(inner, inner, w - 2 * inner, h - 2 * inner, radius - inner),
        Linear(tuple((1 - place, colour) for place, colour in reversed(metal(theme, look.rim).stops))),
    )
    ink.fill(box(rim - 2, rim - 2, w - 2 * rim + 4, h - 2 * rim + 4, radius - rim + 2), fade(BLACK, 0.8))
    ink.fill(box(rim, rim, w - 2 * rim, h - 2 * rim, max(2, radius - rim)), fill)
    return ink.finish()


def _hall(size: tuple[int, int], look: Look, centre: tuple[float, float]) -> pygame.Surface:
    """The hall behind the machine: sky, a sunburst from the field's centre, lights out of focus, vignette."""
    width, height = size
    surface = pygame.Surface(size)
    surface.blit(painted(size, Linear(((0, look.sky[0]), (0.42, look.sky[1]), (1, look.sky[2])))), (0, 0))
    glow = painted(
        (round(width * 1.1), round(height * 1.1)),
        Radial(
            ((0, fade(look.glow, 0.5)), (0.5, fade(look.glow, 0.16)), (1, fade(look.glow, 0))),
            (0.5, 0.5),
            0.5,
        ),
    )
    surface.blit(
        glow,
        (centre[0] - glow.get_width() / 2, centre[1] - glow.get_height() / 2),
        special_flags=PREMULTIPLIED,
    )
    small = pygame.Surface((width // 2, height // 2), pygame.SRCALPHA)
    cx, cy, reach = centre[0] / 2, centre[1] / 2, width
    for i in range(40):
        a, b = math.tau * i / 40, math.tau * (i + 0.5) / 40
        pygame.draw.polygon(
            small,
            (*(c * 22 // 255 for c in look.ray[:3]), 22),
            [
                (cx, cy),
                (cx + reach * math.cos(a), cy + reach * math.sin(a)),
                (cx + reach * math.cos(b), cy + reach * math.sin(b)),
            ],
        )
    surface.blit(
        pygame.transform.smoothscale(pygame.transform.box_blur(small, 2), size),
        (0, 0),
        special_flags=PREMULTIPLIED,
    )
    _bokeh(surface, look)
    shade = painted(
        size, Radial(((0, (0, 0, 0, 0)), (0.55, (0, 0, 0, 0)), (1, (0, 0, 0, 190))), (0.5, 0.45), 0.72)
    )
    surface.blit(shade, (0, 0), special_flags=PREMULTIPLIED)
    return surface


def _bokeh(surface: pygame.Surface, look: Look) -> None:
    """Lights out of focus, at places that are always the same."""
    width, height = surface.get_size()
    for i in range(46):
        x, y = (i * 7919 % 997) / 997 * width, (i * 6101 % 883) / 883 * height * 0.8
        radius = max(3, round((8 + i * 37 % 34) * width / 1920))
        strength = (8 + i * 53 % 22) / 255
        colour = mix(look.glow, look.ray, (i % 5) / 4)
        disc = painted(
            (radius * 2, radius * 2),
            Radial(
                ((0, fade(colour, strength)), (0.8, fade(colour, strength * 1.5)), (1, fade(colour, 0))),
                (0.5, 0.5),
                0.5,
            ),
        )
        surface.blit(disc, (x - radius, y - radius), special_flags=PREMULTIPLIED)


def _marquee(stage: Stage, surface: pygame.Surface, title: str) -> None:
    p, look, rect = stage.painter, stage.look, stage.layout.marquee
    area = p.box(rect)
    ink = Ink(area.size, (rect[2], rect[3]), 2)
    w, h = rect[2], rect[3]
    shape = [(40.0, 4.0), (w - 40, 4.0), (w - 4, h - 30), (w - 60, h - 4), (60.0, h - 4), (4.0, h - 30)]
    ink.glow(shape, 26, fade(look.glow, 0.5))
    ink.fill(shape, metal(stage.theme, look.rim))
    inner = [(46.0, 9.0), (w - 46, 9.0), (w - 12, h - 31), (w - 63, h - 9), (63.0, h - 9), (12.0, h - 31)]
    ink.fill(
        inner,
        Radial(
            (
                (0, mix(look.sky[1], look.glow, 0.45)),
                (0.6, mix(look.sky[1], BLACK, 0.2)),
                (1, mix(look.sky[2], BLACK, 0.3)),
            ),
            (0.5, 0.35),
            0.62,
        ),
    )
    ink.clipped(inner, ellipse(w / 2, -h * 0.3, w * 0.55, h * 0.75), (255, 255, 255, 22))
    letters = Linear(
        (
            (0, stage.theme.colour("gold_light")),
            (0.42, stage.theme.colour("gold")),
            (0.55, stage.theme.colour("gold_deep")),
            (0.7, stage.theme.colour("gold")),
            (1, stage.theme.colour("gold_light")),
        )
    )
    ink.text(
        str(stage.theme.fonts["display"]),
        title,
        (w / 2, h / 2),
        h * 0.7,
        letters,
        edge=4,
        edge_paint=mix(look.sky[2], BLACK, 0.5),
        width=w - 200,
    )
    surface.blit(ink.finish(), area.topleft, special_flags=PREMULTIPLIED)


def _well(stage: Stage, size: tuple[int, int]) -> pygame.Surface:
    fill = Linear(((0, (3, 2, 8, 255)), (0.5, (18, 13, 34, 255)), (1, (30, 22, 52, 255))))
    return rim_panel(size, stage.painter.scale, stage.theme, stage.look, radius=20, rim=5, fill=fill)


def chrome(stage: Stage) -> pygame.Surface:
    """The whole unmoving picture, opaque: drawn once for a game, a language and a size."""
    p, layout, look, texts = stage.painter, stage.layout, stage.look, stage.texts
    game = stage.view.game
    title = texts.local(game.title, game.id) if game else "Open EGM"

    def make() -> pygame.Surface:
        field = p.box(layout.field)
        surface = _hall((p.px(layout.size[0]), p.px(layout.size[1])), look, field.center)
        _marquee(stage, surface, title)
        glass = Linear(
            ((0, fade(mix(look.sky[1], BLACK, 0.5), 0.88)), (1, fade(mix(look.sky[2], BLACK, 0.4), 0.92)))
        )
        for rect in (layout.left, layout.right):
            area = p.box(rect)
            surface.blit(
                rim_panel(area.size, p.scale, p.theme, look, radius=22, rim=7, fill=glass),
                area.topleft,
                special_flags=PREMULTIPLIED,
            )
        area = p.box(grown(layout.field, FRAME))
        surface.blit(
            rim_panel(area.size, p.scale, p.theme, look, radius=40, rim=FRAME - 6, fill=(8, 5, 14, 255)),
            area.topleft,
            special_flags=PREMULTIPLIED,
        )
        area = p.box(layout.message)
        plate = Linear(((0, (6, 4, 14, 235)), (1, (24, 17, 44, 235))))
        surface.blit(
            rim_panel(area.size, p.scale, p.theme, look, radius=26, rim=3, fill=plate),
            area.topleft,
            special_flags=PREMULTIPLIED,
        )
        _shelf(stage, surface)
        return surface.convert() if pygame.display.get_surface() else surface

    return p.kept(("chrome", layout.size, p.scale, look.name, title), make)


def _shelf(stage: Stage, surface: pygame.Surface) -> None:
    """The bar of meters and the deck below it."""
    p, layout, look = stage.painter, stage.layout, stage.look
    top, bottom = layout.bar[1], layout.size[1]
    area = p.box((0, top, layout.size[0], bottom - top))
    metal_plate = Linear(
        (
            (0, (58, 50, 82, 255)),
            (0.03, (30, 24, 48, 255)),
            (0.42, (18, 14, 32, 255)),
            (0.46, (40, 33, 62, 255)),
            (1, (12, 9, 22, 255)),
        )
    )
    surface.blit(painted(area.size, metal_plate), area.topleft)
    rule = p.box((0, top - 3, layout.size[0], 4))
    surface.blit(painted(rule.size, metal(p.theme, look.rim)), rule.topleft)
    for rect in layout.meters.values():
        area = p.box(rect)
        surface.blit(_well(stage, area.size), area.topleft, special_flags=PREMULTIPLIED)


#: Width of the frame round the field, in units: room for its bulbs.
FRAME = 30.0


def bulbs(stage: Stage, rect: Rect, mode: str) -> None:
    """The lamps of the frame: ``idle`` breathes, ``chase`` runs round, ``win`` flashes, slowly."""
    p, now = stage.painter, stage.view.now
    side = 22.0

    def lamp(level: int) -> Callable[[tuple[int, int]], pygame.Surface]:
        def make(size: tuple[int, int]) -> pygame.Surface:
            ink = Ink(size)
            share = level / 3
            body = mix((96, 60, 16, 255), (255, 250, 214, 255), share)
            if level:
                ink.fill(
                    ellipse(50, 50, 50),
                    Radial(
                        ((0, fade((255, 214, 120, 255), 0.85 * share)), (1, (255, 190, 80, 0))),
                        (0.5, 0.5),
                        0.5,
                    ),
                )
            ink.fill(ellipse(50, 50, 25), (70, 40, 8, 255))
            ink.fill(
                ellipse(50, 50, 22),
                Radial(
                    ((0, mix(body, WHITE, 0.6 * share)), (0.5, body), (1, mix(body, (120, 60, 0, 255), 0.7))),
                    (0.4, 0.35),
                    0.8,
                ),
            )
            return ink.finish()

        return make

    places = _round(grown(rect, FRAME / 2 - 1), 46)
    for i, (x, y) in enumerate(places):
        if stage.view.reduced_motion or mode == "steady":
            level = 2
        elif mode == "chase":
            level = 3 if (i - int(now * 9)) % 4 == 0 else (1 if (i - int(now * 9)) % 4 == 3 else 0)
        elif mode == "win":
            level = round(3 * stage.flashing()) if i % 2 == 0 else round(3 * (1 - stage.flashing()))
        else:
            level = round(1.2 + 1.2 * math.sin(now * 1.4 + i * 0.35))
        level = max(0, min(3, level))
        p.art(("bulb", level), (x - side, y - side, 2 * side, 2 * side), lamp(level))


def _round(rect: Rect, gap: float) -> list[tuple[float, float]]:
    """Places round a rectangle, about ``gap`` apart, in order."""
    x, y, w, h = rect
    across, down = max(2, round(w / gap)), max(2, round(h / gap))
    places = [(x + w * i / across, y) for i in range(across)]
    places += [(x + w, y + h * i / down) for i in range(down)]
    places += [(x + w - w * i / across, y + h) for i in range(across)]
    return places + [(x, y + h - h * i / down) for i in range(down)]


def spoken(stage: Stage, key: str, values: Mapping[str, object]) -> str:
    """A catalogue text with a message's values: one named ``x_cents`` is money and stands for ``{x}`` too.

    A key no catalogue has is shown as it is: an attendant can read it out.
    """
    if not stage.texts.has(key):
        return key
    worded = {
        name: stage.money(value) if name.endswith("_cents") and isinstance(value, int) else value
        for name, value in values.items()
    }
    short = {name.removesuffix("_cents"): value for name, value in worded.items()}
    return stage.texts.say(key, **(worded | short))


def caption(stage: Stage, words: str, rect: Rect, size: str = "small") -> None:
    """A heading centred in a rectangle, in the look's accent."""
    x, y, w, h = rect
    stage.painter.text(words, (x + w / 2, y + h / 2), Style("strong", size, stage.look.accent), width=w - 16)


def stage_name(stage: Stage, name: str) -> str:
    """A stage's own name in the player's language; empty for the base game."""
    game = stage.view.game
    told = game.presentation.get("stages", {}).get(name, {}).get("name") if game else None
    return stage.texts.local(told) if isinstance(told, dict) else ""


def draw_button(
    stage: Stage, rect: Rect, words: str, *, on: bool = True, lit: bool = False, size: str = "small"
) -> None:
    """A flat button with words, as pages and the drawer have; ``lit`` where what it names is so."""
    p = stage.painter
    fill = (150, 88, 20, 255) if lit else (58, 48, 96, 255) if on else (34, 30, 50, 255)
    edge = (255, 200, 110, 255) if lit else (136, 120, 190, 255) if on else (66, 60, 90, 255)
    p.panel(rect, radius=16, fill=fill, edge=edge, line=2.5)
    p.text(
        words,
        (rect[0] + rect[2] / 2, rect[1] + rect[3] / 2),
        Style("strong", size, "text" if on else "text_dim"),
        width=rect[2] - 20,
    )


def draw_focus(stage: Stage, rect: Rect) -> None:
    """The frame round the place the deck's keys would take; its corners tell it without colour."""
    x, y, w, h = rect
    wide, tall = w + 20, h + 20

    def make(size: tuple[int, int]) -> pygame.Surface:
        ink = Ink(size, (wide, tall), 2)
        ink.stroke(box(5, 5, wide - 10, tall - 10, 22), 9, (0, 0, 0, 220))
        ink.stroke(box(5, 5, wide - 10, tall - 10, 22), 5, WHITE)
        for cx, sx in ((5.0, 1), (wide - 5, -1)):
            for cy, sy in ((5.0, 1), (tall - 5, -1)):
                corner = [(cx, cy), (cx + 24 * sx, cy), (cx, cy + 24 * sy)]
                ink.fill(corner, stage.theme.colour("meter"))
        return ink.finish()

    stage.painter.art(("focus",), (x - 10, y - 10, wide, tall), make)

"""The drawing context of every scene, and the small elements that all scenes share."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

import pygame

from egm.kernel.messages import GamePresentation, PrizeInKind
from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, RadialGradient, VectorCanvas
from egm.screen.layout import Layout, grow_rect
from egm.screen.motion import compute_pulse
from egm.screen.painter import FACT_SEPARATOR, Painter, Rect, TextStyle
from egm.screen.text import Texts
from egm.screen.theme import Colour, GameLook, Theme, fade_colour, mix_colours
from egm.screen.view import View

BLACK: Colour = (0, 0, 0, 255)
WHITE: Colour = (255, 255, 255, 255)
#: The theme's colour for each severity of a notice.
COLOUR_BY_SEVERITY: Final = {"info": "info", "warning": "amber", "alarm": "alarm"}


#: How much of the look's light colour is mixed into the background during a feature, 0 to 1.
_FEATURE_LIGHT_SHARE: Final = 0.42


@cache
def build_feature_look(look: GameLook) -> GameLook:
    """Return a game's look during a feature: brighter background, dark reel paper, light in the accent colour."""
    background_colours = (
        mix_colours(look.background_colours[0], look.light_colour, _FEATURE_LIGHT_SHARE),
        mix_colours(
            mix_colours(look.background_colours[1], look.accent_colour, 0.3),
            look.light_colour,
            _FEATURE_LIGHT_SHARE,
        ),
        mix_colours(look.background_colours[2], look.light_colour, _FEATURE_LIGHT_SHARE / 2),
    )
    reel_paper_colours = (
        mix_colours(look.background_colours[0], BLACK, 0.2),
        mix_colours(look.background_colours[1], look.light_colour, 0.25),
        mix_colours(look.background_colours[0], BLACK, 0.2),
    )
    return replace(
        look,
        name=f"{look.name}, feature",
        background_colours=background_colours,
        light_colour=mix_colours(look.accent_colour, WHITE, 0.25),
        sunburst_colour=mix_colours(look.sunburst_colour, WHITE, 0.4),
        reel_paper_colours=reel_paper_colours,
    )


@dataclass(frozen=True, slots=True)
class DrawingContext:
    """The drawing context of every scene: the painter, the texts, the layout, and the view to draw."""

    painter: Painter
    texts: Texts
    layout: Layout
    view: View
    has_feature_colours: bool = False
    """Whether the scenes draw in the colours of a feature."""

    @property
    def theme(self) -> Theme:
        """Return the theme that the scene is drawn with."""
        return self.painter.theme

    @property
    def look(self) -> GameLook:
        """Return the look of the game on the screen; during a feature, its feature look."""
        return self.painter.cache_result("look", (self.view.game, self.has_feature_colours), self._find_look)

    def _find_look(self) -> GameLook:
        """Return the look of the game on the screen, without the cache of :attr:`look`."""
        game = self.view.game
        look = (
            self.theme.find_look(game.id, game.family, game.art.look)
            if game
            else self.theme.look_by_name["midnight"]
        )
        return build_feature_look(look) if self.has_feature_colours else look

    @property
    def title(self) -> str:
        """Return the text for the lit sign at the top.

        - In a tournament: a text that says so.
        - If no game is selected: the product's name.
        - Otherwise: the game's name.
        """
        game, snapshot = self.view.game, self.view.snapshot
        if snapshot is not None and snapshot.current_tournament is not None:
            return self.texts.translate("tournament.banner")
        return self.texts.choose_translation(game.title, game.id) if game else "Open EGM"

    @property
    def game_data(self) -> GamePresentation:
        """Return what the selected game publishes for its screen; empty if no game is selected."""
        return {} if self.view.game is None else self.view.game.presentation

    def format_money(self, amount_cents: int) -> str:
        """Return an amount of minor units as text: money in the machine's currency, or points in a tournament.

        On a service page every amount is money.
        """
        snapshot = self.view.snapshot
        if snapshot is not None and snapshot.current_tournament is not None and snapshot.service_page is None:
            return self.texts.format_count(
                "tournament.amount", amount_cents // max(1, snapshot.denomination_cents)
            )
        return self.texts.format_money(amount_cents, snapshot.currency if snapshot else "CAD")

    def compute_flash_brightness(self) -> float:
        """Return the present brightness (0 to 1) of a flashing light.

        It flashes at the theme's rate. With reduced motion, it is constant.
        """
        if self.view.is_motion_reduced:
            return 1.0
        return compute_pulse(self.view.now, self.theme.motion.flash_hz)


def build_metal_gradient(theme: Theme, rim_metal: str) -> LinearGradient:
    """Return the gradient that makes a rim look like gold or silver."""
    if rim_metal == "silver":
        return LinearGradient(
            (
                (0, (250, 252, 255, 255)),
                (0.35, (168, 180, 204, 255)),
                (0.55, (84, 94, 120, 255)),
                (0.75, (190, 200, 222, 255)),
                (1, (70, 78, 100, 255)),
            )
        )
    return LinearGradient(
        (
            (0, theme.get_colour("gold_light")),
            (0.35, theme.get_colour("gold")),
            (0.55, theme.get_colour("gold_deep")),
            (0.75, theme.get_colour("gold")),
            (1, theme.get_colour("gold_dark")),
        )
    )


def render_rim_panel(
    size: tuple[int, int],
    scale: float,
    theme: Theme,
    look: GameLook,
    *,
    radius: float,
    rim_width: float,
    fill_paint: LinearGradient | RadialGradient | Colour,
) -> pygame.Surface:
    """Return the drawing of a plate in a bevelled metal rim with a dark lip, as a premultiplied surface."""
    w, h = size[0] / scale, size[1] / scale
    canvas = VectorCanvas(size, (w, h), 2)
    canvas.fill_path(build_rounded_box(0, 0, w, h, radius), fade_colour(BLACK, 0.75))
    canvas.fill_path(
        build_rounded_box(1.5, 1.5, w - 3, h - 3, radius - 1.5), build_metal_gradient(theme, look.rim_metal)
    )
    rim_inset = rim_width * 0.55
    canvas.fill_path(
        build_rounded_box(rim_inset, rim_inset, w - 2 * rim_inset, h - 2 * rim_inset, radius - rim_inset),
        LinearGradient(
            tuple(
                (1 - offset, colour)
                for offset, colour in reversed(build_metal_gradient(theme, look.rim_metal).stops)
            )
        ),
    )
    canvas.fill_path(
        build_rounded_box(
            rim_width - 2, rim_width - 2, w - 2 * rim_width + 4, h - 2 * rim_width + 4, radius - rim_width + 2
        ),
        fade_colour(BLACK, 0.8),
    )
    canvas.fill_path(
        build_rounded_box(
            rim_width, rim_width, w - 2 * rim_width, h - 2 * rim_width, max(2, radius - rim_width)
        ),
        fill_paint,
    )
    return canvas.finish_surface()


#: Width, in units, of the frame with lamps around the game field.
FIELD_FRAME_WIDTH = 30.0
#: Width and height of one lamp of the frame, including its glow, in units.
_FRAME_LAMP_SIZE: Final = 44.0


def draw_frame_lamps(context: DrawingContext, rect: Rect, lamp_pattern: str) -> None:
    """Draw the lamps around a rectangle.

    ``lamp_pattern`` is ``idle`` (the lamps pulse), ``chase`` (light runs around) or ``win`` (the lamps flash slowly).
    With reduced motion, their brightness is constant.
    """
    painter, now = context.painter, context.view.now
    lamp_origins = _list_lamp_origins(
        grow_rect(rect, FIELD_FRAME_WIDTH / 2 - 1), _FRAME_LAMP_SIZE, painter.scale
    )
    brightness_levels: Iterable[int]
    if context.view.is_motion_reduced:
        brightness_levels = (2,) * len(lamp_origins)
    elif lamp_pattern == "chase":
        brightest_index = int(now * 9)
        brightness_levels = ({0: 3, 3: 1}.get((i - brightest_index) % 4, 0) for i in range(len(lamp_origins)))
    elif lamp_pattern == "win":
        brightness = context.compute_flash_brightness()
        brightness_levels = (
            round(3 * (1 - brightness if i % 2 else brightness)) for i in range(len(lamp_origins))
        )
    else:
        brightness_levels = (
            round(1.2 + 1.2 * math.sin(now * 1.4 + i * 0.35)) for i in range(len(lamp_origins))
        )
    lamps = (
        (("lamp", max(0, min(3, level))), origin)
        for level, origin in zip(brightness_levels, lamp_origins, strict=True)
    )
    painter.draw_small_pictures(lamps, _FRAME_LAMP_SIZE, _render_lamp)


def _render_lamp(cache_key: Hashable, size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of a lamp.

    ``cache_key`` is ``("lamp", level)``; the level is from 0 (dark) to 3 (bright).
    """
    assert isinstance(cache_key, tuple)
    level = int(cache_key[1])
    canvas = VectorCanvas(size)
    brightness_share = level / 3
    body = mix_colours((96, 60, 16, 255), (255, 250, 214, 255), brightness_share)
    if level:
        canvas.fill_path(
            build_ellipse(50, 50, 50),
            RadialGradient(
                ((0, fade_colour((255, 214, 120, 255), 0.85 * brightness_share)), (1, (255, 190, 80, 0))),
                (0.5, 0.5),
                0.5,
            ),
        )
    canvas.fill_path(build_ellipse(50, 50, 25), (70, 40, 8, 255))
    canvas.fill_path(
        build_ellipse(50, 50, 22),
        RadialGradient(
            (
                (0, mix_colours(body, WHITE, 0.6 * brightness_share)),
                (0.5, body),
                (1, mix_colours(body, (120, 60, 0, 255), 0.7)),
            ),
            (0.4, 0.35),
            0.8,
        ),
    )
    return canvas.finish_surface()


@lru_cache(maxsize=16)
def _list_lamp_origins(rect: Rect, lamp_size: float, scale: float) -> tuple[tuple[int, int], ...]:
    """Return the left and the top, in pixels, of the picture of each lamp around a rectangle.

    They are in clockwise order from the top left.
    """
    points = _list_points_around(rect, 46)
    return tuple((round((x - lamp_size / 2) * scale), round((y - lamp_size / 2) * scale)) for x, y in points)


def _list_points_around(rect: Rect, gap: float) -> list[tuple[float, float]]:
    """Return points on the edge of a rectangle, about ``gap`` apart, clockwise from the top left."""
    x, y, w, h = rect
    points_across, points_down = max(2, round(w / gap)), max(2, round(h / gap))
    points = [(x + w * i / points_across, y) for i in range(points_across)]
    points += [(x + w, y + h * i / points_down) for i in range(points_down)]
    points += [(x + w - w * i / points_across, y + h) for i in range(points_across)]
    return points + [(x, y + h - h * i / points_down) for i in range(points_down)]


def format_message(context: DrawingContext, text_key: str, values: Mapping[str, object]) -> str:
    """Return the catalogue's text ``text_key``, with ``values`` filled in.

    A value named ``x_cents`` is formatted as money and also fills ``{x}``. If no catalogue has the key, return the key
    itself, so that an attendant can report it.
    """
    if not context.texts.has_text(text_key):
        return text_key
    formatted_values = {
        name: context.format_money(value) if name.endswith("_cents") and isinstance(value, int) else value
        for name, value in values.items()
    }
    values_by_short_name = {name.removesuffix("_cents"): value for name, value in formatted_values.items()}
    return context.texts.format_text_by_count(text_key, formatted_values | values_by_short_name)


def format_prize_names(context: DrawingContext, prizes: Iterable[PrizeInKind]) -> str:
    """Return the names of merchandise prizes as one text.

    If a prize was won several times, its name is followed by the count.
    """
    count_by_name = Counter(context.texts.choose_translation(prize.names, prize.id) for prize in prizes)
    return FACT_SEPARATOR.join(
        name if count == 1 else context.texts.translate("help.kind", count=count, name=name)
        for name, count in count_by_name.items()
    )


def format_prizes_won(context: DrawingContext, prizes: Iterable[PrizeInKind]) -> str:
    """Return the text that announces the merchandise prizes won."""
    return context.texts.translate("win.prize", name=format_prize_names(context, prizes))


def draw_heading(context: DrawingContext, text: str, rect: Rect, text_size_name: str = "small") -> None:
    """Draw a heading centred in a rectangle, in the look's accent colour."""
    x, y, w, h = rect
    context.painter.draw_label(
        text, (x + 8, y, w - 16, h), TextStyle("strong", text_size_name, context.look.accent_colour)
    )


def format_stage_name(context: DrawingContext, game_stage: str) -> str:
    """Return the name of a game's stage (such as a feature) in the player's language; empty for the base game."""
    names = context.game_data.get("stages", {}).get(game_stage, {}).get("name")
    return context.texts.choose_translation(names) if isinstance(names, dict) else ""


def draw_button(
    context: DrawingContext,
    rect: Rect,
    text: str,
    *,
    is_enabled: bool = True,
    is_active: bool = False,
    text_size_name: str = "small",
) -> None:
    """Draw a flat button with a text, as on pages and in the drawer of simulated devices.

    ``is_active`` lights the button, because the option for which it stands is selected.
    """
    painter = context.painter
    fill_colour = (122, 66, 8, 255) if is_active else (58, 48, 96, 255) if is_enabled else (34, 30, 50, 255)
    edge_colour = (
        (255, 200, 110, 255) if is_active else (136, 120, 190, 255) if is_enabled else (66, 60, 90, 255)
    )
    painter.draw_panel(rect, radius=16, fill=fill_colour, edge_paint=edge_colour, edge_width=2.5)
    painter.draw_label(
        text,
        (rect[0] + 10, rect[1], rect[2] - 20, rect[3]),
        TextStyle("strong", text_size_name, "text" if is_enabled else "text_dim"),
    )


def draw_focus_frame(context: DrawingContext, rect: Rect) -> None:
    """Draw a frame around the focused touch target. Its corners show the focus without colour, too."""
    x, y, w, h = rect
    width, height = w + 20, h + 20

    def render_focus_frame(size: tuple[int, int]) -> pygame.Surface:
        canvas = VectorCanvas(size, (width, height), 2)
        canvas.stroke_path(build_rounded_box(5, 5, width - 10, height - 10, 22), 9, (0, 0, 0, 220))
        canvas.stroke_path(build_rounded_box(5, 5, width - 10, height - 10, 22), 5, WHITE)
        for corner_x, direction_x in ((5.0, 1), (width - 5, -1)):
            for corner_y, direction_y in ((5.0, 1), (height - 5, -1)):
                corner = [
                    (corner_x, corner_y),
                    (corner_x + 24 * direction_x, corner_y),
                    (corner_x, corner_y + 24 * direction_y),
                ]
                canvas.fill_path(corner, context.theme.get_colour("meter"))
        return canvas.finish_surface()

    context.painter.draw_cached_picture(("focus",), (x - 10, y - 10, width, height), render_focus_frame)

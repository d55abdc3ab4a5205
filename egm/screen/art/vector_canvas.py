"""A vector canvas: outlines filled with flat, linear or radial paint, drawn enlarged and scaled down smoothly.

Every surface is *premultiplied*: its colours are multiplied by their opacity. Scaling such a surface never darkens an
edge, and pygame's fastest blend, ``BLEND_PREMULTIPLIED``, draws it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import pygame

from egm.screen.art.paths import Point
from egm.screen.theme import Colour

#: Art is drawn this many times wider and higher than requested, and then reduced, so that its edges are smooth.
OVERSAMPLING_FACTOR = 3
#: Width and height, in pixels, in which a gradient is computed before it is stretched.
_GRADIENT_RAMP_PIXELS = 128


@dataclass(frozen=True, slots=True)
class LinearGradient:
    """A linear gradient through the colours ``stops``, each at an offset from 0 (start) to 1 (end).

    It runs from left to right if ``is_horizontal``, otherwise from top to bottom.
    """

    stops: tuple[tuple[float, Colour], ...]
    is_horizontal: bool = False


@dataclass(frozen=True, slots=True)
class RadialGradient:
    """A radial gradient from ``centre`` outwards, through the colours ``stops``, each at an offset from 0 to 1.

    ``centre`` is given as fractions of the width and height of the filled box.
    """

    stops: tuple[tuple[float, Colour], ...]
    centre: tuple[float, float] = (0.5, 0.5)
    radius: float = 0.75
    """The distance from the centre to the last colour, as a fraction of the box's width and of its height.

    In a box that is not square, the gradient is therefore an ellipse.
    """


#: What an outline is filled with: one colour or a gradient.
Paint = Colour | LinearGradient | RadialGradient


def compute_gradient_colour(stops: Sequence[tuple[float, Colour]], offset: float) -> Colour:
    """Return the colour of a gradient at an offset from 0 to 1."""
    lower_offset, lower_colour = stops[0]
    for stop_offset, stop_colour in stops:
        if stop_offset >= offset:
            span = stop_offset - lower_offset
            share = 0.0 if span <= 0 else (offset - lower_offset) / span
            r, g, b, a = (round(x + (y - x) * share) for x, y in zip(lower_colour, stop_colour, strict=True))
            return (r, g, b, a)
        lower_offset, lower_colour = stop_offset, stop_colour
    return lower_colour


def premultiply_colour(colour: Colour) -> Colour:
    """Return the colour with its components multiplied by its opacity."""
    r, g, b, a = colour
    return (r * a // 255, g * a // 255, b * a // 255, a)


def create_painted_surface(size: tuple[int, int], paint: Paint) -> pygame.Surface:
    """Return a premultiplied surface of ``size`` pixels filled with ``paint``."""
    size = (max(1, size[0]), max(1, size[1]))
    if not isinstance(paint, tuple):
        return pygame.transform.smoothscale(_render_small_gradient(paint), size)
    surface = pygame.Surface(size, pygame.SRCALPHA)
    surface.fill(premultiply_colour(paint))
    return surface


@lru_cache(maxsize=256)
def _render_small_gradient(paint: LinearGradient | RadialGradient) -> pygame.Surface:
    """Return a gradient on a small surface, which the caller stretches to the size that it needs."""
    if isinstance(paint, LinearGradient):
        strip = pygame.Surface(
            (_GRADIENT_RAMP_PIXELS, 1) if paint.is_horizontal else (1, _GRADIENT_RAMP_PIXELS), pygame.SRCALPHA
        )
        for i in range(_GRADIENT_RAMP_PIXELS):
            colour = premultiply_colour(compute_gradient_colour(paint.stops, i / (_GRADIENT_RAMP_PIXELS - 1)))
            strip.set_at((i, 0) if paint.is_horizontal else (0, i), colour)
        return strip
    small_surface = pygame.Surface((_GRADIENT_RAMP_PIXELS, _GRADIENT_RAMP_PIXELS), pygame.SRCALPHA)
    small_surface.fill(premultiply_colour(paint.stops[-1][1]))
    cx, cy = paint.centre[0] * _GRADIENT_RAMP_PIXELS, paint.centre[1] * _GRADIENT_RAMP_PIXELS
    radius_pixels = paint.radius * _GRADIENT_RAMP_PIXELS
    for step in range(_GRADIENT_RAMP_PIXELS, 0, -1):
        share = step / _GRADIENT_RAMP_PIXELS
        pygame.draw.circle(
            small_surface,
            premultiply_colour(compute_gradient_colour(paint.stops, share)),
            (cx, cy),
            radius_pixels * share,
        )
    return small_surface


class VectorCanvas:
    """A canvas to draw outlines on, measured in ``size_units``, that becomes a surface of ``size`` pixels."""

    def __init__(
        self,
        size: tuple[int, int],
        size_units: tuple[float, float] = (100.0, 100.0),
        oversampling_factor: int = OVERSAMPLING_FACTOR,
    ) -> None:
        self.size = (max(1, size[0]), max(1, size[1]))
        self.oversampling_factor = oversampling_factor
        self.pixels_per_unit_x = self.size[0] * oversampling_factor / size_units[0]
        self.pixels_per_unit_y = self.size[1] * oversampling_factor / size_units[1]
        self.surface = pygame.Surface(
            (self.size[0] * oversampling_factor, self.size[1] * oversampling_factor), pygame.SRCALPHA
        )

    def _to_pixels(self, path: Sequence[Point]) -> list[tuple[float, float]]:
        return [(x * self.pixels_per_unit_x, y * self.pixels_per_unit_y) for x, y in path]

    def _paint_through_mask(self, mask: pygame.Surface, top_left: tuple[int, int], paint: Paint) -> None:
        """Draw a shape, given as a white mask, at the pixel ``top_left`` in ``paint``. A gradient spans the mask."""
        mask.blit(
            create_painted_surface(mask.get_size(), paint), (0, 0), special_flags=pygame.BLEND_RGBA_MULT
        )
        self.surface.blit(mask, top_left, special_flags=pygame.BLEND_PREMULTIPLIED)

    def fill_path(self, path: Sequence[Point], paint: Paint) -> None:
        """Fill an outline with a paint. A gradient spans the outline's bounding box."""
        points = self._to_pixels(path)
        left, top = math.floor(min(p[0] for p in points)), math.floor(min(p[1] for p in points))
        width = math.ceil(max(p[0] for p in points)) - left + 1
        height = math.ceil(max(p[1] for p in points)) - top + 1
        mask = pygame.Surface((max(1, width), max(1, height)), pygame.SRCALPHA)
        pygame.draw.polygon(mask, (255, 255, 255, 255), [(x - left, y - top) for x, y in points])
        self._paint_through_mask(mask, (left, top), paint)

    def stroke_path(
        self, path: Sequence[Point], stroke_width: float, paint: Paint, *, is_closed: bool = True
    ) -> None:
        """Draw a line ``stroke_width`` units wide along an outline, with round corners and ends."""
        points = self._to_pixels(path)
        radius = max(0.5, stroke_width * self.pixels_per_unit_x / 2)
        margin_pixels = math.ceil(radius) + 1
        left, top = (
            math.floor(min(p[0] for p in points)) - margin_pixels,
            math.floor(min(p[1] for p in points)) - margin_pixels,
        )
        right, bottom = (
            math.ceil(max(p[0] for p in points)) + margin_pixels,
            math.ceil(max(p[1] for p in points)) + margin_pixels,
        )
        mask = pygame.Surface((right - left, bottom - top), pygame.SRCALPHA)
        white = (255, 255, 255, 255)
        mask_points = [(x - left, y - top) for x, y in points]
        pairs = pairwise([*mask_points, mask_points[0]] if is_closed else mask_points)
        for (ax, ay), (bx, by) in pairs:
            pygame.draw.circle(mask, white, (ax, ay), radius)
            length = math.hypot(bx - ax, by - ay)
            if length > 0:
                nx, ny = -(by - ay) / length * radius, (bx - ax) / length * radius
                pygame.draw.polygon(
                    mask,
                    white,
                    [(ax + nx, ay + ny), (bx + nx, by + ny), (bx - nx, by - ny), (ax - nx, ay - ny)],
                )
        pygame.draw.circle(mask, white, mask_points[-1], radius)
        self._paint_through_mask(mask, (left, top), paint)

    def fill_inside(self, shape: Sequence[Point], path: Sequence[Point], paint: Paint) -> None:
        """Fill the part of the outline ``path`` that lies inside the outline ``shape``, as for a highlight."""
        layer = pygame.Surface(self.surface.get_size(), pygame.SRCALPHA)
        pygame.draw.polygon(layer, (255, 255, 255, 255), self._to_pixels(path))
        shape_mask = pygame.Surface(self.surface.get_size(), pygame.SRCALPHA)
        pygame.draw.polygon(shape_mask, (255, 255, 255, 255), self._to_pixels(shape))
        layer.blit(shape_mask, (0, 0), special_flags=pygame.BLEND_RGBA_MULT)
        box = layer.get_bounding_rect()
        if box.width and box.height:
            mask = layer.subsurface(box).copy()
            self._paint_through_mask(mask, box.topleft, paint)

    def draw_glow(self, path: Sequence[Point], spread: float, colour: Colour) -> None:
        """Draw a soft glow around an outline, ``spread`` units wide."""
        shrink_factor = 4
        small_surface = pygame.Surface(
            (
                max(1, self.surface.get_width() // shrink_factor),
                max(1, self.surface.get_height() // shrink_factor),
            ),
            pygame.SRCALPHA,
        )
        points = [
            (x * self.pixels_per_unit_x / shrink_factor, y * self.pixels_per_unit_y / shrink_factor)
            for x, y in path
        ]
        pygame.draw.polygon(small_surface, premultiply_colour(colour), points)
        radius = max(1, round(spread * self.pixels_per_unit_x / shrink_factor / 2))
        blurred_surface = pygame.transform.gaussian_blur(small_surface, radius)
        self.surface.blit(
            pygame.transform.smoothscale(blurred_surface, self.surface.get_size()),
            (0, 0),
            special_flags=pygame.BLEND_PREMULTIPLIED,
        )

    def draw_text(
        self,
        font_file: str,
        text: str,
        centre: tuple[float, float],
        height: float,
        paint: Paint,
        *,
        edge_width: float = 0.0,
        edge_paint: Paint = (0, 0, 0, 255),
        width_max: float | None = None,
    ) -> None:
        """Draw a text in a font of ``height`` units, with its middle at ``centre``.

        If it is wider than ``width_max``, it is scaled down. ``edge_width`` is the width of an outline around the text
        in the colour ``edge_paint``, in units.
        """
        font = pygame.font.Font(font_file, max(4, round(height * self.pixels_per_unit_y)))
        mask = font.render(text, True, (255, 255, 255)).premul_alpha()
        mask = mask.subsurface(mask.get_bounding_rect()).copy()
        width_max_pixels = (
            mask.get_width() if width_max is None else round(width_max * self.pixels_per_unit_x)
        )
        if mask.get_width() > width_max_pixels:
            mask = pygame.transform.smoothscale(
                mask, (width_max_pixels, round(mask.get_height() * width_max_pixels / mask.get_width()))
            )
        top_left = (
            round(centre[0] * self.pixels_per_unit_x - mask.get_width() / 2),
            round(centre[1] * self.pixels_per_unit_y - mask.get_height() / 2),
        )
        if edge_width > 0:
            self._draw_text_edge(mask, top_left, round(edge_width * self.pixels_per_unit_x), edge_paint)
        self._paint_through_mask(mask, top_left, paint)

    def _draw_text_edge(
        self, mask: pygame.Surface, top_left: tuple[int, int], radius_pixels: int, paint: Paint
    ) -> None:
        """Draw the edge around a text. Its shape is the text's mask, enlarged by ``radius_pixels``."""
        grown_surface = pygame.Surface(
            (mask.get_width() + 2 * radius_pixels, mask.get_height() + 2 * radius_pixels), pygame.SRCALPHA
        )
        for step in range(24):
            angle = step * math.tau / 24
            for distance in (radius_pixels, radius_pixels * 0.5):
                grown_surface.blit(
                    mask,
                    (radius_pixels + distance * math.cos(angle), radius_pixels + distance * math.sin(angle)),
                    special_flags=pygame.BLEND_RGBA_MAX,
                )
        self._paint_through_mask(
            grown_surface, (top_left[0] - radius_pixels, top_left[1] - radius_pixels), paint
        )

    def finish_surface(self) -> pygame.Surface:
        """Return the drawing as a premultiplied surface of the size that the canvas was created for."""
        return (
            pygame.transform.smoothscale(self.surface, self.size)
            if self.oversampling_factor > 1
            else self.surface
        )

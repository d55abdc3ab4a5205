"""Outlines for drawings, as lists of points in the drawing's units: ellipses, rounded boxes, polygons."""

import math
from collections.abc import Iterable, Sequence

#: A point as (x, y), in units of the drawing.
Point = tuple[float, float]
#: A closed outline: its points in order.
Outline = list[Point]


def build_ellipse(
    cx: float, cy: float, rx: float, ry: float | None = None, rotation_degrees: float = 0.0
) -> Outline:
    """Return the outline of an ellipse, turned clockwise by ``rotation_degrees``. Without ``ry`` it is a circle."""
    ry = rx if ry is None else ry
    c, s = math.cos(math.radians(rotation_degrees)), math.sin(math.radians(rotation_degrees))
    points = [(rx * math.cos(i * math.tau / 72), ry * math.sin(i * math.tau / 72)) for i in range(72)]
    return [(cx + x * c - y * s, cy + x * s + y * c) for x, y in points]


def build_regular_polygon(
    cx: float, cy: float, radius: float, side_count: int, rotation_degrees: float = -90.0
) -> Outline:
    """Return the outline of a regular polygon.

    Its first corner lies at the angle ``rotation_degrees``; -90 is at the top.
    """
    return [
        (
            cx + radius * math.cos(math.radians(rotation_degrees + i * 360 / side_count)),
            cy + radius * math.sin(math.radians(rotation_degrees + i * 360 / side_count)),
        )
        for i in range(side_count)
    ]


def build_rounded_box(x: float, y: float, w: float, h: float, r: float = 0.0) -> Outline:
    """Return the outline of a rectangle with corners of radius ``r``, at most half of its shorter side."""
    if r <= 0:
        return [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
    r = min(r, w / 2, h / 2)
    outline: Outline = []
    for cx, cy, start_degrees in (
        (x + w - r, y + r, -90),
        (x + w - r, y + h - r, 0),
        (x + r, y + h - r, 90),
        (x + r, y + r, 180),
    ):
        outline += [
            (cx + r * math.cos(math.radians(degrees)), cy + r * math.sin(math.radians(degrees)))
            for degrees in range(start_degrees, start_degrees + 91, 9)
        ]
    return outline


def scale_outline(outline: Iterable[Point], factor: float) -> Outline:
    """Return the outline scaled by ``factor`` about the middle of a drawing of 100 by 100 units."""
    return [(50 + (x - 50) * factor, 50 + (y - 50) * factor) for x, y in outline]


def mirror_outline(outline: Sequence[Point]) -> Outline:
    """Return the outline mirrored left to right in a drawing 100 units wide."""
    return [(100 - x, y) for x, y in reversed(outline)]

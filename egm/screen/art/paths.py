"""Closed outlines as lists of points, in a drawing's own units: curves, rounded boxes, arcs."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

Point = tuple[float, float]
Path = list[Point]
#: Points of one curve.
_STEPS: Final = 18


def outline(start: Point, *curves: tuple[Point, Point, Point]) -> Path:
    """Chain cubic Bezier curves: each is (control, control, end)."""
    path: Path = []
    here = start
    for one, two, end in curves:
        for t in (step / _STEPS for step in range(_STEPS)):
            u = 1 - t
            wa, wb, wc, wd = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
            path.append(
                (
                    wa * here[0] + wb * one[0] + wc * two[0] + wd * end[0],
                    wa * here[1] + wb * one[1] + wc * two[1] + wd * end[1],
                )
            )
        here = end
    path.append(here)
    return path


def ellipse(cx: float, cy: float, rx: float, ry: float | None = None, turn: float = 0.0) -> Path:
    """An ellipse, turned clockwise by ``turn`` degrees; a circle where it has one radius."""
    ry = rx if ry is None else ry
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    points = [(rx * math.cos(i * math.tau / 72), ry * math.sin(i * math.tau / 72)) for i in range(72)]
    return [(cx + x * c - y * s, cy + x * s + y * c) for x, y in points]


def polygon(cx: float, cy: float, radius: float, sides: int, turn: float = -90.0) -> Path:
    """A regular polygon."""
    return [
        (
            cx + radius * math.cos(math.radians(turn + i * 360 / sides)),
            cy + radius * math.sin(math.radians(turn + i * 360 / sides)),
        )
        for i in range(sides)
    ]


def box(x: float, y: float, w: float, h: float, r: float = 0.0) -> Path:
    """A rectangle with rounded corners."""
    if r <= 0:
        return [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
    r = min(r, w / 2, h / 2)
    path: Path = []
    for cx, cy, start in (
        (x + w - r, y + r, -90),
        (x + w - r, y + h - r, 0),
        (x + r, y + h - r, 90),
        (x + r, y + r, 180),
    ):
        path += [
            (cx + r * math.cos(math.radians(start + k * 9)), cy + r * math.sin(math.radians(start + k * 9)))
            for k in range(11)
        ]
    return path


def arc(cx: float, cy: float, radius: float, start: float, end: float, thickness: float) -> Path:
    """A thick arc from ``start`` to ``end`` degrees as a closed outline."""
    count = max(8, int(abs(end - start) / 4))
    angles = [math.radians(start + (end - start) * i / count) for i in range(count + 1)]
    outer = [(cx + radius * math.cos(a), cy + radius * math.sin(a)) for a in angles]
    inner = [
        (cx + (radius - thickness) * math.cos(a), cy + (radius - thickness) * math.sin(a)) for a in angles
    ]
    return outer + inner[::-1]


def scale(path: Iterable[Point], factor: float, centre: Point = (50, 50)) -> Path:
    """The path grown about ``centre``."""
    return [(centre[0] + (x - centre[0]) * factor, centre[1] + (y - centre[1]) * factor) for x, y in path]


def mirror(path: Sequence[Point], axis: float = 50.0) -> Path:
    """The path mirrored left to right about the upright line x = ``axis``."""
    return [(2 * axis - x, y) for x, y in reversed(path)]

"""Closed outlines as lists of points, in a drawing's own units: curves, stars, rounded boxes, blobs."""

import math
from collections.abc import Iterable, Sequence

Point = tuple[float, float]
Path = list[Point]


def cubic(a: Point, b: Point, c: Point, d: Point, steps: int = 18) -> Path:
    """A cubic Bezier curve from ``a`` to ``d``, the end left out so that curves chain."""
    path = []
    for step in range(steps):
        t = step / steps
        u = 1 - t
        wa, wb, wc, wd = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
        path.append(
            (wa * a[0] + wb * b[0] + wc * c[0] + wd * d[0], wa * a[1] + wb * b[1] + wc * c[1] + wd * d[1])
        )
    return path


def outline(start: Point, *curves: tuple[Point, Point, Point]) -> Path:
    """Chain cubic curves: each is (control, control, end)."""
    path: Path = []
    here = start
    for one, two, end in curves:
        path += cubic(here, one, two, end)
        here = end
    path.append(here)
    return path


def ellipse(cx: float, cy: float, rx: float, ry: float | None = None, turn: float = 0.0) -> Path:
    """An ellipse, turned by ``turn`` degrees."""
    ry = rx if ry is None else ry
    points = [
        (cx + rx * math.cos(i * math.tau / 72), cy + ry * math.sin(i * math.tau / 72)) for i in range(72)
    ]
    return rotate(points, turn, (cx, cy)) if turn else points


def star(cx: float, cy: float, outer: float, inner: float, points: int = 5, turn: float = -90.0) -> Path:
    """A star with ``points`` points, the first one up."""
    path = []
    for i in range(points * 2):
        radius = outer if i % 2 == 0 else inner
        angle = math.radians(turn + i * 180 / points)
        path.append((cx + radius * math.cos(angle), cy + radius * math.sin(angle)))
    return path


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


def move(path: Iterable[Point], dx: float, dy: float) -> Path:
    """The path shifted."""
    return [(x + dx, y + dy) for x, y in path]


def scale(
    path: Iterable[Point], factor: float, centre: Point = (50, 50), factor_y: float | None = None
) -> Path:
    """The path grown about ``centre``."""
    fy = factor if factor_y is None else factor_y
    return [(centre[0] + (x - centre[0]) * factor, centre[1] + (y - centre[1]) * fy) for x, y in path]


def rotate(path: Iterable[Point], degrees: float, centre: Point = (50, 50)) -> Path:
    """The path turned clockwise about ``centre``."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [
        (
            centre[0] + (x - centre[0]) * c - (y - centre[1]) * s,
            centre[1] + (x - centre[0]) * s + (y - centre[1]) * c,
        )
        for x, y in path
    ]


def mirror(path: Sequence[Point], axis: float = 50.0) -> Path:
    """The path mirrored left to right about the upright line x = ``axis``."""
    return [(2 * axis - x, y) for x, y in reversed(path)]


def ribbon(spine: Sequence[Point], width: float, end_width: float | None = None) -> Path:
    """A stroke along ``spine`` as an outline, tapering from ``width`` to ``end_width``."""
    end = width if end_width is None else end_width
    left: Path = []
    right: Path = []
    last = len(spine) - 1
    for i, (x, y) in enumerate(spine):
        ax, ay = spine[max(0, i - 1)]
        bx, by = spine[min(last, i + 1)]
        length = math.hypot(bx - ax, by - ay) or 1.0
        half = (width + (end - width) * i / last) / 2
        nx, ny = -(by - ay) / length * half, (bx - ax) / length * half
        left.append((x + nx, y + ny))
        right.append((x - nx, y - ny))
    return left + right[::-1]

"""Rows of spots: how a cloth that is no roulette is laid out, page by page, from its spots alone.

A run of bets of one kind whose names differ in their last word (totals, hops, place bets) has a row with its
name at the left; short kinds stand beside each other.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from egm.screen.layout import Layout
from egm.screen.painter import Rect
from egm.screen.table import Spot, Table
from egm.screen.view import Action

Point = tuple[float, float]

#: How high an outside bet or a row's tabs are; a row of spots is no lower, and no higher than the last.
OUTSIDE: Final = 66.0
_ROWS: Final = (66.0, 100.0, 132.0)
#: A spot with its whole name is no narrower; so many stand beside each other at most.
_WIDE: Final = 104.0
_WIDEST_ROW: Final = 9
#: How wide the name of a row is, and on a telephone; how long what is left of its names may be.
_TITLE: Final = (150.0, 136.0)
_TAIL: Final = 5
#: What tells groups of one kind apart that have several prices.
_PRICE: Final = re.compile(r"(?:[ -][\d:.]+)+$")
#: A run of fewer spots has no row of its own.
_RUN: Final = 4
#: In a place no wider than this a chip lies below the sign, in one no higher than the other beside the odds;
#: a place so high may be as wide as the last, for two lines of its name are above the chip.
_NARROW: Final = 140.0
LOW: Final = 104.0
_LINED: Final = (80.0, 180.0)
#: So much of a place is kept for chips at its right.
FOR_CHIPS: Final = 48.0
#: The row of point numbers above the spots of craps; a spot on a table of cards.
_POINT: Final = 84.0
_SPOT_OF_CARDS: Final = 84.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed place of the cloth: its sign is a pocket or a spot's name."""

    rect: Rect
    pocket: str = ""
    spot: str = ""
    row: tuple[str, ...] = ()
    """The spots of the run it belongs to, where their common name stands at the left: the cell of no spot."""


@dataclass(frozen=True, slots=True)
class Cloth:
    """What is printed, what can be touched (in the order the keys walk), and where each spot's chips lie."""

    cells: tuple[Cell, ...] = ()
    places: tuple[tuple[Rect, Action], ...] = ()
    at: tuple[tuple[str, Point], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """Spots beside each other; ``run`` are all those of a kind that a name at the left is of."""

    spots: tuple[Spot, ...]
    run: tuple[str, ...] = ()


def felt_rect(layout: Layout) -> Rect:
    """The cloth within its frame; a telephone's keys stand below it."""
    x, y, w, h = layout.field
    if layout.slim:
        return (x, y, w, h - 2 * layout.finger)
    return (x + 14, y + 14, w - 28, h - 28)


def above_cloth(table: Table, layout: Layout) -> float:
    """How high the picture above the spots is: of cards, of a point and its puck."""
    _, _, w, h = felt_rect(layout)
    if table.felt == "cards":
        rows = rows_of(table.spots.values(), w, layout.finger, _WIDEST_ROW)
        return h - len(rows) * max(layout.finger, _SPOT_OF_CARDS)
    return _POINT if table.felt == "craps" else 0.0


def beside(rect: Rect) -> Point:
    """Where a chip lies on a printed place without hiding what stands there: at its right, or below it."""
    x, y, w, h = rect
    if is_wide(rect):
        return (x + w - 26, y + h / 2)
    return (x + w / 2, y + h * 0.76) if h > LOW else (x + w - 24, y + h - (18 if h >= _LINED[0] else 21))


def is_wide(rect: Rect) -> bool:
    """Whether a chip lies at the right of the sign, not below it."""
    _, _, w, h = rect
    high, wide = _LINED
    return w > (wide if h >= high else _NARROW)


def signed(rect: Rect) -> tuple[Rect, Rect]:
    """Where the sign of a printed place stands and where its odds, beside the chips that lie there."""
    x, y, w, h = rect
    if is_wide(rect):
        wide = w - 10 - FOR_CHIPS
        return (x + 5, y + 2, wide, h - 26), (x + 5, y + h - 24, wide, 18)
    if h > LOW:
        return (x + 5, y + 3, w - 10, (h - 6) * 0.44), (x + 5, y + h * 0.54 - 10, w - 10, 20)
    sign = (x + 5, y + 1, w - 10, h - 35) if h >= _LINED[0] else (x + 5, y + 3, w - 10, (h - 6) * 0.44)
    return sign, (x + 4, y + h - 27, w - 4 - FOR_CHIPS, 20)


def parted(names: Sequence[str]) -> tuple[str, list[str]]:
    """What names have in common before their last word, and what is left of each."""
    return _parted(tuple(names))


@lru_cache(maxsize=1024)
def _parted(names: tuple[str, ...]) -> tuple[str, list[str]]:
    same = 0
    while all(name[: same + 1] == names[0][: same + 1] for name in names) and same < len(names[0]):
        same += 1
    if any(name[same : same + 1] not in {"", " "} for name in names):
        same = names[0].rfind(" ", 0, same) + 1
    return names[0][:same].strip(), [name[same:].strip() for name in names]


def _is_run(spots: Sequence[Spot]) -> bool:
    """Whether spots of a kind have a row of their own with their name at its left, in every language."""
    if len(spots) < _RUN:
        return False
    for code in spots[0].names:
        name, rest = parted([spot.names.get(code, "") for spot in spots])
        if not name or any(len(each) > _TAIL for each in rest):
            return False
    return True


def rows_of(spots: Iterable[Spot], width: float, finger: float, most: int) -> list[Row]:
    """Spots in rows: runs by themselves, short kinds beside each other."""
    room = min(most, int(width // max(finger, _WIDE)))
    kinds: dict[str, list[Spot]] = {}
    for spot in spots:
        kinds.setdefault(_PRICE.sub("", spot.group), []).append(spot)
    rows: list[Row] = []
    for kind in kinds.values():
        if _is_run(kind):
            run = tuple(spot.id for spot in kind)
            rows += [Row(part, run) for part in _dealt(kind, int((width - _title(width)) // finger))]
        elif rows and not rows[-1].run and len(rows[-1].spots) + len(kind) <= room and not kind[0].share:
            rows[-1] = Row((*rows[-1].spots, *kind))
        else:
            rows += [Row(part) for part in _dealt(kind, room)]
    return rows


def _dealt(spots: Sequence[Spot], room: int) -> list[tuple[Spot, ...]]:
    """Spots in as few rows as have room, alike in length."""
    each = -(-len(spots) // -(-len(spots) // room))
    return [tuple(spots[i : i + each]) for i in range(0, len(spots), each)]


def _title(width: float) -> float:
    return _TITLE[0] if width > 800 else _TITLE[1]


def pages(table: Table, layout: Layout) -> list[list[Row]]:
    """The rows of each page of the cloth: one where all of it fits."""
    _, _, w, h = felt_rect(layout)
    high = layout.finger if layout.slim else OUTSIDE
    return _paged(table, (w, h - above_cloth(table, layout)), layout.finger, high)


@lru_cache(maxsize=64)
def _paged(table: Table, room: tuple[float, float], finger: float, tabs: float) -> list[list[Row]]:
    """The pages in so much room, below tabs so high where there are several; worked out once."""
    (w, h), least = room, max(finger, _ROWS[0])
    spots = table.spots.values()
    for most in range(_RUN, _WIDEST_ROW + 1):  # as few beside each other as there are rows for
        rows = rows_of(spots, w, finger, most)
        if len(rows) * max(least, _ROWS[1]) <= h:
            return [rows] if rows else []
    rows = rows_of(spots, w, finger, _WIDEST_ROW)
    if len(rows) * least <= h + 1:
        narrower = (rows_of(spots, w, finger, most) for most in range(_RUN, _WIDEST_ROW + 1))
        return [next(each for each in narrower if len(each) == len(rows))]
    fit = max(1, int((h - tabs + 1) // least))
    each = -(-len(rows) // -(-len(rows) // fit))
    return [rows[i : i + each] for i in range(0, len(rows), each)]


def page_spots(table: Table, layout: Layout, page: int) -> list[Spot]:
    """The spots of a page of the cloth, in its order."""
    return [spot for row in pages(table, layout)[page] for spot in row.spots]


def below_tabs(table: Table, layout: Layout) -> Rect:
    """Where the rows of a page stand."""
    x, y, w, h = felt_rect(layout)
    head = (layout.finger if layout.slim else OUTSIDE) if len(pages(table, layout)) > 1 else 0.0
    above = above_cloth(table, layout)
    return (x, y + head + above, w, h - head - above)


def flowed(rows: Sequence[Row], rect: Rect) -> Cloth:
    """The rows in a rectangle, no higher than suits them."""
    x, y, w, h = rect
    high = min(_ROWS[2], h / max(1, len(rows)))
    top = y + (h - high * len(rows)) / 2
    cells: list[Cell] = []
    for n, row in enumerate(rows):
        left = _title(w) if row.run else 0.0
        wide = (w - left) / len(row.spots)
        if row.run:
            cells.append(Cell((x, top + n * high, left, high), row=row.run))
        for i, spot in enumerate(row.spots):
            place = (x + left + i * wide, top + n * high, wide, high)
            cells.append(Cell(place, spot=spot.id, row=row.run))
    laid = [cell for cell in cells if cell.spot]
    places = tuple((cell.rect, Action("spot", cell.spot)) for cell in laid)
    return Cloth(tuple(cells), places, tuple((cell.spot, beside(cell.rect)) for cell in laid))

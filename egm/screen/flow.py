"""Rows of spots: the page-by-page layout of every table but roulette, computed from its spots alone.

A run of bets of one kind whose names differ in their last word (totals, hops, place bets) has a row of its
own, with the common name at the left. Short kinds share a row.
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

#: Height of an outside bet or of a row of tabs, in units; then the least, a usual and the greatest height of
#: a row of spots.
OUTSIDE: Final = 66.0
_ROWS: Final = (66.0, 100.0, 132.0)
#: Least width of a spot with its full name, in units; then the most spots in a row.
_WIDE: Final = 104.0
_WIDEST_ROW: Final = 9
#: Width of a row's name, in units, and the same on a telephone; then the most characters of a spot's own part
#: of its name.
_TITLE: Final = (150.0, 136.0)
_TAIL: Final = 5
#: Matches the odds at the end of a group id; groups of one kind that differ in odds differ only there.
_PRICE: Final = re.compile(r"(?:[ -][\d:.]+)+$")
#: A run of fewer spots has no separate row.
_RUN: Final = 4
#: A chip lies to the right of the label if the cell is wider than _NARROW, else below it. In a cell no higher
#: than LOW, it lies next to the odds. A cell as high as _LINED[0] counts as wide only from _LINED[1] on,
#: because it has two lines of its name above the chip.
_NARROW: Final = 140.0
LOW: Final = 104.0
_LINED: Final = (80.0, 180.0)
#: Width of a cell that is left free at its right for chips, in units.
FOR_CHIPS: Final = 48.0
#: Height of the row of point numbers above the spots of craps, in units; then of a spot at a card table.
_POINT: Final = 84.0
_SPOT_OF_CARDS: Final = 84.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed cell of the betting layout; its label is a pocket or a bet spot's name."""

    rect: Rect
    pocket: str = ""
    spot: str = ""
    row: tuple[str, ...] = ()
    """The spots of its run, if a common name stands at the left. The cell of that name has no ``spot``."""


@dataclass(frozen=True, slots=True)
class Cloth:
    """A betting layout as drawn: printed cells, touch areas in the order of the keys, and each spot's chip point."""

    cells: tuple[Cell, ...] = ()
    places: tuple[tuple[Rect, Action], ...] = ()
    at: tuple[tuple[str, Point], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """Betting spots in one row of the layout.

    ``run`` has the ids of all spots that share the name at the left; it is empty if they share none.
    """

    spots: tuple[Spot, ...]
    run: tuple[str, ...] = ()


def find_felt_rect(layout: Layout) -> Rect:
    """Return the rectangle of the cloth within its frame; on a telephone, without the keys below it."""
    x, y, w, h = layout.field
    if layout.is_telephone:
        return (x, y, w, h - 2 * layout.finger)
    return (x + 14, y + 14, w - 28, h - 28)


def compute_height_above_spots(table: Table, layout: Layout) -> float:
    """Return the height of the picture above the spots: the cards, or the point numbers and the puck."""
    _, _, w, h = find_felt_rect(layout)
    if table.felt == "cards":
        rows = arrange_spots_in_rows(table.spots.values(), w, layout.finger, _WIDEST_ROW)
        return h - len(rows) * max(layout.finger, _SPOT_OF_CARDS)
    return _POINT if table.felt == "craps" else 0.0


def place_chip_beside_label(rect: Rect) -> Point:
    """Return where a chip lies in a cell without hiding its label: at the right, or below."""
    x, y, w, h = rect
    if is_chip_beside_label(rect):
        return (x + w - 26, y + h / 2)
    return (x + w / 2, y + h * 0.76) if h > LOW else (x + w - 24, y + h - (18 if h >= _LINED[0] else 21))


def is_chip_beside_label(rect: Rect) -> bool:
    """Return whether a cell has room for a chip at the right of its label; otherwise the chip lies below."""
    _, _, w, h = rect
    high, wide = _LINED
    return w > (wide if h >= high else _NARROW)


def split_label_and_odds(rect: Rect) -> tuple[Rect, Rect]:
    """Return the rectangles of a cell's label and of its odds, both clear of the chips."""
    x, y, w, h = rect
    if is_chip_beside_label(rect):
        wide = w - 10 - FOR_CHIPS
        return (x + 5, y + 2, wide, h - 26), (x + 5, y + h - 24, wide, 18)
    if h > LOW:
        return (x + 5, y + 3, w - 10, (h - 6) * 0.44), (x + 5, y + h * 0.54 - 10, w - 10, 20)
    sign = (x + 5, y + 1, w - 10, h - 35) if h >= _LINED[0] else (x + 5, y + 3, w - 10, (h - 6) * 0.44)
    return sign, (x + 4, y + h - 27, w - 4 - FOR_CHIPS, 20)


def split_common_words(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words that the names have in common at their start, and the remainder of each name."""
    return _split_common_words(tuple(names))


@lru_cache(maxsize=1024)
def _split_common_words(names: tuple[str, ...]) -> tuple[str, list[str]]:
    """Compute :func:`split_common_words`; a tuple can be the key of a cache."""
    common = 0
    while all(name[: common + 1] == names[0][: common + 1] for name in names) and common < len(names[0]):
        common += 1
    if any(name[common : common + 1] not in {"", " "} for name in names):
        common = names[0].rfind(" ", 0, common) + 1
    return names[0][:common].strip(), [name[common:].strip() for name in names]


def _deserves_own_rows(spots: Sequence[Spot]) -> bool:
    """Return whether bet spots of one kind get rows of their own, with their common words at the left.

    They do if there are ``_RUN`` or more and, in every language, they share words and the rest is short.
    """
    if len(spots) < _RUN:
        return False
    for code in spots[0].names:
        name, tails = split_common_words([spot.names.get(code, "") for spot in spots])
        if not name or any(len(each) > _TAIL for each in tails):
            return False
    return True


def arrange_spots_in_rows(spots: Iterable[Spot], width: float, finger: float, row_limit: int) -> list[Row]:
    """Arrange bet spots in rows: those with common words get rows of their own, other kinds share a row if they fit.

    A row has at most ``row_limit`` spots, each at least as wide as a ``finger``.
    """
    room = min(row_limit, int(width // max(finger, _WIDE)))
    kinds: dict[str, list[Spot]] = {}
    for spot in spots:
        kinds.setdefault(_PRICE.sub("", spot.group), []).append(spot)
    rows: list[Row] = []
    for kind in kinds.values():
        if _deserves_own_rows(kind):
            spot_ids = tuple(spot.id for spot in kind)
            rows += [
                Row(part, spot_ids)
                for part in _divide_into_rows(kind, int((width - _find_title_width(width)) // finger))
            ]
        elif rows and not rows[-1].run and len(rows[-1].spots) + len(kind) <= room and not kind[0].share:
            rows[-1] = Row((*rows[-1].spots, *kind))
        else:
            rows += [Row(part) for part in _divide_into_rows(kind, room)]
    return rows


def _divide_into_rows(spots: Sequence[Spot], room: int) -> list[tuple[Spot, ...]]:
    """Divide bet spots into as few rows as possible, of at most ``room`` spots and similar length."""
    row_length = -(-len(spots) // -(-len(spots) // room))
    return [tuple(spots[i : i + row_length]) for i in range(0, len(spots), row_length)]


def _find_title_width(width: float) -> float:
    """Return the width of the common words at the left of a row of bet spots, for a layout of this width."""
    return _TITLE[0] if width > 800 else _TITLE[1]


def lay_out_pages(table: Table, layout: Layout) -> list[list[Row]]:
    """Return the rows of bet spots on each page of the layout; there is only one page if all rows fit on it."""
    _, _, w, h = find_felt_rect(layout)
    high = layout.finger if layout.is_telephone else OUTSIDE
    return _divide_into_pages(table, (w, h - compute_height_above_spots(table, layout)), layout.finger, high)


@lru_cache(maxsize=64)
def _divide_into_pages(
    table: Table, room: tuple[float, float], finger: float, tabs: float
) -> list[list[Row]]:
    """Return the rows of bet spots on each page of size ``room``, below tabs ``tabs`` high if there are several."""
    (w, h), least_height = room, max(finger, _ROWS[0])
    spots = table.spots.values()
    for row_limit in range(_RUN, _WIDEST_ROW + 1):  # use the shortest rows that still fit in height
        rows = arrange_spots_in_rows(spots, w, finger, row_limit)
        if len(rows) * max(least_height, _ROWS[1]) <= h:
            return [rows] if rows else []
    rows = arrange_spots_in_rows(spots, w, finger, _WIDEST_ROW)
    if len(rows) * least_height <= h + 1:
        narrower = (
            arrange_spots_in_rows(spots, w, finger, row_limit) for row_limit in range(_RUN, _WIDEST_ROW + 1)
        )
        return [next(rows_a_page for rows_a_page in narrower if len(rows_a_page) == len(rows))]
    fit = max(1, int((h - tabs + 1) // least_height))
    rows_a_page = -(-len(rows) // -(-len(rows) // fit))
    return [rows[i : i + rows_a_page] for i in range(0, len(rows), rows_a_page)]


def list_page_spots(table: Table, layout: Layout, page: int) -> list[Spot]:
    """Return the spots of a page of the layout, in order."""
    return [spot for row in lay_out_pages(table, layout)[page] for spot in row.spots]


def find_rect_below_tabs(table: Table, layout: Layout) -> Rect:
    """Return the rectangle of the betting layout's rows, below the tabs of its pages if it has several."""
    x, y, w, h = find_felt_rect(layout)
    head = (
        (layout.finger if layout.is_telephone else OUTSIDE) if len(lay_out_pages(table, layout)) > 1 else 0.0
    )
    above = compute_height_above_spots(table, layout)
    return (x, y + head + above, w, h - head - above)


def lay_out_rows(rows: Sequence[Row], rect: Rect) -> Cloth:
    """Return the cells, touch areas and chip points of rows of bet spots in a rectangle; row heights are limited."""
    x, y, w, h = rect
    high = min(_ROWS[2], h / max(1, len(rows)))
    top = y + (h - high * len(rows)) / 2
    cells: list[Cell] = []
    for n, row in enumerate(rows):
        left = _find_title_width(w) if row.run else 0.0
        wide = (w - left) / len(row.spots)
        if row.run:
            cells.append(Cell((x, top + n * high, left, high), row=row.run))
        for i, spot in enumerate(row.spots):
            cell_rect = (x + left + i * wide, top + n * high, wide, high)
            cells.append(Cell(cell_rect, spot=spot.id, row=row.run))
    laid = [cell for cell in cells if cell.spot]
    touches = tuple((cell.rect, Action("spot", cell.spot)) for cell in laid)
    return Cloth(
        tuple(cells), touches, tuple((cell.spot, place_chip_beside_label(cell.rect)) for cell in laid)
    )

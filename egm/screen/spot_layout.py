"""The felt of a table: rows of spots on one or more pages, computed from the spots.

Roulette has another felt (:mod:`egm.screen.felt_layout`), which uses the classes of this module. The spots
of one kind whose names differ only at the end (totals, hops, place bets) get *titled* rows: the words that their names
share are the title at the left of the row. Spots of other kinds share a row if they fit, but a kind whose bet is
computed from another bet (``required_bet_divisor``) starts a row.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from egm.screen.layout import Layout
from egm.screen.painter import Rect
from egm.screen.table import BetSpot, TableGameData
from egm.screen.view import Action

#: A point in the picture as (x, y), in units.
Point = tuple[float, float]

# Sizes are in units.
#: Height of an outside bet, and of a row of tabs.
OUTSIDE_BET_HEIGHT: Final = 66.0
#: The minimum height of a row of spots.
_ROW_HEIGHT_MIN: Final = 66.0
#: Height of a row of spots with which all rows are to fit on one page, if possible in rows of few spots.
_ROW_HEIGHT_USUAL: Final = 100.0
#: The maximum height of a row of spots.
_ROW_HEIGHT_MAX: Final = 132.0
#: The minimum width of a spot that shows its full name.
_SPOT_WIDTH_MIN: Final = 104.0
#: The maximum number of spots in a row without a title.
_SPOTS_PER_ROW_MAX: Final = 9
#: Width of a row's title on a wide felt.
_WIDE_FELT_TITLE_WIDTH: Final = 150.0
#: Width of a row's title on a narrow felt, such as a telephone's.
_NARROW_FELT_TITLE_WIDTH: Final = 136.0
#: A felt wider than this is wide.
_NARROW_FELT_WIDTH_MAX: Final = 800.0
#: The maximum number of characters of a titled spot's own part of its name.
_TITLED_NAME_CHARACTERS_MAX: Final = 5
#: The minimum number of spots of one kind that get a title.
_TITLED_SPOTS_MIN: Final = 4
#: The lowest limit of spots per row that is tried for rows of few, wide spots.
_SHORTEST_ROW_LIMIT: Final = 4
#: Matches the odds at the end of a group id. Groups of one kind may differ only there.
_ODDS_SUFFIX_PATTERN: Final = re.compile(r"(?:[ -][\d:.]+)+$")
#: In a cell wider than this, a chip lies to the right of the label; in a narrower one, below it. A cell that shows the
#: name in two lines has another limit, :data:`_TWO_LINE_NARROW_CELL_WIDTH_MAX`.
_NARROW_CELL_WIDTH_MAX: Final = 140.0
#: In a narrow cell no higher than this, a chip lies next to the odds.
_LOW_CELL_HEIGHT_MAX: Final = 104.0
#: Cells at least this high show the name in two lines. The chip then lies beside the name only if the cell is wider
#: than :data:`_TWO_LINE_NARROW_CELL_WIDTH_MAX`.
_TWO_LINE_CELL_HEIGHT_MIN: Final = 80.0
_TWO_LINE_NARROW_CELL_WIDTH_MAX: Final = 180.0
#: Width of a cell that is left free at its right for chips.
_CHIP_SPACE_WIDTH: Final = 48.0
#: Height of the row of point numbers above the spots of craps.
_CRAPS_POINT_HEIGHT: Final = 84.0
#: Height of a spot at a card table.
_CARD_TABLE_SPOT_HEIGHT: Final = 84.0


@dataclass(frozen=True, slots=True)
class FeltCell:
    """A printed cell of the felt: a pocket of the wheel, a bet spot, or the title of a row.

    ``pocket`` and ``spot_id`` are empty unless the cell shows a pocket or a spot.
    """

    rect: Rect
    pocket: str = ""
    spot_id: str = ""
    titled_spot_ids: tuple[str, ...] = ()
    """The ids of all spots under the title of this cell's row; empty if the row has no title."""


@dataclass(frozen=True, slots=True)
class FeltLayout:
    """A felt as drawn: its printed cells, its touch areas, and the points at which chips are drawn."""

    cells: tuple[FeltCell, ...] = ()
    """The printed cells."""
    touch_targets: tuple[tuple[Rect, Action], ...] = ()
    """The touch areas and their actions, in the order in which the keys move the focus."""
    chip_points: tuple[tuple[str, Point], ...] = ()
    """The id of each bet spot, and the point at which its chips are drawn."""


@dataclass(frozen=True, slots=True)
class SpotRow:
    """One row of bet spots on the felt."""

    spots: tuple[BetSpot, ...]
    titled_spot_ids: tuple[str, ...] = ()
    """The ids of all spots under the row's title, also in further rows; empty if the row has no title."""


def compute_felt_rect(layout: Layout) -> Rect:
    """Return the rectangle of the felt within the game field.

    On a telephone, two rows of keys below it are left free.
    """
    x, y, w, h = layout.game_field
    if layout.is_telephone:
        return (x, y, w, h - 2 * layout.touch_size_min)
    return (x + 14, y + 14, w - 28, h - 28)


def compute_height_above_spots(table: TableGameData, layout: Layout) -> float:
    """Return the height above a table's spots that is kept free for cards, or at craps for the point numbers."""
    _, _, w, h = compute_felt_rect(layout)
    if table.felt_kind == "cards":
        row_height = max(layout.touch_size_min, _CARD_TABLE_SPOT_HEIGHT)
        return h - _count_full_rows(table, w, layout.touch_size_min) * row_height
    return _CRAPS_POINT_HEIGHT if table.felt_kind == "craps" else 0.0


@lru_cache(maxsize=64)
def _count_full_rows(table: TableGameData, width: float, touch_size_min: float) -> int:
    """Return how many rows a table's spots need if every row holds as many spots as permitted."""
    return len(arrange_spots_in_rows(table.spots.values(), width, touch_size_min, _SPOTS_PER_ROW_MAX))


def place_chip_beside_label(rect: Rect) -> Point:
    """Return the point in a cell at which a chip does not hide the label: at the right of the label, or below it."""
    x, y, w, h = rect
    if is_chip_beside_label(rect):
        return (x + w - 26, y + h / 2)
    return (
        (x + w / 2, y + h * 0.76)
        if h > _LOW_CELL_HEIGHT_MAX
        else (x + w - 24, y + h - (18 if h >= _TWO_LINE_CELL_HEIGHT_MIN else 21))
    )


def is_chip_beside_label(rect: Rect) -> bool:
    """Return whether a cell has room for a chip at the right of its label; otherwise it lies elsewhere in the cell."""
    _, _, w, h = rect
    return w > (_TWO_LINE_NARROW_CELL_WIDTH_MAX if h >= _TWO_LINE_CELL_HEIGHT_MIN else _NARROW_CELL_WIDTH_MAX)


def split_label_and_odds(rect: Rect) -> tuple[Rect, Rect]:
    """Return two rectangles within a cell, for its label and its odds. A chip in the cell overlaps neither."""
    x, y, w, h = rect
    if is_chip_beside_label(rect):
        width = w - 10 - _CHIP_SPACE_WIDTH
        return (x + 5, y + 2, width, h - 26), (x + 5, y + h - 24, width, 18)
    if h > _LOW_CELL_HEIGHT_MAX:
        return (x + 5, y + 3, w - 10, (h - 6) * 0.44), (x + 5, y + h * 0.54 - 10, w - 10, 20)
    label_rect = (
        (x + 5, y + 1, w - 10, h - 35)
        if h >= _TWO_LINE_CELL_HEIGHT_MIN
        else (x + 5, y + 3, w - 10, (h - 6) * 0.44)
    )
    return label_rect, (x + 4, y + h - 27, w - 4 - _CHIP_SPACE_WIDTH, 20)


def split_common_words(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words with which all names begin, and what follows them in each name."""
    return _split_common_words(tuple(names))


@lru_cache(maxsize=1024)
def _split_common_words(names: tuple[str, ...]) -> tuple[str, list[str]]:
    """Return the words with which all names begin, and what follows them in each name; results are cached.

    The names are a tuple because the keys of the cache must be hashable.
    """
    common_length = 0
    while all(
        name[: common_length + 1] == names[0][: common_length + 1] for name in names
    ) and common_length < len(names[0]):
        common_length += 1
    if any(name[common_length : common_length + 1] not in {"", " "} for name in names):
        common_length = names[0].rfind(" ", 0, common_length) + 1
    return names[0][:common_length].strip(), [name[common_length:].strip() for name in names]


def _should_have_row_title(spots: Sequence[BetSpot]) -> bool:
    """Return whether the given bet spots, all of one kind, get rows of their own with a title.

    They do if there are enough of them and, in every language, their names begin with the same words and end in a short
    text of their own.
    """
    if len(spots) < _TITLED_SPOTS_MIN:
        return False
    for code in spots[0].names:
        title, endings = split_common_words([spot.names.get(code, "") for spot in spots])
        if not title or any(len(ending) > _TITLED_NAME_CHARACTERS_MAX for ending in endings):
            return False
    return True


def arrange_spots_in_rows(
    spots: Iterable[BetSpot], width: float, touch_size_min: float, spots_per_row_max: int
) -> list[SpotRow]:
    """Return bet spots in rows of at most ``spots_per_row_max`` spots; titled rows may have more.

    A row is at most ``width`` wide. Each spot in it is at least ``touch_size_min`` wide, and without a title at least
    as wide as its full name needs. Spots with a title get rows of their own; spots of other kinds share a row if they
    fit, unless their bet is computed from another bet.
    """
    spot_count_max = min(spots_per_row_max, int(width // max(touch_size_min, _SPOT_WIDTH_MIN)))
    spots_by_kind: dict[str, list[BetSpot]] = {}
    for spot in spots:
        spots_by_kind.setdefault(_ODDS_SUFFIX_PATTERN.sub("", spot.group), []).append(spot)
    rows: list[SpotRow] = []
    for kind_spots in spots_by_kind.values():
        if _should_have_row_title(kind_spots):
            spot_ids = tuple(spot.id for spot in kind_spots)
            rows += [
                SpotRow(part, spot_ids)
                for part in _divide_into_rows(
                    kind_spots, int((width - _choose_row_title_width(width)) // touch_size_min)
                )
            ]
        elif (
            rows
            and not rows[-1].titled_spot_ids
            and len(rows[-1].spots) + len(kind_spots) <= spot_count_max
            and not kind_spots[0].required_bet_divisor
        ):
            rows[-1] = SpotRow((*rows[-1].spots, *kind_spots))
        else:
            rows += [SpotRow(part) for part in _divide_into_rows(kind_spots, spot_count_max)]
    return rows


def _divide_into_rows(spots: Sequence[BetSpot], spots_per_row_max: int) -> list[tuple[BetSpot, ...]]:
    """Divide bet spots into as few rows as possible, of similar length, each of at most ``spots_per_row_max``."""
    row_length = -(-len(spots) // -(-len(spots) // spots_per_row_max))
    return [tuple(spots[i : i + row_length]) for i in range(0, len(spots), row_length)]


def _choose_row_title_width(felt_width: float) -> float:
    """Return the width of the titles of rows on a felt that is ``felt_width`` wide."""
    is_wide = felt_width > _NARROW_FELT_WIDTH_MAX
    return _WIDE_FELT_TITLE_WIDTH if is_wide else _NARROW_FELT_TITLE_WIDTH


def lay_out_pages(table: TableGameData, layout: Layout) -> list[list[SpotRow]]:
    """Return the rows of bet spots on each page of the felt; there is only one page if all rows fit on it."""
    _, _, w, h = compute_felt_rect(layout)
    tabs_height = layout.touch_size_min if layout.is_telephone else OUTSIDE_BET_HEIGHT
    return _divide_into_pages(
        table, (w, h - compute_height_above_spots(table, layout)), layout.touch_size_min, tabs_height
    )


@lru_cache(maxsize=64)
def _divide_into_pages(
    table: TableGameData, size_max: tuple[float, float], touch_size_min: float, tabs_height: float
) -> list[list[SpotRow]]:
    """Return the rows of bet spots on each page.

    ``size_max`` is the width and height available for the spots. If there are several pages, ``tabs_height`` is
    subtracted from the height for the tabs that change the page.
    """
    (w, h), row_height_min = size_max, max(touch_size_min, _ROW_HEIGHT_MIN)
    spots = table.spots.values()
    row_limits = range(_SHORTEST_ROW_LIMIT, _SPOTS_PER_ROW_MAX + 1)
    for row_limit in row_limits:  # Use the shortest rows that still fit in height.
        rows = arrange_spots_in_rows(spots, w, touch_size_min, row_limit)
        if len(rows) * max(row_height_min, _ROW_HEIGHT_USUAL) <= h:
            return [rows] if rows else []
    rows = arrange_spots_in_rows(spots, w, touch_size_min, _SPOTS_PER_ROW_MAX)
    if len(rows) * row_height_min <= h + 1:
        arrangements = (
            arrange_spots_in_rows(spots, w, touch_size_min, row_limit) for row_limit in row_limits
        )
        return [next(arrangement for arrangement in arrangements if len(arrangement) == len(rows))]
    rows_per_page_max = max(1, int((h - tabs_height + 1) // row_height_min))
    rows_per_page = -(-len(rows) // -(-len(rows) // rows_per_page_max))
    return [rows[i : i + rows_per_page] for i in range(0, len(rows), rows_per_page)]


def list_page_spots(table: TableGameData, layout: Layout, page_index: int) -> list[BetSpot]:
    """Return the spots of a page of the felt, in order."""
    return [spot for row in lay_out_pages(table, layout)[page_index] for spot in row.spots]


def compute_rect_below_tabs(table: TableGameData, layout: Layout) -> Rect:
    """Return the rectangle in which the rows of bet spots are drawn.

    If the felt has several pages, the rectangle starts below their tabs.
    """
    x, y, w, h = compute_felt_rect(layout)
    tabs_height = (
        (layout.touch_size_min if layout.is_telephone else OUTSIDE_BET_HEIGHT)
        if len(lay_out_pages(table, layout)) > 1
        else 0.0
    )
    height_above = compute_height_above_spots(table, layout)
    return (x, y + tabs_height + height_above, w, h - tabs_height - height_above)


def lay_out_rows(rows: Sequence[SpotRow], rect: Rect) -> FeltLayout:
    """Return the layout of rows of bet spots in a rectangle; rows that do not fill it are centred vertically."""
    x, y, w, h = rect
    height = min(_ROW_HEIGHT_MAX, h / max(1, len(rows)))
    top = y + (h - height * len(rows)) / 2
    cells: list[FeltCell] = []
    for row_index, row in enumerate(rows):
        title_width = _choose_row_title_width(w) if row.titled_spot_ids else 0.0
        width = (w - title_width) / len(row.spots)
        if row.titled_spot_ids:
            cells.append(
                FeltCell(
                    (x, top + row_index * height, title_width, height), titled_spot_ids=row.titled_spot_ids
                )
            )
        for i, spot in enumerate(row.spots):
            cell_rect = (x + title_width + i * width, top + row_index * height, width, height)
            cells.append(FeltCell(cell_rect, spot_id=spot.id, titled_spot_ids=row.titled_spot_ids))
    spot_cells = [cell for cell in cells if cell.spot_id]
    touch_targets = tuple((cell.rect, Action("spot", cell.spot_id)) for cell in spot_cells)
    return FeltLayout(
        tuple(cells),
        touch_targets,
        tuple((cell.spot_id, place_chip_beside_label(cell.rect)) for cell in spot_cells),
    )

"""The layout of every table's felt: where each spot is drawn and touched.

Where a roulette spot lies is computed from the numbers that the spot covers; other tables have rows of spots
(:mod:`egm.screen.spot_layout`).

A roulette felt is measured in streets (rows of three numbers). The coordinate ``u`` counts streets: the zeros lie
below 0, and the column bets start at 12. The coordinate ``v``, 0 to 3, lies across the streets. The lines between
numbers are too close together to be touched reliably. Only one kind of inside bet is therefore open at a time, and its
touch areas fill the felt.

What one tab opens is a *part* of the felt: at roulette a bet group (one kind of inside bet, or the bets on two dozens)
or the racetrack (the pockets in wheel order); elsewhere a page of rows. On a telephone, the roulette felt is also
divided into *sheets*, which are as many streets, or pockets of the racetrack, as the screen shows at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from egm.screen.layout import Layout, compute_rect_centre
from egm.screen.painter import Rect
from egm.screen.spot_layout import (
    OUTSIDE_BET_HEIGHT,
    FeltCell,
    FeltLayout,
    Point,
    SpotRow,
    compute_felt_rect,
    compute_height_above_spots,
    compute_rect_below_tabs,
    lay_out_pages,
    lay_out_rows,
    place_chip_beside_label,
)
from egm.screen.table import BetSpot, ChipsOnTable, TableGameData, map_pockets_to_straight_up_spots
from egm.screen.view import Action

#: The part of a roulette felt that shows the pockets in wheel order.
RACETRACK_PART_NAME: Final = "race"
#: The maximum number of pockets of an inside bet.
_INSIDE_BET_POCKETS_MAX: Final = 6
#: The pockets of a 24-number bet: two dozens or two columns.
_TWO_DOZENS_POCKET_COUNT: Final = 24
#: The streets of a roulette felt, each of three numbers.
_STREET_COUNT: Final = 12
#: Pockets in one row of a telephone's racetrack.
_RACETRACK_POCKETS_PER_ROW: Final = 7


@dataclass(frozen=True, slots=True)
class _StreetGrid:
    """A grid of ``street_count`` streets (rows of three numbers) of a roulette felt, from ``first_street`` on.

    Successive streets lie from left to right, or from top to bottom if ``is_upright``. Positions on the felt
    are pairs (u, v): ``u`` counts streets and ``v`` counts numbers within a street.
    """

    first_street: float
    street_count: float
    rect: Rect
    is_upright: bool

    def compute_rect(self, u: float, v: float, du: float, dv: float) -> Rect:
        """Return the rectangle in the picture of an area of the felt: its position (u, v) and size (du, dv)."""
        x, y, w, h = self.rect
        if self.is_upright:
            width, height = w / 3, h / self.street_count
            return (x + (3 - v - dv) * width, y + (u - self.first_street) * height, dv * width, du * height)
        width, height = w / self.street_count, h / 3
        return (x + (u - self.first_street) * width, y + v * height, du * width, dv * height)

    def find_point(self, u: float, v: float) -> Point:
        """Return the point in the picture of a position (u, v) on the felt."""
        x, y, _, _ = self.compute_rect(u, v, 0.0, 0.0)
        return (x, y)

    def has_street(self, u: float) -> bool:
        """Return whether the grid of streets contains the street position ``u``."""
        return self.first_street <= u <= self.first_street + self.street_count


def list_openable_bet_groups(table: TableGameData) -> tuple[str, ...]:
    """Return the ids of the roulette bet groups that take turns on the felt: one at a time is open and can be touched.

    They are the kinds of inside bets (straight up, split, street ...) and the 24-number bets, sorted by how many
    numbers a bet covers. The player chooses the open group. At first, the group of straight-up bets is open.
    """
    covered_count_by_group = {group: len(spots[0].covered_pockets) for group, spots in table.groups.items()}
    openable_groups = [
        group
        for group, covered_count in covered_count_by_group.items()
        if 0 < covered_count <= _INSIDE_BET_POCKETS_MAX or covered_count == _TWO_DOZENS_POCKET_COUNT
    ]
    return tuple(sorted(openable_groups, key=lambda group: covered_count_by_group[group]))


def list_felt_parts(table: TableGameData, layout: Layout) -> tuple[str, ...]:
    """Return the names of the parts of the felt; one part is open at a time.

    A roulette felt has a part for each kind of inside bet and one for the racetrack (bets in wheel order). The parts
    of another felt are its pages "0", "1" ...; if it has one page, return an empty tuple.
    """
    if table.felt_kind == "roulette":
        return (
            *list_openable_bet_groups(table),
            *((RACETRACK_PART_NAME,) if map_pockets_to_straight_up_spots(table) else ()),
        )
    page_count = len(lay_out_pages(table, layout))
    return tuple(str(page) for page in range(page_count)) if page_count > 1 else ()


def find_open_felt_part(table: TableGameData, chips: ChipsOnTable, layout: Layout) -> str:
    """Return the name of the open part of the felt; empty if the felt is not divided into parts."""
    parts = list_felt_parts(table, layout)
    return chips.open_part if chips.open_part in parts else next(iter(parts), "")


def list_street_sheets(table: TableGameData, layout: Layout) -> tuple[tuple[float, float], ...]:
    """Return the streets on each sheet of a telephone's roulette felt: the first street and the number of streets.

    Neighbouring sheets share a street. One more sheet, which is not in the list, has the outside bets. Return an
    empty tuple for other displays and other tables.
    """
    if not layout.is_telephone or table.felt_kind != "roulette":
        return ()
    streets_per_sheet = _count_streets_on_telephone(layout)
    sheets: list[tuple[float, float]] = []
    first_street = -1.0
    while not sheets or first_street + 1 < _STREET_COUNT:
        sheets.append((first_street, float(min(streets_per_sheet, _STREET_COUNT - first_street))))
        first_street += streets_per_sheet - 1
    return tuple(sheets)


def _count_streets_on_telephone(layout: Layout) -> int:
    """Return how many streets fit on a telephone's screen below the tabs for sheets and parts."""
    return max(
        2, int((compute_felt_rect(layout)[3] - 2 * layout.touch_size_min + 0.5) // layout.touch_size_min)
    )


def lay_out_felt(table: TableGameData, chips: ChipsOnTable, layout: Layout) -> FeltLayout:
    """Return the part of the felt that is open now; the whole felt if it has no parts."""
    if table.felt_kind == "roulette":
        return _lay_out_roulette_felt(table, chips, layout)
    pages = lay_out_pages(table, layout)
    if not pages:
        return FeltLayout()
    part = find_open_felt_part(table, chips, layout)
    return lay_out_rows(pages[int(part) if part else 0], compute_rect_below_tabs(table, layout))


def lay_out_part_tabs(table: TableGameData, chips: ChipsOnTable, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return the tabs that open the parts of the felt.

    On a telephone, another row of tabs opens the sheets of the open part (no such row for the racetrack), and only as
    many parts have a tab as fit in a row: the open part and those next to it.
    """
    x, y, w, _ = compute_felt_rect(layout)
    height, rows = layout.touch_size_min if layout.is_telephone else OUTSIDE_BET_HEIGHT, list[list[Action]]()
    parts = list_felt_parts(table, layout)
    if table.felt_kind != "roulette":
        y += compute_height_above_spots(table, layout)
        rows = [[Action("felt_part", part) for part in parts]]
    elif layout.is_telephone:
        is_racetrack_open = find_open_felt_part(table, chips, layout) == RACETRACK_PART_NAME
        rows = (
            []
            if is_racetrack_open
            else [[Action("sheet", n) for n in range(len(list_street_sheets(table, layout)) + 1)]]
        )
        rows.append([Action("felt_part", part) for part in _list_parts_that_fit(parts, chips, layout)])
    tabs: list[tuple[Rect, Action]] = []
    for n, row in enumerate(rows):
        width = w / max(1, len(row))
        tabs += [((x + i * width, y + n * height, width, height), action) for i, action in enumerate(row)]
    return tabs


def _list_parts_that_fit(parts: Sequence[str], chips: ChipsOnTable, layout: Layout) -> list[str]:
    """Return the parts whose tabs fit side by side on a telephone: the open part and those next to it."""
    tab_count = int(compute_felt_rect(layout)[2] // layout.touch_size_min)
    open_index = parts.index(chips.open_part) if chips.open_part in parts else 0
    first_index = max(0, min(open_index - tab_count // 2, len(parts) - tab_count))
    return list(parts[first_index : first_index + tab_count])


# ---------------------------------------------------------------------- roulette
def _find_pocket_centre(pocket: str) -> tuple[float, float] | None:
    """Return the centre (u, v) of a number's cell on a roulette felt, or None for a zero."""
    if not pocket.isdecimal() or int(pocket) == 0:
        return None
    number = int(pocket)
    return ((number - 1) // 3 + 0.5, 2 - (number - 1) % 3 + 0.5)


def _find_zero_cell(pocket: str, zero_pockets: Sequence[str]) -> tuple[float, float, float, float]:
    """Return the cell of a zero on a roulette felt: its position (u, v) and its size (du, dv).

    If the wheel has several zeros, their cells divide the width of a street equally.
    """
    zero_index = list(zero_pockets).index(pocket)
    height = 3.0 / len(zero_pockets)
    return (-1.0, 3.0 - (zero_index + 1) * height, 1.0, height)


class _BetPlacement(NamedTuple):
    """The touch area (u, v, du, dv) of a roulette bet on the felt, and the point (u, v) where its chips lie."""

    touch_area: tuple[float, float, float, float]
    chip_point: Point


def _place_inside_bet(covered_pockets: Sequence[str], zero_pockets: Sequence[str]) -> _BetPlacement:
    """Return the touch area of a roulette inside bet, and the point where its chips lie.

    ``covered_pockets`` are the pockets on which the bet wins.
    """
    centres = [centre for centre in map(_find_pocket_centre, covered_pockets) if centre is not None]
    if len(centres) < len(covered_pockets):
        return _place_zero_bet(covered_pockets, zero_pockets, [v for _, v in centres])
    mean_u, mean_v = (sum(coordinates) / len(centres) for coordinates in zip(*centres, strict=True))
    if len(centres) in {3, 6}:
        return _BetPlacement((mean_u - 0.5, 0.0, 1.0, 3.0), (mean_u, 2.94))
    height = 0.5 if len(centres) == 2 else 1.0
    offset_v = 0.2 if len(centres) == 1 else 0.0  # A chip on a single number lies below the number.
    return _BetPlacement((mean_u - 0.5, mean_v - height / 2, 1.0, height), (mean_u, mean_v + offset_v))


def _place_zero_bet(
    covered_pockets: Sequence[str], zero_pockets: Sequence[str], number_vs: Sequence[float]
) -> _BetPlacement:
    """Return the touch area of a roulette bet on a zero, and the point where its chips lie.

    ``covered_pockets`` are the pockets on which the bet wins; ``number_vs`` has the ``v`` coordinate of each of
    these pockets that is a number and not a zero.
    """
    if not number_vs:
        u, v, du, dv = (
            _find_zero_cell(covered_pockets[0], zero_pockets)
            if len(covered_pockets) == 1
            else (-1.0, 0.75, 1.0, 1.5)
        )
        return _BetPlacement(
            (u, v, du, dv), (u + du / 2, v + dv * (0.8 if len(covered_pockets) == 1 else 0.5))
        )
    mean_v = sum(number_vs) / len(number_vs)
    if len(covered_pockets) == 2:
        _, zero_v, _, zero_height = _find_zero_cell(
            next(pocket for pocket in covered_pockets if pocket in zero_pockets), zero_pockets
        )
        # Separates 0 and 2 from 00 and 2.
        offset_v = 0.25 * (zero_v + zero_height / 2 - mean_v) if len(zero_pockets) > 1 else 0.0
        return _BetPlacement((-0.5, mean_v - 0.25, 1.0, 0.5), (0.0, mean_v + offset_v))
    if len(covered_pockets) == 3:
        return _BetPlacement((-1.0, mean_v - 0.5, 1.0, 1.0), (0.0, mean_v))
    return _BetPlacement(
        # A bet on five numbers takes the cells of both zeros; one on four, the lowest third of the only zero's cell.
        (-1.0, 0.0, 1.0, 3.0) if len(covered_pockets) > 4 else (-1.0, 2.0, 1.0, 1.0),
        (0.0, 2.94),
    )


def _place_column_bet(spot: BetSpot) -> tuple[float, float, float, float] | None:
    """Return the roulette cell of a bet on one column or two adjacent columns, or None for any other outside bet."""
    numbers = [int(pocket) for pocket in spot.covered_pockets if pocket.isdecimal()]
    columns = sorted({(n - 1) % 3 for n in numbers})
    if len(numbers) in {12, _TWO_DOZENS_POCKET_COUNT} and 12 * len(columns) == len(numbers):
        if len(columns) == 1:
            return (12.0, 2.0 - columns[0], 1.0, 1.0)
        if columns[1] - columns[0] == 1:
            return (12.0, 2.0 - columns[0] - 0.25, 1.0, 0.5)
    return None


def _place_outside_bet(spot: BetSpot) -> tuple[int, float, float]:
    """Return the position of an outside bet below the streets: its row, its left edge and its width.

    Row 0 has the dozens, row 1 the even chances. Left edge and width are in twelfths of the row.
    """
    numbers = sorted(int(pocket) for pocket in spot.covered_pockets if pocket.isdecimal())
    if len(numbers) in {12, _TWO_DOZENS_POCKET_COUNT}:
        left_twelfths = (numbers[0] - 1) // 12 * 4
        return 0, float(left_twelfths) + (2 if len(numbers) == _TWO_DOZENS_POCKET_COUNT else 0), 4.0
    is_low, is_even = numbers[0] == 1 and numbers[-1] == 18, all(n % 2 == 0 for n in numbers)
    if is_low or is_even:
        return 1, 0.0 if is_low else 2.0, 2.0
    is_odd = all(n % 2 for n in numbers)
    if is_odd or numbers[0] == 19:
        return 1, 8.0 if is_odd else 10.0, 2.0
    return 1, 4.0 if 1 in numbers else 6.0, 2.0


def is_inside_bet(spot: BetSpot) -> bool:
    """Return whether a roulette bet is an inside bet: a bet on at most six numbers."""
    return bool(spot.covered_pockets) and len(spot.covered_pockets) <= _INSIDE_BET_POCKETS_MAX


def _lay_out_roulette_felt(table: TableGameData, chips: ChipsOnTable, layout: Layout) -> FeltLayout:
    """Return the felt of roulette: streets, zeros and outside bets with their touch areas and chip points."""
    part = find_open_felt_part(table, chips, layout)
    if part == RACETRACK_PART_NAME:
        return _lay_out_racetrack(table, chips, layout)
    x, y, w, h = compute_felt_rect(layout)
    zero_pockets = [pocket for pocket in sorted(table.wheel_pockets) if _find_pocket_centre(pocket) is None]
    if layout.is_telephone:
        street_sheets = list_street_sheets(table, layout)
        sheet_index = chips.sheet_index % (len(street_sheets) + 1)
        y, h = y + 2 * layout.touch_size_min, h - 2 * layout.touch_size_min
        if sheet_index == len(street_sheets):
            return _lay_out_outside_sheet(table, (x, y, w, h), layout.touch_size_min)
        first_street, street_count = street_sheets[sheet_index]
        grid = _StreetGrid(
            first_street,
            street_count,
            (x, y, w, min(h, street_count * h / _count_streets_on_telephone(layout))),
            is_upright=True,
        )
    else:
        grid = _StreetGrid(-1.0, 14.0, (x, y, w, h - 2 * OUTSIDE_BET_HEIGHT), is_upright=False)
    cells = _lay_out_number_cells(grid, zero_pockets)
    (touch_targets, chip_points) = _lay_out_inside_bets(table, grid, zero_pockets, part)
    if not layout.is_telephone:
        outside_bets = _lay_out_outside_bets(table, grid, part)
        cells += outside_bets.cells
        touch_targets = [*outside_bets.touch_targets, *touch_targets]
        chip_points += outside_bets.chip_points
    return FeltLayout(tuple(cells), tuple(touch_targets), tuple(chip_points))


def _lay_out_number_cells(grid: _StreetGrid, zero_pockets: Sequence[str]) -> list[FeltCell]:
    """Return the cells of the zeros and numbers that the grid of streets shows."""
    shown_zeros = zero_pockets if grid.first_street < 0 else ()
    cells = [
        FeltCell(grid.compute_rect(*_find_zero_cell(pocket, zero_pockets)), pocket=pocket)
        for pocket in shown_zeros
    ]
    for number in range(1, 37):
        centre = _find_pocket_centre(str(number))
        if centre is not None and grid.has_street(centre[0]):
            cells.append(
                FeltCell(grid.compute_rect(centre[0] - 0.5, centre[1] - 0.5, 1.0, 1.0), pocket=str(number))
            )
    return cells


def _list_zero_bets(table: TableGameData, zero_pockets: Sequence[str], open_part: str) -> list[str]:
    """Return the ids of the bets on two or three numbers with a zero among them, on a wheel with several zeros.

    The cells of the zeros are divided into the touch areas of these bets. Only bets of the open group, whose id is
    ``open_part``, are returned, sorted by the coordinate ``v`` of their chips. On a wheel with one zero, return an
    empty list.
    """
    spots = [
        spot
        for spot in table.spots.values()
        if spot.group == open_part
        and len(spot.covered_pockets) in {2, 3}
        and set(spot.covered_pockets) & set(zero_pockets)
    ]
    sorted_spots = sorted(
        spots, key=lambda spot: _place_inside_bet(spot.covered_pockets, zero_pockets).chip_point[1]
    )
    return [spot.id for spot in sorted_spots] if len(zero_pockets) > 1 else []


def _lay_out_inside_bets(
    table: TableGameData, grid: _StreetGrid, zero_pockets: Sequence[str], open_part: str
) -> tuple[list[tuple[Rect, Action]], list[tuple[str, Point]]]:
    """Return the touch areas of the inside bets of the open kind, and the chip points of all inside bets by id."""
    touch_targets: list[tuple[Rect, Action]] = []
    chip_points: list[tuple[str, Point]] = []
    end_street = grid.first_street + grid.street_count
    zero_spot_ids = _list_zero_bets(table, zero_pockets, open_part)
    for spot in table.spots.values():
        if not is_inside_bet(spot):
            continue
        (u, v, du, dv), point = _place_inside_bet(spot.covered_pockets, zero_pockets)
        if spot.id in zero_spot_ids:
            u, v, dv = -1.0, 3.0 * zero_spot_ids.index(spot.id) / len(zero_spot_ids), 3.0 / len(zero_spot_ids)
        if grid.has_street(point[0]):
            chip_points.append((spot.id, grid.find_point(*point)))
            if spot.group == open_part and grid.first_street <= u and u + du <= end_street:
                touch_targets.append((grid.compute_rect(u, v, du, dv), Action("spot", spot.id)))
    return touch_targets, chip_points


def _find_chip_corner(rect: Rect) -> Point:
    """Return the point at which a chip lies in a cell: in its lower right corner."""
    x, y, w, h = rect
    return (x + w - 14, y + h - 14)


def _lay_out_outside_bets(table: TableGameData, grid: _StreetGrid, open_part: str) -> FeltLayout:
    """Return the layout of the outside bets, beside and below the number cells of a roulette felt.

    While the 24-number bets are open, touches go to them, and not to the single dozens and columns, which they overlap.
    """
    cells: list[FeltCell] = []
    touch_targets: list[tuple[Rect, Action]] = []
    chip_points: list[tuple[str, Point]] = []
    x, y, _, h = grid.rect
    twelfth_width = grid.rect[2] / grid.street_count
    are_24_number_bets_open = any(
        spot.group == open_part and len(spot.covered_pockets) == _TWO_DOZENS_POCKET_COUNT
        for spot in table.spots.values()
    )
    for spot in table.spots.values():
        if len(spot.covered_pockets) <= _INSIDE_BET_POCKETS_MAX:
            continue
        column_cell = _place_column_bet(spot)
        if column_cell is not None:
            rect = grid.compute_rect(*column_cell)
        else:
            row, left_twelfths, width_twelfths = _place_outside_bet(spot)
            rect = (
                x + (1 + left_twelfths) * twelfth_width,
                y + h + row * OUTSIDE_BET_HEIGHT,
                width_twelfths * twelfth_width,
                OUTSIDE_BET_HEIGHT,
            )
        is_24_number_bet = len(spot.covered_pockets) == _TWO_DOZENS_POCKET_COUNT
        chip_points.append(
            (spot.id, compute_rect_centre(rect) if is_24_number_bet else place_chip_beside_label(rect))
        )
        if not is_24_number_bet:
            cells.append(FeltCell(rect, spot_id=spot.id))
        # Even chances (18 numbers) overlap no other bet, so they can always be touched.
        can_be_touched = is_24_number_bet == are_24_number_bets_open or len(spot.covered_pockets) == 18
        if can_be_touched and (not is_24_number_bet or spot.group == open_part):
            touch_targets.append((rect, Action("spot", spot.id)))
    return FeltLayout(tuple(cells), tuple(touch_targets), tuple(chip_points))


def _lay_out_outside_sheet(table: TableGameData, rect: Rect, touch_size_min: float) -> FeltLayout:
    """Return the layout of the outside bets on their separate sheet, on a telephone."""
    spots = [spot for spot in table.spots.values() if len(spot.covered_pockets) > _INSIDE_BET_POCKETS_MAX]
    arrangements = (
        [SpotRow(tuple(spots[i : i + count])) for i in range(0, len(spots), count)] for count in (3, 4, 6)
    )
    return lay_out_rows(
        next(
            (rows for rows in arrangements if len(rows) * touch_size_min <= rect[3]), [SpotRow(tuple(spots))]
        ),
        rect,
    )


def _lay_out_racetrack(table: TableGameData, chips: ChipsOnTable, layout: Layout) -> FeltLayout:
    """Return the layout of the pockets in wheel order, for bets on a pocket and its neighbours.

    The pockets form a ring; on a telephone they form rows that run alternately to the right and to the left.
    """
    x, y, w, h = compute_felt_rect(layout)
    pockets: Sequence[str] = table.wheel_pockets
    if layout.is_telephone:
        sheet_count, pockets_per_sheet = _count_racetrack_sheets(table, layout)
        first_index = chips.sheet_index % sheet_count * pockets_per_sheet
        pockets = pockets[first_index : first_index + pockets_per_sheet]
        rects = _lay_out_alternating_rows(
            (x, y + 2 * layout.touch_size_min, w, h - 2 * layout.touch_size_min), len(pockets)
        )
    else:
        rects = _lay_out_ring((x, y, w, h), layout.touch_size_min, len(pockets))
    cells = tuple(FeltCell(rect, pocket=pocket) for rect, pocket in zip(rects, pockets, strict=False))
    spot_id_by_pocket = map_pockets_to_straight_up_spots(table)
    touch_targets = [
        (cell.rect, Action("pocket", cell.pocket)) for cell in cells if cell.pocket in spot_id_by_pocket
    ]
    chip_points = tuple(
        (spot_id_by_pocket[cell.pocket], _find_chip_corner(cell.rect))
        for cell in cells
        if cell.pocket in spot_id_by_pocket
    )
    return FeltLayout(cells, (*lay_out_racetrack_keys(table, chips, layout), *touch_targets), chip_points)


def _count_racetrack_sheets(table: TableGameData, layout: Layout) -> tuple[int, int]:
    """Return how many sheets the roulette racetrack needs on a telephone, and how many pockets a sheet shows.

    Each row is at least as high as a touch target must be.
    """
    row_count = max(
        1, int((compute_felt_rect(layout)[3] - 2 * layout.touch_size_min + 0.5) // layout.touch_size_min)
    )
    sheet_count = -(-len(table.wheel_pockets) // (row_count * _RACETRACK_POCKETS_PER_ROW))
    return sheet_count, -(-len(table.wheel_pockets) // sheet_count)


def lay_out_racetrack_keys(
    table: TableGameData, chips: ChipsOnTable, layout: Layout
) -> list[tuple[Rect, Action]]:
    """Return the keys next to the racetrack, with the action of each.

    The keys choose the number of neighbours, place announced bets and, on a telephone, open the next sheet.
    """
    x, y, w, h = compute_felt_rect(layout)
    announced_bet_actions = [Action("announced_bet", name) for name in table.announced_bets]
    if layout.is_telephone:
        sheet_count, _ = _count_racetrack_sheets(table, layout)
        row = [Action("neighbours"), *announced_bet_actions]
        row += [Action("sheet", (chips.sheet_index + 1) % sheet_count)] if sheet_count > 1 else []
        width, height = w / len(row), layout.touch_size_min
        return [((x + i * width, y + height, width, height), action) for i, action in enumerate(row)]
    width, top = min(380.0, w / 2), y + h / 2 - (90 if announced_bet_actions else 40)
    keys: list[tuple[Rect, Action]] = [((x + (w - width) / 2, top, width, 80.0), Action("neighbours"))]
    key_width = min(240.0, (w - 240) / max(1, len(announced_bet_actions)))
    left = x + (w - key_width * len(announced_bet_actions)) / 2
    return keys + [
        ((left + i * key_width, top + 92, key_width - 8, 80.0), action)
        for i, action in enumerate(announced_bet_actions)
    ]


def _lay_out_ring(rect: Rect, touch_size_min: float, cell_count: int) -> list[Rect]:
    """Return cells along the inner edge of a rectangle, clockwise from the upper left.

    There are ``cell_count`` cells, or one more if ``cell_count`` is odd.
    """
    x, y, w, h = rect
    half_count = -(-cell_count // 2)
    cells_across = next(
        n for n in range(2, half_count + 1) if (half_count - n) * touch_size_min <= h - 200 or n == half_count
    )
    cells_down = half_count - cells_across
    width, end_height = w / cells_across, min(100.0, h / 4)
    height = (h - 2 * end_height) / max(1, cells_down)
    top = [(x + i * width, y, width, end_height) for i in range(cells_across)]
    right = [(x + w - width, y + end_height + i * height, width, height) for i in range(cells_down)]
    bottom = [(x + w - (i + 1) * width, y + h - end_height, width, end_height) for i in range(cells_across)]
    left = [(x, y + h - end_height - (i + 1) * height, width, height) for i in range(cells_down)]
    return [*top, *right, *bottom, *left]


def _lay_out_alternating_rows(rect: Rect, cell_count: int) -> list[Rect]:
    """Return ``cell_count`` cells in rows that run alternately to the right and to the left."""
    x, y, w, h = rect
    column_count = _RACETRACK_POCKETS_PER_ROW
    height = min(110.0, h / -(-cell_count // column_count))
    width = w / column_count
    return [
        (
            x
            + (i % column_count if i // column_count % 2 == 0 else column_count - 1 - i % column_count)
            * width,
            y + i // column_count * height,
            width,
            height,
        )
        for i in range(cell_count)
    ]

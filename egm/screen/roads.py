"""Scoreboards as data: the roads of baccarat, and the most and least frequent numbers.

They only show past results. A result of baccarat is a win of one of two sides, or a tie. A road is a list of columns of
marks. When drawn, a column of more than six marks continues to the right.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

#: Marks in a column of a road or a bead plate.
ROAD_HEIGHT_CELLS: Final = 6

#: The position of a mark on a scoreboard: its column and its row, both from 0.
GridCell = tuple[int, int]
#: The colour of a mark on a road.
MarkColour = Literal["red", "blue"]
#: A pocket of the wheel or a face of a die, and how often it occurred.
ResultCount = tuple[str, int]


@dataclass(frozen=True, slots=True)
class BigRoadMark:
    """A mark of baccarat's big road: the side that won, and the number of ties drawn on the mark."""

    side: str
    tie_count: int = 0


def place_bead_plate(results: Sequence[str]) -> dict[GridCell, str]:
    """Return the position of every result on the bead plate, column by column from the top; the oldest comes first."""
    return {(n // ROAD_HEIGHT_CELLS, n % ROAD_HEIGHT_CELLS): result for n, result in enumerate(results)}


def build_big_road(results: Sequence[str], sides: Sequence[str]) -> list[list[BigRoadMark]]:
    """Return the columns of baccarat's big road: each column is a run of wins of the same side.

    A tie is added to the mark of the win before it. Ties before the first win are added to the first win.
    """
    columns: list[list[BigRoadMark]] = []
    tie_count_before_first_win = 0
    for result in results:
        if result not in sides:
            if columns:
                last_mark = columns[-1][-1]
                columns[-1][-1] = replace(last_mark, tie_count=last_mark.tie_count + 1)
            else:
                tie_count_before_first_win += 1
        elif columns and columns[-1][-1].side == result:
            columns[-1].append(BigRoadMark(result))
        else:
            columns.append([BigRoadMark(result, tie_count_before_first_win)])
            tie_count_before_first_win = 0
    return columns


def derive_road_marks(columns: Sequence[Sequence[BigRoadMark]], column_distance: int) -> list[MarkColour]:
    """Return the marks of one of baccarat's derived roads, in order, each red or blue.

    ``column_distance`` is 1 for the big eye boy, 2 for the small road, 3 for the cockroach pig. ``columns`` are the
    columns of the big road. Each mark of the big road gives one derived mark, but only from the second mark of column
    ``column_distance`` + 1 on or, if that column has one mark, from the next column on.

    For the first mark of a column, the derived mark is red if the previous column is as long as the column
    ``column_distance`` further to the left, otherwise blue. For any other mark, it is blue if the column
    ``column_distance`` to the left ends exactly one row above the mark, otherwise red.
    """
    lengths = [len(column) for column in columns]
    marks: list[MarkColour] = []
    for column_index in range(column_distance, len(columns)):
        for row in range(lengths[column_index]):
            if row:
                marks.append("blue" if lengths[column_index - column_distance] == row else "red")
            elif column_index > column_distance:
                marks.append(
                    "red"
                    if lengths[column_index - 1] == lengths[column_index - 1 - column_distance]
                    else "blue"
                )
    return marks


def arrange_in_columns(marks: Sequence[MarkColour]) -> list[list[MarkColour]]:
    """Arrange the marks of a road in columns: each run of equal colours is one column."""
    columns: list[list[MarkColour]] = []
    for mark in marks:
        if columns and columns[-1][-1] == mark:
            columns[-1].append(mark)
        else:
            columns.append([mark])
    return columns


def count_most_and_least_frequent_numbers(
    results: Sequence[str], numbers: Sequence[str], number_count_max: int
) -> tuple[list[ResultCount], list[ResultCount]]:
    """Return the most frequent and the least frequent numbers, each with its number of occurrences.

    ``numbers`` are the pockets of the wheel or the faces of a die. Each list has at most ``number_count_max`` of them.
    A result may have several numbers, joined by ``-``. Numbers of equal frequency keep the order of ``numbers``.
    """
    count_by_number = Counter(part for result in results for part in result.split("-"))
    most_frequent_first = sorted(numbers, key=lambda number: -count_by_number[number])
    least_frequent_first = sorted(numbers, key=lambda number: count_by_number[number])
    return [(number, count_by_number[number]) for number in most_frequent_first[:number_count_max]], [
        (number, count_by_number[number]) for number in least_frequent_first[:number_count_max]
    ]


def place_road_marks(column_lengths: Sequence[int]) -> list[list[GridCell]]:
    """Return the position of each mark of a road, by column.

    ``column_lengths`` are the numbers of marks of the columns. A column goes down as far as there is room, then to the
    right.
    """
    occupied_cells: set[GridCell] = set()
    positions_by_column: list[list[GridCell]] = []
    first_column = -1
    for length in column_lengths:
        candidates = range(first_column + 1, first_column + 2 + len(occupied_cells))
        first_column = next(column for column in candidates if (column, 0) not in occupied_cells)
        column, row, has_turned = first_column, 0, False
        positions = []
        for index in range(length):
            if index:
                has_turned = has_turned or row + 1 == ROAD_HEIGHT_CELLS or (column, row + 1) in occupied_cells
                column, row = (column + 1, row) if has_turned else (column, row + 1)
            occupied_cells.add((column, row))
            positions.append((column, row))
        positions_by_column.append(positions)
    return positions_by_column

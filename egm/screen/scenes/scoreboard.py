"""The scoreboard of a table: bead plate, big road, derived roads, and a note that they predict nothing."""

from collections.abc import Sequence
from typing import Final

import pygame

from egm.screen.painter import Rect, TextStyle
from egm.screen.roads import (
    ROAD_HEIGHT_CELLS,
    MarkColour,
    arrange_in_columns,
    build_big_road,
    derive_road_marks,
    place_bead_plate,
    place_road_marks,
)
from egm.screen.scenes.cards import compute_cards_rect
from egm.screen.scenes.drawing_context import WHITE, DrawingContext
from egm.screen.table import TableGameData
from egm.screen.theme import Colour, parse_colour
from egm.screen.view import Scene, is_presentation_running, should_show_scoreboard

#: The colour of red marks.
_RED_MARK_COLOUR: Final = parse_colour("#d01c3c")
#: The colour of blue marks.
_BLUE_MARK_COLOUR: Final = parse_colour("#1d55d6")
#: The colour of ties.
_TIE_COLOUR: Final = parse_colour("#0e7c43")
#: The colour of the ruled paper.
_PAPER_COLOUR: Final = parse_colour("#f6f3e8")
#: The colour of the lines on the paper.
_RULED_LINE_COLOUR: Final = parse_colour("#cfc9b6")
#: Height of a board's title, in units.
_BOARD_TITLE_HEIGHT: Final = 24.0
#: Height of the note below the boards, in units.
_NOTE_HEIGHT: Final = 34.0
#: Gap between boards, in units.
_BOARD_GAP: Final = 8.0
#: The minimum size of a mark on a derived road, in units.
_CELL_SIZE_MIN: Final = 10.0
#: The upper boards' share of the height.
_UPPER_BOARDS_HEIGHT_SHARE: Final = 0.58


def should_draw_scoreboard(context: DrawingContext, table: TableGameData) -> bool:
    """Return whether to show the scoreboard instead of cards.

    It is shown if there are past results, no round is in progress or being presented, and the player wants it.
    """
    view = context.view
    if not (
        table.scoreboard_sides and view.scene is Scene.GAME and view.snapshot and view.snapshot.last_results
    ):
        return False
    if (
        view.decision is not None
        or not view.snapshot.is_between_games
        or is_presentation_running(view, context.theme)
    ):
        return False
    return should_show_scoreboard(view)


def draw_scoreboard(context: DrawingContext, table: TableGameData) -> None:
    """Draw the bead plate, the big road and the derived roads, and the note that past results predict nothing.

    If a road is too long, its newest results are shown. The derived roads are left out if they would be unreadable.
    """
    x, y, w, h = compute_cards_rect(context, table)
    translate, snapshot = context.texts.translate, context.view.snapshot
    results = snapshot.last_results[::-1] if snapshot is not None else ()
    boards_height = h - _NOTE_HEIGHT - _BOARD_GAP
    upper_height = boards_height * _UPPER_BOARDS_HEIGHT_SHARE
    lower_height = boards_height * (1 - _UPPER_BOARDS_HEIGHT_SHARE)
    are_cells_too_small = (
        lower_height - _BOARD_GAP - _BOARD_TITLE_HEIGHT
    ) / ROAD_HEIGHT_CELLS < _CELL_SIZE_MIN
    upper_height = boards_height if are_cells_too_small else upper_height
    road = build_big_road(results, table.scoreboard_sides)
    bead_plate_rect: Rect = (x, y, w * 0.3, upper_height)
    _draw_bead_plate(context, table, bead_plate_rect, results)
    colour_by_side = dict(zip(table.scoreboard_sides, (_RED_MARK_COLOUR, _BLUE_MARK_COLOUR), strict=True))
    mark_columns = [[(colour_by_side[win.side], win.tie_count) for win in column] for column in road]
    big_road_rect: Rect = (x + w * 0.3 + _BOARD_GAP, y, w * 0.7 - _BOARD_GAP, upper_height)
    _draw_road(context, big_road_rect, "felt.big_road", mark_columns, "ring")
    context.painter.draw_label(
        translate("felt.past"),
        (x, y + h - _NOTE_HEIGHT, w, _NOTE_HEIGHT),
        TextStyle("text", "caption", "text"),
    )
    if are_cells_too_small:
        return
    width = (w - 2 * _BOARD_GAP) / 3
    derived_roads = (
        ("felt.big_eye_boy", "ring"),
        ("felt.small_road", "disc"),
        ("felt.cockroach_pig", "stroke"),
    )
    for road_index, (title, shape) in enumerate(derived_roads):
        road_rect: Rect = (
            x + road_index * (width + _BOARD_GAP),
            y + upper_height + _BOARD_GAP,
            width,
            lower_height - _BOARD_GAP,
        )
        marks = [
            [(_choose_mark_paint(mark), 0) for mark in column]
            for column in arrange_in_columns(derive_road_marks(road, road_index + 1))
        ]
        _draw_road(context, road_rect, title, marks, shape)


def _choose_mark_paint(mark: MarkColour) -> Colour:
    """Return the colour in which a mark of a derived road is drawn."""
    return _RED_MARK_COLOUR if mark == "red" else _BLUE_MARK_COLOUR


def _choose_text_size(context: DrawingContext) -> str:
    """Return the text size of the scoreboard; a telephone needs larger letters."""
    return "caption" if context.layout.is_telephone else "tiny"


def _draw_ruled_sheet(context: DrawingContext, rect: Rect, title: str) -> tuple[float, float, float, int]:
    """Draw squared paper with a title above it.

    Return the left and the top of its first cell, the size of a cell, and the number of columns.
    """
    painter, (x, y, w, h) = context.painter, rect
    painter.draw_label(
        context.texts.translate(title), (x, y, w, _BOARD_TITLE_HEIGHT), TextStyle("strong", "caption", "text")
    )
    cell_size = (h - _BOARD_TITLE_HEIGHT) / ROAD_HEIGHT_CELLS
    column_count = max(1, int(w // cell_size))
    left = x + (w - column_count * cell_size) / 2
    painter.draw_panel(
        (left, y + _BOARD_TITLE_HEIGHT, column_count * cell_size, h - _BOARD_TITLE_HEIGHT),
        radius=2,
        fill=_PAPER_COLOUR,
    )
    surface, to_pixels = painter.surface, painter.scale_length
    for line_index in range(column_count + 1):
        line_position = to_pixels(left + line_index * cell_size)
        pygame.draw.line(
            surface,
            _RULED_LINE_COLOUR,
            (line_position, to_pixels(y + _BOARD_TITLE_HEIGHT)),
            (line_position, to_pixels(y + h)),
        )
    for line_index in range(ROAD_HEIGHT_CELLS + 1):
        line_position = to_pixels(y + _BOARD_TITLE_HEIGHT + line_index * cell_size)
        pygame.draw.line(
            surface,
            _RULED_LINE_COLOUR,
            (to_pixels(left), line_position),
            (to_pixels(left + column_count * cell_size), line_position),
        )
    return left, y + _BOARD_TITLE_HEIGHT, cell_size, column_count


def _draw_bead_plate(
    context: DrawingContext, table: TableGameData, rect: Rect, results: Sequence[str]
) -> None:
    """Draw the bead plate: the letters of the past results, column by column, as many of the newest as fit."""
    left, top, cell_size, column_count = _draw_ruled_sheet(context, rect, "felt.bead_plate")
    letters = {
        str(hand["id"]): context.texts.choose_translation(hand["names"])[:1]
        for hand in context.game_data.get("hands", ())
    }
    colour_by_side = dict(zip(table.scoreboard_sides, (_RED_MARK_COLOUR, _BLUE_MARK_COLOUR), strict=True))
    result_by_cell = place_bead_plate(results)
    first_column = max(0, max((column for column, _ in result_by_cell), default=0) + 1 - column_count)
    for (column, row), result in result_by_cell.items():
        if column < first_column:
            continue
        centre = (left + (column - first_column + 0.5) * cell_size, top + (row + 0.5) * cell_size)
        _draw_disc(context, centre, cell_size * 0.42, colour_by_side.get(result, _TIE_COLOUR))
        letter = letters.get(result, context.texts.translate("felt.tie_sign"))
        context.painter.draw_text(
            letter, centre, TextStyle("heavy", _choose_text_size(context), WHITE), width_max=cell_size * 0.76
        )


def _draw_road(
    context: DrawingContext,
    rect: Rect,
    title: str,
    columns: Sequence[Sequence[tuple[Colour, int]]],
    shape: str,
) -> None:
    """Draw the marks of a road; each has a colour and its number of ties. ``shape`` is a disc, ring or stroke."""
    left, top, cell_size, column_count = _draw_ruled_sheet(context, rect, title)
    cells_by_column = place_road_marks([len(column) for column in columns])
    last_column = max((column for column_cells in cells_by_column for column, _ in column_cells), default=0)
    first_column = max(0, last_column + 1 - column_count)
    for column, cells in zip(columns, cells_by_column, strict=True):
        for (paint, tie_count), (column_index, row_index) in zip(column, cells, strict=True):
            if column_index >= first_column:
                centre = (
                    left + (column_index - first_column + 0.5) * cell_size,
                    top + (row_index + 0.5) * cell_size,
                )
                _draw_mark(context, centre, cell_size, paint, shape)
                if tie_count:
                    _draw_stroke(context, centre, cell_size * 0.4, _TIE_COLOUR)
                if tie_count > 1:
                    style = TextStyle("heavy", _choose_text_size(context), _TIE_COLOUR)
                    context.painter.draw_text(str(tie_count), centre, style, width_max=cell_size * 0.76)


def _draw_mark(
    context: DrawingContext, centre: tuple[float, float], cell_size: float, paint: Colour, shape: str
) -> None:
    """Draw one mark of a road as a disc, a ring or a diagonal stroke."""
    if shape == "stroke":
        _draw_stroke(context, centre, cell_size * 0.34, paint)
    elif shape == "disc":
        _draw_disc(context, centre, cell_size * 0.34, paint)
    else:
        painter = context.painter
        pygame.draw.circle(
            painter.surface,
            paint,
            (painter.scale_length(centre[0]), painter.scale_length(centre[1])),
            painter.scale_length(cell_size * 0.4),
            max(2, painter.scale_length(cell_size * 0.11)),
        )


def _draw_disc(context: DrawingContext, centre: tuple[float, float], radius: float, paint: Colour) -> None:
    """Draw a filled circle."""
    painter = context.painter
    pygame.draw.circle(
        painter.surface,
        paint,
        (painter.scale_length(centre[0]), painter.scale_length(centre[1])),
        painter.scale_length(radius),
    )


def _draw_stroke(
    context: DrawingContext, centre: tuple[float, float], half_length: float, paint: Colour
) -> None:
    """Draw a diagonal stroke, which is a mark of a road or the sign of a tie."""
    painter, (x, y) = context.painter, centre
    start = (painter.scale_length(x - half_length), painter.scale_length(y + half_length))
    end = (painter.scale_length(x + half_length), painter.scale_length(y - half_length))
    pygame.draw.line(painter.surface, paint, start, end, max(2, painter.scale_length(half_length * 0.4)))

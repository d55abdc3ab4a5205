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
from egm.screen.scenes.cards import find_cards_rect
from egm.screen.scenes.stage import WHITE, Stage
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
#: The least size of a mark on a derived road, in units.
_CELL_SIZE_MIN: Final = 10.0
#: The upper boards' share of the height.
_UPPER_BOARDS_HEIGHT_SHARE: Final = 0.58


def should_draw_scoreboard(stage: Stage, table: TableGameData) -> bool:
    """Return whether to show the scoreboard instead of cards.

    It is shown if there are past results, no round is in progress or being presented, and the player wants it.
    """
    view = stage.view
    if not (table.scoreboard_sides and view.scene is Scene.GAME and view.snapshot and view.snapshot.results):
        return False
    if (
        view.decision is not None
        or not view.snapshot.is_between_games
        or is_presentation_running(view, stage.theme)
    ):
        return False
    return should_show_scoreboard(view)


def draw_scoreboard(stage: Stage, table: TableGameData) -> None:
    """Draw the roads of the scoreboard. If a road is too long, its newest results are shown."""
    x, y, w, h = find_cards_rect(stage, table)
    say, snapshot = stage.texts.say, stage.view.snapshot
    results = snapshot.results[::-1] if snapshot is not None else ()
    room = h - _NOTE_HEIGHT - _BOARD_GAP
    upper, lower = room * _UPPER_BOARDS_HEIGHT_SHARE, room * (1 - _UPPER_BOARDS_HEIGHT_SHARE)
    are_cells_too_small = (lower - _BOARD_GAP - _BOARD_TITLE_HEIGHT) / ROAD_HEIGHT_CELLS < _CELL_SIZE_MIN
    upper = room if are_cells_too_small else upper
    road = build_big_road(results, table.scoreboard_sides)
    left: Rect = (x, y, w * 0.3, upper)
    _draw_bead_plate(stage, table, left, results)
    paints = dict(zip(table.scoreboard_sides, (_RED_MARK_COLOUR, _BLUE_MARK_COLOUR), strict=True))
    columns = [[(paints[win.side], win.ties) for win in column] for column in road]
    right: Rect = (x + w * 0.3 + _BOARD_GAP, y, w * 0.7 - _BOARD_GAP, upper)
    _draw_road(stage, right, "felt.big_road", columns, "ring")
    stage.painter.draw_label(
        say("felt.past"), (x, y + h - _NOTE_HEIGHT, w, _NOTE_HEIGHT), TextStyle("text", "caption", "text")
    )
    if are_cells_too_small:  # The derived roads would be unreadable.
        return
    width = (w - 2 * _BOARD_GAP) / 3
    shapes = (("felt.big_eye_boy", "ring"), ("felt.small_road", "disc"), ("felt.cockroach_pig", "stroke"))
    for n, (title, shape) in enumerate(shapes):
        road_rect: Rect = (x + n * (width + _BOARD_GAP), y + upper + _BOARD_GAP, width, lower - _BOARD_GAP)
        marks = [
            [(_choose_mark_paint(mark), 0) for mark in column]
            for column in arrange_in_columns(derive_road_marks(road, n + 1))
        ]
        _draw_road(stage, road_rect, title, marks, shape)


def _choose_mark_paint(mark: MarkColour) -> Colour:
    """Return the colour in which a mark of a derived road is drawn."""
    return _RED_MARK_COLOUR if mark == "red" else _BLUE_MARK_COLOUR


def _choose_text_size(stage: Stage) -> str:
    """Return the text size of the scoreboard; a telephone needs larger letters."""
    return "caption" if stage.layout.is_telephone else "tiny"


def _draw_ruled_sheet(stage: Stage, rect: Rect, title: str) -> tuple[float, float, float, int]:
    """Draw squared paper with a title above it.

    Return the left and the top of its first cell, the size of a cell, and the number of columns.
    """
    p, (x, y, w, h) = stage.painter, rect
    p.draw_label(
        stage.texts.say(title), (x, y, w, _BOARD_TITLE_HEIGHT), TextStyle("strong", "caption", "text")
    )
    side = (h - _BOARD_TITLE_HEIGHT) / ROAD_HEIGHT_CELLS
    columns = max(1, int(w // side))
    left = x + (w - columns * side) / 2
    p.draw_panel(
        (left, y + _BOARD_TITLE_HEIGHT, columns * side, h - _BOARD_TITLE_HEIGHT), radius=2, fill=_PAPER_COLOUR
    )
    surface, px = p.surface, p.scale_length
    for n in range(columns + 1):
        at = px(left + n * side)
        pygame.draw.line(surface, _RULED_LINE_COLOUR, (at, px(y + _BOARD_TITLE_HEIGHT)), (at, px(y + h)))
    for n in range(ROAD_HEIGHT_CELLS + 1):
        at = px(y + _BOARD_TITLE_HEIGHT + n * side)
        pygame.draw.line(surface, _RULED_LINE_COLOUR, (px(left), at), (px(left + columns * side), at))
    return left, y + _BOARD_TITLE_HEIGHT, side, columns


def _draw_bead_plate(stage: Stage, table: TableGameData, rect: Rect, results: Sequence[str]) -> None:
    """Draw the bead plate: the letter of every past result, column by column."""
    left, top, side, columns = _draw_ruled_sheet(stage, rect, "felt.bead_plate")
    letters = {
        str(hand["id"]): stage.texts.choose_translation(hand["names"])[:1]
        for hand in stage.game_data.get("hands", ())
    }
    paints = dict(zip(table.scoreboard_sides, (_RED_MARK_COLOUR, _BLUE_MARK_COLOUR), strict=True))
    plate = place_bead_plate(results)
    first = max(0, max((column for column, _ in plate), default=0) + 1 - columns)
    for (column, row), result in plate.items():
        if column < first:
            continue
        at = (left + (column - first + 0.5) * side, top + (row + 0.5) * side)
        _draw_disc(stage, at, side * 0.42, paints.get(result, _TIE_COLOUR))
        letter = letters.get(result, stage.texts.say("felt.tie_sign"))
        stage.painter.draw_text(
            letter, at, TextStyle("heavy", _choose_text_size(stage), WHITE), width_max=side * 0.76
        )


def _draw_road(
    stage: Stage, rect: Rect, title: str, columns: Sequence[Sequence[tuple[Colour, int]]], shape: str
) -> None:
    """Draw the marks of a road; each has a colour and its number of ties. ``shape`` is a disc, ring or stroke."""
    left, top, side, count = _draw_ruled_sheet(stage, rect, title)
    positions = place_road_marks([len(column) for column in columns])
    last = max((column for each in positions for column, _ in each), default=0)
    first = max(0, last + 1 - count)
    for column, where in zip(columns, positions, strict=True):
        for (paint, ties), (across, down) in zip(column, where, strict=True):
            if across >= first:
                at = (left + (across - first + 0.5) * side, top + (down + 0.5) * side)
                _draw_mark(stage, at, side, paint, shape)
                if ties:
                    _draw_stroke(stage, at, side * 0.4, _TIE_COLOUR)
                if ties > 1:
                    style = TextStyle("heavy", _choose_text_size(stage), _TIE_COLOUR)
                    stage.painter.draw_text(str(ties), at, style, width_max=side * 0.76)


def _draw_mark(
    stage: Stage, centre: tuple[float, float], cell_size: float, paint: Colour, shape: str
) -> None:
    """Draw one mark of a road as a disc, a ring or a diagonal stroke."""
    if shape == "stroke":
        _draw_stroke(stage, centre, cell_size * 0.34, paint)
    elif shape == "disc":
        _draw_disc(stage, centre, cell_size * 0.34, paint)
    else:
        p = stage.painter
        pygame.draw.circle(
            p.surface,
            paint,
            (p.scale_length(centre[0]), p.scale_length(centre[1])),
            p.scale_length(cell_size * 0.4),
            max(2, p.scale_length(cell_size * 0.11)),
        )


def _draw_disc(stage: Stage, centre: tuple[float, float], radius: float, paint: Colour) -> None:
    """Draw a filled circle."""
    p = stage.painter
    pygame.draw.circle(
        p.surface, paint, (p.scale_length(centre[0]), p.scale_length(centre[1])), p.scale_length(radius)
    )


def _draw_stroke(stage: Stage, centre: tuple[float, float], half_length: float, paint: Colour) -> None:
    """Draw a diagonal stroke, which is a mark of a road or the sign of a tie."""
    p, (x, y) = stage.painter, centre
    start, end = (
        (p.scale_length(x - half_length), p.scale_length(y + half_length)),
        (p.scale_length(x + half_length), p.scale_length(y - half_length)),
    )
    pygame.draw.line(p.surface, paint, start, end, max(2, p.scale_length(half_length * 0.4)))

"""The reel field: strips that run and stop on the recorded outcome, and the wins shown on them."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Final

import pygame

from egm.screen.art.ink import Ink, Linear, Paint, Radial, painted
from egm.screen.art.paths import box, ellipse, mirror, scale
from egm.screen.art.symbols import draw_symbol, is_blank
from egm.screen.motion import ReelTravel, pulse
from egm.screen.outcome import Field, Result, WinView
from egm.screen.painter import PREMULTIPLIED, Rect, Style
from egm.screen.scenes.stage import Stage, metal
from egm.screen.theme import Colour, fade, mix, parse_colour
from egm.screen.view import Timeline, standing, times

_GAP: Final = 10.0
#: Room beside the outer reels for the tabs of the lines.
MARGIN: Final = 44.0
#: A reel is at most this many times wider than its cells are high.
_WIDEST: Final = 1.62
_BLUR_SPEED: Final = 8.0
#: Colours of the lines, told apart by number as well.
TABS_MOST: Final = 25
LINE_COLOURS: Final = tuple(
    map(
        parse_colour,
        (
            "#ffd23f",
            "#ff5d5d",
            "#4fd1ff",
            "#7dff8a",
            "#ff8af0",
            "#ffa04f",
            "#b59bff",
            "#5dffd8",
            "#f4ff6b",
            "#ff6b9d",
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the cells are, in units: reels no wider than their symbols want, a bezel between them."""

    field: Rect
    heights: tuple[int, ...]

    @property
    def width(self) -> float:
        """Of one reel."""
        count = len(self.heights)
        room = (self.field[2] - 2 * MARGIN - _GAP * (count - 1)) / count
        return min(room, _WIDEST * (self.field[3] - 2 * _GAP) / max(self.heights))

    @property
    def gap(self) -> float:
        """Between two reels, and between the outer reels and the margins."""
        count = len(self.heights)
        return (self.field[2] - 2 * MARGIN - count * self.width) / max(1, count - 1 if count > 1 else 2)

    def reel(self, reel: int) -> Rect:
        """One reel's window; shorter reels stand in the middle."""
        tall = self.field[3] - 2 * _GAP
        height = tall * self.heights[reel] / max(self.heights)
        first = self.field[0] + MARGIN + (self.gap if len(self.heights) == 1 else 0.0)
        return (
            first + reel * (self.width + self.gap),
            self.field[1] + _GAP + (tall - height) / 2,
            self.width,
            height,
        )

    def cell(self, reel: int, row: float) -> Rect:
        """One cell; ``row`` may be between rows."""
        x, y, w, h = self.reel(reel)
        one = h / self.heights[reel]
        return (x, y + row * one, w, one)


def draw_reels(stage: Stage) -> None:
    """The field as it is at this moment."""
    game = stage.view.game
    fields = stage.view.fields.get(game.id, {}) if game else {}
    line, show = times(stage.view, stage.theme), stage.view.show
    if game is None or not fields:
        return
    if show is None or line is None or not show.steps or show.play.game_id != game.id:
        rest = standing(stage.view)
        field = fields[rest.stage] if rest else next(iter(fields.values()))
        _still(stage, field, rest)
        if rest and stage.view.snapshot and stage.view.snapshot.win_cents:
            draw_wins(stage, field, rest, stage.view.now)
        return
    since = stage.view.now - show.began
    index = next((i for i, step in enumerate(line.steps) if since < step.end), len(line.steps) - 1)
    result, before = show.steps[index], show.steps[index - 1] if index else show.before
    field = fields[result.stage]
    if since >= line.steps[index].spun:
        _still(stage, field, result)
        draw_wins(stage, field, result, since - line.steps[index].spun)
    else:
        _running(stage, field, result, before, line, index, since)


def _bezels(stage: Stage, grid: Grid) -> None:
    """Brushed metal where there is no reel, each window sunk into it."""
    rim = metal(stage.theme, stage.look.rim).stops

    def make(size: tuple[int, int]) -> pygame.Surface:
        x, y, w, h = grid.field
        ink = Ink(size, (w, h), 2)
        dark = [mix(colour, (22, 12, 26, 255), 0.86) for _, colour in rim[:3]]
        ink.fill(box(0, 0, w, h), Linear(((0, dark[1]), (0.5, dark[0]), (1, dark[2]))))
        for reel in range(len(grid.heights)):
            rx, ry, rw, rh = grid.reel(reel)
            ink.fill(box(rx - x - 5, ry - y - 5, rw + 10, rh + 10, 12), metal(stage.theme, stage.look.rim))
            ink.fill(box(rx - x - 2, ry - y - 2, rw + 4, rh + 4, 8), (4, 2, 8, 255))
        return ink.finish()

    stage.painter.art(("bezels", grid, stage.look.name), grid.field, make)


def _tabs(stage: Stage, field: Field, grid: Grid) -> None:
    """The number of every line in play, on both sides, at the height where it enters and leaves."""
    p = stage.painter
    for side, reel in ((0, 0), (1, field.reels - 1)):
        rows: dict[int, list[int]] = {}
        for number, line in enumerate(field.lines[:TABS_MOST]):
            rows.setdefault(line[reel], []).append(number)
        for row, numbers in rows.items():
            _, top, _, high = grid.cell(reel, row)
            step = min(34.0, high / len(numbers))
            for i, number in enumerate(numbers):
                colour = LINE_COLOURS[number % len(LINE_COLOURS)]
                y = top + high / 2 + (i - (len(numbers) - 1) / 2) * step
                x = grid.field[0] + 4 if side == 0 else grid.field[0] + grid.field[2] - 38
                p.art(
                    ("tab", colour, side),
                    (x, y - step / 2 + 1, 34, step - 2),
                    partial(_tab, colour=colour, side=side),
                )
                p.text(
                    str(number + 1),
                    (x + (15 if side == 0 else 19), y),
                    Style("heavy", "caption" if step > 24 else "tiny", mix(colour, (0, 0, 0, 255), 0.85)),
                    width=24,
                )


def _tab(size: tuple[int, int], colour: Colour, side: int) -> pygame.Surface:
    ink = Ink(size)
    shape = [(4.0, 4.0), (76.0, 4.0), (98.0, 50.0), (76.0, 96.0), (4.0, 96.0)]
    if side:
        shape = mirror(shape)
    ink.fill(shape, (0, 0, 0, 255))
    ink.fill(scale(shape, 0.9), Linear(((0, mix(colour, (255, 255, 255, 255), 0.6)), (1, colour))))
    return ink.finish()


def _still(stage: Stage, field: Field, result: Result | None) -> None:
    grid = Grid(stage.layout.field, field.heights)
    _bezels(stage, grid)
    _tabs(stage, field, grid)
    for reel in range(field.reels):
        column = (
            result.window[reel]
            if result
            else tuple(_at(field.strips[reel], row) for row in range(field.heights[reel]))
        )
        for row, symbol in enumerate(column):
            _cell(stage, grid, field, reel, row, symbol)
        _glaze(stage, grid, reel)


def _at(strip: tuple[str, ...], place: int) -> str:
    return strip[place % len(strip)]


def _running(
    stage: Stage,
    field: Field,
    result: Result,
    before: Result | None,
    line: Timeline,
    index: int,
    since: float,
) -> None:
    grid, motion, step = Grid(stage.layout.field, field.heights), stage.theme.motion, line.steps[index]
    _bezels(stage, grid)
    _tabs(stage, field, grid)
    for reel in range(field.reels):
        strip, start, target = _strip(field, result, before, reel)
        travel = ReelTravel(start, target, len(strip), step.stops[reel] - step.begin)
        place = travel.place(since - step.begin, motion)
        fast = travel.speed(since - step.begin, motion) > _BLUR_SPEED and not stage.view.reduced_motion
        top = math.floor(place)
        clip = stage.painter.surface.get_clip()
        stage.painter.surface.set_clip(stage.painter.box(grid.reel(reel)))
        for row in range(field.heights[reel] + 1):
            _cell(stage, grid, field, reel, row - (place - top), _at(strip, top + row), blurred=fast)
        stage.painter.surface.set_clip(clip)
        _glaze(stage, grid, reel)


def _strip(
    field: Field, result: Result, before: Result | None, reel: int
) -> tuple[tuple[str, ...], int, int]:
    """The strip a reel runs on, where it starts and where it ends.

    Where the true strip cannot show the window, the reel runs in from the strip with its window laid first.
    """
    strip, stop = field.strips[reel], result.stops[reel]
    start = before.stops[reel] if before is not None and len(before.stops) == field.reels else 0
    if stop < 0:
        laid = result.window[reel] + strip
        return laid, (start + len(result.window[reel])) % len(laid) if start >= 0 else len(laid) // 2, 0
    return strip, max(0, start) % len(strip), stop


def paper(size: tuple[int, int], colours: tuple[Colour, Colour, Colour]) -> pygame.Surface:
    """The face of a reel: the same all the way down, so that cells join without a seam."""
    left, middle, right = colours
    surface = pygame.Surface(size)
    surface.blit(
        painted(
            size,
            Linear(
                (
                    (0, left),
                    (0.12, mix(left, middle, 0.7)),
                    (0.5, middle),
                    (0.88, mix(right, middle, 0.7)),
                    (1, right),
                ),
                sideways=True,
            ),
        ),
        (0, 0),
    )
    return surface


def symbol_art(stage: Stage, field: Field, symbol: str, size: tuple[int, int]) -> pygame.Surface:
    """A symbol's drawing at a size in pixels, kept."""
    name = stage.texts.local(field.names.get(symbol, {}), symbol)
    return stage.painter.kept(("symbol", symbol, name, size), lambda: draw_symbol(symbol, name, size))


def _cell(
    stage: Stage, grid: Grid, field: Field, reel: int, row: float, symbol: str, *, blurred: bool = False
) -> None:
    p, look = stage.painter, stage.look
    area = p.box(grid.cell(reel, row))
    whole = p.box(grid.cell(reel, 0))
    size = (whole.width, whole.height + 1)

    def make() -> pygame.Surface:
        surface = paper(size, look.paper)
        side = round(min(size) * 0.96)
        if not is_blank(symbol):
            art = symbol_art(stage, field, symbol, (side, side))
            at = ((size[0] - side) // 2, (size[1] - side) // 2)
            surface.blit(
                _cast(art, dark=sum(look.paper[1][:3]) < 300),
                (at[0] + max(2, side // 40), at[1] + max(3, side // 28)),
                special_flags=PREMULTIPLIED,
            )
            surface.blit(art, at, special_flags=PREMULTIPLIED)
        if blurred:
            low = pygame.transform.smoothscale(surface, (size[0], max(2, size[1] // 14)))
            surface = pygame.transform.smoothscale(low, size)
        return surface

    p.surface.blit(
        p.kept(("cell", symbol, size, look.name, blurred, stage.texts.language), make), (area.left, area.top)
    )


def _cast(art: pygame.Surface, *, dark: bool) -> pygame.Surface:
    """The soft shadow of a piece of art, premultiplied."""
    level = 150 if dark else 80
    shadow = art.copy()
    shadow.fill((0, 0, 0, level), special_flags=pygame.BLEND_RGBA_MULT)
    return pygame.transform.box_blur(shadow, max(1, art.get_width() // 50))


def _glaze(stage: Stage, grid: Grid, reel: int) -> None:
    """The roundness of a reel behind glass: dark above and below, a faint light across."""

    def make(size: tuple[int, int]) -> pygame.Surface:
        dark: Colour = (10, 4, 20, 255)
        surface = painted(
            size,
            Linear(
                (
                    (0, fade(dark, 0.72)),
                    (0.1, fade(dark, 0.42)),
                    (0.24, fade(dark, 0.12)),
                    (0.36, fade(dark, 0)),
                    (0.64, fade(dark, 0)),
                    (0.78, fade(dark, 0.12)),
                    (0.9, fade(dark, 0.42)),
                    (1, fade(dark, 0.78)),
                )
            ),
        )
        edge = painted(
            (size[0], size[1]),
            Linear(
                ((0, fade(dark, 0.35)), (0.04, fade(dark, 0)), (0.96, fade(dark, 0)), (1, fade(dark, 0.35))),
                sideways=True,
            ),
        )
        surface.blit(edge, (0, 0), special_flags=PREMULTIPLIED)
        return surface

    stage.painter.art(("glaze",), grid.reel(reel), make)


# ---------------------------------------------------------------------- wins
def draw_wins(stage: Stage, field: Field, result: Result, since: float) -> None:
    """All winning lines together, then each in turn; what does not win steps back into the dark."""
    wins = [win for win in result.wins if win.credits > 0 and win.positions]
    if not wins:
        return
    turn = shown_win(since, len(wins), stage.theme.motion.line_cycle)
    now = wins if turn is None else [wins[turn]]
    grid = Grid(stage.layout.field, field.heights)
    winning = {place for win in now for place in win.positions}
    for reel in range(field.reels):
        for row in range(field.heights[reel]):
            if (reel, row) not in winning:
                stage.painter.shade(grid.cell(reel, row), (6, 3, 14, 120))
    for win in now:
        _line(stage, field, grid, win, result.wins.index(win))
    beat = 0.0 if stage.view.reduced_motion else pulse(since, 1.1)
    for reel, row in sorted(winning):
        owner = next(win for win in now if (reel, row) in win.positions)
        _winner(
            stage,
            field,
            grid,
            result.window[reel][row],
            (reel, row),
            beat,
            _colour(owner, result.wins.index(owner)),
        )
    for win in now:
        _badge(stage, grid, win, result.wins.index(win))


def shown_win(since: float, count: int, cycle: float) -> int | None:
    """Which win has its turn; None while all are shown together."""
    if count == 1:
        return 0
    phase = int(since / cycle) % (count + 1)
    return None if phase == 0 else phase - 1


def _colour(win: WinView, index: int) -> Colour:
    return LINE_COLOURS[((win.line or index + 1) - 1) % len(LINE_COLOURS)]


def _winner(
    stage: Stage, field: Field, grid: Grid, symbol: str, place: tuple[int, int], beat: float, colour: Colour
) -> None:
    """A winning symbol: its cell lit and framed, the symbol itself breathing."""
    p = stage.painter
    rect = grid.cell(*place)
    x, y, w, h = rect
    step = round(beat * 6)

    def frame(size: tuple[int, int]) -> pygame.Surface:
        ink = Ink(size, (w, h), 2)
        ink.fill(
            box(0, 0, w, h, 12),
            Radial(
                ((0, (255, 255, 255, 90)), (0.6, fade(colour, 0.3)), (1, fade(colour, 0.6))), (0.5, 0.5), 0.6
            ),
        )
        ink.stroke(box(4, 4, w - 8, h - 8, 12), 7, (0, 0, 0, 190))
        ink.stroke(box(4, 4, w - 8, h - 8, 12), 4, mix(colour, (255, 255, 255, 255), 0.3))
        return ink.finish()

    p.art(("win frame", colour), rect, frame)
    side = min(w, h) * (0.96 + 0.1 * step / 6)
    if not is_blank(symbol):
        size = (p.px(side), p.px(side))
        p.put(
            symbol_art(stage, field, symbol, size),
            (p.px(x + w / 2) - size[0] // 2, p.px(y + h / 2) - size[1] // 2),
        )


def _path(grid: Grid, field: Field, win: WinView) -> list[tuple[float, float]]:
    """The line through the cells' middles, from edge to edge; a win on no line joins its own cells."""
    if win.line is not None and 0 < win.line <= len(field.lines):
        rows = field.lines[win.line - 1]
        cells = [grid.cell(reel, row) for reel, row in enumerate(rows)]
    else:
        cells = [grid.cell(reel, row) for reel, row in sorted(win.positions)]
    points = [(x + w / 2, y + h / 2) for x, y, w, h in cells]
    if win.line is not None and points:
        points = [
            (grid.field[0] + 4, points[0][1]),
            *points,
            (grid.field[0] + grid.field[2] - 4, points[-1][1]),
        ]
    return points


def _line(stage: Stage, field: Field, grid: Grid, win: WinView, index: int) -> None:
    points = _path(grid, field, win)
    if win.line is None or len(points) < 2:
        return
    top = min(y for _, y in points) - 12
    low = max(y for _, y in points) + 12
    rect: Rect = (grid.field[0], top, grid.field[2], low - top)
    colour = _colour(win, index)

    def make(size: tuple[int, int]) -> pygame.Surface:
        ink = Ink(size, (rect[2], rect[3]), 2)
        local = [(x - rect[0], y - rect[1]) for x, y in points]
        ink.stroke(local, 15, (0, 0, 0, 150), closed=False)
        ink.stroke(local, 9, colour, closed=False)
        ink.stroke(local, 3, mix(colour, (255, 255, 255, 255), 0.7), closed=False)
        return ink.finish()

    stage.painter.art(("line", tuple(points), colour), rect, make)


def _badge(stage: Stage, grid: Grid, win: WinView, index: int) -> None:
    """The number of a line at its left end, and what it pays on its last cell."""
    p, colour = stage.painter, _colour(win, index)
    dark: Paint = mix(colour, (0, 0, 0, 255), 0.82)
    if win.line is not None:
        y = grid.cell(*win.positions[0])[1] + grid.cell(*win.positions[0])[3] / 2

        def make(size: tuple[int, int]) -> pygame.Surface:
            ink = Ink(size)
            ink.fill(ellipse(50, 50, 49), (0, 0, 0, 210))
            ink.fill(ellipse(50, 50, 44), colour)
            ink.fill(ellipse(50, 46, 38), mix(colour, (255, 255, 255, 255), 0.35))
            return ink.finish()

        p.art(("badge", colour), (grid.field[0] - 6, y - 26, 52, 52), make)
        p.text(str(win.line), (grid.field[0] + 20, y), Style("heavy", "body", dark), width=40)
    x, y, w, h = grid.cell(*win.positions[-1])
    words = stage.texts.number(win.credits)
    width = max(70.0, p.measure(words, Style("numbers", "title")) + 28)
    p.panel(
        (x + w / 2 - width / 2, y + h - 66, width, 56), radius=16, fill=(10, 5, 20, 235), edge=colour, line=3
    )
    p.text(
        words,
        (x + w / 2, y + h - 36),
        Style("numbers", "lead", mix(colour, (255, 255, 255, 255), 0.5)),
        width=width - 14,
    )

"""Drawing of the reels, whose strips run and stop on the recorded outcome."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Final

import pygame

from egm.screen.art.paths import build_rounded_box, mirror_outline, scale_outline
from egm.screen.art.symbols import is_blank
from egm.screen.art.vector_canvas import LinearGradient, VectorCanvas, create_painted_surface
from egm.screen.motion import ReelTravel, ease_out
from egm.screen.painter import PREMULTIPLIED_BLEND_MODE, Rect, TextStyle
from egm.screen.presentation import StepTimes, find_anticipated_reel
from egm.screen.reel_data import ReelData, ReelSpin, ReelWindow
from egm.screen.scenes.drawing_context import DrawingContext, build_metal_gradient
from egm.screen.scenes.feature import draw_anticipation_light
from egm.screen.theme import Colour, fade_colour, mix_colours, parse_colour

#: The minimum width between reels, and the height above and below them, in units.
_REEL_GAP: Final = 10.0
#: Width next to the outer reels for the tabs of the lines, in units.
PAY_LINE_TAB_MARGIN: Final = 44.0
#: The maximum width of a reel, as a multiple of the height of its cells.
_REEL_WIDTH_PER_CELL_HEIGHT_MAX: Final = 1.62
#: Speed above which symbols are drawn blurred, in cells per second.
_BLUR_CELLS_PER_SECOND_MIN: Final = 8.0
#: The maximum number of lines that have tabs.
PAY_LINE_TABS_MAX: Final = 25
#: The colours of pay lines, in turn. Lines have numbers as well.
PAY_LINE_COLOURS: Final = tuple(
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
class ReelGrid:
    """The positions of the cells of the reels, in units.

    Reels are only as wide as their symbols need; bezels separate them.
    """

    rect: Rect
    heights: tuple[int, ...]

    @property
    def reel_width(self) -> float:
        """Return the width of a reel."""
        reel_count = len(self.heights)
        available_width = (self.rect[2] - 2 * PAY_LINE_TAB_MARGIN - _REEL_GAP * (reel_count - 1)) / reel_count
        return min(
            available_width,
            _REEL_WIDTH_PER_CELL_HEIGHT_MAX * (self.rect[3] - 2 * _REEL_GAP) / max(self.heights),
        )

    @property
    def reel_gap(self) -> float:
        """Return the width of the gap between two reels. A single reel has a gap of this width on either side."""
        reel_count = len(self.heights)
        return (self.rect[2] - 2 * PAY_LINE_TAB_MARGIN - reel_count * self.reel_width) / max(
            1, reel_count - 1 if reel_count > 1 else 2
        )

    def compute_reel_rect(self, reel: int) -> Rect:
        """Return the rectangle of a reel's window. A reel with fewer rows than others is centred vertically."""
        full_height = self.rect[3] - 2 * _REEL_GAP
        height = full_height * self.heights[reel] / max(self.heights)
        left = self.rect[0] + PAY_LINE_TAB_MARGIN + (self.reel_gap if len(self.heights) == 1 else 0.0)
        return (
            left + reel * (self.reel_width + self.reel_gap),
            self.rect[1] + _REEL_GAP + (full_height - height) / 2,
            self.reel_width,
            height,
        )

    def compute_cell_rect(self, reel: int, row: float) -> Rect:
        """Return the rectangle of a cell; ``row`` may lie between two rows while the reel moves."""
        x, y, w, reel_height = self.compute_reel_rect(reel)
        cell_height = reel_height / self.heights[reel]
        return (x, y + row * cell_height, w, cell_height)


def draw_stopped_reels(context: DrawingContext, reel_data: ReelData, window: ReelWindow | None) -> None:
    """Draw the reels at rest with the symbols of ``window``.

    Without a window, because no game was played yet, draw the reels at stops with which no bet would win (A-20).
    """
    grid = _draw_frame(context, reel_data)
    for reel in range(reel_data.reel_count):
        column = (
            window[reel]
            if window
            else [
                _find_strip_symbol(reel_data.reel_strips[reel], reel_data.initial_stops[reel] + row)
                for row in range(reel_data.reel_heights[reel])
            ]
        )
        for row, symbol in enumerate(column):
            _draw_cell(context, grid, reel_data, reel, row, symbol)
        _draw_reel_glass(context, grid, reel)


def draw_cascade_window(
    context: DrawingContext,
    reel_data: ReelData,
    new_window: ReelWindow,
    previous_window: ReelWindow,
    elapsed_seconds: float,
) -> None:
    """Draw the next window of a cascade: the symbols that are not in ``previous_window`` drop in from above."""
    grid = _draw_frame(context, reel_data)
    for reel in range(reel_data.reel_count):
        with context.painter.clip_to(grid.compute_reel_rect(reel)):
            drop_share = (
                0.0 if context.view.is_motion_reduced else 1 - ease_out((elapsed_seconds - 0.05 * reel) / 0.4)
            )
            for row, symbol in enumerate(new_window[reel]):
                has_moved = symbol != previous_window[reel][row] or any(
                    a != b for a, b in zip(new_window[reel][row:], previous_window[reel][row:], strict=True)
                )
                _draw_cell(
                    context,
                    grid,
                    reel_data,
                    reel,
                    row - (drop_share * reel_data.reel_heights[reel] if has_moved else 0.0),
                    symbol,
                )
        _draw_reel_glass(context, grid, reel)


def _draw_frame(context: DrawingContext, reel_data: ReelData) -> ReelGrid:
    """Draw what surrounds the reels: the bezels and the tabs of the pay lines. Return the positions of the cells."""
    grid = ReelGrid(context.layout.game_field, reel_data.reel_heights)
    _draw_bezels(context, grid)
    _draw_pay_line_tabs(context, reel_data, grid)
    return grid


def _draw_bezels(context: DrawingContext, grid: ReelGrid) -> None:
    """Draw brushed metal where there is no reel; the window of each reel is sunk into it."""
    rim_stops = build_metal_gradient(context.theme, context.look.rim_metal).stops

    def render_bezels(size: tuple[int, int]) -> pygame.Surface:
        x, y, w, h = grid.rect
        canvas = VectorCanvas(size, (w, h), 2)
        dark_colours = [mix_colours(colour, (22, 12, 26, 255), 0.86) for _, colour in rim_stops[:3]]
        canvas.fill_path(
            build_rounded_box(0, 0, w, h),
            LinearGradient(((0, dark_colours[1]), (0.5, dark_colours[0]), (1, dark_colours[2]))),
        )
        for reel in range(len(grid.heights)):
            rx, ry, rw, rh = grid.compute_reel_rect(reel)
            canvas.fill_path(
                build_rounded_box(rx - x - 5, ry - y - 5, rw + 10, rh + 10, 12),
                build_metal_gradient(context.theme, context.look.rim_metal),
            )
            canvas.fill_path(build_rounded_box(rx - x - 2, ry - y - 2, rw + 4, rh + 4, 8), (4, 2, 8, 255))
        return canvas.finish_surface()

    context.painter.draw_cached_picture(("bezels", grid, context.look.name), grid.rect, render_bezels)


def _draw_pay_line_tabs(context: DrawingContext, reel_data: ReelData, grid: ReelGrid) -> None:
    """Draw tabs with the numbers of the first pay lines at the left and right of the reels, where each line ends.

    Only the first :data:`PAY_LINE_TABS_MAX` lines have tabs.
    """
    painter = context.painter
    for side, reel in ((0, 0), (1, reel_data.reel_count - 1)):
        line_indices_by_row: dict[int, list[int]] = {}
        for line_index, line in enumerate(reel_data.pay_lines[:PAY_LINE_TABS_MAX]):
            line_indices_by_row.setdefault(line[reel], []).append(line_index)
        for row, line_indices in line_indices_by_row.items():
            _, top, _, height = grid.compute_cell_rect(reel, row)
            tab_pitch = min(34.0, height / len(line_indices))
            for i, line_index in enumerate(line_indices):
                colour = PAY_LINE_COLOURS[line_index % len(PAY_LINE_COLOURS)]
                y = top + height / 2 + (i - (len(line_indices) - 1) / 2) * tab_pitch
                x = grid.rect[0] + 4 if side == 0 else grid.rect[0] + grid.rect[2] - 38
                painter.draw_cached_picture(
                    ("tab", colour, side),
                    (x, y - tab_pitch / 2 + 1, 34, tab_pitch - 2),
                    partial(_render_pay_line_tab, colour=colour, side_index=side),
                )
                painter.draw_text(
                    str(line_index + 1),
                    (x + (15 if side == 0 else 19), y),
                    TextStyle(
                        "heavy",
                        "caption" if tab_pitch > 24 else "tiny",
                        mix_colours(colour, (0, 0, 0, 255), 0.85),
                    ),
                    width_max=24,
                )


def _render_pay_line_tab(size: tuple[int, int], colour: Colour, side_index: int) -> pygame.Surface:
    """Return the drawing of a pay line's tab at the left (``side_index`` 0) or right (1) of the reels."""
    canvas = VectorCanvas(size)
    shape = [(4.0, 4.0), (76.0, 4.0), (98.0, 50.0), (76.0, 96.0), (4.0, 96.0)]
    if side_index:
        shape = mirror_outline(shape)
    canvas.fill_path(shape, (0, 0, 0, 255))
    canvas.fill_path(
        scale_outline(shape, 0.9),
        LinearGradient(((0, mix_colours(colour, (255, 255, 255, 255), 0.6)), (1, colour))),
    )
    return canvas.finish_surface()


def _find_strip_symbol(strip: tuple[str, ...], position: int) -> str:
    """Return the symbol at a position of a reel strip. The strip's last symbol is followed by its first."""
    return strip[position % len(strip)]


def draw_spinning_reels(
    context: DrawingContext,
    reel_data: ReelData,
    spin: ReelSpin,
    previous_spin: ReelSpin | None,
    step_times: StepTimes,
    elapsed_seconds: float,
) -> None:
    """Draw the reels as they spin to their stops, ``elapsed_seconds`` after the game's presentation began."""
    grid, motion = _draw_frame(context, reel_data), context.theme.motion
    for reel in range(reel_data.reel_count):
        strip, start_position, target_position = _choose_strip(reel_data, spin, previous_spin, reel)
        travel = ReelTravel(
            start_position,
            target_position,
            len(strip),
            step_times.stop_seconds[reel] - step_times.start_seconds,
        )
        is_reel_held = step_times.stop_seconds[reel] <= step_times.start_seconds
        strip_position = (
            float(target_position)
            if is_reel_held
            else travel.find_position(elapsed_seconds - step_times.start_seconds, motion)
        )
        is_blurred = (
            not is_reel_held
            and travel.compute_speed(elapsed_seconds - step_times.start_seconds, motion)
            > _BLUR_CELLS_PER_SECOND_MIN
            and not context.view.is_motion_reduced
        )
        top = math.floor(strip_position)
        with context.painter.clip_to(grid.compute_reel_rect(reel)):
            for row in range(reel_data.reel_heights[reel] + 1):
                _draw_cell(
                    context,
                    grid,
                    reel_data,
                    reel,
                    row - (strip_position - top),
                    _find_strip_symbol(strip, top + row),
                    is_blurred=is_blurred,
                )
        _draw_reel_glass(context, grid, reel)
        if reel == find_anticipated_reel(spin, step_times, elapsed_seconds):
            draw_anticipation_light(context, grid.compute_reel_rect(reel))


def _choose_strip(
    reel_data: ReelData, spin: ReelSpin, previous_spin: ReelSpin | None, reel: int
) -> tuple[tuple[str, ...], int, int]:
    """Return the strip with which a reel spins, and the stops at which it starts and ends.

    If the real strip cannot show the window of the result, return a copy with this window inserted at its start.
    """
    strip, stop = reel_data.reel_strips[reel], spin.stops[reel]
    has_previous_stops = previous_spin is not None and len(previous_spin.stops) == reel_data.reel_count
    start_stop = (
        previous_spin.stops[reel]
        if previous_spin is not None and has_previous_stops
        else reel_data.initial_stops[reel]
    )
    start_stop = spin.stops_before_hold[reel] if spin.stops_before_hold else start_stop
    if stop < 0:
        shown_strip = spin.window[reel] + strip
        return (
            shown_strip,
            (start_stop + len(spin.window[reel])) % len(shown_strip)
            if start_stop >= 0
            else len(shown_strip) // 2,
            0,
        )
    return strip, max(0, start_stop) % len(strip), stop


def render_reel_paper(size: tuple[int, int], colours: tuple[Colour, Colour, Colour]) -> pygame.Surface:
    """Return the drawing of a reel's face.

    It does not change from top to bottom, so no seam is seen between cells.
    """
    left, middle, right = colours
    surface = pygame.Surface(size)
    surface.blit(
        create_painted_surface(
            size,
            LinearGradient(
                (
                    (0, left),
                    (0.12, mix_colours(left, middle, 0.7)),
                    (0.5, middle),
                    (0.88, mix_colours(right, middle, 0.7)),
                    (1, right),
                ),
                is_horizontal=True,
            ),
        ),
        (0, 0),
    )
    return surface


def render_symbol(
    context: DrawingContext, reel_data: ReelData, symbol: str, size: tuple[int, int]
) -> pygame.Surface:
    """Return the drawing of a symbol, ``size`` pixels large, from the cache."""
    name = context.texts.choose_translation(reel_data.symbol_names.get(symbol, {}), symbol)
    painter = context.painter
    return painter.find_or_create_surface(
        ("symbol", symbol, name, size), lambda: painter.render_symbol(symbol, name, size)
    )


def _draw_cell(
    context: DrawingContext,
    grid: ReelGrid,
    reel_data: ReelData,
    reel: int,
    row: float,
    symbol: str,
    *,
    is_blurred: bool = False,
) -> None:
    """Draw the symbol of one cell with its shadow. It is sharp or, while the reel moves fast, blurred."""
    painter, look = context.painter, context.look
    area = painter.scale_rect(grid.compute_cell_rect(reel, row))
    cell = painter.scale_rect(grid.compute_cell_rect(reel, 0))
    size = (cell.width, cell.height + 1)

    def render_cell() -> pygame.Surface:
        surface = render_reel_paper(size, look.reel_paper_colours)
        side = round(min(size) * 0.96)
        if not is_blank(symbol):
            art = render_symbol(context, reel_data, symbol, (side, side))
            top_left = ((size[0] - side) // 2, (size[1] - side) // 2)
            surface.blit(
                _render_shadow(art, is_dark=sum(look.reel_paper_colours[1][:3]) < 300),
                (top_left[0] + max(2, side // 40), top_left[1] + max(3, side // 28)),
                special_flags=PREMULTIPLIED_BLEND_MODE,
            )
            surface.blit(art, top_left, special_flags=PREMULTIPLIED_BLEND_MODE)
        if is_blurred:
            small_surface = pygame.transform.smoothscale(surface, (size[0], max(2, size[1] // 14)))
            surface = pygame.transform.smoothscale(small_surface, size)
        return surface

    painter.surface.blit(
        painter.find_or_create_surface(
            ("cell", symbol, size, look.name, is_blurred, context.texts.language), render_cell
        ),
        (area.left, area.top),
    )


def _render_shadow(art: pygame.Surface, *, is_dark: bool) -> pygame.Surface:
    """Return the soft shadow of a symbol's drawing, premultiplied."""
    opacity_byte = 150 if is_dark else 80
    shadow = art.copy()
    shadow.fill((0, 0, 0, opacity_byte), special_flags=pygame.BLEND_RGBA_MULT)
    return pygame.transform.box_blur(shadow, max(1, art.get_width() // 50))


def _draw_reel_glass(context: DrawingContext, grid: ReelGrid, reel: int) -> None:
    """Draw the shading that makes a reel look round and behind glass.

    It is dark at the top and bottom and, less so, at the left and right edge.
    """

    def render_glass(size: tuple[int, int]) -> pygame.Surface:
        dark: Colour = (10, 4, 20, 255)
        surface = create_painted_surface(
            size,
            LinearGradient(
                (
                    (0, fade_colour(dark, 0.72)),
                    (0.1, fade_colour(dark, 0.42)),
                    (0.24, fade_colour(dark, 0.12)),
                    (0.36, fade_colour(dark, 0)),
                    (0.64, fade_colour(dark, 0)),
                    (0.78, fade_colour(dark, 0.12)),
                    (0.9, fade_colour(dark, 0.42)),
                    (1, fade_colour(dark, 0.78)),
                )
            ),
        )
        edge = create_painted_surface(
            (size[0], size[1]),
            LinearGradient(
                (
                    (0, fade_colour(dark, 0.35)),
                    (0.04, fade_colour(dark, 0)),
                    (0.96, fade_colour(dark, 0)),
                    (1, fade_colour(dark, 0.35)),
                ),
                is_horizontal=True,
            ),
        )
        surface.blit(edge, (0, 0), special_flags=PREMULTIPLIED_BLEND_MODE)
        return surface

    context.painter.draw_cached_picture(("glaze",), grid.compute_reel_rect(reel), render_glass)

"""Drawing of wins on the reels: every winning line and symbol is lit, with its number and its pay."""

import pygame
from pygame.transform import smoothscale

from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.art.symbols import is_blank
from egm.screen.art.vector_canvas import Paint, RadialGradient, VectorCanvas
from egm.screen.motion import compute_pulse
from egm.screen.painter import Rect, TextStyle
from egm.screen.presentation import StepTimes
from egm.screen.reel_data import ReelData, ReelSpin, ReelWindow, WinOnReels
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.reels import PAY_LINE_COLOURS, ReelGrid, render_symbol
from egm.screen.theme import Colour, MotionSettings, fade_colour, mix_colours
from egm.screen.view import build_view_timeline, find_last_step

#: If more wins are highlighted at once, their amounts are left out, because they would hide the symbols; the amount of
#: each win is shown while that win is highlighted alone.
_WIN_AMOUNTS_SHOWN_MAX = 3


def draw_wins(
    context: DrawingContext,
    reel_data: ReelData,
    window: ReelWindow,
    wins: tuple[WinOnReels, ...],
    elapsed_seconds: float,
) -> None:
    """Draw the wins as they are highlighted now: all together, or one alone. Other symbols are darkened."""
    paid_wins = [win for win in wins if win.credits > 0 and win.positions]
    if not paid_wins:
        return
    highlighted_win = choose_highlighted_win(wins, elapsed_seconds, context.theme.motion.winning_line_seconds)
    shown_wins = paid_wins if highlighted_win is None else [highlighted_win]
    grid = ReelGrid(context.layout.game_field, reel_data.reel_heights)
    winning_cells = {cell for win in shown_wins for cell in win.positions}
    for reel in range(reel_data.reel_count):
        for row in range(reel_data.reel_heights[reel]):
            if (reel, row) not in winning_cells:
                context.painter.fill_rounded_rect(grid.compute_cell_rect(reel, row), (6, 3, 14, 120))
    for win in shown_wins:
        _draw_win_line(context, reel_data, grid, win, wins.index(win))
    pulse_strength = 0.0 if context.view.is_motion_reduced else compute_pulse(elapsed_seconds, 1.1)
    for reel, row in sorted(winning_cells):
        cell_win = next(win for win in shown_wins if (reel, row) in win.positions)
        colour = _choose_line_colour(cell_win, wins.index(cell_win))
        _draw_winning_symbol(context, reel_data, grid, window[reel][row], (reel, row), pulse_strength, colour)
    for win in shown_wins:
        _draw_line_badge(
            context, grid, win, wins.index(win), should_draw_amount=len(shown_wins) <= _WIN_AMOUNTS_SHOWN_MAX
        )


def choose_highlighted_win(
    wins: tuple[WinOnReels, ...], elapsed_seconds: float, seconds_per_win: float
) -> WinOnReels | None:
    """Return the win that is highlighted alone now.

    A single win is always returned. Several wins are first highlighted together, for which None is returned, and then
    each alone; this repeats. Each of these pictures is shown for ``seconds_per_win`` seconds. Without a paid win,
    return None.
    """
    paid_wins = [win for win in wins if win.credits > 0 and win.positions]
    if len(paid_wins) <= 1:
        return paid_wins[0] if paid_wins else None
    picture_index = int(elapsed_seconds / seconds_per_win) % (len(paid_wins) + 1)
    return None if picture_index == 0 else paid_wins[picture_index - 1]


def find_current_window(
    spin: ReelSpin, elapsed_seconds: float, seconds_per_win: float
) -> tuple[ReelWindow, tuple[WinOnReels, ...]]:
    """Return the window of a cascade that is shown now, with its wins.

    The winning windows are shown one after another, each long enough to show all of its wins. ``seconds_per_win`` is
    how many seconds a win is shown.
    """
    windows_and_wins = spin.windows_to_show
    seconds_of_windows = [seconds_per_win * (len(wins) + 1) for _, wins in windows_and_wins]
    seconds_into_turn = elapsed_seconds % sum(seconds_of_windows)
    for window_and_wins, window_seconds in zip(windows_and_wins, seconds_of_windows, strict=True):
        if seconds_into_turn < window_seconds:
            return window_and_wins
        seconds_into_turn -= window_seconds
    return windows_and_wins[-1]


def find_highlighted_win(context: DrawingContext) -> WinOnReels | None:
    """Return the win that is highlighted alone now, or None.

    While a game is presented, it is None until the reels have stopped and all windows of a cascade have fallen. If the
    last game is shown without a presentation, as after a restart, there is no such wait.
    """
    view, motion = context.view, context.theme.motion
    timeline = build_view_timeline(view, context.theme)
    presentation = view.selected_game_presentation
    last_step = find_last_step(view)
    elapsed_seconds = view.now
    if not isinstance(last_step, ReelSpin) or view.snapshot is None:
        return None
    if presentation is not None and timeline is not None:
        elapsed_seconds -= (
            presentation.began_at
            + find_reels_stop_seconds(timeline.steps[-1], motion)
            + len(last_step.cascade_windows) * motion.cascade_window_seconds
        )
    elif not view.snapshot.paid_cents:
        return None
    if elapsed_seconds < 0:
        return None
    _, window_wins = find_current_window(last_step, elapsed_seconds, motion.winning_line_seconds)
    return choose_highlighted_win(window_wins, elapsed_seconds, motion.winning_line_seconds)


def find_reels_stop_seconds(step_times: StepTimes, motion: MotionSettings) -> float:
    """Return when the reels of a step have stopped, in seconds from the start of the presentation."""
    return max(step_times.stop_seconds) + motion.reel_settle_seconds * 0.6


def _choose_line_colour(win: WinOnReels, win_index: int) -> Colour:
    """Return the colour in which a win is drawn: its pay line's, or one that depends on ``win_index``."""
    return PAY_LINE_COLOURS[((win.line_number or win_index + 1) - 1) % len(PAY_LINE_COLOURS)]


def _draw_winning_symbol(
    context: DrawingContext,
    reel_data: ReelData,
    grid: ReelGrid,
    symbol: str,
    cell_position: tuple[int, int],
    pulse_strength: float,
    colour: Colour,
) -> None:
    """Draw the symbol of a winning cell, pulsing in size, in a lit frame.

    ``pulse_strength`` is the present strength of the pulse, from 0 to 1.
    """
    painter = context.painter
    rect = grid.compute_cell_rect(*cell_position)
    x, y, w, h = rect
    size_step = round(pulse_strength * 6)  # few steps, so that few scaled pictures are cached

    def render_frame(size: tuple[int, int]) -> pygame.Surface:
        canvas = VectorCanvas(size, (w, h), 2)
        canvas.fill_path(
            build_rounded_box(0, 0, w, h, 12),
            RadialGradient(
                ((0, (255, 255, 255, 90)), (0.6, fade_colour(colour, 0.3)), (1, fade_colour(colour, 0.6))),
                (0.5, 0.5),
                0.6,
            ),
        )
        canvas.stroke_path(build_rounded_box(4, 4, w - 8, h - 8, 12), 7, (0, 0, 0, 190))
        canvas.stroke_path(
            build_rounded_box(4, 4, w - 8, h - 8, 12), 4, mix_colours(colour, (255, 255, 255, 255), 0.3)
        )
        return canvas.finish_surface()

    painter.draw_cached_picture(("win frame", colour), rect, render_frame)
    width = min(w, h) * (0.96 + 0.1 * size_step / 6)
    if not is_blank(symbol):
        size = (painter.scale_length(width), painter.scale_length(width))
        cell = painter.scale_rect(grid.compute_cell_rect(cell_position[0], 0))
        still_pixels = round(min(cell.width, cell.height + 1) * 0.96)
        # Rendered at the size of the symbol at rest, which is already cached.
        symbol_art = render_symbol(context, reel_data, symbol, (still_pixels, still_pixels))
        scaled_art = painter.find_or_create_surface(
            ("breath", symbol, symbol_art.get_size(), size), lambda: smoothscale(symbol_art, size)
        )
        painter.draw_surface(
            scaled_art,
            (painter.scale_length(x + w / 2) - size[0] // 2, painter.scale_length(y + h / 2) - size[1] // 2),
        )


def _build_line_path(grid: ReelGrid, reel_data: ReelData, win: WinOnReels) -> list[tuple[float, float]]:
    """Return the points of the line that shows a win: through its cells, from edge to edge of the reels.

    For a win that is not on a pay line, the path joins the winning cells.
    """
    if win.line_number is not None and 0 < win.line_number <= len(reel_data.pay_lines):
        rows = reel_data.pay_lines[win.line_number - 1]
        cells = [grid.compute_cell_rect(reel, row) for reel, row in enumerate(rows)]
    else:
        cells = [grid.compute_cell_rect(reel, row) for reel, row in sorted(win.positions)]
    points = [(x + w / 2, y + h / 2) for x, y, w, h in cells]
    if win.line_number is not None and points:
        points = [
            (grid.rect[0] + 4, points[0][1]),
            *points,
            (grid.rect[0] + grid.rect[2] - 4, points[-1][1]),
        ]
    return points


def _draw_win_line(
    context: DrawingContext, reel_data: ReelData, grid: ReelGrid, win: WinOnReels, win_index: int
) -> None:
    """Draw the pay line of a win in its colour. Draw nothing for a win that is not on a pay line."""
    points = _build_line_path(grid, reel_data, win)
    if win.line_number is None or len(points) < 2:
        return
    top = min(y for _, y in points) - 12
    bottom = max(y for _, y in points) + 12
    rect: Rect = (grid.rect[0], top, grid.rect[2], bottom - top)
    colour = _choose_line_colour(win, win_index)

    def render_line(size: tuple[int, int]) -> pygame.Surface:
        canvas = VectorCanvas(size, (rect[2], rect[3]), 2)
        points_in_rect = [(x - rect[0], y - rect[1]) for x, y in points]
        canvas.stroke_path(points_in_rect, 15, (0, 0, 0, 150), is_closed=False)
        canvas.stroke_path(points_in_rect, 9, colour, is_closed=False)
        canvas.stroke_path(points_in_rect, 3, mix_colours(colour, (255, 255, 255, 255), 0.7), is_closed=False)
        return canvas.finish_surface()

    context.painter.draw_cached_picture(("line", tuple(points), colour), rect, render_line)


def _draw_line_badge(
    context: DrawingContext, grid: ReelGrid, win: WinOnReels, win_index: int, *, should_draw_amount: bool
) -> None:
    """Draw the number of a win's pay line at the left, and the pay on the last winning cell."""
    painter, colour = context.painter, _choose_line_colour(win, win_index)
    dark: Paint = mix_colours(colour, (0, 0, 0, 255), 0.82)
    if win.line_number is not None:
        y = grid.compute_cell_rect(*win.positions[0])[1] + grid.compute_cell_rect(*win.positions[0])[3] / 2

        def render_badge(size: tuple[int, int]) -> pygame.Surface:
            canvas = VectorCanvas(size)
            canvas.fill_path(build_ellipse(50, 50, 49), (0, 0, 0, 210))
            canvas.fill_path(build_ellipse(50, 50, 44), colour)
            canvas.fill_path(build_ellipse(50, 46, 38), mix_colours(colour, (255, 255, 255, 255), 0.35))
            return canvas.finish_surface()

        painter.draw_cached_picture(("badge", colour), (grid.rect[0] - 6, y - 26, 52, 52), render_badge)
        painter.draw_text(
            str(win.line_number), (grid.rect[0] + 20, y), TextStyle("heavy", "body", dark), width_max=40
        )
    if not should_draw_amount:
        return
    x, y, w, h = grid.compute_cell_rect(*win.positions[-1])
    text = context.texts.format_number(win.credits)
    width = max(70.0, painter.measure_text(text, TextStyle("numbers", "title")) + 28)
    painter.draw_panel(
        (x + w / 2 - width / 2, y + h - 66, width, 56),
        radius=16,
        fill=(10, 5, 20, 235),
        edge_paint=colour,
        edge_width=3,
    )
    painter.draw_text(
        text,
        (x + w / 2, y + h - 36),
        TextStyle("numbers", "lead", mix_colours(colour, (255, 255, 255, 255), 0.5)),
        width_max=width - 14,
    )

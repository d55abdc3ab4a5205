"""The top screen above a machine, visible from the gaming floor. It takes no touches and sends no requests.

It is drawn from the same view as the player's screen, but shows other things: the game's title, its progressive levels
(as drums with digits) or its prizes, great wins and, if play has stopped, the reason.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import pygame

from egm.screen.layout import Layout
from egm.screen.painter import Rect, TextStyle
from egm.screen.picture import Picture, TouchTarget
from egm.screen.scenes.attract import draw_celebration
from egm.screen.scenes.background import draw_title_sign, render_hall
from egm.screen.scenes.chip_keys import format_group_name
from egm.screen.scenes.drawing_context import BLACK, DrawingContext, draw_frame_lamps, render_rim_panel
from egm.screen.scenes.keno import list_keno_prizes
from egm.screen.scenes.lockup import draw_lockup
from egm.screen.scenes.pay_table import format_pay, list_pay_table_rows
from egm.screen.scenes.progressive import draw_level
from egm.screen.scenes.side_panels import find_base_reel_data, format_prize_name, list_current_prizes
from egm.screen.theme import mix_colours
from egm.screen.view import Action, Scene, View

#: The maximum number of levels shown at once; if there are more, groups of levels alternate.
_LEVELS_MAX: Final = 4
#: Seconds for which each group of levels is shown.
_LEVEL_GROUP_SECONDS: Final = 8.0
#: The maximum number of prizes shown.
_PRIZES_SHOWN_MAX: Final = 5
#: The scenes for which the top screen shows only the reason why play has stopped. A service page is shown to the
#: attendant only; for it, the top screen says that the machine is out of service.
_EXPLAINED_SCENES: Final = frozenset(
    {
        Scene.STARTING,
        Scene.CONNECTION_LOST,
        Scene.OUT_OF_SERVICE,
        Scene.DOOR,
        Scene.TILT,
        Scene.HANDPAY,
        Scene.PAYING,
        Scene.LOCKED_BY_HOST,
        Scene.SERVICE,
    }
)


class TopPicture(Picture):
    """The renderer of views for the top screen."""

    def draw_view(self, surface: pygame.Surface, view: View) -> None:
        """Draw the view on ``surface``. The view is not changed."""
        self.painter.surface = surface
        context = self._build_context(view)
        surface.blit(render_backdrop(context, context.title), (0, 0))
        if view.snapshot is not None and view.scene is not Scene.STARTING:
            if view.scene not in _EXPLAINED_SCENES:  # Draw nothing behind the explanation of a stop.
                _draw_board(context)
            _draw_clock_and_identity(context)
        if view.scene in _EXPLAINED_SCENES:
            _draw_stop_reason(context, view.scene)
        else:
            draw_celebration(self._use_board_as_field(context))

    def list_touch_targets(self, view: View) -> list[TouchTarget]:  # noqa: ARG002 (signature of Picture)
        """Return an empty list: the top screen has no touch targets."""
        return []

    def list_selectable_actions(self, view: View) -> tuple[Action, ...]:  # noqa: ARG002 (see above)
        """Return an empty tuple: the top screen offers no choices."""
        return ()

    def _use_board_as_field(self, context: DrawingContext) -> DrawingContext:
        """Return the drawing context with the top screen's board as its game field.

        Celebrations are drawn over the game field, and so fill the board.
        """
        return replace(context, layout=replace(context.layout, game_field=compute_board_rect(context.layout)))


def compute_board_rect(layout: Layout) -> Rect:
    """Return the rectangle of the top screen's board: the lit frame below the game's title."""
    w, h = float(layout.size[0]), float(layout.size[1])
    top = h * 0.215 if not layout.is_portrait else h * 0.17
    margin = 150.0 if not layout.is_portrait else 70.0
    return (margin, top, w - 2 * margin, h - top - 110)


def compute_title_rect(layout: Layout) -> Rect:
    """Return the rectangle of the game's title on the top screen."""
    w, h = float(layout.size[0]), float(layout.size[1])
    height = h * 0.17 if not layout.is_portrait else h * 0.12
    return (w * 0.06, 26.0, w * 0.88, height)


def render_backdrop(context: DrawingContext, title: str) -> pygame.Surface:
    """Return the top screen's background: the hall, the lit title and the empty board.

    It is drawn once for each size, look and title.
    """
    painter, layout, look = context.painter, context.layout, context.look

    def render_uncached() -> pygame.Surface:
        rect = compute_board_rect(layout)
        surface = render_hall(
            (painter.scale_length(layout.size[0]), painter.scale_length(layout.size[1])),
            look,
            painter.scale_rect(rect).center,
        )
        draw_title_sign(
            replace(context, layout=replace(layout, title_sign=compute_title_rect(layout))), surface, title
        )
        area = painter.scale_rect((rect[0] - 30, rect[1] - 30, rect[2] + 60, rect[3] + 60))
        fill = (*mix_colours(look.background_colours[2], BLACK, 0.35)[:3], 255)
        frame = render_rim_panel(
            area.size, painter.scale, painter.theme, look, radius=40, rim_width=24, fill_paint=fill
        )
        surface.blit(frame, area.topleft, special_flags=pygame.BLEND_PREMULTIPLIED)
        return surface.convert() if pygame.display.get_surface() else surface

    return painter.find_or_create_surface(
        ("top", layout.size, painter.scale, look.name, title), render_uncached
    )


def _draw_board(context: DrawingContext) -> None:
    """Draw the progressive levels that the current bet plays for; without levels, draw the game's prizes."""
    rect = compute_board_rect(context.layout)
    draw_frame_lamps(context, rect, "chase" if context.view.scene is Scene.ATTRACT else "idle")
    snapshot = context.view.snapshot
    levels = snapshot.progressives if snapshot is not None else ()
    if levels:
        group_count = -(-len(levels) // _LEVELS_MAX)
        group_index = int(context.view.now / _LEVEL_GROUP_SECONDS) % group_count
        shown_levels = levels[group_index * _LEVELS_MAX : (group_index + 1) * _LEVELS_MAX]
        x, y, w, h = rect
        row_pitch = (h - 20) / len(shown_levels)
        height = min(row_pitch - 12, 320.0)
        for i, level in enumerate(shown_levels):
            top = y + 10 + i * row_pitch + (row_pitch - height) / 2
            draw_level(context, level, (x + 20, top, w - 40, height), "title" if height > 190 else "lead")
        return
    _draw_prizes(context, rect)


@dataclass(frozen=True, slots=True)
class _TopPrizeRow:
    """One row of the top screen's prize list: a prize's symbols or text, and its pay."""

    icon_symbols: tuple[str, ...]
    name_text: str
    pay_text: str


def _list_prizes(context: DrawingContext) -> tuple[str, list[_TopPrizeRow]]:
    """Return the heading of the prize list and its rows.

    - Reel game: the highest prizes of the current bet.
    - Wheel with betting areas: the highest prizes.
    - Table: the odds of the first groups of spots, then the first rows of the pay table.
    - Keno: the first rows of the card's pay table.
    """
    texts, view = context.texts, context.view
    reel_data, game = find_base_reel_data(context), view.game
    if reel_data is not None:
        prizes = list_current_prizes(context, reel_data)[:_PRIZES_SHOWN_MAX]
        rows = [
            _TopPrizeRow(
                reel_data.list_prize_icons(prize),
                format_prize_name(texts, reel_data, prize.symbol_count, prize.symbol, prize.name),
                context.format_money(credits_ * view.denomination_cents),
            )
            for prize, credits_ in prizes
        ]
        return texts.translate("panel.top_prizes"), rows
    if game is not None and "areas" in game.presentation:
        areas = [(area, *next(iter(area["pays"].items()))) for area in game.presentation["areas"]]
        highest_paying_areas = sorted(areas, key=lambda area_and_pay: -int(area_and_pay[2]))[
            :_PRIZES_SHOWN_MAX
        ]
        rows = [
            _TopPrizeRow(
                (str(symbol),),
                texts.choose_translation(area["name"]),
                texts.translate("feature.multiplier", times=multiplier),
            )
            for area, symbol, multiplier in highest_paying_areas
        ]
        return texts.translate("wheel.prizes"), rows
    if view.table is not None:
        names_and_pays = [
            (format_group_name(context, spots), spots[0].odds) for spots in view.table.groups.values()
        ]
        names_and_pays += [
            (texts.choose_translation(pay_row.names), format_pay(context, pay_row))
            for pay_row in list_pay_table_rows(context)
        ]
        return texts.translate("help.prizes"), [
            _TopPrizeRow((), name, pay_text) for name, pay_text in names_and_pays[:_PRIZES_SHOWN_MAX]
        ]
    spot_count, catches_and_pays = list_keno_prizes(context)
    rows = [
        _TopPrizeRow((), texts.translate("keno.catch", count=catch), pay_text)
        for catch, pay_text in catches_and_pays[:_PRIZES_SHOWN_MAX]
    ]
    return texts.format_count("keno.spots", spot_count), rows


def _draw_prizes(context: DrawingContext, rect: Rect) -> None:
    """Draw the game's prizes on the top screen, each with its symbols or text and its pay."""
    x, y, w, h = rect
    painter = context.painter
    heading, rows = _list_prizes(context)
    painter.draw_text(
        heading,
        (x + w / 2, y + 56),
        TextStyle("heavy", "title", context.look.accent_colour),
        width_max=w - 80,
    )
    row_pitch = (h - 130) / max(1, len(rows))
    for i, row in enumerate(rows):
        middle = y + 110 + (i + 0.5) * row_pitch
        painter.fill_rounded_rect(
            (x + 30, middle - row_pitch / 2 + 5, w - 60, row_pitch - 10), (255, 255, 255, 14), 18
        )
        side = min(row_pitch - 14, 150.0, (w * 0.6 - 90) / max(1, len(row.icon_symbols)))
        for n, symbol in enumerate(row.icon_symbols):
            icon_rect: Rect = (x + 60 + n * side, middle - side / 2, side, side)
            painter.draw_cached_picture(
                ("symbol", symbol), icon_rect, partial(painter.render_symbol, symbol, "")
            )
        left = x + 60 + (side + 30) * len(row.icon_symbols[:1])
        if len(row.icon_symbols) <= 1:
            style = TextStyle("strong", "title" if row_pitch > 70 else "lead", "text")
            label_rect: Rect = (left, middle - row_pitch / 2 + 8, w * 0.56 - left + x, row_pitch - 16)
            painter.draw_label(row.name_text, label_rect, style, align="left", wrapped_size_name="small")
        pay_style = TextStyle("numbers", "marquee" if row_pitch > 96 else "title", "meter")
        painter.draw_text(row.pay_text, (x + w - 60, middle), pay_style, align="right", width_max=w * 0.34)


def _draw_clock_and_identity(context: DrawingContext) -> None:
    """Draw the clock, the machine's serial number and the name of the venue."""
    snapshot, (width, height) = context.view.snapshot, context.layout.size
    if snapshot is None:
        return
    text = context.texts.translate("status.machine", serial=snapshot.serial, site=snapshot.site)
    middle_y = height - 38
    edge_colour = (0, 0, 0, 160)
    style = TextStyle("text", "small", "text_dim", 1.5, edge_colour)
    context.painter.draw_text(text, (40, middle_y), style, align="left", width_max=width * 0.6)
    clock = context.texts.format_time_of_day(context.view.time_utc)
    style = TextStyle("strong", "lead", "text", 2, edge_colour)
    context.painter.draw_text(clock, (width - 40, middle_y), style, align="right", width_max=width * 0.3)


def _draw_stop_reason(context: DrawingContext, scene: Scene) -> None:
    """Draw why play has stopped.

    While staff use the service menu, the picture says that the machine is out of service.
    """
    shown_scene = Scene.OUT_OF_SERVICE if scene is Scene.SERVICE else scene
    screen_rect = (0.0, 0.0, *map(float, context.layout.size))
    empty_meter_bar: Rect = (0.0, screen_rect[3], screen_rect[2], 0.0)  # its room is left to the explanation
    draw_lockup(replace(context, layout=replace(context.layout, meter_bar=empty_meter_bar)), shown_scene)

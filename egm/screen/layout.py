"""Layouts of the picture, in layout units: one each for landscape, portrait and a telephone.

A layout unit is a length that is independent of the number of pixels.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from egm.screen.painter import Rect

#: Keys of the deck, from left to right as on a button deck.
DECK_KEYS: Final = (
    "service",
    "help",
    "games",
    "language",
    "volume",
    "cash_out",
    "bet_less",
    "bet_more",
    "bet_max",
    "play",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The rectangles of the picture's parts, in layout units."""

    size: tuple[int, int]
    """The width and height of the picture, in layout units."""
    title_sign: Rect
    """The rectangle of the sign with the game's title."""
    game_field: Rect
    """The rectangle in which the game is shown."""
    left_panel: Rect
    """The rectangle of the panel at the left of the game field, with prizes or the keys of a table, for example."""
    right_panel: Rect
    """The rectangle of the panel at the right of the game field, with prizes or past results, for example."""
    status_line: Rect
    """The rectangle of the status line, which says below the game field what happens or what the player can do."""
    meter_bar: Rect
    """The rectangle of the bar with the meters."""
    meter_rect_by_name: Mapping[str, Rect]
    """The rectangle of each meter, by its name."""
    button_deck: Rect
    """The rectangle of the bar with the keys (the button deck)."""
    key_rect_by_name: Mapping[str, Rect]
    """The rectangle of each key, by its name."""
    player_page: Rect
    """The rectangle of a player's page, such as help or the game menu."""
    drawer: Rect
    """The rectangle of the drawer of simulated devices when it is open."""
    drawer_tab: Rect
    """The rectangle of the tab that opens the drawer of simulated devices."""
    staff_key: Rect
    """The rectangle of the key that opens the service menu; it is shown while the machine would accept its touch."""
    drawer_width: float = 0.0
    """The width of the open drawer of simulated devices and its tab, at the right edge; 0 while it is closed."""
    tray_height: float = 0.0
    """The height of the tray with keys below a Keno board. 0 without a tray, or if it is next to the board."""
    touch_size_min: float = 60.0
    """The minimum width and height of a touch target: 15 mm on a cabinet's display, 44 pixels on a telephone."""

    @property
    def is_portrait(self) -> bool:
        """Return whether the picture is higher than wide."""
        return self.size[1] > self.size[0]

    @property
    def level_displays(self) -> Rect | None:
        """Return the rectangle next to the game's title in which the displays of progressive levels are drawn.

        None in portrait, where a side panel shows them.
        """
        x, y, w, _ = self.game_field
        return None if self.is_portrait else (x + w * 0.36, 6.0, w * 0.66, y - 40)

    @property
    def is_telephone(self) -> bool:
        """Return whether this is a telephone's layout, with texts stacked and fewer columns."""
        return self.size[0] < PORTRAIT_LAYOUT.size[0]

    def with_open_drawer(self) -> "Layout":
        """Return the layout while the drawer of simulated devices is open.

        Service pages are narrower, and in landscape the player's pages too, so that they do not overlap the drawer. On
        a telephone, the layout is unchanged.
        """
        if self.is_telephone:  # The drawer covers most of the page, so the player closes it first.
            return self
        _, y, _, h = self.player_page
        drawer_width = self.drawer[2] + self.size[0] - self.drawer_tab[0]
        layout = replace(self, drawer_width=drawer_width)
        return (
            layout
            if self.is_portrait
            else replace(layout, player_page=(24.0, y, self.size[0] - drawer_width - 40, h))
        )

    def with_level_displays(self) -> "Layout":
        """Return the layout of a game with progressive levels: a narrower title leaves room for their displays."""
        x, y, w, h = self.title_sign
        return self if self.is_portrait else replace(self, title_sign=(x - 26, y + 6, w * 0.37, h - 12))

    def with_keno_tray(self, row_count: int) -> "Layout":
        """Return the layout of a Keno game, whose tray needs ``row_count`` rows of keys.

        In portrait, the tray is below the board. The side panels then have less height, and the game field is higher.
        In landscape, the layout is unchanged.
        """
        if not self.is_portrait:
            return self
        panel_height = 180.0 if self.is_telephone else 236.0
        gained_height = max(0.0, self.left_panel[3] - panel_height)
        (lx, ly, lw, lh), (rx, ry, rw, rh), (x, y, w, h) = self.left_panel, self.right_panel, self.game_field
        return replace(
            self,
            left_panel=(lx, ly, lw, lh - gained_height),
            right_panel=(rx, ry, rw, rh - gained_height),
            game_field=(x, y - gained_height, w, h + gained_height),
            tray_height=202.0 if self.is_telephone else 44.0 + max(2, row_count) * 70,
        )

    def with_betting_areas(self) -> "Layout":
        """Return the layout of a wheel game. On a telephone its betting areas span the whole width."""
        if not self.is_telephone:
            return self
        (lx, ly, _, _), (rx, _, rw, _) = self.left_panel, self.right_panel
        x, y, w, h = self.game_field
        return replace(
            self,
            left_panel=(lx, ly, rx + rw - lx, _BETTING_AREAS_HEIGHT),
            right_panel=(rx, ly, 0.0, 0.0),
            game_field=(x, ly + _BETTING_AREAS_HEIGHT + 68, w, y + h - ly - _BETTING_AREAS_HEIGHT - 68),
        )

    @property
    def telephone_strip_width(self) -> float:
        """Return the width available for texts in a telephone's strip above a table or wheel, in layout units."""
        return self.size[0] - 56.0

    def for_table_game(self, *, has_levels: bool = False, fact_line_count: int = 1) -> "Layout":
        """Return the layout of a table game. On a telephone, a strip above the table replaces the side panels.

        The strip has room for ``fact_line_count`` lines of text (the value of a credit and the limits of bets) and, if
        ``has_levels``, for the displays of progressive levels.
        """
        if not self.is_telephone:
            return self
        height = 98.0 + LEVELS_STRIP_HEIGHT * has_levels + SMALL_PRINT_LINE_HEIGHT * (fact_line_count - 1)
        top = 108.0 + height
        return replace(
            self,
            title_sign=(16.0, 4.0, self.size[0] - 32.0, 42.0),
            left_panel=(16.0, 50.0, self.size[0] - 32.0, height),
            right_panel=(16.0, 50.0, 0.0, height),
            game_field=(46.0, top, self.size[0] - 92.0, self.meter_bar[1] - 154 - top),
        )

    @property
    def service_page(self) -> Rect:
        """Return the rectangle of a service page: the area above the meters, without the open drawer."""
        margin = 10.0 if self.is_telephone else 24.0 if self.is_portrait else 40.0
        return (margin, 8.0, self.size[0] - self.drawer_width - 2 * margin, self.meter_bar[1] - 10.0)

    @property
    def area_above_meters(self) -> Rect:
        """Return the rectangle of everything above the meters. A lock-up is drawn over it and dims it."""
        return (0, 0, self.size[0], self.meter_bar[1])


def _lay_out_row(
    x: float, y: float, height: float, gap: float, width_by_name: Mapping[str, float]
) -> dict[str, Rect]:
    """Return the rectangle of each part of a row, by name.

    ``width_by_name`` has the width of each part by name, from left to right; they are ``gap`` apart.
    """
    rect_by_name: dict[str, Rect] = {}
    for name, width in width_by_name.items():
        rect_by_name[name] = (x, y, width, height)
        x += width + gap
    return rect_by_name


LANDSCAPE_LAYOUT: Final = Layout(
    size=(1920, 1080),
    title_sign=(360, 8, 1200, 128),
    game_field=(400, 168, 1120, 540),
    left_panel=(28, 150, 316, 588),
    right_panel=(1576, 150, 316, 588),
    status_line=(372, 752, 1176, 56),
    meter_bar=(0, 816, 1920, 118),
    meter_rect_by_name=_lay_out_row(28, 828, 100, 20, {"credit": 660, "bet": 480, "win": 684}),
    button_deck=(0, 934, 1920, 146),
    key_rect_by_name=_lay_out_row(
        28,
        952,
        104,
        16,
        {
            "service": 124,
            "help": 124,
            "games": 124,
            "language": 124,
            "volume": 124,
            "cash_out": 216,
            "bet_less": 140,
            "bet_more": 140,
            "bet_max": 186,
            "play": 418,
        },
    ),
    player_page=(160, 60, 1600, 730),
    drawer=(1536, 0, 384, 816),
    drawer_tab=(1880, 330, 40, 160),
    staff_key=(1832, 748, 60, 60),
)

PORTRAIT_LAYOUT: Final = Layout(
    size=(1080, 1920),
    title_sign=(40, 12, 1000, 150),
    game_field=(70, 560, 940, 640),
    left_panel=(40, 180, 490, 320),
    right_panel=(550, 180, 490, 320),
    status_line=(40, 1240, 926, 58),
    meter_bar=(0, 1340, 1080, 250),
    meter_rect_by_name={
        "credit": (24, 1352, 508, 108),
        "bet": (548, 1352, 508, 108),
        "win": (24, 1472, 1032, 108),
    },
    button_deck=(0, 1600, 1080, 320),
    key_rect_by_name={
        **_lay_out_row(
            24, 1612, 120, 16, {"service": 193, "help": 193, "games": 194, "language": 194, "volume": 194}
        ),
        **_lay_out_row(
            24,
            1752,
            144,
            16,
            {"cash_out": 200, "bet_less": 130, "bet_more": 130, "bet_max": 170, "play": 338},
        ),
    },
    player_page=(40, 180, 1000, 1130),
    drawer=(696, 0, 384, 1340),
    drawer_tab=(1040, 500, 40, 160),
    staff_key=(980, 1239, 60, 60),
)


#: The minimum size of a touch target on a telephone, each way, in units: 44 of its pixels.
TOUCH_TARGET_SIZE_MIN: Final = 82.0
#: Height of a further line of small print, in units.
SMALL_PRINT_LINE_HEIGHT: Final = 23.0
#: Height of the two lines of small print across a telephone's only panel, in units.
SMALL_PRINT_HEIGHT: Final = 52.0
#: Height of two rows of a wheel's betting areas, each a touch target high, with heading and small print.
_BETTING_AREAS_HEIGHT: Final = 278.0
#: Height of a table's progressive meters in a telephone's strip above the felt.
LEVELS_STRIP_HEIGHT: Final = 58.0
#: Width of a telephone in units. A caption is then about 11 of its pixels high, a touch target 44 wide.
_TELEPHONE_WIDTH: Final = 720
#: The minimum height of a telephone in units: a page below a browser's own bars.
_TELEPHONE_HEIGHT_MIN: Final = 1400
#: The maximum height of a telephone in units: the whole screen.
_TELEPHONE_HEIGHT_MAX: Final = 1560
#: Step between the heights of a telephone, in units.
_TELEPHONE_HEIGHT_STEP: Final = 20


def build_telephone_layout(width: float, height: float) -> Layout:
    """Return the layout for a telephone whose browser page is ``width`` wide and ``height`` high, in any unit.

    The game field gets the height that the title, the side panels, the meters and the keys leave free.
    """
    proportional_height = int(_TELEPHONE_WIDTH * height / width)
    picture_height = min(
        max(proportional_height // _TELEPHONE_HEIGHT_STEP * _TELEPHONE_HEIGHT_STEP, _TELEPHONE_HEIGHT_MIN),
        _TELEPHONE_HEIGHT_MAX,
    )
    bar_top = picture_height - 442.0
    panel_height = 200.0 + (picture_height - _TELEPHONE_HEIGHT_MIN) * 0.2
    field_top = 112 + panel_height + 68
    return Layout(
        size=(_TELEPHONE_WIDTH, picture_height),
        title_sign=(16, 6, 688, 98),
        game_field=(46, field_top, 628, bar_top - 156 - field_top),
        left_panel=(16, 112, 340, panel_height),
        right_panel=(364, 112, 340, panel_height),
        status_line=(16, bar_top - 116, 592, TOUCH_TARGET_SIZE_MIN),
        meter_bar=(0, bar_top, _TELEPHONE_WIDTH, 206),
        meter_rect_by_name={
            "credit": (16, bar_top + 8, 688, 92),
            "bet": (16, bar_top + 106, 328, 92),
            "win": (352, bar_top + 106, 352, 92),
        },
        button_deck=(0, bar_top + 206, _TELEPHONE_WIDTH, 236),
        key_rect_by_name={
            **_lay_out_row(
                16,
                bar_top + 216,
                92,
                8,
                {"service": 131, "help": 131, "games": 132, "language": 131, "volume": 131},
            ),
            **_lay_out_row(
                16,
                bar_top + 316,
                114,
                8,
                {"cash_out": 156, "bet_less": 92, "bet_more": 92, "bet_max": 116, "play": 200},
            ),
        },
        player_page=(12, 112, 696, bar_top - 124),
        drawer=(56, 0, 664, bar_top),
        drawer_tab=(664, 360, 56, 150),
        staff_key=(616, bar_top - 116, 88, TOUCH_TARGET_SIZE_MIN),
        touch_size_min=TOUCH_TARGET_SIZE_MIN,
    )


def grow_rect(rect: Rect, margin: float) -> Rect:
    """Return the rectangle enlarged by ``margin`` on each side."""
    return (rect[0] - margin, rect[1] - margin, rect[2] + 2 * margin, rect[3] + 2 * margin)


def is_inside(rect: Rect, x: float, y: float) -> bool:
    """Return whether the point lies in the rectangle."""
    return rect[0] <= x < rect[0] + rect[2] and rect[1] <= y < rect[1] + rect[3]


def compute_rect_centre(rect: Rect) -> tuple[float, float]:
    """Return the centre of the rectangle."""
    return (rect[0] + rect[2] / 2, rect[1] + rect[3] / 2)

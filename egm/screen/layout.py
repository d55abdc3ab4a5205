"""Where everything stands: one layout for landscape, one for portrait, in units."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from egm.screen.painter import Rect

#: Keys of the deck, in the order of a button deck (left to right).
DECK: Final = (
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
    """Rectangles of one orientation. ``left`` and ``right`` are the glasses beside (or above) the field."""

    size: tuple[int, int]
    marquee: Rect
    field: Rect
    left: Rect
    right: Rect
    message: Rect
    bar: Rect
    meters: Mapping[str, Rect]
    deck: Rect
    keys: Mapping[str, Rect]
    sheet: Rect
    drawer: Rect
    tab: Rect
    staff: Rect
    """The key of the service menu, where the machine would open it."""

    @property
    def portrait(self) -> bool:
        """Whether the picture is higher than wide."""
        return self.size[1] > self.size[0]

    @property
    def levels(self) -> Rect | None:
        """Beside the sign of a game that plays for levels: its meters; upright, a glass has them."""
        x, y, w, _ = self.field
        return None if self.portrait else (x + w * 0.36, 6.0, w * 0.66, y - 40)

    def beside_drawer(self) -> "Layout":
        """The layout while the drawer is out: pages keep clear of it."""
        _, y, _, h = self.sheet
        return self if self.portrait else replace(self, sheet=(24.0, y, self.tab[0] - self.drawer[2] - 40, h))

    def with_levels(self) -> "Layout":
        """The layout of a game that plays for levels: what a player looks for stands highest and largest."""
        x, y, w, h = self.marquee
        return self if self.portrait else replace(self, marquee=(x - 26, y + 6, w * 0.37, h - 12))

    @property
    def stage(self) -> Rect:
        """Everything above the meters: what a lock-up dims."""
        return (0, 0, self.size[0], self.bar[1])


def _row(x: float, y: float, height: float, gap: float, widths: Mapping[str, float]) -> dict[str, Rect]:
    rects: dict[str, Rect] = {}
    for name, width in widths.items():
        rects[name] = (x, y, width, height)
        x += width + gap
    return rects


LANDSCAPE: Final = Layout(
    size=(1920, 1080),
    marquee=(360, 8, 1200, 128),
    field=(400, 168, 1120, 540),
    left=(28, 150, 316, 588),
    right=(1576, 150, 316, 588),
    message=(372, 752, 1176, 56),
    bar=(0, 816, 1920, 118),
    meters=_row(28, 828, 100, 20, {"credit": 660, "bet": 480, "win": 684}),
    deck=(0, 934, 1920, 146),
    keys=_row(
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
    sheet=(160, 60, 1600, 730),
    drawer=(1536, 0, 384, 816),
    tab=(1880, 330, 40, 160),
    staff=(1832, 748, 60, 60),
)

PORTRAIT: Final = Layout(
    size=(1080, 1920),
    marquee=(40, 12, 1000, 150),
    field=(70, 560, 940, 640),
    left=(40, 180, 490, 320),
    right=(550, 180, 490, 320),
    message=(40, 1240, 926, 58),
    bar=(0, 1340, 1080, 250),
    meters={"credit": (24, 1352, 508, 108), "bet": (548, 1352, 508, 108), "win": (24, 1472, 1032, 108)},
    deck=(0, 1600, 1080, 320),
    keys={
        **_row(
            24, 1612, 120, 16, {"service": 193, "help": 193, "games": 194, "language": 194, "volume": 194}
        ),
        **_row(
            24,
            1752,
            144,
            16,
            {"cash_out": 200, "bet_less": 130, "bet_more": 130, "bet_max": 170, "play": 338},
        ),
    },
    sheet=(40, 180, 1000, 1130),
    drawer=(696, 0, 384, 1340),
    tab=(1040, 500, 40, 160),
    staff=(980, 1239, 60, 60),
)


def grown(rect: Rect, by: float) -> Rect:
    """The rectangle, larger by ``by`` on each side."""
    return (rect[0] - by, rect[1] - by, rect[2] + 2 * by, rect[3] + 2 * by)


def inside(rect: Rect, x: float, y: float) -> bool:
    """Whether the point lies in the rectangle."""
    return rect[0] <= x < rect[0] + rect[2] and rect[1] <= y < rect[1] + rect[3]


def middle(rect: Rect) -> tuple[float, float]:
    """The centre of the rectangle."""
    return (rect[0] + rect[2] / 2, rect[1] + rect[3] / 2)

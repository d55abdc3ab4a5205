"""The fruit, bells, bars and sevens of the classic reels: one function a symbol, on 100 x 100 units."""

from egm.screen.art.ink import Ink, Linear, Radial
from egm.screen.art.paths import Path, box, cubic, ellipse, mirror, move, outline, ribbon, rotate, scale, star
from egm.screen.theme import HERE, Colour, parse_colour

NUMBERS = str(HERE / "fonts" / "BebasNeue-Bold.otf")
HEAVY = str(HERE / "fonts" / "Lato-Black.ttf")

_c = parse_colour
WHITE = _c("#ffffff")
SHINE = Linear(((0, _c("#ffffffd8")), (1, _c("#ffffff10"))))
GOLD = Linear(
    (
        (0, _c("#fff8d2")),
        (0.35, _c("#ffd75e")),
        (0.55, _c("#e79f1f")),
        (0.75, _c("#ffdf7a")),
        (1, _c("#a8650f")),
    )
)
GOLD_EDGE = Linear(((0, _c("#b8741a")), (1, _c("#5d3206"))))
LEAF = Linear(((0, _c("#8be35a")), (0.5, _c("#36a63a")), (1, _c("#136428"))))
STEM = Linear(((0, _c("#7d9c3a")), (1, _c("#4a3216"))))


def round_fruit(ink: Ink, path: Path, colours: tuple[str, str, str, str], *, shine: bool = True) -> None:
    """A glossy body: dark edge, radial colour, a soft reflected rim and a highlight."""
    light, base, deep, edge = colours
    ink.fill(path, _c(edge))
    xs, ys = [p[0] for p in path], [p[1] for p in path]
    centre = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
    body = scale(path, 0.95, centre)
    ink.fill(
        body, Radial(((0, _c(light)), (0.45, _c(base)), (0.85, _c(deep)), (1, _c(edge))), (0.36, 0.3), 0.86)
    )
    if shine:
        w, h = max(xs) - min(xs), max(ys) - min(ys)
        ink.fill(ellipse(centre[0] - w * 0.17, centre[1] - h * 0.25, w * 0.2, h * 0.11, -24), SHINE)
        ink.clipped(
            body,
            ellipse(centre[0] + w * 0.05, centre[1] + h * 0.62, w * 0.42, h * 0.22),
            Linear(((0, _c("#ffffff50")), (1, _c("#ffffff00")))),
        )


def leaf(ink: Ink, x: float, y: float, length: float, turn: float) -> None:
    """A leaf growing from (x, y)."""
    shape = outline(
        (x, y),
        ((x + length * 0.25, y - length * 0.42), (x + length * 0.7, y - length * 0.38), (x + length, y)),
        ((x + length * 0.7, y + length * 0.22), (x + length * 0.3, y + length * 0.2), (x, y)),
    )
    shape = rotate(shape, turn, (x, y))
    ink.fill(scale(shape, 1.08, (x + length / 2, y)), _c("#0d4a1f"))
    ink.fill(shape, LEAF)
    ink.fill(
        rotate(
            ribbon(
                [(x + 1, y - 0.4), (x + length * 0.5, y - length * 0.07), (x + length * 0.92, y - 0.5)],
                1.5,
                0.4,
            ),
            turn,
            (x, y),
        ),
        _c("#d6ffb080"),
    )


def cherry(ink: Ink) -> None:
    """Two cherries on one stalk."""
    for path in (
        cubic((30, 62), (34, 38), (48, 20), (66, 10)),
        cubic((70, 66), (72, 44), (70, 26), (64, 11)),
    ):
        ink.fill(ribbon(path, 5.2, 4.2), _c("#1e3a0c"))
        ink.fill(ribbon(path, 3.4, 2.6), STEM)
    leaf(ink, 62, 12, 31, 10)
    for x, y in ((70, 70), (30, 66)):
        heart = outline(
            (x, y - 17),
            ((x + 10, y - 26), (x + 25, y - 17), (x + 23, y + 2)),
            ((x + 21, y + 17), (x + 9, y + 22), (x, y + 22)),
            ((x - 9, y + 22), (x - 21, y + 17), (x - 23, y + 2)),
            ((x - 25, y - 17), (x - 10, y - 26), (x, y - 17)),
        )
        round_fruit(ink, heart, ("#ff8d8d", "#e8142f", "#9d0620", "#4d0010"))


def lemon(ink: Ink) -> None:
    """A lemon with a leaf."""
    shape = outline(
        (8, 55),
        ((14, 48), (18, 26), (47, 24)),
        ((72, 23), (84, 38), (90, 48)),
        ((96, 52), (96, 58), (90, 62)),
        ((82, 76), (70, 87), (48, 86)),
        ((22, 85), (14, 66), (8, 61)),
        ((5, 59), (5, 57), (8, 55)),
    )
    shape = rotate(shape, -14)
    leaf(ink, 64, 24, 27, -28)
    round_fruit(ink, shape, ("#fffbd0", "#ffe234", "#e5a806", "#7d5200"))


def orange(ink: Ink) -> None:
    """An orange with a leaf."""
    round_fruit(ink, ellipse(49, 57, 36), ("#ffdf9a", "#ff9a1f", "#d85c05", "#752c00"))
    for x, y in ((62, 50), (70, 62), (56, 66), (64, 76), (46, 80), (38, 68), (28, 62), (50, 54)):
        ink.fill(ellipse(x, y, 0.9), _c("#a8470070"))
    ink.fill(star(49, 25, 7.5, 3, 6), _c("#2c6b1d"))
    leaf(ink, 50, 24, 30, -18)


def plum(ink: Ink) -> None:
    """A plum with its crease and leaf."""
    shape = outline(
        (50, 22),
        ((72, 16), (89, 36), (87, 56)),
        ((85, 78), (67, 92), (49, 91)),
        ((28, 90), (13, 76), (13, 55)),
        ((13, 34), (30, 16), (50, 22)),
    )
    ink.fill(ribbon(cubic((50, 26), (50, 18), (53, 12), (58, 7)), 5, 3.5), STEM)
    leaf(ink, 55, 15, 29, 4)
    round_fruit(ink, shape, ("#d9a8ff", "#8238d6", "#470f8e", "#220447"))
    ink.fill(ribbon(cubic((51, 24), (62, 42), (62, 66), (54, 86)), 1.2, 3.2), _c("#2a0558a0"))


def grapes(ink: Ink) -> None:
    """A bunch of grapes."""
    ink.fill(ribbon(cubic((52, 28), (50, 18), (54, 10), (62, 6)), 5, 4), STEM)
    leaf(ink, 51, 20, 33, -8)
    leaf(ink, 51, 21, 27, 172)
    rows = (
        (26, (26, 42, 58, 74)),
        (41, (34, 50, 66)),
        (40, (20, 80)),
        (56, (28, 44, 58, 72)),
        (71, (38, 53, 65)),
        (84, (50,)),
    )
    for y, columns in rows:
        for x in columns:
            round_fruit(ink, ellipse(x, y + 5, 10.6), ("#e6b8ff", "#9440df", "#55149b", "#26054d"))


def melon(ink: Ink) -> None:
    """A slice of watermelon."""

    def half(radius: float) -> Path:
        return rotate([p for p in ellipse(50, 32, radius, radius * 1.02) if p[1] >= 31.9], -10, (50, 50))

    ink.fill(half(46), _c("#0b4517"))
    ink.fill(half(44.6), Linear(((0, _c("#5ed04d")), (1, _c("#1c7f2d")))))
    ink.fill(half(39.5), _c("#f2ffd9"))
    ink.fill(
        half(36.5), Radial(((0, _c("#ff8a7a")), (0.6, _c("#f2304a")), (1, _c("#b50f31"))), (0.4, 0.1), 0.95)
    )
    for x, y, turn in (
        (30, 42, 20),
        (45, 40, 5),
        (60, 38, -8),
        (37, 54, 14),
        (53, 52, 0),
        (66, 48, -20),
        (46, 65, 4),
        (60, 62, -10),
    ):
        seed = rotate(
            outline(
                (x, y - 4),
                ((x + 3, y - 1), (x + 3, y + 4), (x, y + 4)),
                ((x - 3, y + 4), (x - 3, y - 1), (x, y - 4)),
            ),
            turn,
            (x, y),
        )
        ink.fill(seed, _c("#2a0710"))
        ink.fill(ellipse(x - 0.7, y, 0.6, 1.3, turn), _c("#ffffff90"))
    ink.clipped(half(36.5), rotate(box(10, 31, 80, 5), -10), _c("#ffffff50"))


def bell(ink: Ink) -> None:
    """The golden bell."""
    half = outline(
        (50, 15),
        ((60, 15), (68, 24), (70, 38)),
        ((72, 56), (77, 64), (88, 72)),
        ((90, 75), (89, 78), (86, 78)),
        ((72, 79), (60, 79), (50, 79)),
    )
    shape = half + mirror(half)
    ink.fill(ellipse(50, 13, 8), GOLD_EDGE)
    ink.fill(ellipse(50, 13, 6.6), GOLD)
    ink.fill(ellipse(50, 13, 2.6), _c("#5d3206"))
    ink.fill(ellipse(50, 82, 11.5), GOLD_EDGE)
    ink.fill(
        ellipse(50, 82, 10),
        Radial(((0, _c("#fff4b8")), (0.5, _c("#e79f1f")), (1, _c("#7a4508"))), (0.4, 0.3), 0.8),
    )
    ink.fill(scale(shape, 1.045, (50, 50)), GOLD_EDGE)
    ink.fill(
        shape,
        Linear(
            (
                (0, _c("#b8730f")),
                (0.16, _c("#ffe68a")),
                (0.3, _c("#fffbe0")),
                (0.42, _c("#ffd34d")),
                (0.7, _c("#d98f14")),
                (0.9, _c("#8a5206")),
                (1, _c("#c98a1d")),
            ),
            sideways=True,
        ),
    )
    ink.clipped(shape, box(8, 66, 84, 4.2), _c("#7a4508b0"))
    ink.clipped(shape, box(8, 70.2, 84, 1.6), _c("#fff6c8d0"))
    ink.clipped(shape, box(20, 36, 60, 2.2), _c("#7a450860"))
    ink.clipped(
        shape,
        outline((40, 19), ((33, 26), (33, 46), (27, 60)), ((33, 58), (40, 42), (43, 19))),
        _c("#ffffffa0"),
    )


SEVEN: Path = [
    (14, 12),
    (87, 12),
    (87, 26),
    *cubic((87, 26), (70, 46), (60, 64), (57, 90)),
    (32, 90),
    *cubic((32, 90), (35, 66), (46, 48), (62, 31)),
    (33, 31),
    *cubic((33, 31), (28, 31), (26, 34), (25, 39)),
    (14, 39),
]


def seven(
    ink: Ink,
    colours: tuple[str, str, str, str] = ("#ff9a8a", "#f0152c", "#8c0518", "#4a0008"),
    shape: Path = SEVEN,
) -> None:
    """A fat seven with a gold edge."""
    ink.stroke(shape, 9, GOLD_EDGE)
    ink.stroke(shape, 6.4, GOLD)
    ink.stroke(shape, 2.2, _c(colours[3]))
    light, base, deep, _ = colours
    ink.fill(shape, Linear(((0, _c(light)), (0.28, _c(base)), (0.7, _c(base)), (1, _c(deep)))))
    ink.clipped(shape, [(14, 12), (87, 12), (87, 17), (14, 20)], _c("#ffffff90"))
    ink.clipped(shape, move(shape, -34, -2), _c("#ffffff2c"))


def blue_seven(ink: Ink) -> None:
    """The seven in blue."""
    seven(ink, ("#a8d4ff", "#1f6df0", "#0a2a8c", "#03103f"))


def white_seven(ink: Ink) -> None:
    """The seven in white."""
    seven(ink, ("#ffffff", "#f4f4ff", "#a9a7c9", "#3a3760"))


def green_seven(ink: Ink) -> None:
    """The seven in green."""
    seven(ink, ("#b4ffcd", "#12b455", "#05592c", "#02260f"))


def flaming_seven(ink: Ink) -> None:
    """The seven on fire."""
    flame = outline(
        (50, 99),
        ((20, 99), (2, 84), (4, 62)),
        ((5, 50), (12, 44), (14, 30)),
        ((19, 36), (21, 40), (22, 46)),
        ((25, 32), (30, 16), (27, 4)),
        ((36, 10), (42, 18), (44, 28)),
        ((47, 18), (52, 8), (60, 1)),
        ((60, 14), (66, 22), (70, 30)),
        ((73, 24), (76, 18), (76, 10)),
        ((84, 20), (88, 32), (87, 44)),
        ((90, 42), (92, 38), (93, 34)),
        ((98, 48), (99, 58), (96, 70)),
        ((92, 90), (76, 99), (50, 99)),
    )
    ink.glow(flame, 10, _c("#ff6a0080"))
    for paint, grow in (
        (_c("#a81205"), 1.0),
        (_c("#ff5a00"), 0.9),
        (_c("#ffb01f"), 0.78),
        (_c("#ffe27a"), 0.6),
    ):
        ink.fill(scale(flame, grow, (50, 92)), paint)
    seven(ink, shape=scale(SEVEN, 0.74, (50, 62)))


def bars(ink: Ink, count: int, colours: tuple[str, str, str] = ("#3c3a4d", "#15131f", "#000000")) -> None:
    """One, two or three stacked BAR plates."""
    height = {1: 34.0, 2: 30.0, 3: 25.5}[count]
    gap = 3.0
    top = 50 - (height * count + gap * (count - 1)) / 2
    for i in range(count):
        y = top + i * (height + gap)
        ink.fill(box(4, y, 92, height, 6), GOLD_EDGE)
        ink.fill(box(5.2, y + 1, 89.6, height - 2, 5), GOLD)
        ink.fill(
            box(8.4, y + 3.8, 83.2, height - 7.6, 3),
            Linear(((0, _c(colours[0])), (0.5, _c(colours[1])), (1, _c(colours[2])))),
        )
        ink.fill(
            box(9.6, y + 4.6, 80.8, (height - 9) * 0.45, 2.5),
            Linear(((0, _c("#ffffff40")), (1, _c("#ffffff0c")))),
        )
        ink.text(
            HEAVY,
            "BAR",
            (50, y + height / 2),
            height * 0.82,
            Linear(((0, _c("#ffffff")), (0.5, _c("#ffe9a8")), (1, _c("#e0a52e")))),
            edge=0.9,
            edge_paint=_c("#000000c0"),
            width=66,
        )


def bar_1(ink: Ink) -> None:
    """A single bar."""
    bars(ink, 1)


def bar_2(ink: Ink) -> None:
    """A double bar."""
    bars(ink, 2, ("#4f63c9", "#1b2b86", "#0a1345"))


def bar_3(ink: Ink) -> None:
    """A triple bar."""
    bars(ink, 3, ("#d0435c", "#8d0f2b", "#470413"))


def tint(light: str, base: str, deep: str) -> tuple[Colour, Colour, Colour]:
    """Three shades from their codes."""
    return _c(light), _c(base), _c(deep)

"""Gems, charms, coins, card ranks and the words WILD and BONUS: symbols that are not fruit."""

import math

from egm.screen.art.fruit import GOLD, GOLD_EDGE, HEAVY, SHINE, tint
from egm.screen.art.ink import Ink, Linear, Radial
from egm.screen.art.paths import Path, box, ellipse, mirror, outline, polygon, ribbon, rotate, scale, star
from egm.screen.theme import HERE, Colour, mix, parse_colour

DISPLAY = str(HERE / "fonts" / "Lobster.otf")
_c = parse_colour


def gem(ink: Ink, corners: Path, shades: tuple[Colour, Colour, Colour], table: float = 0.55) -> None:
    """A cut stone: the outline, its table, and facets lit from the upper left."""
    light, base, deep = shades
    centre = (50.0, 50.0)
    ink.glow(corners, 10, (*base[:3], 110))
    ink.fill(scale(corners, 1.05, centre), mix(deep, (0, 0, 0, 255), 0.45))
    inner = scale(corners, table, centre)
    count = len(corners)
    for i in range(count):
        a, b = corners[i], corners[(i + 1) % count]
        c, d = inner[(i + 1) % count], inner[i]
        mx, my = (a[0] + b[0]) / 2 - 50, (a[1] + b[1]) / 2 - 50
        facing = (-mx * 0.6 - my * 0.8) / (math.hypot(mx, my) or 1)
        shade = mix(base, light, facing) if facing > 0 else mix(base, deep, -facing)
        ink.fill([a, b, c, d], shade)
        ink.fill([a, b, ((c[0] + d[0]) / 2, (c[1] + d[1]) / 2)], (*mix(shade, light, 0.28)[:3], 120))
    ink.fill(
        inner, Linear(((0, mix(light, (255, 255, 255, 255), 0.45)), (0.5, base), (1, mix(base, deep, 0.5))))
    )
    ink.clipped(inner, [(20, 20), (58, 20), (34, 80), (10, 80)], (255, 255, 255, 74))
    ink.stroke(inner, 0.7, (*mix(light, (255, 255, 255, 255), 0.6)[:3], 200))
    ink.stroke(scale(corners, 1.02, centre), 0.9, (*light[:3], 200))


def sparkle(ink: Ink, x: float, y: float, size: float) -> None:
    """A four-pointed glint."""
    ink.fill(star(x, y, size, size * 0.16, 4), (255, 255, 255, 235))


def diamond(ink: Ink) -> None:
    """A brilliant seen from the side."""
    top = [(28, 18), (72, 18), (94, 42), (50, 92), (6, 42)]
    ink.glow(top, 12, _c("#7de0ff90"))
    ink.fill(scale(top, 1.05, (50, 50)), _c("#0c3a66"))
    faces = (
        ([(28, 18), (40, 42), (6, 42)], "#bdf2ff"),
        ([(28, 18), (50, 18), (40, 42)], "#ffffff"),
        ([(50, 18), (60, 42), (40, 42)], "#c9f4ff"),
        ([(50, 18), (72, 18), (60, 42)], "#8fe0ff"),
        ([(72, 18), (94, 42), (60, 42)], "#4fb8f0"),
        ([(6, 42), (40, 42), (50, 92)], "#8adcff"),
        ([(40, 42), (60, 42), (50, 92)], "#e2fbff"),
        ([(60, 42), (94, 42), (50, 92)], "#2f8fd8"),
    )
    for face, colour in faces:
        base = _c(colour)
        ink.fill(
            face,
            Linear(((0, mix(base, (255, 255, 255, 255), 0.35)), (1, mix(base, (10, 60, 120, 255), 0.3)))),
        )
    for face, _ in faces:
        ink.stroke(face, 0.6, _c("#ffffffb0"))
    sparkle(ink, 30, 26, 11)
    sparkle(ink, 77, 58, 7)


def ruby(ink: Ink) -> None:
    """A red octagon cut."""
    gem(ink, polygon(50, 50, 43, 8, -67.5), tint("#ff9aa8", "#e0153c", "#6d0320"))


def emerald(ink: Ink) -> None:
    """A green step cut."""
    gem(
        ink,
        [(32, 8), (68, 8), (86, 26), (86, 74), (68, 92), (32, 92), (14, 74), (14, 26)],
        tint("#a4ffc9", "#12a860", "#043d24"),
        0.6,
    )


def sapphire(ink: Ink) -> None:
    """A blue oval cut."""
    gem(ink, [(x, y) for x, y in ellipse(50, 50, 44, 38)][::6], tint("#a9ccff", "#1f5fe0", "#061a5e"))


def amethyst(ink: Ink) -> None:
    """A purple pear cut."""
    shape = outline(
        (50, 6),
        ((62, 26), (86, 42), (86, 62)),
        ((86, 82), (68, 94), (50, 94)),
        ((32, 94), (14, 82), (14, 62)),
        ((14, 42), (38, 26), (50, 6)),
    )
    gem(ink, shape[::7], tint("#ecbcff", "#9a35e0", "#3d0a6b"))


def topaz(ink: Ink) -> None:
    """A yellow hexagon cut."""
    gem(ink, polygon(50, 50, 45, 6), tint("#fff3b0", "#f2a91c", "#7a4204"))


def star_symbol(ink: Ink) -> None:
    """A gold star."""
    shape = star(50, 54, 48, 21)
    ink.glow(shape, 12, _c("#ffcf4090"))
    ink.stroke(shape, 6, GOLD_EDGE)
    for i in range(5):
        points = star(50, 54, 48, 21)
        tip, left, right = points[2 * i], points[2 * i - 1], points[2 * i + 1]
        ink.fill([tip, right, (50, 54)], Linear(((0, _c("#ffd95e")), (1, _c("#b9730f")))))
        ink.fill([tip, left, (50, 54)], Linear(((0, _c("#fffbe2")), (1, _c("#ffcb3d")))))
    sparkle(ink, 38, 36, 9)


def horseshoe(ink: Ink) -> None:
    """A horseshoe, open side down."""
    spine = [
        (24.0, 88.0),
        *[
            (50 + 34 * math.cos(math.radians(a)), 46 + 36 * math.sin(math.radians(a)))
            for a in range(160, 381, 10)
        ],
        (76.0, 88.0),
    ]
    for width, paint in ((22.0, GOLD_EDGE), (19.5, GOLD)):
        ink.stroke(spine, width, paint, closed=False)
    ink.stroke(spine, 8.4, _c("#8a520690"), closed=False)
    for i in range(2, len(spine) - 1, 3):
        ink.fill(ellipse(*spine[i], 2.4), _c("#4f2f08"))
        ink.fill(ellipse(spine[i][0] - 0.6, spine[i][1] - 0.6, 1.1), _c("#fff3c4c0"))


def clover(ink: Ink) -> None:
    """A four-leaved clover."""
    ink.fill(ribbon([(50, 54), (54, 72), (64, 92)], 6, 4), _c("#0b4517"))
    ink.fill(ribbon([(50, 54), (54, 72), (64, 92)], 4, 2.4), LEAF_LINE)
    heart = outline(
        (50, 50),
        ((34, 40), (24, 30), (30, 16)),
        ((36, 6), (47, 8), (50, 18)),
        ((53, 8), (64, 6), (70, 16)),
        ((76, 30), (66, 40), (50, 50)),
    )
    for turn in (45, 135, 225, 315):
        piece = rotate(heart, turn)
        ink.fill(scale(piece, 1.07, (50, 50)), _c("#07421a"))
        ink.fill(
            piece, Radial(((0, _c("#9bf77c")), (0.6, _c("#25a83f")), (1, _c("#0c6b2a"))), (0.4, 0.35), 0.8)
        )
        vein = rotate([(50.0, 48.0), (50.0, 26.0)], turn)
        ink.fill(ribbon(vein, 1.8, 0.4), _c("#d8ffc080"))


LEAF_LINE = Linear(((0, _c("#8be35a")), (1, _c("#136428"))))


def crown(ink: Ink) -> None:
    """A crown with three stones."""
    half = outline(
        (50, 20),
        ((52, 36), (58, 46), (64, 52)),
        ((70, 46), (78, 38), (92, 28)),
        ((90, 46), (86, 60), (84, 74)),
        ((74, 78), (62, 79), (50, 79)),
    )
    shape = half + mirror(half)
    ink.fill(scale(shape, 1.05, (50, 52)), GOLD_EDGE)
    ink.fill(shape, GOLD)
    ink.fill(
        outline(
            (15, 72),
            ((30, 80), (70, 80), (85, 72)),
            ((86, 78), (85, 84), (84, 88)),
            ((70, 94), (30, 94), (16, 88)),
            ((15, 84), (14, 78), (15, 72)),
        ),
        GOLD_EDGE,
    )
    ink.fill(
        outline(
            (17, 75),
            ((32, 82), (68, 82), (83, 75)),
            ((84, 79), (83, 83), (82, 86)),
            ((68, 91), (32, 91), (18, 86)),
            ((17, 83), (16, 79), (17, 75)),
        ),
        GOLD,
    )
    for x, y, colour in ((50, 17, "#e0153c"), (91, 26, "#1f5fe0"), (9, 26, "#1f5fe0")):
        ink.fill(ellipse(x, y, 6.5), GOLD_EDGE)
        ink.fill(
            ellipse(x, y, 5),
            Radial(
                ((0, _c("#ffffff")), (0.4, _c(colour)), (1, mix(_c(colour), (0, 0, 0, 255), 0.5))),
                (0.35, 0.3),
                0.8,
            ),
        )
    for x, colour in ((50, "#12a860"), (30, "#e0153c"), (70, "#e0153c")):
        stone = polygon(x, 62, 8, 4)
        ink.fill(scale(stone, 1.2, (x, 62)), GOLD_EDGE)
        ink.fill(
            stone,
            Linear(
                (
                    (0, mix(_c(colour), (255, 255, 255, 255), 0.6)),
                    (0.6, _c(colour)),
                    (1, mix(_c(colour), (0, 0, 0, 255), 0.5)),
                )
            ),
        )


def coin(ink: Ink, words: str = "$") -> None:
    """A gold coin."""
    ink.glow(ellipse(50, 50, 44), 10, _c("#ffcf4070"))
    ink.fill(ellipse(50, 50, 45), GOLD_EDGE)
    ink.fill(ellipse(50, 50, 43), GOLD)
    for i in range(40):
        a = math.radians(i * 9)
        ink.fill(ellipse(50 + 39.5 * math.cos(a), 50 + 39.5 * math.sin(a), 1.5), _c("#8a520690"))
    ink.fill(ellipse(50, 50, 35.5), GOLD_EDGE)
    ink.fill(
        ellipse(50, 50, 34),
        Radial(((0, _c("#fff0a8")), (0.5, _c("#f3b52c")), (1, _c("#a8650f"))), (0.38, 0.3), 0.85),
    )
    ink.text(
        HEAVY,
        words,
        (50, 50),
        62,
        Linear(((0, _c("#fff8d2")), (1, _c("#c47f16")))),
        edge=1.6,
        edge_paint=_c("#6d3e08"),
        width=46,
    )


def horn_of_plenty(ink: Ink) -> None:
    """A pile of coins in a pot."""
    for x, y in ((28, 34), (72, 34), (42, 24), (60, 24), (50, 34), (35, 38), (65, 38)):
        ink.fill(ellipse(x, y, 15, 12), GOLD_EDGE)
        ink.fill(ellipse(x, y - 0.6, 13.6, 10.6), GOLD)
        ink.fill(ellipse(x, y - 0.6, 9, 6.6), _c("#e0981c"))
    pot = outline(
        (12, 44),
        ((6, 66), (20, 94), (50, 94)),
        ((80, 94), (94, 66), (88, 44)),
        ((70, 50), (30, 50), (12, 44)),
    )
    ink.fill(scale(pot, 1.03, (50, 66)), _c("#000000"))
    ink.fill(pot, Radial(((0, _c("#7d77a8")), (0.4, _c("#34304d")), (1, _c("#0a0814"))), (0.3, 0.25), 0.9))
    ink.fill(
        outline(
            (7, 42),
            ((20, 34), (80, 34), (93, 42)),
            ((93, 52), (80, 54), (50, 54)),
            ((20, 54), (7, 52), (7, 42)),
        ),
        Linear(((0, _c("#6a6494")), (1, _c("#15121f")))),
    )
    ink.fill(ellipse(30, 66, 5, 12, 24), SHINE)


def rank(ink: Ink, letter: str, shades: tuple[str, str, str]) -> None:
    """A card rank as a jewelled letter."""
    light, base, deep = tint(*shades)
    ink.text(
        HEAVY,
        letter,
        (50, 50),
        96,
        Linear(
            (
                (0, mix(light, (255, 255, 255, 255), 0.5)),
                (0.45, base),
                (0.55, mix(base, deep, 0.4)),
                (1, deep),
            )
        ),
        edge=5,
        edge_paint=GOLD,
        width=84,
    )
    ink.text(
        HEAVY,
        letter,
        (50, 50),
        96,
        Linear(
            (
                (0, mix(light, (255, 255, 255, 255), 0.5)),
                (0.45, base),
                (0.55, mix(base, deep, 0.4)),
                (1, deep),
            )
        ),
        edge=1.2,
        edge_paint=mix(deep, (0, 0, 0, 255), 0.5),
        width=84,
    )


def banner(ink: Ink, words: str, shades: tuple[str, str, str]) -> None:
    """A word on a ribbon before a burst: WILD, BONUS, FREE."""
    light, base, deep = tint(*shades)
    burst = star(50, 48, 47, 37, 16)
    ink.glow(burst, 10, (*base[:3], 120))
    ink.fill(burst, GOLD_EDGE)
    ink.fill(scale(burst, 0.96, (50, 48)), GOLD)
    ink.fill(
        ellipse(50, 48, 35),
        Radial(((0, mix(light, (255, 255, 255, 255), 0.3)), (0.55, base), (1, deep)), (0.5, 0.35), 0.8),
    )
    for i in range(12):
        a = math.radians(i * 30)
        ink.fill(
            [
                (50, 48),
                (50 + 34 * math.cos(a), 48 + 34 * math.sin(a)),
                (50 + 34 * math.cos(a + 0.26), 48 + 34 * math.sin(a + 0.26)),
            ],
            (255, 255, 255, 26),
        )
    ink.fill([(2, 56), (98, 56), (92, 68), (98, 80), (2, 80), (8, 68)], mix(deep, (0, 0, 0, 255), 0.35))
    ink.fill(box(6, 52, 88, 26, 3), GOLD_EDGE)
    ink.fill(box(7, 53, 86, 24, 2.5), GOLD)
    ink.fill(box(9, 55, 82, 20, 2), Linear(((0, base), (1, deep))))
    ink.text(
        DISPLAY if len(words) > 4 else HEAVY,
        words,
        (50, 65),
        25,
        Linear(((0, _c("#ffffff")), (1, _c("#ffe39a")))),
        edge=1,
        edge_paint=mix(deep, (0, 0, 0, 255), 0.6),
        width=76,
    )
    sparkle(ink, 34, 32, 8)
    sparkle(ink, 66, 38, 5)


def medallion(ink: Ink, words: str, shades: tuple[str, str, str]) -> None:
    """A named medallion: the art of a symbol whose identifier has no drawing of its own."""
    light, base, deep = tint(*shades)
    shape = polygon(50, 50, 47, 8, -67.5)
    ink.fill(shape, GOLD_EDGE)
    ink.fill(scale(shape, 0.965), GOLD)
    ink.fill(scale(shape, 0.86), Radial(((0, light), (0.55, base), (1, deep)), (0.4, 0.3), 0.9))
    ink.clipped(scale(shape, 0.86), ellipse(50, 14, 60, 30), _c("#ffffff38"))
    ink.text(
        HEAVY,
        words,
        (50, 50),
        30,
        Linear(((0, _c("#ffffff")), (1, _c("#ffe9b0")))),
        edge=1.4,
        edge_paint=mix(deep, (0, 0, 0, 255), 0.6),
        width=68,
    )

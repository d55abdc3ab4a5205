"""Music, harbour and orchard: symbols that people made or picked."""

import math

from egm.screen.art.fruit import GOLD, GOLD_EDGE, HEAVY, LEAF, leaf, round_fruit
from egm.screen.art.ink import Ink, Linear, Radial
from egm.screen.art.jewels import sparkle
from egm.screen.art.paths import (
    arc,
    box,
    ellipse,
    mirror,
    outline,
    polygon,
    ribbon,
    rotate,
    scale,
)
from egm.screen.theme import parse_colour

_c = parse_colour
_INK = _c("#120c18")
WOOD = Linear(((0, _c("#e0a860")), (0.5, _c("#a86a2c")), (1, _c("#5d3410"))))
STEEL = Linear(((0, _c("#f4f8ff")), (0.45, _c("#a9b6c9")), (0.55, _c("#6d7b90")), (1, _c("#3a4658"))))
ROPE = Linear(((0, _c("#f2dca6")), (1, _c("#a07a38"))))


def horn(ink: Ink) -> None:
    """A hunting horn."""
    spine = [
        (50 + 30 * math.cos(math.radians(a)), 46 + 28 * math.sin(math.radians(a)))
        for a in range(-60, 250, 10)
    ]
    tube = [*spine, (60.0, 30.0)]
    ink.stroke(tube, 13, GOLD_EDGE, closed=False)
    ink.stroke(tube, 10, GOLD, closed=False)
    bell = [(54, 66), (96, 68), (98, 98), (70, 92)]
    ink.stroke(bell, 3, GOLD_EDGE)
    ink.fill(bell, GOLD)
    ink.fill(rotate(ellipse(96, 83, 5, 16), -4, (96, 83)), _c("#5d3206"))


def drum(ink: Ink) -> None:
    """A drum with its cords."""
    body = outline(
        (12, 34),
        ((30, 44), (70, 44), (88, 34)),
        ((88, 50), (88, 66), (86, 76)),
        ((70, 90), (30, 90), (14, 76)),
        ((12, 66), (12, 50), (12, 34)),
    )
    ink.stroke(body, 3, _INK)
    ink.fill(
        body,
        Linear(
            ((0, _c("#7d0a18")), (0.35, _c("#ee2c3c")), (0.65, _c("#c0142a")), (1, _c("#5d0612"))),
            sideways=True,
        ),
    )
    points = [
        (14 + i * 12, 41 + 3 * math.sin(math.pi * i / 6))
        if i % 2 == 0
        else (14 + i * 12, 82 + 5 * math.sin(math.pi * i / 6))
        for i in range(7)
    ]
    ink.stroke(points, 2.6, _c("#fff6e0"), closed=False)
    for y, h in ((34, 9), (78, 9)):
        hoop = outline(
            (11, y),
            ((30, y + h + 3), (70, y + h + 3), (89, y)),
            ((89, y + 7), (70, y + h + 10), (50, y + h + 10)),
            ((30, y + h + 10), (11, y + 7), (11, y)),
        )
        ink.stroke(hoop, 1.6, _INK)
        ink.fill(hoop, GOLD)
    ink.fill(ellipse(50, 32, 39.5, 13), _INK)
    ink.fill(ellipse(50, 31.4, 37.5, 11.6), Radial(((0, _c("#fffdf4")), (1, _c("#d6c8a8")))))
    for turn in (38, -38):
        stick = rotate(box(48.5, -4, 3.4, 46, 1.7), turn, (50, 26))
        ink.stroke(stick, 1.6, _INK)
        ink.fill(stick, WOOD)


def flute(ink: Ink) -> None:
    """A flute."""
    tube = rotate(box(2, 43, 96, 14, 7), -32)
    ink.stroke(tube, 3, _INK)
    ink.fill(tube, STEEL)
    for x in (20, 44, 54, 64, 74, 84):
        hole = rotate(ellipse(x, 50, 3.4), -32)
        ink.fill(scale(hole, 1.3, (sum(p[0] for p in hole) / 72, sum(p[1] for p in hole) / 72)), GOLD)
        ink.fill(hole, _INK)
    for x in (8, 32, 93):
        ink.fill(rotate(box(x, 42, 4, 16, 1), -32), GOLD)


def note(ink: Ink) -> None:
    """Two quavers."""
    ink.stroke([(34, 78), (34, 20), (80, 10), (80, 68)], 9.5, _INK, closed=False)
    for x, y in ((25, 79), (71, 69)):
        ink.fill(rotate(ellipse(x, y, 15.5, 11.5), -18, (x, y)), _INK)
    ink.fill([(32, 18), (82, 7), (82, 22), (32, 33)], _INK)
    blue = Linear(((0, _c("#c9b0ff")), (0.5, _c("#7a3df0")), (1, _c("#3a1290"))))
    ink.fill([(34, 21), (80, 11), (80, 19), (34, 29)], blue)
    for x in (34, 80):
        ink.fill(box(x - 2.6, 20 if x == 34 else 11, 5.2, 57, 2), blue)
    for x, y in ((25, 79), (71, 69)):
        ink.fill(
            rotate(ellipse(x, y, 12.6, 8.8), -18, (x, y)),
            Radial(((0, _c("#d6c2ff")), (0.6, _c("#7a3df0")), (1, _c("#3a1290"))), (0.4, 0.3), 0.8),
        )


def ship(ink: Ink) -> None:
    """A ship under full sail."""
    ink.fill(
        ellipse(50, 88, 47, 9),
        Radial(((0, _c("#8fe0ff")), (0.7, _c("#2580b8")), (1, _c("#12466d00"))), (0.5, 0.4), 0.62),
    )
    ink.stroke([(50, 70), (50, 4)], 3.6, _c("#3d2206"), closed=False)
    for shape in (
        outline((47, 10), ((34, 20), (20, 44), (16, 62)), ((28, 60), (40, 60), (47, 62))),
        outline((53, 6), ((70, 18), (86, 42), (88, 62)), ((76, 58), (62, 58), (53, 62))),
    ):
        ink.stroke(shape, 2.4, _INK)
        ink.fill(shape, Linear(((0, _c("#ffffff")), (0.6, _c("#f2e6cc")), (1, _c("#cbb68c"))), sideways=True))
    ink.fill([(50, 3), (70, 6), (50, 11)], _c("#d0202e"))
    hull = outline(
        (6, 66),
        ((30, 70), (70, 70), (96, 62)),
        ((92, 78), (84, 90), (74, 90)),
        ((50, 92), (30, 92), (22, 90)),
        ((14, 86), (8, 76), (6, 66)),
    )
    ink.stroke(hull, 2.8, _INK)
    ink.fill(hull, WOOD)
    ink.clipped(hull, box(0, 71, 100, 4), _c("#d0202e"))


def anchor(ink: Ink) -> None:
    """An anchor."""
    for width, paint in ((13.0, _INK), (9.4, STEEL)):
        ink.stroke(arc(50, 18, 10, 0, 360, 0.1), width * 0.62, paint)
        ink.stroke([(50, 28), (50, 88)], width, paint, closed=False)
        ink.stroke([(28, 38), (72, 38)], width * 0.85, paint, closed=False)
        hook = [
            (50 + 37 * math.cos(math.radians(a)), 54 + 36 * math.sin(math.radians(a)))
            for a in range(8, 173, 6)
        ]
        ink.stroke(hook, width, paint, closed=False)
    for tip in ([(76, 62), (98, 46), (96, 72)], mirror([(76, 62), (98, 46), (96, 72)])):
        ink.stroke(tip, 2.6, _INK)
        ink.fill(tip, STEEL)


def wheel(ink: Ink) -> None:
    """A ship's wheel."""
    for width, paint in ((9.0, _INK), (6.0, WOOD)):
        for i in range(8):
            a = math.radians(i * 45)
            ink.stroke([(50, 50), (50 + 44 * math.cos(a), 50 + 44 * math.sin(a))], width, paint, closed=False)
        ink.stroke(ellipse(50, 50, 30), width * 1.2, paint)
    ink.fill(ellipse(50, 50, 12), _INK)
    ink.fill(ellipse(50, 50, 10), GOLD)


def rope(ink: Ink) -> None:
    """A coil of rope."""
    for radius in (38.0, 27.0, 16.0):
        ink.stroke(ellipse(50, 54, radius, radius * 0.8), 12.5, _c("#4f3510"))
        ink.stroke(ellipse(50, 54, radius, radius * 0.8), 9.5, ROPE)
        for i in range(int(radius * 0.9)):
            a = i * math.tau / int(radius * 0.9)
            ink.stroke(
                [
                    (50 + (radius - 4) * math.cos(a), 54 + (radius - 4) * 0.8 * math.sin(a)),
                    (50 + (radius + 4) * math.cos(a + 0.13), 54 + (radius + 4) * 0.8 * math.sin(a + 0.13)),
                ],
                1.1,
                _c("#8a642cb0"),
                closed=False,
            )


def net(ink: Ink) -> None:
    """A net full of fish."""
    bag = outline(
        (20, 22),
        ((6, 60), (22, 92), (50, 94)),
        ((78, 92), (94, 60), (80, 22)),
        ((60, 30), (40, 30), (20, 22)),
    )
    ink.fill(bag, _c("#0c2a44d0"))
    for x, y, turn, colour in (
        (38, 52, 20, "#ff9a7a"),
        (62, 58, -24, "#8fd0ff"),
        (46, 74, -8, "#ffd27a"),
        (60, 40, 30, "#c9e2f4"),
    ):
        back = ((x - 6, y - 9), (x + 6, y - 8), (x + 12, y))
        belly = ((x + 6, y + 8), (x - 6, y + 9), (x - 14, y))
        tail = [(x - 22, y - 7), (x - 22, y + 7)]
        fish = rotate([*outline((x - 14, y), back, belly), *tail], turn, (x, y))
        ink.clipped(bag, fish, _c(colour))
    for i in range(-8, 9):
        ink.clipped(bag, ribbon([(50 + i * 10 - 40, 10), (50 + i * 10 + 40, 100)], 1.5), ROPE)
        ink.clipped(bag, ribbon([(50 + i * 10 + 40, 10), (50 + i * 10 - 40, 100)], 1.5), ROPE)
    ink.stroke(bag, 3, _c("#6d4a1a"))
    for x in (20, 35, 50, 65, 80):
        ink.fill(ellipse(x, 24 + (4 if 20 < x < 80 else 0), 5.5), _c("#4f2408"))
        ink.fill(ellipse(x, 23.4 + (4 if 20 < x < 80 else 0), 4.3), _c("#e0702a"))


def crate(ink: Ink) -> None:
    """A wooden crate."""
    ink.fill(box(8, 14, 84, 76, 4), _INK)
    for i in range(4):
        ink.fill(box(11, 17 + i * 18, 78, 16, 1), WOOD)
    for spine in ([(14, 20), (86, 86)], [(86, 20), (14, 86)]):
        ink.stroke(spine, 11, _INK, closed=False)
        ink.stroke(spine, 8, WOOD, closed=False)
    for x in (11, 77):
        ink.fill(box(x, 17, 12, 70, 1), WOOD)
    for x, y in ((17, 23), (83, 23), (17, 81), (83, 81)):
        ink.fill(ellipse(x, y, 2), _c("#2b2420"))


def pilot(ink: Ink) -> None:
    """A lighthouse: the pilot's light, wild."""
    for side in (-1, 1):
        ink.fill(
            [(50, 22), (50 + side * 50, 4), (50 + side * 50, 34)],
            Linear(((0, _c("#fff3a0c0")), (1, _c("#fff3a030")))),
        )
    tower = [(38, 34), (62, 34), (70, 92), (30, 92)]
    ink.stroke(tower, 3, _INK)
    ink.fill(tower, Linear(((0, _c("#d8d4de")), (0.4, _c("#ffffff")), (1, _c("#a9a4b4"))), sideways=True))
    for y in (44, 68):
        ink.clipped(
            tower,
            box(20, y, 60, 12),
            Linear(((0, _c("#8a0a18")), (0.4, _c("#ff3a48")), (1, _c("#8a0a18"))), sideways=True),
        )
    ink.fill(box(33, 30, 34, 6, 2), _INK)
    ink.fill(box(39, 14, 22, 17, 2), _INK)
    ink.fill(box(41, 16, 18, 13, 2), Radial(((0, _c("#ffffff")), (1, _c("#ffd23f")))))
    ink.fill([(36, 15), (64, 15), (50, 2)], _c("#8a0a18"))
    ink.fill([(14, 98), (26, 86), (74, 86), (86, 98)], _c("#4a4658"))
    ink.text(
        HEAVY,
        "WILD",
        (50, 88),
        19,
        Linear(((0, _c("#ffffff")), (1, _c("#ffe39a")))),
        edge=1.6,
        edge_paint=_c("#2a0610"),
        width=64,
    )


def basket(ink: Ink) -> None:
    """A picnic basket."""
    ink.stroke([(14, 46), (24, 14), (50, 4), (76, 14), (86, 46)], 9, _INK, closed=False)
    ink.stroke([(14, 46), (24, 14), (50, 4), (76, 14), (86, 46)], 6, WOOD, closed=False)
    for x, colours in (
        (32, ("#ff9a9a", "#e2202e", "#8f0a1c", "#430410")),
        (50, ("#fff3a0", "#ffc928", "#d98a0a", "#7a4a04")),
        (68, ("#d6ffb0", "#6fc23a", "#2c7a1a", "#0c3a08")),
    ):
        round_fruit(ink, ellipse(x, 40, 12), colours)
    body = [(8, 46), (92, 46), (84, 94), (16, 94)]
    ink.stroke(body, 3, _INK)
    ink.fill(body, WOOD)
    for row in range(5):
        for i in range(9):
            if (row + i) % 2:
                ink.clipped(body, box(6 + i * 10, 50 + row * 9, 9, 7.4, 2), _c("#f2c98080"))
    ink.fill(box(6, 44, 88, 8, 4), Linear(((0, _c("#f6d8a0")), (1, _c("#9a6428")))))
    ink.fill([(36, 50), (64, 50), (66, 72), (50, 80), (34, 72)], _c("#ffffff"))
    for i in range(3):
        ink.clipped(
            [(36, 50), (64, 50), (66, 72), (50, 80), (34, 72)], box(38 + i * 10, 46, 4, 40), _c("#e2202ea0")
        )
        ink.clipped(
            [(36, 50), (64, 50), (66, 72), (50, 80), (34, 72)], box(30, 53 + i * 10, 40, 4), _c("#e2202ea0")
        )


def golden(ink: Ink) -> None:
    """A golden apple."""
    half = outline((50, 32), ((58, 20), (82, 20), (88, 42)), ((92, 66), (74, 94), (50, 91)))
    apple = half + mirror(half)
    ink.fill(ribbon([(50, 34), (51, 20), (58, 8)], 5.4, 4), _c("#4f2f08"))
    leaf(ink, 55, 17, 29, 0)
    ink.glow(apple, 10, _c("#ffd23f80"))
    round_fruit(ink, apple, ("#fffbd6", "#ffd23f", "#e0920f", "#7a4a04"))
    sparkle(ink, 68, 40, 10)


def pear(ink: Ink) -> None:
    """A pear."""
    half = outline((50, 18), ((66, 16), (64, 38), (72, 50)), ((86, 68), (80, 94), (50, 94)))
    ink.fill(ribbon([(50, 22), (51, 12), (57, 3)], 5, 3.6), _c("#4f2f08"))
    leaf(ink, 54, 12, 28, 4)
    round_fruit(ink, half + mirror(half), ("#f6ffb8", "#bfe03a", "#6f9a14", "#304a06"))
    for x, y in ((60, 60), (44, 72), (66, 74), (54, 82)):
        ink.fill(ellipse(x, y, 1), _c("#4f7008a0"))


def honey(ink: Ink) -> None:
    """A pot of honey."""
    pot = outline(
        (20, 34),
        ((4, 54), (14, 92), (50, 94)),
        ((86, 92), (96, 54), (80, 34)),
        ((60, 38), (40, 38), (20, 34)),
    )
    ink.stroke(pot, 3, _INK)
    ink.fill(pot, Radial(((0, _c("#ffe08a")), (0.5, _c("#e0902a")), (1, _c("#7d420c"))), (0.36, 0.3), 0.9))
    ink.fill(box(14, 22, 72, 14, 7), _INK)
    ink.fill(box(16, 24, 68, 10, 5), Linear(((0, _c("#fff0b8")), (1, _c("#d98a1f")))))
    drip = outline(
        (24, 30),
        ((26, 46), (34, 48), (36, 38)),
        ((38, 56), (50, 62), (54, 40)),
        ((58, 48), (66, 48), (68, 32)),
    )
    ink.fill(drip, Linear(((0, _c("#fff3a8")), (1, _c("#ffb51f")))))
    for x, y in ((50, 70), (38, 77), (62, 77)):
        ink.fill(polygon(x, y, 8, 6), _c("#7d420c"))
        ink.fill(polygon(x, y, 6.2, 6), _c("#ffcf3a"))
    stick = rotate(box(48, -6, 4, 34, 2), 24, (50, 24))
    ink.fill(stick, WOOD)


def leaf_symbol(ink: Ink) -> None:
    """A green leaf."""
    shape = outline((14, 88), ((6, 40), (34, 6), (92, 8)), ((96, 62), (62, 98), (14, 88)))
    ink.stroke(shape, 3, _c("#0a3a14"))
    ink.fill(shape, LEAF)
    ink.fill(ribbon([(6, 96), (40, 58), (86, 14)], 4, 0.8), _c("#d6ffb0d0"))
    for x, y, dx, dy in (
        (34, 66, 4, -30),
        (50, 48, 4, -26),
        (34, 66, 32, -2),
        (50, 48, 28, -2),
        (66, 33, 2, -16),
        (66, 33, 18, 0),
    ):
        ink.clipped(shape, ribbon([(x, y), (x + dx, y + dy)], 2, 0.5), _c("#d6ffb0a0"))


def twig(ink: Ink) -> None:
    """A twig with blossom."""
    for spine, width in (
        ([(6.0, 90.0), (40.0, 62.0), (92.0, 16.0)], 8.0),
        ([(40.0, 62.0), (36.0, 34.0), (44.0, 14.0)], 5.5),
        ([(60.0, 45.0), (82.0, 52.0), (94.0, 48.0)], 5.0),
    ):
        ink.fill(ribbon(spine, width + 2.4, 3.4), _INK)
        ink.fill(ribbon(spine, width, 1.8), WOOD)
    for x, y in ((44, 14), (92, 18), (92, 50), (60, 36)):
        for i in range(5):
            petal = rotate(ellipse(x, y - 7.5, 5, 7.5), i * 72, (x, y))
            ink.stroke(petal, 1.2, _c("#a8487a"))
            ink.fill(petal, _c("#ffd0e4"))
        ink.fill(ellipse(x, y, 3.4), _c("#ffd23f"))
    leaf(ink, 26, 74, 24, -80)

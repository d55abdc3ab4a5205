"""Woods and water of the north: the symbols of the maple games."""

from egm.screen.art.fruit import GOLD, GOLD_EDGE, LEAF
from egm.screen.art.ink import Ink, Linear, Radial
from egm.screen.art.paths import Path, arc, box, ellipse, mirror, outline, polygon, ribbon, rotate, scale
from egm.screen.theme import parse_colour

_c = parse_colour

#: The right half of a maple leaf, from the tip of the middle lobe down to the stalk.
_HALF_LEAF: Path = [
    (50, 4),
    (56.5, 16),
    (61, 13.5),
    (59, 33),
    (68.5, 23.5),
    (70.5, 29),
    (83, 26.5),
    (79, 39.5),
    (86, 43.5),
    (67, 58.5),
    (69.5, 66),
    (52, 63),
]


def maple(ink: Ink) -> None:
    """A maple leaf in autumn red."""
    half = scale(_HALF_LEAF, 1.12, (50, 44))
    leaf = half + mirror(half)
    ink.glow(leaf, 8, _c("#ff3b1f70"))
    ink.fill(ribbon([(50, 60), (50.5, 76), (54, 96)], 4.6, 3.2), _c("#5a0d06"))
    ink.fill(ribbon([(50, 60), (50.5, 76), (54, 95)], 2.6, 1.8), _c("#e2582a"))
    ink.stroke(leaf, 4.4, _c("#4d0606"))
    ink.stroke(leaf, 2.2, GOLD)
    ink.fill(
        leaf, Linear(((0, _c("#ff8a3c")), (0.35, _c("#ef2a1c")), (0.75, _c("#c00f1c")), (1, _c("#7d0716"))))
    )
    ink.clipped(leaf, [(50, 0), (50, 80), (0, 80), (0, 0)], _c("#ffffff26"))
    for end in ((50, 12), (78, 30), (22, 30), (72, 56), (28, 56)):
        ink.clipped(leaf, ribbon([(50, 66), end], 2.4, 0.5), _c("#ffd27a90"))
    for start, end in (
        ((50, 40), (60, 26)),
        ((50, 40), (40, 26)),
        ((64, 48), (82, 44)),
        ((36, 48), (18, 44)),
    ):
        ink.clipped(leaf, ribbon([start, end], 1.4, 0.4), _c("#ffd27a70"))


def lantern(ink: Ink) -> None:
    """A storm lantern, alight: the wild."""
    ink.fill(
        ellipse(50, 56, 46),
        Radial(((0, _c("#ffe27ac0")), (0.5, _c("#ffb02e50")), (1, _c("#ff9a0000"))), (0.5, 0.5), 0.5),
    )
    ink.stroke([(30, 26), (33, 12), (50, 5), (67, 12), (70, 26)], 4.2, GOLD_EDGE, closed=False)
    ink.stroke([(30, 26), (33, 12), (50, 5), (67, 12), (70, 26)], 2.4, GOLD, closed=False)
    for path in ([(40, 16), (60, 16), (64, 26), (36, 26)], [(31, 26), (69, 26), (73, 34), (27, 34)]):
        ink.stroke(path, 2, _c("#3d0a0a"))
        ink.fill(path, Linear(((0, _c("#ff7a66")), (0.4, _c("#d3202a")), (1, _c("#7d0a16"))), sideways=True))
    glass = outline(
        (32, 34),
        ((22, 48), (24, 66), (34, 78)),
        ((44, 79), (56, 79), (66, 78)),
        ((76, 66), (78, 48), (68, 34)),
        ((56, 33), (44, 33), (32, 34)),
    )
    ink.fill(scale(glass, 1.04, (50, 56)), _c("#4d2a05"))
    ink.fill(
        glass,
        Radial(
            ((0, _c("#fffef0")), (0.35, _c("#ffe88a")), (0.75, _c("#ffab2e")), (1, _c("#b85a0a"))),
            (0.5, 0.62),
            0.7,
        ),
    )
    flame = outline(
        (50, 40),
        ((53, 48), (59, 54), (57, 64)),
        ((56, 71), (44, 71), (43, 64)),
        ((41, 56), (48, 50), (50, 40)),
    )
    ink.fill(flame, Linear(((0, _c("#fff3b0")), (0.5, _c("#ff9d1f")), (1, _c("#f0461a")))))
    ink.fill(
        outline(
            (50, 52),
            ((53, 58), (55, 60), (54, 65)),
            ((53, 69), (47, 69), (46, 65)),
            ((45, 61), (49, 58), (50, 52)),
        ),
        _c("#fffbe0"),
    )
    ink.clipped(
        glass,
        outline(
            (36, 36),
            ((28, 48), (28, 60), (35, 74)),
            ((38, 70), (33, 54), (41, 36)),
            ((40, 36), (38, 36), (36, 36)),
        ),
        _c("#ffffff9c"),
    )
    for points in ([(29, 36), (22, 52), (30, 78)], [(71, 36), (78, 52), (70, 78)]):
        ink.stroke(points, 3.4, _c("#3d0a0a"), closed=False)
        ink.stroke(points, 1.8, _c("#e0434a"), closed=False)
    for plate in (box(28, 77, 44, 8, 3), box(23, 84, 54, 11, 4)):
        ink.stroke(plate, 2, _c("#3d0a0a"))
        ink.fill(
            plate, Linear(((0, _c("#ff7a66")), (0.35, _c("#d3202a")), (1, _c("#6d0812"))), sideways=True)
        )
    ink.fill(box(27, 86, 46, 2.2, 1), _c("#ffffff70"))


def loon(ink: Ink) -> None:
    """A loon on still water."""
    ink.fill(
        ellipse(50, 82, 46, 11),
        Radial(((0, _c("#7fd8ff")), (0.7, _c("#2580b8")), (1, _c("#12466d00"))), (0.5, 0.4), 0.62),
    )
    body = outline(
        (22, 62),
        ((34, 54), (52, 60), (66, 58)),
        ((80, 56), (90, 58), (95, 64)),
        ((90, 80), (66, 86), (46, 84)),
        ((28, 82), (16, 74), (22, 62)),
    )
    ink.fill(scale(body, 1.03, (56, 70)), _c("#05070d"))
    ink.fill(body, Linear(((0, _c("#39424f")), (0.5, _c("#141a24")), (1, _c("#05070d")))))
    ink.clipped(body, ellipse(52, 88, 34, 12), _c("#f4f7fb"))
    for row in range(4):
        for i in range(9 - row):
            ink.clipped(body, box(44 + i * 5 + row * 2.2, 61.5 + row * 4.2, 2.6, 2.3, 0.6), _c("#ffffff"))
    neck = outline(
        (22, 66),
        ((20, 52), (22, 44), (26, 36)),
        ((25, 22), (38, 14), (48, 20)),
        ((54, 25), (52, 34), (47, 38)),
        ((42, 46), (42, 56), (46, 64)),
        ((38, 70), (28, 70), (22, 66)),
    )
    ink.fill(scale(neck, 1.03, (36, 42)), _c("#03050a"))
    ink.fill(neck, Linear(((0, _c("#2c4a4f")), (0.4, _c("#10222b")), (1, _c("#070c14"))), sideways=True))
    ink.clipped(
        neck,
        outline(
            (20, 52),
            ((30, 47), (36, 47), (44, 51)),
            ((44, 55), (42, 56), (42, 57)),
            ((34, 54), (28, 54), (20, 59)),
        ),
        _c("#f4f7fb"),
    )
    for i in range(7):
        ink.clipped(neck, box(22.5 + i * 3, 47, 1, 11), _c("#0a1018"))
    ink.fill([(26.5, 26), (4, 33), (26, 34.5)], _c("#05070d"))
    ink.fill([(26, 27.5), (6, 32.8), (26, 31.4)], _c("#55606e"))
    ink.fill(ellipse(35, 27, 3.5), _c("#4d0408"))
    ink.fill(ellipse(35, 27, 2.8), _c("#ff3030"))
    ink.fill(ellipse(34.2, 26.2, 0.9), _c("#ffffff"))
    ink.stroke([(10, 84), (30, 88), (52, 86), (74, 89), (92, 84)], 1.2, _c("#e2f6ffa0"), closed=False)


def canoe(ink: Ink) -> None:
    """A birch-bark canoe and its paddle."""
    ink.fill(
        ellipse(50, 80, 47, 9),
        Radial(((0, _c("#7fd8ff")), (0.7, _c("#2580b8")), (1, _c("#12466d00"))), (0.5, 0.4), 0.62),
    )
    paddle = rotate(ribbon([(50, 6), (50, 66)], 3.4), 32, (50, 50))
    blade = rotate(
        outline(
            (46, 66),
            ((42, 76), (44, 90), (50, 92)),
            ((56, 90), (58, 76), (54, 66)),
            ((52, 64), (48, 64), (46, 66)),
        ),
        32,
        (50, 50),
    )
    for shape in (paddle, blade):
        ink.stroke(shape, 1.8, _c("#3d1f06"))
        ink.fill(shape, Linear(((0, _c("#f0b860")), (1, _c("#a8651f")))))
    hull = outline(
        (4, 42),
        ((14, 54), (30, 58), (50, 58)),
        ((70, 58), (86, 54), (96, 42)),
        ((97, 62), (84, 80), (62, 80)),
        ((50, 80.5), (50, 80.5), (38, 80)),
        ((16, 80), (3, 62), (4, 42)),
    )
    ink.stroke(hull, 3.2, _c("#2b1304"))
    ink.fill(
        hull, Linear(((0, _c("#f6e0b0")), (0.35, _c("#d99a4f")), (0.75, _c("#a8602a")), (1, _c("#5d2f10"))))
    )
    for x in (24, 50, 76):
        ink.clipped(hull, box(x - 0.8, 44, 1.6, 40), _c("#5d2f10b0"))
    for i in range(26):
        x = 8 + (i * 37 % 84)
        ink.clipped(hull, box(x, 60 + (i * 13 % 17), 5, 1, 0.5), _c("#5d2f1090"))
    gunwale = outline(
        (4, 42),
        ((14, 54), (30, 58), (50, 58)),
        ((70, 58), (86, 54), (96, 42)),
        ((88, 60), (70, 63), (50, 63)),
        ((30, 63), (12, 60), (4, 42)),
    )
    ink.fill(gunwale, Linear(((0, _c("#c23a2a")), (1, _c("#7d1712")))))
    ink.stroke([(6, 46), (24, 57), (50, 60.5), (76, 57), (94, 46)], 1.0, _c("#ffc79a"), closed=False)


def pine(ink: Ink) -> None:
    """A pine under a little snow."""
    ink.fill(
        box(45.5, 80, 9, 17, 1),
        Linear(((0, _c("#8a5a2b")), (0.5, _c("#5d3816")), (1, _c("#351d08"))), sideways=True),
    )
    for top, low, half in ((44, 86, 38), (25, 64, 31), (4, 42, 23)):
        left, right = 50 - half, 50 + half
        tier: Path = [(50, top)]
        tier += [(50 + half * 0.45, top + (low - top) * 0.55), (right, low)]
        count = 6
        for i in range(1, count * 2):
            x = right - (right - left) * i / (count * 2)
            tier.append((x, low + (4.5 if i % 2 else -1.5)))
        tier += [(left, low), (50 - half * 0.45, top + (low - top) * 0.55)]
        ink.stroke(tier, 3, _c("#04260f"))
        ink.fill(tier, Linear(((0, _c("#6fd07a")), (0.45, _c("#1f8a46")), (1, _c("#0a4a26")))))
        ink.clipped(tier, [(50, top), (right + 4, low + 6), (50, low + 6)], _c("#02180a60"))
        ink.clipped(
            tier,
            outline(
                (50, top),
                ((50 + half * 0.2, top + 10), (50 + half * 0.3, top + 9), (50 + half * 0.42, top + 18)),
                ((50 + half * 0.1, top + 13), (50 - half * 0.2, top + 18), (50 - half * 0.45, top + 22)),
                ((50 - half * 0.2, top + 10), (50 - 3, top + 5), (50, top)),
            ),
            _c("#f4fbff"),
        )


def trillium(ink: Ink) -> None:
    """A trillium: three leaves, three petals."""
    leaf = outline((50, 52), ((34, 40), (34, 18), (50, 2)), ((66, 18), (66, 40), (50, 52)))
    for turn in (60, 180, 300):
        shape = rotate(leaf, turn, (50, 52))
        ink.stroke(shape, 2.6, _c("#04330f"))
        ink.fill(shape, LEAF)
        ink.fill(rotate(ribbon([(50, 50), (50, 8)], 1.8, 0.4), turn, (50, 52)), _c("#d6ffb090"))
    petal = outline((50, 53), ((28, 40), (30, 20), (50, 6)), ((70, 20), (72, 40), (50, 53)))
    for turn in (0, 120, 240):
        shape = rotate(petal, turn, (50, 52))
        ink.stroke(shape, 2.4, _c("#7d5a8a"))
        ink.fill(
            shape, Radial(((0, _c("#ffffff")), (0.55, _c("#fdf4ff")), (1, _c("#d9b8e0"))), (0.45, 0.4), 0.75)
        )
        for bend in (-5, 0, 5):
            ink.fill(
                rotate(ribbon([(50, 50), (50 + bend, 30), (50 + bend * 1.3, 16)], 1.3, 0.3), turn, (50, 52)),
                _c("#c79ad080"),
            )
    for turn in range(0, 360, 60):
        stamen = rotate(ellipse(50, 43, 2.5, 5), turn, (50, 52))
        ink.fill(scale(stamen, 1.25, (50, 52)), _c("#8a5206"))
        ink.fill(stamen, _c("#ffd75e"))
    ink.fill(ellipse(50, 52, 4), _c("#f2fbd0"))


def birch(ink: Ink) -> None:
    """A birch log end and bark, bound as a charm."""
    for i, (x, y, turn) in enumerate(((50, 40, 0), (34, 64, 0), (66, 64, 0))):
        log = box(x - 24, y - 13, 48, 26, 12)
        log = rotate(log, turn, (x, y))
        ink.stroke(log, 2.6, _c("#1d1712"))
        ink.fill(log, Linear(((0, _c("#ffffff")), (0.45, _c("#ece4d6")), (1, _c("#a89c8a")))))
        for k in range(9):
            mark_x = x - 12 + (k * 17 + i * 11) % 34
            mark_y = y - 10 + (k * 7 + i * 5) % 19
            ink.clipped(log, ellipse(mark_x, mark_y, 3.4, 0.9), _c("#2b2420"))
        ink.fill(ellipse(x - 15, y, 9.5, 12.5), _c("#1d1712"))
        ink.fill(
            ellipse(x - 15, y, 8.3, 11.3),
            Radial(((0, _c("#b8743a")), (0.5, _c("#f0cf98")), (1, _c("#c08a4a"))), (0.5, 0.5), 0.55),
        )
        for ring in (7.8, 5.4, 3.0):
            ink.fill(arc(x - 15, y, ring * 0.88, 0, 360, 0.9), _c("#9a6430a0"))
    leaf = outline((74, 22), ((80, 8), (92, 6), (98, 8)), ((98, 18), (90, 28), (74, 22)))
    ink.stroke(leaf, 1.8, _c("#3d3a04"))
    ink.fill(leaf, Linear(((0, _c("#ffe66b")), (1, _c("#c79a12")))))
    ink.fill(ribbon([(66, 28), (76, 21), (94, 11)], 1.6, 0.5), _c("#7d5a06"))


def snowflake(ink: Ink) -> None:
    """A snowflake."""
    ink.glow(ellipse(50, 50, 40), 10, _c("#9fdcff70"))
    for paint, width in ((_c("#1f5a8a"), 7.0), (_c("#e8f8ff"), 4.0)):
        for turn in range(0, 360, 60):
            for spine in (
                [(50.0, 50.0), (50.0, 7.0)],
                [(50.0, 26.0), (38.0, 14.0)],
                [(50.0, 26.0), (62.0, 14.0)],
                [(50.0, 38.0), (42.0, 30.0)],
                [(50.0, 38.0), (58.0, 30.0)],
            ):
                ink.stroke(rotate(spine, turn), width, paint, closed=False)
    ink.fill(polygon(50, 50, 9, 6), _c("#ffffff"))


def moose(ink: Ink) -> None:
    """A moose's head."""
    palm = outline(
        (58, 34),
        ((66, 32), (70, 30), (72, 26)),
        ((66, 22), (66, 12), (70, 8)),
        ((71, 14), (74, 15), (76, 8)),
        ((78, 5), (79, 7), (79, 14)),
        ((82, 8), (86, 4), (88, 6)),
        ((88, 10), (86, 14), (86, 18)),
        ((91, 12), (96, 12), (97, 15)),
        ((96, 28), (84, 40), (62, 42)),
    )
    for shape in (palm, mirror(palm)):
        ink.stroke(shape, 2.4, _c("#3d2206"))
        ink.fill(shape, Linear(((0, _c("#f6dca8")), (1, _c("#a8743a")))))
    ear = outline((61, 40), ((70, 36), (78, 38), (82, 44)), ((76, 50), (68, 50), (62, 48)))
    for shape in (ear, mirror(ear)):
        ink.fill(shape, _c("#4f2c12"))
    half = outline(
        (50, 32),
        ((58, 32), (64, 38), (63, 48)),
        ((62, 58), (60, 64), (63, 74)),
        ((66, 86), (60, 94), (50, 94)),
    )
    head = half + mirror(half)
    ink.stroke(head, 2.6, _c("#1f0f04"))
    ink.fill(head, Linear(((0, _c("#a8703a")), (0.45, _c("#7a4720")), (1, _c("#4a2610")))))
    ink.clipped(head, ellipse(50, 86, 15, 12), _c("#c9986090"))
    for x in (44.0, 56.0):
        ink.fill(ellipse(x, 86, 2.4, 3.2), _c("#1f0f04"))
    for x in (41.5, 58.5):
        ink.fill(ellipse(x, 49, 3), _c("#120803"))
        ink.fill(ellipse(x - 0.8, 48, 1), _c("#ffffff"))

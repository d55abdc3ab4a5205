"""Sky, ice and river: symbols of the games played out of doors."""

import math

from egm.screen.art.fruit import GOLD, GOLD_EDGE, HEAVY, LEAF, round_fruit
from egm.screen.art.ink import Ink, Linear, Radial
from egm.screen.art.jewels import banner, gem, sparkle
from egm.screen.art.paths import (
    Path,
    arc,
    box,
    ellipse,
    outline,
    polygon,
    ribbon,
    rotate,
    star,
)
from egm.screen.theme import mix, parse_colour

_c = parse_colour
_INK = _c("#120c18")
WOOD = Linear(((0, _c("#e0a860")), (0.5, _c("#a86a2c")), (1, _c("#5d3410"))))
STEEL = Linear(((0, _c("#f4f8ff")), (0.45, _c("#a9b6c9")), (0.55, _c("#6d7b90")), (1, _c("#3a4658"))))
ROPE = Linear(((0, _c("#f2dca6")), (1, _c("#a07a38"))))


def aurora(ink: Ink) -> None:
    """The northern lights over a wood: wild."""
    ink.fill(ellipse(50, 50, 49.5), GOLD_EDGE)
    ink.fill(ellipse(50, 50, 48.5), GOLD)
    ink.fill(ellipse(50, 50, 45), Linear(((0, _c("#0a0f3a")), (0.6, _c("#123a6d")), (1, _c("#081428")))))
    disc = ellipse(50, 50, 45)
    for shift, colour in ((0, "#4dffb0"), (9, "#7dffe0"), (18, "#b58bff")):
        top: Path = [(4 + i * 4.6, 30 - shift * 0.6 + 8 * math.sin(i * 0.7 + shift)) for i in range(21)]
        low: Path = [(x, y + 34 - shift * 0.4) for x, y in reversed(top)]
        ink.clipped(
            disc,
            top + low,
            Linear(((0, (*_c(colour)[:3], 20)), (0.4, (*_c(colour)[:3], 215)), (1, (*_c(colour)[:3], 0)))),
        )
    for i in range(9):
        ink.clipped(
            disc, [(2 + i * 12, 96), (8 + i * 12, 66 - (i % 3) * 6), (14 + i * 12, 96)], _c("#04140f")
        )
    for x, y, s in ((30, 20, 4), (62, 14, 5), (76, 30, 3)):
        sparkle(ink, x, y, s)
    ink.text(
        HEAVY,
        "WILD",
        (50, 76),
        24,
        Linear(((0, _c("#ffffff")), (1, _c("#b8ffe0")))),
        edge=1.4,
        edge_paint=_c("#04140f"),
        width=66,
    )


def kayak(ink: Ink) -> None:
    """A kayak and its double paddle."""
    ink.fill(
        ellipse(50, 76, 46, 12),
        Radial(((0, _c("#8fe0ff")), (0.7, _c("#2580b8")), (1, _c("#12466d00"))), (0.5, 0.4), 0.62),
    )
    hull = outline((2, 56), ((24, 42), (76, 42), (98, 56)), ((82, 78), (18, 78), (2, 56)))
    ink.stroke(hull, 3, _INK)
    ink.fill(hull, Linear(((0, _c("#ffd27a")), (0.4, _c("#ff8a1f")), (1, _c("#b8430a")))))
    ink.fill(ellipse(50, 55, 15, 6), _INK)
    ink.fill(ellipse(50, 55.6, 12, 4.2), _c("#5d2408"))
    shaft = rotate(box(48.4, 4, 3.2, 92, 1.6), 62)
    ink.stroke(shaft, 1.6, _INK)
    ink.fill(shaft, STEEL)
    for end in (0, 180):
        blade = rotate(ellipse(50, 8, 6.5, 13), 62 + end)
        ink.stroke(blade, 2, _INK)
        ink.fill(blade, Linear(((0, _c("#7fd0ff")), (1, _c("#1f5fb8")))))


def comet(ink: Ink) -> None:
    """A comet: the wild that grows."""
    for colour, width in (("#ff6a1f50", 46.0), ("#ffb02e80", 32.0), ("#fff0a0c0", 17.0)):
        ink.fill(ribbon([(66, 34), (40, 58), (6, 94)], width, 1.0), _c(colour))
    ink.glow(ellipse(66, 34, 26), 16, _c("#ffd86b90"))
    ink.fill(
        ellipse(66, 34, 25),
        Radial(
            ((0, _c("#ffffff")), (0.4, _c("#fff0a0")), (0.75, _c("#ffb02e")), (1, _c("#d95a0a"))),
            (0.58, 0.42),
            0.7,
        ),
    )
    sparkle(ink, 74, 26, 13)
    ink.text(
        HEAVY,
        "WILD",
        (52, 80),
        24,
        Linear(((0, _c("#ffffff")), (1, _c("#ffe39a")))),
        edge=1.6,
        edge_paint=_c("#4a1a04"),
        width=70,
    )


def sun(ink: Ink) -> None:
    """The sun."""
    ink.fill(star(50, 50, 49, 34, 14), GOLD_EDGE)
    ink.fill(star(50, 50, 46, 33, 14), Linear(((0, _c("#fff3a8")), (1, _c("#ff9a1f")))))
    round_fruit(ink, ellipse(50, 50, 31), ("#fffbd0", "#ffc928", "#f08a0a", "#9a4a04"))


def moon(ink: Ink) -> None:
    """The moon."""
    round_fruit(ink, ellipse(50, 50, 43), ("#ffffff", "#cfd8e8", "#8494b4", "#39445f"), shine=False)
    for x, y, r in ((38, 34, 9), (63, 46, 7), (44, 64, 11), (68, 70, 5), (26, 54, 5)):
        ink.fill(ellipse(x, y, r), _c("#8b9ab8"))
        ink.fill(ellipse(x + 1, y + 1.2, r * 0.84), _c("#aab6cf"))


def planet(ink: Ink, shades: tuple[str, str, str, str], *, ring: bool = False) -> None:
    """A planet in bands of cloud, with or without a ring."""
    radius = 30.0 if ring else 40.0
    if ring:
        ink.stroke(rotate(ellipse(50, 50, 48, 13), -20), 7, _c("#6d4a1a"))
        ink.stroke(rotate(ellipse(50, 50, 48, 13), -20), 4.4, GOLD)
    round_fruit(ink, ellipse(50, 50, radius), shades, shine=False)
    for k, y in enumerate((-0.45, -0.12, 0.25, 0.55)):
        band = outline(
            (50 - radius, 50 + y * radius),
            ((40, 50 + (y + 0.16) * radius), (60, 50 + (y + 0.1) * radius), (50 + radius, 50 + y * radius)),
            ((60, 50 + (y + 0.26) * radius), (40, 50 + (y + 0.3) * radius), (50 - radius, 50 + y * radius)),
        )
        ink.clipped(ellipse(50, 50, radius * 0.94), band, _c("#ffffff30") if k % 2 else _c("#00000030"))
    ink.fill(
        ellipse(50 - radius * 0.32, 50 - radius * 0.42, radius * 0.3, radius * 0.17, -24), _c("#ffffff80")
    )
    if ring:
        front = [
            p for p in rotate(ellipse(50, 50, 48, 13), -20) if (p[0] - 50) * 0.342 + (p[1] - 50) * 0.94 > 0
        ]
        front.sort()
        ink.stroke(front, 7, _c("#6d4a1a"), closed=False)
        ink.stroke(front, 4.4, GOLD, closed=False)


def ring_planet(ink: Ink) -> None:
    """The ringed planet."""
    planet(ink, ("#fff0c9", "#e8b86b", "#a8702c", "#4f2f0a"), ring=True)


def red_planet(ink: Ink) -> None:
    """The red planet."""
    planet(ink, ("#ffb59a", "#e2482a", "#8f1c0c", "#430a04"))


def blue_planet(ink: Ink) -> None:
    """The blue planet."""
    planet(ink, ("#c9ecff", "#3a8df0", "#14449a", "#061c4a"))


def green_planet(ink: Ink) -> None:
    """The green planet."""
    planet(ink, ("#d6ffc2", "#4fc24a", "#1a6b2a", "#062f12"))


def dust(ink: Ink) -> None:
    """A cloud of star dust."""
    for x, y, r, colour in (
        (34, 56, 26, "#7a4fd0a0"),
        (62, 46, 28, "#c04fb8a0"),
        (52, 66, 24, "#4f7ad0a0"),
        (48, 40, 20, "#e88fd0a0"),
    ):
        ink.fill(ellipse(x, y, r), Radial(((0, _c(colour)), (1, (*_c(colour)[:3], 0))), (0.5, 0.5), 0.5))
    for i in range(26):
        angle, reach = i * 2.4, 6 + (i * 37 % 38)
        sparkle(ink, 50 + reach * math.cos(angle), 52 + reach * 0.8 * math.sin(angle), 2.5 + i * 13 % 6)


def prism(ink: Ink) -> None:
    """A prism of ice that splits the light."""
    for i, colour in enumerate(("#ff5d5d", "#ffb02e", "#fff05d", "#5dff8a", "#4fb8ff", "#a06bff")):
        ink.fill([(58, 50), (100, 44 + i * 7.5), (100, 51.5 + i * 7.5)], _c(colour))
    ink.fill([(0, 42), (44, 50), (0, 48)], _c("#ffffff"))
    gem(ink, [(50, 8), (88, 84), (12, 84)], (_c("#ffffff"), _c("#8fdcff"), _c("#1f6db8")), 0.5)


def floe(ink: Ink) -> None:
    """A floe of ice."""
    ink.fill(
        ellipse(50, 78, 48, 14),
        Radial(((0, _c("#5fc0f0")), (0.7, _c("#1f70a8")), (1, _c("#12466d00"))), (0.5, 0.4), 0.62),
    )
    for face, colour in (
        ([(6, 70), (22, 34), (40, 46), (44, 84)], "#9fdcff"),
        ([(22, 34), (46, 10), (62, 30), (40, 46)], "#ffffff"),
        ([(40, 46), (62, 30), (94, 66), (44, 84)], "#c9efff"),
        ([(62, 30), (78, 40), (94, 66)], "#6fbfee"),
        ([(6, 70), (44, 84), (40, 92), (14, 82)], "#4f9fd8"),
        ([(44, 84), (94, 66), (86, 80), (40, 92)], "#6fb8e8"),
    ):
        ink.stroke(face, 1.6, _c("#0f4a78"))
        ink.fill(face, Linear(((0, mix(_c(colour), (255, 255, 255, 255), 0.3)), (1, _c(colour)))))


def hail(ink: Ink) -> None:
    """Hailstones below a cloud."""
    for x, y, r in ((30.0, 34.0, 20.0), (52.0, 26.0, 22.0), (72.0, 36.0, 18.0), (48.0, 42.0, 22.0)):
        ink.fill(ellipse(x, y, r + 1.6), _c("#26364a"))
    for x, y, r in ((30.0, 34.0, 20.0), (52.0, 26.0, 22.0), (72.0, 36.0, 18.0), (48.0, 42.0, 22.0)):
        ink.fill(ellipse(x, y, r), Radial(((0, _c("#dfeaf8")), (1, _c("#6f86a4"))), (0.4, 0.3), 0.9))
    for x, y, r in (
        (22.0, 70.0, 7.0),
        (40.0, 80.0, 8.5),
        (58.0, 70.0, 7.0),
        (76.0, 80.0, 8.5),
        (50.0, 94.0, 5.5),
    ):
        round_fruit(ink, ellipse(x, y, r), ("#ffffff", "#cfe8fa", "#7fa8cc", "#2f5478"))


def raft(ink: Ink, count: int) -> None:
    """A raft of one, two or three tiers of logs, with a pennant."""
    ink.fill(
        ellipse(50, 84, 47, 11),
        Radial(((0, _c("#8fe0ff")), (0.7, _c("#2580b8")), (1, _c("#12466d00"))), (0.5, 0.4), 0.62),
    )
    ink.stroke([(50, 78 - count * 14), (50, 6)], 4.6, _INK, closed=False)
    ink.stroke([(50, 78 - count * 14), (50, 7)], 2.6, WOOD, closed=False)
    colours = {1: "#2f9a4a", 2: "#1f5fd0", 3: "#d0202e"}
    for i in range(count):
        flag = [(51, 8 + i * 11), (78, 13 + i * 11), (51, 18 + i * 11)]
        ink.stroke(flag, 1.6, _INK)
        ink.fill(flag, _c(colours[count]))
    for tier in range(count):
        y = 76 - tier * 14
        wide = 86 - tier * 14
        log = box(50 - wide / 2, y - 7, wide, 14, 7)
        ink.stroke(log, 2.4, _INK)
        ink.fill(log, WOOD)
        ink.fill(ellipse(50 - wide / 2 + 5.5, y, 4.4, 5.6), _c("#f0cf98"))
        ink.fill(arc(50 - wide / 2 + 5.5, y, 2.8, 0, 360, 1), _c("#8a5220"))
        for x in (30, 70):
            ink.fill(box(x - 2.4, y - 7.6, 4.8, 15.2, 1), ROPE)


def rapids(ink: Ink) -> None:
    """White water between stones."""
    disc = ellipse(50, 50, 46)
    ink.fill(ellipse(50, 50, 49), GOLD_EDGE)
    ink.fill(disc, Linear(((0, _c("#0a2f5d")), (1, _c("#1f7ac0")))))
    for i, (paint, y) in enumerate((("#0f4f8a", 20), ("#1f7ac0", 38), ("#4fb0e8", 56), ("#a8e0ff", 74))):
        path: Path = [(x, y + 6 * math.sin(x / 9 + i * 1.7)) for x in range(0, 103, 3)]
        ink.clipped(disc, [*path, (100.0, 100.0), (0.0, 100.0)], _c(paint))
        ink.clipped(disc, ribbon(path, 2.6), _c("#ffffffd0"))
    for x, y, r in ((28, 74, 12), (68, 58, 12), (56, 84, 8)):
        round_fruit(ink, ellipse(x, y, r, r * 0.72), ("#c9c4d0", "#7d7788", "#3f3a4a", "#16131c"))


def river(ink: Ink) -> None:
    """A river winding from the hills."""
    disc = ellipse(50, 50, 46)
    ink.fill(ellipse(50, 50, 49), GOLD_EDGE)
    ink.fill(
        disc, Linear(((0, _c("#8fd8ff")), (0.42, _c("#e8f8ff")), (0.44, _c("#4faa4a")), (1, _c("#1c6b2a"))))
    )
    ink.clipped(disc, [(0, 46), (24, 18), (46, 46)], _c("#5c7a9a"))
    ink.clipped(disc, [(34, 46), (64, 12), (100, 46)], _c("#7d9aba"))
    ink.clipped(disc, [(54, 23), (64, 12), (76, 24), (65, 27)], _c("#ffffff"))
    flow = outline(
        (52, 44),
        ((58, 54), (36, 60), (38, 68)),
        ((40, 80), (70, 80), (64, 100)),
        ((44, 100), (24, 100), (18, 98)),
        ((20, 80), (24, 70), (28, 64)),
        ((34, 56), (50, 52), (50, 44)),
    )
    ink.clipped(disc, flow, Linear(((0, _c("#dff6ff")), (0.4, _c("#3a9ae0")), (1, _c("#1456a0")))))


def ember(ink: Ink) -> None:
    """A glowing ember."""
    for shape, colour in ((polygon(50, 58, 38, 7, 10), "#1c0f0a"), (polygon(50, 58, 34, 7, 10), "#4a1408")):
        ink.fill(shape, _c(colour))
    ink.glow(ellipse(50, 56, 28), 16, _c("#ff7a1f90"))
    for i in range(7):
        a = math.radians(i * 51 + 20)
        ink.fill(
            ribbon(
                [
                    (50, 58),
                    (50 + 17 * math.cos(a), 58 + 17 * math.sin(a)),
                    (50 + 33 * math.cos(a + 0.2), 58 + 33 * math.sin(a + 0.2)),
                ],
                6,
                1.2,
            ),
            Linear(((0, _c("#fff08a")), (1, _c("#ff5a0a")))),
        )
    ink.fill(ellipse(50, 58, 11), Radial(((0, _c("#ffffff")), (0.5, _c("#ffe06b")), (1, _c("#ff7a1f")))))
    for x, y, s in ((34, 18, 4), (60, 10, 5), (74, 24, 3), (48, 24, 3)):
        ink.fill(ellipse(x, y, s, s * 1.5), _c("#ffb02e"))


def stone(ink: Ink) -> None:
    """A cairn of three stones."""
    for cx, cy, rx, ry in ((50, 78, 36, 17), (48, 50, 26, 14), (52, 26, 17, 12)):
        round_fruit(ink, ellipse(cx, cy, rx, ry, -4), ("#e2dde8", "#9a94a8", "#544e64", "#1f1b2a"))


def moss(ink: Ink) -> None:
    """Ferns and moss."""
    round_fruit(ink, ellipse(50, 82, 42, 14), ("#c2f07a", "#5fa82c", "#2c6614", "#0f2f06"))
    for turn in (-38, 0, 38):
        for i in range(6):
            for side in (-1, 1):
                x, y = 50.0, 72 - i * 10
                frond = outline(
                    (x, y),
                    ((x + side * 8, y - 9), (x + side * 16, y - 8), (x + side * (19 - i * 2), y - 4)),
                    ((x + side * 14, y + 1), (x + side * 8, y + 1), (x, y)),
                )
                ink.fill(rotate(frond, turn, (50, 80)), LEAF)
        ink.fill(rotate(ribbon([(50, 80), (50, 14)], 3, 1), turn, (50, 80)), _c("#0d4a1f"))


def wild_times(ink: Ink, times: int) -> None:
    """A wild that multiplies."""
    banner(
        ink, "WILD", ("#ffd0a0", "#e0601a", "#6d2404") if times == 2 else ("#ffb0c4", "#d01a4a", "#5d0420")
    )
    ink.text(
        HEAVY,
        f"\u00d7{times}",
        (50, 36),
        40,
        Linear(((0, _c("#ffffff")), (1, _c("#ffe39a")))),
        edge=2,
        edge_paint=_c("#3d0a04"),
        width=52,
    )


def whirlpool(ink: Ink) -> None:
    """A whirlpool: the wheel turns again."""
    ink.fill(ellipse(50, 50, 49), GOLD_EDGE)
    ink.fill(ellipse(50, 50, 46), Radial(((0, _c("#02101f")), (0.5, _c("#14508c")), (1, _c("#4fc0f0")))))
    for arm in range(4):
        spiral = []
        for i in range(26):
            angle, reach = math.radians(arm * 90 + i * 17), 44 - i * 1.66
            spiral.append((50 + reach * math.cos(angle), 50 + reach * math.sin(angle)))
        ink.fill(ribbon(spiral, 6, 0.8), _c("#e8faffb0"))

"""Animals of the north: heads seen from the front, birds, fish and seals from the side."""

from collections.abc import Sequence

from egm.screen.art.ink import Ink, Linear, Paint, Radial
from egm.screen.art.paths import Path, Point, ellipse, mirror, outline, ribbon, rotate, scale
from egm.screen.theme import parse_colour

_c = parse_colour
_DARK = _c("#140c08")
_WATER = Radial(((0, _c("#8fe0ff")), (0.7, _c("#2580b8")), (1, _c("#12466d00"))), (0.5, 0.4), 0.62)


def fur(light: str, base: str, deep: str) -> Linear:
    """Fur, lit from above."""
    return Linear(((0, _c(light)), (0.5, _c(base)), (1, _c(deep))))


def both(ink: Ink, half: Sequence[Point], paint: Paint, edge: float = 2.2) -> None:
    """A shape and its mirror image, outlined."""
    for shape in (list(half), mirror(list(half))):
        ink.stroke(shape, edge, _DARK)
        ink.fill(shape, paint)


def whole(ink: Ink, half: Path, paint: Paint, edge: float = 2.6) -> Path:
    """A symmetrical shape from its right half, from the top of the middle to its foot."""
    shape = half + mirror(half)
    ink.stroke(shape, edge, _DARK)
    ink.fill(shape, paint)
    return shape


def eyes(ink: Ink, x: float, y: float, size: float = 3.4, iris: str = "#120803") -> None:
    """A pair of eyes, ``x`` either side of the middle."""
    for centre in (50 - x, 50 + x):
        ink.fill(ellipse(centre, y, size * 1.25), _DARK)
        ink.fill(ellipse(centre, y, size), _c(iris))
        ink.fill(ellipse(centre, y, size * 0.55), _c("#080402"))
        ink.fill(ellipse(centre - size * 0.3, y - size * 0.35, size * 0.32), _c("#ffffff"))


def nose(ink: Ink, y: float, width: float) -> None:
    """A dark nose with a glint."""
    shape = outline(
        (50 - width, y),
        ((50 - width * 0.6, y - width * 0.7), (50 + width * 0.6, y - width * 0.7), (50 + width, y)),
        ((50 + width * 0.5, y + width * 0.9), (50 - width * 0.5, y + width * 0.9), (50 - width, y)),
    )
    ink.fill(shape, _c("#1a1210"))
    ink.fill(ellipse(50 - width * 0.3, y - width * 0.15, width * 0.3, width * 0.16), _c("#ffffffb0"))


def bear(ink: Ink) -> None:
    """A polar bear."""
    coat = fur("#ffffff", "#eaf3fb", "#a8c4dc")
    both(ink, ellipse(75, 25, 12), coat)
    both(ink, ellipse(75, 26, 6), _c("#8fa9c4"), 0.1)
    whole(ink, outline((50, 14), ((74, 12), (88, 30), (88, 50)), ((88, 72), (72, 90), (50, 92))), coat)
    ink.fill(ellipse(50, 70, 22, 19), Radial(((0, _c("#ffffff")), (1, _c("#c9ddee"))), (0.5, 0.4), 0.6))
    eyes(ink, 18, 47, 3.6)
    nose(ink, 62, 8)
    for bend in (-1, 1):
        ink.stroke([(50, 69), (50, 76), (50 + bend * 8, 81)], 1.8, _DARK, closed=False)


def wolf(ink: Ink) -> None:
    """A grey wolf."""
    both(ink, [(58, 32), (86, 4), (84, 46)], fur("#8f97a8", "#5c6476", "#363c4c"))
    both(ink, [(66, 30), (81, 14), (79, 38)], _c("#2b2f3d"), 0.1)
    whole(
        ink,
        outline(
            (50, 18),
            ((66, 18), (80, 28), (84, 44)),
            ((90, 54), (92, 60), (94, 66)),
            ((84, 68), (80, 72), (76, 78)),
            ((66, 88), (58, 96), (50, 97)),
        ),
        fur("#aab2c2", "#727b8e", "#3f4656"),
    )
    whole(
        ink,
        outline((50, 40), ((60, 50), (78, 54), (80, 60)), ((72, 68), (64, 90), (50, 93))),
        Linear(((0, _c("#e8edf5")), (1, _c("#b7c0d0")))),
        0.1,
    )
    whole(
        ink,
        outline((50, 20), ((58, 30), (60, 48), (58, 66)), ((56, 70), (53, 72), (50, 72))),
        fur("#8f97a8", "#5c6476", "#4a5162"),
        0.1,
    )
    eyes(ink, 19, 50, 3.8, "#ffc23d")
    nose(ink, 76, 7)


def fox(ink: Ink) -> None:
    """An arctic fox in its summer coat."""
    both(ink, [(56, 32), (84, 2), (88, 46)], fur("#ffb066", "#e2741c", "#a5460c"))
    both(ink, [(66, 30), (80, 14), (82, 38)], _c("#3d1a08"), 0.1)
    whole(
        ink,
        outline((50, 24), ((68, 24), (84, 34), (92, 58)), ((82, 62), (62, 84), (50, 94))),
        fur("#ffb869", "#ee8020", "#c2540c"),
    )
    whole(
        ink,
        outline((50, 62), ((60, 52), (76, 50), (90, 58)), ((80, 64), (62, 84), (50, 92))),
        Linear(((0, _c("#ffffff")), (1, _c("#e2d8cc")))),
        0.1,
    )
    eyes(ink, 18, 50, 3.8, "#7a3d08")
    nose(ink, 87, 6)


def owl(ink: Ink) -> None:
    """A snowy owl."""
    coat = fur("#ffffff", "#f0f2f6", "#b8c2d0")
    whole(ink, outline((50, 8), ((74, 6), (88, 24), (86, 46)), ((92, 66), (80, 94), (50, 96))), coat)
    for row in range(4):
        for i in range(-3, 4):
            x, y = 50 + i * 9.5 + (row % 2) * 4.7, 66 + row * 7
            if abs(x - 50) < 30 - row * 3:
                ink.fill(
                    outline(
                        (x - 3, y),
                        ((x - 1.5, y + 3), (x + 1.5, y + 3), (x + 3, y)),
                        ((x + 1, y + 1.2), (x - 1, y + 1.2), (x - 3, y)),
                    ),
                    _c("#59616e"),
                )
    both(ink, ellipse(68, 38, 17), Radial(((0, _c("#ffffff")), (1, _c("#c6d0de")))), 1.2)
    for x in (33, 67):
        ink.fill(ellipse(x, 38, 9.5), _DARK)
        ink.fill(ellipse(x, 38, 8.4), Radial(((0, _c("#fff27a")), (1, _c("#e09a10")))))
        ink.fill(ellipse(x, 38, 4.6), _c("#0a0604"))
        ink.fill(ellipse(x - 1.8, 36, 1.6), _c("#ffffff"))
    ink.fill([(45, 46), (55, 46), (50, 58)], _DARK)
    ink.fill([(46.4, 47), (53.6, 47), (50, 55.6)], _c("#4a4f58"))


def elk(ink: Ink) -> None:
    """An elk with branched antlers."""
    beam = [(57.0, 30.0), (66.0, 20.0), (72.0, 4.0)]
    for spine in (
        beam,
        [(65.0, 22.0), (80.0, 20.0), (90.0, 8.0)],
        [(70.0, 12.0), (82.0, 8.0), (86.0, 1.0)],
        [(62.0, 26.0), (76.0, 32.0), (90.0, 26.0)],
    ):
        for path in (spine, mirror(spine, 50)):
            ink.stroke(path, 5.6, _DARK, closed=False)
    for spine in (
        beam,
        [(65.0, 22.0), (80.0, 20.0), (90.0, 8.0)],
        [(70.0, 12.0), (82.0, 8.0), (86.0, 1.0)],
        [(62.0, 26.0), (76.0, 32.0), (90.0, 26.0)],
    ):
        for path in (spine, mirror(spine, 50)):
            ink.stroke(path, 3.6, _c("#d9b070"), closed=False)
    both(
        ink,
        outline((61, 42), ((72, 36), (82, 40), (86, 46)), ((80, 54), (70, 54), (62, 50))),
        fur("#9a6a3c", "#74471f", "#4a2a10"),
    )
    head = whole(
        ink,
        outline(
            (50, 30),
            ((60, 30), (66, 38), (64, 50)),
            ((62, 62), (58, 70), (60, 80)),
            ((60, 92), (56, 96), (50, 96)),
        ),
        fur("#b98450", "#8a5628", "#573211"),
    )
    ink.clipped(head, ellipse(50, 92, 13, 11), _c("#3a2110b0"))
    eyes(ink, 10, 50, 2.8)
    nose(ink, 86, 6)


def otter(ink: Ink) -> None:
    """An otter."""
    both(ink, ellipse(76, 26, 8), fur("#7d5230", "#5c3818", "#3a220c"))
    whole(
        ink,
        outline((50, 12), ((76, 12), (90, 32), (88, 52)), ((86, 76), (72, 92), (50, 92))),
        fur("#a8744a", "#7a4c26", "#4a2c12"),
    )
    whole(
        ink,
        outline((50, 46), ((70, 46), (82, 56), (80, 68)), ((76, 84), (62, 90), (50, 90))),
        Linear(((0, _c("#f2dcc0")), (1, _c("#c9a47c")))),
        0.1,
    )
    eyes(ink, 19, 42, 4)
    nose(ink, 56, 7)
    for bend in (-1, 1):
        ink.stroke([(50, 62), (50, 70), (50 + bend * 9, 74)], 1.8, _DARK, closed=False)
        for k in range(3):
            ink.stroke(
                [(50 + bend * 16, 64 + k * 4), (50 + bend * 40, 58 + k * 8)],
                0.9,
                _c("#ffffffb0"),
                closed=False,
            )


def seal(ink: Ink) -> None:
    """A seal pup."""
    whole(
        ink,
        outline((50, 14), ((76, 14), (92, 34), (90, 56)), ((92, 84), (72, 94), (50, 94))),
        fur("#ffffff", "#dfe8f0", "#8fa6ba"),
    )
    ink.fill(ellipse(39, 68, 14, 11), _c("#ffffff"))
    ink.fill(ellipse(61, 68, 14, 11), _c("#ffffff"))
    eyes(ink, 20, 46, 7, "#1c1410")
    nose(ink, 60, 7)
    for bend in (-1, 1):
        for k in range(3):
            ink.fill(ellipse(50 + bend * (10 + k * 4), 67 + (k % 2) * 3, 0.9), _DARK)
            ink.stroke(
                [(50 + bend * 18, 66 + k * 3), (50 + bend * 42, 62 + k * 7)], 0.8, _c("#59616e"), closed=False
            )


def whale(ink: Ink) -> None:
    """A whale that spouts."""
    for bend in (-1, 1):
        ink.stroke([(36, 30), (36 + bend * 2, 16), (36 + bend * 14, 10)], 4, _c("#7fd8ff"), closed=False)
    body = outline(
        (6, 58),
        ((6, 36), (26, 28), (44, 30)),
        ((64, 32), (72, 52), (82, 48)),
        ((84, 40), (80, 32), (76, 26)),
        ((84, 26), (90, 30), (92, 36)),
        ((94, 30), (98, 28), (100, 28)),
        ((100, 44), (94, 58), (84, 64)),
        ((76, 80), (54, 86), (36, 84)),
        ((16, 82), (6, 74), (6, 58)),
    )
    ink.fill(ellipse(48, 84, 46, 9), _WATER)
    ink.stroke(body, 2.8, _c("#06142e"))
    ink.fill(body, Linear(((0, _c("#6fb2ff")), (0.5, _c("#2766c4")), (1, _c("#123a80")))))
    belly = outline(
        (6, 62), ((20, 70), (44, 72), (62, 68)), ((56, 82), (40, 86), (30, 84)), ((16, 82), (8, 74), (6, 62))
    )
    ink.clipped(body, belly, _c("#dcebfa"))
    for k in range(4):
        ink.clipped(
            body, ribbon([(10 + k * 3, 68 + k * 4), (32, 74 + k * 3), (52, 72 + k * 4)], 0.9), _c("#8fb0d0")
        )
    ink.fill(ellipse(24, 56, 3), _c("#06142e"))
    ink.fill(ellipse(23.2, 55.2, 1), _c("#ffffff"))
    fin = outline((40, 66), ((46, 74), (48, 84), (44, 92)), ((36, 88), (32, 78), (32, 70)))
    ink.stroke(fin, 2, _c("#06142e"))
    ink.fill(fin, _c("#1f56a8"))


def gull(ink: Ink) -> None:
    """A gull in flight."""
    wing = outline((46, 52), ((36, 30), (20, 18), (2, 20)), ((14, 28), (24, 44), (34, 62)))
    far = outline((54, 50), ((62, 26), (78, 10), (98, 12)), ((86, 24), (76, 44), (66, 60)))
    for shape in (far, wing):
        ink.stroke(shape, 2.6, _c("#26303c"))
        ink.fill(shape, Linear(((0, _c("#dfe8f2")), (0.6, _c("#a9b8c9")), (1, _c("#76889c")))))
    for shape in (
        outline((2, 20), ((8, 20), (14, 21), (18, 23)), ((14, 26), (12, 26), (10, 26))),
        outline((98, 12), ((92, 12), (86, 14), (82, 16)), ((86, 20), (88, 20), (90, 19))),
    ):
        ink.fill(shape, _c("#26303c"))
    body = outline(
        (18, 66),
        ((24, 52), (40, 46), (56, 50)),
        ((70, 56), (82, 66), (96, 72)),
        ((82, 78), (56, 86), (38, 80)),
        ((28, 78), (20, 74), (18, 66)),
    )
    ink.stroke(body, 2.6, _c("#26303c"))
    ink.fill(body, Linear(((0, _c("#ffffff")), (1, _c("#cfdae6")))))
    ink.fill([(20, 62), (4, 70), (20, 71)], _c("#26303c"))
    ink.fill([(19, 63.5), (7, 69.3), (19, 69.6)], _c("#ffb52e"))
    ink.fill(ellipse(28, 61, 2.2), _c("#0a0604"))
    ink.fill(ellipse(27.4, 60.4, 0.8), _c("#ffffff"))


def heron(ink: Ink) -> None:
    """A blue heron, standing."""
    ink.fill(ellipse(54, 92, 34, 6), _WATER)
    for x in (52, 60):
        ink.stroke([(x, 74), (x + 1, 92)], 2.6, _c("#3d3420"), closed=False)
    body = outline(
        (38, 50),
        ((54, 44), (74, 52), (92, 76)),
        ((78, 78), (54, 82), (44, 72)),
        ((38, 66), (36, 58), (38, 50)),
    )
    neck = ribbon([(46, 62), (34, 52), (30, 42), (40, 30), (36, 16)], 11, 6.5)
    for shape, paint in (
        (body, fur("#9fbbe0", "#5f82b8", "#2c4676")),
        (neck, fur("#c9d9f0", "#7f9ecb", "#4f70a4")),
    ):
        ink.stroke(shape, 2.4, _c("#0f1a30"))
        ink.fill(shape, paint)
    for k in range(3):
        ink.fill(ribbon([(52, 56 + k * 6), (70, 62 + k * 5), (86, 74 + k * 1.5)], 2.2, 0.6), _c("#1f3560b0"))
    ink.fill(ellipse(36, 14, 8, 6), _c("#0f1a30"))
    ink.fill(ellipse(36, 14, 6.8, 4.8), _c("#e8f0fa"))
    ink.fill(ribbon([(34, 9.5), (46, 8), (58, 14)], 3.2, 0.6), _c("#0f1a30"))
    ink.fill([(30, 12), (4, 18), (30, 17.5)], _c("#0f1a30"))
    ink.fill([(29, 13.4), (9, 17.4), (29, 16.4)], _c("#ffb52e"))
    ink.fill(ellipse(34, 13, 1.5), _c("#0a0604"))


def _fish(ink: Ink, colours: tuple[str, str, str, str], spots: str) -> None:
    """A leaping fish: back, side, belly and edge colours, and its spots."""
    back, side, belly, edge = colours
    for x, y, r in ((18, 84, 5), (30, 92, 4), (80, 88, 5), (68, 94, 3.4), (90, 78, 3)):
        ink.fill(ellipse(x, y, r), _c("#bfeaff"))
    body = outline(
        (8, 44),
        ((20, 22), (50, 16), (72, 40)),
        ((78, 46), (84, 46), (94, 40)),
        ((92, 52), (92, 62), (96, 74)),
        ((86, 68), (78, 64), (72, 62)),
        ((52, 76), (22, 66), (8, 44)),
    )
    body = rotate(body, -18)
    ink.stroke(body, 3, _c(edge))
    ink.fill(body, Linear(((0, _c(back)), (0.4, _c(side)), (0.7, _c(side)), (1, _c(belly)))))
    for k in range(14):
        ink.clipped(body, ellipse(32 + (k * 37 % 38), 34 + (k * 23 % 24), 1.5), _c(spots))
    ink.clipped(body, rotate(ribbon([(24, 28), (28, 44), (24, 58)], 1.8), -18), _c(edge))
    fin = rotate(outline((40, 23), ((46, 10), (56, 12), (60, 28)), ((54, 25), (46, 23), (40, 23))), -18)
    ink.stroke(fin, 2, _c(edge))
    ink.fill(fin, _c(side))
    eye = rotate([(18.0, 40.0)], -18)[0]
    ink.fill(ellipse(*eye, 3.2), _c("#ffffff"))
    ink.fill(ellipse(*eye, 2), _c("#0a0604"))


def salmon(ink: Ink) -> None:
    """A leaping salmon."""
    _fish(ink, ("#ffd0b0", "#f0604f", "#f6e2d6", "#4a0f14"), "#6d141890")


def trout(ink: Ink) -> None:
    """A leaping trout."""
    _fish(ink, ("#a9c46b", "#6f9a4a", "#f2ecd0", "#1f2f10"), "#c0302af0")


def bee(ink: Ink) -> None:
    """A bee."""
    for shape in (
        rotate(ellipse(38, 24, 12, 22), -28, (38, 24)),
        rotate(ellipse(62, 24, 12, 22), 28, (62, 24)),
    ):
        ink.stroke(shape, 2, _c("#2a3a52"))
        ink.fill(shape, Linear(((0, _c("#f4fbff")), (1, _c("#a9d4f0")))))
    body = outline(
        (50, 30),
        ((76, 30), (82, 52), (80, 66)),
        ((76, 84), (60, 94), (50, 98)),
        ((40, 94), (24, 84), (20, 66)),
        ((18, 52), (24, 30), (50, 30)),
    )
    ink.stroke(body, 3, _DARK)
    ink.fill(body, Linear(((0, _c("#fff0a0")), (0.5, _c("#ffc61f")), (1, _c("#d98a0a")))))
    for y in (52, 68, 84):
        ink.clipped(
            body,
            outline(
                (14, y),
                ((34, y + 6), (66, y + 6), (86, y)),
                ((86, y + 8), (66, y + 14), (50, y + 14)),
                ((34, y + 14), (14, y + 8), (14, y)),
            ),
            _c("#24160a"),
        )
    ink.fill(ellipse(50, 34, 20, 15), _c("#24160a"))
    eyes(ink, 8, 33, 4.6, "#ffffff")
    for bend in (-1, 1):
        ink.stroke([(50 + bend * 6, 22), (50 + bend * 12, 10)], 2, _DARK, closed=False)
        ink.fill(ellipse(50 + bend * 12, 9, 3), _DARK)
    ink.fill(scale(ellipse(42, 58, 8, 14), 1), _c("#ffffff38"))

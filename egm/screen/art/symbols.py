"""Which drawing a symbol of a game's strip has: by its identifier, or by the words it is made of."""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import pygame

from egm.kernel.messages import ArtFile
from egm.screen.art import beasts, fruit, jewels, north, outdoors, things
from egm.screen.art.ink import Ink
from egm.screen.art.own import draw_own

Drawing = Callable[[Ink], None]

_RUBY = ("#ff9aa8", "#e0153c", "#6d0320")
_SAPPHIRE = ("#a9ccff", "#1f5fe0", "#061a5e")
_EMERALD = ("#a4ffc9", "#12a860", "#043d24")
_AMETHYST = ("#ecbcff", "#9a35e0", "#3d0a6b")
_TOPAZ = ("#fff3b0", "#f2a91c", "#7a4204")
_PALETTE: Final = (_RUBY, _SAPPHIRE, _EMERALD, _AMETHYST, _TOPAZ)

#: Drawing by name; a symbol finds the longest name its identifier holds.
DRAWINGS: Final[Mapping[str, Drawing]] = {
    "cherry": fruit.cherry,
    "cherries": fruit.cherry,
    "lemon": fruit.lemon,
    "orange": fruit.orange,
    "plum": fruit.plum,
    "grape": fruit.grapes,
    "melon": fruit.melon,
    "watermelon": fruit.melon,
    "bell": fruit.bell,
    "seven": fruit.seven,
    "red_seven": fruit.seven,
    "blue_seven": fruit.blue_seven,
    "white_seven": fruit.white_seven,
    "green_seven": fruit.green_seven,
    "flaming_seven": fruit.flaming_seven,
    "blazing_seven": fruit.flaming_seven,
    "seven_red": fruit.seven,
    "seven_blue": fruit.blue_seven,
    "seven_white": fruit.white_seven,
    "bar": fruit.bar_1,
    "single_bar": fruit.bar_1,
    "bar_1": fruit.bar_1,
    "double_bar": fruit.bar_2,
    "bar_2": fruit.bar_2,
    "two_bar": fruit.bar_2,
    "triple_bar": fruit.bar_3,
    "bar_3": fruit.bar_3,
    "three_bar": fruit.bar_3,
    "diamond": jewels.diamond,
    "ruby": jewels.ruby,
    "emerald": jewels.emerald,
    "sapphire": jewels.sapphire,
    "amethyst": jewels.amethyst,
    "topaz": jewels.topaz,
    "gem": jewels.ruby,
    "star": jewels.star_symbol,
    "horseshoe": jewels.horseshoe,
    "clover": jewels.clover,
    "shamrock": jewels.clover,
    "crown": jewels.crown,
    "coin": jewels.coin,
    "pot": jewels.horn_of_plenty,
    "treasure": jewels.horn_of_plenty,
    "maple": north.maple,
    "lantern": north.lantern,
    "loon": north.loon,
    "canoe": north.canoe,
    "pine": north.pine,
    "trillium": north.trillium,
    "birch": north.birch,
    "snowflake": north.snowflake,
    "snow": north.snowflake,
    "moose": north.moose,
    "bear": beasts.bear,
    "wolf": beasts.wolf,
    "fox": beasts.fox,
    "owl": beasts.owl,
    "elk": beasts.elk,
    "otter": beasts.otter,
    "seal": beasts.seal,
    "whale": beasts.whale,
    "gull": beasts.gull,
    "heron": beasts.heron,
    "salmon": beasts.salmon,
    "bee": beasts.bee,
    "trout": beasts.trout,
    "whirlpool": outdoors.whirlpool,
    "aurora": outdoors.aurora,
    "kayak": outdoors.kayak,
    "comet": outdoors.comet,
    "sun": outdoors.sun,
    "moon": outdoors.moon,
    "dust": outdoors.dust,
    "horn": things.horn,
    "drum": things.drum,
    "flute": things.flute,
    "note": things.note,
    "prism": outdoors.prism,
    "floe": outdoors.floe,
    "hail": outdoors.hail,
    "rapids": outdoors.rapids,
    "river": outdoors.river,
    "ember": outdoors.ember,
    "stone": outdoors.stone,
    "moss": outdoors.moss,
    "ship": things.ship,
    "anchor": things.anchor,
    "wheel": things.wheel,
    "rope": things.rope,
    "net": things.net,
    "crate": things.crate,
    "pilot": things.pilot,
    "basket": things.basket,
    "golden": things.golden,
    "pear": things.pear,
    "honey": things.honey,
    "twig": things.twig,
    "ring": outdoors.ring_planet,
    "red": outdoors.red_planet,
    "blue": outdoors.blue_planet,
    "green": outdoors.green_planet,
    "leaf": things.leaf_symbol,
    "raft1": partial(outdoors.raft, count=1),
    "raft2": partial(outdoors.raft, count=2),
    "raft3": partial(outdoors.raft, count=3),
    "wild2": partial(outdoors.wild_times, times=2),
    "wild3": partial(outdoors.wild_times, times=3),
    "wild": partial(jewels.banner, words="WILD", shades=_AMETHYST),
    "joker": partial(jewels.banner, words="JOKER", shades=_EMERALD),
    "scatter": partial(jewels.banner, words="SCATTER", shades=_SAPPHIRE),
    "bonus": partial(jewels.banner, words="BONUS", shades=_RUBY),
    "free": partial(jewels.banner, words="FREE", shades=_EMERALD),
    "ace": partial(jewels.rank, letter="A", shades=_RUBY),
    "king": partial(jewels.rank, letter="K", shades=_SAPPHIRE),
    "queen": partial(jewels.rank, letter="Q", shades=_AMETHYST),
    "jack": partial(jewels.rank, letter="J", shades=_EMERALD),
    "ten": partial(jewels.rank, letter="10", shades=_TOPAZ),
    "nine": partial(jewels.rank, letter="9", shades=_SAPPHIRE),
}
_SHORT: Final = {
    "a": "ace",
    "k": "king",
    "q": "queen",
    "j": "jack",
    "10": "ten",
    "t": "ten",
    "9": "nine",
    "7": "seven",
    "1bar": "bar_1",
    "2bar": "bar_2",
    "3bar": "bar_3",
}
_BLANK: Final = frozenset({"blank", "empty", "none", "space", "-", ""})


def is_blank(symbol: str) -> bool:
    """Whether a symbol of this identifier is an empty stop."""
    return symbol.lower() in _BLANK


def drawing_name(symbol: str) -> str | None:
    """The drawing for a symbol's identifier, or None where it has none of its own."""
    name = re.sub(r"[^a-z0-9]+", "_", symbol.lower()).strip("_")
    name = _SHORT.get(name, name).replace("7", "seven").replace("sevens", "seven")
    if name in DRAWINGS:
        return name
    words = set(name.split("_"))
    held = [key for key in DRAWINGS if set(key.split("_")) <= words]
    return max(held, key=lambda key: (key.count("_"), len(key)), default=None)


def draw_symbol(symbol: str, name: str, size: tuple[int, int], own: ArtFile | None = None) -> pygame.Surface:
    """A symbol as a premultiplied surface of ``size`` pixels; ``name`` is written where it has no drawing.

    ``own``: the picture the game brings for it.
    """
    side = min(size)
    if own is not None and (picture := draw_own(own, side)) is not None:
        return picture
    ink = Ink((side, side))
    if not is_blank(symbol):
        key = drawing_name(symbol)
        if key is not None:
            DRAWINGS[key](ink)
        else:
            shades = _PALETTE[hashlib.sha256(symbol.encode()).digest()[0] % len(_PALETTE)]
            jewels.medallion(ink, name, shades)
    return ink.finish()

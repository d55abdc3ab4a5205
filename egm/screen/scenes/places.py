"""Where cards lie: a place for each hand of a game, and in it one for every card, from the first card on.

A card's place hangs on its number in its hand alone, never on how many cards there are: what lies stays where
it is. Pure geometry, in units.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from egm.screen.painter import Rect

_RATIO: Final = 0.72
LARGEST: Final = 290.0
#: Below a hand stands what it is.
SAYS: Final = 34.0
#: In a place no wider it has two lines.
_NARROW: Final = 200.0
#: So far below its cards; so much is left free above a hand, more than the frame of a marked card takes.
CLEAR: Final = 8.0
#: Between the cards of a low and a high hand so many cards have room.
_GAP: Final = 0.25
#: Five cards are a hand of poker: so many lie beside each other in a small hand.
_FIVE: Final = 5
#: So much of each card's width is seen; more where it is marked or held; of its height below another row.
_SEEN: Final = 0.7
_SET: Final = 0.87
_APART: Final = 1.075
_BELOW: Final = 0.46


@dataclass(frozen=True, slots=True)
class Room:
    """What a hand is to have room for: its cards, the first ``low`` of them apart, below each other in rows.

    Where it ``holds``, each card has a key below it and stands apart.
    """

    cards: int
    low: int = 0
    in_rows: bool = False
    holds: bool = False

    @property
    def gap(self) -> float:
        """How wide the gap after the low hand is, in cards."""
        return _GAP if self.low else 0.0

    def fit(self, area: Rect) -> tuple[int, float]:
        """In how many columns its cards are largest in an area, and how high they are then."""
        _, _, w, h = area
        seen = _APART if self.holds else _SET if self.low else _SEEN
        found: list[tuple[float, int]] = []
        for columns in range(2 if self.in_rows else self.cards, self.cards + 1):
            wide = (w - 20) / ((columns - 1 + self.gap) * seen + 1)
            deep = (h - CLEAR - _under(w)) / (1 + (-(-self.cards // columns) - 1) * _BELOW)
            found.append((min(LARGEST, deep, wide / _RATIO), columns))
        high, columns = max(found)
        return columns, high


@dataclass(frozen=True, slots=True)
class Place:
    """A hand's area, what of it the printed place takes, and where each card lies."""

    area: Rect
    printed: Rect
    cards: tuple[Rect, ...]


def _under(wide: float) -> float:
    """What is kept below the cards of a hand for what it is."""
    return CLEAR + (SAYS if wide > _NARROW else 2 * SAYS)


def hand_place(area: Rect, room: Room, dealt: int = 0, highest: float = LARGEST) -> Place:
    """The places of a hand's cards, as large as the area allows and no higher than ``highest``.

    Where more are ``dealt`` than it has room for, they go on below. What the hand comes to stands below its
    cards, and above them where each may be held.
    """
    x, y, w, h = area
    columns, high = room.fit(area)
    high = min(high, highest)
    wide, below, gap = high * _RATIO, _under(w), room.gap
    step = min(wide + 12, (w - 20 - wide) / max(1.0, columns - 1 + gap))
    across = step * (columns - 1 + gap) + wide
    deep = high * (1 + _BELOW * (-(-room.cards // columns) - 1))
    left, top = x + (w - across) / 2, y + (h - deep + (below - CLEAR) * (1 if room.holds else -1)) / 2
    cards = list[Rect]()
    for i in range(max(room.cards, dealt)):
        column, row = i % columns, i // columns
        at = left + (column + gap * (column >= room.low)) * step
        cards.append((at, top + row * _BELOW * high, wide, high))
    return Place(area, (left, top, across, deep), tuple(cards))


def parted(area: Rect, count: int, room: Room) -> list[Rect]:
    """The places in a hand's area of those it was split into, in as many columns as make cards largest."""
    x, y, w, h = area
    ways: list[tuple[float, int]] = []
    for columns in range(1, count + 1):
        one = (x, y, w / columns, h / -(-count // columns))
        ways.append((room.fit(one)[1], columns))
    _, columns = max(ways)
    wide, deep = w / columns, h / -(-count // columns)
    return [(x + i % columns * wide, y + i // columns * deep, wide, deep) for i in range(count)]


def areas(rect: Rect, counts: Sequence[int], shares: Sequence[float]) -> list[Rect]:
    """A place for each hand in rows of so many: of its row as wide as its share of it."""
    x, y, w, h = rect
    each, found = h / len(counts), list[Rect]()
    for row, count in enumerate(counts):
        left, here = x, shares[len(found) : len(found) + count]
        for share in here:
            wide = w * share / sum(here)
            found.append((left, y + row * each, wide, each))
            left += wide
    return found


def tiles(rect: Rect, count: int) -> list[Rect]:
    """So many places in rows, in as many columns as make five cards largest in each."""
    x, y, w, h = rect
    columns = max(range(1, count + 1), key=lambda n: min(w / n / (_FIVE * _RATIO), h / -(-count // n)))
    wide, high = w / columns, h / -(-count // columns)
    return [(x + i % columns * wide, y + i // columns * high, wide, high) for i in range(count)]


def first_high(finger: float) -> float:
    """How high the place of a hand is whose cards, and the keys below them, are as wide as a finger."""
    return finger / _RATIO + _under(finger * _FIVE) + CLEAR + 1


def small_place(area: Rect, count: int) -> Place:
    """The cards of a small hand: side by side, and room below for what it is where that can be read."""
    x, y, w, h = area
    room = h - SAYS if h > 3 * SAYS else h
    high = min(0.86 * room, 0.92 * w / count / _RATIO)
    left, top = x + (w - count * high * _RATIO) / 2, y + (room - high) / 2
    cards = tuple((left + i * high * _RATIO, top, high * _RATIO, high) for i in range(count))
    return Place(area, (left, top, count * high * _RATIO, high), cards)

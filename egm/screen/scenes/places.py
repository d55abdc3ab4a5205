"""Where cards lie: a place for each hand of a game, and in it one for every card, from the first card on.

A card's place hangs on its number in its hand alone, never on how many cards there are: what lies stays where
it is. Pure geometry, in units.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from egm.screen.painter import Rect

_RATIO: Final = 0.72
_LARGEST: Final = 290.0
#: Below a hand stands what it is.
SAYS: Final = 34.0
#: In a place no wider it has two lines.
_NARROW: Final = 200.0
#: So far below its cards; so much is left free above a hand, more than the frame of a marked card takes.
CLEAR: Final = 8.0
#: Between the cards of a low and a high hand so many cards have room.
_GAP: Final = 0.4
#: Five cards are a hand of poker: so many lie beside each other in a small hand.
_FIVE: Final = 5
#: So much of each card's width is seen; more where each may be held; of its height below another row.
_SEEN: Final = 0.7
_APART: Final = 1.075
_BELOW: Final = 0.46


@dataclass(frozen=True, slots=True)
class Place:
    """A hand's area, what of it the printed place takes, and where each card lies."""

    area: Rect
    printed: Rect
    cards: tuple[Rect, ...]


def hand_place(
    area: Rect, room: int, dealt: int, *, low: int = 0, rows: bool = False, holds: bool = False
) -> Place:
    """The places of a hand with room for so many cards, as large as the area allows, and of all dealt.

    After the first ``low`` ones there is a gap. In ``rows`` the cards lie below each other, the ranks of all
    in sight; so do those that are dealt beyond the room. What the hand comes to has room below them, and
    above them where each may be held, with a key below it.
    """
    x, y, w, h = area
    gap = _GAP if low else 0.0
    columns, high = (
        _columns(area, room, gap, _APART if holds else _SEEN)
        if rows
        else (
            room,
            _high(area, room, 1, gap, _APART if holds else _SEEN),
        )
    )
    wide, below = high * _RATIO, _under(w)
    step = min(wide + 12, (w - 20 - wide) / max(1.0, columns - 1 + gap))
    left = x + (w - wide - step * (columns - 1 + gap)) / 2
    deep = high * (1 + _BELOW * (-(-room // columns) - 1))
    top = y + (h - deep + (below - CLEAR) * (1 if holds else -1)) / 2
    cards = tuple(
        (
            left + (i % columns + gap * (i % columns >= low)) * step,
            top + i // columns * _BELOW * high,
            wide,
            high,
        )
        for i in range(max(room, dealt))
    )
    return Place(area, (left, top, step * (columns - 1 + gap) + wide, deep), cards)


def _under(wide: float) -> float:
    """What is kept below the cards of a hand for what it is."""
    return CLEAR + (SAYS if wide > _NARROW else 2 * SAYS)


def _high(area: Rect, columns: int, rows: int, gap: float, seen: float) -> float:
    """How high a card is where so many lie beside and below each other."""
    _, _, w, h = area
    wide = (w - 20) / ((columns - 1 + gap) * seen + 1)
    return min(_LARGEST, (h - CLEAR - _under(w)) / (1 + (rows - 1) * _BELOW), wide / _RATIO)


def _columns(area: Rect, room: int, gap: float = 0.0, seen: float = _SEEN) -> tuple[int, float]:
    """In how many columns so many cards are largest, and how high they are then."""
    found = [(_high(area, n, -(-room // n), gap, seen), n) for n in range(2, room + 1)]
    high, columns = max(found)
    return columns, high


def parted(area: Rect, count: int, room: int) -> list[Rect]:
    """The places in a hand's area of those it was split into, in as many columns as make cards largest."""
    x, y, w, h = area
    ways: list[tuple[float, int]] = []
    for columns in range(1, count + 1):
        one = (x, y, w / columns, h / -(-count // columns))
        ways.append((_columns(one, room)[1], columns))
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

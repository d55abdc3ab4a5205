"""Positions of cards: an area for each hand of a game, and in it one rectangle for each card.

A card's position depends only on its index in its hand, never on the number of cards, so cards on the table
do not move when others are dealt. Pure geometry, in units.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from egm.screen.painter import Rect

#: A card's width, as a share of its height.
_RATIO: Final = 0.72
#: The greatest height of a card, in units.
LARGEST: Final = 290.0
#: Height of the text below a hand, in units.
SAYS: Final = 34.0
#: Its height in a narrow area: two lines, or four of the smallest letters.
SAYS_NARROW: Final = 78.0
#: An area no wider than this is narrow.
_NARROW: Final = 200.0
#: Gap between a hand's cards and its text, and above the cards; larger than the frame of a marked card.
CLEAR: Final = 8.0
#: Gap between the cards of a low and a high hand, in card widths.
_GAP: Final = 0.25
#: Cards side by side in a small hand: a poker hand.
_FIVE: Final = 5
#: The visible part of an overlapped card, as a share of its width.
_SEEN: Final = 0.7
#: The same if the hand is to be divided into a low and a high hand.
_SET: Final = 0.87
#: The distance between cards with hold keys, as a share of their width; they do not overlap.
_APART: Final = 1.075
#: The visible part of a card with another row of cards over it, as a share of its height.
_BELOW: Final = 0.46


@dataclass(frozen=True, slots=True)
class Room:
    """The room that a hand of cards needs: the number of its cards and their arrangement.

    The first ``low`` cards lie apart from the others, and if ``in_rows`` the cards are stacked in rows. If
    the room ``holds``, each card has a hold key below it and cards do not overlap.
    """

    cards: int
    low: int = 0
    in_rows: bool = False
    holds: bool = False

    @property
    def gap(self) -> float:
        """Return the width of the gap after the low hand, in card widths."""
        return _GAP if self.low else 0.0

    def fit_cards(self, area: Rect) -> tuple[int, float]:
        """Return the number of columns for the largest cards in an area, and their height."""
        _, _, w, h = area
        visible_share = _APART if self.holds else _SET if self.low else _SEEN
        fits: list[tuple[float, int]] = []
        for columns in range(2 if self.in_rows else self.cards, self.cards + 1):
            width = (w - 20) / ((columns - 1 + self.gap) * visible_share + 1)
            deep = (h - CLEAR - _compute_text_height(w)) / (1 + (-(-self.cards // columns) - 1) * _BELOW)
            fits.append((min(LARGEST, deep, width / _RATIO), columns))
        height, columns = max(fits)
        return columns, height


@dataclass(frozen=True, slots=True)
class HandLayout:
    """The position of a hand of cards: its area, its printed outline, and the rectangle of each card."""

    area: Rect
    printed: Rect
    cards: tuple[Rect, ...]


def _compute_text_height(width: float) -> float:
    """Return the height below a hand's cards for its text."""
    return CLEAR + (SAYS if width > _NARROW else SAYS_NARROW)


def place_hand(area: Rect, room: Room, dealt: int = 0, highest: float = LARGEST) -> HandLayout:
    """Return the positions of a hand's cards, as large as the area allows, but no higher than ``highest``.

    If more cards are ``dealt`` than ``room`` provides for, the further cards lie below. The hand's text
    stands below its cards, or above them if cards can be held.
    """
    x, y, w, h = area
    columns, height = room.fit_cards(area)
    height = min(height, highest)
    width, below, gap = height * _RATIO, _compute_text_height(w), room.gap
    step = min(width + 12, (w - 20 - width) / max(1.0, columns - 1 + gap))
    across = step * (columns - 1 + gap) + width
    deep = height * (1 + _BELOW * (-(-room.cards // columns) - 1))
    left, top = x + (w - across) / 2, y + (h - deep + (below - CLEAR) * (1 if room.holds else -1)) / 2
    cards = list[Rect]()
    for i in range(max(room.cards, dealt)):
        column, row = i % columns, i // columns
        at = left + (column + gap * (column >= room.low)) * step
        cards.append((at, top + row * _BELOW * height, width, height))
    return HandLayout(area, (left, top, across, deep), tuple(cards))


def place_split_hands(area: Rect, count: int, room: Room) -> list[Rect]:
    """Return the areas of split hands within a hand's area, in the number of columns that makes cards largest."""
    x, y, w, h = area
    ways: list[tuple[float, int]] = []
    for columns in range(1, count + 1):
        area_rect = (x, y, w / columns, h / -(-count // columns))
        ways.append((room.fit_cards(area_rect)[1], columns))
    _, columns = max(ways)
    width, deep = w / columns, h / -(-count // columns)
    return [(x + i % columns * width, y + i // columns * deep, width, deep) for i in range(count)]


def place_hands_in_rows(rect: Rect, counts: Sequence[int], shares: Sequence[float]) -> list[Rect]:
    """Return an area for each hand.

    ``counts`` is the number of hands per row, ``shares`` each hand's part of its row.
    """
    x, y, w, h = rect
    row_height, areas = h / len(counts), list[Rect]()
    for row, count in enumerate(counts):
        left, row_shares = x, shares[len(areas) : len(areas) + count]
        for share in row_shares:
            width = w * share / sum(row_shares)
            areas.append((left, y + row * row_height, width, row_height))
            left += width
    return areas


def place_small_hands(rect: Rect, count: int) -> list[Rect]:
    """Return ``count`` areas in rows, with the number of columns that makes five cards largest in each."""
    x, y, w, h = rect
    columns = max(range(1, count + 1), key=lambda n: min(w / n / (_FIVE * _RATIO), h / -(-count // n)))
    width, height = w / columns, h / -(-count // columns)
    return [(x + i % columns * width, y + i // columns * height, width, height) for i in range(count)]


def compute_first_hand_height(finger: float) -> float:
    """Return the height of the first hand at which its cards, and the keys below them, are as wide as a finger."""
    return finger / _RATIO + _compute_text_height(finger * _FIVE) + CLEAR + 1


def place_small_hand_cards(area: Rect, count: int) -> HandLayout:
    """Return the cards of a small hand, side by side, with room below for a text if that would be readable."""
    x, y, w, h = area
    room = h - SAYS if h > 3 * SAYS else h
    height = min(0.86 * room, 0.92 * w / count / _RATIO)
    left, top = x + (w - count * height * _RATIO) / 2, y + (room - height) / 2
    cards = tuple((left + i * height * _RATIO, top, height * _RATIO, height) for i in range(count))
    return HandLayout(area, (left, top, count * height * _RATIO, height), cards)

"""The positions of cards: an area for each hand of a game, and in it one rectangle for each card.

A card's position depends on its index in the hand, never on how many cards have been dealt. Cards on the table
therefore do not move when others are dealt. All lengths are in layout units.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from egm.screen.painter import Rect

#: A card's width, as a share of its height.
_CARD_WIDTH_PER_HEIGHT: Final = 0.72
#: The maximum height of a card, in units.
CARD_HEIGHT_MAX: Final = 290.0
#: Height of the text below a hand, or above a hand with hold keys, in units.
HAND_TEXT_HEIGHT: Final = 34.0
#: Height of the text below a hand in a narrow area, in units: two lines, or four of the smallest letters.
NARROW_HAND_TEXT_HEIGHT: Final = 78.0
#: An area no wider than this is narrow.
_NARROW_AREA_WIDTH_MAX: Final = 200.0
#: Gap between a hand's cards and its text, and above the cards; larger than the frame of a marked card.
CARD_TEXT_GAP: Final = 8.0
#: Gap between the cards of a low and a high hand, in card widths.
_LOW_HIGH_HAND_GAP_IN_CARDS: Final = 0.25
#: The number of cards side by side in a small hand, which is a poker hand.
_SMALL_HAND_CARDS_SIDE_BY_SIDE: Final = 5
#: The pitch of overlapping cards (from one left edge to the next), as a share of a card's width.
_OVERLAPPED_CARD_PITCH_SHARE: Final = 0.7
#: The pitch of cards that the player divides into two hands, as a share of their width: each card is a touch target.
_DIVIDED_HAND_CARD_PITCH_SHARE: Final = 1.0
#: The pitch of cards with hold keys, as a share of their width; they do not overlap.
_HOLD_CARD_PITCH_SHARE: Final = 1.075
#: The visible part of a card with another row of cards over it, as a share of its height.
_LOWER_ROW_VISIBLE_SHARE: Final = 0.46


@dataclass(frozen=True, slots=True)
class HandRoomNeeds:
    """The room that a hand of cards needs."""

    card_count: int
    """The number of cards for which the hand needs room."""
    low_hand_card_count: int = 0
    """How many of the first cards lie apart from the others, as the low hand of pai gow."""
    can_stack_rows: bool = False
    """Whether the cards may lie in several rows, which overlap."""
    has_hold_keys: bool = False
    """Whether each card has a hold key below it. Cards then do not overlap."""

    @property
    def low_hand_gap_in_cards(self) -> float:
        """Return the width of the gap between the low hand and the other cards, in card widths."""
        return _LOW_HIGH_HAND_GAP_IN_CARDS if self.low_hand_card_count else 0.0

    def choose_column_count_and_card_height(self, area: Rect) -> tuple[int, float]:
        """Return the number of columns with which the cards are largest in an area, and the cards' height."""
        _, _, w, h = area
        pitch_share = (
            _HOLD_CARD_PITCH_SHARE
            if self.has_hold_keys
            else _DIVIDED_HAND_CARD_PITCH_SHARE
            if self.low_hand_card_count
            else _OVERLAPPED_CARD_PITCH_SHARE
        )
        heights_and_column_counts: list[tuple[float, int]] = []
        for column_count in range(2 if self.can_stack_rows else self.card_count, self.card_count + 1):
            width = (w - 20) / ((column_count - 1 + self.low_hand_gap_in_cards) * pitch_share + 1)
            height = (h - CARD_TEXT_GAP - _compute_text_and_gap_height(w)) / (
                1 + (-(-self.card_count // column_count) - 1) * _LOWER_ROW_VISIBLE_SHARE
            )
            heights_and_column_counts.append(
                (min(CARD_HEIGHT_MAX, height, width / _CARD_WIDTH_PER_HEIGHT), column_count)
            )
        height, column_count = max(heights_and_column_counts)
        return column_count, height


@dataclass(frozen=True, slots=True)
class HandLayout:
    """The position of a hand of cards: its area, its printed outline, and the rectangle of each card."""

    area: Rect
    outline: Rect
    card_rects: tuple[Rect, ...]


def _compute_text_and_gap_height(width: float) -> float:
    """Return the height of the gap and the texts below the cards of a hand whose area is ``width`` wide."""
    return CARD_TEXT_GAP + (HAND_TEXT_HEIGHT if width > _NARROW_AREA_WIDTH_MAX else NARROW_HAND_TEXT_HEIGHT)


def lay_out_hand(
    area: Rect, room_needs: HandRoomNeeds, card_count: int = 0, card_height_max: float = CARD_HEIGHT_MAX
) -> HandLayout:
    """Return where the cards of a hand lie, as large as the area allows, but at most ``card_height_max`` high.

    If the hand has more cards than ``room_needs`` provides for, the additional cards lie below the outline. The hand's
    text is below its cards or, if cards can be held, above them.
    """
    x, y, w, h = area
    column_count, height = room_needs.choose_column_count_and_card_height(area)
    height = min(height, card_height_max)
    width = height * _CARD_WIDTH_PER_HEIGHT
    text_and_gap_height = _compute_text_and_gap_height(w)
    gap = room_needs.low_hand_gap_in_cards
    card_pitch = min(width + 12, (w - 20 - width) / max(1.0, column_count - 1 + gap))
    outline_width = card_pitch * (column_count - 1 + gap) + width
    outline_height = height * (1 + _LOWER_ROW_VISIBLE_SHARE * (-(-room_needs.card_count // column_count) - 1))
    left = x + (w - outline_width) / 2
    top = (
        y
        + (
            h
            - outline_height
            + (text_and_gap_height - CARD_TEXT_GAP) * (1 if room_needs.has_hold_keys else -1)
        )
        / 2
    )
    cards = list[Rect]()
    for i in range(max(room_needs.card_count, card_count)):
        column, row = i % column_count, i // column_count
        card_left = left + (column + gap * (column >= room_needs.low_hand_card_count)) * card_pitch
        cards.append((card_left, top + row * _LOWER_ROW_VISIBLE_SHARE * height, width, height))
    return HandLayout(area, (left, top, outline_width, outline_height), tuple(cards))


def place_split_hands(area: Rect, hand_count: int, room_needs: HandRoomNeeds) -> list[Rect]:
    """Return an area for each hand that was split from one hand, within the area of that hand.

    The number of columns is the one with which the cards are largest.
    """
    x, y, w, h = area
    heights_and_column_counts: list[tuple[float, int]] = []
    for column_count in range(1, hand_count + 1):
        area_rect = (x, y, w / column_count, h / -(-hand_count // column_count))
        heights_and_column_counts.append(
            (room_needs.choose_column_count_and_card_height(area_rect)[1], column_count)
        )
    _, column_count = max(heights_and_column_counts)
    width, height = w / column_count, h / -(-hand_count // column_count)
    return [
        (x + i % column_count * width, y + i // column_count * height, width, height)
        for i in range(hand_count)
    ]


def place_hands_in_rows(
    rect: Rect, hands_per_row: Sequence[int], width_shares: Sequence[float]
) -> list[Rect]:
    """Return the area of each hand.

    ``hands_per_row`` has the number of hands in each row. ``width_shares`` has a number for each hand: the hands of a
    row share its width in proportion to their numbers.
    """
    x, y, w, h = rect
    row_height, areas = h / len(hands_per_row), list[Rect]()
    for row, count in enumerate(hands_per_row):
        left, row_shares = x, width_shares[len(areas) : len(areas) + count]
        for share in row_shares:
            width = w * share / sum(row_shares)
            areas.append((left, y + row * row_height, width, row_height))
            left += width
    return areas


def place_small_hands(rect: Rect, hand_count: int) -> list[Rect]:
    """Return areas for ``hand_count`` small hands in rows.

    The number of columns is the one with which five cards are largest in each area.
    """
    x, y, w, h = rect
    column_count = max(
        range(1, hand_count + 1),
        key=lambda n: min(
            w / n / (_SMALL_HAND_CARDS_SIDE_BY_SIDE * _CARD_WIDTH_PER_HEIGHT), h / -(-hand_count // n)
        ),
    )
    width, height = w / column_count, h / -(-hand_count // column_count)
    return [
        (x + i % column_count * width, y + i // column_count * height, width, height)
        for i in range(hand_count)
    ]


def compute_held_hand_height_min(touch_size_min: float) -> float:
    """Return the minimum height, in units, of the area of the one hand of a multi-hand bet whose cards can be held.

    At this height, its cards and the keys below them are as wide as a touch target (``touch_size_min``) must be.
    """
    return (
        touch_size_min / _CARD_WIDTH_PER_HEIGHT
        + _compute_text_and_gap_height(touch_size_min * _SMALL_HAND_CARDS_SIDE_BY_SIDE)
        + CARD_TEXT_GAP
        + 1
    )


def place_small_hand_cards(area: Rect, card_count: int) -> HandLayout:
    """Return where the cards of a small hand lie: side by side, with room for a text below if the area is high."""
    x, y, w, h = area
    height_for_cards = h - HAND_TEXT_HEIGHT if h > 3 * HAND_TEXT_HEIGHT else h
    height = min(0.86 * height_for_cards, 0.92 * w / card_count / _CARD_WIDTH_PER_HEIGHT)
    left = x + (w - card_count * height * _CARD_WIDTH_PER_HEIGHT) / 2
    top = y + (height_for_cards - height) / 2
    cards = tuple(
        (left + i * height * _CARD_WIDTH_PER_HEIGHT, top, height * _CARD_WIDTH_PER_HEIGHT, height)
        for i in range(card_count)
    )
    return HandLayout(area, (left, top, card_count * height * _CARD_WIDTH_PER_HEIGHT, height), cards)

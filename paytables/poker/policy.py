"""Best poker strategies as data: the best decision in each class of hands, packed into a definition.

They are looked up in plain Python. A policy has one byte for each state, in the order in which its game lists
its states. It is stored as base 64 of its compressed form: the 134,459 classes of a video poker deal take
some five thousand characters.
"""

import base64
import binascii
import lzma
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, combinations
from math import comb
from typing import Annotated, Final

from pydantic import AfterValidator

from paytables.cards import JOKER, Card

#: Cards of a hand, unless stated otherwise.
POLICY_HAND_CARD_COUNT: Final = 5


def pack_policy(policy: bytes) -> str:
    """Return a poker policy (the best decision in each class of hands, one byte each) as compressed text."""
    return base64.b64encode(lzma.compress(policy, preset=9 | lzma.PRESET_EXTREME)).decode()


@lru_cache(maxsize=32)
def unpack_policy(text: str) -> bytes:
    """Return the poker policy in compressed text from :func:`pack_policy`. Raises ValueError if it is not valid."""
    try:
        return lzma.decompress(base64.b64decode(text, validate=True))
    except (binascii.Error, lzma.LZMAError) as error:
        raise ValueError(f"is not a packed policy: {error}") from None


def _check_policy_text(text: str) -> str:
    """Return the text of a poker policy unchanged. Raises ValueError if it cannot be unpacked."""
    unpack_policy(text)
    return text


#: A packed policy in a definition.
PackedPolicy = Annotated[str, AfterValidator(_check_policy_text)]


@lru_cache(maxsize=4)
def list_hand_classes(deck_card_count: int, hand_card_count: int = POLICY_HAND_CARD_COUNT) -> list[int]:
    """Return one hand for each class of hands that differ only by an exchange of suits.

    Hands are numbered as by :func:`compute_set_index`; the numbers are ascending. ``hand_card_count`` is the number of
    cards in a hand, from a deck of ``deck_card_count`` (52, or 53 with the joker). These are also the hands of
    :attr:`paytables.cards.subsets.CardSets.suit_classes_and_sizes`.
    """
    masks = [[sum(1 << rank for rank in ranks) for ranks in combinations(range(13), n)] for n in range(6)]
    masks = [sorted(masks_of_count) for masks_of_count in masks]
    # The cards of each mask of ranks, by suit.
    cards_by_mask = [
        {mask: [rank * 4 + suit for rank in range(13) if mask >> rank & 1] for mask in chain(*masks)}
        for suit in range(4)
    ]
    # What each card adds to a set's number at each index, as in :func:`compute_set_index`.
    binomials = [[comb(card, index) for card in range(JOKER + 1)] for index in range(1, hand_card_count + 1)]
    hand_indexes = []
    for size in (hand_card_count, hand_card_count - 1) if deck_card_count > JOKER else (hand_card_count,):
        jokers = [JOKER] * (hand_card_count - size)
        for counts in _list_suit_splits(size):
            # the ranks of each suit, as bits; ascending masks give one hand of each class
            for a, b, c, d in _list_ascending_masks(masks, counts):
                card_indexes = (
                    sorted(
                        cards_by_mask[0][a] + cards_by_mask[1][b] + cards_by_mask[2][c] + cards_by_mask[3][d]
                    )
                    + jokers
                )
                hand_indexes.append(
                    sum([row[card] for row, card in zip(binomials, card_indexes, strict=True)])
                )
    return sorted(hand_indexes)


def _list_suit_splits(card_count: int) -> list[tuple[int, ...]]:
    """Return every way to divide ``card_count`` cards among four suits, as the number of cards of each suit."""
    counts = range(card_count + 1)
    return [
        (a, b, c, card_count - a - b - c)
        for a in counts
        for b in counts
        for c in counts
        if a + b + c <= card_count
    ]


def _list_ascending_masks(
    masks: list[list[int]], counts: Sequence[int], mask_min: int = 0
) -> list[tuple[int, ...]]:
    """Return every choice of one rank mask (a suit's ranks, as bits) per suit with masks ascending from suit to suit.

    The mask of the n-th suit has ``counts[n]`` ranks. ``masks`` has all rank masks by their number of ranks; the mask
    of the first suit is at least ``mask_min``.
    """
    if not counts:
        return [()]
    suit_masks = masks[counts[0]]
    return [
        (mask, *other_masks)
        for mask in suit_masks[bisect_left(suit_masks, mask_min) :]
        for other_masks in _list_ascending_masks(masks, counts[1:], mask)
    ]


def compute_set_index(cards: Sequence[Card]) -> int:
    """Return the index of a set of cards among all sets of that size, in colexicographic order.

    The cards must be ascending. In this order, sets are compared by their highest cards first: of two cards, {0, 1} has
    the index 0, {0, 2} 1, {1, 2} 2 and {0, 3} 3.
    """
    return sum(comb(card, index) for index, card in enumerate(cards, 1))


def _order_suits(dealt_cards: Sequence[Card]) -> list[int]:
    """Return the four suits, ordered by which ranks were dealt in each suit.

    If suits are numbered in this order, hands that differ only by an exchange of suits become equal.
    """
    masks = [
        sum(1 << (card >> 2) for card in dealt_cards if card != JOKER and card & 3 == s) for s in range(4)
    ]
    return sorted(range(4), key=lambda suit: masks[suit])


def look_up_option(policy: bytes, dealt_cards: Sequence[Card], dealer_up_card: Card | None) -> int:
    """Return the index of the option that a poker policy chooses for the dealt cards.

    ``dealer_up_card`` is the dealer's visible card, if there is one.
    """
    class_index, _ = find_hand_class(dealt_cards, 52)
    return (
        policy[class_index]
        if dealer_up_card is None
        else policy[
            class_index * 52 + dealer_up_card // 4 * 4 + _order_suits(dealt_cards).index(dealer_up_card & 3)
        ]
    )


def look_up_shared_cards_option(policy: bytes, hole_cards: Sequence[Card], board: Sequence[Card]) -> int:
    """Return the index of the option that a policy chooses for two hole cards and a board of three cards or none.

    The policy starts with a byte for each class of two hole cards. Then it has, for each class of three board cards, a
    byte for every pair of cards.
    """
    if not board:
        return look_up_option(policy, hole_cards, None)
    suit_order = _order_suits(board)
    pair_index = compute_set_index(sorted(card // 4 * 4 + suit_order.index(card & 3) for card in hole_cards))
    class_index, _ = find_hand_class(board, 52)
    return policy[len(list_hand_classes(52, 2)) + class_index * comb(52, 2) + pair_index]


def find_hand_class(dealt_cards: Sequence[Card], deck_card_count: int) -> tuple[int, list[int]]:
    """Return the index of the dealt cards' class in a poker policy, and how the cards correspond to that class.

    The list has, for each card of the class, the index of the dealt card that corresponds to it.
    """
    suit_order = _order_suits(dealt_cards)
    class_cards = sorted(
        (card if card == JOKER else card // 4 * 4 + suit_order.index(card & 3), index)
        for index, card in enumerate(dealt_cards)
    )
    class_index = bisect_left(
        list_hand_classes(deck_card_count, len(dealt_cards)),
        compute_set_index([card for card, _ in class_cards]),
    )
    return class_index, [index for _, index in class_cards]


def look_up_hold(policy: bytes, dealt_cards: Sequence[Card], deck_card_count: int) -> int:
    """Return which of the dealt cards a video poker policy holds; bit n stands for the card with index n."""
    class_index, dealt_indexes = find_hand_class(dealt_cards, deck_card_count)
    return sum(1 << index for n, index in enumerate(dealt_indexes) if policy[class_index] >> n & 1)

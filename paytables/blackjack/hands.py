"""Blackjack hands as integers that count their cards of each value, and the ways in which a box may split.

A hand has six bits for each value, an ace lowest, so a card is added by adding its :data:`PACKED_CARD_BY_VALUE`; the
highest of the six bits is free, so that all values are compared by one subtraction. Example: an ace and two threes are
1 + 2 * 2**12.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Final, TypeAlias

from paytables.blackjack.schema import BEST_HAND_TOTAL, TEN_VALUE

#: Bits for the count of one value in a packed hand.
PACKED_COUNT_BITS: Final = 6
#: The largest count in a packed hand.
PACKED_COUNT_MAX: Final = (1 << (PACKED_COUNT_BITS - 1)) - 1
#: What a card of each value adds to a packed hand, by value less one.
PACKED_CARD_BY_VALUE: Final = tuple(1 << (PACKED_COUNT_BITS * n) for n in range(TEN_VALUE))
#: The highest bit of each count, which is free.
_TOP_BIT_OF_EACH_COUNT: Final = sum(PACKED_CARD_BY_VALUE) << (PACKED_COUNT_BITS - 1)
#: The number of cards of each value in a shoe, ace to ten.
ShoeCounts: TypeAlias = tuple[int, ...]


def build_shoe(deck_count: int) -> ShoeCounts:
    """Return the number of cards of each blackjack value in ``deck_count`` decks: ace, two, ... ten."""
    return tuple(deck_count * (16 if value == TEN_VALUE else 4) for value in range(1, TEN_VALUE + 1))


def pack_counts(counts: Sequence[int]) -> int:
    """Return a blackjack hand's counts of card values as one integer, each limited to a hand's maximum."""
    return sum(min(count, PACKED_COUNT_MAX) << PACKED_COUNT_BITS * n for n, count in enumerate(counts))


def is_part_of_hand(inner: int, outer: int) -> bool:
    """Return whether the packed blackjack hand ``outer`` contains all cards of the packed hand ``inner``."""
    # the difference of two counts clears the free bit above them exactly if ``inner`` has more cards of the value
    difference = (outer | _TOP_BIT_OF_EACH_COUNT) - inner
    return (difference & _TOP_BIT_OF_EACH_COUNT) == _TOP_BIT_OF_EACH_COUNT


def unpack_counts(hand: int) -> tuple[int, ...]:
    """Return the number of cards of each value (ace, two, ... ten) in a packed blackjack hand."""
    return tuple([hand >> PACKED_COUNT_BITS * n & PACKED_COUNT_MAX for n in range(TEN_VALUE)])


def list_card_values(hand: int) -> list[int]:
    """Return the values of the cards of a packed blackjack hand, ascending."""
    return [n + 1 for n, count in enumerate(unpack_counts(hand)) for _ in range(count)]


@dataclass(frozen=True, slots=True)
class HandValue:
    """Properties of a blackjack hand of up to 21, and the hands that it may become by one more card."""

    card_count: int
    """The number of cards in the hand."""
    best_total: int
    """The highest total of the hand that does not exceed 21."""
    is_soft: bool
    """Whether an ace counts 11 in the best total."""
    hands_after_card: tuple[tuple[int, int], ...]
    """The hand after each card that does not bust it, as (index of the card value, packed hand); index 0 is an ace."""


@cache
def compute_hand_values(shoe: ShoeCounts) -> dict[int, HandValue]:
    """Return the properties of every blackjack hand of up to 21 that a shoe allows, by packed hand.

    The first is the empty hand; hands with fewer cards come before those with more.
    """
    value_by_hand: dict[int, HandValue] = {}
    hands_of_length = [0]
    while hands_of_length:
        next_hands: dict[int, None] = {}
        for hand in hands_of_length:
            counts = unpack_counts(hand)
            hard = sum((n + 1) * count for n, count in enumerate(counts))
            hands_after_card = [
                (n, hand + PACKED_CARD_BY_VALUE[n])
                for n in range(TEN_VALUE)
                if hard + n + 1 <= BEST_HAND_TOTAL and counts[n] < shoe[n]
            ]
            soft = counts[0] > 0 and hard + 10 <= BEST_HAND_TOTAL
            value_by_hand[hand] = HandValue(sum(counts), hard + 10 * soft, soft, tuple(hands_after_card))
            next_hands.update(dict.fromkeys(child for _, child in hands_after_card))
        hands_of_length = list(next_hands)
    return value_by_hand


@cache
def list_hands_containing(shoe: ShoeCounts, contained_hand: int) -> list[int]:
    """Return every blackjack hand of up to 21 that contains ``contained_hand``, those with fewer cards first."""
    return [hand for hand in compute_hand_values(shoe) if is_part_of_hand(contained_hand, hand)]


@dataclass(slots=True)
class SplitCoefficients:
    """Coefficients for summing the hands of a blackjack split in a shoe that lacks some cards of the pair's value."""

    unpaired_hand: int = 0
    """The factor of the split hands whose second card does not have the pair's value."""
    paired_hand: int = 0
    """The factor of the split hands that are a pair again but may not be split further."""
    first_unpaired_hand: int = 0
    """The factor of the hand with the box's first stake, if its second card does not have the pair's value."""
    first_paired_hand: int = 0
    """The factor of the hand with the box's first stake, if it is a pair again and may not be split further."""


@cache
def compute_split_coefficients(hands_max: int) -> tuple[SplitCoefficients, ...]:
    """Return the coefficients for summing over the hands of a pair that is split into up to ``hands_max`` hands.

    Each card of the pair's value that is dealt as a second card is split again while permitted. Second cards
    may be dealt in any order, because all orders of a shoe are equally likely. A hand is finished if its second
    card is not of the pair's value; the probability of that is one minus the probability of a card of that value.
    Expanding the product of these factors (inclusion and exclusion, hence the signs) leaves terms in which ``j``
    cards of the pair's value, and no others, have been drawn: index ``j`` of the result is for a shoe without them.
    The caller multiplies by the probability that ``j`` draws all have that value.

    Example: three hands at most. Write P for a second card of the pair's value and U for another. Then the orders are
    UU (two finished hands), UP and P (three hands, at the limit). In the order UU, each of the two hands counts once
    in the shoe of index 0 and minus once in the shoe of index 1, in which the other hand's second card was a P.
    """
    coefficients = [SplitCoefficients() for _ in range(2 * hands_max)]
    for resplits, finished, at_limit in _iter_second_card_orders(hands_max, 2, 0, 0):
        # sum one finished hand; of the other finished hands, ``paired`` are taken as pairs in the expansion
        for paired in range(finished):
            signed_count = (-1) ** paired * comb(finished - 1, paired)
            coefficients[resplits + paired].unpaired_hand += signed_count * finished
            coefficients[resplits + paired].first_unpaired_hand += signed_count
        # sum one hand at the limit, with any second card; of all finished hands, ``paired`` are taken as pairs
        for paired in range(finished + 1 if at_limit else 0):
            signed_count = (-1) ** paired * comb(finished, paired)
            coefficient = coefficients[resplits + paired]
            coefficient.unpaired_hand += signed_count * at_limit
            coefficient.paired_hand += signed_count * at_limit
            if not finished:  # otherwise the hand with the first stake is a finished one: it comes first
                coefficient.first_unpaired_hand += signed_count
                coefficient.first_paired_hand += signed_count
    while coefficients and coefficients[-1] == SplitCoefficients():
        coefficients.pop()
    return tuple(coefficients)


def _iter_second_card_orders(
    hands_max: int, hand_count: int, finished_count: int, resplit_count: int
) -> Iterator[tuple[int, int, int]]:
    """Yield, for each order of the second cards of a split, how many hands resplit, finish, and stay at the limit.

    ``hands_max`` is the maximum number of hands; the other arguments are the counts so far.
    """
    if finished_count == hand_count:
        yield resplit_count, finished_count, 0
    elif hand_count == hands_max:
        yield resplit_count, finished_count, hand_count - finished_count
    else:
        yield from _iter_second_card_orders(hands_max, hand_count, finished_count + 1, resplit_count)
        yield from _iter_second_card_orders(hands_max, hand_count + 1, finished_count, resplit_count + 1)

"""Exact counts of card orders by net result, over all pairs of finished blackjack hands and a dealer's hand.

The numbers exceed machine integers: they are sums of 32-bit limbs, each stored in 64 bits with room for many
additions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np

from paytables.blackjack.dealer import DEALER_RESULT_COUNT

if TYPE_CHECKING:
    from paytables.blackjack.dealer import DealerFinalHands
    from paytables.cards.arrays import Ints

#: Bits of a limb.
_LIMB_BITS: Final = 32
#: A mask of one limb.
_LIMB_MASK: Final = (1 << _LIMB_BITS) - 1
_Kernel = TypeVar("_Kernel", bound=Callable[..., object])


def count_orders_by_net(
    dealer: DealerFinalHands, removed_counts: Ints, ways: Ints, continuation_ways: Sequence[int]
) -> list[int]:
    """Return the number of card orders that lead to each net result of finished hands, over all dealer hands.

    Each row of ``removed_counts`` counts the cards of the finished hands by value; all rows have the same number of
    cards. ``ways[row, dealer_result, n]`` is a signed count, its absolute value below 2^32: the orders in which the
    cards of a row give the net result with the index ``n`` if the dealer ends with this result; the last result is the
    dealer's blackjack. The count is negative if it subtracts hands that do not bust
    (:data:`~paytables.blackjack.net_distribution.HandEnds`). ``continuation_ways[length]`` is the number of orders of
    the cards after a dealer's hand of ``length`` cards. All orders are of cards drawn from the shoe that lacks only the
    dealer's up card.
    """
    shoe: Ints = np.array(dealer.counts_after_up_card, dtype=np.int64)
    hands = [
        (drawn_counts, order_count, dealer_result)
        for drawn_counts, order_count, dealer_result in dealer.final_hands
        if sum(drawn_counts) < len(continuation_ways)
    ]
    # a row for each dealer's hand: its orders, result and length, and for each card its value + 10 * (how many cards of
    # this value come before it), so that the kernel knows how many such cards are left
    dealer_hands: Ints = np.zeros((len(hands), 4 + len(continuation_ways)), dtype=np.int64)
    for row, (drawn_counts, order_count, dealer_result) in zip(dealer_hands, hands, strict=True):
        cards = [
            value + 10 * earlier_count
            for value, count in enumerate(drawn_counts)
            for earlier_count in range(count)
        ]
        row[: 3 + len(cards)] = order_count, dealer_result, len(cards), *cards
    limb_count = 1 + max(number.bit_length() for number in continuation_ways) // _LIMB_BITS
    continuation_limbs: Ints = np.array(
        [_split_into_limbs(number, limb_count) for number in continuation_ways], dtype=np.uint64
    )
    order_limb_count = 1 + int(removed_counts[0].sum()) * int(shoe.max()).bit_length() // _LIMB_BITS
    way_limbs: Ints = np.zeros((2, ways.shape[2], order_limb_count + limb_count + 5), dtype=np.uint64)
    compile_kernel(_add_net_orders)(
        shoe,
        removed_counts,
        ways,
        dealer_hands,
        continuation_limbs,
        dealer.blackjack_card_value or 0,
        order_limb_count,
        way_limbs,
    )
    positive_sums, negative_sums = (
        [sum(int(limb) << (_LIMB_BITS * n) for n, limb in enumerate(limbs_of_net)) for limbs_of_net in sums]
        for sums in way_limbs
    )
    return [
        positive_sum - negative_sum
        for positive_sum, negative_sum in zip(positive_sums, negative_sums, strict=True)
    ]


def _split_into_limbs(number: int, count: int) -> list[int]:
    """Return ``number`` as ``count`` limbs of 32 bits, the lowest first."""
    return [(number >> (_LIMB_BITS * n)) & _LIMB_MASK for n in range(count)]


def compile_kernel(kernel: _Kernel, *, counts_references: bool = True) -> _Kernel:
    """Return ``kernel``, a function of arrays, compiled by numba.

    With ``counts_references`` false, the compiled function does not count references to its arrays.
    """
    return cast("_Kernel", _compile_kernel(kernel, counts_references=counts_references))


@cache
def _compile_kernel(kernel: Callable[..., object], *, counts_references: bool) -> object:
    """Return ``kernel`` compiled by numba; each function is compiled only once."""
    import numba  # noqa: PLC0415 (laboratory package)

    njit: Callable[..., object] = numba.njit  # the type stubs omit _nrt
    return njit(kernel, nogil=True, _nrt=counts_references)


def _add_net_orders(  # noqa: C901, PLR0912 (one loop, compiled by numba)
    shoe: Ints,
    removed_counts: Ints,
    ways: Ints,
    dealer_hands: Ints,
    continuation_limbs: Ints,
    blackjack_card_value: int,
    order_limb_count: int,
    way_limbs: Ints,
) -> None:  # pragma: no cover (compiled)
    """Add to ``way_limbs``, by net result, the number of orders of the removed cards together with the dealer's hands.

    Numbers are in limbs. ``way_limbs[0]`` has the sums of positive and ``way_limbs[1]`` those of negative ways. For
    each row of removed cards, the sum is (orders of the removed cards) * (orders of the dealer's hand and of the cards
    after it) * (ways of the net result), over all results of the dealer. ``blackjack_card_value`` is the value, 1 to
    10, of the card that completes the dealer's blackjack; 0 if no card does.
    """
    length_count, limb_count = continuation_limbs.shape
    # the number of orders of the dealer's hands, by result and number of cards
    orders_by_result = np.zeros((DEALER_RESULT_COUNT + 1, length_count), dtype=np.int64)
    counts_left = np.zeros(10, dtype=np.int64)
    order_limbs = np.zeros(order_limb_count, dtype=np.uint64)
    dealer_limbs = np.zeros(limb_count + 3, dtype=np.uint64)
    product_limbs = np.zeros(order_limb_count + limb_count + 3, dtype=np.uint64)
    limb_mask, limb_bits = np.uint64(_LIMB_MASK), np.uint64(_LIMB_BITS)
    for row_index in range(len(removed_counts)):
        order_limbs[:] = 0
        order_limbs[0] = 1
        for value in range(10):
            counts_left[value] = shoe[value] - removed_counts[row_index, value]
            for drawn_count in range(removed_counts[row_index, value]):
                carry = np.uint64(0)
                for limb in range(order_limb_count):
                    product = order_limbs[limb] * np.uint64(shoe[value] - drawn_count) + carry
                    order_limbs[limb], carry = product & limb_mask, product >> limb_bits
        orders_by_result[:] = 0
        for dealer_hand_index in range(len(dealer_hands)):
            hand_orders, dealer_result, length = dealer_hands[dealer_hand_index, :3]
            for index in range(3, 3 + length):
                earlier_count, value = divmod(dealer_hands[dealer_hand_index, index], 10)
                hand_orders *= max(counts_left[value] - earlier_count, 0)
            orders_by_result[dealer_result, length] += hand_orders
        if blackjack_card_value:
            orders_by_result[DEALER_RESULT_COUNT, 1] = counts_left[blackjack_card_value - 1]
        for dealer_result in range(DEALER_RESULT_COUNT + 1):
            dealer_limbs[:] = 0
            for length in range(1, length_count):
                for half in range(2):  # a count below 2^63 has two halves of 32 bits
                    half_count = (
                        np.uint64(orders_by_result[dealer_result, length]) >> (limb_bits * np.uint64(half))
                        & limb_mask
                    )
                    for limb in range(limb_count):
                        product = half_count * continuation_limbs[length, limb]
                        dealer_limbs[limb + half] += product & limb_mask
                        dealer_limbs[limb + half + 1] += product >> limb_bits
            for limb in range(limb_count + 2):
                dealer_limbs[limb + 1] += dealer_limbs[limb] >> limb_bits
                dealer_limbs[limb] &= limb_mask
            product_limbs[:] = 0
            for n in range(order_limb_count):
                for k in range(limb_count + 3):
                    product = order_limbs[n] * dealer_limbs[k]
                    product_limbs[n + k] += product & limb_mask
                    if product >> limb_bits:
                        product_limbs[n + k + 1] += product >> limb_bits
            for limb in range(len(product_limbs) - 1):
                product_limbs[limb + 1] += product_limbs[limb] >> limb_bits
                product_limbs[limb] &= limb_mask
            for net in range(ways.shape[2]):
                net_ways = ways[row_index, dealer_result, net]
                if net_ways:
                    sign_index = 0 if net_ways > 0 else 1
                    way_count = np.uint64(abs(net_ways))
                    for limb in range(len(product_limbs)):
                        product = way_count * product_limbs[limb]
                        way_limbs[sign_index, net, limb] += product & limb_mask
                        way_limbs[sign_index, net, limb + 1] += product >> limb_bits

"""Exact weights of finished blackjack hands combined with the dealer's hands, computed with large integers.

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
#: The bits of the lowest limb.
_LOWEST_LIMB_MASK: Final = (1 << _LIMB_BITS) - 1
_Kernel = TypeVar("_Kernel", bound=Callable[..., object])


def count_orders_by_net(
    dealer: DealerFinalHands, removed: Ints, ways: Ints, rests: Sequence[int]
) -> list[int]:
    """Return the number of card orders that lead to each net result of finished hands, over all dealer hands.

    Each row of ``removed`` counts the cards of the finished hands by value; all rows have the same number of
    cards. ``ways[row, end, net]`` is the number of orders, below 2^32, in which the cards of a row give the net
    result ``net`` if the dealer ends with ``end``; the last ``end`` is the dealer's blackjack.
    ``rests[length]`` is a factor for a dealer's hand of ``length`` cards. Orders are those of cards drawn from
    the full shoe without the dealer's first card.
    """
    full: Ints = np.array(dealer.card_counts, dtype=np.int64)
    hands = [(drawn, many, end) for drawn, many, end in dealer.final_hands if sum(drawn) < len(rests)]
    drawn_counts: Ints = np.zeros((len(hands), 4 + len(rests)), dtype=np.int64)
    for row, (counts, hand_ways, end) in zip(drawn_counts, hands, strict=True):
        cards = [value + 10 * times for value, count in enumerate(counts) for times in range(count)]
        row[: 3 + len(cards)] = hand_ways, end, len(cards), *cards
    limbs = 1 + max(dealer_weight.bit_length() for dealer_weight in rests) // _LIMB_BITS
    more: Ints = np.array(
        [_split_into_limbs(dealer_weight, limbs) for dealer_weight in rests], dtype=np.uint64
    )
    order_limbs = 1 + int(removed[0].sum()) * int(full.max()).bit_length() // _LIMB_BITS
    way_limbs: Ints = np.zeros((2, ways.shape[2], order_limbs + limbs + 5), dtype=np.uint64)
    compile_kernel(_add_net_orders)(
        full, removed, ways, drawn_counts, more, dealer.blackjack_card_value or 0, order_limbs, way_limbs
    )
    plus, less = (
        [sum(int(n) << _LIMB_BITS * k for k, n in enumerate(row)) for row in part] for part in way_limbs
    )
    return [positive - negative for positive, negative in zip(plus, less, strict=True)]


def _split_into_limbs(number: int, count: int) -> list[int]:
    """Return ``number`` as ``count`` limbs of 32 bits, the lowest first."""
    return [number >> _LIMB_BITS * n & _LOWEST_LIMB_MASK for n in range(count)]


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
    full: Ints,
    removed_counts: Ints,
    ways: Ints,
    drawn_counts: Ints,
    more: Ints,
    completes: int,
    order_limbs: int,
    way_limbs: Ints,
) -> None:  # pragma: no cover (compiled)
    """Add to ``way_limbs``, by net result, the number of orders of the removed cards together with the dealer's hands.

    Numbers are in limbs. ``way_limbs[0]`` has the positive and ``way_limbs[1]`` the negative ways.
    """
    lengths, limbs = more.shape
    hands = np.zeros((DEALER_RESULT_COUNT + 1, lengths), dtype=np.int64)
    counts_left = np.zeros(10, dtype=np.int64)
    orders = np.zeros(order_limbs, dtype=np.uint64)
    dealer_limbs = np.zeros(limbs + 3, dtype=np.uint64)
    product_limbs = np.zeros(order_limbs + limbs + 3, dtype=np.uint64)
    low, bits = np.uint64(_LOWEST_LIMB_MASK), np.uint64(_LIMB_BITS)
    for row in range(len(removed_counts)):
        orders[:] = 0
        orders[0] = 1
        for value in range(10):
            counts_left[value] = full[value] - removed_counts[row, value]
            for times in range(removed_counts[row, value]):
                carry = np.uint64(0)
                for limb in range(order_limbs):
                    product = orders[limb] * np.uint64(full[value] - times) + carry
                    orders[limb], carry = product & low, product >> bits
        hands[:] = 0
        for hand in range(len(drawn_counts)):
            count, end, length = drawn_counts[hand, :3]
            for index in range(3, 3 + length):
                times, value = divmod(drawn_counts[hand, index], 10)
                count *= max(counts_left[value] - times, 0)
            hands[end, length] += count
        if completes:
            hands[DEALER_RESULT_COUNT, 1] = counts_left[completes - 1]
        for end in range(DEALER_RESULT_COUNT + 1):
            dealer_limbs[:] = 0
            for length in range(1, lengths):
                for half in range(2):
                    part = np.uint64(hands[end, length]) >> (bits * np.uint64(half)) & low
                    for limb in range(limbs):
                        product = part * more[length, limb]
                        dealer_limbs[limb + half] += product & low
                        dealer_limbs[limb + half + 1] += product >> bits
            for limb in range(limbs + 2):
                dealer_limbs[limb + 1] += dealer_limbs[limb] >> bits
                dealer_limbs[limb] &= low
            product_limbs[:] = 0
            for order_place in range(order_limbs):
                for dealer_place in range(limbs + 3):
                    product = orders[order_place] * dealer_limbs[dealer_place]
                    product_limbs[order_place + dealer_place] += product & low
                    if product >> bits:
                        product_limbs[order_place + dealer_place + 1] += product >> bits
            for limb in range(len(product_limbs) - 1):
                product_limbs[limb + 1] += product_limbs[limb] >> bits
                product_limbs[limb] &= low
            for net in range(ways.shape[2]):
                times = ways[row, end, net]
                if times:
                    sign = 0 if times > 0 else 1
                    weight = np.uint64(abs(times))
                    for limb in range(len(product_limbs)):
                        product = weight * product_limbs[limb]
                        way_limbs[sign, net, limb] += product & low
                        way_limbs[sign, net, limb + 1] += product >> bits

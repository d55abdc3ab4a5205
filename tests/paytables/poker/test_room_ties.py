"""The chance that two hold'em hands are equal, counted independently over every flop with its turns and rivers."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from paytables.cards.subsets import build_sets
from paytables.poker.community import _compile_kernels, build_strength_tables
from paytables.poker.room.figures import HOLDEM_TIE_CHANCE
from tests.paytables.poker.hands_brute import DECK, best


def count_equal(flop, ranks, levels, strengths, standings, counts):
    """Return the number of ordered pairs of equal hole cards over the 1,176 boards of a flop."""
    shown, sorted_places, bucket = [0] * 1326, [0] * 1081, [0] * levels
    later = [card for card in range(52) if card not in (flop[0], flop[1], flop[2])]
    equal = 0
    for second in range(49):
        for first in range(second):
            turn, river = later[first], later[second]
            board = (flop[0], flop[1], flop[2], turn, river)
            standings(board, ranks, 0, strengths, shown, sorted_places, bucket, counts)
            for pair in sorted_places:
                b, a = pair >> 6, pair & 63
                equal += counts[b * (b - 1) // 2 + a, 2]
    return equal


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.requirement("O-02", "R-02")
def test_the_chance_of_equal_hands_is_that_of_all_deals():
    import numba

    strengths, standings, *_ = _compile_kernels()
    counted, tables = numba.njit(count_equal), build_strength_tables(0)
    flops, like = build_sets(52, 3).suit_classes_and_sizes
    cards, counts = (
        build_sets(52, 3).cards_by_set[flops].astype(np.int64),
        np.zeros((1326, 3), dtype=np.int64),
    )
    equal = sum(
        int(weight)
        * int(
            counted(flop, tables.rank_tables, len(tables.category_by_strength), strengths, standings, counts)
        )
        for flop, weight in zip(cards, like, strict=True)
    )
    assert Fraction(equal, comb(52, 3) * comb(49, 2) * comb(47, 2) * comb(45, 2)) == HOLDEM_TIE_CHANCE


def test_the_probability_of_equal_hands_agrees_with_random_deals(seeded_draw):
    draw, games, equal = seeded_draw("ties"), 4_000, 0
    for _ in range(games):
        pack = list(DECK)
        cards = [pack.pop(draw.below(len(pack), "card")) for _ in range(9)]
        equal += best(cards[:7]) == best([*cards[2:7], *cards[7:]])
    mean = float(HOLDEM_TIE_CHANCE) * games
    assert abs(equal - mean) < 3.3 * (mean * (1 - float(HOLDEM_TIE_CHANCE))) ** 0.5

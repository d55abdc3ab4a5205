"""The exact solution of pai gow with tiles: every player hand, set in each way, against every bank hand.

A hand is four tiles. For laboratories (numba).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numba
import numpy as np

from paytables.poker.policy import pack_policy
from paytables.poker.proof import format_fraction
from paytables.poker.tiles.bank import choose_bank_way
from paytables.poker.tiles.schema import PaiGowDefinition, ProvedFigures
from paytables.poker.tiles.tiles import ALL_TILES, is_worthless_hand, list_settings

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints

#: Maximum number of ways to set four tiles.
WAYS_MAX = 3


#: The ways to set each hand of four tiles.
HandSettings = tuple[tuple[int, int, int], ...]


def count_bank_hands(
    definition: PaiGowDefinition,
) -> tuple[list[tuple[int, int, int, int]], list[HandSettings], Ints]:
    """Return every set of four tiles, the ways to set each, and how many bank hands each way beats and loses to."""
    hands = list(combinations(range(len(ALL_TILES)), 4))
    masks = np.array([sum(1 << tile for tile in hand) for hand in hands], dtype=np.int64)
    ways = [list_settings((a, b, c, d)) for a, b, c, d in hands]
    bank_hands = np.array([choose_bank_way(definition, way)[:2] for way in ways], dtype=np.int64)
    player_hands = np.array(
        [[setting[:2] for setting in (*way, *way, *way)[:WAYS_MAX]] for way in ways], dtype=np.int64
    )  # a hand with fewer ways repeats them
    if definition.worthless_low_loses:
        low = player_hands[:, :, 0]
        low[np.vectorize(is_worthless_hand)(low)] = -1
    result_counts = np.zeros((len(hands), WAYS_MAX, 2), dtype=np.int64)
    numba.njit()(_count_wins_and_losses)(masks, bank_hands, player_hands, result_counts)
    return hands, ways, result_counts


def solve(definition: PaiGowDefinition) -> ProvedFigures:
    """Return the exact figures of pai gow for the best settings; its policy stores these settings."""
    hands, ways, result_counts = count_bank_hands(definition)
    stake = definition.commission.of
    fee = Fraction(definition.commission.compute_credits(stake), stake)
    won, lost = result_counts[:, :, 0], result_counts[:, :, 1]
    values = won * int((1 - fee) * stake) - lost * stake
    total = len(hands) * comb(len(ALL_TILES) - 4, 4)

    bank_ways = np.array([way.index(choose_bank_way(definition, way)) for way in ways], dtype=np.int64)

    def compute_results(chosen_ways: Ints) -> tuple[Fraction, Fraction, Fraction]:
        """Return the probabilities of a win and a loss, and the mean net result.

        The player sets the i-th set of tiles in its way number ``chosen_ways[i]``.
        """
        rows = np.arange(len(hands))
        wins, losses = (Fraction(int(count[rows, chosen_ways].sum()), total) for count in (won, lost))
        return wins, losses, (1 - fee) * wins - losses

    win, lose, _ = compute_results(values.argmax(axis=1))
    return ProvedFigures(
        win=format_fraction(win),
        push=format_fraction(1 - win - lose),
        lose=format_fraction(lose),
        worst=format_fraction(compute_results(values.argmin(axis=1))[2]),
        simplest=format_fraction(compute_results(bank_ways)[2]),
        policy=pack_policy(bytes(values.argmax(axis=1).tolist())),
    )


def _count_wins_and_losses(masks: Ints, bank_hands: Ints, player_hands: Ints, result_counts: Ints) -> None:
    """Count, for each way to set each hand of four tiles, how many bank hands it beats and loses to.

    ``masks`` has the tiles of each hand as bits. ``result_counts`` gets both numbers.
    """
    for n in range(len(masks)):
        for m in range(len(masks)):
            if masks[n] & masks[m]:
                continue
            low, high = bank_hands[m]
            for way in range(WAYS_MAX):
                better = 0
                if player_hands[n, way, 0] > low:
                    better += 1
                if player_hands[n, way, 1] > high:
                    better += 1
                if better == 2:
                    result_counts[n, way, 0] += 1
                elif better == 0:
                    result_counts[n, way, 1] += 1

"""The exact solution of pai gow with tiles: every player hand, in every setting, against every bank hand.

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
from paytables.poker.tiles.bank import choose_bank_setting
from paytables.poker.tiles.schema import PaiGowDefinition, ProvedFigures
from paytables.poker.tiles.tiles import ALL_TILES, is_worthless_hand, list_settings
from paytables.poker.two_hands import HandSetting

if TYPE_CHECKING:
    from paytables.cards.arrays import Ints

#: The maximum number of settings of four tiles.
SETTINGS_MAX = 3


#: The settings of each hand of four tiles.
HandSettings = tuple[HandSetting, ...]


def count_bank_hands(
    definition: PaiGowDefinition,
) -> tuple[list[tuple[int, int, int, int]], list[HandSettings], Ints]:
    """Return every set of four tiles, the settings of each, and how many bank hands each setting beats and loses to."""
    hands = list(combinations(range(len(ALL_TILES)), 4))
    masks = np.array([sum(1 << tile for tile in hand) for hand in hands], dtype=np.int64)
    settings_by_hand = [list_settings((a, b, c, d)) for a, b, c, d in hands]
    bank_hands = np.array(
        [choose_bank_setting(definition, settings)[:2] for settings in settings_by_hand], dtype=np.int64
    )
    # a hand with fewer settings repeats them
    player_hands = np.array(
        [
            [setting[:2] for setting in (*settings, *settings, *settings)[:SETTINGS_MAX]]
            for settings in settings_by_hand
        ],
        dtype=np.int64,
    )
    if definition.worthless_low_loses:
        low_strengths = player_hands[:, :, 0]
        low_strengths[np.vectorize(is_worthless_hand)(low_strengths)] = -1
    result_counts = np.zeros((len(hands), SETTINGS_MAX, 2), dtype=np.int64)
    numba.njit()(_count_wins_and_losses)(masks, bank_hands, player_hands, result_counts)
    return hands, settings_by_hand, result_counts


def solve(definition: PaiGowDefinition) -> ProvedFigures:
    """Return the exact figures of pai gow for the best settings; its policy stores these settings."""
    hands, settings_by_hand, result_counts = count_bank_hands(definition)
    commission_unit = definition.commission.part_credits
    commission_rate = Fraction(definition.commission.compute_credits(commission_unit), commission_unit)
    win_counts, loss_counts = result_counts[:, :, 0], result_counts[:, :, 1]
    net_sums = win_counts * int((1 - commission_rate) * commission_unit) - loss_counts * commission_unit
    case_count = len(hands) * comb(len(ALL_TILES) - 4, 4)

    bank_settings = np.array(
        [settings.index(choose_bank_setting(definition, settings)) for settings in settings_by_hand],
        dtype=np.int64,
    )

    def compute_results(chosen_settings: Ints) -> tuple[Fraction, Fraction, Fraction]:
        """Return the probabilities of a win and a loss, and the mean net result.

        The player sets the i-th set of tiles in its setting number ``chosen_settings[i]``.
        """
        rows = np.arange(len(hands))
        win_chance, loss_chance = (
            Fraction(int(counts[rows, chosen_settings].sum()), case_count)
            for counts in (win_counts, loss_counts)
        )
        return win_chance, loss_chance, (1 - commission_rate) * win_chance - loss_chance

    win_chance, loss_chance, _ = compute_results(net_sums.argmax(axis=1))
    return ProvedFigures(
        win=format_fraction(win_chance),
        push=format_fraction(1 - win_chance - loss_chance),
        lose=format_fraction(loss_chance),
        worst=format_fraction(compute_results(net_sums.argmin(axis=1))[2]),
        simplest=format_fraction(compute_results(bank_settings)[2]),
        policy=pack_policy(bytes(net_sums.argmax(axis=1).tolist())),
    )


def _count_wins_and_losses(masks: Ints, bank_hands: Ints, player_hands: Ints, result_counts: Ints) -> None:
    """Count, for each setting of each hand of four tiles, how many bank hands it beats and loses to.

    ``masks`` has the tiles of each hand as bits. ``result_counts`` gets both numbers.
    """
    for hand_index in range(len(masks)):
        for bank_index in range(len(masks)):
            if masks[hand_index] & masks[bank_index]:
                continue
            bank_low_strength, bank_high_strength = bank_hands[bank_index]
            for setting_index in range(SETTINGS_MAX):
                better_hand_count = 0
                if player_hands[hand_index, setting_index, 0] > bank_low_strength:
                    better_hand_count += 1
                if player_hands[hand_index, setting_index, 1] > bank_high_strength:
                    better_hand_count += 1
                if better_hand_count == 2:
                    result_counts[hand_index, setting_index, 0] += 1
                elif better_hand_count == 0:
                    result_counts[hand_index, setting_index, 1] += 1

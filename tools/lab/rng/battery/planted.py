"""Planted defects: random draws with known faults, which the test battery must detect.

They prove that the battery rejects a faulty generator.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from tools.lab.rng.battery.result import Ints
from tools.lab.rng.bulk import BulkDraws
from tools.lab.rng.errors import InvalidSampleError
from tools.lab.rng.outcomes import IndependentNumbers, SelectionWithoutReplacement, TestedGame

#: Returns plays of a game with a planted defect.
PlantDefect = Callable[[BulkDraws, TestedGame, int], Ints]


def plant_modulo_bias(draws: BulkDraws, game: TestedGame, play_count: int) -> Ints:
    """Return plays with a planted defect: numbers are remainders of a byte, so low numbers occur too often."""
    if not isinstance(game, IndependentNumbers):
        raise InvalidSampleError("modulo bias can only be planted in independent numbers")
    words = draws.below(256, play_count * game.position_count)
    return (words % game.bound).reshape(play_count, game.position_count)


def plant_repeated_plays(draws: BulkDraws, game: TestedGame, play_count: int) -> Ints:
    """Return plays with a planted defect: one play in fifty repeats the previous one.

    Every number stays exactly as likely as without the defect.
    """
    data = game.draw_many(draws, play_count)
    is_repeat = draws.below(50, play_count) == 0
    is_repeat[0] = False
    source_indexes = np.maximum.accumulate(np.where(is_repeat, 0, np.arange(play_count)))
    plays_with_repeats: Ints = data[source_indexes]
    return plays_with_repeats


def plant_correlated_pair(draws: BulkDraws, game: TestedGame, play_count: int) -> Ints:
    """Return plays with a planted defect: in one play in thirty the second reel stops where the first did."""
    if not isinstance(game, IndependentNumbers) or game.position_count < 2:
        raise InvalidSampleError("a correlated pair can only be planted in two positions or more")
    data = game.draw_many(draws, play_count)
    is_tied = draws.below(30, play_count) == 0
    data[is_tied, 1] = data[is_tied, 0]
    return data


def plant_biased_shuffle(draws: BulkDraws, game: TestedGame, play_count: int) -> Ints:
    """Return plays with a planted defect: each card is swapped with any card of the deck.

    A correct shuffle swaps it only with a card at a position not yet filled.
    """
    if not isinstance(game, SelectionWithoutReplacement):
        raise InvalidSampleError("a biased shuffle can only be planted in selections")
    members = np.tile(np.arange(game.population, dtype=np.uint16), (play_count, 1))
    rows = np.arange(play_count)
    for card in range(game.population):
        other_positions = draws.below(game.population, play_count)
        members[rows, other_positions], members[rows, card] = (
            members[rows, card],
            members[rows, other_positions].copy(),
        )
    return members[:, : game.pick_count]


#: The planted defects by name.
PLANTED_DEFECTS: Final[dict[str, PlantDefect]] = {
    "modulo-bias": plant_modulo_bias,
    "sticky": plant_repeated_plays,
    "correlated-pair": plant_correlated_pair,
    "biased-shuffle": plant_biased_shuffle,
}

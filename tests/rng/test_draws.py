"""Draws as they are recorded."""

import random

from rng import Draw
from rng.draws import WordDraws


def test_draws_carry_their_purpose_and_nothing_of_the_generator() -> None:
    drawn = WordDraws(random.Random(1).randbytes)
    value = drawn.below(22, "reel 1")
    assert drawn.draws == (Draw(22, value, "reel 1"),)

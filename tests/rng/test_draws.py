"""Recorded draws."""

import random

from rng import Draw
from rng.draws import WordDraws


def test_a_draw_records_its_range_value_and_purpose_only() -> None:
    drawn = WordDraws(random.Random(1).randbytes)
    value = drawn.below(22, "reel 1")
    assert drawn.draws == (Draw(22, value, "reel 1"),)

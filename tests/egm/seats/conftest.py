"""Positions around the tables of one machine."""

from functools import partial

import pytest
from rigs.positions import open_positions


@pytest.fixture
def seats(tmp_path):
    """Four positions of one machine, or as many as asked for."""
    with open_positions(tmp_path) as start:
        yield partial(start, count=4)

"""Positions at the tables of one machine."""

from functools import partial

import pytest
from rigs.positions import open_positions


@pytest.fixture
def tables(tmp_path):
    """One position of a machine, or as many as asked for."""
    with open_positions(tmp_path) as start:
        yield partial(start, count=1)

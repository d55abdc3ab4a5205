"""Player positions that share the tables of one machine."""

from functools import partial

import pytest
from rigs.positions import open_positions


@pytest.fixture
def tables(tmp_path):
    """Return a function that starts the positions of one machine: one, or ``count``."""
    with open_positions(tmp_path) as start:
        yield partial(start, count=1)

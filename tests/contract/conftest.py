"""Fixtures: every device twin on every kind of line, on an event loop whose clock jumps to the next timer."""

import pytest


@pytest.fixture(params=["perfect", "one_byte", "lossy", "delayed"])
def line(request: pytest.FixtureRequest) -> str:
    return str(request.param)

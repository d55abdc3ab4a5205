"""Every device on every line: a twin on a cable in memory, on a loop whose time jumps."""

import pytest


@pytest.fixture(params=["perfect", "one_byte", "lossy", "delayed"])
def line(request: pytest.FixtureRequest) -> str:
    return str(request.param)

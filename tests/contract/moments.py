"""How densely an interruption test cuts a device's work: every third moment in the quick tier, each in the slow."""

import pytest

at_moments = pytest.mark.parametrize(
    "every", [pytest.param(3, id="every third"), pytest.param(1, id="every one", marks=pytest.mark.slow)]
)

"""How many moments an interruption test covers: every third one in the quick tier, every one in the slow tier."""

import pytest

at_moments = pytest.mark.parametrize(
    "every", [pytest.param(3, id="every third"), pytest.param(1, id="every one", marks=pytest.mark.slow)]
)

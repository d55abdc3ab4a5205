"""How many examples the tests of properties try."""

from hypothesis import settings

#: The examples of a property in the profile ``thorough`` (``make test-slow``) if the test states no number.
THOROUGH = 150


def scale_examples(thorough: int) -> int:
    """Return how many examples a test tries that tries ``thorough`` of them in ``make test-slow``.

    In ``make test`` it is a third; the profile ``explore`` tries many times as many.
    """
    return max(1, thorough * settings.default.max_examples // THOROUGH)

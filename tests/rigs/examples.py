"""The number of examples of the property tests."""

from hypothesis import settings

#: The examples of a property in the profile ``thorough`` (``make test-slow``) if the test states no number.
THOROUGH = 150


def scale_examples(thorough: int) -> int:
    """Return the number of examples of a test in the current profile; ``thorough`` is its number in ``make test-slow``.

    ``make test`` tries a third of it, and the profile ``explore`` many times as many.
    """
    return max(1, thorough * settings.default.max_examples // THOROUGH)

"""Errors for draws that a laboratory requests and that are not possible."""

from rng.errors import RngError


class InvalidSample(RngError):
    """Raised for a request for outcomes that are not possible.

    Examples: more pieces than there are, no plays, or a planted defect that does not fit the game.
    """


class InvalidWeights(RngError):
    """Raised for a table of weights with a weight that is not a whole number of 0 or more, or with a wrong total."""

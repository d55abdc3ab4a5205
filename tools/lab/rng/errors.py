"""Errors of a laboratory's requests for random draws that cannot be made."""

from rng.errors import RngError


class InvalidSampleError(RngError):
    """Raised if a laboratory requested outcomes that are not possible.

    Examples: more pieces than there are, no plays, or a planted defect that does not fit the game.
    """


class InvalidWeightsError(RngError):
    """Raised if a table of weights has a weight that is not a whole number of 0 or more, or a wrong total."""

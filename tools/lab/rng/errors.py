"""Errors for draws that a laboratory requests and that are not possible."""

from rng.errors import RngError


class InvalidSample(RngError):
    """Outcomes that are not possible: more pieces than there are, no plays, a defect that does not fit the game."""


class InvalidWeights(RngError):
    """A table of weights that are not all whole numbers of 0 or more, or whose stated total is wrong."""

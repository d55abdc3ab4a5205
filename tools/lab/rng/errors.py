"""What a laboratory asks for and cannot be drawn."""

from rng.errors import RngError


class InvalidSample(RngError):
    """Outcomes that cannot be: more pieces than there are, no plays, a defect that does not fit the game."""


class InvalidWeights(RngError):
    """A table of weights holds something else than whole numbers of 0 or more, or misses its stated total."""

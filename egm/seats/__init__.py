"""Several seats, one round: the betting period of a table shared by several positions, and its single draw."""

"""Several seats, one round: the betting time of a table that several positions play, and its one draw."""

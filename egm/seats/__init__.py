"""Rounds shared by several seats: the betting period of a table, and the numbers drawn once for all its seats."""

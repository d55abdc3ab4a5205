"""Rounds shared by several seats: the betting period of a table, decisions of its players, and a real wheel."""

"""Stored records of play: the game, the table, the player's session and limits, with functions that read them."""

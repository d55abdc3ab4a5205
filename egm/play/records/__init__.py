"""Stored records of games and of what a player has open: the game, the table, the session, and queries over them."""

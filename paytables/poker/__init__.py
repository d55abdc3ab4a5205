"""The poker games: poker against the bank, pai gow (cards and tiles), and video poker."""

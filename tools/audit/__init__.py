"""The independent audit: derive a journal's money and games again from its entries and the game definitions."""

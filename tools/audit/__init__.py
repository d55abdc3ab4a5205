"""The independent audit: what a journal says, derived again from its entries and the game definitions."""

"""Card games against the bank with at most one decision: baccarat, Super Pan 9, war, red dog."""

"""Card games against the bank with one thing to decide at most: baccarat, war, red dog."""

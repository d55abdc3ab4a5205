"""Card games against the bank with one thing to decide at most: baccarat, Super Pan 9, war, red dog."""

"""A roulette wheel with a reader: it says where its game stands, and the number its ball came to rest on."""

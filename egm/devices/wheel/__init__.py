"""A roulette wheel with a reader, which reports the phase of its game and the winning number."""

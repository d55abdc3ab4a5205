"""A roulette wheel with a reader, which reports the phase of its spin and the winning number."""

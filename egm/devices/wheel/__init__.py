"""A roulette wheel with a reader, which reports the wheel's phase and the number the ball fell on."""

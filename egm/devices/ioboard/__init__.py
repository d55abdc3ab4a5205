"""The input and output board: doors, key switches, buttons, lamps, tower light, bell, mains and battery."""

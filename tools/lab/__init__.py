"""Laboratory tools: exact sheets, certification, simulation, tuning, and the tests of the RNG."""

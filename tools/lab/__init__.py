"""The laboratory: exact sheets, certification, simulation, tuning, and the tests of the generator."""

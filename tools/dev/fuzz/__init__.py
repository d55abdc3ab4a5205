"""Coverage-guided fuzzing, in addition to the random bytes of the test suite."""

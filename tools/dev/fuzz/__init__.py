"""Coverage-guided fuzzing, for whoever wants more than the test suite's random bytes."""

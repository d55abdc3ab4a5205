"""Statistical tests on final outcomes."""

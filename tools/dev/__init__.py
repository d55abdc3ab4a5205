"""What developers of this project run: benches, evidence, fuzzing, generated documents. Never installed."""

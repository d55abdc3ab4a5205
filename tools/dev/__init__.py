"""Developer commands of this project: benchmarks, evidence, fuzzing and generated documents. Never installed."""

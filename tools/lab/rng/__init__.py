"""What a laboratory receives: the report on the generator and the evidence kept beside it."""

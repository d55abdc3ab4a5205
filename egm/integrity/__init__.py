"""Integrity: doors, faults, the software check, the clock, hard meters and the memory clear."""

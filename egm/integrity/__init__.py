"""Integrity: what stops play, and who may let it resume: doors, faults, generator, clock, memory, software."""

"""Integrity: doors, faults, generator, clock, hard meters, memory, software check: what stops play, who restarts it."""

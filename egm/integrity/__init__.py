"""Integrity: what stops play and who may restart it: doors, faults, generator, clock, memory, software."""

"""Integrity: doors, faults, random number generator, clock, hard meters, memory media and software check.

Each stops play if something is wrong, and defines who may restart the machine.
"""

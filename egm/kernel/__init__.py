"""Kernel of the machine: events, states, rules and the engine that applies the rules; it depends on no feature."""

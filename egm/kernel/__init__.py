"""Kernel of the machine: events, states, rules and the engine that applies them; it depends on no feature."""

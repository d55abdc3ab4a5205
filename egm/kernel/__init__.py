"""Kernel of the machine: events, states, rules and the engine that applies them. It knows no feature."""

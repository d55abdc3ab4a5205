"""Kernel of the machine: events, states, rules and the engine that follows them. It knows no feature."""

"""Chance: entropy, health tests, a NIST SP 800-90A generator, and unbiased draws.

The one room of the house that may reach a source of randomness. It knows nothing of games or money.
"""

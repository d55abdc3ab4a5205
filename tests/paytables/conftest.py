"""Draws for tests: a small seeded generator, the same on every machine."""

import hashlib

import pytest


class SeededDraw:
    """Uniform draws from SHA-256 of a counter, by rejection."""

    def __init__(self, seed):
        self.seed = seed
        self.count = 0

    def below(self, bound, purpose):
        del purpose
        limit = (1 << 64) - (1 << 64) % bound
        while True:
            self.count += 1
            digest = hashlib.sha256(f"{self.seed}/{self.count}".encode()).digest()
            value = int.from_bytes(digest[:8], "big")
            if value < limit:
                return value % bound


@pytest.fixture
def seeded_draw():
    """Return a function that creates seeded draws."""
    return SeededDraw

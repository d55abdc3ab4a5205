"""Exhaustive proof that scaling is unbiased: every possible random word is scaled, and the outcomes are counted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from rng.errors import SelfTestFailed
from rng.scaling import choose_word_size
from tools.lab.rng.bulk import BulkDraws

#: The bounds of draws below which every draw reads a word of 16 bits (:func:`rng.scaling.compute_word_bits`).
#: A draw below 1 reads no word.
EXHAUSTIVELY_TESTED_BOUNDS: Final = range(2, 257)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhaustion:
    """The result of scaling every possible word once to one range."""

    bound: int
    """The number of possible outcomes."""
    words_each: int
    """The number of words that are scaled to each outcome."""
    words_thrown_away: int
    """The number of words that belong to no outcome and are rejected."""


def build_every_word(bits: int) -> bytes:
    """Return every random word of 8 or 16 bits once, as bytes.

    Small and large words alternate, so that no long run of words is rejected.
    """
    words = np.zeros(1 << bits, dtype=np.uint32)
    for bit in range(bits):
        words |= ((np.arange(1 << bits, dtype=np.uint32) >> bit) & 1) << (bits - 1 - bit)
    return words.astype(f"<u{bits // 8}").tobytes()


def create_reader(stream: bytes) -> Callable[[int], bytes]:
    """Return a function that reads ``stream`` in order; it raises EOFError at the end."""
    offset = 0

    def read_stream(count: int) -> bytes:
        """Return the next ``count`` bytes of the prepared stream. Raises EOFError at its end."""
        nonlocal offset
        if offset + count > len(stream):
            raise EOFError
        offset += count
        return stream[offset - count : offset]

    return read_stream


def prove_range_uniform(bound: int) -> Exhaustion:
    """Scale each of the 65,536 words of 16 bits once to the range below ``bound``, and count the outcomes.

    Raises SelfTestFailed if the outcomes are not equally frequent.
    """
    _, share = choose_word_size(bound)
    counts = np.bincount(
        BulkDraws(create_reader(build_every_word(16))).below(bound, bound * share), minlength=bound
    )
    if len(counts) != bound or (counts != share).any():
        raise SelfTestFailed(f"scaling: words below {bound} are not shared equally: {counts.tolist()}")
    return Exhaustion(bound=bound, words_each=share, words_thrown_away=65_536 - bound * share)

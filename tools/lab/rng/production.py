"""Plays drawn with the machine's own random number service, one step per play.

The code compiled for speed (:class:`~tools.lab.rng.bulk.BulkDraws`) alone proves nothing about a machine. So
the battery tests plays that the machine's own code draws. Each play is compared, draw for draw, with the
result of the compiled code for the same random bytes. :func:`exhaust_production_range` gives every word to
the machine's own scaling code.
"""

from contextlib import suppress
from typing import Final

import numpy as np

from rng.draws import WordDraws
from rng.errors import SelfTestFailed
from rng.mechanism import Mechanism
from rng.scaling import choose_word_size
from rng.service import RandomService
from tools.lab.rng.bulk import BulkDraws, UnsignedArray
from tools.lab.rng.exhaustion import Exhaustion, build_every_word, create_reader
from tools.lab.rng.outcomes import IndependentNumbers, SelectionWithoutReplacement

#: Plays drawn and compared at once.
_PLAYS_AT_ONCE: Final = 10_000


class _RecordingMechanism:
    """A wrapper of an RNG mechanism that passes on its output and records it."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.output = bytearray()
        """The bytes that the mechanism has generated so far."""
        self._mechanism = mechanism

    def generate(self, count: int, *arguments: object, **by_name: object) -> bytes:
        """Generate as the mechanism does, and record the output."""
        output = self._mechanism.generate(count, *arguments, **by_name)  # type: ignore[arg-type]
        self.output += output
        return output

    def __getattr__(self, name: str) -> object:
        return getattr(self._mechanism, name)


class ProductionDraws:
    """Plays drawn as a machine draws them: by one service, each in a separate step."""

    __slots__ = ("_random_service", "_recorder")

    def __init__(self, random_service: RandomService) -> None:
        self._random_service = random_service
        self._recorder = _RecordingMechanism(random_service._drbg)  # noqa: SLF001 (access that no game has)
        random_service._drbg = self._recorder  # type: ignore[assignment]  # noqa: SLF001

    @property
    def rejected_word_count(self) -> int:
        """Return how many random words were rejected by scaling because they belong to no outcome."""
        return int(self._random_service.read_statistics()["rejected_words"])

    def play(
        self, name: str, game: IndependentNumbers | SelectionWithoutReplacement, plays: int
    ) -> UnsignedArray:
        """Return ``plays`` plays, one per row, each compared with the bulk code's result for the same random bytes.

        Raises :class:`~rng.errors.SelfTestFailed` at the first play that differs.
        """
        batches = range(0, plays, _PLAYS_AT_ONCE)
        return np.concatenate(
            [
                self._play_and_compare(name, game, first, min(_PLAYS_AT_ONCE, plays - first))
                for first in batches
            ]
        )

    def _play_and_compare(
        self, name: str, game: IndependentNumbers | SelectionWithoutReplacement, first_play: int, plays: int
    ) -> UnsignedArray:
        """Draw plays and compare them with the bulk code.

        Plays without a rejected word are compared all at once, the few others one by one.
        """
        bytes_per_play = sum(choose_word_size(bound)[0] for bound in game.bounds)
        drawn_plays: list[list[int]] = []
        outputs: list[bytes] = []
        rows_with_rejections: list[int] = []
        for row in range(plays):
            self._recorder.output.clear()
            with self._random_service.step() as draws:
                drawn_plays.append(game.draw(draws))
            outputs.append(bytes(self._recorder.output))
            if draws.rejected_word_count:
                rows_with_rejections.append(row)
        rows_without_rejections = sorted(set(range(plays)).difference(rows_with_rejections))
        stream = b"".join(outputs[row][:bytes_per_play] for row in rows_without_rejections)
        is_equal = _draw_compiled(game, stream, len(rows_without_rejections)) == [
            drawn_plays[row] for row in rows_without_rejections
        ]
        # If they differ, compare every play, to find the first that differs.
        for row in rows_with_rejections if is_equal else range(plays):
            expected = _draw_compiled(game, outputs[row], 1)
            if expected != [drawn_plays[row]]:
                raise SelfTestFailed(
                    f"{name}: play {first_play + row + 1}: the machine drew {drawn_plays[row]}; expected "
                    f"{expected[0] if expected else 'no play'}, which the laboratory draws from the same bytes"
                )
        return np.array(drawn_plays, dtype=np.uint16)


def _draw_compiled(
    game: IndependentNumbers | SelectionWithoutReplacement, output: bytes, plays: int
) -> list[list[int]]:
    """Return the plays that the bulk code draws from these bytes; an empty list if there are too few bytes."""
    try:
        plays_drawn: list[list[int]] = game.draw_many(BulkDraws(create_reader(output)), plays).tolist()
    except EOFError:
        return []
    return plays_drawn


def exhaust_production_range(bound: int) -> Exhaustion:
    """Scale each of the 65,536 words of 16 bits once to the range below ``bound``, with the machine's own code.

    Raises :class:`~rng.errors.SelfTestFailed` if the outcomes are not equally frequent.
    """
    _, share = choose_word_size(bound)
    draws, counts = WordDraws(create_reader(build_every_word(16))), [0] * bound
    with suppress(EOFError):
        while True:
            counts[draws.below(bound)] += 1
    if set(counts) != {share}:
        raise SelfTestFailed(f"scaling: words below {bound} are not shared equally: {counts}")
    return Exhaustion(bound=bound, words_each=share, words_thrown_away=65_536 - bound * share)


def list_ranges(game: IndependentNumbers | SelectionWithoutReplacement) -> list[int]:
    """Return the bounds of a game's draws that have more than one outcome."""
    return sorted({bound for bound in game.bounds if bound > 1})

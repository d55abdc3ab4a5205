"""Final outcomes drawn by the very objects a machine draws with: the service, one step a play.

What is compiled for speed (:class:`~tools.lab.rng.bulk.BulkDraws`) proves nothing about a machine by itself:
:func:`hold_compiled` holds it against these objects draw for draw, and :func:`exhaust` gives every word to
the code a machine scales with.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import numpy as np

from rng.draws import WordDraws
from rng.errors import SelfTestFailed
from rng.mechanism import Mechanism
from rng.scaling import plan
from rng.service import RandomService
from tools.lab.rng.battery.exhaustion import Exhaustion, every_word, reader
from tools.lab.rng.bulk import Array, BulkDraws
from tools.lab.rng.outcomes import Game, Numbers, Selection, collect

#: Plays of each game that are held draw for draw.
HELD_PLAYS: Final = 500
_AT_ONCE: Final = 10_000


class Production:
    """Plays drawn by one service, each in a step of its own, as a machine draws them."""

    __slots__ = ("_service",)

    def __init__(self, service: RandomService) -> None:
        self._service = service

    @property
    def rejections(self) -> int:
        """Words thrown away because no outcome owns them."""
        return int(self._service.statistics()["rejected_words"])

    def play(self, game: Game, plays: int) -> Array:
        """``plays`` plays, a row each."""
        parts = [
            np.array(list(collect(self._service, game, min(_AT_ONCE, plays - first))), dtype=np.uint16)
            for first in range(0, plays, _AT_ONCE)
        ]
        return np.concatenate(parts)


class _Tap:
    """A mechanism whose output is written down as it goes to the service."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.output = bytearray()
        self._mechanism = mechanism

    def generate(self, count: int, *more: object, **by_name: object) -> bytes:
        """As the mechanism's."""
        output = self._mechanism.generate(count, *more, **by_name)  # type: ignore[arg-type]
        self.output += output
        return output

    def __getattr__(self, name: str) -> object:
        return getattr(self._mechanism, name)


def hold_compiled(start: Callable[[], RandomService], name: str, game: Numbers | Selection) -> None:
    """Play through the service and hold each play against the compiled path on the bytes it was given.

    Raises :class:`~rng.errors.SelfTestFailed` at the first that differs: one of the two draws otherwise.
    """
    service = start()
    tap = _Tap(service._drbg)  # noqa: SLF001 (a tap no game is offered)
    service._drbg = tap  # type: ignore[assignment]  # noqa: SLF001
    for play in range(1, HELD_PLAYS + 1):
        tap.output.clear()
        (drawn,) = collect(service, game, 1)
        compiled = game.draw_many(BulkDraws(reader(bytes(tap.output))), 1)[0].tolist()
        if drawn != compiled:
            raise SelfTestFailed(
                f"{name}: play {play} of the machine's own draws is {drawn}; of the same bytes it should be "
                f"{compiled}"
            )


def exhaust(bound: int) -> Exhaustion:
    """Draw below ``bound`` with each of the 65,536 words by the code a machine draws with.

    Raises :class:`~rng.errors.SelfTestFailed` where some outcome owns more words than another.
    """
    _, share = plan(bound)
    draws, counts = WordDraws(reader(every_word(16))), [0] * bound
    with suppress(EOFError):
        while True:
            counts[draws.below(bound)] += 1
    if set(counts) != {share}:
        raise SelfTestFailed(f"scaling: words below {bound} are not shared equally: {counts}")
    return Exhaustion(bound=bound, words_each=share, words_thrown_away=65_536 - bound * share)


def bounds_of(game: Numbers | Selection) -> range:
    """The ranges a game draws in that have an outcome to choose."""
    if isinstance(game, Numbers):
        return range(game.bound, game.bound + 1)
    return range(max(2, game.population - game.picks + 1), game.population + 1)

"""Draws: what a game asks for, and what is recorded of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from rng.errors import RejectionLimit
from rng.scaling import REJECTIONS_MAX, check_bound, plan


@dataclass(frozen=True, slots=True)
class Draw:
    """One number drawn: ``0 <= value < bound``, and what it was for. Never raw bits, never a seed."""

    bound: int
    value: int
    purpose: str


class WordDraws:
    """Draws from a stream of bytes: the one scaling path, whether the bytes come from a generator or a file.

    ``read(count)`` gives the next ``count`` bytes of the stream. ``words`` says, for a bound, how many bytes
    a word has and how many words each outcome owns; a proof by exhaustion puts smaller words in its place.
    """

    __slots__ = ("_read", "_recorded", "_words", "rejections")

    def __init__(self, read: Callable[[int], bytes], words: Callable[[int], tuple[int, int]] = plan) -> None:
        self._read = read
        self._words = words
        self._recorded: list[tuple[int, int, str]] = []
        #: Words thrown away because no outcome owns them.
        self.rejections = 0

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Every draw so far, in order."""
        return tuple(Draw(*recorded) for recorded in self._recorded)

    def below(self, bound: int, purpose: str = "") -> int:
        """Return a whole number from 0 up to, not including, ``bound``, each as likely as the others.

        What is dealt, thrown or spun of these numbers is the games' own affair (:mod:`paytables.contract`).
        Raises :class:`~rng.errors.InvalidRange`, :class:`~rng.errors.RejectionLimit` if the stream cannot be
        random.
        """
        width, share = self._words(check_bound(bound))
        for _ in range(REJECTIONS_MAX):
            value = int.from_bytes(self._read(width), "little") // share
            if value < bound:
                break
            self.rejections += 1
        else:
            self._give_up(bound)
        self._recorded.append((bound, value, purpose))
        return value

    def _give_up(self, bound: int) -> NoReturn:
        raise RejectionLimit(f"{REJECTIONS_MAX} words in a row were out of range for a draw below {bound}")

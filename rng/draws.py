"""Draws: what a game asks for, and what is recorded of it."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from rng.errors import RejectionLimit
from rng.scaling import REJECTIONS_MAX, Weights, check_bound, plan, selection_bounds

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Draw:
    """One number drawn: ``0 <= value < bound``, and what it was for. Never raw bits, never a seed."""

    bound: int
    value: int
    purpose: str


class Draws(ABC):
    """The ways to draw, all of them built on :meth:`below`."""

    __slots__ = ()

    @abstractmethod
    def below(self, bound: int, purpose: str = "") -> int:
        """A whole number from 0 up to, not including, ``bound``, each as likely as the others.

        Raises :class:`~rng.errors.InvalidRange`.
        """

    def weighted(self, weights: Weights, purpose: str = "") -> int:
        """An index of the table, each as likely as its weight says."""
        return bisect_right(weights.cumulative, self.below(weights.total, purpose))

    def sample(self, population: int, picks: int, purpose: str = "") -> list[int]:
        """``picks`` different numbers of ``range(population)``, in the order drawn.

        Every ordered selection is equally likely. Raises :class:`~rng.errors.InvalidSample`.
        """
        bounds = selection_bounds(population, picks)
        self._expect(bounds)
        members = list(range(population))
        for i, bound in enumerate(bounds):
            j = i + self.below(bound, purpose)
            members[i], members[j] = members[j], members[i]
        return members[:picks]

    def shuffle(self, items: Sequence[T], purpose: str = "") -> list[T]:
        """The items in a new order, every order equally likely."""
        return [items[i] for i in self.sample(len(items), len(items), purpose)]

    def _expect(self, bounds: Sequence[int]) -> None:  # noqa: B027 (most draws need no telling)
        """Told before a run of draws, so that one request can serve them all."""


class WordDraws(Draws):
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
        """As :meth:`Draws.below`. Raises RejectionLimit where the stream cannot be random."""
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

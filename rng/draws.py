"""Random numbers drawn for games, and the record of each draw."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from rng.errors import RejectionLimit
from rng.scaling import REJECTIONS_MAX, check_bound, choose_word_size


@dataclass(frozen=True, slots=True)
class Draw:
    """The record of one random number that was drawn for a game.

    Raw bits and seeds are never recorded.
    """

    bound: int
    """The number of possible values."""
    value: int
    """The number drawn: from 0 up to, but not including, ``bound``."""
    purpose: str
    """What the number decides, such as the stop of one reel."""


class WordDraws:
    """Source of unbiased random numbers, made from the words of a byte stream.

    No other code scales words to outcomes. ``read(count)`` returns the next ``count`` bytes of the stream, which
    comes from a generator or a file. ``choose_words(bound)`` returns two numbers for a draw below ``bound``: the
    bytes per word, and how many words stand for each outcome. A proof that tries every word substitutes a function
    that gives smaller words.
    """

    __slots__ = ("_choose_words", "_read", "_recorded_draws", "rejected_word_count")

    def __init__(
        self, read: Callable[[int], bytes], choose_words: Callable[[int], tuple[int, int]] = choose_word_size
    ) -> None:
        self._read = read
        """The function that returns the next bytes of the stream."""
        self._choose_words = choose_words
        """The function that returns, for a bound, the bytes per word and the number of words for each outcome."""
        self._recorded_draws: list[tuple[int, int, str]] = []
        """The draws so far as (bound, value, purpose)."""
        self.rejected_word_count = 0
        """The number of words rejected because they belong to no outcome."""

    @property
    def draws(self) -> tuple[Draw, ...]:
        """Return every number drawn so far, in order, with its bound and purpose."""
        return tuple(Draw(*recorded) for recorded in self._recorded_draws)

    def below(self, bound: int, purpose: str = "") -> int:
        """Return a uniformly distributed integer from 0 up to, but not including, ``bound``.

        The games decide what the number means (:mod:`paytables.contract`). Raises
        :class:`~rng.errors.InvalidRange`, or :class:`~rng.errors.RejectionLimit` if the stream cannot be
        random.
        """
        word_size_bytes, words_per_outcome = self._choose_words(check_bound(bound))
        for _ in range(REJECTIONS_MAX):
            value = int.from_bytes(self._read(word_size_bytes), "little") // words_per_outcome
            if value < bound:
                break
            self.rejected_word_count += 1
        else:
            self._raise_rejection_limit(bound)
        self._recorded_draws.append((bound, value, purpose))
        return value

    def _raise_rejection_limit(self, bound: int) -> NoReturn:
        """Raise :class:`~rng.errors.RejectionLimit` because too many words in a row were rejected for this bound."""
        raise RejectionLimit(f"{REJECTIONS_MAX} words in a row were out of range for a draw below {bound}")

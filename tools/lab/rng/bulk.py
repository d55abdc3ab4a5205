"""Bulk draws for laboratories: numpy arrays of the same numbers that the cabinet draws one by one.

From the same stream of bytes, :class:`BulkDraws` gives the same results as :class:`rng.draws.WordDraws` and
the games' dealing functions: the same words, the same rejected words, the same outcomes. It reads no byte
more than the draws need, so several calls can use one stream, one after the other. No cabinet code imports
this module.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rng.errors import InvalidRange, RejectionLimit
from rng.mechanism import REQUEST_BYTES_MAX
from rng.scaling import REJECTIONS_MAX, check_bound, choose_word_size
from tools.lab.rng.errors import InvalidSampleError

#: The largest bound whose words numpy can hold.
BULK_BOUND_MAX = 2**32
#: The number of 16-bit units that one request gives.
_UNITS_PER_REQUEST = REQUEST_BYTES_MAX // 2
#: Units of selections processed at once: enough to be worth an array, few enough for the processor's cache.
_UNITS_AT_ONCE = 8 * _UNITS_PER_REQUEST
#: The array type of a word, by its length in bytes.
_WORD_TYPE_BY_BYTES: dict[int, np.dtype[np.unsignedinteger]] = {
    2: np.dtype("<u2"),
    4: np.dtype("<u4"),
    8: np.dtype("<u8"),
}

#: An array of unsigned numbers.
UnsignedArray = NDArray[np.unsignedinteger]


def find_smallest_type(bound: int) -> np.dtype[np.unsignedinteger]:
    """Return the narrowest unsigned type that holds every number below ``bound``."""
    return np.dtype(np.min_scalar_type(bound - 1))


def _plan_draw(bound: int) -> tuple[int, int]:
    """Return, for a draw below ``bound``, the word's size in bytes and the number of words per outcome.

    Raises :class:`InvalidRange` if the bound is too large.
    """
    if check_bound(bound) > BULK_BOUND_MAX:
        raise InvalidRange(f"cannot draw below {bound} in bulk: at most 2**32 outcomes")
    return choose_word_size(bound)


def list_selection_bounds(population: int, pick_count: int) -> range:
    """Return the bounds of the successive draws that deal ``pick_count`` of ``population`` pieces.

    Raises :class:`InvalidSampleError`.
    """
    if type(population) is not int or type(pick_count) is not int or not 0 <= pick_count <= population:
        raise InvalidSampleError(f"cannot select {pick_count!r} of {population!r} without replacement")
    return range(population, population - pick_count, -1)


class BulkDraws:
    """A source of many random draws at once, as numpy arrays, from a stream of bytes.

    ``read(count)`` returns the next ``count`` bytes; it is never called for more bytes than one request
    returns.
    """

    __slots__ = ("_read", "rejected_word_count")

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self.rejected_word_count = 0
        """The number of words rejected because no outcome owns them."""

    def below(self, bound: int, count: int) -> UnsignedArray:
        """Return ``count`` draws below ``bound`` as an array of the narrowest unsigned type.

        Raises :class:`InvalidRange`, :class:`InvalidSampleError` for a negative count, :class:`RejectionLimit`.
        """
        word_bytes, words_per_outcome = _plan_draw(bound)
        _check_count(count)
        if bound == 1:
            return np.zeros(count, dtype=np.uint8)
        dtype = _WORD_TYPE_BY_BYTES[word_bytes]
        outcomes = np.empty(count, dtype=dtype)
        drawn_count = consecutive_rejections = 0
        while drawn_count < count:
            words = np.frombuffer(
                self._read(word_bytes * min(count - drawn_count, REQUEST_BYTES_MAX // word_bytes)),
                dtype=dtype,
            )
            outcomes_or_rejected = words // dtype.type(words_per_outcome)
            rejected_indexes = np.flatnonzero(outcomes_or_rejected >= bound)
            consecutive_rejections = (
                consecutive_rejections + len(words) if len(rejected_indexes) == len(words) else 0
            )
            if consecutive_rejections >= REJECTIONS_MAX:
                raise RejectionLimit(
                    f"{consecutive_rejections} words in a row were out of range for a draw below {bound}"
                )
            # Few words are rejected, so the runs between them are copied as a whole.
            run_start = 0
            for run_end in (*rejected_indexes.tolist(), len(outcomes_or_rejected)):
                outcomes[drawn_count : drawn_count + run_end - run_start] = outcomes_or_rejected[
                    run_start:run_end
                ]
                drawn_count += run_end - run_start
                run_start = run_end + 1
            self.rejected_word_count += len(rejected_indexes)
        return outcomes

    def draw_weighted(self, cumulative_weights: Sequence[int], count: int) -> NDArray[np.intp]:
        """Return ``count`` indices drawn by weight; ``cumulative_weights`` has the running sums of the weights."""
        numbers = self.below(cumulative_weights[-1], count)
        return np.searchsorted(np.array(cumulative_weights, dtype=np.uint64), numbers, side="right")

    def sample(self, population: int, pick_count: int, selection_count: int) -> UnsignedArray:
        """Return ``selection_count`` selections as an array, whose rows have ``pick_count`` numbers in the order drawn.

        Raises :class:`InvalidSampleError`, :class:`InvalidRange`, :class:`RejectionLimit`.
        """
        bounds = list_selection_bounds(population, pick_count)
        _check_count(selection_count)
        chosen_values = np.empty((selection_count, pick_count), dtype=find_smallest_type(max(population, 2)))
        if not pick_count:
            return chosen_values
        rows_at_once = max(1, _UNITS_AT_ONCE // max(1, _RowLayout.count_units(bounds)))
        for first_row in range(0, selection_count, rows_at_once):
            chosen_values[first_row : first_row + rows_at_once] = self._draw_without_replacement(
                chosen_values.dtype, bounds, min(rows_at_once, selection_count - first_row)
            )
        return chosen_values

    def _draw_without_replacement(
        self, dtype: np.dtype[np.unsignedinteger], bounds: Sequence[int], row_count: int
    ) -> UnsignedArray:
        """Return ``row_count`` selections at once: each draw is an index into the remaining pieces, in their order.

        To find the piece from its index, the pieces dealt before it are put back, the last dealt first. A
        piece that is put back at or before the index increases the index by one.
        """
        indices = [offset.astype(dtype) for offset in self._draw_rows(bounds, row_count)]
        dealt_values = np.empty((len(indices), row_count), dtype=dtype)
        for i, index in enumerate(indices):
            piece = dealt_values[i]
            piece[:] = index
            for earlier_index in reversed(indices[:i]):
                piece += piece >= earlier_index
        return dealt_values.T

    def _draw_rows(self, bounds: Sequence[int], row_count: int) -> list[UnsignedArray]:
        """Return the draws of ``row_count`` rows below ``bounds``: for each bound an array with one draw per row."""
        layout = _RowLayout(bounds)
        if not layout.unit_count:
            return [np.zeros(row_count, dtype=np.uint8) for _ in bounds]
        columns = np.ascontiguousarray(
            self._read_accepted_units(layout, row_count).reshape(row_count, layout.unit_count).T
        )
        draws: list[UnsignedArray] = []
        for first_unit_index, unit_count, words_per_outcome in layout.words:
            if unit_count == 1:
                draws.append(columns[first_unit_index] // np.uint16(words_per_outcome))
            else:
                shifted_units = (
                    columns[first_unit_index + unit_index].astype(np.uint64) << np.uint64(16 * unit_index)
                    for unit_index in range(unit_count)
                )
                draws.append(
                    sum(shifted_units, start=np.zeros(row_count, dtype=np.uint64))
                    // np.uint64(words_per_outcome)
                )
        return draws

    def _read_accepted_units(self, layout: "_RowLayout", row_count: int) -> NDArray[np.uint16]:
        """Return the 16-bit units of ``row_count`` rows of words, without the rejected words.

        The word to which a unit belongs depends on the number of rejected words before it. Only a unit close
        to 65,535 can end a rejected word, so those few units are processed one by one.
        """
        units = self._read_units(row_count * layout.unit_count)
        dropped_positions: list[int] = []
        examined_count = 0
        for _ in range(REJECTIONS_MAX * 8):
            dropped_count_before = len(dropped_positions)
            for unit_offset in np.flatnonzero(units[examined_count:] >= layout.lowest_rejecting_unit):
                last_unit_index = examined_count + int(unit_offset)
                rejected_unit_count = layout.count_rejected_units(
                    units, last_unit_index, last_unit_index - len(dropped_positions)
                )
                dropped_positions.extend(
                    range(last_unit_index + 1 - rejected_unit_count, last_unit_index + 1)
                )
                self.rejected_word_count += rejected_unit_count > 0
            if len(dropped_positions) == dropped_count_before:
                return np.delete(units, dropped_positions) if dropped_positions else units
            examined_count = len(units)
            units = np.concatenate([units, self._read_units(len(dropped_positions) - dropped_count_before)])
        raise RejectionLimit(
            f"{self.rejected_word_count} words were rejected for {row_count} rows of draws, more than chance explains"
        )

    def _read_units(self, count: int) -> NDArray[np.uint16]:
        """Return the next ``count`` units of 16 bits."""
        blocks = [
            self._read(2 * min(_UNITS_PER_REQUEST, count - read_unit_count))
            for read_unit_count in range(0, count, _UNITS_PER_REQUEST)
        ]
        return np.frombuffer(
            blocks[0] if len(blocks) == 1 else b"".join(blocks), dtype=_WORD_TYPE_BY_BYTES[2]
        )


def _check_count(count: int) -> None:
    """Raise InvalidSampleError for a negative number of draws."""
    if count < 0:
        raise InvalidSampleError(f"cannot make {count} draws")


class _RowLayout:
    """The layout of one row's draws in 16-bit units: the units that form the word of each draw.

    The most significant unit of a word is the last.
    """

    __slots__ = ("_word_by_last_unit", "lowest_rejecting_unit", "unit_count", "words")

    @staticmethod
    def count_units(bounds: Sequence[int]) -> int:
        """Return how many 16-bit units the draws of one row take if no word is rejected."""
        return sum(_plan_draw(bound)[0] // 2 for bound in bounds)

    def __init__(self, bounds: Sequence[int]) -> None:
        self.words: list[tuple[int, int, int]] = []
        """For each draw: the index of its first unit, the number of its units, and the share of each outcome."""
        self._word_by_last_unit: dict[int, tuple[int, int, int]] = {}
        """By the index of a word's last unit: the number of its units, its bound, and its share."""
        self.unit_count = 0
        self.lowest_rejecting_unit = 0xFFFF
        """A word whose last unit is below this is never rejected."""
        for bound in bounds:
            unit_count, words_per_outcome = _plan_draw(bound)
            unit_count //= 2
            self.words.append((self.unit_count, unit_count, words_per_outcome))
            self.unit_count += unit_count
            if unit_count:
                self._word_by_last_unit[self.unit_count - 1] = (unit_count, bound, words_per_outcome)
                lowest_unit = bound * words_per_outcome >> 16 * (unit_count - 1)
                self.lowest_rejecting_unit = min(self.lowest_rejecting_unit, lowest_unit)

    def count_rejected_units(
        self, units: NDArray[np.uint16], last_unit_index: int, accepted_unit_count: int
    ) -> int:
        """Return the size in units of the rejected word that ends at ``last_unit_index``; 0 if none ends there.

        ``accepted_unit_count`` is the number of accepted units before this one.
        """
        unit_count, bound, words_per_outcome = self._word_by_last_unit.get(
            accepted_unit_count % self.unit_count, (0, 0, 0)
        )
        if not unit_count:
            return 0
        word = sum(
            int(units[last_unit_index + 1 - unit_count + unit_index]) << 16 * unit_index
            for unit_index in range(unit_count)
        )
        return unit_count if word // words_per_outcome >= bound else 0

"""Boxes of a simulated machine as the staff empties them: what each collection brings, to be counted.

Nothing is taken from the twins, which go on counting; what a collection brings is the difference to the one
before. Where a power cut or a clear makes it uncertain which collection the machine has recorded, or a bill
was under way, the staff counts nothing until two more collections.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

#: The staff's boxes, empty.
_EMPTY: Final = {"bill_box": 0, "coin_box": 0}


@dataclass(slots=True)
class Boxes:
    """Contents of all boxes of a machine; ``look`` returns them, or None while something is under way."""

    look: Callable[[], Mapping[str, int] | None]
    _before: Mapping[str, int] | None = None
    _last: Mapping[str, int] | None = None
    _ending: Mapping[str, int] | None = None
    _is_ending: bool = False

    def __post_init__(self) -> None:
        self._last = _EMPTY

    def end_collection(self) -> None:
        """Take what lies in the boxes; the machine is about to record the end of the collection."""
        self._ending, self._is_ending = self.look(), True

    def collection_recorded(self) -> None:
        """Note that the machine says it has recorded the end."""
        if self._is_ending:
            self._before, self._last = self._last, self._ending
            self._is_ending = False

    def power_gone(self) -> None:
        """Doubt a collection whose end the machine has not confirmed."""
        if self._is_ending:
            self._before = self._last = None
            self._is_ending = False

    def memory_cleared(self) -> None:
        """Empty the boxes: the new journal has metered nothing."""
        self._before, self._last, self._is_ending = None, self.look(), False

    def count_cents(self, box: str) -> int | None:
        """Return what the last collection brought of a box, or None where nobody can tell."""
        if self._before is None or self._last is None:
            return None
        return self._last[box] - self._before[box]

"""Track the contents of the boxes at each collection, so that the staff can count them.

The simulated devices are never emptied and continue to count. What a box contained at a collection is therefore the
difference from the previous collection. A power cut or a memory clear can leave it uncertain which collection the
machine has recorded, or whether a moving bill is in the box. Then the staff enter no counts until after two more
collections.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

#: The contents of empty boxes.
_EMPTY_BOXES_CENTS: Final = {"bill_box": 0, "coin_box": 0}


@dataclass(slots=True)
class BoxContents:
    """The contents of all boxes of a machine.

    ``read_contents`` returns the devices' counts, or None while a bill or coin is moving.
    """

    read_contents: Callable[[], Mapping[str, int] | None]
    _previous_contents: Mapping[str, int] | None = None
    _last_contents: Mapping[str, int] | None = None
    _pending_contents: Mapping[str, int] | None = None
    _is_ending: bool = False

    def __post_init__(self) -> None:
        self._last_contents = _EMPTY_BOXES_CENTS

    def end_collection(self) -> None:
        """Store the contents of the boxes, because the machine is about to record the end of a collection."""
        self._pending_contents, self._is_ending = self.read_contents(), True

    def confirm_collection(self) -> None:
        """Mark the last collection as recorded by the machine."""
        if self._is_ending:
            self._previous_contents, self._last_contents = self._last_contents, self._pending_contents
            self._is_ending = False

    def handle_power_loss(self) -> None:
        """Discard all collections if it is uncertain whether the machine recorded the last one."""
        if self._is_ending:
            self._previous_contents = self._last_contents = None
            self._is_ending = False

    def handle_memory_clear(self) -> None:
        """Count the boxes from now on: a new journal has metered nothing of what they contain."""
        self._previous_contents, self._last_contents, self._is_ending = None, self.read_contents(), False

    def compute_collected_cents(self, box: str) -> int | None:
        """Return what a box contained at its last collection, in minor units, or None if that is unknown."""
        if self._previous_contents is None or self._last_contents is None:
            return None
        return self._last_contents[box] - self._previous_contents[box]

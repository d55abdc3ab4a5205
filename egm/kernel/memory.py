"""Durable memory of a machine: what its journal keeps under each key, as one player position sees it."""

from typing import Any, Final

from egm.kernel.positions import Position
from meters import Journal


class Memory:
    """The journal's state by key; what is the player's is that of this position.

    ``journal`` is read each time: nothing is held here, and a restart changes nothing.
    """

    __slots__ = ("_journal", "_position")

    def __init__(self, journal: Journal, position: Position) -> None:
        self._journal: Final = journal
        self._position: Final = position

    def get(self, key: str) -> Any:
        """What is stored under a key (JSON), or None."""
        return self._journal.state(self._position.key(key))

"""Durable memory of a machine: what its journal keeps under each key, as one player position sees it."""

from typing import Any, Final, TypeVar

from egm.errors import InvariantError
from egm.kernel.keys import Keys
from egm.kernel.positions import Position
from egm.record_codec import from_json
from meters import Journal

R = TypeVar("R")


class Memory:
    """The journal's state by key; what is the player's is that of this position.

    ``journal`` is read each time: nothing is held here, and a restart changes nothing.
    """

    __slots__ = ("_journal", "_keys", "_position")

    def __init__(self, journal: Journal, position: Position, keys: Keys) -> None:
        self._journal: Final = journal
        self._position: Final = position
        self._keys: Final = keys

    def name(self, key: str) -> str:
        """The name under which the journal keeps a key of this position."""
        return key if self._position.number == 1 else self._keys.name(key, self._position)

    def get(self, key: str) -> Any:
        """What is stored under a key (JSON), or None."""
        return self._journal.state(self.name(key))

    def read(self, kind: type[R], key: str) -> R | None:
        """The record stored under a key, or None. Raises RecordError where it is no such record."""
        name = self.name(key)
        data = self._journal.state(name)
        return None if data is None else from_json(kind, data, f"the memory's {str(name)!r}")

    def require(self, kind: type[R], key: str) -> R:
        """The same where there must be one. Raises InvariantError where there is none."""
        found = self.read(kind, key)
        if found is None:
            raise InvariantError(f"the memory has nothing under {self.name(key)!r}")
        return found

    def read_all(self, kind: type[R], prefix: str) -> dict[str, R]:
        """The records stored under a prefix, by the rest of their names, in order."""
        start = self.name(prefix)
        return {
            name.removeprefix(start): from_json(kind, data, f"the memory's {str(name)!r}")
            for name, data in sorted(self._journal.states(start).items())
        }

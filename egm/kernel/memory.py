"""The durable memory of one player position: the values under its own storage keys and the machine's."""

from typing import Any, Final, TypeVar

from egm.errors import InvariantError
from egm.kernel.keys import StorageKey, StorageKeys
from egm.kernel.positions import Position
from egm.record_codec import from_json
from meters import Journal
from meters.transaction import JSON

RecordT = TypeVar("RecordT")


class PositionMemory:
    """The durable memory of one player position, which the journal stores.

    Every access reads the journal, so a restart changes nothing. Decoded records are cached for as long as their value
    is unchanged.
    """

    __slots__ = ("_decoded_by_key", "_journal", "_keys", "_position")

    def __init__(self, journal: Journal, position: Position, storage_keys: StorageKeys) -> None:
        self._journal: Final = journal
        self._position: Final = position
        self._keys: Final = storage_keys
        self._decoded_by_key: Final[dict[str, tuple[JSON, object]]] = {}
        """The last value and the record decoded from it, by the value's key."""

    def build_stored_name(self, key: str) -> str:
        """Return the name under which the journal stores a value of this player position."""
        return key if self._position.number == 1 else self._keys.build_stored_name(key, self._position)

    def get(self, key: str) -> Any:
        """Return the JSON value stored under a key, or None."""
        return self._journal.state(key if self._position.number == 1 else self.build_stored_name(key))

    def read(self, record_type: type[RecordT], key: str) -> RecordT | None:
        """Return the record stored under a key, or None.

        Raises RecordError if the value is malformed.
        """
        data = self.get(key)
        if data is None:
            return None
        decoded_value, decoded_record = self._decoded_by_key.get(key, (None, None))
        # The journal returns the same object until the value is changed, so identity is enough.
        if decoded_value is data and isinstance(decoded_record, record_type):
            return decoded_record
        record = from_json(record_type, data, f"the memory's {str(self.build_stored_name(key))!r}")
        # Records under keys with an id, such as a digest, are not cached: they would fill the cache over the years.
        if isinstance(key, StorageKey):
            self._decoded_by_key[key] = data, record
        return record

    def require(self, record_type: type[RecordT], key: str) -> RecordT:
        """Return the record stored under a key. Raises InvariantError if there is no such record."""
        record = self.read(record_type, key)
        if record is None:
            raise InvariantError(f"the memory has nothing under {self.build_stored_name(key)!r}")
        return record

    def read_all(self, record_type: type[RecordT], prefix: str) -> dict[str, RecordT]:
        """Return the records stored under a key prefix, by key without the prefix, in the order of the keys."""
        stored_prefix = self.build_stored_name(prefix)
        return {
            key.removeprefix(stored_prefix): from_json(record_type, data, f"the memory's {str(key)!r}")
            for key, data in sorted(self._journal.states(stored_prefix).items())
        }

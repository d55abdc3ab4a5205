"""Storage keys of the machine's memory; each has an owner and an action at a memory clear.

A key is the name under which the journal stores a value. Each feature declares its keys as an enumeration;
:class:`StorageKeys` combines them. A name that ends in ``:`` is a prefix, with one key per item, such as ``door:main``.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, Self

from egm.errors import InvariantError, check_invariant
from egm.kernel.positions import Position, is_position_fault
from egm.record_codec import check_value


class ClearAction(StrEnum):
    """What an authorised memory clear does with the value under a storage key.

    See :mod:`egm.features.memory_clear.claims`.
    """

    OWED = "owed"
    """The value is owed to somebody: it is paid by hand, or carried over into the next journal as a named claim."""
    KEEP = "keep"
    """The value is owed to nobody, and is still true after the clear: it is copied into the next journal.

    Examples are a setting, a restriction, a counter and an open door.
    """
    TRANSIENT = "transient"
    """The value is valid for this journal only, or the machine detects it again: it is not carried over."""


class KeyOwner(StrEnum):
    """The owner of the value under a storage key: the whole machine, or each player position separately."""

    MACHINE = "machine"
    POSITION = "position"
    MACHINE_OR_POSITION = "machine_or_position"
    """For a fault: its player position if the fault concerns only that position, otherwise the whole machine."""


class StorageKey(StrEnum):
    """Base class of each feature's storage keys; a key's value is its name in the journal's state.

    ``clear_action`` is what a memory clear does with the stored value; ``owner`` is the machine or each player
    position.
    """

    clear_action: ClearAction
    owner: KeyOwner

    def __new__(cls, name: str, clear_action: ClearAction, owner: KeyOwner) -> Self:
        """Create a storage key.

        Clear action and owner have no defaults, so that every declaration must state them.
        """
        key = str.__new__(cls, name)
        key._value_, key.clear_action, key.owner = name, clear_action, owner
        return key


class KernelKey(StorageKey):
    """Storage keys of the kernel: doubt about the clock, the player's selection, open doors and active faults."""

    CLOCK_DOUBT = "clock", ClearAction.KEEP, KeyOwner.MACHINE
    """The doubt about the clock: why it is not trusted, and the last time known to be right."""
    SELECTION = "selection", ClearAction.KEEP, KeyOwner.POSITION
    """The selected game, denomination, bet and language."""
    DOOR = "door:", ClearAction.KEEP, KeyOwner.MACHINE
    """Key prefix of the open doors: one key per door."""
    FAULT = "fault:", ClearAction.KEEP, KeyOwner.MACHINE_OR_POSITION
    """Key prefix of the active faults: one key per fault."""


class StorageKeys:
    """All storage keys of a machine, by their names in the journal's state."""

    def __init__(
        self, key_classes: Iterable[type[StorageKey]], value_types: Mapping[StorageKey, object] | None = None
    ) -> None:
        """Combine the features' storage keys.

        ``key_classes`` are the features' enumerations of keys. ``value_types`` is the type of the value under
        each key, a record class or other field type. Raises InvariantError if two features declare the same
        key, or a key and a prefix of the same name.
        """
        self._value_types: Final = dict(value_types or {})
        self._key_by_name: Final[dict[str, StorageKey]] = {}
        for key in (key for key_class in key_classes for key in key_class):
            name_before_colon, colon, suffix = key.partition(":")
            check_invariant(not suffix, f"{str(key)!r}: a declared key prefix must end with its colon")
            for name in (name_before_colon, f"{name_before_colon}:"):
                declared = self._key_by_name.get(name)
                check_invariant(
                    declared is None,
                    f"{str(key)!r} is declared by {_describe_key(declared)} and by {_describe_key(key)}",
                )
            self._key_by_name[name_before_colon + colon] = key

    def __iter__(self) -> Iterator[StorageKey]:
        return iter(self._key_by_name.values())

    def find_key(self, stored_name: str) -> StorageKey | None:
        """Return the declared key for a name in the journal's state; None if no feature declares it.

        ``stored_name`` may begin with the number of a player position (``2/game``), and may add an item to a key
        prefix (``door:main``).
        """
        key = self._key_by_name.get(stored_name)
        if key is not None:
            return key
        number, slash, name_after_position = stored_name.partition("/")
        key_name = name_after_position if slash and number.isdigit() else stored_name
        name_before_colon, colon, _ = key_name.partition(":")
        return self._key_by_name.get(name_before_colon + colon)

    def find_value_type(self, key: StorageKey) -> object:
        """Return the declared type of the value under a storage key, or None if any JSON may be stored there."""
        return self._value_types.get(key)

    def check_value(self, key: StorageKey, stored_name: str, value: object) -> None:
        """Check that ``value`` may be stored under ``key``, whose name in the journal's state is ``stored_name``.

        Raises RecordError. A value of None, which removes the stored value, is always allowed, and so is any JSON under
        a key without a declared type.
        """
        declared_type = self._value_types.get(key)
        if declared_type is not None and value is not None:
            check_value(declared_type, value, f"state.{stored_name}")

    def build_stored_name(self, key_name: str, position: Position) -> str:
        """Return the name under which the journal stores a value of this player position.

        ``key_name`` is a key, or a key prefix with its item. Raises InvariantError for a name that no feature
        declares.
        """
        key = self.find_key(key_name)
        if key is None:
            raise InvariantError(f"no feature declares the key {str(key_name)!r}")
        if position.number == 1 or key.owner is KeyOwner.MACHINE:
            return str(key_name)
        is_per_position = key.owner is KeyOwner.POSITION or is_position_fault(key_name.removeprefix(key))
        return f"{position.number}/{key_name}" if is_per_position else str(key_name)


def _describe_key(key: StorageKey | None) -> str:
    """Return the name of a storage key in the code (``KernelKey.CLOCK_DOUBT``), or "" for None."""
    return f"{type(key).__name__}.{key.name}" if key is not None else ""

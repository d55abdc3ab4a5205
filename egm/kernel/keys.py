"""Keys of the machine's memory: who owns each, and what an authorised clear does with the value under it.

Each feature declares its keys as an enumeration; :class:`Keys` combines them. A name that ends in ``:`` is a
prefix, with one key per item.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, Self

from egm.errors import InvariantError, check_invariant
from egm.kernel.positions import Position, is_own_fault
from egm.record_codec import check_value


class Fate(StrEnum):
    """What an authorised memory clear does with the value under a key (:mod:`egm.memory_clear.claims`)."""

    OWED = "owed"
    """Part of a claim: paid by hand or carried over into the next journal, by name."""
    IDENTITY = "identity"
    """Identity, settings or restrictions of the machine: carried over into the next journal."""
    TRANSIENT = "transient"
    """Valid for this journal only, or detected again: dropped."""


class Owner(StrEnum):
    """Whether the machine or each player position has its own value."""

    MACHINE = "machine"
    PLAYER = "player"
    DEVICE = "device"
    """The position's value if the key concerns a device that each position has; otherwise the machine's value."""


class Key(StrEnum):
    """Base class of each feature's keys: the name in the journal, its fate at a clear, and its owner."""

    fate: Fate
    owner: Owner

    def __new__(cls, name: str, fate: Fate, owner: Owner) -> Self:
        """Create a key. Fate and owner have no defaults, so that nobody forgets to decide them."""
        key = str.__new__(cls, name)
        key._value_, key.fate, key.owner = name, fate, owner
        return key


class KernelKey(Key):
    """Keys of the kernel itself."""

    CLOCK = "clock", Fate.IDENTITY, Owner.MACHINE
    """Why the clock is not trusted, and the last time known to be right."""
    SELECTION = "selection", Fate.IDENTITY, Owner.PLAYER
    """The selected game, denomination, bet and language."""
    DOOR = "door:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key per open door."""
    FAULT = "fault:", Fate.IDENTITY, Owner.DEVICE
    """Prefix; one key per active fault."""


class Keys:
    """All keys of a machine, by their names in the journal's state."""

    def __init__(self, kinds: Iterable[type[Key]], values: Mapping[Key, object] | None = None) -> None:
        """Combine the features' keys; ``values``: the type of the value under each, a record or other field type.

        Raises InvariantError if two features declare the same key, or a key and a prefix of the same name.
        """
        self._values: Final = dict(values or {})
        self._by_name: Final[dict[str, Key]] = {}
        for key in (key for kind in kinds for key in kind):
            head, colon, suffix = key.partition(":")
            check_invariant(not suffix, f"{str(key)!r}: what follows a prefix is not declared")
            for name in (head, f"{head}:"):
                other = self._by_name.get(name)
                check_invariant(
                    other is None,
                    f"{str(key)!r} is declared by {_describe_key(other)} and by {_describe_key(key)}",
                )
            self._by_name[head + colon] = key

    def __iter__(self) -> Iterator[Key]:
        return iter(self._by_name.values())

    def of(self, name: str) -> Key | None:
        """Return the key to which a name in the journal's state belongs, or None.

        A position's number before the name, as in ``2/game``, is ignored.
        """
        found = self._by_name.get(name)
        if found is not None:
            return found
        number, slash, own = name.partition("/")
        bare = own if slash and number.isdigit() else name
        head, colon, _ = bare.partition(":")
        return self._by_name.get(head + colon)

    def value_type(self, key: Key) -> object:
        """Return the declared type of the value under a key, or None if any JSON may be stored there."""
        return self._values.get(key)

    def check_value(self, key: Key, name: str, value: object) -> None:
        """Check that ``value`` may be stored under ``name``; None removes it. Raises RecordError.

        Any JSON may be stored under a key of which no type is declared.
        """
        hint = self._values.get(key)
        if hint is not None and value is not None:
            check_value(hint, value, f"state.{name}")

    def name(self, name: str, position: Position) -> str:
        """Return the journal state name of a position's ``name``, which is a key or a prefix and its suffix.

        Raises InvariantError for a name that no feature declares.
        """
        key = self.of(name)
        if key is None:
            raise InvariantError(f"no feature declares the key {str(name)!r}")
        if position.number == 1 or key.owner is Owner.MACHINE:
            return str(name)
        own = key.owner is Owner.PLAYER or is_own_fault(name.removeprefix(key))
        return f"{position.number}/{name}" if own else str(name)


def _describe_key(key: Key | None) -> str:
    return f"{type(key).__name__}.{key.name}" if key is not None else ""

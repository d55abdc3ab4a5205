"""Keys of the machine's memory: whose each is, and what an authorised clear makes of what stands under it.

Each feature declares its keys as an enumeration of its own; :class:`Keys` adds them up. A name that ends in
``:`` is a prefix: one key for each thing of a kind.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final, Self

from egm.errors import InvariantError, invariant
from egm.kernel.positions import Position, is_own_fault


class Fate(StrEnum):
    """What an authorised clear makes of what stands under a key (:mod:`egm.memory_clear.claims`)."""

    OWED = "owed"
    """Part of a claim: settled by hand or carried over, by name."""
    IDENTITY = "identity"
    """What the machine is known by, set to or held by: it goes on in the next journal."""
    TRANSIENT = "transient"
    """Of this journal only, or found out anew: forgotten."""


class Owner(StrEnum):
    """Whose memory it is: all positions share the machine's, and each has its player's for itself."""

    MACHINE = "machine"
    PLAYER = "player"
    DEVICE = "device"
    """The player's where it is of a device that each position has for itself, else the machine's."""


class Key(StrEnum):
    """Base of each feature's keys: the name in the journal, its fate at a clear, and its owner."""

    fate: Fate
    owner: Owner

    def __new__(cls, name: str, fate: Fate, owner: Owner) -> Self:
        """A key is its name; the rest goes with it, and neither is chosen by forgetting."""
        key = str.__new__(cls, name)
        key._value_, key.fate, key.owner = name, fate, owner
        return key


class KernelKey(Key):
    """What the kernel itself remembers."""

    CLOCK = "clock", Fate.IDENTITY, Owner.MACHINE
    """Why the clock is not believed, and the last moment known to be right."""
    SELECTION = "selection", Fate.IDENTITY, Owner.PLAYER
    """The game, denomination, bet and language chosen."""
    DOOR = "door:", Fate.IDENTITY, Owner.MACHINE
    """Prefix; one key an open door."""
    FAULT = "fault:", Fate.IDENTITY, Owner.DEVICE
    """Prefix; one key a standing fault."""


class Keys:
    """Every key of a machine, by the names it has in the journal's state."""

    def __init__(self, kinds: Iterable[type[Key]]) -> None:
        """Raises InvariantError where two features own the same key, or one's prefix another's key."""
        self._by_name: Final[dict[str, Key]] = {}
        for key in (key for kind in kinds for key in kind):
            head, colon, rest = key.partition(":")
            invariant(not rest, f"{str(key)!r}: what follows a prefix is not declared")
            for name in (head, f"{head}:"):
                other = self._by_name.get(name)
                invariant(other is None, f"{str(key)!r} is declared by {_named(other)} and by {_named(key)}")
            self._by_name[head + colon] = key

    def __iter__(self) -> Iterator[Key]:
        return iter(self._by_name.values())

    def of(self, name: str) -> Key | None:
        """The key a name in the journal's state belongs to, a position's number before it or not."""
        found = self._by_name.get(name)
        if found is not None:
            return found
        number, slash, own = name.partition("/")
        bare = own if slash and number.isdigit() else name
        head, colon, _ = bare.partition(":")
        return self._by_name.get(head + colon)

    def name(self, name: str, position: Position) -> str:
        """The name under which the journal keeps a position's ``name``, a key or what follows a prefix.

        Raises InvariantError for a name that no feature declares.
        """
        key = self.of(name)
        if key is None:
            raise InvariantError(f"no feature declares the key {str(name)!r}")
        if position.number == 1 or key.owner is Owner.MACHINE:
            return str(name)
        own = key.owner is Owner.PLAYER or is_own_fault(name.removeprefix(key))
        return f"{position.number}/{name}" if own else str(name)


def _named(key: Key | None) -> str:
    return f"{type(key).__name__}.{key.name}" if key is not None else ""

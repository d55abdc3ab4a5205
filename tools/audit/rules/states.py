"""The state of a machine as derived from its memory, with the features' own declarations."""

from datetime import timedelta
from typing import Any, Final, TypeVar, cast

from egm.app.features import FEATURES
from egm.host.keys import HostKey
from egm.kernel.events import State
from egm.kernel.machine import Machine
from egm.kernel.memory import Memory
from egm.kernel.positions import Position
from egm.play.keys import PlayKey
from egm.progressive.keys import ProgressiveKey
from meters import Journal, StoredEntry
from meters.ledger import Ledger
from meters.transaction import JSON
from tools.audit.rules.facts import Facts, read_position

T = TypeVar("T")

#: States that only the running process has and the memory does not store: derived as idle.
_UNREMEMBERED: Final = frozenset({State.BOOT, State.SELF_TEST, State.BETTING, State.LOCKED})

#: Prefixes of storage keys that do not affect the machine's state.
_STATELESS: Final = tuple(
    map(str, (PlayKey.DEFINITION, PlayKey.EXAMINED, HostKey.RING, ProgressiveKey.LEVEL))
)


class _Books:
    """The values that a journal has stored in memory up to the current entry, by key."""

    def __init__(self, ledger: Ledger) -> None:
        self._state = ledger.state
        # Stored definitions and their facts are many, and do not affect the machine's state.
        self._many = {key: self._state[key] for key in self._state if not key.startswith(_STATELESS)}

    def state(self, key: str) -> JSON:
        """Return the value that the journal's memory holds under a key."""
        return self._state.get(key)

    def states(self, prefix: str) -> dict[str, JSON]:
        """Return all that the journal's memory holds under keys with a prefix."""
        return {key: value for key, value in self._many.items() if key.startswith(prefix)}


class _Remembered:
    """A stand-in for one position of a machine, derived from memory alone, as after a restart."""

    doors_open = Machine.doors_open
    faults = Machine.faults
    is_tilted = Machine.is_tilted

    def __init__(self, ledger: Ledger, position: int) -> None:
        self.position: Final = Position(position)
        self.journal: Final = cast("Journal", _Books(ledger))
        self.memory: Final = Memory(self.journal, self.position, FEATURES.keys)

    def component(self, kind: type[T]) -> T:
        """Return a feature's component in its initial form."""
        return kind()

    def installed(self, _: type[T]) -> T | None:
        """Return None: the audit has no other features installed."""
        return None


def derive_machine_state(ledger: Ledger, position: int, facts: Facts) -> State:
    """Return the machine state that follows from a position's memory."""
    key = position, PlayKey.GAME in ledger.state
    state = facts.states.get(key)
    if state is None:
        remembered: Any = _Remembered(ledger, position)
        state = facts.states[key] = FEATURES.rules.derive_state(remembered)
    return state


def derive_state_in_game(ledger: Ledger, facts: Facts) -> State:
    """Return the machine state that the first position's memory would give if it had an open game."""
    ledger.state[PlayKey.GAME] = {"play_id": ""}
    try:
        return derive_machine_state(ledger, 1, facts)
    finally:
        del ledger.state[PlayKey.GAME]


def was_idle(entry: StoredEntry, facts: Facts, seconds: int) -> bool:
    """Return whether the entry's position was idle within the given number of seconds before the entry."""
    idle_at = facts.idle_at.get(read_position(entry))
    return idle_at is not None and abs(entry.time_utc - idle_at) <= timedelta(seconds=seconds)


def is_within(state: State, states: frozenset[State]) -> bool:
    """Return whether the machine can be in one of ``states`` if its memory gives ``state``.

    A memory that gives idle also fits the states that are not stored in memory.
    """
    return state in states or (state is State.IDLE and bool(states & _UNREMEMBERED))

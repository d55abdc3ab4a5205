"""The derivation of the machine's state (such as idle) from its stored values, by the features' own rules."""

from datetime import timedelta
from typing import Any, Final, TypeVar, cast

from egm.app.features import FEATURES
from egm.host.keys import HostKey
from egm.kernel.events import State
from egm.kernel.machine import PositionMachine
from egm.kernel.memory import PositionMemory
from egm.kernel.positions import Position
from egm.play.keys import PlayKey
from egm.progressive.keys import ProgressiveKey
from meters import Journal, StoredEntry
from meters.ledger import Ledger
from meters.transaction import JSON
from tools.audit.rules.facts import Facts, read_position

ComponentT = TypeVar("ComponentT")

#: States that only the running process has and the memory does not store: derived as idle.
_STATES_NOT_STORED: Final = frozenset({State.BOOT, State.SELF_TEST, State.BETTING, State.LOCKED})

#: Prefixes of storage keys that do not affect the machine's state.
_KEY_PREFIXES_WITHOUT_EFFECT: Final = tuple(
    map(
        str,
        (
            PlayKey.GAME_DEFINITION,
            PlayKey.LARGEST_PRIZES,
            HostKey.PRINTED_TICKET_RING,
            ProgressiveKey.OWN_LEVEL,
        ),
    )
)


class _StoredValues:
    """A substitute for the journal that only returns the machine's stored values as the audit derived them."""

    def __init__(self, ledger: Ledger) -> None:
        self._state = ledger.state
        # Stored definitions and their facts are many, and do not affect the machine's state.
        self._values_with_effect = {
            key: self._state[key] for key in self._state if not key.startswith(_KEY_PREFIXES_WITHOUT_EFFECT)
        }

    def state(self, key: str) -> JSON:
        """Return the value stored under a storage key, or None."""
        return self._state.get(key)

    def states(self, prefix: str) -> dict[str, JSON]:
        """Return the stored values under keys with this prefix, except those that do not affect the machine's state."""
        return {key: value for key, value in self._values_with_effect.items() if key.startswith(prefix)}


class _MachineFromMemory:
    """A substitute for one position of a machine, built from its stored values alone, as after a restart."""

    open_doors = PositionMachine.open_doors
    active_faults = PositionMachine.active_faults
    is_tilted = PositionMachine.is_tilted

    def __init__(self, ledger: Ledger, position_number: int) -> None:
        self.position: Final = Position(position_number)
        self.journal: Final = cast("Journal", _StoredValues(ledger))
        self.memory: Final = PositionMemory(self.journal, self.position, FEATURES.storage_keys)

    def component(self, component_class: type[ComponentT]) -> ComponentT:
        """Return a new component of this class, in its state after a restart."""
        return component_class()

    def find_installed(self, _: type[ComponentT]) -> ComponentT | None:
        """Return None, because the audit has no optional components of a machine."""
        return None


def derive_machine_state(ledger: Ledger, position_number: int, facts: Facts) -> State:
    """Return the state of the machine at a position, derived from its stored values in ``ledger``."""
    cache_key = position_number, PlayKey.GAME in ledger.state
    state = facts.cached_machine_states.get(cache_key)
    if state is None:
        machine: Any = _MachineFromMemory(ledger, position_number)
        state = facts.cached_machine_states[cache_key] = FEATURES.state_table.derive_state(machine)
    return state


def derive_machine_state_in_game(ledger: Ledger, facts: Facts) -> State:
    """Return the state that the machine would have at position 1 if a game were open there."""
    ledger.state[PlayKey.GAME] = {"play_id": ""}
    try:
        return derive_machine_state(ledger, 1, facts)
    finally:
        del ledger.state[PlayKey.GAME]


def is_from_earlier_version(ledger: Ledger) -> bool:
    """Return whether the journal was written by an early version, which stored no terms of residual credit."""
    return PlayKey.RESIDUAL_CREDIT_TERMS not in ledger.state


def was_idle_within(entry: StoredEntry, facts: Facts, seconds: int) -> bool:
    """Return whether the entry's position was last found idle at most ``seconds`` before or after the entry's time."""
    last_idle_time = facts.last_idle_times.get(read_position(entry))
    return last_idle_time is not None and abs(entry.time_utc - last_idle_time) <= timedelta(seconds=seconds)


def can_be_in_states(state: State, states: frozenset[State]) -> bool:
    """Return whether the machine may have been in one of ``states``, if ``state`` is derived from its stored values.

    Some machine states are not stored. If the stored values give the state idle, the machine may also have been in one
    of those states.
    """
    return state in states or (state is State.IDLE and bool(states & _STATES_NOT_STORED))

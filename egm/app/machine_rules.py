"""State rules of the whole machine: power-up, self-test, open doors, changes at another position, idle events."""

from typing import Final

from egm.app import entries
from egm.features.memory_clear import entries as memory_clear_entries
from egm.integrity import journal_entries
from egm.integrity.lockups import (
    door_was_open,
    record_door_closed,
    record_power_up,
    record_self_test,
    reseed_generator_after_door,
    take_out_of_service,
)
from egm.kernel import own_entries
from egm.kernel.entries import list_entries
from egm.kernel.events import PAYLOAD_CLASS_BY_EVENT, EventType, NextState, State
from egm.kernel.feature import Feature
from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import Rule
from egm.kernel.states import ALL_STATES, STATES_AFTER_BOOT, STATES_AFTER_SELF_TEST, single_state
from egm.money.ticket_ledger import check_ledger
from egm.staff.service.effects import close_menu_at_start, record_roster_changes

#: The states in which a self-test may end: only the self-test itself.
_SELF_TEST_STATE: Final = single_state(State.SELF_TEST)

#: The rules of the whole machine.
_MACHINE_RULES: Final[tuple[Rule[PositionMachine], ...]] = (
    Rule(
        EventType.MEMORY_READY,
        single_state(State.BOOT),
        (),
        (record_power_up, close_menu_at_start, record_roster_changes),
        State.SELF_TEST,
    ),
    Rule(EventType.SELF_TEST_PASSED, _SELF_TEST_STATE, (), (record_self_test,), NextState.DERIVED),
    Rule(EventType.SELF_TEST_FAILED, _SELF_TEST_STATE, (), (take_out_of_service,), NextState.DERIVED),
    Rule(
        EventType.DOOR_CLOSED,
        STATES_AFTER_BOOT,
        (door_was_open,),
        (record_door_closed, check_ledger, reseed_generator_after_door),
        NextState.DERIVED_ONCE_TESTED,
    ),
    Rule(EventType.DOOR_CLOSED, STATES_AFTER_BOOT),  # the door was known to be closed: nothing to do
    Rule(EventType.SHARED_MEMORY_CHANGED, STATES_AFTER_SELF_TEST, (), (), NextState.DERIVED),
    # ------------------------------------------------------------------ events that need nothing more
    # also late events about a game or page that has ended
    Rule(
        (
            EventType.AFTER_EVENT,
            EventType.NO_EVENT_WAITING,
            EventType.OUTCOME_SHOWN,
            EventType.ANSWER_SERVICE_PAGE,
        ),
        ALL_STATES,
    ),
)

#: The feature with the rules of the whole machine.
#:
#: Its rules are tried last, for events of no other feature.
MACHINE_RULES_FEATURE: Final = Feature(
    name="machine",
    storage_keys=KernelKey,
    value_types={
        KernelKey.CLOCK_DOUBT: own_entries.ClockDoubt,
        KernelKey.SELECTION: Selection,
        KernelKey.DOOR: own_entries.OpenDoor,
        KernelKey.FAULT: own_entries.ActiveFault,
    },
    entry_declarations=tuple(
        declaration
        for module in (own_entries, entries, journal_entries, memory_clear_entries)
        for declaration in list_entries(module)
    ),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=_MACHINE_RULES,
)

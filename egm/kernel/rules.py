"""State-machine rules: what an event does in a set of states, and how an event that no rule accepts is refused.

A machine's state table is the sum of its features' rules (:class:`StateTable`). The rules for an event in a
state are tried in order, and the first whose guards all hold is applied. If no rule accepts the event, either
the reason is reported to the person who made the request, or the event is recorded as unexpected (once per start for
the same event, state and reason), as its rules specify.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from egm.errors import check_invariant
from egm.kernel.events import Event, EventName, EventType, NextState, PayloadClasses, State
from egm.kernel.states import STATES_AFTER_BOOT, STATES_BY_URGENCY

MachineT = TypeVar("MachineT")
GuardT = TypeVar("GuardT", bound=Callable[..., bool])
#: A function that returns whether a rule's condition holds; it changes nothing.
#:
#: If the guard does not hold, and the event is therefore refused, the guard's code is reported as the reason.
Guard = Callable[[MachineT, Event], bool]
#: A function that performs one step of a rule.
#:
#: If it returns an event, the engine processes that event after the rule.
Effect = Callable[[MachineT, Event], Event | None]


_REFUSAL_CODE_BY_GUARD: Final = dict[Callable[..., bool], str]()


def refusal_code(code: str) -> Callable[[GuardT], GuardT]:
    """Return a decorator that gives a guard a refusal code that differs from the guard's name.

    Journals, messages and translations contain the codes, so a code stays the same when its guard is renamed.
    """

    def register(guard: GuardT) -> GuardT:
        """Store the refusal code of a guard, and return the guard."""
        _REFUSAL_CODE_BY_GUARD[guard] = code
        return guard

    return register


def get_refusal_code(guard: Callable[..., bool]) -> str:
    """Return the code that is reported if this guard refuses an event.

    It is the guard's name, unless :func:`refusal_code` has given it a different code.
    """
    return _REFUSAL_CODE_BY_GUARD.get(guard, guard.__name__)


class RefusalHandling(StrEnum):
    """The ways to refuse an event that no rule accepts: report it to a person, or record it."""

    REPORT = "reported"
    """The reason (failed guard, or state) is reported to the person who made the request."""
    RECORD = "recorded"
    """The event is recorded as unexpected."""


REPORT_REFUSAL: Final = RefusalHandling.REPORT


@dataclass(frozen=True, slots=True)
class Rule(Generic[MachineT]):
    """One row of the state table: the effects and the next state of an event in ``states``, if all guards hold.

    ``event`` may be a tuple of events that share the rule.
    """

    event: EventName | tuple[EventName, ...]
    states: frozenset[State]
    guards: tuple[Guard[MachineT], ...] = ()
    effects: tuple[Effect[MachineT], ...] = ()
    next_state: State | NextState = NextState.SAME
    refusal: RefusalHandling = RefusalHandling.RECORD

    @property
    def events(self) -> tuple[EventName, ...]:
        """Return the events for which the rule is tried, as a tuple."""
        return (self.event,) if isinstance(self.event, EventName) else self.event


@dataclass(frozen=True, slots=True)
class DerivedState(Generic[MachineT]):
    """A machine state that the durable memory implies whenever ``is_implied_by`` returns True.

    If the memory implies several states, the one with the highest priority applies.
    """

    state: State
    is_implied_by: Callable[[MachineT], bool]
    """A function that returns whether the memory implies this state. It changes nothing."""


class StateTable(Generic[MachineT]):
    """The state table: the rules of every feature, in the order in which they are tried.

    ``payloads`` has the class of each event's payload; ``derived_states`` are the derived states of all features.
    """

    def __init__(
        self,
        rules: Iterable[Rule[MachineT]],
        payloads: PayloadClasses,
        states: Iterable[DerivedState[MachineT]] = (),
    ) -> None:
        """Build the state table.

        Raises InvariantError if a rule can never be reached; if an event has no rule or no payload, or if its rules
        disagree on how it is refused; or if a derived state is not in STATES_BY_URGENCY.
        """
        self.payloads: Final = payloads
        self._rules: Final = tuple(rules)
        unsorted_states = tuple(states)
        self.derived_states: Final = tuple(
            implied for state in STATES_BY_URGENCY for implied in unsorted_states if implied.state is state
        )
        check_invariant(
            len(self.derived_states) == len(unsorted_states),
            "every derived state must be listed in STATES_BY_URGENCY",
        )
        self._rules_by_state_and_event: Final[dict[tuple[State, EventName], tuple[Rule[MachineT], ...]]] = {}
        self._refusals: Final[dict[EventName, RefusalHandling]] = {}
        for rule in self._rules:
            for event in rule.events:
                is_same_refusal = self._refusals.setdefault(event, rule.refusal) is rule.refusal
                check_invariant(
                    is_same_refusal, f"{event}: all rules of an event must declare the same refusal"
                )
                for state in rule.states:
                    earlier_rules = self._rules_by_state_and_event.get((state, event), ())
                    check_invariant(
                        all(earlier.guards for earlier in earlier_rules),
                        f"{event} in {state}: a rule after one without guards can never apply",
                    )
                    self._rules_by_state_and_event[state, event] = (*earlier_rules, rule)
        event_classes: set[type[EventName]] = {
            EventType,
            *(type(event) for event in (*self._refusals, *payloads)),
        }
        undecided_events = [
            event.value
            for event_class in event_classes
            for event in event_class
            if event not in self._refusals
        ]
        check_invariant(not undecided_events, f"no rule decides {', '.join(undecided_events)}")
        events_without_payload = [event.value for event in self._refusals if event not in payloads]
        check_invariant(
            not events_without_payload,
            f"no feature declares the payload of {', '.join(events_without_payload)}",
        )

    def __iter__(self) -> Iterator[Rule[MachineT]]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def list_rules(self, state: State, event: EventName) -> tuple[Rule[MachineT], ...]:
        """Return the rules for an event in a state, in the order in which they are tried."""
        return self._rules_by_state_and_event.get((state, event), ())

    def find_refusal(self, event: EventName) -> RefusalHandling:
        """Return how the event is refused if no rule accepts it: reported to a person, or recorded."""
        return self._refusals[event]

    def derive_state(self, machine: MachineT) -> State:
        """Return the state with the highest priority among those that the machine's memory implies.

        Return IDLE if it implies none.
        """
        return next(
            (derived.state for derived in self.derived_states if derived.is_implied_by(machine)), State.IDLE
        )

    def is_always_accepted(self, event: EventName) -> bool:
        """Return whether no state except BOOT can refuse the event: each has a rule without guards for it."""
        return all(
            any(not rule.guards for rule in self.list_rules(state, event)) for state in STATES_AFTER_BOOT
        )

"""State-machine rules: what an event does in a set of states, and what becomes of an event no rule takes.

A machine is the sum of the rules of its features (:class:`Rules`). The rules of one event in one state are
tried in their order, and the first whose guards all hold is taken. Where none is, the person who asked is
told why, or the event is recorded as unexpected: the event's rules say which, and nothing is dropped.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from egm.errors import invariant
from egm.kernel.events import Event, EventName, EventType, Next, State
from egm.kernel.states import AWAKE, PRESSING

MachineT = TypeVar("MachineT")
Guard = Callable[[MachineT, Event], bool]
"""Whether a rule may be taken now. Its name is the reason of a refusal; it changes nothing."""
Effect = Callable[[MachineT, Event], Event | None]
"""Does a part of what a rule does. An event it returns happens next, when the rule is finished."""


class Refusal(StrEnum):
    """What becomes of an event that no rule takes."""

    TELL = "told"
    """Whoever asked is told the reason: the guard that failed, or the state."""
    RECORD = "recorded"
    """It is written down as unexpected."""


TELL: Final = Refusal.TELL


@dataclass(frozen=True, slots=True)
class Rule(Generic[MachineT]):
    """In each of ``states``, if every guard holds, ``event`` has these effects and leads to ``next``.

    ``event`` may be several, for each of which the same is done.
    """

    event: EventName | tuple[EventName, ...]
    states: frozenset[State]
    guards: tuple[Guard[MachineT], ...] = ()
    effects: tuple[Effect[MachineT], ...] = ()
    next: State | Next = Next.SAME
    refusal: Refusal = Refusal.RECORD

    @property
    def events(self) -> tuple[EventName, ...]:
        """The event, or each of them."""
        return (self.event,) if isinstance(self.event, EventName) else self.event


@dataclass(frozen=True, slots=True)
class DerivedState(Generic[MachineT]):
    """While the memory holds something, the machine is in ``state``, unless a more pressing one holds."""

    state: State
    holds: Callable[[MachineT], bool]
    """Whether it does. It reads, and changes nothing."""


class Rules(Generic[MachineT]):
    """The state table: the rules of every feature, in the order in which they are tried.

    ``states``: what the memory says the machine is doing, by the features whose memory it is.
    """

    def __init__(
        self, rules: Iterable[Rule[MachineT]], states: Iterable[DerivedState[MachineT]] = ()
    ) -> None:
        """Raises InvariantError where a rule can never be reached, or an event is not decided everywhere."""
        self._rules: Final = tuple(rules)
        derived = tuple(states)
        self.states: Final = tuple(one for state in PRESSING for one in derived if one.state is state)
        invariant(len(self.states) == len(derived), "a derived state that is not among the pressing ones")
        self._index: Final[dict[tuple[State, EventName], tuple[Rule[MachineT], ...]]] = {}
        self._refusals: Final[dict[EventName, Refusal]] = {}
        for rule in self._rules:
            for event in rule.events:
                same = self._refusals.setdefault(event, rule.refusal) is rule.refusal
                invariant(same, f"{event}: refused in two ways")
                for state in rule.states:
                    before = self._index.get((state, event), ())
                    invariant(all(one.guards for one in before), f"{event} in {state}: a rule never reached")
                    self._index[state, event] = (*before, rule)
        kinds: set[type[EventName]] = {EventType, *(type(event) for event in self._refusals)}
        missing = [event.value for kind in kinds for event in kind if event not in self._refusals]
        invariant(not missing, f"no rule decides {', '.join(missing)}")

    def __iter__(self) -> Iterator[Rule[MachineT]]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def of(self, state: State, event: EventName) -> tuple[Rule[MachineT], ...]:
        """The rules of one event in one state, in the order in which they are tried."""
        return self._index.get((state, event), ())

    def refusal(self, event: EventName) -> Refusal:
        """What becomes of an event that none of its rules takes."""
        return self._refusals[event]

    def derived_state(self, machine: MachineT) -> State:
        """The state that the durable memory says the machine is in."""
        return next((one.state for one in self.states if one.holds(machine)), State.IDLE)

    def always_takes(self, event: EventName) -> bool:
        """Whether an event is taken in every state the machine has once its memory is ready."""
        return all(any(not rule.guards for rule in self.of(state, event)) for state in AWAKE)

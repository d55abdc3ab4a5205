"""State-machine engine: it processes one event at a time by the rules of the state table."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, Generic, Protocol, TypeVar

from egm.errors import check_invariant
from egm.kernel.events import Event, EventName, EventReplacement, EventType, NextState, State
from egm.kernel.messages import Notice
from egm.kernel.rules import Guard, RefusalHandling, Rule, StateTable, get_refusal_code

#: Names of the text fields of an unexpected event whose values may be recorded.
_RECORDABLE_PAYLOAD_FIELDS: Final = frozenset(
    {"id", "code", "door", "device", "claim", "level", "source", "reason", "why"}
)


class EngineDrivenMachine(Protocol):
    """The interface of a machine that the engine can drive: it holds a notice and records unexpected events."""

    notice: Notice | None
    """The message to the person at the machine about the last event."""

    def record_unexpected_event(
        self, event: str, state: str, reason: str, values: Mapping[str, int | str]
    ) -> None:
        """Record in the journal an event that no rule accepts in this state, and why."""
        ...


#: A machine that the engine drives.
MachineT = TypeVar("MachineT", bound=EngineDrivenMachine)


class StateMachineEngine(Generic[MachineT]):
    """The engine that applies the state table's rules: one event at a time, each completed before the next.

    After each event it raises ``AFTER_EVENT``, whose rules complete unfinished work; each of these rules runs
    at most once per event. When no event is waiting it raises ``NO_EVENT_WAITING``, whose rules start what the machine
    does by itself; each of these runs at most once per call of :meth:`submit`, so that a rule without effect
    cannot loop forever.
    """

    def __init__(self, machine: MachineT, rules: StateTable[MachineT], on_change: Callable[[], None]) -> None:
        """Create the engine in state BOOT.

        ``on_change`` is called once the engine has processed a submitted event and all events that followed from it.
        Raises InvariantError unless every state has a rule without guards for AFTER_EVENT and for NO_EVENT_WAITING.
        """
        for event in (EventType.AFTER_EVENT, EventType.NO_EVENT_WAITING):
            is_decided = all(
                any(not rule.guards for rule in rules.list_rules(state, event)) for state in State
            )
            check_invariant(is_decided, f"no rule decides {event} in every state")
        self.machine: Final = machine
        self.rules: Final = rules
        self.state = State.BOOT
        self._on_change = on_change
        self._event_queue: deque[Event] = deque()
        self._is_handling_event = False
        self._recorded_unexpected_events: set[tuple[EventName, State, str]] = set()

    @property
    def is_busy(self) -> bool:
        """Return whether the engine is handling an event."""
        return self._is_handling_event

    def handle(self, event_name: EventName, /, **data: object) -> None:
        """Build an event with the keyword arguments as its payload, and process it; see :meth:`submit`.

        Raises EventError if the values differ from the payload declared for the event.
        """
        self.submit(self.rules.payloads.build_event(event_name, data))

    def submit(self, event: Event) -> None:
        """Process an event and all events that its rules add, then call the engine's ``on_change`` function.

        If the engine is already handling an event, the new one is processed after it. Raises EventError if the
        event does not carry the payload that is declared for it.
        """
        self._event_queue.append(event)
        if self._is_handling_event:
            return
        self._is_handling_event = True
        applied_rules: list[Rule[MachineT]] = []
        try:
            while self._event_queue:
                self._handle_one_event(self._event_queue.popleft())
                self._finish_event()
                if not self._event_queue:
                    self._apply_engine_event(EventType.NO_EVENT_WAITING, applied_rules)
        finally:
            self._is_handling_event = False
        self._on_change()

    def update_state(self) -> None:
        """Change to the state that the memory now implies, after another position has changed shared memory.

        Do nothing while an event is being handled, or if the state is still right.
        """
        if self._is_handling_event or not self.accepts_event_type(EventType.SHARED_MEMORY_CHANGED):
            return
        if self.derive_state() is not self.state:
            self.handle(EventType.SHARED_MEMORY_CHANGED)

    def accepts_event_type(self, event_name: EventName, /) -> bool:
        """Return whether a rule would accept an event of this type now, with a default payload. Changes nothing."""
        return self.accepts_event(self.rules.payloads.build_event(event_name, {}))

    def accepts_event(self, event: Event) -> bool:
        """Return whether a rule of the state table would accept the event now. Changes nothing."""
        self.rules.payloads.check_payload(event)
        rule, _ = self._choose_rule(event)
        return rule is not None

    def derive_state(self) -> State:
        """Return the machine state that follows from the durable memory."""
        return self.rules.derive_state(self.machine)

    def _choose_rule(self, event: Event) -> tuple[Rule[MachineT] | None, str]:
        """Return (rule, "") for the rule of the state table that accepts the event.

        If none does, return (None, reason): the refusal code of the last rule tried, or the name of the state if the
        state has no rule for the event.
        """
        reason = self.state.value
        for rule in self.rules.list_rules(self.state, event.name):
            failed_guard = self._find_failed_guard(rule, event)
            if failed_guard is None:
                return rule, ""
            reason = get_refusal_code(failed_guard)
        return None, reason

    def _find_failed_guard(self, rule: Rule[MachineT], event: Event) -> Guard[MachineT] | None:
        """Return the first guard of the rule that does not hold, or None if all hold."""
        for guard in rule.guards:
            if not guard(self.machine, event):
                return guard
        return None

    def _handle_one_event(self, event: Event) -> None:
        """Apply the rule that accepts the event, or refuse the event if none does."""
        self.rules.payloads.check_payload(event)
        rule, reason = self._choose_rule(event)
        if rule is None:
            self._refuse(event, reason)
        else:
            self._apply_rule(rule, event)

    def _apply_rule(self, rule: Rule[MachineT], event: Event) -> None:
        """Run the rule's effects, queue the events that they return, and change to the rule's next state.

        If an effect raises EventReplacement, the state stays the same, and the event that replaces this one is the
        next to be handled.
        """
        # A person's new request replaces the notice about the last one.
        if rule.refusal is RefusalHandling.REPORT:
            self.machine.notice = None
        try:
            next_events = [effect(self.machine, event) for effect in rule.effects]
        except EventReplacement as replacement:
            self._event_queue.appendleft(replacement.event)
            return
        self._event_queue.extend(next_event for next_event in next_events if next_event is not None)
        self.state = self._find_next_state(rule)

    def _find_next_state(self, rule: Rule[MachineT]) -> State:
        """Return the state after a rule: the one that it names, the one implied by the memory, or the present one."""
        match rule.next_state:
            case State() as state:
                return state
            case NextState.DERIVED:
                return self.derive_state()
            case NextState.DERIVED_ONCE_TESTED if self.state is not State.SELF_TEST:
                return self.derive_state()
        return self.state

    def _finish_event(self) -> None:
        """Apply the AFTER_EVENT rules whose guards hold, to complete unfinished work; each rule at most once."""
        applied_rules: list[Rule[MachineT]] = []
        while self._apply_engine_event(EventType.AFTER_EVENT, applied_rules):
            pass

    def _apply_engine_event(self, event_name: EventType, applied_rules: list[Rule[MachineT]]) -> bool:
        """Apply the first rule for an engine event whose guards hold and that is not in ``applied_rules``.

        Add the rule to ``applied_rules``. Return False if there is no such rule, or if it has no effects.
        """
        event = Event(event_name)
        rule = next(
            (
                rule
                for rule in self.rules.list_rules(self.state, event_name)
                if rule not in applied_rules and self._find_failed_guard(rule, event) is None
            ),
            None,
        )
        if rule is None or not rule.effects:
            return False
        applied_rules.append(rule)
        self._apply_rule(rule, event)
        return True

    def _refuse(self, event: Event, reason: str) -> None:
        """Refuse an event that no rule accepts.

        As the event's rules specify, ``reason`` is shown to the person at the machine, or the event is recorded
        as unexpected.
        """
        if self.rules.find_refusal(event.name) is RefusalHandling.REPORT:
            self.machine.notice = Notice(
                code=f"refused.{reason}", severity="warning", values={"event": event.name.value}
            )
        else:
            self._record_unexpected_event(event, reason)

    def _record_unexpected_event(self, event: Event, reason: str) -> None:
        """Record an event that no rule accepts, once per start for the same event, state and reason.

        Payload fields that have their default are left out. Integers, and the texts of the fields in
        ``_RECORDABLE_PAYLOAD_FIELDS``, are recorded with their values. For every other field only the type of the
        value is recorded, because ticket numbers are secret.
        """
        refused_event = (event.name, self.state, reason)
        if refused_event in self._recorded_unexpected_events:
            return
        self._recorded_unexpected_events.add(refused_event)
        values = {
            name: _describe_value(name, value) for name, value in event.collect_non_default_values().items()
        }
        self.machine.record_unexpected_event(event.name.value, self.state.value, reason, values)


def _describe_value(name: str, value: object) -> int | str:
    """Return a payload field's value for the journal; if it may be secret, only the name of its type."""
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return str(value) if name in _RECORDABLE_PAYLOAD_FIELDS else str.__name__
    return type(value).__name__

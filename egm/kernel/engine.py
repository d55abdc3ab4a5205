"""State-machine engine: lets happen what its rules say may happen, one event at a time, and nothing else."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, Generic, Protocol, TypeVar

from egm.errors import invariant
from egm.kernel.events import Event, EventName, EventType, Next, State, SupersededBy
from egm.kernel.messages import Notice
from egm.kernel.rules import Refusal, Rule, Rules

#: What of an unexpected event may be written down as it stands.
_NAMES: Final = frozenset({"id", "code", "door", "device", "claim", "level", "source", "reason", "why"})


class RuledMachine(Protocol):
    """What the engine itself needs of the machine whose rules it follows."""

    notice: Notice | None

    def log(self, kind: str, details: Mapping[str, object]) -> None:
        """Record an event that moves nothing."""
        ...


MachineT = TypeVar("MachineT", bound=RuledMachine)


class Engine(Generic[MachineT]):
    """Interpreter of the rules it is given: one event at a time, each to its end before the next.

    After each event it raises ``AFTER_EVENT``, whose rules end what was begun, each at most once; and when no
    event waits, ``AT_REST``, whose rules decide what the machine does by itself: each at most once for what
    has happened, for one that leads nowhere would be taken without end.
    """

    def __init__(self, machine: MachineT, rules: Rules[MachineT], changed: Callable[[], None]) -> None:
        """Raises InvariantError where the engine's own events are not decided in every state."""
        for own in (EventType.AFTER_EVENT, EventType.AT_REST):
            whole = all(any(not rule.guards for rule in rules.of(state, own)) for state in State)
            invariant(whole, f"no rule decides {own} in every state")
        self.machine: Final = machine
        self.rules: Final = rules
        self.state = State.BOOT
        self._changed = changed
        self._queue: deque[Event] = deque()
        self._busy = False
        self._unexpected: set[tuple[EventName, State, str]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether an event is being handled: whoever watches is told when it is done."""
        return self._busy

    def handle(self, type_: EventName, /, **data: object) -> None:
        """Take an event in, and everything that follows from it, then let whoever watches know."""
        self._queue.append(Event(type_, data))
        if self._busy:
            return
        self._busy = True
        rested = list[Rule[MachineT]]()
        try:
            while self._queue:
                self._one(self._queue.popleft())
                self._end_what_was_begun()
                if not self._queue:
                    self._take_own(EventType.AT_REST, rested)
        finally:
            self._busy = False
        self._changed()

    def settle(self) -> None:
        """Something of the machine's has changed at another position: come to the state that follows."""
        if self._busy or not self.accepts(EventType.MACHINE_CHANGED):
            return
        if self.derived_state() is not self.state:
            self.handle(EventType.MACHINE_CHANGED)

    def accepts(self, type_: EventName, /, **data: object) -> bool:
        """Whether a rule would be taken now. Asks, and changes nothing."""
        return self._rule(Event(type_, data))[0] is not None

    def derived_state(self) -> State:
        """The state that the durable memory says the machine is in."""
        return self.rules.derived_state(self.machine)

    def _rule(self, event: Event) -> tuple[Rule[MachineT] | None, str]:
        """The rule to take, or None and the reason for refusing: the failed guard, else the state."""
        reason = self.state.value
        for rule in self.rules.of(self.state, event.type):
            failed = next((guard for guard in rule.guards if not guard(self.machine, event)), None)
            if failed is None:
                return rule, ""
            reason = failed.__name__
        return None, reason

    def _one(self, event: Event) -> None:
        rule, reason = self._rule(event)
        if rule is None:
            self._refuse(event, reason)
        else:
            self._take(rule, event)

    def _take(self, rule: Rule[MachineT], event: Event) -> None:
        if rule.refusal is Refusal.TELL:  # what a person was told before is answered by what he does now
            self.machine.notice = None
        try:
            follow = [effect(self.machine, event) for effect in rule.effects]
        except SupersededBy as turn:
            self._queue.appendleft(turn.event)
            return
        self._queue.extend(one for one in follow if one is not None)
        self.state = self._next(rule)

    def _next(self, rule: Rule[MachineT]) -> State:
        match rule.next:
            case State() as state:
                return state
            case Next.DERIVED:
                return self.derived_state()
            case Next.DERIVED_ONCE_TESTED if self.state is not State.SELF_TEST:
                return self.derived_state()
        return self.state

    def _end_what_was_begun(self) -> None:
        taken = list[Rule[MachineT]]()
        while self._take_own(EventType.AFTER_EVENT, taken):
            pass

    def _take_own(self, type_: EventType, taken: list[Rule[MachineT]]) -> bool:
        """Take the first rule of one of the engine's own events not ``taken`` yet; say if it did."""
        event = Event(type_)
        rule = next(
            (
                rule
                for rule in self.rules.of(self.state, type_)
                if rule not in taken and all(guard(self.machine, event) for guard in rule.guards)
            ),
            None,
        )
        if rule is None or not rule.effects:
            return False
        taken.append(rule)
        self._take(rule, event)
        return True

    def _refuse(self, event: Event, reason: str) -> None:
        if self.rules.refusal(event.type) is Refusal.TELL:
            self.machine.notice = Notice(
                code=f"refused.{reason}", severity="warning", values={"event": event.type.value}
            )
        else:
            self._note_unexpected(event, reason)

    def _note_unexpected(self, event: Event, reason: str) -> None:
        """Record what no rule takes; the same for the same reason once a start: it must not fill the journal.

        Figures and names are kept, and of anything else only what it was: a ticket's number is a secret.
        """
        seen = (event.type, self.state, reason)
        if seen in self._unexpected:
            return
        self._unexpected.add(seen)
        values = {
            str(name): value if isinstance(value, int) or name in _NAMES else type(value).__name__
            for name, value in event.data.items()
        }
        self.machine.log(
            "event.unexpected",
            {"event": event.type.value, "state": self.state.value, "reason": reason, "values": values},
        )

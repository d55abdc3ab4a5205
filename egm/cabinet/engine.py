"""Lets happen what the state table says may happen, and nothing else."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from egm.cabinet import (
    clock_trust,
    controls,
    hand_pays,
    level_moves,
    lockups,
    merchandise,
    mysteries,
    pay_out,
    play,
    progressives,
    protection,
    residuals,
    slips,
    ticket_instead,
    unproved,
    value_in,
)
from egm.cabinet.cabinet import Cabinet, Key
from egm.cabinet.events import Event, EventType, Next, State, SupersededBy
from egm.cabinet.host import tickets as host_tickets
from egm.cabinet.host import transfers as host_transfers
from egm.cabinet.service import device_tests
from egm.cabinet.service import effects as service
from egm.cabinet.staff import (
    disputed,
    forms,
    interventions,
    numbers,
    options,
    registers,
    rulings,
    stock,
    technician,
)
from egm.cabinet.states import FACTS, REQUESTS, SAID_AGAIN, TABLE, Row, rows
from egm.errors import invariant
from egm.link.messages import Notice

Guard = Callable[[Cabinet, Event], bool]
Effect = Callable[[Cabinet, Event], None]

_MODULES: Final = (
    clock_trust,
    controls,
    play,
    progressives,
    mysteries,
    unproved,
    level_moves,
    protection,
    residuals,
    value_in,
    pay_out,
    hand_pays,
    ticket_instead,
    merchandise,
    rulings,
    disputed,
    registers,
    lockups,
    technician,
    host_tickets,
    host_transfers,
    service,
    device_tests,
    slips,
    interventions,
    stock,
    options,
    numbers,
)
GUARDS: Final[Mapping[str, Guard]] = {
    guard.__name__: guard for module in (*_MODULES, forms) for guard in module.GUARDS
}
EFFECTS: Final[Mapping[str, Effect]] = {
    effect.__name__: effect for module in _MODULES for effect in module.EFFECTS
}

#: What of an unexpected event may be written down as it stands.
_NAMES: Final = frozenset({"id", "code", "door", "device", "claim", "level", "source", "reason", "why"})


class Engine:
    """The interpreter of the table: one event at a time, each to its end before the next.

    An effect may not raise another event directly; what follows from it is queued when its row is finished,
    before the next is tried.
    """

    def __init__(self, cabinet: Cabinet, changed: Callable[[], None]) -> None:
        invariant({name for row in TABLE for name in row.guards} <= set(GUARDS), "unknown guard in the table")
        invariant({n for row in TABLE for n in row.effects} <= set(EFFECTS), "unknown effect in the table")
        facts = {event for event, _, _ in FACTS}
        invariant(
            {form.event for form in forms.FORMS} <= REQUESTS | facts,
            "a form that could be refused in silence",
        )
        self.cabinet = cabinet
        self.state = State.BOOT
        self._changed = changed
        self._queue: deque[Event] = deque()
        self._busy = False
        self._unexpected: set[tuple[EventType, State, str]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether an event is being handled: whoever watches is told when it is done."""
        return self._busy

    def handle(self, event: EventType, **values: object) -> None:
        """Take an event in, and everything that follows from it, then let whoever watches know."""
        self._queue.append(Event(event, values))
        if self._busy:
            return
        self._busy = True
        try:
            while self._queue:
                self._one(self._queue.popleft())
                self._follow()
                self._arrive()
        finally:
            self._busy = False
        self._changed()

    def settle(self) -> None:
        """Something of the machine's has changed at another position: come to the state that follows."""
        if self.state in {State.BOOT, State.SELF_TEST} or self._busy:
            return
        derived = self.cabinet.derived_state()
        if derived is self.state:
            return
        self.state = derived
        self._arrive()
        if self._queue:
            follows = self._queue.popleft()
            self.handle(follows.type, **follows.data)
        else:
            self._changed()

    def accepts(self, event: EventType, **values: object) -> bool:
        """Whether a row would be taken now. Asks, and changes nothing."""
        return self._row(Event(event, values))[0] is not None

    def _row(self, event: Event) -> tuple[Row | None, str]:
        """The row to take, or None and the reason for refusing: the failed guard, else the state."""
        reason = self.state.value
        for row in rows(self.state, event.type):
            failed = next((name for name in row.guards if not GUARDS[name](self.cabinet, event)), None)
            if failed is None:
                return row, ""
            reason = failed
        return None, reason

    def _one(self, event: Event) -> None:
        row, reason = self._row(event)
        if row is None:
            self._refuse(event, reason)
            return
        if event.type in REQUESTS:
            self.cabinet.notice = None
        try:
            for name in row.effects:
                EFFECTS[name](self.cabinet, event)
        except SupersededBy as turn:
            self._queue.appendleft(turn.event)
            return
        if row.next is Next.DERIVED:
            self.state = self.cabinet.derived_state()
        elif row.next is not Next.SAME:
            self.state = State(row.next)

    def _follow(self) -> None:
        """What an answer at the service menu leads to, now that the answer itself is done."""
        follows, self.cabinet.service.follows = self.cabinet.service.follows, None
        if follows is not None:
            self._queue.append(follows)

    def _arrive(self) -> None:
        """What follows from having come into a state.

        A game that a door or a tilt interrupts is taken up again from the journal, as after a restart: it is
        shown once more, for what the screen said of it meanwhile was not heard.
        """
        self._finish()
        if self.state is not State.PLAYING:
            self.cabinet.conversation = None
        elif self.cabinet.conversation is None:
            play.resume(self.cabinet, self._queue)
        if self.state is State.AWAITING_AWARD and not self._queue:
            ended = Event(EventType.SHOWN, {"value": self.cabinet.recall(Key.AWAITING)})
            if progressives.awards_are_locked(self.cabinet, ended):
                self._queue.append(ended)
        if self.state is State.PAYING and not self._queue:
            try:
                pay_out.resume(self.cabinet)
            except SupersededBy as turn:
                self._queue.append(turn.event)
        elif not self._queue:
            waiting = host_transfers.due(self.cabinet, self.state)
            if waiting is not None and rows(self.state, waiting.type):  # else it is refused for ever
                self._queue.append(waiting)
            elif pay_out.is_due(self.cabinet, self.state):
                self._queue.append(Event(EventType.CASH_OUT))

    def _finish(self) -> None:
        """End what takes more than one entry, and was begun before."""
        rulings.finish(self.cabinet)
        if self.state not in {State.BOOT, State.SELF_TEST} and mysteries.finish(self.cabinet):
            self.state = self.cabinet.derived_state()
        pay_out.finish(self.cabinet)
        disputed.finish(self.cabinet)

    def _refuse(self, event: Event, reason: str) -> None:
        if event.type in REQUESTS:
            self.cabinet.notice = Notice(
                code=f"refused.{reason}", severity="warning", values={"event": event.type.value}
            )
        elif event.type not in SAID_AGAIN:
            self._note_unexpected(event, reason)

    def _note_unexpected(self, event: Event, reason: str) -> None:
        """Record what no row takes; the same for the same reason once a start: it must not fill the journal.

        Figures and names are kept, and of anything else only what it was: a ticket's number is a secret.
        """
        told = (event.type, self.state, reason)
        if told in self._unexpected:
            return
        self._unexpected.add(told)
        values = {
            str(name): value if isinstance(value, int) or name in _NAMES else type(value).__name__
            for name, value in event.data.items()
        }
        self.cabinet.log(
            "event.unexpected",
            {
                "event": event.type.value,
                "state": self.state.value,
                "reason": reason,
                "values": values,
            },
        )

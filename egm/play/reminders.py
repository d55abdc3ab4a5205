"""Background service that submits the time-dependent events of :mod:`egm.play.player_protection`."""

import asyncio
import contextlib
from collections.abc import Iterable

from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext
from egm.play.keys import PlayKey
from egm.play.player_protection import find_next_reminder_time, session_is_over


class ReminderService:
    """The background service that submits the events of player protection when they are due.

    After every event, and as time passes, it checks whether a reminder is due, and whether a pause of play or a
    player's session has ended.
    """

    name = "protection"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._machine = context.engine.machine
        self._machine_changed = asyncio.Event()
        self._session_over_since_ns: int | None = None

    async def run(self) -> None:
        """Submit the events of player protection when they are due, until this task is cancelled."""
        while True:
            self._machine_changed.clear()
            self._submit_due_events()
            with contextlib.suppress(TimeoutError):
                # Not wait_for: it may swallow a cancellation that arrives at the same moment (python/cpython
                # issue 86296).
                async with asyncio.timeout(self._compute_seconds_to_wait()):
                    await self._machine_changed.wait()

    def process_change(self, snapshot: Snapshot) -> None:  # noqa: ARG002 (it reads the machine's memory, not the snapshot)
        """Check again which events are due, because an event has changed the machine."""
        self._machine_changed.set()

    def _submit_due_events(self) -> None:
        """Submit the events that are due: end of a pause, reminder, or end of the session of a player who has left."""
        self._submit_if_accepted(EventType.PLAY_PAUSE_OVER)
        self._submit_if_accepted(EventType.REMINDER_DUE)
        if not session_is_over(self._machine, Event(EventType.PLAYER_SESSION_OVER)):
            self._session_over_since_ns = None
        elif self._session_over_since_ns is None:
            self._session_over_since_ns = self._context.clock.monotonic_ns()
        if self._session_over_since_ns is not None and self._compute_seconds_until_player_has_left() <= 0:
            self._submit_if_accepted(EventType.PLAYER_SESSION_OVER)

    def _submit_if_accepted(self, event_type: EventType) -> None:
        """Submit an event of this type if the machine accepts it in its present state."""
        if self._context.engine.accepts_event_type(event_type):
            self._context.submit_event(Event(event_type))

    def _compute_seconds_until_player_has_left(self) -> float:
        """Return the seconds until a player without credit counts as gone; zero or less if that time has passed."""
        absent_ns = self._context.clock.monotonic_ns() - (self._session_over_since_ns or 0)
        return self._machine.profile.protection.session_gap_minutes * 60 - absent_ns / 1e9

    def _compute_seconds_to_wait(self) -> float | None:
        """Return the seconds until the next player-protection event is due; None if no event waits for a time.

        An event that is due but not accepted in the present state, such as a reminder while a door is open,
        does not count: it waits for the event that changes the state.
        """
        seconds_until_events = []
        if (reminder_time := find_next_reminder_time(self._machine)) is not None:
            seconds = (reminder_time - self._machine.timekeeper.read_steady_time()).total_seconds()
            if seconds > 0 or self._is_any_event_accepted(EventType.PLAY_PAUSE_OVER, EventType.REMINDER_DUE):
                seconds_until_events.append(seconds)
        if self._session_over_since_ns is not None:
            seconds = self._compute_seconds_until_player_has_left()
            if seconds > 0 or self._is_any_event_accepted(EventType.PLAYER_SESSION_OVER):
                seconds_until_events.append(seconds)
        return max(0.0, min(seconds_until_events)) if seconds_until_events else None

    def _is_any_event_accepted(self, *event_types: EventType) -> bool:
        """Return whether the machine accepts an event of one of the given types in its present state."""
        return any(self._context.engine.accepts_event_type(event_type) for event_type in event_types)


def create_reminder_service(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the reminders service if the profile counts sessions, or if a counted session has not ended yet."""
    machine = context.engine.machine
    is_counted = any(machine.memory.get(key) is not None for key in (PlayKey.SESSION, PlayKey.OWN_LIMITS))
    return (
        (ReminderService(context),)
        if machine.profile.protection.requires_session_tracking or is_counted
        else ()
    )

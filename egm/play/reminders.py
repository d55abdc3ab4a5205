"""Reminders as an attachment: the time that passes, for :mod:`egm.play.player_protection`."""

import asyncio
import contextlib
from collections.abc import Iterable

from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import Attachment, MachineContext
from egm.play.player_protection import session_is_over, time_due_at
from egm.records.keys import PlayKey


class Reminders:
    """Asks the state table, as time passes and things happen, whether it is time to remind or to end."""

    name = "protection"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._machine = context.engine.machine
        self._news = asyncio.Event()
        self._left_ns: int | None = None

    async def run(self) -> None:
        """Look whenever something has happened, and when the next thing is due."""
        while True:
            self._news.clear()
            self._look()
            with contextlib.suppress(TimeoutError):
                # Not wait_for: it may swallow a cancellation of that instant (python/cpython issue 86296).
                async with asyncio.timeout(self._seconds()):
                    await self._news.wait()

    def changed(self, now: Snapshot) -> None:  # noqa: ARG002 (the memory is read, not the picture)
        """Look again."""
        self._news.set()

    def _look(self) -> None:
        self._raise(EventType.PAUSE_OVER)
        self._raise(EventType.REMINDER_DUE)
        if not session_is_over(self._machine, Event(EventType.SESSION_OVER)):
            self._left_ns = None
        elif self._left_ns is None:
            self._left_ns = self._context.clock.monotonic_ns()
        if self._left_ns is not None and self._gap_seconds() <= 0:
            self._left_ns = None
            self._raise(EventType.SESSION_OVER)

    def _raise(self, due: EventType) -> None:
        if self._context.engine.accepts(due):
            self._context.handle(Event(due))

    def _gap_seconds(self) -> float:
        """How long until the player counts as gone."""
        gone_ns = self._context.clock.monotonic_ns() - (self._left_ns or 0)
        return self._machine.profile.protection.session_gap_minutes * 60 - gone_ns / 1e9

    def _seconds(self) -> float | None:
        """How long until time alone makes something due; None: never."""
        at = time_due_at(self._machine)
        waits = [] if at is None else [(at - self._machine.times.steady()).total_seconds()]
        waits += [] if self._left_ns is None else [self._gap_seconds()]
        return max(0.0, min(waits)) if waits else None


def reminders(context: MachineContext) -> Iterable[Attachment]:
    """One where the place keeps count of sessions, or one counted before is not over yet."""
    machine = context.engine.machine
    left = any(machine.memory.get(key) is not None for key in (PlayKey.SESSION, PlayKey.LIMITS))
    return (Reminders(context),) if machine.profile.protection.counts or left else ()

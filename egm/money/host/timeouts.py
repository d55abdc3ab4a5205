"""Host timeouts: each question to a host, and each hold it has on the machine, ends by itself.

The limits are timers of the running machine. A restart begins to wait anew for what the journal still asks,
and forgets what only this run was asked. A host that is down is not waited for, but a machine that has just
started cannot know yet: it gives the host time to be heard.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import Attachment, MachineContext
from egm.money.host.model import HostMoney, Redeeming
from egm.money.host.ticket_port import HostTickets
from egm.money.host.tickets import SILENT
from egm.records.keys import MoneyKey
from egm.tickets.redemption import Reason

#: How often it is looked whether promotional credit has expired.
_EXPIRY_SECONDS: Final = 30.0
_NANOSECONDS: Final = 1_000_000_000


class HostTimeouts:
    """Waits for the host of one machine."""

    name = "host"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._machine = context.engine.machine
        self._tickets = HostTickets(context.engine, context.handle)
        self._started_ns = context.clock.monotonic_ns()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def run(self) -> None:
        """Look for expired promotional credit now and then."""
        while True:
            await asyncio.sleep(_EXPIRY_SECONDS)
            if self._context.engine.accepts(EventType.PROMOTION_EXPIRED):
                self._context.handle(Event(EventType.PROMOTION_EXPIRED))

    def changed(self, now: Snapshot) -> None:  # noqa: ARG002 (what is waited for is not in the snapshot)
        """Begin to wait for each new question, and stop for each that was answered."""
        waits = dict(self.waits())
        for name in self._timers.keys() - waits.keys():
            self._timers.pop(name).cancel()
        for name in waits.keys() - self._timers.keys():
            seconds, ended = waits[name]
            self._timers[name] = asyncio.get_running_loop().call_later(seconds, self._end, ended)

    def _end(self, ended: Event) -> None:
        self._context.handle(ended)

    def waits(self) -> Iterator[tuple[str, tuple[float, Event]]]:
        """Each thing waited for: a name of its own, for how long from now, and what happens then."""
        host, answer_seconds = self._machine.state(HostMoney), self._machine.profile.host.answer_seconds
        wanted = self._tickets.wanted
        if wanted is not None:
            running = (self._machine.clock.monotonic_ns() - self._started_ns) / _NANOSECONDS
            seconds = answer_seconds if host.online else max(0, answer_seconds - running)
            yield wanted.id, (seconds, Event(EventType.NUMBER_REFUSED, {"id": wanted.id, "why": SILENT}))
        inquiry = host.inquiry
        if inquiry is not None:
            values = {"id": inquiry.id, "status": Redeeming.TIMED_OUT, "reason": Reason.HOST_DOWN}
            yield inquiry.id, (answer_seconds, Event(EventType.TICKET_DECLINED, values))
        lock = host.lock
        if lock is not None:
            left_ns = lock.until_ns - self._machine.clock.monotonic_ns()
            yield f"lock-{lock.until_ns}", (max(0, left_ns) / _NANOSECONDS, Event(EventType.LOCK_ENDED))


def host_timeouts(context: MachineContext) -> Iterable[Attachment]:
    """One, where a host has to do with the machine's money, or what one has lent it is not over yet."""
    machine = context.engine.machine
    host, lent = machine.state(HostMoney), machine.memory.get(MoneyKey.RESTRICTED) is not None
    if host.validation.by_host or host.transfers or host.bonuses or lent:
        yield HostTimeouts(context)

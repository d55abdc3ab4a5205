"""Host timeouts: every query to a host, and every lock that a host holds on the machine, ends after a limit.

The limits are timers of the running process. After a restart, waits that the journal still records start again; queries
that existed only in memory are dropped. While the host is offline, a wait for a ticket number ends at once; after
start-up, it lasts until the host has had time for its first poll.

The service also has restricted credit removed when the term that the host has set for it is over.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from egm.clock import NANOSECONDS_PER_SECOND
from egm.host.events import TicketNumberRefused, TicketRedemptionReply
from egm.host.ticket_interface import HostTicketInterface
from egm.host.tickets import HOST_TIMED_OUT_REASON
from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext
from egm.money.host_money import HostMoney
from egm.money.keys import MoneyKey
from egm.money.records.host import RedemptionStatus
from egm.tickets.redemption import TicketRefusalReason

#: Interval between checks for expired promotional credit.
_CREDIT_EXPIRY_CHECK_INTERVAL_SECONDS: Final = 30.0


class HostWait(NamedTuple):
    """A wait for the host: the time left for it, and the event that ends it."""

    seconds_left: float
    end_event: Event


class HostTimeouts:
    """Service that runs the timers for one machine's waits for its host, and for the expiry of restricted credit."""

    name = "host"

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._machine = context.engine.machine
        self._tickets = HostTicketInterface(context.engine, context.submit_event)
        self._started_ns = context.clock.monotonic_ns()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def run(self) -> None:
        """Check at an interval, until cancelled, for restricted credit that has expired, and have it removed."""
        while True:
            await asyncio.sleep(_CREDIT_EXPIRY_CHECK_INTERVAL_SECONDS)
            if self._context.engine.accepts_event_type(EventType.RESTRICTED_CREDIT_EXPIRED):
                self._context.submit_event(Event(EventType.RESTRICTED_CREDIT_EXPIRED))

    def process_change(self, snapshot: Snapshot) -> None:  # noqa: ARG002 (the snapshot does not contain the waits)
        """Start a timer for each new wait for the host, and cancel the timers of waits that have ended."""
        wait_by_id = dict(self.iter_waits())
        for wait_id in self._timers.keys() - wait_by_id.keys():
            self._timers.pop(wait_id).cancel()
        for wait_id in wait_by_id.keys() - self._timers.keys():
            wait = wait_by_id[wait_id]
            self._timers[wait_id] = asyncio.get_running_loop().call_later(
                wait.seconds_left, self._end_wait, wait.end_event
            )

    def _end_wait(self, end_event: Event) -> None:
        """Submit the event that ends a wait for the host's reply or lock."""
        self._context.submit_event(end_event)

    def iter_waits(self) -> Iterator[tuple[str, HostWait]]:
        """Yield every present wait for a reply of the host, and for the end of its lock, with an id for each."""
        host_money, reply_seconds_max = (
            self._machine.component(HostMoney),
            self._machine.profile.host.reply_seconds_max,
        )
        request = self._tickets.pending_ticket_number_request
        if request is not None:
            elapsed_seconds = (self._machine.clock.monotonic_ns() - self._started_ns) / NANOSECONDS_PER_SECOND
            seconds_left = (
                reply_seconds_max if host_money.is_online else max(0, reply_seconds_max - elapsed_seconds)
            )
            yield (
                request.id,
                HostWait(
                    seconds_left,
                    Event(
                        EventType.TICKET_NUMBER_REFUSED,
                        TicketNumberRefused(id=request.id, reason=HOST_TIMED_OUT_REASON),
                    ),
                ),
            )
        inquiry = host_money.ticket_inquiry
        if inquiry is not None:
            reply = TicketRedemptionReply(
                id=inquiry.id, status=RedemptionStatus.TIMED_OUT, reason=TicketRefusalReason.HOST_DOWN
            )
            yield inquiry.id, HostWait(reply_seconds_max, Event(EventType.TICKET_DECLINED, reply))
        lock = host_money.transfer_lock
        if lock is not None:
            remaining_ns = lock.end_ns - self._machine.clock.monotonic_ns()
            yield (
                f"lock-{lock.end_ns}",
                HostWait(max(0, remaining_ns) / NANOSECONDS_PER_SECOND, Event(EventType.TRANSFER_LOCK_ENDED)),
            )


def create_host_timeouts(context: MachineContext) -> Iterable[BackgroundService]:
    """Yield the host timeouts service if the machine needs it, otherwise nothing.

    It is needed if a host controls tickets, transfers or bonuses, or if restricted credit is recorded.
    """
    machine = context.engine.machine
    host_money = machine.component(HostMoney)
    has_restricted_terms = machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS) is not None
    if (
        host_money.ticket_validator.is_host
        or host_money.can_transfer
        or host_money.can_award_bonuses
        or has_restricted_terms
    ):
        yield HostTimeouts(context)

"""A SAS host as seen by the code that runs on the machine's event loop.

The effect of a poll (the function that executes a host's request) receives a :class:`SasHost`: the machine, the host's
settings, and ways to report to the host. An effect must be quick. It submits events, so that the state table decides.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final
from zoneinfo import ZoneInfo

from egm.config.sas_line import SasLineTable
from egm.kernel.events import Event, EventType, Payload
from egm.kernel.machine import PositionMachine
from egm.kernel.services import MachineContext
from egm.links.entries import HOST_TIME_RECORDED, HostTimeRecorded
from egm.links.keys import LinksKey
from egm.links.sas.codec import Reply
from egm.links.sas.exception_queue import SasException
from egm.links.sas.messages import (
    DelayedResultDelivered,
    ExceptionWithdrawn,
    RealTimeReportingSet,
    SasLineMessage,
)

#: Largest accepted difference between a host's time and the machine's; a larger one might give dates that do
#: not exist.
_HOST_CLOCK_AHEAD_SECONDS_MAX: Final = 1100 * 366 * 86_400
#: Key in :attr:`SasHost.values_between_polls`; the value is the journal id of the hand-pay that the host has read.
READ_HANDPAY_KEY: Final = "handpay"


@dataclass(slots=True)
class SasHost:
    """One SAS host for the functions that execute its polls: the machine, the settings, and ways to report to it."""

    name: str
    """The name of the host, which is the name of its SAS line in the cabinet file."""
    settings: SasLineTable
    permitted_poll_codes: frozenset[int]
    """Codes of the polls that the host may use."""
    context: MachineContext
    send_to_line: Callable[[SasLineMessage], None]
    """A function that passes a message to the thread of the host's line."""
    republish_readout: Callable[[], None]
    """A function that builds the data for the host's polls again, after a change without a journal entry."""
    values_between_polls: dict[str, Any] = field(default_factory=dict)
    """Values from earlier polls of this host that decide a later reply, by key; lost at a restart."""

    @property
    def machine(self) -> PositionMachine:
        """Return the machine, with journal, profile, games and devices."""
        return self.context.engine.machine

    @property
    def source(self) -> str:
        """Return the name that is recorded as the source if this host disables the machine or one of its functions."""
        return f"host:{self.name}"

    def find_game_id(self, game_number: int) -> str | None:
        """Return the id of the game that has this SAS game number, or None."""
        games = list(self.machine.games)
        return games[game_number - 1] if 0 < game_number <= len(games) else None

    @property
    def time_zone(self) -> ZoneInfo:
        """Return the time zone of the venue."""
        return ZoneInfo(self.machine.identity.venue.time_zone)

    @property
    def clock_ahead_seconds(self) -> int:
        """Return by how many seconds this host's clock is ahead of the machine's.

        Return 0 until the host has sent its time, or if the difference is implausibly large.
        """
        ahead_seconds = self.machine.journal.state(f"{LinksKey.HOST_CLOCK_AHEAD_SECONDS}{self.name}")
        return (
            ahead_seconds
            if isinstance(ahead_seconds, int) and abs(ahead_seconds) <= _HOST_CLOCK_AHEAD_SECONDS_MAX
            else 0
        )

    def store_host_time(self, host_time: datetime) -> None:
        """Store by how many whole seconds the host's time is ahead of the machine's.

        The difference is rounded up, so that the host never reads an earlier time than it sent. Nothing is recorded if
        the stored difference is equal or one second more, because hosts may send the time often.
        """
        ahead_seconds = ceil((host_time - self.context.clock.now()) / timedelta(seconds=1))
        if self.clock_ahead_seconds - ahead_seconds in {0, 1}:
            return
        self.machine.post(
            HOST_TIME_RECORDED,
            HostTimeRecorded(
                host_name=self.name, host_time=host_time.isoformat(), ahead_seconds=ahead_seconds
            ),
            state={f"{LinksKey.HOST_CLOCK_AHEAD_SECONDS}{self.name}": ahead_seconds},
        )
        self.republish_readout()

    def submit_event(self, event_type: EventType, payload: Payload) -> None:
        """Submit an event to the machine."""
        self.context.submit_event(Event(event_type, payload))

    def post_exception(self, code: int, data: bytes = b"", event_code: int = 0) -> None:
        """Queue a SAS exception for this host that does not come from a journal entry.

        ``data`` and ``event_code`` are the data and code of real-time event reporting.
        """
        self.send_to_line(SasException(code, data, event_code))

    def withdraw_exception(self, code: int) -> None:
        """Withdraw a priority exception for this host that no longer applies."""
        self.send_to_line(ExceptionWithdrawn(code))

    def deliver_delayed_result(self, code: int, reply: Reply) -> None:
        """Send a request's delayed result to this host, as the reply to its next general poll."""
        self.send_to_line(DelayedResultDelivered(code, reply))

    def set_real_time_reporting(self, *, is_on: bool) -> None:
        """Turn real-time event reporting to this host on or off."""
        self.send_to_line(RealTimeReportingSet(is_on))

"""SAS host as the machine knows it, on the loop's side of its line.

This is what an effect is given: the machine it may act on, the host's settings, and the ways to tell it
something. An effect is called on the machine's loop; it must be quick, and lets things happen through
``context.handle`` as everybody does, so that the state table decides.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final
from zoneinfo import ZoneInfo

from egm.config.sas_line import SasLine
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.services import MachineContext
from egm.links.sas.codec import Reply
from egm.links.sas.exception_queue import SasException
from egm.links.sas.messages import Delivered, Message, RealTime, Withdrawn
from egm.records.keys import LinksKey

#: No host's time is further from the machine's own than this: beyond it there may be no date.
_AHEAD_SECONDS_MAX: Final = 1100 * 366 * 86_400
READ_HANDPAY: Final = "handpay"
"""Under this note: the journal id of the hand-pay the host has read."""


@dataclass(slots=True)
class Host:
    """One host: ``name`` is its table in the cabinet file."""

    name: str
    settings: SasLine
    polls: frozenset[int]
    """The polls it may use."""
    context: MachineContext
    tell: Callable[[Message], None]
    """Hands a message to the line."""
    republish: Callable[[], None]
    """Makes what the host reads anew, after a change the journal does not show."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What was said to this host, where the next answer depends on it; forgotten at a restart."""

    @property
    def machine(self) -> Machine:
        """Journal, profile, games and devices."""
        return self.context.engine.machine

    @property
    def source(self) -> str:
        """Who disables the machine when this host does."""
        return f"host:{self.name}"

    def game(self, number: int) -> str | None:
        """The id of the game SAS knows under a number."""
        games = list(self.machine.games)
        return games[number - 1] if 0 < number <= len(games) else None

    @property
    def zone(self) -> ZoneInfo:
        """Where the machine stands."""
        return ZoneInfo(self.machine.identity.house.time_zone)

    @property
    def clock_offset_seconds(self) -> int:
        """By how much this host's time is ahead of the machine's; 0 until it has told it."""
        stored = self.machine.journal.state(f"{LinksKey.HOST_TIME}{self.name}")
        return stored if isinstance(stored, int) and abs(stored) <= _AHEAD_SECONDS_MAX else 0

    def set_time(self, told: datetime) -> None:
        """Keep the time the host has told, as its distance from the machine's own, in whole seconds.

        Rounded up: read back at once, it is never before what was told. A distance that reads the same or a
        second later is kept as it is, so that a host that tells the time often is not recorded each time.
        """
        ahead = ceil((told - self.context.clock.now()) / timedelta(seconds=1))
        if self.clock_offset_seconds - ahead in {0, 1}:
            return
        details = {"host": self.name, "told": told.isoformat(), "ahead_seconds": ahead}
        self.machine.record("host.time", state={f"{LinksKey.HOST_TIME}{self.name}": ahead}, details=details)
        self.republish()

    def handle(self, event: EventType, **values: object) -> None:
        """Let something happen."""
        self.context.handle(Event(event, values))

    def post(self, code: int, data: bytes = b"", event: int = 0) -> None:
        """Raise an exception that no journal entry raises by itself."""
        self.tell(SasException(code, data, event))

    def withdraw(self, code: int) -> None:
        """A priority exception no longer holds."""
        self.tell(Withdrawn(code))

    def deliver(self, code: int, reply: Reply) -> None:
        """A result that took its time: it answers the next general poll."""
        self.tell(Delivered(code, reply))

    def report_real_time(self, *, on: bool) -> None:
        """Switch real-time event reporting."""
        self.tell(RealTime(on))

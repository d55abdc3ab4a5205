"""Services beside the devices: metrics, host lines, links, reminders; each an attachment of the machine.

An attachment lives on the machine's event loop. It learns what happened from :meth:`Attachment.changed`,
after the fact is durable, and asks for something to happen through :attr:`MachineContext.handle`, where the
state table decides as it does for a person. A thread of its own (a serial line that waits for nothing) sees
only immutable values handed to it, and speaks to its attachment through the loop: the journal is read by one
thread only.

Each belongs to a feature (:class:`egm.kernel.feature.Feature`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from prometheus_client.core import Metric

from egm.clock import Clock
from egm.config.cabinet_file import CabinetFile, StateFolder
from egm.devices.interface import Device
from egm.kernel.engine import Engine
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.messages import Snapshot

Source: TypeAlias = Callable[[], Iterable[Metric]]
"""Something that monitoring reads, on the machine's loop."""


class Attachment(Protocol):
    """Something that works beside the devices for as long as the machine does."""

    @property
    def name(self) -> str:
        """What it is called in logs."""
        ...

    async def run(self) -> None:
        """Work until cancelled. An exception that leaves it stops the machine, which starts again."""
        ...

    def changed(self, now: Snapshot) -> None:
        """Something has happened and is durable. Called on the loop; must not block.

        Called after each event, and soon after any entry written outside one.
        """
        ...


@dataclass(frozen=True, slots=True)
class MachineContext:
    """What an attachment may use of its machine."""

    engine: Engine[Machine]
    """Its ``machine`` holds journal, profile, games and what each feature has put in."""
    file: CabinetFile
    folder: StateFolder
    clock: Clock
    handle: Callable[[Event], None]
    """Let something happen: the state table decides. What it cannot record stops the machine."""
    devices: tuple[Device, ...] = ()
    """The drivers, which the machine runs itself."""
    sources: list[Source] = field(default_factory=list)
    """What monitoring reads, on the loop; an attachment adds its own when it is made."""
    say: Callable[[str], None] = lambda _: None
    """Tell whoever started the machine, on the console."""


Make = Callable[[MachineContext], Iterable[Attachment]]
"""Makes the attachments the cabinet file asks for; none where it asks for none."""

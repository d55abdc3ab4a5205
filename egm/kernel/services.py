"""Background services, such as metrics, host lines, links and reminders.

A service runs on the machine's event loop. :meth:`BackgroundService.process_change` is called when something
has happened and is durable. With :attr:`MachineContext.submit_event` a service requests an event, which the
state table accepts or refuses as it does a person's request. A thread of a service (for example a serial line
with strict timing) sees only immutable values and communicates through the loop: only one thread reads the
journal. Each service belongs to a feature (:class:`egm.kernel.feature.Feature`).
"""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, TypeAlias

from prometheus_client.core import Metric

from egm.clock import Clock
from egm.config.cabinet_file import CabinetFile, StateFolder
from egm.devices.interface import Device
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventName
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Snapshot

#: A function that returns metrics; it is called on the machine's event loop.
MetricSource: TypeAlias = Callable[[], Iterable[Metric]]


class BackgroundService(Protocol):
    """A background service that runs while the machine runs, in addition to the device drivers."""

    @property
    def name(self) -> str:
        """Return the background service's name for logs."""
        ...

    async def run(self) -> None:
        """Run the service until it is cancelled.

        If it raises an exception, the machine is stopped and restarted.
        """
        ...

    def process_change(self, snapshot: Snapshot) -> None:
        """React to a change of the machine; ``snapshot`` is the machine's new, durable state.

        This is called on the machine's event loop after each event, and soon after a journal entry that is
        written outside of an event. It must not block.
        """
        ...


@dataclass(frozen=True, slots=True)
class MachineContext:
    """The parts of the machine that a background service may use."""

    engine: StateMachineEngine[PositionMachine]
    """The state-machine engine; its ``machine`` has the journal, the games and the features' state."""
    cabinet_file: CabinetFile
    state_folder: StateFolder
    clock: Clock
    submit_event: Callable[[Event], None]
    """A function that submits an event to the state table. If the event cannot be recorded, the machine stops."""
    devices: tuple[Device, ...] = ()
    """The device drivers of the machine, which run independently of the background services."""
    metric_sources: list[MetricSource] = field(default_factory=list)
    """Functions that return metrics, called on the event loop; a background service may add one."""
    print_message: Callable[[str], None] = lambda _: None
    """A function that prints a line on the console of the person who started the machine."""


#: A function that creates the background services of a feature, as far as the cabinet file requires them.
ServiceFactory = Callable[[MachineContext], Iterable[BackgroundService]]


class DueEventService(ABC):
    """Base class of a service that submits ``due_event`` when a time computed from the machine's memory is reached."""

    name: ClassVar[str]
    due_event: ClassVar[EventName]

    def __init__(self, context: MachineContext) -> None:
        self._context = context
        self._has_changed = asyncio.Event()

    @abstractmethod
    def compute_seconds_to_wait(self) -> float | None:
        """Return the seconds until ``due_event`` must be submitted, or None if it need not be."""

    async def run(self) -> None:
        """Wait until ``due_event`` is due, and submit it if the machine accepts it in its present state; repeat."""
        while True:
            self._has_changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.compute_seconds_to_wait()):
                    await self._has_changed.wait()
                    continue  # a change came first: compute the waiting time again
            if self._context.engine.accepts_event_type(self.due_event):
                self._context.submit_event(Event(self.due_event))

    def process_change(self, snapshot: Snapshot) -> None:  # noqa: ARG002 (it reads the machine's memory, not the snapshot)
        """Compute the waiting time again, because ``due_event`` may now be due earlier, later or not at all."""
        self._has_changed.set()

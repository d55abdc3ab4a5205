"""A test rig for a device driver: the simulated device, a line of any quality, and any number of driver restarts."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from egm.devices.driver import LineDriver
from egm.devices.interface import DeviceEvent
from egm.devices.line import SerialLine
from egm.devices.protocols import PROTOCOLS
from egm.devices.twin import Twin
from egm.testing.cable import LineQuality, LossyCable


@dataclass
class DeviceRig:
    """A simulated device connected by a simulated line, with the events that its driver reports.

    Use it in a coroutine that :func:`egm.testing.jumping_loop.jump` runs: there, simulated time advances without
    waiting.
    """

    protocol: str
    line_quality: LineQuality = "perfect"
    """The reliability of the simulated line."""
    seed: int = 1
    events: list[DeviceEvent] = field(default_factory=list)
    react: Callable[[DeviceEvent], None] = lambda _: None
    """A function called with each event of the driver, in place of the machine."""

    def __post_init__(self) -> None:
        self.cable = LossyCable(self.line_quality, self.seed)
        self.twin: Twin[object] = PROTOCOLS[self.protocol].create_twin("device", self.cable)
        self.cable.plug()
        self._task: asyncio.Task[None] | None = None

    def create_serial_line(self) -> SerialLine:
        """Return a new serial line at the machine's end of the simulated cable, for a driver."""
        return SerialLine("cable", PROTOCOLS[self.protocol].line_settings, self.cable.open)

    def receive_event(self, event: DeviceEvent) -> None:
        """Record an event that the driver reports, and pass it to ``react``."""
        self.events.append(event)
        self.react(event)

    def list_events(self, *kinds: type[DeviceEvent]) -> list[object]:
        """Return the recorded events of the given types, in order."""
        return [event for event in self.events if isinstance(event, kinds)]

    def start(self, driver: LineDriver[object]) -> None:
        """Start a driver, and the actions that the simulated device performs by itself."""
        self.twin.start_autonomous_behaviour()
        self._task = asyncio.ensure_future(driver.run())

    async def stop(self) -> None:
        """Stop the driver; raise the error that ended it, if any."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def has_driver_ended(self) -> bool:
        """Return whether the driver has ended by itself."""
        return self._task is not None and self._task.done()

    async def advance_until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """Advance the simulated time until the condition holds.

        Raises AssertionError if it does not hold within ``seconds``, and the driver's error if the driver has ended.
        """
        loop = asyncio.get_running_loop()
        end_time = loop.time() + seconds
        while not condition():
            if self._task is not None and self._task.done() and not self._task.cancelled():
                self._task.result()
            assert loop.time() < end_time, (
                f"not within {seconds} s; {self.twin.describe()}; {self.events[-8:]}"
            )
            await asyncio.sleep(0.01)

    def perform_action(self, action: str, **values: int | str | bool) -> str:
        """Perform a manual action on the simulated device, such as opening it; return the action's description."""
        return self.twin.perform_action(action, values)

    def close(self) -> None:
        """Unplug the simulated device."""
        self.cable.unplug()

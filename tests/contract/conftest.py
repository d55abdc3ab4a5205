"""A loop on which time jumps, and cables in memory: every timeout of a driver is tested in no time.

The loop runs what is ready; when nothing is, its clock moves to the next timer. The cable is a socket pair
behind the twins' own ``Port``, so a byte written is readable at once and a run is the same every time.
"""

import asyncio
import os
import random
import selectors
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from egm.devices.catalogue import PROTOCOLS
from egm.devices.driver import LineDriver
from egm.devices.interface import DeviceEvent
from egm.devices.line import Handle, LineLostError, LineSettings, SerialLine
from egm.devices.twin import Port, Twin


class _JumpingSelector:
    """Never waits: when no descriptor is ready, the clock moves on instead."""

    def __init__(self) -> None:
        self._real = selectors.DefaultSelector()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> Any:
        ready = self._real.select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise RuntimeError("every task waits for something that no timer or line will bring")
        self.now += timeout
        return []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def jump(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end on a loop whose time jumps."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(coroutine)


class _Descriptor:
    def __init__(self, fileno: int) -> None:
        self._fileno = fileno

    def fileno(self) -> int:
        return self._fileno

    def close(self) -> None:
        os.close(self._fileno)


class Cable(Port):
    """A port whose line is a socket pair; ``line`` says how good it is."""

    def __init__(self, line: str = "perfect", seed: int = 1) -> None:
        super().__init__(Path("cable"))
        self._dice = random.Random(seed)
        self._line = line
        self.split = line == "one_byte"
        self.late_seconds = 0.09 if line == "delayed" else 0.0

    def _make_pair(self) -> tuple[int, int]:
        ours, theirs = socket.socketpair()
        return ours.detach(), theirs.detach()

    def good_again(self) -> None:
        self._line = "perfect"
        self.late_seconds = 0.0

    def _spoiled(self, data: bytes) -> bytes:
        if self._line != "lossy":
            return data
        fate = self._dice.random()
        if fate < 0.08:
            return b""
        if fate < 0.16:
            place = self._dice.randrange(len(data))
            return data[:place] + bytes((data[place] ^ 1 << self._dice.randrange(8),)) + data[place + 1 :]
        if fate < 0.20:
            return data[: self._dice.randrange(len(data))]
        if fate < 0.22:
            return self._dice.randbytes(3) + data
        return data

    def hear(self, data: bytes) -> None:
        if data := self._spoiled(data):
            super().hear(data)

    def send(self, data: bytes) -> None:
        if data := self._spoiled(data):
            super().send(data)

    def open(self, path: str, settings: LineSettings) -> Handle:
        """A fresh descriptor of the machine's end, stale bytes gone, as a UART's are."""
        if not self.plugged:
            raise LineLostError(path, "no such port")
        fileno = os.dup(self._slave)
        os.set_blocking(fileno, False)
        try:
            while os.read(fileno, 4096):
                pass
        except BlockingIOError:
            pass
        return _Descriptor(fileno)


@dataclass
class Rig:
    """A twin, its cable, and as many lives of the driver as a test wants. Use inside ``jump``."""

    protocol: str
    line: str = "perfect"
    seed: int = 1
    events: list[DeviceEvent] = field(default_factory=list)
    react: Callable[[DeviceEvent], None] = lambda _: None

    def __post_init__(self) -> None:
        self.cable = Cable(self.line, self.seed)
        self.twin: Twin[Any] = PROTOCOLS[self.protocol].twin("device", self.cable)
        self.cable.plug()
        self._task: asyncio.Task[None] | None = None

    def serial_line(self) -> SerialLine:
        return SerialLine("cable", PROTOCOLS[self.protocol].line, self.cable.open)

    def sink(self, event: DeviceEvent) -> None:
        self.events.append(event)
        self.react(event)

    def of(self, *kinds: type[DeviceEvent]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    def start(self, driver: LineDriver[Any]) -> None:
        self._task = asyncio.ensure_future(driver.run())

    async def stop(self) -> None:
        """Stop the driver as it stands; raises what ended it, if anything did."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def died(self) -> bool:
        return self._task is not None and self._task.done()

    async def until(self, condition: Callable[[], Any], seconds: float = 60.0) -> None:
        """Let time pass until the condition holds; fails after that much of it."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not condition():
            if self._task is not None and self._task.done() and not self._task.cancelled():
                self._task.result()
            assert loop.time() < end, f"not within {seconds} s; {self.twin.describe()}; {self.events[-8:]}"
            await asyncio.sleep(0.01)

    def hand(self, action: str, **values: int | str | bool) -> str:
        return self.twin.act(action, values)

    def close(self) -> None:
        self.cable.unplug()


@pytest.fixture(params=["perfect", "one_byte", "lossy", "delayed"])
def line(request: pytest.FixtureRequest) -> str:
    return str(request.param)

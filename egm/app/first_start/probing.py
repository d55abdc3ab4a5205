"""Probing of serial ports: which device answers where, asked by the drivers' own protocols.

A driver with ledgers in memory asks as it would at its start; a device that says who it is has answered, and
nothing is taken, paid or printed. Buses are asked first: one of a single wire gives every question back, and
others would take that for an answer (an acceptor of ID-003 says that it idles by the very byte it is asked
with). The printers, whose answers have no check, are asked last.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from serial.tools.list_ports import comports

from egm.app.ports import lone_driver
from egm.config.on_this_computer import stable_name
from egm.devices.catalogue import PROTOCOLS
from egm.devices.interface import CommLost, CommUp, DeviceEvent, Identified
from egm.devices.line import SerialLine

#: In the order in which they are asked.
ORDER: Final = (
    "cctalk_bill",
    "cctalk_coin",
    "cctalk_hopper",
    "ioboard",
    "id003",
    "ebds",
    "tcl",
    "ithaca",
    "wheel",
)
#: A device that works answers its first question; one that starts up is asked again by the person.
PATIENCE_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A device that answered on ``port``; ``bench`` is no port but the simulated twin."""

    protocol: str
    port: str
    identity: str = ""

    @property
    def table(self) -> dict[str, str]:
        """As a cabinet file has it."""
        return {"protocol": self.protocol, "port": self.port}


def found_ports(more: Iterable[str] = ()) -> list[str]:
    """The serial ports of this computer by their stable names, and ``more`` that are named."""
    return [*dict.fromkeys((*more, *(stable_name(port.device) for port in comports())))]


async def probe(
    ports: Iterable[str], doing: Callable[[str, str], None] = lambda _port, _protocol: None
) -> list[Answer]:
    """Ask every port in every protocol. On a bus several may answer; any other port has one device.

    ``doing`` is told each port and protocol before it is asked.
    """
    found: list[Answer] = []
    kinds: set[str] = set()
    for port in ports:
        bus: bool | None = None
        for protocol in ORDER:
            entry = PROTOCOLS[protocol]
            if entry.kind in kinds or (bus is not None and not (bus and entry.is_bus)):
                continue
            doing(port, protocol)
            identity = await _ask(port, protocol)
            if identity is not None:
                found.append(Answer(protocol, port, identity))
                kinds.add(entry.kind)
                bus = entry.is_bus
    return found


async def _ask(port: str, protocol: str) -> str | None:
    """What the device on a port says it is, "" where it only answers; None where nothing does."""
    answered = asyncio.Event()
    lost = asyncio.Event()
    identity = ""

    def heard(event: DeviceEvent) -> None:
        nonlocal identity
        if isinstance(event, Identified):
            identity = event.identity
            answered.set()
        elif isinstance(event, CommUp):
            answered.set()
        elif isinstance(event, CommLost):
            lost.set()

    line = SerialLine(port, PROTOCOLS[protocol].line)
    driver = asyncio.ensure_future(lone_driver(protocol, "probe", line, heard).run())
    waits = [asyncio.ensure_future(each.wait()) for each in (answered, lost)]
    try:
        await asyncio.wait((driver, *waits), timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
        if answered.is_set() and not identity:  # it may say more of itself at once
            await asyncio.sleep(0.3)
    finally:
        for task in (driver, *waits):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await driver
    return identity if answered.is_set() else None

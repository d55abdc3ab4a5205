"""Probing of serial ports: it finds which device replies on which port, by the start-up queries of the drivers.

A probe runs a driver's start-up queries; its ledgers exist only in memory, so nothing is accepted, paid or
printed. A device that replies is found, even if it does not identify itself. Buses are probed first: a single-wire
bus echoes every query, which other protocols would take for a reply (an idle ID-003 acceptor replies with the very
byte of the query). Printers come next to last, because their replies have no checksum; the wheel is last, because it
cannot be queried: it only reports by itself.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from serial.tools.list_ports import comports

from egm.app.ports import create_driver_without_machine
from egm.config.computer_checks import find_stable_port_name
from egm.devices.interface import DeviceEvent, DeviceIdentified, LineLost, LineRestored
from egm.devices.line import SerialLine
from egm.devices.protocols import PROTOCOLS

#: The order in which protocols are tried.
PROTOCOL_PROBING_ORDER: Final = (
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
#: Seconds to wait for a reply. A device that is still starting up may not reply in time: the person probes again.
PROBE_REPLY_TIMEOUT_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class FoundDevice:
    """A device that replied to a probe on ``port``; a ``port`` of ``bench`` stands for a simulated device."""

    protocol: str
    port: str
    identity: str = ""

    @property
    def cabinet_file_table(self) -> dict[str, str]:
        """Return the cabinet file's table of the device that replied to the probe."""
        return {"protocol": self.protocol, "port": self.port}


def find_serial_ports(additional_ports: Iterable[str] = ()) -> list[str]:
    """Return the names of this computer's serial ports, after those in ``additional_ports``.

    The names do not change when other devices are unplugged.
    """
    return [*dict.fromkeys((*additional_ports, *(find_stable_port_name(port.device) for port in comports())))]


async def probe_serial_ports(
    ports: Iterable[str], on_progress: Callable[[str, str], None] = lambda _port, _protocol: None
) -> list[FoundDevice]:
    """Probe the ports with the protocols in their order, and return the devices that replied.

    Once a device has replied, its kind is not probed again. If the port is a bus, several devices may reply; any other
    port has at most one. ``on_progress`` receives each port and protocol before it is probed.
    """
    found_devices: list[FoundDevice] = []
    found_kinds: set[str] = set()
    for port in ports:
        is_bus: bool | None = None  # known once a device has replied on this port
        for protocol in PROTOCOL_PROBING_ORDER:
            protocol_definition = PROTOCOLS[protocol]
            if protocol_definition.device_kind in found_kinds or (
                is_bus is not None and not (is_bus and protocol_definition.is_bus)
            ):
                continue
            on_progress(port, protocol)
            identity = await _query_identity(port, protocol)
            if identity is not None:
                found_devices.append(FoundDevice(protocol, port, identity))
                found_kinds.add(protocol_definition.device_kind)
                is_bus = protocol_definition.is_bus
    return found_devices


async def _query_identity(port: str, protocol: str) -> str | None:
    """Query a port with a protocol; return the identity that the device replies, or None without a reply.

    The result is "" if a device replies without an identity.
    """
    reply_event = asyncio.Event()
    line_lost_event = asyncio.Event()
    identity = ""

    def handle_report(report: DeviceEvent) -> None:
        """Process an event of the probed device: it has replied, or its line is lost.

        The driver raises :class:`LineRestored` at the first reply, with or without an identity.
        """
        nonlocal identity
        if isinstance(report, DeviceIdentified):
            identity = report.identity
            reply_event.set()
        elif isinstance(report, LineRestored):
            reply_event.set()
        elif isinstance(report, LineLost):
            line_lost_event.set()

    line = SerialLine(port, PROTOCOLS[protocol].line_settings)
    driver_task = asyncio.ensure_future(
        create_driver_without_machine(protocol, "probe", line, handle_report).run()
    )
    wait_tasks = [asyncio.ensure_future(event.wait()) for event in (reply_event, line_lost_event)]
    try:
        await asyncio.wait(
            (driver_task, *wait_tasks),
            timeout=PROBE_REPLY_TIMEOUT_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if reply_event.is_set() and not identity:  # the device may identify itself in its next reply
            await asyncio.sleep(0.3)
    finally:
        for task in (driver_task, *wait_tasks):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await driver_task
    return identity if reply_event.is_set() else None

"""The operation of one real device without a machine, as a technician does on a service bench.

Nothing is recorded or credited: the ledgers are in memory. Bills are returned unless the caller keeps them.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from egm.app.ports import create_driver_without_machine
from egm.devices.interface import DeviceEvent, PaperInEscrow
from egm.devices.line import SerialLine
from egm.devices.protocols import PROTOCOLS


class ListenError(Exception):
    """A device cannot be operated as requested; the text says why."""


@runtime_checkable
class _MoneyAcceptor(Protocol):
    """The interface of a driver for a device that accepts money."""

    @property
    def values_cents(self) -> frozenset[int]:
        """Return the values of money that the device can accept, in minor units."""
        ...

    def enable(self, denominations_cents: frozenset[int]) -> None:
        """Accept coins, bills or tickets of these values (minor units), and no others."""
        ...


@runtime_checkable
class _EscrowDevice(Protocol):
    """The interface of a driver for a device that holds a bill or ticket in escrow until it is stacked or returned."""

    def stack(self, escrow_number: int) -> None:
        """Move the bill or ticket in escrow to the cash box."""
        ...

    def return_paper(self, escrow_number: int) -> None:
        """Return the bill or ticket in escrow to the person."""
        ...


class DeviceListener:
    """A session with one device on one port, without a machine."""

    def __init__(
        self,
        protocol: str,
        port: Path,
        report_event: Callable[[DeviceEvent], None],
        *,
        accepted_cents: frozenset[int] = frozenset(),
        keeps_paper: bool = False,
        on_bytes: Callable[[bytes, bool], None] | None = None,
    ) -> None:
        """Create a session with a device on a port; ``report_event`` is called with every event of the device.

        ``accepted_cents`` has the denominations to accept, in minor units. With ``keeps_paper``, bills are stacked
        rather than returned. ``on_bytes`` is called with every block of bytes on the line, and True if it was sent.
        """
        self._protocol = protocol
        self._port = port
        self._report_event = report_event
        self._accepted_cents = accepted_cents
        self._keeps_paper = keeps_paper
        self._on_bytes = on_bytes

    async def run(self, seconds: float | None = None) -> None:
        """Operate the device for ``seconds``, or until cancelled if it is None. Raises :class:`ListenError`."""
        line = SerialLine(str(self._port), PROTOCOLS[self._protocol].line_settings)
        if self._on_bytes is not None:
            line.on_bytes = self._on_bytes
        driver = self._driver = create_driver_without_machine(
            self._protocol, self._port.name, line, self._process_event
        )
        if self._accepted_cents:
            if not isinstance(driver, _MoneyAcceptor):
                raise ListenError(f"{self._protocol} accepts no money")
            unknown_cents = self._accepted_cents - driver.values_cents
            if unknown_cents:
                raise ListenError(
                    f"{self._protocol}: no note or coin of {sorted(unknown_cents)} cents is known"
                )
            driver.enable(self._accepted_cents)
        try:
            async with asyncio.timeout(seconds):
                await driver.run()
        except TimeoutError:
            return

    def _process_event(self, event: DeviceEvent) -> None:
        """Report a device's event; stack the bill or ticket in escrow or return it, as the user requested."""
        self._report_event(event)
        if isinstance(event, PaperInEscrow) and isinstance(self._driver, _EscrowDevice):
            move_paper = self._driver.stack if self._keeps_paper else self._driver.return_paper
            move_paper(event.escrow_number)

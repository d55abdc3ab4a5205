"""Drive one real device without a machine: what a technician does on a service bench.

Nothing is recorded and nothing credited: the ledgers are in memory. A note is given back unless told to keep.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from egm.devices.catalogue import PROTOCOLS
from egm.devices.cctalk.bill import CctalkBillDriver
from egm.devices.cctalk.coin import CctalkCoinDriver
from egm.devices.cctalk.hopper import CctalkHopperDriver
from egm.devices.driver import LineDriver
from egm.devices.ebds.driver import EbdsDriver
from egm.devices.id003.driver import Id003Driver
from egm.devices.interface import DeviceEvent, Escrowed, EventSink
from egm.devices.ioboard.driver import IoBoardDriver
from egm.devices.ithaca.driver import IthacaDriver
from egm.devices.line import SerialLine
from egm.devices.tcl.driver import TclDriver
from egm.devices.transient import (
    TransientCoinLedger,
    TransientEscrowLedger,
    TransientPayoutLedger,
    TransientPrintLedger,
)


class ListenError(Exception):
    """The device cannot be driven as asked: says why."""


_Make = Callable[[str, SerialLine, EventSink], LineDriver[Any]]

#: Protocol -> what makes its driver with a ledger in memory.
DRIVERS: Final[Mapping[str, _Make]] = {
    "id003": lambda name, line, sink: Id003Driver(name, line, sink, TransientEscrowLedger()),
    "ebds": lambda name, line, sink: EbdsDriver(name, line, sink, TransientEscrowLedger()),
    "cctalk_bill": lambda name, line, sink: CctalkBillDriver(name, line, sink, TransientEscrowLedger()),
    "cctalk_coin": lambda name, line, sink: CctalkCoinDriver(name, line, sink, TransientCoinLedger()),
    "cctalk_hopper": lambda name, line, sink: CctalkHopperDriver(name, line, sink, TransientPayoutLedger()),
    "tcl": lambda name, line, sink: TclDriver(name, line, sink, TransientPrintLedger(), {}),
    "ithaca": lambda name, line, sink: IthacaDriver(name, line, sink, TransientPrintLedger(), {}),
    "ioboard": IoBoardDriver,
}


class Listener:
    """One device on one port, with a transient ledger; ``tell`` hears every event."""

    def __init__(
        self,
        protocol: str,
        port: Path,
        tell: Callable[[DeviceEvent], None],
        *,
        accept: frozenset[int] = frozenset(),
        keep: bool = False,
    ) -> None:
        self._protocol = protocol
        self._port = port
        self._tell = tell
        self._accept = accept
        self._keep = keep

    async def run(self, seconds: float | None = None) -> None:
        """Listen for ``seconds``, or until cancelled. Raises :class:`ListenError`."""
        line = SerialLine(str(self._port), PROTOCOLS[self._protocol].line)
        driver = DRIVERS[self._protocol](self._port.name, line, self._heard)
        self._driver = driver
        if self._accept:
            if not isinstance(driver, Id003Driver | EbdsDriver | CctalkBillDriver | CctalkCoinDriver):
                raise ListenError(f"{self._protocol} accepts no money")
            try:
                driver.enable(self._accept)
            except ValueError as error:
                raise ListenError(str(error)) from error
        try:
            async with asyncio.timeout(seconds):
                await driver.run()
        except TimeoutError:
            return

    def _heard(self, event: DeviceEvent) -> None:
        self._tell(event)
        driver = self._driver
        if isinstance(event, Escrowed) and isinstance(driver, Id003Driver | EbdsDriver | CctalkBillDriver):
            answer = driver.stack if self._keep else driver.return_bill
            answer(event.escrow)

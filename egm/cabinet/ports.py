"""The devices of a cabinet file as drivers on their ports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from egm.config import CabinetFile, StateFolder
from egm.devices.catalogue import PROTOCOLS
from egm.devices.id003.driver import Id003Driver
from egm.devices.interface import BillAcceptor, Device, EventSink, IoBoard
from egm.devices.ioboard.driver import IoBoardDriver
from egm.devices.ledgers import EscrowLedger
from egm.devices.line import SerialLine
from egm.errors import OperatorError

#: Drivers of bill acceptors, by protocol.
BILL_ACCEPTORS: Final[Mapping[str, Callable[[str, SerialLine, EventSink, EscrowLedger], BillAcceptor]]] = {
    "id003": Id003Driver,
}

#: Drivers of I/O boards, by protocol.
IO_BOARDS: Final[Mapping[str, Callable[[str, SerialLine, EventSink], IoBoard]]] = {
    "ioboard": IoBoardDriver,
}


@dataclass(frozen=True, slots=True)
class Ports:
    """The drivers of one cabinet. A cabinet without a device of a kind simply does not have it."""

    acceptor: BillAcceptor | None
    io_board: IoBoard | None
    kinds: Mapping[str, str]
    """Device name -> kind."""

    @property
    def drivers(self) -> tuple[Device, ...]:
        """All of them, to be run."""
        return tuple(driver for driver in (self.acceptor, self.io_board) if driver is not None)


def build_ports(
    cabinet_file: CabinetFile, folder: StateFolder, sink: EventSink, ledger: EscrowLedger
) -> Ports:
    """Make the drivers. Raises OperatorError for an unknown protocol or a second device of a kind."""
    acceptor: BillAcceptor | None = None
    io_board: IoBoard | None = None
    kinds: dict[str, str] = {}
    for name, device in cabinet_file.devices.items():
        entry = PROTOCOLS.get(device.protocol)
        if entry is None:
            known = ", ".join(sorted(PROTOCOLS))
            raise OperatorError(f"device {name!r}: no protocol {device.protocol!r}; there are: {known}")
        if entry.kind in kinds.values():
            raise OperatorError(f"device {name!r}: the cabinet already has a {entry.kind}")
        kinds[name] = entry.kind
        line = SerialLine(str(folder.port(name, device)), entry.line)
        if device.protocol in BILL_ACCEPTORS:
            acceptor = BILL_ACCEPTORS[device.protocol](name, line, sink, ledger)
        elif device.protocol in IO_BOARDS:
            io_board = IO_BOARDS[device.protocol](name, line, sink)
        else:
            raise OperatorError(f"device {name!r}: the machine has no use for a {entry.kind} yet")
    return Ports(acceptor, io_board, kinds)

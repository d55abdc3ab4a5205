"""Every protocol the cabinet can be told to use: its line, its twin, and what kind of device speaks it.

A cabinet file names a device, its protocol and its port; the bench and ``egm device`` look the rest up here.
Drivers differ in what they must be given (ledgers, note tables), so the machine makes those itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from egm.devices.cctalk import talk as cctalk
from egm.devices.cctalk.bill_twin import CctalkBillTwin
from egm.devices.cctalk.coin_twin import CctalkCoinTwin
from egm.devices.cctalk.hopper_twin import CctalkHopperTwin
from egm.devices.ebds import driver as ebds
from egm.devices.ebds.twin import EbdsTwin
from egm.devices.id003 import driver as id003
from egm.devices.id003.twin import Id003Twin
from egm.devices.ioboard import driver as ioboard
from egm.devices.ioboard.twin import IoBoardTwin
from egm.devices.ithaca import driver as ithaca
from egm.devices.ithaca.twin import IthacaTwin
from egm.devices.line import LineSettings
from egm.devices.tcl import driver as tcl
from egm.devices.tcl.twin import TclTwin
from egm.devices.twin import Port, Twin


class TwinFactory(Protocol):
    """Makes a twin on a port."""

    def __call__(self, name: str, port: Port, speed: float = 1.0) -> Twin[Any]:
        """``speed`` times faster mechanics."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One protocol."""

    kind: str
    line: LineSettings
    twin: TwinFactory


#: Protocol name (as in cabinet files) -> entry.
PROTOCOLS: Final[Mapping[str, Entry]] = {
    "id003": Entry("bill_acceptor", id003.LINE, Id003Twin),
    "cctalk_bill": Entry("bill_acceptor", cctalk.LINE, CctalkBillTwin),
    "cctalk_coin": Entry("coin_acceptor", cctalk.LINE, CctalkCoinTwin),
    "cctalk_hopper": Entry("hopper", cctalk.LINE, CctalkHopperTwin),
    "ebds": Entry("bill_acceptor", ebds.LINE, EbdsTwin),
    "ithaca": Entry("ticket_printer", ithaca.LINE, IthacaTwin),
    "tcl": Entry("ticket_printer", tcl.LINE, TclTwin),
    "ioboard": Entry("io_board", ioboard.LINE, IoBoardTwin),
}

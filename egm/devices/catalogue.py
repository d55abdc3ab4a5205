"""Every protocol the cabinet can be told to use: its line, its twin, and what kind of device speaks it.

A cabinet file names a device, its protocol and its port; the bench and ``egm device`` look the rest up here.
Drivers differ in what they must be given (ledgers, note tables), so the machine makes those itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from egm.devices.cctalk import talk as cctalk
from egm.devices.cctalk.bill_twin import CctalkBillTwin
from egm.devices.cctalk.coin_twin import CctalkCoinTwin
from egm.devices.cctalk.hopper_twin import CctalkHopperTwin
from egm.devices.ebds import driver as ebds
from egm.devices.ebds.twin import EbdsTwin
from egm.devices.id003 import codec as id003_codec
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
from egm.errors import OperatorError


@dataclass(frozen=True, slots=True)
class Entry:
    """One protocol."""

    kind: str
    line: LineSettings
    twin_class: Callable[..., Twin[Any]]
    first_channel: int | None = None
    """The protocol's code of the first kind of money; None where nothing it says is worth anything."""

    def table(self, name: str, values_cents: tuple[int, ...]) -> dict[int, int]:
        """Code -> minor units, of a device whose channels are worth ``values_cents``; 0 is left out.

        Raises :class:`OperatorError` where the protocol has no such thing, or a value comes twice.
        """
        if self.first_channel is None:
            raise OperatorError(f"devices.{name}.values_cents: a {self.kind} names no money")
        table = {self.first_channel + i: cents for i, cents in enumerate(values_cents) if cents}
        if len(set(table.values())) < len(table):
            raise OperatorError(f"devices.{name}.values_cents: a value comes twice in {values_cents}")
        return table

    def twin(
        self, name: str, port: Port, speed: float = 1.0, values_cents: tuple[int, ...] = ()
    ) -> Twin[Any]:
        """Make a twin, its mechanics ``speed`` times faster; ``values_cents`` as in the cabinet file."""
        values = (self.table(name, values_cents),) if values_cents else ()
        return self.twin_class(name, port, speed, *values)


#: Protocol name (as in cabinet files) -> entry.
PROTOCOLS: Final[Mapping[str, Entry]] = {
    "id003": Entry("bill_acceptor", id003.LINE, Id003Twin, id003_codec.FIRST_NOTE),
    "cctalk_bill": Entry("bill_acceptor", cctalk.LINE, CctalkBillTwin, 1),
    "cctalk_coin": Entry("coin_acceptor", cctalk.LINE, CctalkCoinTwin, 1),
    "cctalk_hopper": Entry("hopper", cctalk.LINE, CctalkHopperTwin),
    "ebds": Entry("bill_acceptor", ebds.LINE, EbdsTwin, 1),
    "ithaca": Entry("ticket_printer", ithaca.LINE, IthacaTwin),
    "tcl": Entry("ticket_printer", tcl.LINE, TclTwin),
    "ioboard": Entry("io_board", ioboard.LINE, IoBoardTwin),
}

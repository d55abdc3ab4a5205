"""The protocols that a cabinet can use: for each, the kind of device, the line settings and the simulated device.

A cabinet file names each device with its protocol and port. The process of the simulated devices and the
command ``egm device`` look up everything else here. The machine creates the drivers itself, because their
arguments differ (ledgers, note tables).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from egm.devices.cctalk import exchange as cctalk
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
from egm.devices.twin import SimulatedPort, Twin
from egm.devices.wheel import driver as wheel
from egm.devices.wheel.twin import WheelTwin
from egm.errors import OperatorError


@dataclass(frozen=True, slots=True)
class DeviceProtocol:
    """One supported device protocol: the kind of device, its line settings, and its simulated device."""

    device_kind: str
    line_settings: LineSettings
    twin_class: Callable[..., Twin[Any]]
    first_channel: int | None = None
    """The number of the protocol's first channel; None if the device accepts no money.

    A channel is the number by which a protocol names a kind of coin or note (see :mod:`egm.devices.channel_values`).
    """
    channel_count: int = 0
    """The number of channels of the protocol; each stands for one kind of coin or note."""
    is_bus: bool = False
    """Whether several devices share a line, each with its own address."""

    def build_channel_value_table(self, name: str, values_cents: tuple[int, ...]) -> dict[int, int]:
        """Return a map from channels to values in minor units.

        ``values_cents`` is the list in the cabinet file: one value per channel, in order; a channel with the value 0 is
        unused and left out. Raises :class:`OperatorError` if the protocol has no channels or fewer than the list has
        values, if a value occurs twice, or if the list has no value.
        """
        if self.first_channel is None:
            raise OperatorError(
                f"devices.{name}.values_cents: a {self.device_kind} accepts no money: remove this key"
            )
        if len(values_cents) > self.channel_count:
            raise OperatorError(
                f"devices.{name}.values_cents: lists {len(values_cents)} channels, "
                f"but the device has {self.channel_count}"
            )
        table = {self.first_channel + i: cents for i, cents in enumerate(values_cents) if cents}
        if len(set(table.values())) < len(table):
            raise OperatorError(f"devices.{name}.values_cents: a value is listed twice in {values_cents}")
        if not table:
            raise OperatorError(
                f"devices.{name}.values_cents: every channel is empty: the device would accept nothing"
            )
        return table

    def create_twin(
        self, name: str, port: SimulatedPort, speed: float = 1.0, values_cents: tuple[int, ...] = ()
    ) -> Twin[Any]:
        """Create a simulated device of this protocol, with mechanics ``speed`` times as fast as real ones.

        ``values_cents`` are the values of its channels, as in the cabinet file.
        """
        values = (self.build_channel_value_table(name, values_cents),) if values_cents else ()
        return self.twin_class(name, port, speed, *values)


#: The supported protocols, by their names in cabinet files.
PROTOCOLS: Final[Mapping[str, DeviceProtocol]] = {
    "id003": DeviceProtocol(
        "bill_acceptor",
        id003.ID003_LINE_SETTINGS,
        Id003Twin,
        id003_codec.FIRST_NOTE_CODE,
        id003_codec.NOTE_CODE_COUNT,
    ),
    "cctalk_bill": DeviceProtocol(
        "bill_acceptor", cctalk.CCTALK_LINE_SETTINGS, CctalkBillTwin, 1, 16, is_bus=True
    ),
    "cctalk_coin": DeviceProtocol(
        "coin_acceptor", cctalk.CCTALK_LINE_SETTINGS, CctalkCoinTwin, 1, 16, is_bus=True
    ),
    "cctalk_hopper": DeviceProtocol("hopper", cctalk.CCTALK_LINE_SETTINGS, CctalkHopperTwin, is_bus=True),
    "ebds": DeviceProtocol("bill_acceptor", ebds.EBDS_LINE_SETTINGS, EbdsTwin, 1, 7),
    "ithaca": DeviceProtocol("ticket_printer", ithaca.ITHACA_LINE_SETTINGS, IthacaTwin),
    "tcl": DeviceProtocol("ticket_printer", tcl.TCL_LINE_SETTINGS, TclTwin),
    "ioboard": DeviceProtocol("io_board", ioboard.IO_BOARD_LINE_SETTINGS, IoBoardTwin),
    "wheel": DeviceProtocol("wheel", wheel.WHEEL_LINE_SETTINGS, WheelTwin),
}

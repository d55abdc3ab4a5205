"""Creation of the drivers for the devices of a cabinet file, on their ports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from egm.config.cabinet_file import CabinetFile, StateFolder
from egm.devices.bench_line import open_bench_line
from egm.devices.cctalk.bill import CctalkBillDriver
from egm.devices.cctalk.coin import CctalkCoinDriver
from egm.devices.cctalk.hopper import CctalkHopperDriver
from egm.devices.channel_values import DOLLAR_CURRENCIES
from egm.devices.ebds.driver import EbdsDriver
from egm.devices.id003.driver import Id003Driver
from egm.devices.interface import (
    BillAcceptor,
    CoinAcceptor,
    Device,
    EventSink,
    Hopper,
    IoBoard,
    TicketPrinter,
)
from egm.devices.ioboard.driver import IoBoardDriver
from egm.devices.ithaca.driver import IthacaDriver
from egm.devices.line import PortOpener, SerialLine, open_port
from egm.devices.protocols import PROTOCOLS
from egm.devices.tcl.driver import TclDriver, TclTemplate
from egm.devices.transient import (
    TransientCoinLedger,
    TransientEscrowLedger,
    TransientPayoutLedger,
    TransientPrintLedger,
)
from egm.devices.wheel.driver import WheelDriver
from egm.money.device_ledgers import DeviceLedgers
from egm.tickets.templates import list_template_ids, load_template


@dataclass(frozen=True, slots=True)
class DriverArguments:
    """Arguments for the creation of a device's driver."""

    device_name: str
    serial_line: SerialLine
    event_sink: EventSink
    ledgers: DeviceLedgers
    channel_values_cents: tuple[dict[int, int], ...]
    """One mapping from note or coin channel to value in minor units, passed to the driver as an additional argument.

    The tuple is empty if the cabinet file gives no values.
    """
    currencies: frozenset[str] = DOLLAR_CURRENCIES
    """The currencies that the device may accept, ISO 4217."""


def _load_resident_templates() -> dict[str, TclTemplate]:
    """Return the templates to store in a ticket printer, by jurisdiction: each has the ticket's fields and bar code."""
    return {
        template_id: TclTemplate(str(number), (*load_template(template_id).field_names, "barcode"))
        for number, template_id in enumerate(list_template_ids())
    }


def _load_template_lines() -> dict[str, list[str]]:
    """Return the lines of a ticket, in order, by jurisdiction, for a printer that stores no templates.

    Each line is a placeholder for one field of the ticket.
    """
    return {
        template_id: [f"{{{name}}}" for name in load_template(template_id).field_names]
        for template_id in list_template_ids()
    }


#: The function that creates each protocol's driver, by the protocol's name in cabinet files.
DRIVER_FACTORY_BY_PROTOCOL: Final[Mapping[str, Callable[[DriverArguments], Device]]] = {
    "id003": lambda arguments: Id003Driver(
        arguments.device_name,
        arguments.serial_line,
        arguments.event_sink,
        arguments.ledgers.escrow_ledger,
        *arguments.channel_values_cents,
        currencies=arguments.currencies,
    ),
    "ebds": lambda arguments: EbdsDriver(
        arguments.device_name,
        arguments.serial_line,
        arguments.event_sink,
        arguments.ledgers.escrow_ledger,
        *arguments.channel_values_cents,
        currencies=arguments.currencies,
    ),
    "cctalk_bill": lambda arguments: CctalkBillDriver(
        arguments.device_name,
        arguments.serial_line,
        arguments.event_sink,
        arguments.ledgers.escrow_ledger,
        *arguments.channel_values_cents,
        currencies=arguments.currencies,
    ),
    "cctalk_coin": lambda arguments: CctalkCoinDriver(
        arguments.device_name,
        arguments.serial_line,
        arguments.event_sink,
        arguments.ledgers.coin_ledger,
        *arguments.channel_values_cents,
        currencies=arguments.currencies,
    ),
    "cctalk_hopper": lambda arguments: CctalkHopperDriver(
        arguments.device_name, arguments.serial_line, arguments.event_sink, arguments.ledgers.payout_ledger
    ),
    "tcl": lambda arguments: TclDriver(
        arguments.device_name,
        arguments.serial_line,
        arguments.event_sink,
        arguments.ledgers.print_ledger,
        _load_resident_templates(),
    ),
    "ithaca": lambda arguments: IthacaDriver(
        arguments.device_name,
        arguments.serial_line,
        arguments.event_sink,
        arguments.ledgers.print_ledger,
        _load_template_lines(),
    ),
    "ioboard": lambda arguments: IoBoardDriver(
        arguments.device_name, arguments.serial_line, arguments.event_sink
    ),
    "wheel": lambda arguments: WheelDriver(
        arguments.device_name, arguments.serial_line, arguments.event_sink
    ),
}

#: The field of :class:`PositionDevices` for the driver of each device kind. The drivers of other kinds are only run.
_DEVICE_FIELD_BY_KIND: Final[Mapping[str, str]] = {
    "bill_acceptor": "bill_acceptor",
    "io_board": "io_board",
    "ticket_printer": "ticket_printer",
    "coin_acceptor": "coin_acceptor",
    "hopper": "hopper",
}


@dataclass(frozen=True, slots=True)
class PositionDevices:
    """The drivers of the devices of one player position; None for a device that the position does not have."""

    drivers: tuple[Device, ...]
    """All drivers to run."""
    kind_by_device_name: Mapping[str, str]
    """The kind of each device (such as ``hopper``), by the device's name."""
    bill_acceptor: BillAcceptor | None = None
    """The bill acceptor's driver."""
    io_board: IoBoard | None = None
    ticket_printer: TicketPrinter | None = None
    coin_acceptor: CoinAcceptor | None = None
    hopper: Hopper | None = None


def create_position_drivers(
    cabinet_file: CabinetFile,
    state_folder: StateFolder,
    event_sink: EventSink,
    ledgers: DeviceLedgers,
    port_opener: PortOpener = open_port,
    position: int = 1,
    *,
    currency: str,
) -> PositionDevices:
    """Create the drivers of a position's devices.

    ``port_opener`` opens the ports. By default, a simulated device is reached through a pseudo-terminal of the bench.
    ``currency`` is the currency for which the devices must be programmed, ISO 4217.
    :class:`CabinetFile` has checked that a position has at most one device of each kind, and that all
    protocols are known.
    """
    kind_by_device_name: dict[str, str] = {}
    drivers: list[Device] = []
    driver_by_field: dict[str, Any] = {}
    line_by_path: dict[str, SerialLine] = {}
    for name, device_table in cabinet_file.devices.items():
        if device_table.position != position:
            continue
        protocol_definition = PROTOCOLS[device_table.protocol]
        kind_by_device_name[name] = protocol_definition.device_kind
        channel_values = (
            (protocol_definition.build_channel_value_table(name, device_table.channel_values_cents),)
            if device_table.channel_values_cents
            else ()
        )
        path = str(state_folder.get_device_port_path(name, device_table))
        device_opener = (
            open_bench_line if device_table.port == "bench" and port_opener is open_port else port_opener
        )
        # ccTalk devices may share a line
        line = line_by_path.setdefault(
            path, SerialLine(path, protocol_definition.line_settings, device_opener)
        )
        arguments = DriverArguments(name, line, event_sink, ledgers, channel_values, frozenset({currency}))
        drivers.append(DRIVER_FACTORY_BY_PROTOCOL[device_table.protocol](arguments))
        if field_name := _DEVICE_FIELD_BY_KIND.get(protocol_definition.device_kind):
            driver_by_field[field_name] = drivers[-1]
    return PositionDevices(drivers=tuple(drivers), kind_by_device_name=kind_by_device_name, **driver_by_field)


def create_driver_without_machine(
    protocol: str, name: str, serial_line: SerialLine, event_sink: EventSink
) -> Device:
    """Return a driver of ``protocol`` with in-memory ledgers, for use without a machine."""
    ledgers = DeviceLedgers(
        escrow_ledger=TransientEscrowLedger(),
        coin_ledger=TransientCoinLedger(),
        payout_ledger=TransientPayoutLedger(),
        print_ledger=TransientPrintLedger(),
    )
    return DRIVER_FACTORY_BY_PROTOCOL[protocol](DriverArguments(name, serial_line, event_sink, ledgers, ()))

"""Device interfaces: what the machine uses of its peripherals, one small interface per kind, and typed events.

A driver owns its line: :meth:`Device.run` opens it, opens it again after a loss, and ends only when cancelled. A
command such as ``enable`` sets a desired state, which the driver restores after every loss of the line. Events are
passed to an :data:`EventSink`, on the event loop, in the order of the line.

Events do not credit money. Everything that must happen exactly once passes through a *ledger*, a durable record
supplied by the machine (:mod:`egm.devices.ledgers`); the events here inform screens, state table and log afterwards.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from egm.errors import InvariantError


class FaultCode(StrEnum):
    """Device faults. Each is raised and cleared by a :class:`DeviceFault` event.

    COMMUNICATION is an exception: :class:`LineLost` raises it, and :class:`LineRestored` clears it. Some values are
    older names, which are stored in journals.
    """

    COMMUNICATION = "communication"  # no reply, or bytes that violate the protocol
    FAILURE = "failure"  # the device reports that it is broken
    JAM = "jam"
    POWER_SUPPLY = "power"  # mains failing, or the device's own supply
    # bill acceptor
    STACKER_JAM = "stacker_jam"
    STACKER_FULL = "stacker_full"
    STACKER_REMOVED = "stacker_removed"
    FRAUD_SUSPECTED = "cheat"  # of a hopper too
    # bill acceptor and coin acceptor
    WRONG_CHANNEL_VALUES = "wrong_values"  # a channel's value differs from the cabinet file and the profile
    CHANNEL_VALUES_UNKNOWN = "values_untold"  # the device cannot report the value of a channel
    # coin acceptor
    COIN_CHEAT = "coin_cheat"  # yo-yo, reverse coin, slug
    COIN_DIVERTER = "diverter"
    SENSOR_STUCK = "sensor_stuck"  # of a hopper too
    COIN_IN_WRONG_CONTAINER = "wrong_lane"  # a coin fell into the wrong container
    COIN_WHILE_DISABLED = "uninvited"  # a coin was accepted while coins were disabled
    # hopper
    HOPPER_EMPTY = "hopper_empty"
    HOPPER_FULL = "hopper_full"  # its upper level sensor is covered
    HOPPER_RUNAWAY = "hopper_runaway"
    # printer
    PAPER_OUT = "paper_out"
    PAPER_LOW = "paper_low"
    PRINT_HEAD_UP = "head_up"
    PRINTER_CHASSIS_OPEN = "chassis_open"
    # input and output board
    BATTERY_LOW = "battery_low"
    HARD_METER_MISMATCH = "hard_meter"  # the counters cannot be set to the metered values


@dataclass(frozen=True, slots=True)
class Banknote:
    """A bill in a bill acceptor, by its value."""

    amount_cents: int


@dataclass(frozen=True, slots=True)
class Barcode:
    """A bar-coded ticket in a bill acceptor: the digits that the acceptor has read."""

    digits: str


#: A bill or a ticket.
PaperContent = Banknote | Barcode


# ---------------------------------------------------------------- events of every device
@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceEvent:
    """Base class of the events that drivers report; ``device`` is the device's name in the cabinet file."""

    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRestored(DeviceEvent):
    """The device replies, for the first time or again; clears :attr:`FaultCode.COMMUNICATION`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLost(DeviceEvent):
    """The device does not reply, or its line was lost; ``reason`` says which.

    Raises :attr:`FaultCode.COMMUNICATION`.
    """

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceIdentified(DeviceEvent):
    """The device has identified itself by a text of its maker, for the inventory and the software page."""

    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFault(DeviceEvent):
    """A fault begins (``is_active``) or ends. ``detail`` adds the device's own description."""

    code: FaultCode
    is_active: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidBytesReceived(DeviceEvent):
    """Bytes received from the device were no valid message. They are counted and logged, and the driver continues."""

    text: str


# ---------------------------------------------------------------- bill acceptor
@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptorReadiness(DeviceEvent):
    """The acceptor has started (``is_accepting``) or stopped accepting bills and tickets, as the machine requested."""

    is_accepting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperInEscrow(DeviceEvent):
    """A bill or ticket waits in escrow.

    The machine replies by calling ``stack``, ``hold_in_escrow`` or ``return_paper`` with the ``escrow_number`` of the
    bill or ticket.
    """

    escrow_number: int
    content: PaperContent


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperStacked(DeviceEvent):
    """The bill or ticket is in the box for good, and the ledger has credited it before this event."""

    content: PaperContent


class ReturnReason(StrEnum):
    """The reason why an inserted bill or ticket was returned to the player."""

    ORDERED_BY_MACHINE = "ordered"  # the machine requested it
    NOT_ENABLED = "not_enabled"  # a denomination that is not enabled now
    NO_DECISION_IN_TIME = "no_answer"  # the machine did not decide in time
    RETURNED_BY_ACCEPTOR = "device"  # the acceptor returned it by itself (power loss, pulled back, time-out)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperReturned(DeviceEvent):
    """A bill or ticket was returned to the player from escrow.

    ``content``: None if its value or number is unknown.
    """

    content: PaperContent | None
    reason: ReturnReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRejected(DeviceEvent):
    """A bill or coin acceptor has rejected a bill, ticket or coin, for example because it did not recognise it.

    ``reason`` is the device's own reason.
    """

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountDisputed(DeviceEvent):
    """An amount is in doubt: it was neither credited nor recorded as paid. The ledger stores it for a person to decide.

    Either it is not known where a bill, a ticket or some coins are, or the hopper has paid coins without an order.
    """

    text: str


# ---------------------------------------------------------------- coins
@dataclass(frozen=True, slots=True, kw_only=True)
class CoinAccepted(DeviceEvent):
    """A coin was accepted and the ledger has credited it.

    ``to_hopper``: it fell into the hopper, otherwise into the drop box.
    """

    amount_cents: int
    to_hopper: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutProgress(DeviceEvent):
    """The hopper is paying: how many coins it has counted out so far, and how many were ordered."""

    paid_coins: int
    ordered_coins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutFinished(DeviceEvent):
    """The hopper has stopped after ``paid_coins`` coins; fewer than ordered is a short payment."""

    payout_id: str
    paid_coins: int
    ordered_coins: int


# ---------------------------------------------------------------- printer
class PrintState(StrEnum):
    """States of one printed ticket, the same for every printer.

    DISPUTED: it is unknown whether a complete ticket came out.
    """

    PENDING = "pending"
    PRINTING = "printing"
    BARCODE_DONE = "barcode_done"
    TAKEN = "taken"
    FAILED = "failed"
    DISPUTED = "disputed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintProgress(DeviceEvent):
    """A printed ticket entered ``state``; the ledger has recorded it first."""

    job_id: str
    state: PrintState
    detail: str = ""


# ---------------------------------------------------------------- input and output board
@dataclass(frozen=True, slots=True, kw_only=True)
class DoorChanged(DeviceEvent):
    """A door was opened or closed.

    ``was_unobserved``: no machine was connected to the I/O board at that time, for example because the power was off.
    """

    door: str
    is_open: bool
    was_unobserved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTurned(DeviceEvent):
    """A key switch was turned on or off.

    ``was_unobserved``: no machine was connected to the I/O board at that time, for example because the power was off.
    It is also true if the event may be a repetition, because the I/O board reports the turn after the line was
    interrupted.
    """

    key: str
    is_on: bool
    was_unobserved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPressed(DeviceEvent):
    """A button was pressed. A press while no machine was connected is never reported, because it is outdated."""

    button: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsReported(DeviceEvent):
    """The I/O board's complete inputs, at start and after a loss of the line: open doors and switched-on keys."""

    doors_open: frozenset[str]
    keys_on: frozenset[str]


# ---------------------------------------------------------------- wheel
class WheelPhase(StrEnum):
    """The phase of the current spin of a real wheel, reduced to the phases that the machine distinguishes."""

    WAITING = "waiting"
    BETTING = "betting"
    NO_MORE_BETS = "no_more_bets"
    NUMBER = "number"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelPhaseReported(DeviceEvent):
    """A roulette wheel's report on a spin, if it differs from the last one since the line was opened.

    ``number`` is the winning number once the ball is at rest and the spin is valid, otherwise None. ``is_void``: the
    wheel has declared the spin invalid, and the ball is launched again.
    """

    phase: WheelPhase
    spin_counter: int
    """The number that the wheel's reader has given the spin; it counts spins, restarts and wraps."""
    number: int | None = None
    is_void: bool = False


#: Receives the events of the drivers.
EventSink = Callable[[DeviceEvent], None]


# ---------------------------------------------------------------- orders
@dataclass(frozen=True, slots=True, kw_only=True)
class TicketJob:
    """A ticket to print.

    ``fields`` are the texts of the template's fields, by name. ``barcode`` is an even number of digits.
    """

    job_id: str
    template: str
    barcode: str
    fields: Mapping[str, str] = field(default_factory=dict)


# ---------------------------------------------------------------- the interfaces
class Device(Protocol):
    """Common interface of all drivers."""

    @property
    def name(self) -> str:
        """Return the device's name in the cabinet file."""

    def restore_faults(self, codes: frozenset[FaultCode]) -> None:
        """Restore the faults that were active when the machine stopped.

        Each is cleared once the device no longer reports it.
        """

    async def run(self) -> None:
        """Operate the device's line until cancelled: open, poll, recover, reopen. Only a failing ledger ends it."""


class BillAcceptor(Device, Protocol):
    """A device that accepts bills and tickets into escrow, and stacks or returns them as ordered."""

    def enable(self, denominations_cents: frozenset[int], *, accepts_tickets: bool = False) -> None:
        """Accept notes of these values, if the acceptor has codes for them; if ``accepts_tickets``, tickets too."""

    def disable(self) -> None:
        """Accept no more bills or tickets. One that is already in escrow still waits for the machine's decision."""

    def stack(self, escrow_number: int) -> None:
        """Order the acceptor to stack the bill or ticket ``escrow_number``; do nothing if it has left escrow."""

    def return_paper(self, escrow_number: int) -> None:
        """Order the acceptor to return the bill or ticket ``escrow_number``; do nothing if it has left escrow."""

    def hold_in_escrow(self, escrow_number: int) -> None:
        """Keep the bill or ticket ``escrow_number`` in escrow until ``stack`` or ``return_paper`` is called for it.

        A machine calls this while it queries a host about a ticket.
        """


class CoinAcceptor(Device, Protocol):
    """Interface of a coin acceptor; there is no escrow, so an accepted coin cannot be returned."""

    def enable(self, denominations_cents: frozenset[int]) -> None:
        """Accept coins of these values; a value for which the acceptor has no channel is ignored."""

    def disable(self) -> None:
        """Accept no coins: all of them fall through to the tray."""

    def route_coins(self, *, to_hopper: bool) -> None:
        """Set the diverter for accepted coins: to the hopper, or to the drop box in the cabinet stand."""


class Hopper(Device, Protocol):
    """Interface of a hopper, which pays coins of one denomination."""

    def pay(self, payout_id: str, coins: int) -> None:
        """Pay ``coins``, exactly once for each ``payout_id``. Raises ValueError while another payout is open."""

    def stop(self) -> None:
        """Stop paying immediately; :class:`PayoutFinished` reports what was paid."""


class TicketPrinter(Device, Protocol):
    """Interface of a ticket printer, which prints one ticket at a time."""

    def print_ticket(self, job: TicketJob) -> None:
        """Print the ticket, exactly once per ``job_id``. Raises ValueError while the last ticket is not finished."""


class IoBoard(Device, Protocol):
    """Interface of the input and output board: doors, key switches, buttons, lamps, tower light and bell."""

    def light_lamps(self, lamp_names: frozenset[str]) -> None:
        """Light exactly these button lamps; all others go out."""

    def light_tower(self, light_names: frozenset[str]) -> None:
        """Light exactly these elements of the light tower; all others go out."""

    def switch_bell(self, *, on: bool) -> None:
        """Switch the alarm bell on or off; it is a bell of its own, not a sound of the screen's loudspeaker."""
        ...

    @property
    def hard_meter_pulse_counts(self) -> tuple[int, ...] | None:
        """Return how many pulses each hard meter has been given since the I/O board was fitted.

        Return None until the board has reported this.
        """
        ...

    def start_reading_hard_meters(self) -> None:
        """Start to query the pulse counts of the hard meters that this I/O board drives."""
        ...

    def advance_hard_meters(self, pulse_totals: tuple[int, ...]) -> None:
        """Give each hard meter the pulses that it lacks to reach its total in ``pulse_totals``; never turn one back.

        Raises ValueError for totals that the board cannot store.
        """


@dataclass(slots=True)
class MoneyDevices:
    """The money devices of a player position to which the machine sends orders; None for each one that it lacks.

    The coin acceptor is not among them: it credits each coin through its ledger, without an order.
    """

    acceptor: BillAcceptor | None = None
    printer: TicketPrinter | None = None
    hopper: Hopper | None = None

    @property
    def required_acceptor(self) -> BillAcceptor:
        """Return the bill acceptor. Raises InvariantError if the player position has none."""
        if self.acceptor is None:
            raise InvariantError("a bill or ticket is being processed, but the position has no bill acceptor")
        return self.acceptor

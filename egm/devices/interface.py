"""Device interfaces: the machine's view of its peripherals, one small interface for each kind, and typed events.

A driver owns its line: :meth:`Device.run` opens it, keeps it open, recovers it, and ends only when cancelled.
Commands set a requested state (``enable``, ``lamps``), which the driver establishes again after every loss of
the line. Events go to an :data:`EventSink`, called on the event loop, in the order of the line.

Events do not transfer money. What must happen exactly once passes through a *ledger* supplied by the machine
(:mod:`egm.devices.ledgers`); the events here inform screens, state table and log about it afterwards.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from egm.errors import InvariantError


class FaultCode(StrEnum):
    """The possible faults of a device. Each is raised and cleared by a :class:`Fault` event."""

    COMMUNICATION = "communication"  # silent, or bytes that are no protocol
    FAILURE = "failure"  # the device says it is broken
    JAM = "jam"
    POWER = "power"  # mains failing, or the device's own supply
    # bill acceptor
    STACKER_JAM = "stacker_jam"
    STACKER_FULL = "stacker_full"
    STACKER_REMOVED = "stacker_removed"
    CHEAT = "cheat"
    # bill and coin acceptor
    WRONG_VALUES = "wrong_values"  # a channel takes other money than the cabinet file and the profile say
    VALUES_UNTOLD = "values_untold"  # it cannot say what a channel takes
    # coin acceptor
    COIN_CHEAT = "coin_cheat"  # yo-yo, reverse coin, slug
    DIVERTER = "diverter"
    SENSOR_STUCK = "sensor_stuck"
    WRONG_LANE = "wrong_lane"  # a coin fell where it was not sent
    UNINVITED = "uninvited"  # a coin came in while coins were refused
    # hopper
    HOPPER_EMPTY = "hopper_empty"
    HOPPER_FULL = "hopper_full"  # its upper level sensor is covered
    HOPPER_RUNAWAY = "hopper_runaway"
    # printer
    PAPER_OUT = "paper_out"
    PAPER_LOW = "paper_low"
    HEAD_UP = "head_up"
    CHASSIS_OPEN = "chassis_open"
    # input and output board
    BATTERY_LOW = "battery_low"
    HARD_METER = "hard_meter"  # the counters cannot be brought to what the machine has metered


@dataclass(frozen=True, slots=True)
class Note:
    """A bank note in escrow."""

    amount_cents: int


@dataclass(frozen=True, slots=True)
class Barcode:
    """A bar-coded ticket in escrow: its digits as read."""

    digits: str


Content = Note | Barcode


# ---------------------------------------------------------------- events of every device
@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceEvent:
    """Something a device did; ``device`` is its name in the cabinet file."""

    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommUp(DeviceEvent):
    """The device answers, for the first time or again; clears :attr:`FaultCode.COMMUNICATION`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommLost(DeviceEvent):
    """The device does not answer, or its line is gone: ``why`` in words. Raises ``COMMUNICATION``."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified(DeviceEvent):
    """The device's identification of itself: free text of its manufacturer, for the inventory and the software page."""

    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(DeviceEvent):
    """A fault was raised (``active``) or cleared. ``detail`` has the device's own text."""

    code: FaultCode
    active: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineError(DeviceEvent):
    """Bytes were refused by the codec. Counted and logged; the driver has already recovered."""

    text: str


# ---------------------------------------------------------------- bill acceptor
@dataclass(frozen=True, slots=True, kw_only=True)
class Ready(DeviceEvent):
    """The acceptor now takes (``accepting``) or refuses what is offered: the requested state is reached."""

    accepting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Escrowed(DeviceEvent):
    """A note or ticket waits in escrow. Answer ``stack``, ``hold`` or ``return_bill`` with ``escrow``."""

    escrow: int
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked(DeviceEvent):
    """The content is irrevocably in the box and the ledger has recorded it (this time or before)."""

    content: Content


class ReturnReason(StrEnum):
    """Why an offered note or ticket was not kept."""

    ORDERED = "ordered"  # the machine asked for it
    NOT_ENABLED = "not_enabled"  # a denomination that is not accepted now
    NO_ANSWER = "no_answer"  # the machine did not decide in time
    DEVICE = "device"  # the acceptor gave it back by itself (power loss, pulled back, time-out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned(DeviceEvent):
    """An escrowed content was returned to the player. ``content`` is None if the driver never identified it."""

    content: Content | None
    reason: ReturnReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected(DeviceEvent):
    """Something offered was not recognised, or refused by the device; ``reason`` in the protocol's words."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputed(DeviceEvent):
    """An outcome that the device's data cannot settle: nothing was credited, and the ledger holds it for a person."""

    text: str


# ---------------------------------------------------------------- coins
@dataclass(frozen=True, slots=True, kw_only=True)
class CoinAccepted(DeviceEvent):
    """A coin passed the acceptor and the ledger has it; ``to_hopper`` says where the diverter sent it."""

    amount_cents: int
    to_hopper: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutProgress(DeviceEvent):
    """The hopper is paying: coins counted out of those ordered."""

    paid_coins: int
    ordered_coins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutFinished(DeviceEvent):
    """The hopper has stopped: ``paid_coins`` left it; fewer than ordered is a short pay."""

    payout_id: str
    paid_coins: int
    ordered_coins: int


# ---------------------------------------------------------------- printer
class PrintState(StrEnum):
    """The states of a printed ticket, the same for every printer.

    DISPUTED means that nobody knows whether it was printed completely.
    """

    PENDING = "pending"
    PRINTING = "printing"
    BARCODE_DONE = "barcode_done"
    TAKEN = "taken"
    FAILED = "failed"
    DISPUTED = "disputed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintProgress(DeviceEvent):
    """A ticket moved to ``state``; the ledger has recorded it first."""

    job_id: str
    state: PrintState
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketJob:
    """A ticket to print: ``fields`` by name for the template, ``barcode`` an even number of digits."""

    job_id: str
    template: str
    barcode: str
    fields: Mapping[str, str] = field(default_factory=dict)


# ---------------------------------------------------------------- input and output board
@dataclass(frozen=True, slots=True, kw_only=True)
class DoorChanged(DeviceEvent):
    """A door opened or closed; ``unattended`` when no machine was listening (power-off access)."""

    door: str
    open: bool
    unattended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTurned(DeviceEvent):
    """A key switch was turned on or off. ``unattended`` as for doors."""

    key: str
    on: bool
    unattended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPressed(DeviceEvent):
    """A button was pressed. A press while no machine was listening is never reported, because it is out of date."""

    button: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsKnown(DeviceEvent):
    """The board's complete state, at start and after every loss of the line: doors open and keys on, by name."""

    doors_open: frozenset[str]
    keys_on: frozenset[str]


# ---------------------------------------------------------------- wheel
class WheelPhase(StrEnum):
    """The phase of a game on a real wheel."""

    WAITING = "waiting"
    BETTING = "betting"
    NO_MORE_BETS = "no_more_bets"
    NUMBER = "number"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelTurned(DeviceEvent):
    """A wheel has reached another phase of its game ``spin``, or has a fault.

    ``number`` is the pocket, if the ball has stopped and the spin is valid. ``void`` means that this spin
    does not count, and the ball is launched again. The wheel itself decides whether a spin is valid: it
    counts the turns.
    """

    phase: WheelPhase
    spin: int
    number: int | None = None
    void: bool = False


EventSink = Callable[[DeviceEvent], None]


# ---------------------------------------------------------------- the interfaces
class Device(Protocol):
    """The interface of every driver."""

    @property
    def name(self) -> str:
        """Return the device's name in the cabinet file."""

    def stood(self, codes: frozenset[FaultCode]) -> None:
        """Restore the faults that were active when the machine last ran; each is cleared once it no longer applies."""

    async def run(self) -> None:
        """Own the line until cancelled: open, poll, recover, reopen. Only a ledger that fails ends it."""


class BillAcceptor(Device, Protocol):
    """A bill acceptor: takes notes and tickets into escrow, and stacks or returns them on command."""

    def enable(self, denominations_cents: frozenset[int], *, barcodes: bool = False) -> None:
        """Accept these notes as far as the acceptor knows them, and tickets if ``barcodes``."""

    def disable(self) -> None:
        """Accept nothing more. What is already in escrow still waits for its answer."""

    def stack(self, escrow: int) -> None:
        """Keep what is in ``escrow``; ignored when that escrow is no longer the present one."""

    def return_bill(self, escrow: int) -> None:
        """Give back what is in ``escrow``; ignored when that escrow is no longer the present one."""

    def hold(self, escrow: int) -> None:
        """Keep it in escrow until ``stack`` or ``return_bill`` (a host is being asked)."""


class CoinAcceptor(Device, Protocol):
    """A coin acceptor. It has no escrow: a coin that passed is accepted."""

    def enable(self, denominations_cents: frozenset[int]) -> None:
        """Accept these coins, as far as the acceptor has a slot for them."""

    def disable(self) -> None:
        """Accept none: coins fall through to the tray."""

    def divert(self, *, to_hopper: bool) -> None:
        """Route accepted coins to the hopper, or to the drop box in the base."""


class Hopper(Device, Protocol):
    """A hopper that pays coins of one denomination."""

    def pay(self, payout_id: str, coins: int) -> None:
        """Pay ``coins``; exactly once per ``payout_id`` (the ledger remembers). Refused while one is open."""

    def stop(self) -> None:
        """Emergency stop; what was paid is reported by :class:`PayoutFinished`."""


class TicketPrinter(Device, Protocol):
    """A printer of one ticket at a time."""

    def print_ticket(self, job: TicketJob) -> None:
        """Print; exactly once per ``job_id``. Raises ValueError while the last ticket is not finished."""


class IoBoard(Device, Protocol):
    """An I/O board: doors, key switches, buttons, lamps, tower light and bell."""

    def lamps(self, lit: frozenset[str]) -> None:
        """Light exactly these button lamps."""

    def tower(self, lights: frozenset[str]) -> None:
        """Light exactly these tower elements."""

    def bell(self, *, on: bool) -> None:
        """Switch the alarm that does not depend on the screen's loudspeaker."""
        ...

    @property
    def hard_meters_counted(self) -> tuple[int, ...] | None:
        """Return the pulses that each hard meter has received since the board was fitted, or None if not yet known."""
        ...

    def watch_hard_meters(self) -> None:
        """Query this board's hard meters from now on."""
        ...

    def hard_meters(self, totals: tuple[int, ...]) -> None:
        """Bring the hard meters to these totals, never back, and each pulse once. Raises ValueError."""


@dataclass(slots=True)
class Devices:
    """The devices of a player position that take and pay out money, as far as it has them."""

    acceptor: BillAcceptor | None = None
    printer: TicketPrinter | None = None
    hopper: Hopper | None = None

    @property
    def the_acceptor(self) -> BillAcceptor:
        """Return the bill acceptor, which must exist."""
        if self.acceptor is None:
            raise InvariantError("a paper without an acceptor")
        return self.acceptor

"""Device ledger interfaces: what must be stored so that money in a device counts exactly once.

The drivers write nothing to disk. The machine passes each driver a ledger, and every method of a ledger that
changes it **returns only when the change is durable**. If a method raises, the driver sends nothing and its
``run`` ends with that error: a machine that cannot record must not continue.

If the device's data cannot show who owes whom, the ledger opens a *disputed amount*: a person decides it,
between the bounds that the driver knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from egm.devices.interface import Content, PrintState, TicketJob


class LedgerOrderError(Exception):
    """A ledger step was out of order; the message says which step, and what is open."""


# ---------------------------------------------------------------- notes and tickets
class EscrowPhase(StrEnum):
    """The last recorded step of an ordered stacking."""

    ORDERED = "ordered"  # we have decided to keep it; nothing is credited
    VENDED = "vended"  # it is in the box and credited; the acceptor may not know that we know


@dataclass(frozen=True, slots=True, kw_only=True)
class EscrowRecord:
    """The one note or ticket whose stacking is not finished. ``mark``: see :meth:`EscrowLedger.set_mark`.

    ``outward``: the acceptor has said that it gives the content back.
    """

    content: Content
    phase: EscrowPhase
    mark: int = 0
    outward: bool = False


class EscrowLedger(Protocol):
    """The machine's durable record of the note or ticket being stacked. At most one is open."""

    def pending(self) -> EscrowRecord | None:
        """Return the open record, as it survived a restart."""

    def may_order(self) -> bool:
        """Return whether the machine still takes what is in escrow: it may have stopped since it decided."""

    def stack_ordered(self, content: Content, mark: int) -> None:
        """Open a record in phase ORDERED; this is written before the order to stack is sent."""

    def vended(self) -> None:
        """Credit the open record's content, which is in the box, and set phase VENDED, in one transaction."""

    def vend_confirmed(self) -> None:
        """Close a VENDED record: the acceptor will not report this content again."""

    def not_stacked(self, why: str) -> None:
        """Close an ORDERED record without credit: the content never reached the box."""

    def lost_track(self, why: str) -> None:
        """Close an ORDERED record as a disputed amount: nobody knows where the content went."""

    def contradicted(self, why: str, most_cents: int) -> None:
        """Open a disputed amount of up to ``most_cents``: the acceptor has taken what was never ordered."""

    def moving(self, *, outward: bool) -> None:
        """Store with the open ORDERED record whether the acceptor reports that it returns the content."""

    def set_mark(self, mark: int) -> None:
        """Store the driver's position in the line protocol with the open record; its meaning is the driver's."""


# ---------------------------------------------------------------- coins
class CoinLedger(Protocol):
    """The ledger of coins. Coins have no escrow; their acceptor numbers its events, and the last number is stored."""

    def position(self) -> int | None:
        """Return the last recorded event of the acceptor (its meaning is the driver's); None before the first."""

    def coins_in(
        self, coins: tuple[tuple[int, bool], ...], position: int, doubt: "CoinDoubt | None" = None
    ) -> None:
        """Credit ``(amount_cents, to_hopper)`` for each coin and move the position, in one transaction.

        If there is a ``doubt``, open a disputed amount too.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinDoubt:
    """Coins that cannot be credited: why, and the bounds of their value."""

    why: str
    least_cents: int
    most_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRecord:
    """A hopper payout that is not finished, and the hopper's two counters when it was ordered.

    ``serial``: which hopper has it, by its serial number in hexadecimal; empty where that is not known.
    ``paid_coins``: how many were seen to have left it.
    """

    payout_id: str
    coins: int
    events_before: int
    count_before: int
    serial: str = ""
    paid_coins: int = 0


class PayoutLedger(Protocol):
    """The machine's durable record of the payout in progress. At most one is open."""

    def pending(self) -> PayoutRecord | None:
        """Return the open payout, as it survived a restart."""

    def ordered(self, record: PayoutRecord) -> None:
        """Open a payout; this is written before the order to pay is sent."""

    def progressed(self, payout_id: str, paid_coins: int) -> None:
        """Record how many of its coins have been seen to leave."""

    def finished(self, payout_id: str, paid_coins: int, doubt: str = "") -> None:
        """Close it with the coins that the hopper counted out; the money leaves the credit meter here.

        ``doubt`` is why the outcome of the other coins is unknown; they become a disputed amount.
        """

    def not_ordered(self, payout_id: str) -> None:
        """Close a payout that was requested and never ordered: the hopper received no command, and paid nothing."""

    def strayed(self, coins: int, why: str) -> None:
        """Record coins that left the hopper without an order."""


# ---------------------------------------------------------------- tickets out
#: Which states may follow which. A ticket whose bar code is done is money: it can be taken, not fail.
AFTER: Final[Mapping[PrintState, frozenset[PrintState]]] = {
    PrintState.PENDING: frozenset({PrintState.PRINTING, PrintState.FAILED}),
    PrintState.PRINTING: frozenset({PrintState.BARCODE_DONE, PrintState.FAILED, PrintState.DISPUTED}),
    PrintState.BARCODE_DONE: frozenset({PrintState.TAKEN}),
    PrintState.TAKEN: frozenset(),
    PrintState.FAILED: frozenset(),
    PrintState.DISPUTED: frozenset(),
}
#: The states that end a ticket.
CLOSED: Final = frozenset({PrintState.TAKEN, PrintState.FAILED, PrintState.DISPUTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintRecord:
    """A ticket whose printing is not finished."""

    job: TicketJob
    state: PrintState


class PrintLedger(Protocol):
    """The machine's durable record of the ticket being printed. At most one is open."""

    def pending(self) -> PrintRecord | None:
        """Return the open ticket (PENDING, PRINTING or BARCODE_DONE), as it survived a restart."""

    def opened(self, job: TicketJob) -> None:
        """Open a ticket as PENDING."""

    def moved(self, job_id: str, state: PrintState, detail: str) -> None:
        """Record its next state. BARCODE_DONE makes it money; TAKEN, FAILED and DISPUTED close it."""

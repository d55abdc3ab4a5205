"""Device ledger interfaces: the state that must be durable so that money in a device counts exactly once.

The drivers write nothing to disk. The machine gives each driver a ledger, and every method of a ledger that
changes it **returns only when the change is durable**. If a method raises, the driver sends nothing and its
``run`` ends with that error: a machine that cannot record must not continue.

If a device's reports do not settle whether money was paid or taken, the ledger opens a *disputed amount*:
staff decide it, within the bounds known to the driver.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from egm.devices.interface import Content, PrintState, TicketJob


class LedgerOrderError(Exception):
    """A ledger method was called out of order: which step, and what is open."""


# ---------------------------------------------------------------- notes and tickets
class EscrowPhase(StrEnum):
    """The progress of an ordered stacking, as far as the machine knows."""

    ORDERED = "ordered"  # stacking is ordered; nothing is credited
    VENDED = "vended"  # stacked and credited; the acceptor may not have received our acknowledgement


@dataclass(frozen=True, slots=True, kw_only=True)
class EscrowRecord:
    """The bill or ticket whose stacking is not finished. ``mark``: see :meth:`EscrowLedger.set_mark`.

    ``outward``: the acceptor has reported that it is returning the content.
    """

    content: Content
    phase: EscrowPhase
    mark: int = 0
    outward: bool = False


class EscrowLedger(Protocol):
    """The machine's durable record of the bill or ticket being stacked. At most one is open."""

    def pending(self) -> EscrowRecord | None:
        """Return the open record, also after a restart, or None."""

    def may_order(self) -> bool:
        """Return whether the machine still accepts what is in escrow: it may have stopped since the decision."""

    def stack_ordered(self, content: Content, mark: int) -> None:
        """Open a record in phase ORDERED, before the command to stack is sent."""

    def vended(self) -> None:
        """Credit the open record's content, which is in the box, and set phase VENDED, in one transaction."""

    def vend_confirmed(self) -> None:
        """Close a VENDED record: the acceptor will not report this content again."""

    def not_stacked(self, why: str) -> None:
        """Close an ORDERED record without credit: the content never reached the box."""

    def lost_track(self, why: str) -> None:
        """Close an ORDERED record as a disputed amount: it is unknown where the content is."""

    def contradicted(self, why: str, most_cents: int) -> None:
        """Open a disputed amount of up to ``most_cents``: the acceptor has stacked what was never ordered."""

    def moving(self, *, outward: bool) -> None:
        """Store with the open ORDERED record whether the acceptor reports that it is returning the content."""

    def set_mark(self, mark: int) -> None:
        """Store the driver's protocol position with the open record; only the driver interprets it."""


# ---------------------------------------------------------------- coins
class CoinLedger(Protocol):
    """The durable record of coins: they have no escrow, but the acceptor numbers its events."""

    def position(self) -> int | None:
        """Return the acceptor's event position recorded so far (only the driver interprets it), or None."""

    def coins_in(
        self, coins: tuple[tuple[int, bool], ...], position: int, doubt: "CoinDoubt | None" = None
    ) -> None:
        """Credit ``(amount_cents, to_hopper)`` for each coin and advance the position, in one transaction.

        If there is a ``doubt``, the transaction also opens a disputed amount.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinDoubt:
    """Coins that cannot be credited: why, and the bounds of their amount."""

    why: str
    least_cents: int
    most_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRecord:
    """A hopper payout that is not finished, and the hopper's two counters when it was ordered.

    ``serial``: the hopper's serial number in hexadecimal, or empty if unknown. ``paid_coins``: the coins
    counted out so far.
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
        """Return the open payout, also after a restart, or None."""

    def ordered(self, record: PayoutRecord) -> None:
        """Open a payout, before the command to pay is sent."""

    def progressed(self, payout_id: str, paid_coins: int) -> None:
        """Record the number of coins counted out so far."""

    def finished(self, payout_id: str, paid_coins: int, doubt: str = "") -> None:
        """Close the payout with the coins counted out; the money leaves the credit meter here.

        ``doubt``: why it is unknown whether the other coins left; their amount is then disputed.
        """

    def not_ordered(self, payout_id: str) -> None:
        """Close a payout that was requested but never sent to the hopper, which paid nothing."""

    def strayed(self, coins: int, why: str) -> None:
        """Record coins that left the hopper without an order."""


# ---------------------------------------------------------------- tickets out
#: The states that may follow each state. A ticket whose bar code is done is money: it can be taken, but not
#: fail.
AFTER: Final[Mapping[PrintState, frozenset[PrintState]]] = {
    PrintState.PENDING: frozenset({PrintState.PRINTING, PrintState.FAILED}),
    PrintState.PRINTING: frozenset({PrintState.BARCODE_DONE, PrintState.FAILED, PrintState.DISPUTED}),
    PrintState.BARCODE_DONE: frozenset({PrintState.TAKEN}),
    PrintState.TAKEN: frozenset(),
    PrintState.FAILED: frozenset(),
    PrintState.DISPUTED: frozenset(),
}
#: The final states of a ticket.
CLOSED: Final = frozenset({PrintState.TAKEN, PrintState.FAILED, PrintState.DISPUTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintRecord:
    """A ticket whose printing is not finished."""

    job: TicketJob
    state: PrintState


class PrintLedger(Protocol):
    """The machine's durable record of the ticket being printed. At most one is open."""

    def pending(self) -> PrintRecord | None:
        """Return the open ticket (PENDING, PRINTING or BARCODE_DONE), also after a restart, or None."""

    def opened(self, job: TicketJob) -> None:
        """Open a ticket as PENDING."""

    def moved(self, job_id: str, state: PrintState, detail: str) -> None:
        """Record the ticket's next state. BARCODE_DONE makes it money; TAKEN, FAILED and DISPUTED close it."""

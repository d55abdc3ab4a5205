"""Device ledger interfaces: durable records by which money in a device counts exactly once.

A driver stores nothing itself. The machine passes each driver a ledger. Every method that changes the ledger **returns
only when the change is durable**. If a method raises, the driver sends nothing and its ``run`` ends with that error: a
machine that cannot record must stop.

If the device's reports do not show who owns an amount, the ledger opens a *disputed amount*: staff decide it, between
the bounds that the driver knows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from egm.devices.interface import PaperContent, PrintState, TicketJob
from egm.record_codec import stored_as


class LedgerOrderError(Exception):
    """Raised if a driver called a method of its ledger out of order; the text names the call and the open record."""


# ---------------------------------------------------------------- bills and tickets
class EscrowPhase(StrEnum):
    """The phase of an ordered stacking: ORDERED until the bill or ticket is credited, then CREDITED."""

    ORDERED = "ordered"  # the machine has decided to keep it; nothing is credited
    CREDITED = "vended"  # it is in the box and credited; the acceptor may not have our acknowledgement


@dataclass(frozen=True, slots=True, kw_only=True)
class EscrowRecord:
    """The record of a bill or ticket whose stacking is not finished.

    ``exchange_progress`` says which of the acceptor's messages the driver has read last, for example the number of an
    event; after a restart the driver continues from there. ``is_returning``: the acceptor has reported that it returns
    the bill or ticket.
    """

    content: PaperContent
    phase: EscrowPhase
    exchange_progress: int = 0
    is_returning: bool = False


class EscrowLedger(Protocol):
    """Durable record of the bill or ticket that a bill acceptor is stacking; there is at most one at a time."""

    def find_open(self) -> EscrowRecord | None:
        """Return the record of the bill or ticket being stacked, also after a restart; None if none exists."""

    def has_disputed_paper(self) -> bool:
        """Return whether a bill or ticket of this acceptor is disputed, so that its report may still come."""

    def can_order_stacking(self) -> bool:
        """Return whether the machine still accepts money, so that the bill or ticket in escrow may be stacked."""

    def reserve_credit_before_stacking(self, content: PaperContent, exchange_progress: int) -> None:
        """Open the record of a bill or ticket in phase ORDERED, before the acceptor is ordered to stack it."""

    def credit_stacked_paper(self) -> None:
        """Credit the bill or ticket being stacked, which is in the box, and set phase CREDITED, in one transaction."""

    def close_confirmed_paper(self) -> None:
        """Close the record of a credited bill or ticket: the acceptor will not report it again."""

    def void_unstacked_paper(self, reason: str) -> None:
        """Close an ORDERED record without credit: the bill or ticket never reached the box."""

    def close_lost_paper_as_disputed(self, reason: str) -> None:
        """Close an ORDERED record as a disputed amount: the whereabouts of the bill or ticket are unknown."""

    def open_disputed_amount_of_unordered_paper(self, reason: str, amount_max_cents: int) -> None:
        """Open a disputed amount of up to ``amount_max_cents`` for a bill or ticket stacked without an order."""

    def record_direction(self, *, is_returning: bool) -> None:
        """Store in the open stacking record whether the acceptor reports that it returns the bill or ticket."""

    def record_exchange_progress(self, progress: int) -> None:
        """Store in the open stacking record which message of the acceptor the driver has read last.

        ``progress`` is in the driver's own encoding, for example the number of the last event.
        """


# ---------------------------------------------------------------- coins
class CoinLedger(Protocol):
    """Durable record of the last coin acceptor event that was processed, so that each coin is credited once."""

    def find_exchange_progress(self) -> int | None:
        """Return the driver's code of the last acceptor event that it has processed; None before the first event."""

    def credit_coins_in(
        self,
        coins: tuple[tuple[int, bool], ...],
        exchange_progress: int,
        disputed_coins: "DisputedCoins | None" = None,
    ) -> None:
        """Credit coins and store the code of the last acceptor event (``exchange_progress``), in one transaction.

        Each coin is a pair: its amount in minor units, and whether it fell into the hopper. With ``disputed_coins``,
        a disputed amount is opened in the same transaction.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedCoins:
    """Coins that cannot be credited: the reason, and the smallest and largest value that they can have."""

    reason: str = field(metadata=stored_as("why"))
    amount_min_cents: int = field(metadata=stored_as("least_cents"))
    amount_max_cents: int = field(metadata=stored_as("most_cents"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRecord:
    """The record of an unfinished hopper payout, with the hopper's two counters before the order.

    ``serial`` is the hopper's serial number in hexadecimal; "" if unknown. ``paid_coins`` is the number of coins known
    to have left the hopper.
    """

    payout_id: str
    ordered_coins: int = field(metadata=stored_as("coins"))
    order_counter_before: int = field(metadata=stored_as("events_before"))
    """The hopper's count of dispense orders since its reset, before the order."""
    lifetime_paid_before: int = field(metadata=stored_as("count_before"))
    """The hopper's lifetime counter of paid coins before the order."""
    serial: str = ""
    paid_coins: int = 0


class PayoutLedger(Protocol):
    """Durable record of the hopper payout in progress; there is at most one at a time."""

    def find_open(self) -> PayoutRecord | None:
        """Return the open hopper payout, also after a restart; None if none exists."""

    def open_payout(self, record: PayoutRecord) -> None:
        """Open a hopper payout, before the hopper is ordered to pay."""

    def record_coins_paid(self, payout_id: str, paid_coins: int) -> None:
        """Record how many coins of the payout are known to have left the hopper."""

    def close_payout(self, payout_id: str, paid_coins: int, doubt_reason: str = "") -> None:
        """Close the payout with ``paid_coins``, and reduce the credit meter by their value.

        ``doubt_reason`` says why it is unknown whether the other coins left the hopper; their value is then a disputed
        amount.
        """

    def close_unordered_payout(self, payout_id: str) -> None:
        """Close a payout that was requested but never ordered: the hopper paid nothing."""

    def record_unordered_coins(self, coins: int, reason: str) -> None:
        """Record coins that left the hopper without an order."""


# ---------------------------------------------------------------- tickets out
#: The allowed next states of a ticket, by its state. A ticket with a printed bar code is money: it can be
#: taken, not fail.
NEXT_PRINT_STATES: Final[Mapping[PrintState, frozenset[PrintState]]] = {
    PrintState.PENDING: frozenset({PrintState.PRINTING, PrintState.FAILED}),
    PrintState.PRINTING: frozenset({PrintState.BARCODE_DONE, PrintState.FAILED, PrintState.DISPUTED}),
    PrintState.BARCODE_DONE: frozenset({PrintState.TAKEN}),
    PrintState.TAKEN: frozenset(),
    PrintState.FAILED: frozenset(),
    PrintState.DISPUTED: frozenset(),
}
#: The states that end a ticket.
CLOSED_PRINT_STATES: Final = frozenset({PrintState.TAKEN, PrintState.FAILED, PrintState.DISPUTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintRecord:
    """The record of a ticket whose printing is not finished."""

    job: TicketJob
    state: PrintState


class PrintLedger(Protocol):
    """Durable record of the ticket being printed; there is at most one at a time."""

    def find_open(self) -> PrintRecord | None:
        """Return the ticket being printed (PENDING, PRINTING or BARCODE_DONE), also after a restart, or None."""

    def open_print_job(self, job: TicketJob) -> None:
        """Record a print job, in state PENDING, before it is sent to the printer."""

    def record_print_state(self, job_id: str, state: PrintState, detail: str) -> None:
        """Record the next state of the ticket being printed.

        Until BARCODE_DONE the value is in the player's credit, from then on in the ticket. TAKEN, FAILED and
        DISPUTED close the record.
        """

"""What the machine must remember so that money passing through a device counts exactly once.

The drivers write nothing to disk. The machine hands each driver a ledger, and every method of a ledger that
changes it **returns only when the change is durable**. If a method raises, the driver sends nothing and its
``run`` ends with that error: a machine that cannot remember must not go on.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from egm.devices.interface import Content, PrintState, TicketJob


# ---------------------------------------------------------------- notes and tickets
class EscrowPhase(StrEnum):
    """How far the machine knows an ordered stacking to have come."""

    ORDERED = "ordered"  # we have decided to keep it; nothing is credited
    VENDED = "vended"  # it is in the box and credited; the acceptor may not know that we know


@dataclass(frozen=True, slots=True, kw_only=True)
class EscrowRecord:
    """The one note or ticket whose stacking is not finished. ``mark``: see :meth:`EscrowLedger.set_mark`."""

    content: Content
    phase: EscrowPhase
    mark: int = 0


class EscrowLedger(Protocol):
    """The machine's durable memory of the note or ticket being stacked. At most one is open."""

    def pending(self) -> EscrowRecord | None:
        """The open record, as it survived."""

    def stack_ordered(self, content: Content, mark: int) -> None:
        """Open a record in phase ORDERED: written before the acceptor is told to stack."""

    def vended(self) -> None:
        """The open record's content is in the box: credit it and set phase VENDED, in one transaction."""

    def vend_confirmed(self) -> None:
        """Close a VENDED record: the acceptor will not report this content again."""

    def not_stacked(self, why: str) -> None:
        """Close an ORDERED record without credit: the content never reached the box."""

    def set_mark(self, mark: int) -> None:
        """Keep the driver's place in the line protocol with the open record (its meaning is the driver's)."""


# ---------------------------------------------------------------- coins
class CoinLedger(Protocol):
    """Coins have no escrow; their acceptor numbers its events, and the ledger keeps the last number seen."""

    def position(self) -> int | None:
        """The device's event counter up to which coins are recorded; None before the first."""

    def coins_in(self, coins: tuple[tuple[int, bool], ...], position: int) -> None:
        """Credit ``(amount_cents, to_hopper)`` for each coin and move the position, in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRecord:
    """A hopper payout that is not finished: ``before`` is the hopper's event counter when it was ordered."""

    payout_id: str
    coins: int
    before: int


class PayoutLedger(Protocol):
    """The machine's durable memory of the payout under way. At most one is open."""

    def pending(self) -> PayoutRecord | None:
        """The open payout, as it survived."""

    def ordered(self, record: PayoutRecord) -> None:
        """Open a payout: written before the hopper is told to pay."""

    def finished(self, payout_id: str, paid_coins: int) -> None:
        """Close it with the coins the hopper counted out; the money leaves the credit meter here."""


# ---------------------------------------------------------------- tickets out
@dataclass(frozen=True, slots=True, kw_only=True)
class PrintRecord:
    """A ticket whose printing is not finished."""

    job: TicketJob
    state: PrintState


class PrintLedger(Protocol):
    """The machine's durable memory of the ticket being printed. At most one is open."""

    def pending(self) -> PrintRecord | None:
        """The open ticket (PENDING, PRINTING or BARCODE_DONE), as it survived."""

    def opened(self, job: TicketJob) -> None:
        """Open a ticket as PENDING."""

    def moved(self, job_id: str, state: PrintState, detail: str) -> None:
        """Record its next state. BARCODE_DONE makes it money; TAKEN and FAILED close it."""


# ---------------------------------------------------------------- memory that does not last
class TransientEscrowLedger:
    """An escrow ledger in memory, for benches and service terminals that drive an acceptor without a machine.

    ``credited`` lists, in order, what it was told to credit.
    """

    def __init__(self) -> None:
        self._record: EscrowRecord | None = None
        self.credited: list[Content] = []
        self.refused: list[str] = []

    def pending(self) -> EscrowRecord | None:
        """See :class:`EscrowLedger`."""
        return self._record

    def _open(self, phase: EscrowPhase) -> EscrowRecord:
        if self._record is None or self._record.phase is not phase:
            raise LedgerOrderError(f"no escrow record in phase {phase}; there is {self._record}")
        return self._record

    def stack_ordered(self, content: Content, mark: int) -> None:
        """See :class:`EscrowLedger`."""
        if self._record is not None:
            raise LedgerOrderError(f"a stacking is still open: {self._record}")
        self._record = EscrowRecord(content=content, phase=EscrowPhase.ORDERED, mark=mark)

    def vended(self) -> None:
        """See :class:`EscrowLedger`."""
        record = self._open(EscrowPhase.ORDERED)
        self.credited.append(record.content)
        self._record = replace(record, phase=EscrowPhase.VENDED)

    def vend_confirmed(self) -> None:
        """See :class:`EscrowLedger`."""
        self._open(EscrowPhase.VENDED)
        self._record = None

    def not_stacked(self, why: str) -> None:
        """See :class:`EscrowLedger`."""
        self._open(EscrowPhase.ORDERED)
        self._record = None
        self.refused.append(why)

    def set_mark(self, mark: int) -> None:
        """See :class:`EscrowLedger`."""
        if self._record is not None:
            self._record = replace(self._record, mark=mark)


class LedgerOrderError(Exception):
    """A ledger was told a step out of order: says which step, and what is open."""

"""In-memory ledgers, for a test or a service terminal that drives a device without a machine.

They require the same order of calls as the machine's durable ledgers.
"""

from dataclasses import replace

from egm.devices.interface import PaperContent, PrintState, TicketJob
from egm.devices.ledgers import (
    CLOSED_PRINT_STATES,
    NEXT_PRINT_STATES,
    DisputedCoins,
    EscrowPhase,
    EscrowRecord,
    LedgerOrderError,
    PayoutRecord,
    PrintRecord,
)


class TransientEscrowLedger:
    """In-memory ledger of a bill acceptor's stackings.

    ``credited_papers`` are the credited bills and tickets in order, ``void_reasons`` the reasons why some were voided
    or disputed, ``disputed_papers`` those whose whereabouts are unknown, and ``unordered_stackings_cents`` the values
    of those stacked without an order.
    """

    def __init__(self) -> None:
        self._record: EscrowRecord | None = None
        self.credited_papers: list[PaperContent] = []
        self.void_reasons: list[str] = []
        self.disputed_papers: list[PaperContent] = []
        self.unordered_stackings_cents: list[int] = []

    def find_open(self) -> EscrowRecord | None:
        """Return the record of the bill or ticket being stacked, or None."""
        return self._record

    def _require_record(self, phase: EscrowPhase) -> EscrowRecord:
        """Return the open stacking record. Raises LedgerOrderError unless it is in this phase."""
        if self._record is None or self._record.phase is not phase:
            raise LedgerOrderError(f"expected the open escrow record in phase {phase}, found {self._record}")
        return self._record

    def has_disputed_paper(self) -> bool:
        """Return whether a bill or ticket was disputed; it stays disputed, because nobody can rule on it here."""
        return bool(self.disputed_papers or self.unordered_stackings_cents)

    def can_order_stacking(self) -> bool:
        """Return True: without a machine, nothing forbids the stacking of a bill or ticket."""
        return True

    def reserve_credit_before_stacking(self, content: PaperContent, exchange_progress: int) -> None:
        """Open the record of a bill or ticket in phase ORDERED. Raises LedgerOrderError if one is still open."""
        if self._record is not None:
            raise LedgerOrderError(
                f"a bill or ticket cannot be stacked, because a stacking is still open: {self._record}"
            )
        self._record = EscrowRecord(
            content=content, phase=EscrowPhase.ORDERED, exchange_progress=exchange_progress
        )

    def credit_stacked_paper(self) -> None:
        """Credit the bill or ticket being stacked, and set phase CREDITED.

        Raises LedgerOrderError unless the record is in phase ORDERED.
        """
        record = self._require_record(EscrowPhase.ORDERED)
        self.credited_papers.append(record.content)
        self._record = replace(record, phase=EscrowPhase.CREDITED)

    def close_confirmed_paper(self) -> None:
        """Close the record of a credited bill or ticket, because the acceptor has confirmed that it is stacked.

        Raises LedgerOrderError if there is no such record.
        """
        self._require_record(EscrowPhase.CREDITED)
        self._record = None

    def void_unstacked_paper(self, reason: str) -> None:
        """Close the record of a bill or ticket ordered to the box but not stacked; nothing is credited.

        Raises LedgerOrderError if there is no such record.
        """
        self._require_record(EscrowPhase.ORDERED)
        self._record = None
        self.void_reasons.append(reason)

    def close_lost_paper_as_disputed(self, reason: str) -> None:
        """Close the record of the ordered bill or ticket as disputed. Raises LedgerOrderError if none is ordered."""
        self.disputed_papers.append(self._require_record(EscrowPhase.ORDERED).content)
        self._record = None
        self.void_reasons.append(reason)

    def open_disputed_amount_of_unordered_paper(self, reason: str, amount_max_cents: int) -> None:  # noqa: ARG002 (real ledgers use it)
        """Record that the acceptor stacked a bill or ticket, worth ``amount_max_cents`` at most, without an order."""
        self.unordered_stackings_cents.append(amount_max_cents)

    def record_direction(self, *, is_returning: bool) -> None:
        """Store whether the acceptor reports that it moves the ordered bill or ticket back to the player."""
        self._record = replace(self._require_record(EscrowPhase.ORDERED), is_returning=is_returning)

    def record_exchange_progress(self, progress: int) -> None:
        """Store in the open stacking record, if any, the driver's code of the last message that it has read."""
        if self._record is not None:
            self._record = replace(self._record, exchange_progress=progress)


class TransientCoinLedger:
    """In-memory ledger of a coin acceptor.

    ``credited_coins`` are pairs: the amount in minor units, and whether the coin fell into the hopper.
    ``disputed_coins`` could not be credited.
    """

    def __init__(self) -> None:
        self._exchange_progress: int | None = None
        self.credited_coins: list[tuple[int, bool]] = []
        self.disputed_coins: list[DisputedCoins] = []

    def find_exchange_progress(self) -> int | None:
        """Return the driver's code of the last acceptor event that it has processed; None before the first event."""
        return self._exchange_progress

    def credit_coins_in(
        self,
        coins: tuple[tuple[int, bool], ...],
        exchange_progress: int,
        disputed_coins: DisputedCoins | None = None,
    ) -> None:
        """Record the credited coins and any disputed ones, and store the new exchange progress."""
        self.credited_coins.extend(coins)
        self.disputed_coins += [] if disputed_coins is None else [disputed_coins]
        self._exchange_progress = exchange_progress


class TransientPayoutLedger:
    """In-memory ledger of a hopper's payouts.

    ``paid_coins_by_payout`` has the number of paid coins by the id of each finished payout;
    ``disputed_coins_by_payout`` has the number of coins that may or may not have left the hopper.
    """

    def __init__(self) -> None:
        self._record: PayoutRecord | None = None
        self.paid_coins_by_payout: dict[str, int] = {}
        self.disputed_coins_by_payout: dict[str, int] = {}
        self.unordered_coins = 0

    def find_open(self) -> PayoutRecord | None:
        """Return the open hopper payout, or None."""
        return self._record

    def open_payout(self, record: PayoutRecord) -> None:
        """Open a hopper payout. Raises LedgerOrderError if one is open, or if this one is already finished."""
        if self._record is not None or record.payout_id in self.paid_coins_by_payout:
            raise LedgerOrderError(
                f"payout {record.payout_id} cannot be ordered: it is finished, or one is open: {self._record}"
            )
        self._record = record

    def _require_record(self, payout_id: str) -> PayoutRecord:
        """Return the record of the open payout. Raises LedgerOrderError unless its id is ``payout_id``."""
        if self._record is None or self._record.payout_id != payout_id:
            raise LedgerOrderError(f"payout {payout_id} is not the open payout; found {self._record}")
        return self._record

    def record_coins_paid(self, payout_id: str, paid_coins: int) -> None:
        """Store how many coins of the open payout have left. Raises LedgerOrderError if it is not open."""
        self._record = replace(self._require_record(payout_id), paid_coins=paid_coins)

    def close_payout(self, payout_id: str, paid_coins: int, doubt_reason: str = "") -> None:
        """Close the open payout with the number of coins paid.

        With ``doubt_reason``, the remaining coins are listed as disputed. Raises LedgerOrderError if the
        payout is not open.
        """
        record, self._record = self._require_record(payout_id), None
        self.paid_coins_by_payout[payout_id] = paid_coins
        if doubt_reason:
            self.disputed_coins_by_payout[payout_id] = record.ordered_coins - paid_coins

    def close_unordered_payout(self, payout_id: str) -> None:
        """Record that a payout which was requested but never ordered is finished, and that no coin was paid.

        Raises LedgerOrderError if a payout is open.
        """
        if self._record is not None:
            raise LedgerOrderError(
                f"payout {payout_id} was never ordered and cannot be closed, because a payout is open: {self._record}"
            )
        self.paid_coins_by_payout[payout_id] = 0

    def record_unordered_coins(self, coins: int, reason: str) -> None:  # noqa: ARG002 (real ledgers use it)
        """Add coins that left the hopper without an order to ``unordered_coins``."""
        self.unordered_coins += coins


class TransientPrintLedger:
    """In-memory ledger of a ticket printer. ``print_state_history`` lists each ticket's states in order."""

    def __init__(self) -> None:
        self._record: PrintRecord | None = None
        self.print_state_history: list[tuple[str, PrintState]] = []

    def find_open(self) -> PrintRecord | None:
        """Return the record of the ticket being printed, or None."""
        return self._record

    def open_print_job(self, job: TicketJob) -> None:
        """Open a ticket's record in state PENDING. Raises LedgerOrderError if another ticket is open."""
        if self._record is not None:
            raise LedgerOrderError(
                f"ticket {job.job_id} cannot be opened, because ticket {self._record.job.job_id} is open"
            )
        self._record = PrintRecord(job=job, state=PrintState.PENDING)
        self.print_state_history.append((job.job_id, PrintState.PENDING))

    def record_print_state(self, job_id: str, state: PrintState, detail: str) -> None:  # noqa: ARG002 (real ledgers use it)
        """Store the next state of the open ticket's print job; after a final state, no ticket is open.

        Raises LedgerOrderError unless the open ticket's job is ``job_id`` and may change to this state.
        """
        if self._record is None or self._record.job.job_id != job_id:
            raise LedgerOrderError(f"ticket {job_id} is not the open ticket; found {self._record}")
        if state not in NEXT_PRINT_STATES[self._record.state]:
            raise LedgerOrderError(
                f"ticket {job_id} cannot change from state {self._record.state} to {state}"
            )
        self._record = None if state in CLOSED_PRINT_STATES else replace(self._record, state=state)
        self.print_state_history.append((job_id, state))

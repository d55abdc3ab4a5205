"""In-memory ledgers, for a bench or a service terminal that drives a device without a machine.

They enforce the same order of steps as the machine's durable ledgers.
"""

from dataclasses import replace

from egm.devices.interface import Content, PrintState, TicketJob
from egm.devices.ledgers import (
    AFTER,
    CLOSED,
    CoinDoubt,
    EscrowPhase,
    EscrowRecord,
    LedgerOrderError,
    PayoutRecord,
    PrintRecord,
)


class TransientEscrowLedger:
    """Escrow ledger. ``credited`` lists the credits in order; ``refused`` why others were not credited.

    ``disputed`` lists contents of unknown whereabouts, ``contradictions`` those taken without an order.
    """

    def __init__(self) -> None:
        self._record: EscrowRecord | None = None
        self.credited: list[Content] = []
        self.refused: list[str] = []
        self.disputed: list[Content] = []
        self.contradictions: list[int] = []

    def pending(self) -> EscrowRecord | None:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        return self._record

    def _open(self, phase: EscrowPhase) -> EscrowRecord:
        if self._record is None or self._record.phase is not phase:
            raise LedgerOrderError(f"no escrow record in phase {phase}; there is {self._record}")
        return self._record

    def may_order(self) -> bool:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        return True

    def stack_ordered(self, content: Content, mark: int) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        if self._record is not None:
            raise LedgerOrderError(f"a stacking is still open: {self._record}")
        self._record = EscrowRecord(content=content, phase=EscrowPhase.ORDERED, mark=mark)

    def credit_stacked_paper(self) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        record = self._open(EscrowPhase.ORDERED)
        self.credited.append(record.content)
        self._record = replace(record, phase=EscrowPhase.VENDED)

    def vend_confirmed(self) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        self._open(EscrowPhase.VENDED)
        self._record = None

    def void_unstacked_paper(self, why: str) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        self._open(EscrowPhase.ORDERED)
        self._record = None
        self.refused.append(why)

    def dispute_lost_paper(self, why: str) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        self.disputed.append(self._open(EscrowPhase.ORDERED).content)
        self._record = None
        self.refused.append(why)

    def dispute_unordered_stacking(self, why: str, most_cents: int) -> None:  # noqa: ARG002 (kept by real ledgers)
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        self.contradictions.append(most_cents)

    def moving(self, *, outward: bool) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        self._record = replace(self._open(EscrowPhase.ORDERED), outward=outward)

    def set_mark(self, mark: int) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.EscrowLedger`."""
        if self._record is not None:
            self._record = replace(self._record, mark=mark)


class TransientCoinLedger:
    """Coin ledger. ``coins`` lists the credited coins and their destinations, ``doubts`` the others."""

    def __init__(self) -> None:
        self._position: int | None = None
        self.coins: list[tuple[int, bool]] = []
        self.doubts: list[CoinDoubt] = []

    def position(self) -> int | None:
        """Behave as specified by :class:`~egm.devices.ledgers.CoinLedger`."""
        return self._position

    def credit_coins_in(
        self, coins: tuple[tuple[int, bool], ...], position: int, doubt: CoinDoubt | None = None
    ) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.CoinLedger`."""
        self.coins.extend(coins)
        self.doubts += [] if doubt is None else [doubt]
        self._position = position


class TransientPayoutLedger:
    """Payout ledger. ``paid`` maps finished payouts to the coins counted out, ``disputed`` to those in doubt."""

    def __init__(self) -> None:
        self._record: PayoutRecord | None = None
        self.paid: dict[str, int] = {}
        self.disputed: dict[str, int] = {}
        self.stray_coins = 0

    def pending(self) -> PayoutRecord | None:
        """Behave as specified by :class:`~egm.devices.ledgers.PayoutLedger`."""
        return self._record

    def ordered(self, record: PayoutRecord) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.PayoutLedger`."""
        if self._record is not None or record.payout_id in self.paid:
            raise LedgerOrderError(f"payout {record.payout_id} cannot be ordered; open is {self._record}")
        self._record = record

    def _open(self, payout_id: str) -> PayoutRecord:
        if self._record is None or self._record.payout_id != payout_id:
            raise LedgerOrderError(f"payout {payout_id} is not open; open is {self._record}")
        return self._record

    def record_coins_paid(self, payout_id: str, paid_coins: int) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.PayoutLedger`."""
        self._record = replace(self._open(payout_id), paid_coins=paid_coins)

    def finished(self, payout_id: str, paid_coins: int, doubt: str = "") -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.PayoutLedger`."""
        record, self._record = self._open(payout_id), None
        self.paid[payout_id] = paid_coins
        if doubt:
            self.disputed[payout_id] = record.coins - paid_coins

    def close_unordered_payout(self, payout_id: str) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.PayoutLedger`."""
        if self._record is not None:
            raise LedgerOrderError(f"payout {payout_id} was never ordered, and {self._record} is open")
        self.paid[payout_id] = 0

    def record_strayed_coins(self, coins: int, why: str) -> None:  # noqa: ARG002 (kept by real ledgers)
        """Behave as specified by :class:`~egm.devices.ledgers.PayoutLedger`."""
        self.stray_coins += coins


class TransientPrintLedger:
    """Print ledger. ``history`` lists each ticket's states in order."""

    def __init__(self) -> None:
        self._record: PrintRecord | None = None
        self.history: list[tuple[str, PrintState]] = []

    def pending(self) -> PrintRecord | None:
        """Behave as specified by :class:`~egm.devices.ledgers.PrintLedger`."""
        return self._record

    def opened(self, job: TicketJob) -> None:
        """Behave as specified by :class:`~egm.devices.ledgers.PrintLedger`."""
        if self._record is not None:
            raise LedgerOrderError(f"ticket {job.job_id} cannot be opened; open is {self._record.job.job_id}")
        self._record = PrintRecord(job=job, state=PrintState.PENDING)
        self.history.append((job.job_id, PrintState.PENDING))

    def moved(self, job_id: str, state: PrintState, detail: str) -> None:  # noqa: ARG002 (kept by real ledgers)
        """Behave as specified by :class:`~egm.devices.ledgers.PrintLedger`."""
        if self._record is None or self._record.job.job_id != job_id:
            raise LedgerOrderError(f"ticket {job_id} is not open; open is {self._record}")
        if state not in AFTER[self._record.state]:
            raise LedgerOrderError(f"ticket {job_id} cannot go from {self._record.state} to {state}")
        self._record = None if state in CLOSED else replace(self._record, state=state)
        self.history.append((job_id, state))

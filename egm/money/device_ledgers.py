"""Device ledgers: the durable state of the drivers that handle money, stored in the journal.

Each class implements one ledger interface of :mod:`egm.devices.ledgers`. A method that changes something
returns only when the change is durable. Money is moved only by events of the state table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from egm.devices.interface import Banknote, Barcode, PaperContent, PrintState, TicketJob
from egm.devices.ledgers import (
    CLOSED_PRINT_STATES,
    CoinLedger,
    DisputedCoins,
    EscrowLedger,
    EscrowPhase,
    EscrowRecord,
    PayoutLedger,
    PayoutRecord,
    PrintLedger,
    PrintRecord,
)
from egm.errors import InvariantError, check_invariant
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType
from egm.kernel.feature import Features
from egm.kernel.machine import METER_JUMP_FAULT, PositionMachine
from egm.kernel.states import STATES_FOR_STACKING
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.entries import (
    BILL_ESCROW,
    COINS_COUNTED,
    COINS_ORDERED,
    PAPER_CONFIRMED,
    PAPER_DIRECTION_REPORTED,
    PAPER_EXCHANGE_PROGRESS_STORED,
    TICKET_ESCROW,
    TICKET_PENDING,
    TICKET_PRINTING,
    TICKET_TAKEN,
    CoinsCounted,
    TicketTaken,
)
from egm.money.keys import MoneyKey
from egm.money.pay_out import find_open_print_job
from egm.money.records.money import CashOutRecord, PaperRecord, PrintingRecord
from egm.staff.service.device_tests import is_test_job_id
from egm.staff.slips import is_slip_job_id
from egm.tickets.desk import TicketDesk
from egm.tickets.redemption import LockedTicket
from meters import Transfer

#: The reason of a disputed amount of money in the box: the journal refused its credit, as a meter would have jumped.
_METER_JUMP_REASON: Final = "its credit was refused as an implausible meter jump"


class JournalEscrowLedger:
    """The durable state of the bill acceptor's driver: the bill or ticket in escrow or being stacked.

    Implements :class:`egm.devices.ledgers.EscrowLedger`. ``process_event`` is a function that makes the machine
    process an event; when it returns, the changes made by the event are durable.
    """

    def __init__(self, machine: PositionMachine, process_event: Callable[..., None]) -> None:
        self._machine = machine
        self._process_event = process_event

    def find_open(self) -> EscrowRecord | None:
        """Return the bill or ticket whose stacking is not finished, as the driver last stored it, or None."""
        paper = self._machine.memory.read(PaperRecord, MoneyKey.PAPER_BEING_STACKED)
        if paper is None:
            return None
        desk = self._machine.find_installed(TicketDesk)
        number = (
            desk.find_number_by_redemption(paper.id)
            if desk is not None and paper.masked_ticket_number
            else None
        )
        content = Banknote(paper.amount_cents) if number is None else Barcode(number)
        return EscrowRecord(
            content=content,
            phase=paper.phase,
            exchange_progress=paper.exchange_progress,
            is_returning=bool(paper.is_returning),
        )

    def has_disputed_paper(self) -> bool:
        """Return whether a disputed amount of this position's bill acceptor still waits for a ruling."""
        return any(
            disputed_amount.device == "bill_acceptor"
            for disputed_amount in read_disputed_amounts_by_id(self._machine).values()
        )

    def can_order_stacking(self) -> bool:
        """Return whether the driver may order the acceptor to stack the bill or ticket in escrow.

        True only while the machine is idle or shows a game; otherwise the driver returns the item.
        """
        return (
            self._machine.component(Features).state_table.derive_state(self._machine) in STATES_FOR_STACKING
        )

    def reserve_credit_before_stacking(self, content: PaperContent, exchange_progress: int) -> None:
        """Reserve the credit of the bill or ticket in escrow before the acceptor is ordered to stack it.

        A ticket must have been locked in the ticket ledger before; raises InvariantError otherwise.
        """
        check_invariant(self.find_open() is None, "a second bill or ticket was ordered into the box")
        if isinstance(content, Banknote):
            paper_id = self._machine.fresh_id("bill")
            amount_cents, masked_ticket_number = content.amount_cents, ""
            account = self._machine.name_credit_account(CreditKind.CASHABLE)
            transfer = Transfer("world:bill", account, amount_cents, {"bill_cents": amount_cents})
        else:
            redemption = self._machine.component(LockedTicket).redemption
            if redemption is None or redemption.ticket.number != content.digits:
                raise InvariantError("a ticket was ordered into the box without a lock on it")
            paper_id, masked_ticket_number = redemption.redemption_id, redemption.ticket.masked_number
            amount_cents = redemption.ticket.amount_cents
            kind = CreditKind(redemption.ticket.kind.value)
            transfer = Transfer(
                f"world:voucher_in:{kind}", self._machine.name_credit_account(kind), amount_cents
            )
        self._machine.component(LockedTicket).redemption = None
        paper = PaperRecord(
            id=paper_id,
            amount_cents=amount_cents,
            masked_ticket_number=masked_ticket_number,
            phase=EscrowPhase.ORDERED,
            exchange_progress=exchange_progress,
        )
        self._machine.post(
            TICKET_ESCROW if masked_ticket_number else BILL_ESCROW,
            entry_id=paper_id,
            transfers=(transfer,),
            state={MoneyKey.PAPER_BEING_STACKED: paper},
        )

    def credit_stacked_paper(self) -> None:
        """Credit the bill or ticket that the acceptor has stacked.

        If the journal refuses the credit as an implausible meter jump, or if the machine no longer has the lock on
        the ticket, open a disputed amount instead.
        """
        check_invariant(
            self._find_phase() is EscrowPhase.ORDERED, "a bill or ticket was credited out of order"
        )
        self._process_event(EventType.BILL_STACKED)
        if self._find_phase() is EscrowPhase.ORDERED and METER_JUMP_FAULT in self._machine.active_faults:
            self._process_event(EventType.BILL_LOCATION_UNKNOWN, why=_METER_JUMP_REASON)
            return
        check_invariant(
            self._find_phase() is EscrowPhase.CREDITED, "a stacked bill or ticket was not credited"
        )

    def close_confirmed_paper(self) -> None:
        """Delete the record of the stacked and credited bill or ticket.

        Called when the acceptor has confirmed the machine's acknowledgement of the stacking.
        """
        check_invariant(
            self._find_phase() is EscrowPhase.CREDITED, "a bill or ticket was closed before it was credited"
        )
        self._machine.post(PAPER_CONFIRMED, state={MoneyKey.PAPER_BEING_STACKED: None})

    def void_unstacked_paper(self, reason: str) -> None:
        """Void the reserved credit of a bill or ticket that did not reach the cash box; ``reason`` says why."""
        check_invariant(
            self._find_phase() is EscrowPhase.ORDERED, "a credited bill or ticket cannot be returned"
        )
        self._process_event(EventType.BILL_NOT_STACKED, why=reason)
        check_invariant(self.find_open() is None, "a returned bill or ticket is still open")

    def close_lost_paper_as_disputed(self, reason: str) -> None:
        """Open a disputed amount for a bill or ticket whose stacking was ordered and whose location is unknown.

        It may have been stacked or returned; ``reason`` says why this is unknown.
        """
        check_invariant(
            self._find_phase() is EscrowPhase.ORDERED, "a credited bill or ticket cannot be disputed"
        )
        self._process_event(EventType.BILL_LOCATION_UNKNOWN, why=reason)
        check_invariant(self.find_open() is None, "a disputed bill or ticket is still open")

    def open_disputed_amount_of_unordered_paper(self, reason: str, amount_max_cents: int) -> None:
        """Open a disputed amount for a bill or ticket that the acceptor stacked without an order.

        ``amount_max_cents`` is the largest possible amount, in minor units.
        """
        self._process_event(
            EventType.UNORDERED_MONEY_TAKEN,
            device="bill_acceptor",
            why=reason,
            amount_max_cents=amount_max_cents,
        )

    def record_direction(self, *, is_returning: bool) -> None:
        """Record whether, as the acceptor reports, the bill or ticket moves to the player or into the cash box."""
        check_invariant(
            self._find_phase() is EscrowPhase.ORDERED, "the acceptor moves a bill or ticket without an order"
        )
        paper = self._machine.memory.require(PaperRecord, MoneyKey.PAPER_BEING_STACKED)
        self._machine.post(
            PAPER_DIRECTION_REPORTED,
            state={MoneyKey.PAPER_BEING_STACKED: replace(paper, is_returning=is_returning)},
        )

    def record_exchange_progress(self, progress: int) -> None:
        """Store which of the acceptor's messages about the bill or ticket being stacked the driver has read last.

        ``progress`` is in the driver's encoding. After a restart, the driver continues with the next message.
        """
        paper = self._machine.memory.require(PaperRecord, MoneyKey.PAPER_BEING_STACKED)
        self._machine.post(
            PAPER_EXCHANGE_PROGRESS_STORED,
            state={MoneyKey.PAPER_BEING_STACKED: replace(paper, exchange_progress=progress)},
        )

    def _find_phase(self) -> EscrowPhase | None:
        """Return how far the stacking of the current bill or ticket has come, or None if none is being stacked."""
        record = self.find_open()
        return None if record is None else record.phase


class JournalPrintLedger:
    """The durable state of the ticket printer's driver: the ticket, slip or test that is being printed.

    Implements :class:`egm.devices.ledgers.PrintLedger`.
    """

    def __init__(self, machine: PositionMachine, process_event: Callable[..., None]) -> None:
        self._machine = machine
        self._process_event = process_event

    def find_open(self) -> PrintRecord | None:
        """Return the print job that the printer has not finished, or None.

        A disputed ticket is not returned, because staff decide whether it was printed. Neither is a ticket that the
        ticket ledger lacks, because it cannot be printed.
        """
        job = find_open_print_job(self._machine)
        if job is None or self._require_open_record().state in CLOSED_PRINT_STATES:
            return None
        return PrintRecord(job=job, state=self._require_open_record().state)

    def open_print_job(self, job: TicketJob) -> None:
        """Record that the printer's driver has accepted the print job."""
        check_invariant(self.find_open() is None, "a second ticket was given to the printer")
        language = (
            self._machine.selection.language
            if is_test_job_id(job.job_id) or is_slip_job_id(job.job_id)
            else self._machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT).language
        )
        record = PrintingRecord(id=job.job_id, language=language, state=PrintState.PENDING)
        self._machine.post(TICKET_PENDING, state={MoneyKey.PRINT_JOB: record})

    def record_print_state(self, job_id: str, state: PrintState, detail: str) -> None:
        """Record the state of the open print job as the printer's driver reports it.

        When the bar code is printed, the ticket is settled. If the job has failed, the credits are returned; the
        printer is then free, so the next ticket may be open already when this returns. If the ticket may have been
        printed in spite of a failure, a disputed amount is opened. When the ticket is taken, the record of the job is
        deleted.
        """
        printing_record = self._require_open_record()
        check_invariant(printing_record.id == job_id, "the printer reported on another ticket")
        if state is PrintState.BARCODE_DONE:
            self._process_event(EventType.TICKET_PRINTED)
            is_settled = self._require_open_record().state == PrintState.BARCODE_DONE
            check_invariant(is_settled, "a printed ticket was not settled")
        elif state is PrintState.FAILED:
            self._process_event(EventType.TICKET_PRINT_FAILED, why=detail)
            check_invariant(self._find_job_id() != job_id, "a failed ticket was not voided")
        elif state is PrintState.DISPUTED:
            self._process_event(EventType.TICKET_PRINT_FAILED, why=detail, may_have_been_printed=True)
            open_record = self.find_open()
            check_invariant(
                open_record is None or open_record.job.job_id != job_id,
                "a ticket that may be printed was not recorded as a disputed amount",
            )
        elif state is PrintState.TAKEN:
            self._machine.post(TICKET_TAKEN, TicketTaken(id=job_id), state={MoneyKey.PRINT_JOB: None})
        else:
            self._machine.post(
                TICKET_PRINTING, state={MoneyKey.PRINT_JOB: replace(printing_record, state=state)}
            )

    def _find_job_id(self) -> str | None:
        """Return the id of the stored print job, or None."""
        printing_record = self._machine.memory.read(PrintingRecord, MoneyKey.PRINT_JOB)
        return None if printing_record is None else printing_record.id

    def _require_open_record(self) -> PrintingRecord:
        """Return the stored record of the open print job. Raises InvariantError if none exists."""
        printing_record = self._machine.memory.read(PrintingRecord, MoneyKey.PRINT_JOB)
        if printing_record is None:
            raise InvariantError("the printer reported on a ticket that is not open")
        return printing_record


class JournalPayoutLedger:
    """The durable state of the hopper's driver: the coins that the hopper is paying.

    Implements :class:`egm.devices.ledgers.PayoutLedger`.
    """

    def __init__(self, machine: PositionMachine, process_event: Callable[..., None]) -> None:
        self._machine = machine
        self._process_event = process_event

    def find_open(self) -> PayoutRecord | None:
        """Return the hopper payout that is not finished, or None."""
        return self._machine.memory.read(PayoutRecord, MoneyKey.HOPPER_PAYOUT)

    def open_payout(self, record: PayoutRecord) -> None:
        """Record the coin payout before the driver sends it to the hopper."""
        check_invariant(self.find_open() is None, "a second payout was ordered from the hopper")
        self._machine.post(COINS_ORDERED, state={MoneyKey.HOPPER_PAYOUT: record})

    def record_coins_paid(self, payout_id: str, paid_coins: int) -> None:
        """Record the number of coins that the hopper has counted out so far of the open payout."""
        self._require_open_payout(payout_id)
        payout = self._machine.memory.require(PayoutRecord, MoneyKey.HOPPER_PAYOUT)
        self._machine.post(
            COINS_COUNTED,
            CoinsCounted(id=payout_id, paid_coins=paid_coins),
            state={MoneyKey.HOPPER_PAYOUT: replace(payout, paid_coins=paid_coins)},
        )

    def close_payout(self, payout_id: str, paid_coins: int, doubt_reason: str = "") -> None:
        """End the hopper payout at ``paid_coins``, the number of coins that the hopper has counted out.

        ``doubt_reason`` is the reason why more coins may have left the hopper; it is empty if the count is
        certain.
        """
        self._require_open_payout(payout_id)
        self._process_event(EventType.COINS_PAID, paid_coins=paid_coins, uncertainty=doubt_reason)
        check_invariant(self.find_open() is None, "a finished payout was not settled")

    def close_unordered_payout(self, payout_id: str) -> None:
        """End a cash-out whose coins were never ordered from the hopper, with no coins paid.

        Do nothing for the id of a hopper test, which has no cash-out.
        """
        check_invariant(self.find_open() is None, "a payout was reported as not ordered while one is open")
        if not is_test_job_id(payout_id):
            self._process_event(EventType.COINS_PAID, paid_coins=0)
            check_invariant(
                self._machine.memory.get(MoneyKey.PAY_OUT) is None, "an unpaid payout was not settled"
            )

    def record_unordered_coins(self, coin_count: int, reason: str) -> None:
        """Record coins that left the hopper without an order, and open a disputed amount for them."""
        self._process_event(EventType.UNORDERED_COINS_PAID, coins=coin_count, why=reason)

    def _require_open_payout(self, payout_id: str) -> None:
        """Raise InvariantError unless the hopper's open payout is the one with this id."""
        payout = self.find_open()
        check_invariant(
            payout is not None and payout.payout_id == payout_id, "the hopper reported on another payout"
        )


class JournalCoinLedger:
    """The durable state of the coin acceptor's driver: the coins taken in.

    Implements :class:`egm.devices.ledgers.CoinLedger`.
    """

    def __init__(self, machine: PositionMachine, process_event: Callable[..., None]) -> None:
        self._machine = machine
        self._process_event = process_event

    def find_exchange_progress(self) -> int | None:
        """Return which of the acceptor's events was the last whose coins are credited, or None before the first.

        The value is in the encoding of the acceptor's driver.
        """
        exchange_progress = self._machine.memory.get(MoneyKey.LAST_COIN_EVENT)
        return None if exchange_progress is None else int(exchange_progress)

    def credit_coins_in(
        self,
        coins: tuple[tuple[int, bool], ...],
        exchange_progress: int,
        disputed_coins: DisputedCoins | None = None,
    ) -> None:
        """In one transaction, credit each coin, store the exchange progress, and open a disputed amount if needed.

        ``coins`` has for each coin its value in minor units and whether the sorter sent it to the hopper.
        ``exchange_progress`` names the acceptor's last event, in its driver's encoding. ``disputed_coins``
        describes coins that cannot be credited. If the journal refuses the credit as an implausible meter jump, all
        coins are disputed.
        """
        self._process_event(
            EventType.COINS_IN, coins=coins, exchange_progress=exchange_progress, disputed=disputed_coins
        )
        if (
            self.find_exchange_progress() != exchange_progress
            and METER_JUMP_FAULT in self._machine.active_faults
        ):
            uncredited_coins = disputed_coins or DisputedCoins(
                reason=_METER_JUMP_REASON, amount_min_cents=0, amount_max_cents=0
            )
            amount_max_cents = uncredited_coins.amount_max_cents + sum(cents for cents, _ in coins)
            self._process_event(
                EventType.COINS_IN,
                coins=(),
                exchange_progress=exchange_progress,
                disputed=replace(uncredited_coins, amount_max_cents=amount_max_cents),
            )
        check_invariant(self.find_exchange_progress() == exchange_progress, "coins were not recorded")


@dataclass(frozen=True, slots=True)
class DeviceLedgers:
    """The ledgers of all money-handling devices, for the code that creates the drivers."""

    escrow_ledger: EscrowLedger
    print_ledger: PrintLedger
    coin_ledger: CoinLedger
    payout_ledger: PayoutLedger


def create_ledgers(machine: PositionMachine, process_event: Callable[..., None]) -> DeviceLedgers:
    """Create the ledgers of a machine's money-handling devices; ``process_event`` processes an event of the machine."""
    return DeviceLedgers(
        escrow_ledger=JournalEscrowLedger(machine, process_event),
        print_ledger=JournalPrintLedger(machine, process_event),
        coin_ledger=JournalCoinLedger(machine, process_event),
        payout_ledger=JournalPayoutLedger(machine, process_event),
    )

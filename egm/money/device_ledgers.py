"""Device ledgers: what the drivers of money-handling devices must not forget, kept in the journal.

Each is the machine's side of a ledger of :mod:`egm.devices.ledgers`: a method that changes something returns
when the change is durable, and what moves money goes through the state table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from egm.devices.interface import Barcode, Content, Note, PrintState, TicketJob
from egm.devices.ledgers import (
    CLOSED,
    CoinDoubt,
    CoinLedger,
    EscrowLedger,
    EscrowPhase,
    EscrowRecord,
    PayoutLedger,
    PayoutRecord,
    PrintLedger,
    PrintRecord,
)
from egm.errors import InvariantError, invariant
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType
from egm.kernel.feature import Features
from egm.kernel.machine import METER_JUMP, Machine
from egm.kernel.states import TAKING_TICKETS
from egm.money.pay_out import open_job
from egm.records.keys import MoneyKey
from egm.records.money import CashOutRecord, PaperRecord, PrintingRecord
from egm.staff.service.device_tests import is_test
from egm.staff.slips import is_slip
from egm.tickets.desk import TicketDesk
from egm.tickets.redemption import LockedTicket
from meters import Phase, Transfer

#: Why an amount is disputed that is in the box and whose credit the journal has refused.
_TOO_FAR: Final = "its meter would have moved too far at once"


class PaperLedger:
    """The acceptor driver's durable memory (:class:`egm.devices.ledgers.EscrowLedger`), kept in the journal.

    ``handle`` is the engine's: what moves money goes through the state table like everything else, and is
    durable when it returns.
    """

    def __init__(self, machine: Machine, handle: Callable[..., None]) -> None:
        self._machine = machine
        self._handle = handle

    def pending(self) -> EscrowRecord | None:
        """The bill or ticket whose stacking is not finished."""
        paper = self._machine.memory.read(PaperRecord, MoneyKey.PAPER)
        if paper is None:
            return None
        desk = self._machine.installed(TicketDesk)
        number = desk.number_of(paper.id) if desk is not None and paper.ticket else None
        content = Note(paper.amount_cents) if number is None else Barcode(number)
        return EscrowRecord(
            content=content,
            phase=paper.phase,
            mark=paper.mark,
            outward=bool(paper.outward),
        )

    def may_order(self) -> bool:
        """See :class:`EscrowLedger`: neither with a door open nor while persons are waited for."""
        return self._machine.state(Features).rules.derived_state(self._machine) in TAKING_TICKETS

    def stack_ordered(self, content: Content, mark: int) -> None:
        """Reserve the paper's credit: from here on the machine knows what may come."""
        invariant(self.pending() is None, "a second paper ordered into the box")
        if isinstance(content, Note):
            paper_id = self._machine.fresh_id("bill")
            amount_cents, ticket = content.amount_cents, ""
            account = self._machine.credit(CreditKind.CASHABLE)
            transfer = Transfer("world:bill", account, amount_cents, {"bill_cents": amount_cents})
        else:
            redemption = self._machine.state(LockedTicket).redemption
            if redemption is None or redemption.ticket.number != content.digits:
                raise InvariantError("a ticket ordered into the box that was not locked")
            paper_id, ticket = redemption.redemption_id, redemption.ticket.masked
            amount_cents = redemption.ticket.amount_cents
            kind = CreditKind(redemption.ticket.kind.value)
            transfer = Transfer(f"world:voucher_in:{kind}", self._machine.credit(kind), amount_cents)
        self._machine.state(LockedTicket).redemption = None
        paper = PaperRecord(
            id=paper_id, amount_cents=amount_cents, ticket=ticket, phase=EscrowPhase.ORDERED, mark=mark
        )
        self._machine.record(
            "voucher.escrow" if ticket else "bill.escrow",
            transaction_id=paper_id,
            phase=Phase.RESERVE,
            transfers=(transfer,),
            state={MoneyKey.PAPER: paper},
        )

    def vended(self) -> None:
        """Credit the open paper."""
        invariant(self._phase() is EscrowPhase.ORDERED, "a paper credited out of order")
        self._handle(EventType.BILL_STACKED)
        if self._phase() is EscrowPhase.ORDERED and METER_JUMP in self._machine.faults:
            self._handle(EventType.BILL_LOST, why=_TOO_FAR)
            return
        invariant(self._phase() is EscrowPhase.VENDED, "a stacked paper was not credited")

    def vend_confirmed(self) -> None:
        """The acceptor knows that we know; the record is closed."""
        invariant(self._phase() is EscrowPhase.VENDED, "a paper closed before it was credited")
        self._machine.record("bill.confirmed", state={MoneyKey.PAPER: None})

    def not_stacked(self, why: str) -> None:
        """The paper never reached the box."""
        invariant(self._phase() is EscrowPhase.ORDERED, "a credited paper cannot be given back")
        self._handle(EventType.BILL_NOT_STACKED, why=why)
        invariant(self.pending() is None, "a returned paper is still open")

    def lost_track(self, why: str) -> None:
        """Nobody knows where the paper went: its amount is disputed."""
        invariant(self._phase() is EscrowPhase.ORDERED, "a credited paper cannot be disputed")
        self._handle(EventType.BILL_LOST, why=why)
        invariant(self.pending() is None, "a disputed paper is still open")

    def contradicted(self, why: str, most_cents: int) -> None:
        """The acceptor has taken what nobody ordered."""
        self._handle(EventType.AMOUNT_DISPUTED, device="bill_acceptor", why=why, most_cents=most_cents)

    def moving(self, *, outward: bool) -> None:
        """Which way the acceptor says the paper moves."""
        invariant(self._phase() is EscrowPhase.ORDERED, "a paper moves that nobody ordered")
        paper = self._machine.memory.require(PaperRecord, MoneyKey.PAPER)
        self._machine.record("bill.moving", state={MoneyKey.PAPER: replace(paper, outward=outward)})

    def set_mark(self, mark: int) -> None:
        """Keep the driver's place in its protocol with the open paper."""
        paper = self._machine.memory.require(PaperRecord, MoneyKey.PAPER)
        self._machine.record("bill.mark", state={MoneyKey.PAPER: replace(paper, mark=mark)})

    def _phase(self) -> EscrowPhase | None:
        record = self.pending()
        return None if record is None else record.phase


class PrintingLedger:
    """The ticket being printed (:class:`egm.devices.ledgers.PrintLedger`)."""

    def __init__(self, machine: Machine, handle: Callable[..., None]) -> None:
        self._machine = machine
        self._handle = handle

    def pending(self) -> PrintRecord | None:
        """The open ticket; one in dispute is a person's, and not the printer's any more."""
        job = open_job(self._machine)
        if job is None or self._kept().state in CLOSED:
            return None
        return PrintRecord(job=job, state=self._kept().state)

    def opened(self, job: TicketJob) -> None:
        """The printer's driver has it."""
        invariant(self.pending() is None, "a second ticket given to the printer")
        language = (
            self._machine.selection.language
            if is_test(job.job_id) or is_slip(job.job_id)
            else self._machine.memory.require(CashOutRecord, MoneyKey.PAY_OUT).language
        )
        kept = PrintingRecord(id=job.job_id, language=language, state=PrintState.PENDING)
        self._machine.record("ticket.pending", state={MoneyKey.PRINT: kept})

    def moved(self, job_id: str, state: PrintState, detail: str) -> None:
        """Its next state; a bar code that is done is money, a failure gives the credits back."""
        stored = self._kept()
        invariant(stored.id == job_id, "the printer speaks of another ticket")
        if state is PrintState.BARCODE_DONE:
            self._handle(EventType.TICKET_PRINTED)
            settled = self._kept().state == PrintState.BARCODE_DONE
            invariant(settled, "a printed ticket was not settled")
        elif state is PrintState.FAILED:
            self._handle(EventType.TICKET_FAILED, why=detail)
            invariant(self._machine.memory.get(MoneyKey.PRINT) is None, "a failed ticket was not given up")
        elif state is PrintState.DISPUTED:
            self._handle(EventType.TICKET_FAILED, why=detail, doubt=True)
            invariant(self.pending() is None, "a ticket in doubt was not brought before a person")
        elif state is PrintState.TAKEN:
            self._machine.record("ticket.taken", state={MoneyKey.PRINT: None}, details={"id": job_id})
        else:
            self._machine.record("ticket.printing", state={MoneyKey.PRINT: replace(stored, state=state)})

    def _kept(self) -> PrintingRecord:
        stored = self._machine.memory.read(PrintingRecord, MoneyKey.PRINT)
        if stored is None:
            raise InvariantError("the printer speaks of a ticket that is not open")
        return stored


class HopperLedger:
    """The coins being paid (:class:`egm.devices.ledgers.PayoutLedger`)."""

    def __init__(self, machine: Machine, handle: Callable[..., None]) -> None:
        self._machine = machine
        self._handle = handle

    def pending(self) -> PayoutRecord | None:
        """The open payout."""
        return self._machine.memory.read(PayoutRecord, MoneyKey.HOPPER)

    def ordered(self, record: PayoutRecord) -> None:
        """The hopper is about to be told."""
        invariant(self.pending() is None, "a second payout ordered from the hopper")
        self._machine.record("coins.ordered", state={MoneyKey.HOPPER: record})

    def progressed(self, payout_id: str, paid_coins: int) -> None:
        """So many have been seen to leave."""
        self._is_of(payout_id)
        kept = self._machine.memory.require(PayoutRecord, MoneyKey.HOPPER)
        self._machine.record(
            "coins.counted",
            state={MoneyKey.HOPPER: replace(kept, paid_coins=paid_coins)},
            details={"id": payout_id, "paid_coins": paid_coins},
        )

    def finished(self, payout_id: str, paid_coins: int, doubt: str = "") -> None:
        """The hopper has counted out so many; of the rest nobody knows where there is a doubt."""
        self._is_of(payout_id)
        self._handle(EventType.COINS_PAID, paid_coins=paid_coins, doubt=doubt)
        invariant(self.pending() is None, "a finished payout was not settled")

    def not_ordered(self, payout_id: str) -> None:
        """Close a cash-out whose coins were never ordered. A test that was never ordered has no record."""
        invariant(self.pending() is None, "a payout that was never ordered beside one that was")
        if not is_test(payout_id):
            self._handle(EventType.COINS_PAID, paid_coins=0)
            invariant(self._machine.memory.get(MoneyKey.PAY_OUT) is None, "an unpaid payout was not settled")

    def strayed(self, coins: int, why: str) -> None:
        """So many have left that nobody ordered."""
        self._handle(EventType.COINS_STRAYED, coins=coins, why=why)

    def _is_of(self, payout_id: str) -> None:
        kept = self.pending()
        invariant(kept is not None and kept.payout_id == payout_id, "the hopper speaks of another payout")


class CoinsLedger:
    """Coins taken in (:class:`egm.devices.ledgers.CoinLedger`)."""

    def __init__(self, machine: Machine, handle: Callable[..., None]) -> None:
        self._machine = machine
        self._handle = handle

    def position(self) -> int | None:
        """How far the acceptor's events are recorded."""
        stored = self._machine.memory.get(MoneyKey.COINS)
        return None if stored is None else int(stored)

    def coins_in(
        self, coins: tuple[tuple[int, bool], ...], position: int, doubt: CoinDoubt | None = None
    ) -> None:
        """Credit each coin, move the position and open what is disputed, in one transaction."""
        self._handle(EventType.COINS_IN, coins=coins, position=position, doubt=doubt)
        if self.position() != position and METER_JUMP in self._machine.faults:
            told = doubt or CoinDoubt(why=_TOO_FAR, least_cents=0, most_cents=0)
            most_cents = told.most_cents + sum(cents for cents, _ in coins)
            self._handle(
                EventType.COINS_IN, coins=(), position=position, doubt=replace(told, most_cents=most_cents)
            )
        invariant(self.position() == position, "coins were not recorded")


@dataclass(frozen=True, slots=True)
class Ledgers:
    """All of them, for whoever makes the drivers."""

    paper: EscrowLedger
    printing: PrintLedger
    coins: CoinLedger
    payouts: PayoutLedger


def ledgers_of(machine: Machine, handle: Callable[..., None]) -> Ledgers:
    """The ledgers of one machine; ``handle`` is its engine's."""
    return Ledgers(
        paper=PaperLedger(machine, handle),
        printing=PrintingLedger(machine, handle),
        coins=CoinsLedger(machine, handle),
        payouts=HopperLedger(machine, handle),
    )

"""A machine, its host, a player and their tickets, with faults of the cable and power cuts.

The host keeps a ledger of its own, written before it acts, and reads nothing of the machine but its bytes.
The acceptor and the printer are physical: what lies in the box or in a hand stays there when the power goes.
A :class:`Fault` strikes once, at a byte on the cable or at an entry of the journal.
"""

from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from egm.config.cabinet_file import TicketValidator
from egm.devices.interface import Banknote, Barcode, MoneyDevices, PrintState
from egm.devices.ledgers import EscrowPhase
from egm.host.timeouts import HostTimeouts
from egm.kernel.events import EventType, State
from egm.links.sas.wire import escape_message_with_wakeup
from egm.money.host_money import HostMoney
from egm.testing.machine import MachineRig
from egm.testing.sas import SasHostBench
from tools.dev.host.host import ASSET_NUMBER, Host, HostRestartedError

ROUNDS_MAX = 400


class PowerGoneError(Exception):
    """The machine has lost its power."""


class Strike(StrEnum):
    """What a fault does."""

    REQUEST = "request"  # the rest of the host's message is lost
    ANSWER = "answer"  # the rest of the machine's answer is lost
    CUT = "cut"  # the machine loses its power at this byte
    BEFORE_ENTRY = "before_entry"  # ... just before this entry of the journal
    AFTER_ENTRY = "after_entry"  # ... just after it
    HOST = "host"  # the host starts again at this byte, with its ledger and no memory


@dataclass
class Fault:
    """Strikes at the ``index``-th byte on the cable, or entry of the journal, of a session."""

    strike: Strike | None = None
    index: int = 0
    struck: bool = False


# ------------------------------------------------------------------------------------------ the cabinet
class Floor:
    """The acceptor and the printer, and the papers: what is physical and outlives the machine's power."""

    def __init__(self) -> None:
        self.hand: list[str] = []  # tickets the player holds
        self.box: list[str] = []
        self.escrow: str | None = None
        self.returning = False
        self.printed: set[str] = set()
        self.room: MachineRig

    # -------------------------------------------------------------- as the machine's devices
    def enable(self, *_: object, **__: object) -> None:
        pass

    disable = enable

    def hold_in_escrow(self, _: int) -> None:
        pass

    def stack(self, escrow: int) -> None:
        assert self.escrow is not None
        self.room.device_ledgers.escrow_ledger.reserve_credit_before_stacking(Barcode(self.escrow), escrow)

    def return_paper(self, _: int) -> None:
        self.returning = True

    def print_ticket(self, job) -> None:
        self.room.device_ledgers.print_ledger.open_print_job(job)

    # -------------------------------------------------------------- what they do by themselves
    def insert(self) -> None:
        """The player puts his first ticket in."""
        self.escrow = self.hand.pop(0)
        self.returning = False
        self.room.engine.handle(EventType.TICKET_ESCROWED, escrow=1, digits=self.escrow)

    def work(self) -> None:
        """Take each motion that was ordered to its end."""
        record = self.room.device_ledgers.escrow_ledger.find_open()
        if record is not None and record.phase is EscrowPhase.ORDERED:
            if self.escrow is not None:
                self.box.append(self.escrow)
                self.escrow = None
            self.room.device_ledgers.escrow_ledger.credit_stacked_paper()
            record = self.room.device_ledgers.escrow_ledger.find_open()
        if record is not None and record.phase is EscrowPhase.CREDITED:
            self.room.device_ledgers.escrow_ledger.close_confirmed_paper()
        if self.returning and self.escrow is not None:
            self._start_returning()
            self.room.engine.handle(EventType.BILL_RETURNED, reason="ordered")
        printing = self.room.device_ledgers.print_ledger.find_open()
        if printing is not None:
            self._print(printing)

    def _print(self, printing) -> None:
        ledger, job = self.room.device_ledgers.print_ledger, printing.job
        if job.job_id not in self.printed:
            self.printed.add(job.job_id)
            self.hand.append(job.barcode)
        if printing.state in {PrintState.PENDING, PrintState.PRINTING}:
            ledger.record_print_state(job.job_id, PrintState.BARCODE_DONE, "")
        ledger.record_print_state(job.job_id, PrintState.TAKEN, "")

    def _start_returning(self) -> None:
        self.hand.append(self.escrow)
        self.escrow, self.returning = None, False

    def power_up(self, room: MachineRig) -> None:
        """Restore the acceptor's power: a paper in escrow is returned, ordered or not.

        A paper that had not begun to move when the power went is returned by the device itself.
        """
        self.room = room
        room.machine.component(MoneyDevices).acceptor = room.machine.component(MoneyDevices).printer = self

    def settle(self) -> None:
        """Tell the machine that is up what became of the paper it may have ordered."""
        record = self.room.device_ledgers.escrow_ledger.find_open()
        if self.escrow is not None:
            self._start_returning()
            if record is not None and record.phase is EscrowPhase.ORDERED:
                self.room.device_ledgers.escrow_ledger.void_unstacked_paper("returned at power-up")
        self.work()


class World:
    """Everything, with one fault to come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.floor = Floor()
        self.fault = Fault()
        self.bytes = 0
        self.entries = 0
        self.restarts = 0
        self.alive = False
        self.paid_by_hand_cents = 0
        self.bills_cents = 0
        self.bank = Host(self.send)
        self.power_up()

    def session(self, fault: Fault) -> None:
        """From here on, count anew, and let this fault come."""
        self.fault, self.bytes, self.entries = fault, 0, 0

    # -------------------------------------------------------------- power
    def power_up(self) -> None:
        """Start the machine on its media, repeatedly if the power is cut meanwhile."""
        while not self.alive:
            host = HostMoney(
                ticket_validator=TicketValidator.SYSTEM,
                can_transfer=True,
                can_award_bonuses=True,
                asset_number=ASSET_NUMBER,
                money_line_name="main",
            )
            room = MachineRig(self.folder, devices=("printer",), host=host)
            self.alive = True
            self._watch(room)
            self.floor.power_up(room)
            with suppress(PowerGoneError):
                self.bench = SasHostBench(self.folder, room)
                self.floor.settle()

    def _watch(self, room: MachineRig) -> None:
        real = room.journal.append

        def append(transaction):
            self.entries += 1
            strikes = self.entries == self.fault.index and not self.fault.struck
            if strikes and self.fault.strike is Strike.BEFORE_ENTRY:
                self.cut()
            posted = real(transaction)
            if strikes and self.fault.strike is Strike.AFTER_ENTRY:
                self.cut()
            return posted

        room.journal.append = append

    def cut(self) -> None:
        """Cut the power: nothing more is written."""
        self.fault.struck = True
        self.alive = False
        self.restarts += 1
        room = self.floor.room
        room.journal.close_without_checkpoint()
        room.lose_power()
        raise PowerGoneError

    def pass_time(self) -> None:
        """Pass enough time for unserved exceptions to be raised again and for host timeouts."""
        self.room.clock.pass_seconds(16)
        context = self.bench.host.context
        for _, (seconds, ended) in list(HostTimeouts(context).iter_waits()):
            assert seconds <= 16
            self.do(lambda ended=ended: context.submit_event(ended))

    def do(self, act) -> None:
        """Let the machine act; the power may be cut meanwhile."""
        with suppress(PowerGoneError):
            act()
        self.power_up()

    @property
    def room(self) -> MachineRig:
        return self.floor.room

    # -------------------------------------------------------------- the cable
    def send(self, message: bytes) -> bytes:
        """Send one message of the host and return what it receives of the reply."""
        received = b""
        try:
            byte_count = self._strikes(len(message), Strike.REQUEST, Strike.CUT, Strike.HOST)
            if byte_count is not None:
                self.bench.exchange(escape_message_with_wakeup(message[:byte_count]) if byte_count else b"")
                if self.fault.strike is Strike.CUT:
                    self.cut()
                self._host_too()
                return b""
            answer = self.bench.send(message)
            byte_count = self._strikes(len(answer), Strike.ANSWER, Strike.CUT, Strike.HOST)
            received = answer if byte_count is None else answer[:byte_count]
            if byte_count is not None and self.fault.strike is Strike.CUT:
                self.cut()
            if byte_count is not None:
                self._host_too()
        except PowerGoneError:
            self.power_up()
        return received

    def _strikes(self, size: int, *kinds: Strike) -> int | None:
        """Where in the next ``size`` bytes the fault strikes, if it does."""
        begin, self.bytes = self.bytes, self.bytes + size
        is_due = self.fault.strike in kinds and not self.fault.struck
        if not is_due or not begin <= self.fault.index < self.bytes:
            return None
        self.fault.struck = True
        return self.fault.index - begin

    def _host_too(self) -> None:
        """Restart the host if that is the fault."""
        if self.fault.strike is Strike.HOST:
            self.bank.restart()
            raise HostRestartedError

    def serve(self) -> None:
        """Let the host poll until nothing is pending."""
        quiet = 0
        for _ in range(ROUNDS_MAX):
            self.do(self.floor.work)
            with suppress(HostRestartedError):
                if self.bank.poll():
                    quiet = 0
                    continue
                self.pass_time()
                self.bank.query_open_items()
                quiet += 1
            if quiet > 2 and not self.bank.has_open_items:
                return
        raise AssertionError("the host and the machine never came to rest")

    # -------------------------------------------------------------- the player
    def fund(self, cents: int) -> None:
        """Insert bills before any fault."""
        room = self.room
        room.hands.offered[99] = Banknote(cents)
        room.device_ledgers.escrow_ledger.reserve_credit_before_stacking(Banknote(cents), 0)
        self.floor.work()
        self.bills_cents += cents

    def attend(self) -> None:
        """Pay pending hand-pays."""
        if self.room.state is State.HANDPAY:
            owed = self.room.machine.memory.get("handpay")["amount_cents"]
            before = self.room.journal.balance_cents("out:handpay_cancelled_credit")
            self.do(lambda: self.room.engine.handle(EventType.KEY_TURNED))
            paid = self.room.journal.balance_cents("out:handpay_cancelled_credit") - before
            assert paid in {0, owed}
            self.paid_by_hand_cents += paid

    def cash_out(self) -> None:
        """Cash out until the credits are on a ticket or a hand-pay."""
        for _ in range(ROUNDS_MAX):
            if self.room.state is State.IDLE and self.room.credit_cents == 0:
                break
            if self.room.state is State.IDLE:
                self.do(lambda: self.room.engine.handle(EventType.CASH_OUT))
            self.attend()
            self.serve()
        self.serve()

    def ticket_in(self) -> None:
        """Insert each ticket until it is accepted."""
        for _ in range(ROUNDS_MAX):
            if not self.floor.hand:
                break
            self.do(self.floor.insert)
            self.serve()
        self.serve()

    def transfer(self, way: str, cents: int) -> None:
        """Order a transfer from the host and follow it to its end."""
        if cents:
            self.bank.order_transfer(way, cents)
        self.serve()

    # -------------------------------------------------------------- the judge
    def check(self) -> None:
        """Check that money in equals money out over the machine's ledger, the host's and the papers."""
        journal, bank = self.room.journal, self.bank
        journal.self_audit()
        assert journal.list_pending() == []
        values = journal.meters().values
        assert values["aft_in.cashable.value"] == bank.sum_moved_cents("in")
        assert values["aft_out.cashable.value"] == bank.sum_moved_cents("out")
        assert values["mach_bonus"] == bank.sum_moved_cents("bonus")
        assert values["ticket_out.cashable.value"] == sum(
            v.cents for v in bank.tickets.values() if v.was_printed
        )
        assert values["ticket_in.cashable.value"] == sum(
            v.cents for v in bank.tickets.values() if v.state == "redeemed"
        )
        owed = sorted(number for number, v in bank.tickets.items() if v.state == "issued")
        assert owed == sorted(number for number in self.floor.hand if number in bank.tickets)
        assert sorted(self.floor.box) == sorted(n for n, v in bank.tickets.items() if v.state == "redeemed")
        outside = bank.account_cents + sum(bank.tickets[number].cents for number in owed)
        put_in = self.bills_cents + bank.opening_balance_cents + bank.sum_moved_cents("bonus")
        assert put_in == journal.credits_cents() + outside + self.paid_by_hand_cents

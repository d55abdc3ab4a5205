"""A machine, the host of its money, a player and the papers in his hand: what a cable and a power cut can do.

The host keeps a ledger of its own, written before it acts, and reads nothing of the machine but its bytes.
The acceptor and the printer are physical: what lies in the box or in a hand stays there when the power goes.
A :class:`Fault` strikes once, at a byte on the cable or at an entry of the journal.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from machine_room import Room
from sas_bench import Bench

from egm.cabinet.host import HostMoney, Validation
from egm.cabinet.patience import Patience
from egm.cabinet.states import Event, State
from egm.devices.interface import Barcode, Note, PrintState
from egm.devices.ledgers import EscrowPhase
from egm.sas.crc import is_intact, sealed
from egm.sas.wire import marked

ASSET = 7
ROUNDS_MAX = 400


class PowerGoneError(Exception):
    """The machine has no power any more."""


class HostGoneError(Exception):
    """The host has started again: whatever it was at, it knows no more of it than its ledger says."""


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
    """Strikes at the ``at``-th byte on the cable, or entry of the journal, of a session."""

    strike: Strike | None = None
    at: int = 0
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
        self.room: Room

    # -------------------------------------------------------------- as the machine's devices
    def enable(self, *_: object, **__: object) -> None:
        pass

    disable = enable

    def hold(self, _: int) -> None:
        pass

    def stack(self, escrow: int) -> None:
        assert self.escrow is not None
        self.room.ledgers.paper.stack_ordered(Barcode(self.escrow), escrow)

    def return_bill(self, _: int) -> None:
        self.returning = True

    def print_ticket(self, job) -> None:
        self.room.ledgers.printing.opened(job)

    # -------------------------------------------------------------- what they do by themselves
    def insert(self) -> None:
        """The player puts his first ticket in."""
        self.escrow = self.hand.pop(0)
        self.returning = False
        self.room.engine.handle(Event.TICKET_ESCROWED, escrow=1, digits=self.escrow)

    def work(self) -> None:
        """Take each motion that was ordered to its end."""
        record = self.room.ledgers.paper.pending()
        if record is not None and record.phase is EscrowPhase.ORDERED:
            if self.escrow is not None:
                self.box.append(self.escrow)
                self.escrow = None
            self.room.ledgers.paper.vended()
            record = self.room.ledgers.paper.pending()
        if record is not None and record.phase is EscrowPhase.VENDED:
            self.room.ledgers.paper.vend_confirmed()
        if self.returning and self.escrow is not None:
            self._give_back()
            self.room.engine.handle(Event.BILL_RETURNED, reason="ordered")
        printing = self.room.ledgers.printing.pending()
        if printing is not None:
            self._print(printing)

    def _print(self, printing) -> None:
        ledger, job = self.room.ledgers.printing, printing.job
        if job.job_id not in self.printed:
            self.printed.add(job.job_id)
            self.hand.append(job.barcode)
        if printing.state in {PrintState.PENDING, PrintState.PRINTING}:
            ledger.moved(job.job_id, PrintState.BARCODE_DONE, "")
        ledger.moved(job.job_id, PrintState.TAKEN, "")

    def _give_back(self) -> None:
        self.hand.append(self.escrow)
        self.escrow, self.returning = None, False

    def power_up(self, room: Room) -> None:
        """The machine is back: what lay in escrow without an order is given back, and so is what had one.

        A paper that had not begun to move when the power went is returned by the device itself.
        """
        self.room = room
        room.cabinet.acceptor = room.cabinet.printer = self

    def settle(self) -> None:
        """Tell the machine that is up what became of the paper it may have ordered."""
        record = self.room.ledgers.paper.pending()
        if self.escrow is not None:
            self._give_back()
            if record is not None and record.phase is EscrowPhase.ORDERED:
                self.room.ledgers.paper.not_stacked("returned at power-up")
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
        self.bank = Bank(self)
        self.power_up()

    def session(self, fault: Fault) -> None:
        """From here on, count anew, and let this fault come."""
        self.fault, self.bytes, self.entries = fault, 0, 0

    # -------------------------------------------------------------- power
    def power_up(self) -> None:
        """Start the machine on what is left of it, as often as it takes."""
        while not self.alive:
            host = HostMoney(
                validation=Validation.SYSTEM, transfers=True, bonuses=True, asset_number=ASSET, line="main"
            )
            room = Room(self.folder, devices=("printer",), host=host)
            self.alive = True
            self._watch(room)
            self.floor.power_up(room)
            with suppress(PowerGoneError):
                self.bench = Bench(self.folder, room)
                self.floor.settle()

    def _watch(self, room: Room) -> None:
        real = room.journal.append

        def append(transaction):
            self.entries += 1
            strikes = self.entries == self.fault.at and not self.fault.struck
            if strikes and self.fault.strike is Strike.BEFORE_ENTRY:
                self.cut()
            posted = real(transaction)
            if strikes and self.fault.strike is Strike.AFTER_ENTRY:
                self.cut()
            return posted

        room.journal.append = append

    def cut(self) -> None:
        """The power goes: nothing more is written."""
        self.fault.struck = True
        self.alive = False
        self.restarts += 1
        room = self.floor.room
        room.open = False
        room.store.close()
        room.journal.abandon()
        raise PowerGoneError

    def pass_time(self) -> None:
        """So long that what was not served is raised again, and the machine waits no more for its host."""
        self.room.clock.pass_seconds(16)
        at = self.bench.host.at
        for _, (seconds, ended) in list(Patience(at).waits()):
            assert seconds <= 16
            self.do(lambda ended=ended: at.handle(ended))

    def do(self, act) -> None:
        """Let the machine do something; the power may go in the middle of it."""
        with suppress(PowerGoneError):
            act()
        self.power_up()

    @property
    def room(self) -> Room:
        return self.floor.room

    # -------------------------------------------------------------- the cable
    def send(self, message: bytes) -> bytes:
        """One message of the host's, and what it hears of the answer."""
        heard = b""
        try:
            at = self._strikes(len(message), Strike.REQUEST, Strike.CUT, Strike.HOST)
            if at is not None:
                self.bench.hear(marked(message[:at]) if at else b"")
                if self.fault.strike is Strike.CUT:
                    self.cut()
                self._host_too()
                return b""
            answer = self.bench.send(message)
            at = self._strikes(len(answer), Strike.ANSWER, Strike.CUT, Strike.HOST)
            heard = answer if at is None else answer[:at]
            if at is not None and self.fault.strike is Strike.CUT:
                self.cut()
            if at is not None:
                self._host_too()
        except PowerGoneError:
            self.power_up()
        return heard

    def _strikes(self, size: int, *kinds: Strike) -> int | None:
        """Where in the next ``size`` bytes the fault strikes, if it does."""
        begin, self.bytes = self.bytes, self.bytes + size
        mine = self.fault.strike in kinds and not self.fault.struck
        if not mine or not begin <= self.fault.at < self.bytes:
            return None
        self.fault.struck = True
        return self.fault.at - begin

    def _host_too(self) -> None:
        """Start the host again, where that is the fault."""
        if self.fault.strike is Strike.HOST:
            self.bank.restart()
            raise HostGoneError

    # -------------------------------------------------------------- the player
    def fund(self, cents: int) -> None:
        """Bills, before any fault."""
        room = self.room
        room.hands.offered[99] = Note(cents)
        room.ledgers.paper.stack_ordered(Note(cents), 0)
        self.floor.work()
        self.bills_cents += cents

    def attend(self) -> None:
        """The attendant pays what is to be paid by hand."""
        if self.room.state is State.HANDPAY:
            owed = self.room.cabinet.recall("handpay")["amount_cents"]
            before = self.room.journal.balance_cents("out:handpay_cancelled_credit")
            self.do(lambda: self.room.engine.handle(Event.KEY_TURNED))
            paid = self.room.journal.balance_cents("out:handpay_cancelled_credit") - before
            assert paid in {0, owed}
            self.paid_by_hand_cents += paid

    def cash_out(self) -> None:
        """Press until the credits are on a ticket, or in the attendant's hand."""
        for _ in range(ROUNDS_MAX):
            if self.room.state is State.IDLE and self.room.credit_cents == 0:
                break
            if self.room.state is State.IDLE:
                self.do(lambda: self.room.engine.handle(Event.CASH_OUT))
            self.attend()
            self.bank.serve()
        self.bank.serve()

    def ticket_in(self) -> None:
        """Put each ticket in until it is taken."""
        for _ in range(ROUNDS_MAX):
            if not self.floor.hand:
                break
            self.do(self.floor.insert)
            self.bank.serve()
        self.bank.serve()

    def transfer(self, way: str, cents: int) -> None:
        """The host moves value, and follows it to its end."""
        if cents:
            self.bank.order(way, cents)
        self.bank.serve()

    # -------------------------------------------------------------- the judge
    def check(self) -> None:
        """Money in is money out, over the machine's ledger, the host's and the papers together."""
        journal, bank = self.room.journal, self.bank
        journal.self_audit()
        assert journal.pending() == []
        values = journal.meters().values
        assert values["aft_in.cashable.value"] == bank.moved("in")
        assert values["aft_out.cashable.value"] == bank.moved("out")
        assert values["mach_bonus"] == bank.moved("bonus")
        assert values["ticket_out.cashable.value"] == sum(
            v.cents for v in bank.vouchers.values() if v.was_issued
        )
        assert values["ticket_in.cashable.value"] == sum(
            v.cents for v in bank.vouchers.values() if v.state == "redeemed"
        )
        owed = sorted(number for number, v in bank.vouchers.items() if v.state == "issued")
        assert owed == sorted(number for number in self.floor.hand if number in bank.vouchers)
        assert sorted(self.floor.box) == sorted(n for n, v in bank.vouchers.items() if v.state == "redeemed")
        outside = bank.account_cents + sum(bank.vouchers[number].cents for number in owed)
        put_in = self.bills_cents + bank.opening_cents + bank.moved("bonus")
        assert put_in == journal.credits_cents() + outside + self.paid_by_hand_cents


# ------------------------------------------------------------------------------------------ the host
@dataclass
class Voucher:
    """A number the host has given. Money from the machine's report on, until it is redeemed."""

    cents: int
    state: str = "given"  # issued, pending, redeemed

    @property
    def was_issued(self) -> bool:
        return self.state != "given"


@dataclass
class Movement:
    """A transfer of the host's: ordered, done (``moved_cents``) or dead."""

    way: str
    cents: int
    state: str = "ordered"
    moved_cents: int = 0


@dataclass
class Bank:
    """The host. The first three fields are its ledger; ``given`` is what a restart forgets."""

    world: World
    opening_cents: int = 50_000
    account_cents: int = 50_000
    vouchers: dict[str, Voucher] = field(default_factory=dict)
    movements: dict[str, Movement] = field(default_factory=dict)
    given: str = ""
    fresh: bool = False

    def restart(self) -> None:
        """All but the ledger is gone."""
        self.given = ""
        self.fresh = True

    # -------------------------------------------------------------- its line
    def ask(self, code: int, data: bytes | None = None) -> bytes:
        """A long poll, repeated while nothing whole comes; its answer's data, empty for silence."""
        message = bytes((1, code)) if data is None else sealed(bytes((1, code)) + data)
        for _ in range(4):
            answer = self.world.send(message)
            if len(answer) > 3 and answer[:2] == bytes((1, code)) and is_intact(answer):
                return answer[2:-2]
        return b""

    def serve(self) -> None:
        """Poll until nothing is open any more."""
        quiet = 0
        for _ in range(ROUNDS_MAX):
            self.world.do(self.world.floor.work)
            with suppress(HostGoneError):
                quiet = 0 if self._poll() else quiet + 1
            if quiet > 2 and not self._open():
                return
        raise AssertionError("the host and the machine never came to rest")

    def _poll(self) -> bool:
        """One general poll, and what it leads to; whether anything had happened."""
        if self.fresh:
            self._catch_up()
        answer = self.world.send(b"\x81")
        if not answer:
            return True  # it may be on its way up
        if answer[0]:
            self.world.send(b"\x80")  # acknowledges: the same poll again would ask for the same answer
            self._see_to(answer[0])
            return True
        self.world.pass_time()
        self._settle()
        return False

    def _open(self) -> bool:
        pending = any(voucher.state == "pending" for voucher in self.vouchers.values())
        return pending or any(movement.state == "ordered" for movement in self.movements.values())

    def _see_to(self, exception: int) -> None:
        match exception:
            case 0x51:
                self.ask(0x1B)
            case 0x57:
                self._give_number()
            case 0x3D:
                self._read_tickets()
            case 0x67:
                self._judge_ticket()
            case 0x68:
                self._end_ticket()
            case 0x69:
                self._end_transfer()

    # -------------------------------------------------------------- tickets
    def _give_number(self) -> None:
        wanted = self.ask(0x57)
        if not wanted or wanted[0] == 0x80:
            return
        if not self.given:
            self.given = f"07{len(self.vouchers) + 1:016d}"
            self.vouchers[self.given] = Voucher(int(wanted[1:6].hex()))
        answer = self.ask(0x58, bytes.fromhex(self.given))
        if answer:
            self.given = ""  # taken, or not wanted any more

    def _read_tickets(self) -> None:
        while (record := self.ask(0x4D, b"\0")) and any(record):
            self._enter(record)
            self.world.send(b"\x80")  # acknowledges

    def _enter(self, record: bytes) -> None:
        number = record[24:25].hex() + record[9:17].hex()
        voucher = self.vouchers[number]  # a KeyError is a number this host never gave
        assert voucher.cents == int(record[17:22].hex())
        if voucher.state == "given":
            voucher.state = "issued"

    def _catch_up(self) -> None:
        """Read the whole ring: a host that starts acknowledges, unread, whatever it was being told."""
        for place in range(1, 32):
            record = self.ask(0x4D, bytes((place,)))
            if any(record):
                self._enter(record)
        self.fresh = False

    def _judge_ticket(self) -> None:
        seen = self.ask(0x70)
        if len(seen) < 17:
            return
        number = seen[8:17].hex()
        voucher = self.vouchers.get(number)
        good = voucher is not None and voucher.state in {"issued", "pending"}
        if voucher is not None and good:
            voucher.state = "pending"
        cents = voucher.cents if voucher is not None else 0
        body = bytes((0 if good else 0x82,)) + bytes.fromhex(f"{cents:010d}") + b"\0" + bytes.fromhex(number)
        self._take_status(self.ask(0x71, bytes((len(body),)) + body))

    def _end_ticket(self) -> None:
        self._take_status(self.ask(0x71, b"\x01\xff"))
        self.world.send(b"\x80")

    def _take_status(self, answer: bytes) -> None:
        """What the machine says of the ticket put in last."""
        if len(answer) < 17:
            return
        status, voucher = answer[1], self.vouchers.get(answer[8:17].hex())
        if voucher is None or voucher.state != "pending":
            return
        if status in {0x00, 0x01, 0x02}:
            assert voucher.cents == int(answer[2:7].hex())
            voucher.state = "redeemed"
        elif status >= 0x80:
            voucher.state = "issued"

    # -------------------------------------------------------------- transfers
    def order(self, way: str, cents: int) -> None:
        """Write a transfer down, then order it."""
        identifier = f"X{len(self.movements) + 1}"
        self.movements[identifier] = Movement(way, cents)
        if way == "in":
            self.account_cents -= cents
        with suppress(HostGoneError):
            self._send_order(identifier)

    def _send_order(self, identifier: str) -> None:
        movement = self.movements[identifier]
        kind = {"in": 0x00, "out": 0x80, "bonus": 0x10}[movement.way]
        body = bytes((0, 0, kind)) + bytes.fromhex(f"{movement.cents:010d}") + bytes(10) + b"\0"
        body += ASSET.to_bytes(4, "little") + bytes(20) + bytes((len(identifier),)) + identifier.encode()
        body += bytes(7)
        answer = self.ask(0x72, bytes((len(body),)) + body)
        if answer and answer[2] == 0xC0:  # an end not yet read: perhaps of this very one
            self._end_transfer()
        elif answer and answer[2] == 0x81:
            self._look_back(identifier)
        elif answer and answer[2] >= 0x80:
            self._end(identifier, 0, done=False)

    def _end_transfer(self) -> None:
        self._read_result(self.ask(0x72, b"\x02\xff\x00"))
        self.world.send(b"\x80")

    def _read_result(self, answer: bytes) -> str:
        """Take the end of a transfer from an answer; the identifier it names."""
        if len(answer) < 26:
            return ""
        size = answer[25]
        identifier, status = answer[26 : 26 + size].decode(), answer[2]
        if status in {0x00, 0x01}:
            self._end(identifier, int(answer[5:10].hex()), done=True)
        elif status >= 0x80:
            self._end(identifier, 0, done=False)
        return identifier

    def _look_back(self, identifier: str) -> None:
        for position in range(1, 36):
            answer = self.ask(0x72, bytes((2, 0xFE, position)))
            if self._read_result(answer) == identifier:
                return

    def _end(self, identifier: str, moved_cents: int, *, done: bool) -> None:
        movement = self.movements[identifier]
        if movement.state != "ordered":
            assert movement.state == "dead" or movement.moved_cents == moved_cents
            return
        movement.state, movement.moved_cents = ("done", moved_cents) if done else ("dead", 0)
        if movement.way == "in":
            self.account_cents += movement.cents - movement.moved_cents
        elif movement.way == "out":
            self.account_cents += movement.moved_cents

    def _settle(self) -> None:
        """Ask about whatever the ledger says is open: a restart has forgotten why."""
        for voucher in self.vouchers.values():
            if voucher.state == "pending":
                answer = self.ask(0x71, b"\x01\xff")
                self._take_status(answer)
                told = self.vouchers.get(answer[8:17].hex()) if len(answer) >= 17 else None
                if answer and told is not voucher and voucher.state == "pending":
                    voucher.state = "issued"  # the machine knows nothing of it
                self.world.send(b"\x80")
        for identifier, movement in self.movements.items():
            if movement.state == "ordered":
                self._send_order(identifier)  # again, whatever became of it: the machine must know better
                self.world.send(b"\x80")

    def moved(self, way: str) -> int:
        """All that was moved one way."""
        return sum(m.moved_cents for m in self.movements.values() if m.way == way)

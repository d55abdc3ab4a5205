"""A host, a player, an attendant and the power do what they like, in any order; the money always adds up.

So it does through authorised clears of the memory, which carry everything over, and through the loss of a
copy of a ledger; and no transfer's identifier moves value twice in all these lives.

Every operation is one that can really come at that moment, whether it makes sense or not: an order while a
door is open, a number nobody waits for, an answer about a ticket that has gone. Nothing may ever raise, and
after each the books hold against what the test itself has seen go in and out.
"""

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

import egm.profiles
from egm.config.cabinet_file import Validation
from egm.devices.interface import Barcode, PrintState
from egm.devices.ledgers import EscrowPhase
from egm.host.ticket_port import HostTicketInterface, NumberReplyResult
from egm.host.transfer_port import HostTransferInterface
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.keys import MoneyKey
from egm.money.records.host import RedemptionStatus, TransferKind, TransferStatus
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import MachineRig
from egm.tickets.redemption import TicketRefusalReason
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

SOLD = Path(egm.profiles.__file__).with_name("generic.toml")
OPERATIONS = 1000
KINDS = tuple(CreditKind)
#: The machine's own meters of what was won, wagered and expired; they begin anew with each journal.
METERED = ("coin_out", "att_jackpot", "refund_defect", "coin_in", "expired")


class Machine:
    """One machine, and what goes in and out of it as the world outside sees it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.dice = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.past: Counter[str] = Counter()
        self.moved: set[str] = set()
        self.numbers = 0
        self.orders = 0
        self.asked: TransferOrder | None = None
        self.escrow: str | None = None
        self.place = folder / "place.toml"
        switched = "[tickets]\npromotional = true\nrestricted_out = true"
        self.place.write_text(SOLD.read_text().replace("[tickets]", switched))
        self.room: MachineRig | None = None
        self.restart()

    # -------------------------------------------------------------- the power
    def restart(self) -> None:
        if self.room is not None:
            self.room.close()
        host = HostMoney(
            validation=Validation.SYSTEM,
            can_transfer=True,
            can_award_bonuses=True,
            asset_number=7,
            money_line_name="main",
            is_online=True,
        )
        self.room = MachineRig(self.folder, profile=self.place, devices=("printer",), host=host)
        self.tickets = HostTicketInterface(self.room.engine, self.room.happen)
        self.transfers = HostTransferInterface(self.room.engine, self.room.happen)
        self.room.hands.stack = self.stack
        journal = self.room.journal
        self.owed_at_start = journal.meters().values["credits"], len(journal.list_pending())
        self.room.boot()
        self.after_power_up()

    def clear(self) -> None:
        """Two people clear the memory and carry everything over; what is owed is the same before and after."""
        values = self.room.journal.meters().values
        owed = values["credits"], len(self.room.journal.list_pending())
        self.room.close()
        self.past.update({name: values[name] for name in METERED})
        clear_with_decisions(self.folder)
        self.restart()
        assert self.owed_at_start == owed

    def lose(self) -> None:
        """A copy of the journal or of the ticket ledger is lost while the power is off."""
        self.room.close()
        copies = [*self.folder.glob("journal.sqlite*")], [*self.folder.glob("second/*.log")]
        for path in self.dice.choice((*copies, [*self.folder.glob("tickets.sqlite*")])):
            path.unlink()
        self.restart()

    def after_power_up(self) -> None:
        """The acceptor gives back what lay in escrow; what was ordered had not begun to move."""
        record = self.room.ledger.find_open()
        if record is not None and record.phase is EscrowPhase.ORDERED:
            self.room.ledger.void_unstacked_paper("returned at power-up")
        elif record is not None:
            self.room.ledger.delete_confirmed_paper()
        self.escrow = None

    def stack(self, escrow: int) -> None:
        """The driver records the order, where the paper still lies there."""
        content = self.room.hands.offered[escrow]
        if not isinstance(content, Barcode) or content.digits == self.escrow:
            self.room.ledgers.escrow_ledger.reserve_credit_before_stacking(content, 0)

    # -------------------------------------------------------------- the player
    def bill(self) -> None:
        if self.room.ledger.find_open() is None and self.escrow is None:
            self.room.offer(self.dice.choice((100, 500, 2000)))
            if self.room.ledger.find_open() is not None:
                cents = self.room.ledger.find_open().content.amount_cents
                self.room.ledger.credit_stacked_paper()
                self.room.ledger.delete_confirmed_paper()
                self.seen["in"] += cents

    def ticket(self) -> None:
        if self.escrow is None and self.room.ledger.find_open() is None:
            self.numbers += 1
            self.escrow = f"09{self.numbers:016d}"
            self.room.offer_ticket(self.escrow)

    def paper_moves(self) -> None:
        """What is ordered is stacked, or comes back; what is not ordered comes back."""
        record = self.room.ledger.find_open()
        if record is not None and record.phase is EscrowPhase.ORDERED:
            if self.dice.random() < 0.8:
                self.room.ledger.credit_stacked_paper()
                self.seen["in"] += self.room.machine.memory.get(MoneyKey.PAPER)["amount_cents"]
                self.room.ledger.delete_confirmed_paper()
            else:
                self.room.ledger.void_unstacked_paper("jam")
            self.escrow = None
        elif self.escrow is not None and self.room.hands.orders[-1][0] == "return":
            self.escrow = None
            self.room.engine.handle(EventType.BILL_RETURNED, reason="ordered")

    def press(self) -> None:
        self.room.engine.handle(self.dice.choice((EventType.CASH_OUT, EventType.PLAY, EventType.PLAY)))

    def shown(self) -> None:
        self.room.report_shown()

    def printer(self) -> None:
        pay_out, printing = (
            self.room.machine.memory.get(MoneyKey.PAY_OUT),
            self.room.machine.memory.get(MoneyKey.PRINT),
        )
        if printing is None:
            return
        if printing["state"] == PrintState.BARCODE_DONE:
            self.room.report_print_state(PrintState.TAKEN)
        elif self.dice.random() < 0.8:
            self.room.report_print_state(PrintState.BARCODE_DONE)
            self.seen["out"] += pay_out["amount_cents"]
        else:
            self.room.report_print_state(PrintState.FAILED, "jam")

    # -------------------------------------------------------------- the attendant, and what happens
    def key(self) -> None:
        handpay = self.room.machine.memory.get(MoneyKey.HANDPAY)
        self.room.engine.handle(EventType.KEY_TURNED)
        if handpay is not None and self.room.machine.memory.get(MoneyKey.HANDPAY) is None:
            self.seen["out"] += handpay["amount_cents"]
            self.seen["won"] += handpay["amount_cents"] if handpay["kind"] == "bonus" else 0

    def door(self) -> None:
        event = self.dice.choice((EventType.DOOR_OPENED, *[EventType.DOOR_CLOSED] * 3))
        self.room.engine.handle(event, door="main")

    def tilt(self) -> None:
        self.room.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")

    def disable(self) -> None:
        event = self.dice.choice((EventType.DISABLED, *[EventType.ENABLED] * 3))
        self.room.engine.handle(event, source="host:main", reason="test")

    # -------------------------------------------------------------- the host
    def number(self) -> None:
        self.numbers += 1
        wanted = self.tickets.pending_number_request
        if self.dice.random() < 0.8:
            answer = self.tickets.assign_number(f"08{self.numbers:016d}")
        else:
            answer = self.tickets.refuse_number(silent=self.dice.random() < 0.5)
        assert (answer is NumberReplyResult.TAKEN) is (wanted is not None)

    def judge(self) -> None:
        digits = self.tickets.offered_ticket_number
        if self.dice.random() < 0.2 or digits is None:
            self.tickets.decline_redemption(
                RedemptionStatus.REJECTED_BY_HOST, TicketRefusalReason.HOST_REFUSED
            )
            self.tickets.authorise_redemption("09" + "9" * 16, CreditKind.CASHABLE, 1)
        else:
            pool = self.dice.randrange(2)
            self.tickets.authorise_redemption(
                digits, self.dice.choice(KINDS), self.dice.randrange(0, 900), pool=pool
            )
        self.tickets.acknowledge_result()

    def order(self) -> None:
        self.orders += 1
        again = self.asked is not None and self.dice.random() < 0.2
        cents = {kind: self.dice.choice((0, 0, 1, 250, 900)) for kind in KINDS}
        order = TransferOrder(
            identifier=self.asked.identifier if again else f"T{self.orders}",
            kind=self.dice.choice(tuple(TransferKind)),
            cents_by_credit_kind=cents,
            may_be_partial=self.dice.random() < 0.5,
            restricted_pool=self.dice.randrange(2),
            stays_locked_afterwards=self.dice.random() < 0.3,
            expiry_date=self.room.machine.local_date + timedelta(days=self.dice.randrange(3)),
        )
        if self.transfers.order_transfer(order, asset_number=7) is TransferStatus.PENDING:
            self.asked = order

    def follow(self) -> None:
        if self.dice.random() < 0.2:
            self.transfers.cancel_order()
        if not self.transfers.has_unread_result:
            return
        last = self.transfers.last_result
        if last.status.has_moved_value:
            assert last.identifier not in self.moved
            self.moved.add(last.identifier)
            total = sum(last.cents_by_credit_kind.values())
            if last.kind is TransferKind.IN:
                self.seen["in"] += total
            elif last.kind is TransferKind.OUT:
                self.seen["out"] += total
            elif last.kind is TransferKind.BONUS:
                self.seen["won"] += total
        self.transfers.acknowledge_result()
        assert not self.transfers.has_unread_result

    def lock(self) -> None:
        self.dice.choice(
            (
                lambda: self.transfers.request_lock(1, 500),
                self.transfers.release_lock,
                lambda: self.room.engine.handle(EventType.LOCK_ENDED),
                lambda: self.transfers.set_cash_out_terms(
                    enabled=self.dice.random() < 0.5, host_only=self.dice.random() < 0.5
                ),
            )
        )()

    def day(self) -> None:
        self.room.clock.pass_seconds(self.dice.choice((1, 3600, 24 * 3600)))
        self.room.engine.handle(EventType.PROMOTION_EXPIRED)

    # -------------------------------------------------------------- the judge
    def check(self) -> None:
        """Credits are what went in and was won, less what was wagered, what went out and what expired."""
        journal = self.room.journal
        journal.self_audit()
        if self.transfers.has_unread_result:
            return  # what has moved there is not counted yet
        now = journal.meters().values
        values = {name: now[name] + self.past[name] for name in METERED}
        won = values["coin_out"] + self.seen["won"] + values["att_jackpot"] + values["refund_defect"]
        spent = values["coin_in"] + self.seen["out"] + values["expired"]
        assert journal.credits_cents() == self.seen["in"] + won - spent


#: Each as often as it takes to get anywhere.
OFTEN = {
    "bill": 3,
    "ticket": 4,
    "paper_moves": 6,
    "press": 6,
    "shown": 6,
    "printer": 6,
    "key": 3,
    "door": 3,
    "tilt": 1,
    "disable": 1,
    "number": 3,
    "judge": 5,
    "order": 7,
    "follow": 7,
    "lock": 4,
    "day": 1,
    "restart": 1,
    "clear": 1,
    "lose": 1,
}


@pytest.mark.requirement("A-27", "F-01", "H-08", "K-09")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_in_whatever_order_things_happen_the_money_adds_up(tmp_path, seed):
    machine = Machine(tmp_path, seed)
    names, weights = tuple(OFTEN), tuple(OFTEN.values())
    try:
        for _ in range(OPERATIONS):
            getattr(machine, machine.dice.choices(names, weights)[0])()
            machine.check()
        assert machine.seen["in"] > 0
        assert machine.seen["out"] > 0
        assert Auditor(GameFiles()).audit_entries(machine.room.journal.iter_bodies()).findings == []
    finally:
        machine.room.close()

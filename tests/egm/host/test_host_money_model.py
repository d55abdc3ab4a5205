"""Random operations of a host, a player and an attendant, with restarts, in any order; the money always balances.

The operations include authorised memory clears, which carry all values over, and the loss of one copy of a ledger. No
transfer identifier moves value twice, even after a restart or a clear.

Every operation can occur at any moment, even if it makes no sense: a transfer order while a door is open, a ticket
number that nothing waits for, a reply about a ticket that has been returned. No operation may raise, and after each
one the journal must agree with the money that the test itself has observed going in and out.
"""

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

import egm.profiles
from egm.config.cabinet_file import TicketValidator
from egm.devices.interface import Barcode, PrintState
from egm.devices.ledgers import EscrowPhase
from egm.host.ticket_interface import HostTicketInterface, TicketNumberReply
from egm.host.transfer_interface import HostTransferInterface
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
#: The machine's meters of wins, wagers and expired credit; each new journal starts them at zero.
BALANCED_METERS = ("coin_out", "att_jackpot", "refund_defect", "coin_in", "expired")


class Machine:
    """One machine, and the money going in and out of it as observed from outside."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.dice = random.Random(seed)
        self.observed: Counter[str] = Counter()
        self.earlier_meters: Counter[str] = Counter()
        self.moved_identifiers: set[str] = set()
        self.number_count = 0
        self.order_count = 0
        self.last_order: TransferOrder | None = None
        self.escrow: str | None = None
        self.profile = folder / "place.toml"
        tickets = "[tickets]\npromotional = true\nrestricted_out = true"
        self.profile.write_text(SOLD.read_text().replace("[tickets]", tickets))
        self.rig: MachineRig | None = None
        self.restart()

    # -------------------------------------------------------------- restarts and memory
    def restart(self) -> None:
        if self.rig is not None:
            self.rig.close()
        host = HostMoney(
            ticket_validator=TicketValidator.SYSTEM,
            can_transfer=True,
            can_award_bonuses=True,
            asset_number=7,
            money_line_name="main",
            is_online=True,
        )
        self.rig = MachineRig(self.folder, profile=self.profile, devices=("printer",), host=host)
        self.tickets = HostTicketInterface(self.rig.engine, self.rig.submit_event)
        self.transfers = HostTransferInterface(self.rig.engine, self.rig.submit_event)
        self.rig.hands.stack = self.stack
        journal = self.rig.journal
        self.owed_at_start = journal.meters().values["credits"], len(journal.list_pending())
        self.rig.boot()
        self.after_power_up()

    def clear_memory(self) -> None:
        """Clear the memory by two people, carrying all values over; the amounts owed must not change."""
        values = self.rig.journal.meters().values
        owed = values["credits"], len(self.rig.journal.list_pending())
        self.rig.close()
        self.earlier_meters.update({name: values[name] for name in BALANCED_METERS})
        clear_with_decisions(self.folder)
        self.restart()
        assert self.owed_at_start == owed

    def lose_copy(self) -> None:
        """Delete one copy of the journal or of the ticket ledger while the power is off."""
        self.rig.close()
        copies = [*self.folder.glob("journal.sqlite*")], [*self.folder.glob("second/*.log")]
        for path in self.dice.choice((*copies, [*self.folder.glob("tickets.sqlite*")])):
            path.unlink()
        self.restart()

    def after_power_up(self) -> None:
        """Return the paper in escrow, because a stack order had not yet moved it."""
        record = self.rig.escrow_ledger.find_open()
        if record is not None and record.phase is EscrowPhase.ORDERED:
            self.rig.escrow_ledger.void_unstacked_paper("returned at power-up")
        elif record is not None:
            self.rig.escrow_ledger.close_confirmed_paper()
        self.escrow = None

    def stack(self, escrow_number: int) -> None:
        """Record the stack order as the driver does, if the paper is still in escrow."""
        content = self.rig.hands.offered[escrow_number]
        if not isinstance(content, Barcode) or content.digits == self.escrow:
            self.rig.device_ledgers.escrow_ledger.reserve_credit_before_stacking(content, 0)

    # -------------------------------------------------------------- the player
    def insert_bill(self) -> None:
        if self.rig.escrow_ledger.find_open() is None and self.escrow is None:
            self.rig.offer(self.dice.choice((100, 500, 2000)))
            if self.rig.escrow_ledger.find_open() is not None:
                cents = self.rig.escrow_ledger.find_open().content.amount_cents
                self.rig.escrow_ledger.credit_stacked_paper()
                self.rig.escrow_ledger.close_confirmed_paper()
                self.observed["in"] += cents

    def offer_ticket(self) -> None:
        if self.escrow is None and self.rig.escrow_ledger.find_open() is None:
            self.number_count += 1
            self.escrow = f"09{self.number_count:016d}"
            self.rig.offer_ticket(self.escrow)

    def move_paper(self) -> None:
        """Stack the paper if that was ordered, or return it; paper that was ordered back is returned."""
        record = self.rig.escrow_ledger.find_open()
        if record is not None and record.phase is EscrowPhase.ORDERED:
            if self.dice.random() < 0.8:
                self.rig.escrow_ledger.credit_stacked_paper()
                self.observed["in"] += self.rig.machine.memory.get(MoneyKey.PAPER_BEING_STACKED)[
                    "amount_cents"
                ]
                self.rig.escrow_ledger.close_confirmed_paper()
            else:
                self.rig.escrow_ledger.void_unstacked_paper("jam")
            self.escrow = None
        elif self.escrow is not None and self.rig.hands.orders[-1][0] == "return":
            self.escrow = None
            self.rig.engine.handle(EventType.BILL_RETURNED, reason="ordered")

    def press_button(self) -> None:
        self.rig.engine.handle(self.dice.choice((EventType.CASH_OUT, EventType.PLAY, EventType.PLAY)))

    def report_shown(self) -> None:
        self.rig.report_shown()

    def advance_printing(self) -> None:
        pay_out, printing = (
            self.rig.machine.memory.get(MoneyKey.PAY_OUT),
            self.rig.machine.memory.get(MoneyKey.PRINT_JOB),
        )
        if printing is None:
            return
        if printing["state"] == PrintState.BARCODE_DONE:
            self.rig.report_print_state(PrintState.TAKEN)
        elif self.dice.random() < 0.8:
            self.rig.report_print_state(PrintState.BARCODE_DONE)
            self.observed["out"] += pay_out["amount_cents"]
        else:
            self.rig.report_print_state(PrintState.FAILED, "jam")

    # -------------------------------------------------------------- the attendant, doors and faults
    def turn_key(self) -> None:
        handpay = self.rig.machine.memory.get(MoneyKey.HANDPAY)
        self.rig.engine.handle(EventType.KEY_TURNED)
        if handpay is not None and self.rig.machine.memory.get(MoneyKey.HANDPAY) is None:
            self.observed["out"] += handpay["amount_cents"]
            self.observed["won"] += handpay["amount_cents"] if handpay["kind"] == "bonus" else 0

    def move_door(self) -> None:
        event = self.dice.choice((EventType.DOOR_OPENED, *[EventType.DOOR_CLOSED] * 3))
        self.rig.engine.handle(event, door="main")

    def raise_tilt(self) -> None:
        self.rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")

    def change_service(self) -> None:
        event = self.dice.choice((EventType.MACHINE_DISABLED, *[EventType.MACHINE_ENABLED] * 3))
        self.rig.engine.handle(event, source="host:main", reason="test")

    # -------------------------------------------------------------- the host
    def reply_to_number_request(self) -> None:
        self.number_count += 1
        number_request = self.tickets.pending_ticket_number_request
        if self.dice.random() < 0.8:
            answer = self.tickets.assign_ticket_number(f"08{self.number_count:016d}")
        else:
            answer = self.tickets.continue_without_host_number(has_timed_out=self.dice.random() < 0.5)
        assert (answer is TicketNumberReply.ACCEPTED) is (number_request is not None)

    def reply_to_redemption(self) -> None:
        digits = self.tickets.offered_ticket_number
        if self.dice.random() < 0.2 or digits is None:
            self.tickets.return_offered_ticket(
                RedemptionStatus.REJECTED_BY_HOST, TicketRefusalReason.HOST_REFUSED
            )
            self.tickets.authorise_redemption("09" + "9" * 16, CreditKind.CASHABLE, 1)
        else:
            pool = self.dice.randrange(2)
            self.tickets.authorise_redemption(
                digits, self.dice.choice(KINDS), self.dice.randrange(0, 900), restricted_pool=pool
            )
        self.tickets.acknowledge_result()

    def order_transfer(self) -> None:
        self.order_count += 1
        is_repeated = self.last_order is not None and self.dice.random() < 0.2
        cents = {kind: self.dice.choice((0, 0, 1, 250, 900)) for kind in KINDS}
        order = TransferOrder(
            identifier=self.last_order.identifier if is_repeated else f"T{self.order_count}",
            kind=self.dice.choice(tuple(TransferKind)),
            cents_by_credit_kind=cents,
            may_be_partial=self.dice.random() < 0.5,
            restricted_pool=self.dice.randrange(2),
            stays_locked_afterwards=self.dice.random() < 0.3,
            expiry_date=self.rig.machine.local_date + timedelta(days=self.dice.randrange(3)),
        )
        if self.transfers.execute_or_refuse_order(order, asset_number=7) is TransferStatus.PENDING:
            self.last_order = order

    def read_transfer_result(self) -> None:
        if self.dice.random() < 0.2:
            self.transfers.cancel_order()
        if not self.transfers.has_unread_result:
            return
        last = self.transfers.last_result
        if last.status.has_moved_value:
            assert last.identifier not in self.moved_identifiers
            self.moved_identifiers.add(last.identifier)
            total = sum(last.cents_by_credit_kind.values())
            if last.kind is TransferKind.IN:
                self.observed["in"] += total
            elif last.kind is TransferKind.OUT:
                self.observed["out"] += total
            elif last.kind is TransferKind.BONUS:
                self.observed["won"] += total
        self.transfers.acknowledge_result()
        assert not self.transfers.has_unread_result

    def change_lock(self) -> None:
        self.dice.choice(
            (
                lambda: self.transfers.request_lock(1, 500),
                self.transfers.release_lock,
                lambda: self.rig.engine.handle(EventType.TRANSFER_LOCK_ENDED),
                lambda: self.transfers.set_cash_out_terms(
                    is_offered_to_host=self.dice.random() < 0.5, is_host_only=self.dice.random() < 0.5
                ),
            )
        )()

    def advance_clock(self) -> None:
        self.rig.clock.pass_seconds(self.dice.choice((1, 3600, 24 * 3600)))
        self.rig.engine.handle(EventType.RESTRICTED_CREDIT_EXPIRED)

    # -------------------------------------------------------------- the check
    def check(self) -> None:
        """Assert that credits equal money in plus wins, less wagers, money out and expired credit."""
        journal = self.rig.journal
        journal.self_audit()
        if self.transfers.has_unread_result:
            return  # the test has not yet counted this transfer
        meters = journal.meters().values
        values = {name: meters[name] + self.earlier_meters[name] for name in BALANCED_METERS}
        won = values["coin_out"] + self.observed["won"] + values["att_jackpot"] + values["refund_defect"]
        spent = values["coin_in"] + self.observed["out"] + values["expired"]
        assert journal.credits_cents() == self.observed["in"] + won - spent


#: The relative frequency of each operation, chosen so that tickets, transfers and games are completed.
WEIGHT_BY_OPERATION = {
    "insert_bill": 3,
    "offer_ticket": 4,
    "move_paper": 6,
    "press_button": 6,
    "report_shown": 6,
    "advance_printing": 6,
    "turn_key": 3,
    "move_door": 3,
    "raise_tilt": 1,
    "change_service": 1,
    "reply_to_number_request": 3,
    "reply_to_redemption": 5,
    "order_transfer": 7,
    "read_transfer_result": 7,
    "change_lock": 4,
    "advance_clock": 1,
    "restart": 1,
    "clear_memory": 1,
    "lose_copy": 1,
}


@pytest.mark.requirement("A-27", "F-01", "H-08", "K-09")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_money_balances_after_any_sequence_of_host_player_and_attendant_operations(tmp_path, seed):
    machine = Machine(tmp_path, seed)
    names, weights = tuple(WEIGHT_BY_OPERATION), tuple(WEIGHT_BY_OPERATION.values())
    try:
        for _ in range(OPERATIONS):
            getattr(machine, machine.dice.choices(names, weights)[0])()
            machine.check()
        assert machine.observed["in"] > 0
        assert machine.observed["out"] > 0
        assert Auditor(GameFiles()).audit_entries(machine.rig.journal.iter_bodies()).findings == []
    finally:
        machine.rig.close()

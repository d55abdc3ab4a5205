"""The power is cut at every storage operation while a hand-pay becomes a ticket: there is one of the two.

The machine waits without paper; the paper comes back, the player asks for a ticket, the attendant turns the
key, the ticket is printed. Wherever it is cut, whoever stands there does what the machine then waits for.
"""

import pytest
from powercut_disk import Disk
from powercut_life import Life, cuts, every_nth, tell

from egm.devices.interface import PrintState
from egm.kernel.events import EventType, State
from egm.money.keys import MoneyKey
from egm.testing.machine import MachineRig
from egm.tickets.model import TicketState

PAPER = "ticket_printer.paper_out"
HAND, TICKET = "out:handpay_cancelled_credit", "out:voucher:cashable"


class Instead(Life):
    """A pending hand-pay and its end; cuts are counted from when it is pending."""

    counted_when_up = True

    def machine(self):
        return MachineRig(self.folder, devices=("printer",), storage=self.storage)

    def boot(self):
        super().boot()
        if self.cut_at is not None:
            self.room.insert(2000)
            self.room.engine.handle(EventType.FAULT_RAISED, code=PAPER)
            self.room.engine.handle(EventType.CASH_OUT)
            assert self.room.state is State.HANDPAY

    def over(self):
        return self.room.state is State.IDLE

    def act(self):
        match self.room.state:
            case State.HANDPAY if PAPER in self.room.machine.active_faults:
                self.room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
            case State.HANDPAY if "way" not in self.room.machine.memory.get(MoneyKey.HANDPAY):
                self.room.engine.handle(EventType.CASH_OUT)
            case State.PAYING:
                for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
                    self.room.report_print_state(state)
            case _:
                super().act()

    def judge(self):
        """Check that the twenty dollars were paid once, by hand or by ticket."""
        rig = self.room
        by_hand, on_ticket = rig.journal.balance_cents(HAND), rig.journal.balance_cents(TICKET)
        assert sorted((by_hand, on_ticket)) == [0, 2000]
        assert (rig.credit_cents, rig.journal.list_pending()) == (0, [])
        issued = [record for record in rig.ticket_store.iter_records() if record.state is TicketState.ISSUED]
        assert sum(record.ticket.amount_cents for record in issued) == on_ticket


@pytest.mark.requirement("A-08", "F-08", "F-09")
@every_nth(41)
def test_a_power_cut_leaves_the_hand_pay_or_the_ticket(tmp_path, capsys, every):
    operation_number = 0
    for operation_number, rebooted_disk in cuts(
        lambda disk: Instead(tmp_path / str(disk.cut_at), disk).run(), Disk(), every
    ):
        assert Instead(tmp_path / str(operation_number), rebooted_disk).run()
    assert operation_number > 30
    tell(capsys, 1 + (operation_number - 1) // every)

"""The power is cut at every storage operation while a hand-pay becomes a ticket: there is one of the two.

The machine waits without paper; the paper comes back, the player asks for a ticket, the attendant turns the
key, the ticket is printed. Wherever it is cut, whoever stands there does what the machine then waits for.
"""

import random
from itertools import count

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage

from egm.devices.interface import PrintState
from egm.kernel.events import EventType, State
from egm.records.keys import MoneyKey
from egm.testing.machine import MachineRig
from egm.tickets.model import TicketState
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

PAPER = "ticket_printer.paper_out"
HAND, TICKET = "out:handpay_cancelled_credit", "out:voucher:cashable"


class Life:
    """One life of the machine, from power up to a cut or the end."""

    def __init__(self, folder, disk):
        self.folder, self.disk = folder, disk
        self.storage = SimStorage(disk)
        self.room = None

    def run(self, cut_at=None):
        """Go on to the end; say whether the power stayed on. The cut counts from where the machine waits."""
        try:
            self.room = MachineRig(self.folder, devices=("printer",), storage=self.storage).boot()
            if cut_at is not None:
                self._begin()
                self.disk.operations, self.disk.cut_at = 0, cut_at
            while self.room.state is not State.IDLE:
                self._step()
            judge(self.room)
            self.room.close()
        except PowerCut:
            leave(self.storage, self.folder, self.folder / "second")
            if self.room is not None:
                self.room.lose()
            return False
        return True

    def _begin(self):
        self.room.insert(2000)
        self.room.engine.handle(EventType.FAULT_RAISED, code=PAPER)
        self.room.engine.handle(EventType.CASH_OUT)
        assert self.room.state is State.HANDPAY

    def _step(self):
        room = self.room
        match room.state:
            case State.HANDPAY if PAPER in room.machine.faults:
                room.engine.handle(EventType.FAULT_CLEARED, code=PAPER)
            case State.HANDPAY if "way" not in room.machine.memory.get(MoneyKey.HANDPAY):
                room.engine.handle(EventType.CASH_OUT)
            case State.HANDPAY:
                room.engine.handle(EventType.KEY_TURNED, key="attendant")
            case State.PAYING:
                for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
                    room.printer_says(state)
            case stuck:
                raise AssertionError(f"the machine is stuck in {stuck}")


def judge(room):
    """The twenty dollars have left once, whichever way, and an audit finds nothing wrong."""
    by_hand, on_ticket = room.journal.balance_cents(HAND), room.journal.balance_cents(TICKET)
    assert sorted((by_hand, on_ticket)) == [0, 2000]
    assert (room.credit_cents, room.journal.pending()) == (0, [])
    issued = [record for record in room.store.records() if record.state is TicketState.ISSUED]
    assert sum(record.ticket.amount_cents for record in issued) == on_ticket
    assert Auditor(Shelf()).run(room.journal.bodies()).findings == []


@pytest.mark.requirement("A-08", "F-08", "F-09")
def test_a_cut_at_every_operation_leaves_the_hand_pay_or_the_ticket(tmp_path, capsys):
    for cuts in count(1):
        folder, disk = tmp_path / str(cuts), Disk()
        if Life(folder, disk).run(cut_at=cuts):
            break
        found = disk.reboot(random.Random(cuts), (0.0, 0.5, 1.0)[cuts % 3])
        assert Life(folder, found).run()
    assert cuts > 30
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")

"""Tickets of a machine whose clock jumps to 1970, to 2038 and back; the money is always complete.

Goal: whatever the clock shows and whenever the power is cut, the player's money is on the meter, on a ticket that is
accepted, or with the attendant. No ticket has a date from an unconfirmed clock or expires by one, and reading changes
nothing. Method: random operations on a real machine against a model of where the money is, and finally the
independent audit of the journal.
"""

import random
from datetime import UTC, datetime, timedelta

import pytest

from egm.integrity.clock_trust import record_clock_trust
from egm.kernel.events import EventType, State
from egm.kernel.timekeeping import OFF_TIME_WITHOUT_CONFIRMATION_MAX
from egm.money.keys import MoneyKey
from egm.testing.machine import MachineRig
from egm.tickets.model import TicketState
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

OPERATIONS = 120
TECHNICIAN = "4"
WRONG = (
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    datetime(2036, 2, 29, tzinfo=UTC),
    datetime(1901, 12, 13, 20, 45, 52, tzinfo=UTC),
)


class Machine:
    """A machine, the true time, and the model of where the money is."""

    def __init__(self, folder, seed):
        self.folder, self.dice = folder, random.Random(seed)
        self.truth = datetime(2026, 1, 1, tzinfo=UTC)
        self.meter_cents = self.by_hand_cents = 0
        self.tickets = {}
        self.dated = 0
        self.room = MachineRig(folder, devices=("printer",)).boot()

    # -------------------------------------------------------------- time and power
    def pass_time(self, seconds):
        self.truth += timedelta(seconds=seconds)
        self.room.clock.pass_seconds(seconds)

    def set_wrong_clock(self):
        self.room.clock.wall = self.dice.choice(WRONG)

    def set_true_clock(self):
        self.room.clock.wall = self.truth

    def confirm_clock(self):
        """Let a technician confirm the correct date with the door open."""
        self.set_true_clock()
        self.room.engine.handle(EventType.DOOR_OPENED, door="main")
        signed = {"form": "clock", "person": TECHNICIAN, "persons": (TECHNICIAN,)}
        self.room.engine.handle(EventType.CLOCK_CONFIRMED, date=f"{self.truth:%Y%m%d}", **signed)
        self.room.engine.handle(EventType.DOOR_CLOSED, door="main")
        assert self.room.machine.timekeeper.is_clock_trusted

    def restart(self):
        wall = self.room.clock.wall
        self.room.close()
        off = timedelta(days=self.dice.choice((0, 1, 40)))
        self.truth += off
        shown = self.dice.choice((wall + off, self.truth, *WRONG))
        self.room = MachineRig(self.folder, devices=("printer",), wall_time=shown).boot()

    # -------------------------------------------------------------- money
    def insert_bill(self):
        if self.room.state is State.IDLE and self.meter_cents < 10_000:
            self.room.insert(500)
            self.meter_cents += 500

    def cash_out(self):
        if self.room.state is not State.IDLE or not self.meter_cents:
            return
        believed, cents = self.room.machine.timekeeper.is_clock_trusted, self.meter_cents
        self.meter_cents = 0
        if believed:
            number = self.room.cash_out_ticket()
            self.tickets[number] = cents
            ticket = self.room.ticket_store.require_ticket(number).ticket
            assert abs(ticket.issued_at - self.room.clock.now()) < timedelta(seconds=1)
            self.dated += 1
            return
        jobs = len(self.room.hands.jobs)
        self.room.engine.handle(EventType.CASH_OUT)
        assert self.room.state is State.HANDPAY
        assert len(self.room.hands.jobs) == jobs, "a ticket with a date nobody believes"
        assert self.room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == cents
        self.room.engine.handle(EventType.KEY_TURNED, key="attendant")
        self.by_hand_cents += cents

    def insert_ticket(self):
        if self.room.state is not State.IDLE or not self.tickets:
            return
        number = self.dice.choice(sorted(self.tickets))
        record = self.room.ticket_store.require_ticket(number)
        is_past = (
            record.is_expired_at(self.room.clock.now()) and self.room.machine.timekeeper.is_clock_trusted
        )
        self.room.offer_ticket(number)
        if is_past:
            assert self.room.notice == "ticket_refused.expired"
            assert self.room.ticket_store.require_ticket(number) == record
            return
        self.room.escrow_ledger.credit_stacked_paper()
        self.room.escrow_ledger.close_confirmed_paper()
        self.meter_cents += self.tickets.pop(number)

    def step(self):
        acts = (
            self.insert_bill,
            self.cash_out,
            self.insert_ticket,
            self.restart,
            self.set_wrong_clock,
            self.set_true_clock,
        )
        act = self.dice.choice(
            (*acts, self.insert_bill, self.cash_out, self.insert_ticket, self.confirm_clock)
        )
        act()
        record_clock_trust(self.room.machine)
        self.pass_time(self.dice.choice((1, 600, 90_000)))
        self.check_money()

    def check_money(self):
        journal, machine = self.room.journal, self.room.machine
        assert machine.credit_cents == self.meter_cents
        assert journal.balance_cents("out:handpay_cancelled_credit") == self.by_hand_cents
        owed = {
            r.ticket.number: r.ticket.amount_cents
            for r in self.room.ticket_store.iter_records(TicketState.ISSUED)
        }
        assert owed == self.tickets, "a ticket expired, or was lost"
        assert "ticket_ledger" not in machine.active_faults
        wrong = abs(self.room.clock.now() - self.truth) > OFF_TIME_WITHOUT_CONFIRMATION_MAX * 3
        assert not (wrong and machine.timekeeper.is_clock_trusted), "a clock far off the truth is believed"


@pytest.mark.requirement("H-10", "H-07", "F-01")
@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_clock_shows_no_money_is_lost_and_the_audit_agrees(tmp_path, seed):
    machine = Machine(tmp_path, seed)
    for _ in range(OPERATIONS):
        machine.step()
    machine.confirm_clock()
    assert machine.dated, "no ticket was printed: the run shows nothing"
    journal = machine.room.journal
    report = Auditor(GameFiles()).audit_entries(
        journal.iter_bodies(), expected_head=(journal.sequence, journal.head_hash)
    )
    assert report.findings == []

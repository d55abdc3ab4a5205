"""With faults of the cable, power cuts and restarts of the host, no cent is lost or doubled.

One machine and one host live through thousands of sessions. In each, credits go out on a ticket with a number
of the host's, come in again on the host's word, go to an account, come back, and a bonus is added; and in
each one fault strikes, at a byte on the cable or at an entry of the journal. After each, both ledgers, the
papers and the attendant's cash are added up. The frames go through the machine's real framing, channel and
polls; the journal and the ticket ledger are real.
"""

import random

import pytest
from host_world import Fault, Strike, World

CABLE = (Strike.REQUEST, Strike.ANSWER, Strike.HOST, Strike.CUT)
JOURNAL = (Strike.BEFORE_ENTRY, Strike.AFTER_ENTRY)
#: Of the bytes of a session, the fast tier takes one in so many; the slow tier takes all.
STEP = {Strike.REQUEST: 29, Strike.ANSWER: 29, Strike.HOST: 31, Strike.CUT: 47}


@pytest.fixture
def world(tmp_path):
    opened = World(tmp_path)
    yield opened
    if opened.alive:
        opened.room.close()


def session(world: World, fault: Fault) -> None:
    """Run the whole session once with the fault, and check the money."""
    if world.room.credit_cents < 2000:
        world.fund(2000)
    world.session(fault)
    world.cash_out()
    world.ticket_in()
    world.transfer("out", world.room.credit_cents)
    world.transfer("in", min(2000, world.bank.account_cents))
    world.transfer("bonus", 5)
    world.fault = Fault()
    world.check()


def measure(world: World) -> tuple[int, int]:
    """Return the number of bytes and entries of a session without a fault."""
    session(world, Fault())
    session(world, Fault())
    return world.bytes, world.entries


@pytest.mark.requirement("H-08", "K-09")
def test_a_host_session_without_a_fault_transfers_and_redeems_everything(world):
    bytes_, entries = measure(world)
    assert bytes_ > 300
    assert entries > 12
    assert world.bank.sum_moved_cents("in") == 4000
    assert (world.restarts, world.paid_by_hand_cents) == (0, 0)
    assert [voucher.state for voucher in world.bank.tickets.values()] == ["redeemed"] * 2


@pytest.mark.requirement("A-08", "H-07", "H-08", "K-09")
@pytest.mark.parametrize("strike", CABLE)
def test_a_fault_at_some_bytes_on_the_cable_loses_and_doubles_no_money(world, strike):
    bytes_, _ = measure(world)
    first = random.Random(f"2026 {strike}").randrange(STEP[strike])
    struck = 0
    for index in range(first, bytes_, STEP[strike]):
        fault = Fault(strike, index)
        session(world, fault)
        struck += fault.struck
    assert struck > bytes_ // STEP[strike] // 5, "hardly a fault struck: the test shows nothing"
    assert world.restarts == (struck if strike is Strike.CUT else 0)


@pytest.mark.requirement("A-08", "H-07", "H-08", "K-09")
@pytest.mark.parametrize("strike", JOURNAL)
def test_a_power_cut_at_every_journal_entry_loses_and_doubles_no_host_money(world, strike):
    _, entries = measure(world)
    for index in range(1, entries + 1):
        fault = Fault(strike, index)
        session(world, fault)
        assert fault.struck
    assert world.restarts == entries


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.requirement("A-08", "H-07", "H-08", "K-09")
@pytest.mark.parametrize("strike", CABLE)
def test_a_fault_at_every_byte_on_the_cable_loses_and_doubles_no_money(world, strike):
    bytes_, _ = measure(world)
    struck = 0
    for index in range(bytes_):
        fault = Fault(strike, index)
        session(world, fault)
        struck += fault.struck
    assert struck > bytes_ // 5

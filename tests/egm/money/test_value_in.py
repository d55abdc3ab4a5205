"""Bills: reserved, stacked, credited; every interruption ends in a credit or a return, one of the two."""

import pytest
from rigs.lies import KEY, found_in, without_terms

from egm.app.wiring import iter_reported_events
from egm.devices.interface import Barcode, Note, Returned, ReturnReason
from egm.devices.ledgers import EscrowPhase
from egm.errors import InvariantError
from egm.kernel.events import EventType, State
from egm.money.keys import MoneyKey
from egm.money.value_in import list_wanted_bills, list_wanted_coins, should_accept_tickets
from egm.testing.machine import MachineRig
from tools.dev.lies import adopted


@pytest.fixture
def room(tmp_path):
    room = MachineRig(tmp_path).boot()
    yield room
    room.close()


@pytest.mark.requirement("G-02")
def test_credit_comes_only_with_the_stacked_bill(room):
    room.offer(2000)
    assert room.hands.orders == [("stack", 1)]
    assert room.credit_cents == 0
    assert room.ledger.find_open().phase is EscrowPhase.ORDERED
    room.ledger.credit_stacked_paper()
    assert room.credit_cents == 2000
    assert room.notice == "bill_accepted"
    room.ledger.vend_confirmed()
    assert room.ledger.find_open() is None


@pytest.mark.requirement("G-05")
def test_a_restart_remembers_the_bill_under_way(room, tmp_path):
    room.offer(2000)
    room.close()
    again = MachineRig(tmp_path).boot()
    assert again.ledger.find_open().content == Note(2000)
    again.ledger.credit_stacked_paper()
    again.close()
    third = MachineRig(tmp_path).boot()
    assert third.ledger.find_open().phase is EscrowPhase.VENDED
    with pytest.raises(InvariantError):
        third.ledger.credit_stacked_paper()
    assert third.credit_cents == 2000
    third.close()


def test_a_bill_that_never_reached_the_box_is_void(room):
    room.offer(2000)
    room.ledger.void_unstacked_paper("pulled back")
    assert room.credit_cents == 0
    assert room.journal.list_pending() == []
    assert room.records("bill.not_stacked") == [{"why": "pulled back", "amount_cents": 2000}]
    with pytest.raises(InvariantError):
        room.ledger.credit_stacked_paper()


@pytest.mark.requirement("G-03")
def test_a_bill_the_profile_does_not_take_is_returned_with_the_reason_on_screen(room):
    room.offer(200)
    assert room.hands.orders == [("return", 1)]
    assert room.notice == "bill_returned"


@pytest.mark.requirement("F-12")
@pytest.mark.parametrize(("inserted", "taken"), [(29, True), (30, False)])
def test_the_credit_limit_closes_the_acceptor(room, inserted, taken):
    for _ in range(inserted):
        room.insert(10000)
    assert bool(list_wanted_bills(room.machine, room.state)) is taken
    room.offer(100)
    assert room.hands.orders[-1][0] == ("stack" if taken else "return")


@pytest.mark.requirement("F-12")
@pytest.mark.parametrize(("inserted", "taken"), [(29, True), (30, False)])
def test_the_credit_limit_closes_the_acceptors_to_tickets_and_coins(tmp_path, inserted, taken):
    room = MachineRig(tmp_path, devices=("printer",)).boot().insert(100)
    number = room.cash_out_ticket()
    for _ in range(inserted):
        room.insert(10000)
    assert should_accept_tickets(room.machine, room.state) is taken
    assert bool(list_wanted_coins(room.machine, room.state)) is taken
    room.offer_ticket(number)
    assert room.hands.orders[-1][0] == ("stack" if taken else "return")
    room.close()


@pytest.mark.requirement("G-04")
@pytest.mark.parametrize("state", State, ids=str)
def test_no_acceptor_takes_anything_in_a_state_other_than_idle(room, state):
    taken = (
        list_wanted_bills(room.machine, state),
        list_wanted_coins(room.machine, state),
        should_accept_tickets(room.machine, state),
    )
    assert [bool(each) for each in taken] == [state is State.IDLE] * 3


@pytest.mark.requirement("G-04", "J-02")
def test_a_bill_offered_while_the_door_is_open_goes_back(room):
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    assert list_wanted_bills(room.machine, room.state) == frozenset()
    room.offer(2000)
    assert room.hands.orders == [("return", 1)]
    assert room.state is State.DOOR_OPEN


def test_a_bill_stacked_as_the_door_opens_is_credited(room):
    room.offer(2000)
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    room.ledger.credit_stacked_paper()
    assert room.credit_cents == 2000
    assert room.state is State.DOOR_OPEN


def test_a_second_bill_waits_for_the_first(room):
    room.offer(2000)
    room.offer(500)
    assert room.hands.orders == [("stack", 1), ("return", 2)]
    assert room.machine.memory.get(MoneyKey.PAPER)["amount_cents"] == 2000


def test_the_drivers_place_in_its_protocol_is_kept(room):
    room.offer(2000)
    room.ledger.set_protocol_position(7)
    assert room.ledger.find_open().mark == 7


def test_a_ticket_is_never_stacked_as_a_bill(room):
    with pytest.raises(InvariantError, match="ticket"):
        room.ledger.stack_ordered(Barcode("00" * 9), 0)


# ---------------------------------------------------------------------------------------------- given back
def given_back(room, content):
    for event in iter_reported_events(
        Returned(device="bill", content=content, reason=ReturnReason.DEVICE), "bill_acceptor", ()
    ):
        room.happen(event)


@pytest.mark.requirement("H-08")
def test_a_ticket_given_back_is_called_a_ticket_and_counts_as_none_of_the_bills(room):
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    room.engine.handle(EventType.TICKET_ESCROWED, escrow=3, digits="00" * 9)
    assert room.notice == "ticket_returned"
    given_back(room, Barcode("00" * 9))
    assert (len(room.records("voucher.returned")), room.records("bill.returned")) == (1, [])
    values = room.journal.meters().values
    assert (values["vouchers_returned"], "bills_returned" in values) == (1, False)


def test_a_bill_given_back_by_the_acceptor_takes_the_word_of_the_one_before_off_the_screen(room):
    room.insert(2000)
    assert room.notice == "bill_accepted"
    given_back(room, Note(500))
    assert room.notice == "bill_returned"


STOPS = {
    "a door": (EventType.DOOR_OPENED, {"door": "main"}),
    "a tilt": (EventType.FAULT_RAISED, {"code": "bill_acceptor.cheat"}),
    "the menu": (EventType.MENU, {"key": "operator"}),
    "a host": (EventType.DISABLED, {"source": "host:main", "reason": "closed"}),
}


@pytest.mark.requirement("G-03", "E-13")
@pytest.mark.parametrize("stop", STOPS)
def test_no_order_to_stack_is_recorded_once_the_machine_has_stopped(room, stop):
    """The acceptor asks again just before it orders; whoever recorded it all the same is named by the audit."""
    assert room.ledger.may_order()
    event, values = STOPS[stop]
    room.engine.handle(event, **values)
    assert not room.ledger.may_order()
    room.ledger.stack_ordered(Note(500), 0)
    entries = adopted(list(room.journal.iter_bodies()), KEY)
    assert "is not allowed while the machine is" in found_in(entries)[len(entries)]
    earlier = [without_terms(raw) for raw in entries]  # earlier versions did not ask again
    assert len(entries) not in found_in(earlier)


def test_a_game_begun_meanwhile_keeps_no_bill_from_the_box(room):
    room.insert(500)
    room.play()
    assert room.state is State.PLAYING
    assert room.ledger.may_order()

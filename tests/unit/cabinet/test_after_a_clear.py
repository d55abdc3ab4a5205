"""After an authorised clear the journal counts from one again; what it is known by elsewhere must not."""

import pytest
from machine_room import Room

from egm.cabinet.cabinet import Key
from egm.cabinet.host.model import HostMoney, Validation
from egm.cabinet.host.ticket_port import HostTickets
from egm.cabinet.states import Event, State
from egm.tickets.model import TicketState
from meters.clear import Clearance, clear, inspect

CLEARANCE = {"person": "A", "second_person": "B", "reason": "both copies damaged"}


def cleared(room: Room, folder, **options) -> Room:
    """The same cabinet, its memory cleared as by ``egm audit clear``, at work again."""
    room.close()
    found = inspect(folder)
    clearance = Clearance(**CLEARANCE, challenge=found.challenge, settled_cents=found.credits_cents)
    clear(folder, clearance, now=room.clock.now)
    return Room(folder, devices=("printer",), **options).boot()


def number_of(entry_id: str) -> int:
    return int(entry_id.split("-")[1])


def come_to(room: Room, place: int) -> None:
    """Let so much happen that the next entry stands at ``place``."""
    while room.journal.sequence < place - 1:
        room.cabinet.log("test.time_passes", {})
    assert room.journal.sequence == place - 1


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path, devices=("printer",)).boot()


@pytest.mark.requirement("A-05", "H-05", "H-06")
def test_a_cash_out_never_gets_the_ticket_of_an_earlier_life(room, tmp_path):
    room.insert(2000)
    come_to(room, 30)
    old = room.cash_out_ticket()
    place = number_of(room.store.get(old).issue_id)
    again = cleared(room, tmp_path).insert(500)
    come_to(again, place)
    new = again.cash_out_ticket()
    assert new != old
    assert again.store.get(new).ticket.amount_cents == 500
    assert again.store.get(old).state is TicketState.ISSUED
    again.close()


@pytest.mark.requirement("A-05", "H-07", "H-08")
def test_a_ticket_of_an_earlier_life_is_good_and_taken_once(room, tmp_path):
    tickets = []
    for cents in (2000, 1000):
        room.insert(cents)
        tickets.append(room.cash_out_ticket())
    come_to(room, 40)
    room.offer_ticket(tickets[0])
    place = number_of(room.cabinet.recall(Key.PAPER)["id"])
    room.ledger.vended()
    room.ledger.vend_confirmed()
    again = cleared(room, tmp_path)
    come_to(again, place)
    again.offer_ticket(tickets[1])
    again.ledger.vended()
    again.ledger.vend_confirmed()
    assert again.credit_cents == 1000
    again.offer_ticket(tickets[1])
    assert again.notice == "ticket_refused.redeemed"
    assert again.state is State.IDLE
    again.close()


def test_ids_differ_after_every_clear_and_stay_plain_before_one(room, tmp_path):
    ids = []
    for _ in range(3):
        come_to(room, 50)
        ids.append(room.cabinet.fresh_id("play"))
        room = cleared(room, tmp_path)
    assert ids[0] == "play-50"
    assert len(set(ids)) == 3
    assert {number_of(each) for each in ids} == {50}


@pytest.mark.requirement("A-05", "H-09")
def test_a_host_reads_of_the_tickets_it_had_not_read_before_the_clear(tmp_path):
    def host() -> HostMoney:
        return HostMoney(validation=Validation.SECURE_ENHANCED, online=True)

    room = Room(tmp_path, devices=("printer",), host=host()).boot()
    HostTickets(room.engine, room.happen).enrol(0xABCDEF, 5)
    numbers = []
    for cents in (2000, 1000, 500):
        room.insert(cents)
        numbers.append(room.cash_out_ticket())
    HostTickets(room.engine, room.happen).read(numbers[0])
    for _ in range(2):  # a clear, and another
        room = cleared(room, tmp_path, host=host())
        port = HostTickets(room.engine, room.happen)
        assert port.unread().ticket.number == numbers[1]
    port.read(numbers[1])
    assert port.unread().ticket.number == numbers[2]
    port.read(numbers[2])
    assert (port.unread(), room.cabinet.the_desk.unreported()) == (None, [])
    room.close()


def test_games_and_hand_pays_go_on_as_before(room, tmp_path):
    again = cleared(room, tmp_path).insert(2000)
    again.play()
    again.shown()
    again.engine.handle(Event.CASH_OUT)
    assert again.state in {State.PAYING, State.HANDPAY}
    again.close()

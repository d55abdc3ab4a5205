"""Tickets through a host: numbers asked for, worth asked for, each answer taken once, restarts in between."""

from datetime import date
from pathlib import Path

import pytest

import egm.profiles
from egm.config.cabinet_file import Validation
from egm.devices.interface import PrintState
from egm.host.ticket_port import HostTickets, NumberAnswer
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.money.disputed import list_disputed_amounts
from egm.money.host_money import RING, HostMoney
from egm.money.keys import MoneyKey
from egm.money.records.host import Redeeming
from egm.people import Role
from egm.testing.machine import MachineRig
from egm.testing.service_menu import Menu
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState
from egm.tickets.numbers import create_secure_enhanced_number, is_secure_enhanced, prepend_system_number
from egm.tickets.redemption import Reason
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

CASHABLE, RESTRICTED = CreditKind.CASHABLE, CreditKind.RESTRICTED
FIRST, SECOND = prepend_system_number(7, "1111222233334444"), prepend_system_number(7, "5555666677778888")
SOLD = Path(egm.profiles.__file__).with_name("generic.toml")


@pytest.fixture
def make(tmp_path):
    opened = []

    def room(validation=Validation.SYSTEM, *, offline=0, online=True, promotional=False) -> MachineRig:
        """A machine with a host; called again, the same machine after a restart."""
        if opened:
            opened[-1].close()
        place = tmp_path / "place.toml"
        tickets = f"[tickets]\npromotional = {str(promotional).lower()}"
        text = SOLD.read_text().replace("[tickets]", tickets)
        place.write_text(f"{text}\n[host]\noffline_tickets = {offline}\n")
        host = HostMoney(validation=validation, online=online)
        made = MachineRig(tmp_path, profile=place, devices=("printer",), host=host)
        opened.append(made.boot())
        made.port = HostTickets(made.engine, made.happen)
        return made

    yield room
    for one in opened:
        one.close()


def printed(room: MachineRig) -> None:
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        room.report_print_state(state)


def stacked(room: MachineRig) -> None:
    room.ledger.credit_stacked_paper()
    room.ledger.vend_confirmed()


# ---------------------------------------------------------------------------------------------- out
@pytest.mark.requirement("H-05")
def test_the_hosts_number_is_printed(make):
    room = make().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    assert (room.state, room.credit_cents, room.hands.jobs) == (State.PAYING, 0, [])
    assert (room.port.number_request.kind, room.port.number_request.amount_cents) == (CASHABLE, 2000)
    assert room.port.give_number(FIRST) is NumberAnswer.TAKEN
    assert room.hands.jobs[-1].barcode == FIRST
    assert room.port.number_request is None
    printed(room)
    assert room.state is State.IDLE
    assert room.store.get(FIRST).state is TicketState.ISSUED
    assert room.journal.balance_cents("out:voucher:cashable") == 2000


def test_a_number_said_again_counts_once(make):
    room = make().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    assert [room.port.give_number(FIRST) for _ in range(3)] == [NumberAnswer.TAKEN] * 3
    assert len(room.hands.jobs) == 1
    printed(room)
    assert room.port.give_number(FIRST) is NumberAnswer.TAKEN
    assert room.port.give_number(SECOND) is NumberAnswer.NOT_WAITING
    room.insert(500)
    room.engine.handle(EventType.CASH_OUT)
    assert room.port.give_number(FIRST) is NumberAnswer.IMPROPER
    assert room.port.give_number("12345") is NumberAnswer.IMPROPER
    assert room.port.number_request.amount_cents == 500


@pytest.mark.requirement("F-09")
@pytest.mark.parametrize("silent", [True, False])
def test_without_a_number_the_attendant_pays(make, silent):
    room = make().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    assert room.port.refuse_number(silent=silent) is NumberAnswer.TAKEN
    assert room.state is State.HANDPAY
    assert room.port.give_number(FIRST) is NumberAnswer.NOT_WAITING
    assert room.port.refuse_number() is NumberAnswer.NOT_WAITING
    room.engine.handle(EventType.KEY_TURNED)
    assert (room.credit_cents, room.journal.balance_cents("out:handpay_cancelled_credit")) == (0, 2000)


@pytest.mark.requirement("H-09")
def test_a_silent_host_is_done_without_while_the_place_allows_it(make):
    room = make(offline=2)
    room.port.enrol(12345, 677)
    for _ in range(2):
        room.insert(2000)
        room.engine.handle(EventType.CASH_OUT)
        room.port.refuse_number(silent=True)
        printed(room)
        assert is_secure_enhanced(room.hands.jobs[-1].barcode)
    room.insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    room.port.refuse_number(silent=True)
    assert (room.state, len(room.hands.jobs)) == (State.HANDPAY, 2)


@pytest.mark.requirement("H-09")
def test_a_host_that_refuses_is_not_got_round(make):
    room = make(offline=5)
    room.port.enrol(12345, 677)
    room.insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    room.port.refuse_number()
    assert room.state is State.HANDPAY


def test_a_restart_asks_for_the_number_again(make):
    room = make().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    again = make()
    assert again.state is State.PAYING
    assert again.port.number_request.amount_cents == 2000
    assert again.port.give_number(FIRST) is NumberAnswer.TAKEN
    printed(again)
    assert again.journal.balance_cents("out:voucher:cashable") == 2000


@pytest.mark.requirement("F-09")
@pytest.mark.parametrize("alone", [Validation.STAND_ALONE, Validation.SECURE_ENHANCED])
def test_a_cash_out_that_waits_for_a_host_the_machine_has_no_more_is_paid_by_hand(make, alone):
    make().insert(2000).engine.handle(EventType.CASH_OUT)
    room = make(alone)
    assert (room.state, room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]) == (State.HANDPAY, 2000)


def test_a_number_taken_by_the_ledger_and_not_yet_by_the_journal_is_kept(make, monkeypatch):
    room = make().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    monkeypatch.setattr("egm.host.tickets.note_number", lambda *_: None)  # the power goes just here
    room.port.give_number(FIRST)
    monkeypatch.undo()
    again = make()
    assert again.port.number_request is None
    assert again.hands.jobs[-1].barcode == FIRST
    assert again.port.give_number(FIRST) is NumberAnswer.TAKEN


def test_a_number_that_comes_while_a_door_is_open_is_printed_when_it_closes(make):
    room = make().insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    assert room.port.give_number(FIRST) is NumberAnswer.TAKEN
    assert (room.state, room.hands.jobs) == (State.DOOR_OPEN, [])
    room.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert room.hands.jobs[-1].barcode == FIRST


# ---------------------------------------------------------------------------------------------- the ring
@pytest.mark.requirement("H-05", "H-09")
def test_secure_enhanced_numbers_come_from_the_hosts_identifier_and_wait_to_be_read(make):
    room = make(Validation.SECURE_ENHANCED)
    assert room.port.wants_enrolment
    room.insert(2000)
    room.engine.handle(EventType.CASH_OUT)
    assert room.state is State.HANDPAY, "a machine not enrolled prints nothing"
    room.engine.handle(EventType.KEY_TURNED)
    room.port.enrol(0x003039, 0x0002A5)
    assert not room.port.wants_enrolment
    for place in range(1, 4):
        room.insert(500)
        assert room.cash_out_ticket() == create_secure_enhanced_number(0x003039, 0x0002A5 + place)
    first = room.port.find_oldest_unread()
    assert (first.place, first.ticket.number) == (1, "004724978028378429")
    room.port.read(first.ticket.number)
    room.port.read(first.ticket.number)
    assert room.port.find_oldest_unread().place == 2
    assert room.port.find_ticket(1).ticket.number == first.ticket.number
    assert room.port.find_ticket(9) is None
    again = make(Validation.SECURE_ENHANCED)
    assert again.port.find_oldest_unread().place == 2


@pytest.mark.requirement("H-09")
def test_with_every_place_unread_the_attendant_pays(make):
    room = make(Validation.SECURE_ENHANCED)
    room.port.enrol(1, 0)
    for _ in range(RING):
        room.insert(100)
        room.cash_out_ticket()
    room.insert(100)
    room.engine.handle(EventType.CASH_OUT)
    assert room.state is State.HANDPAY
    room.engine.handle(EventType.KEY_TURNED)
    room.port.read(room.port.find_oldest_unread().ticket.number)
    room.insert(100)
    room.cash_out_ticket()
    assert room.port.find_ticket(1).ticket.sequence == RING + 1


# ---------------------------------------------------------------------------------------------- in
@pytest.mark.requirement("H-08")
def test_a_ticket_of_another_machine_is_taken_on_the_hosts_word(make):
    room = make()
    room.offer_ticket(FIRST)
    assert room.hands.orders == [("hold", 1)]
    assert (room.port.offered, room.port.redeeming.status) == (FIRST, Redeeming.WAITING)
    assert room.credit_cents == 0
    answer = room.port.authorise(FIRST, CASHABLE, 1234)
    assert (answer.status, answer.amount_cents, answer.digits) == (Redeeming.PENDING, 1234, FIRST)
    assert (room.credit_cents, room.port.has_unread_result) == (0, False)
    stacked(room)
    assert room.credit_cents == 1234
    assert room.port.redeeming.status is Redeeming.REDEEMED
    assert room.port.has_unread_result
    assert room.port.authorise(FIRST, CASHABLE, 1234).status is Redeeming.REDEEMED
    assert room.credit_cents == 1234
    room.port.acknowledge_result()
    assert (room.port.has_unread_result, room.port.redeeming.status) == (False, Redeeming.REDEEMED)
    assert room.journal.meters().values["ticket_in.cashable.value"] == 1234


@pytest.mark.requirement("H-07")
def test_one_paper_is_never_taken_twice_whatever_the_host_says(make):
    room = make()
    for status in (Redeeming.PENDING, Redeeming.NOT_NOW):
        room.port.acknowledge_result()
        room.offer_ticket(FIRST)
        assert room.port.authorise(FIRST, CASHABLE, 1234).status is status
        if status is Redeeming.PENDING:
            stacked(room)
            room.port.acknowledge_result()
    assert (room.credit_cents, room.notice) == (1234, "ticket_refused.redeemed")


@pytest.mark.requirement("H-08", "G-16")
@pytest.mark.parametrize(
    ("digits", "kind", "cents", "status"),
    [
        (SECOND, CASHABLE, 100, Redeeming.NUMBER_MISMATCH),
        (FIRST, CASHABLE, 0, Redeeming.BAD_AMOUNT),
        (FIRST, CASHABLE, 300_001, Redeeming.OVER_LIMIT),
        (FIRST, RESTRICTED, 100, Redeeming.DISABLED),
    ],
)
def test_what_the_machine_may_not_take_goes_back(make, digits, kind, cents, status):
    room = make()
    room.offer_ticket(FIRST)
    assert room.port.authorise(digits, kind, cents).status is status
    assert room.hands.orders[-1] == ("return", 1)
    assert (room.credit_cents, room.port.redeeming.status) == (0, status)
    assert room.port.redeeming.digits == FIRST
    assert room.port.has_unread_result


@pytest.mark.requirement("H-08", "G-16")
@pytest.mark.parametrize(
    ("status", "reason"),
    [(Redeeming.REJECTED_BY_HOST, Reason.REDEEMED), (Redeeming.TIMED_OUT, Reason.HOST_DOWN)],
)
def test_a_ticket_the_host_will_not_have_goes_back(make, status, reason):
    room = make()
    room.offer_ticket(FIRST)
    room.port.decline(status, reason)
    assert room.hands.orders[-1] == ("return", 1)
    assert room.notice == f"ticket_refused.{reason.value}"
    assert room.port.decline(status, reason).status is status
    assert room.port.authorise(FIRST, CASHABLE, 100).status is status
    assert room.credit_cents == 0


@pytest.mark.requirement("H-08", "G-16")
def test_without_a_link_no_ticket_is_held(make):
    room = make(online=False)
    room.offer_ticket(FIRST)
    assert room.hands.orders[-1] == ("return", 1)
    assert room.port.redeeming.status is Redeeming.LINK_DOWN
    assert not room.port.has_unread_result


def test_the_host_may_answer_while_a_game_is_shown_but_not_while_a_door_is_open(make):
    room = make().insert(100)
    room.offer_ticket(FIRST)
    room.play()
    assert room.port.authorise(FIRST, CASHABLE, 100).status is Redeeming.PENDING
    stacked(room)
    room.report_shown()
    room.offer_ticket(SECOND)
    room.engine.handle(EventType.DOOR_OPENED, door="main")
    assert room.port.authorise(SECOND, CASHABLE, 100).status is Redeeming.NOT_NOW
    assert room.hands.orders[-1] == ("return", 3)


def test_restricted_credit_keeps_its_terms_and_its_pool(make):
    room = make(promotional=True)
    terms = {"expires": date(2026, 2, 1), "pool": 9}
    room.offer_ticket(FIRST)
    room.port.authorise(FIRST, RESTRICTED, 500, **terms)
    stacked(room)
    assert room.machine.memory.get(MoneyKey.RESTRICTED) == {"expires": "2026-02-01", "pool": 9}
    assert room.machine.read_credit_cents(RESTRICTED) == 500
    room.port.acknowledge_result()
    room.offer_ticket(SECOND)
    assert room.port.authorise(SECOND, RESTRICTED, 500, pool=8).status is Redeeming.OTHER_POOL
    room.offer_ticket(SECOND)
    late = room.port.authorise(SECOND, RESTRICTED, 500, expires=date(2025, 12, 31), pool=9)
    assert late.status is Redeeming.BAD_AMOUNT


# ---------------------------------------------------------------------------------------------- restarts
def test_a_ticket_asked_about_when_the_machine_stops_is_forgotten_with_it(make):
    room = make()
    room.offer_ticket(FIRST)
    again = make()
    assert again.port.offered is None
    assert again.port.redeeming.status is Redeeming.NO_TICKET
    assert again.port.authorise(FIRST, CASHABLE, 100).status is Redeeming.NOT_NOW
    assert again.credit_cents == 0


@pytest.mark.requirement("H-08", "G-05")
def test_a_ticket_on_its_way_is_credited_once_after_a_restart(make):
    room = make()
    room.offer_ticket(FIRST)
    room.port.authorise(FIRST, CASHABLE, 1234)
    again = make()
    assert again.ledger.find_open().content.digits == FIRST
    assert again.port.redeeming.status is Redeeming.PENDING
    stacked(again)
    assert again.credit_cents == 1234
    third = make()
    assert (third.port.redeeming.status, third.port.has_unread_result) == (Redeeming.REDEEMED, True)
    assert third.port.redeeming.digits == FIRST


@pytest.mark.requirement("E-06")
def test_no_number_is_in_the_journal_whole(make):
    room = make().insert(500)
    room.engine.handle(EventType.CASH_OUT)
    room.port.give_number(SECOND)
    printed(room)
    for answer in ("rejected", "returned", "taken"):
        room.port.acknowledge_result()
        room.offer_ticket(FIRST)
        if answer == "rejected":
            room.port.decline(Redeeming.REJECTED_BY_HOST, Reason.HOST_REFUSED)
            continue
        room.port.authorise(FIRST, CASHABLE, 1234)
        if answer == "returned":
            room.ledger.void_unstacked_paper("jam")
            room.port.acknowledge_result()
        else:
            stacked(room)
    bodies = b"".join(room.journal.iter_bodies())
    for number in (FIRST, SECOND):
        assert number.encode() not in bodies
        assert number[-4:].encode() in bodies


def test_what_became_of_a_ticket_is_kept_for_the_host_whatever_is_put_in_meanwhile(make):
    """Another ticket would take its place, and the host would never know that the first is paid for."""
    room = make()
    room.offer_ticket(FIRST)
    room.port.authorise(FIRST, CASHABLE, 1234)
    stacked(room)
    room.offer_ticket(SECOND)
    room.machine.component(HostMoney).online = False
    room.offer_ticket(SECOND)
    assert room.port.offered is None
    assert (room.port.redeeming.status, room.port.redeeming.digits) == (Redeeming.REDEEMED, FIRST)
    room.machine.component(HostMoney).online = True
    room.port.acknowledge_result()
    room.offer_ticket(SECOND)
    assert room.port.offered == SECOND


@pytest.mark.requirement("H-08")
def test_a_ticket_given_back_by_the_acceptor_is_good_again(make):
    room = make()
    room.offer_ticket(FIRST)
    room.port.authorise(FIRST, CASHABLE, 1234)
    room.ledger.void_unstacked_paper("the path is clear")
    assert (room.port.redeeming.status, room.credit_cents) == (Redeeming.NOT_STACKED, 0)
    room.port.acknowledge_result()
    room.offer_ticket(FIRST)
    assert room.port.authorise(FIRST, CASHABLE, 1234).status is Redeeming.PENDING
    stacked(room)
    assert room.credit_cents == 1234


def test_an_order_lost_with_the_machine_is_told_as_not_stacked(make, monkeypatch):
    room = make()
    room.offer_ticket(FIRST)
    monkeypatch.setattr(room.hands, "stack", lambda escrow: None)  # the driver never got to record it
    room.port.authorise(FIRST, CASHABLE, 1234)
    again = make()
    assert again.port.redeeming.status is Redeeming.NOT_STACKED
    assert again.store.get(FIRST).state is TicketState.ISSUED
    assert again.port.has_unread_result


@pytest.mark.requirement("H-08", "K-08")
@pytest.mark.parametrize(
    ("lose", "amount_cents", "ended"),
    [
        ("lost", 1234, Redeeming.REDEEMED),
        ("lost", 0, Redeeming.NOT_STACKED),
        ("released", 1234, Redeeming.REDEEMED),
    ],
)
def test_a_ticket_in_dispute_is_pending_to_its_host_until_the_ruling(make, lose, amount_cents, ended):
    """Told before that it was not stacked, the host would let it go, and it would be paid twice."""
    room = make()
    room.offer_ticket(FIRST)
    room.port.authorise(FIRST, CASHABLE, 1234)
    if lose == "lost":
        room.ledger.dispute_lost_paper("the acceptor is idle")
    else:
        room.machine.component(TicketDesk).redeem_abort(
            room.machine.memory.get(MoneyKey.PAPER)["id"], "released at the cage"
        )
        room.ledger.credit_stacked_paper()
        room.ledger.vend_confirmed()
    assert (room.port.redeeming.status, room.port.has_unread_result) == (Redeeming.PENDING, False)
    at = make()
    assert (at.port.redeeming.status, at.port.has_unread_result) == (Redeeming.PENDING, False)
    [disputed] = list_disputed_amounts(at.machine)
    menu = Menu(at).sign_in(Role.SUPERVISOR).touch("disputed").touch(f"disputed:{disputed}")
    menu.complete(str(amount_cents), "looked at the recording")
    menu.home().touch("leave")
    assert (at.port.redeeming.status, at.port.redeeming.amount_cents) == (ended, 1234)
    assert at.port.has_unread_result
    at.port.acknowledge_result()
    assert not at.port.has_unread_result
    assert Auditor(Shelf()).run(at.journal.iter_bodies()).findings == []

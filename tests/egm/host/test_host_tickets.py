"""Tickets through a host: numbers asked for, worth asked for, each answer taken once, restarts in between."""

from datetime import date
from pathlib import Path

import pytest

import egm.profiles
from egm.app.wiring import iter_reported_events
from egm.config.cabinet_file import Validation
from egm.devices.interface import Barcode, PaperReturned, PrintState, ReturnReason
from egm.host.ticket_port import HostTicketInterface, NumberReplyResult
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.money.disputed import list_disputed_amounts
from egm.money.host_money import HOST_TICKET_RING_SIZE, HostMoney
from egm.money.keys import MoneyKey
from egm.money.records.host import RedemptionStatus
from egm.people import Role
from egm.testing.machine import MachineRig
from egm.testing.service_menu import Menu
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState
from egm.tickets.numbers import create_secure_enhanced_number, is_secure_enhanced
from egm.tickets.redemption import TicketRefusalReason
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

CASHABLE, RESTRICTED = CreditKind.CASHABLE, CreditKind.RESTRICTED
FIRST, SECOND = "071111222233334444", "075555666677778888"
SOLD = Path(egm.profiles.__file__).with_name("generic.toml")


@pytest.fixture
def make(tmp_path):
    opened = []

    def rig(validation=Validation.SYSTEM, *, offline=0, online=True, promotional=False) -> MachineRig:
        """A machine with a host; called again, the same machine after a restart."""
        if opened:
            opened[-1].close()
        place = tmp_path / "place.toml"
        tickets = f"[tickets]\npromotional = {str(promotional).lower()}"
        text = SOLD.read_text().replace("[tickets]", tickets)
        place.write_text(f"{text}\n[host]\noffline_tickets = {offline}\n")
        host = HostMoney(validation=validation, is_online=online)
        made = MachineRig(tmp_path, profile=place, devices=("printer",), host=host)
        opened.append(made.boot())
        made.port = HostTicketInterface(made.engine, made.happen)
        return made

    yield rig
    for one in opened:
        one.close()


def printed(rig: MachineRig) -> None:
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        rig.report_print_state(state)


def stacked(rig: MachineRig) -> None:
    rig.ledger.credit_stacked_paper()
    rig.ledger.delete_confirmed_paper()


# ---------------------------------------------------------------------------------------------- out
@pytest.mark.requirement("H-05")
def test_the_hosts_number_is_printed(make):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.credit_cents, rig.hands.jobs) == (State.PAYING, 0, [])
    assert (rig.port.pending_number_request.kind, rig.port.pending_number_request.amount_cents) == (
        CASHABLE,
        2000,
    )
    assert rig.port.assign_number(FIRST) is NumberReplyResult.TAKEN
    assert rig.hands.jobs[-1].barcode == FIRST
    assert rig.port.pending_number_request is None
    printed(rig)
    assert rig.state is State.IDLE
    assert rig.store.find_ticket(FIRST).state is TicketState.ISSUED
    assert rig.journal.balance_cents("out:voucher:cashable") == 2000


def test_a_number_said_again_counts_once(make):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert [rig.port.assign_number(FIRST) for _ in range(3)] == [NumberReplyResult.TAKEN] * 3
    assert len(rig.hands.jobs) == 1
    printed(rig)
    assert rig.port.assign_number(FIRST) is NumberReplyResult.TAKEN
    assert rig.port.assign_number(SECOND) is NumberReplyResult.NOT_WAITING
    rig.insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.port.assign_number(FIRST) is NumberReplyResult.IMPROPER
    assert rig.port.assign_number("12345") is NumberReplyResult.IMPROPER
    assert rig.port.pending_number_request.amount_cents == 500


@pytest.mark.requirement("F-09", "H-05")
@pytest.mark.parametrize("silent", [True, False])
def test_without_a_number_the_attendant_pays(make, silent):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.port.refuse_number(silent=silent) is NumberReplyResult.TAKEN
    assert rig.state is State.HANDPAY
    assert rig.port.assign_number(FIRST) is NumberReplyResult.NOT_WAITING
    assert rig.port.refuse_number() is NumberReplyResult.NOT_WAITING
    rig.engine.handle(EventType.KEY_TURNED)
    assert (rig.credit_cents, rig.journal.balance_cents("out:handpay_cancelled_credit")) == (0, 2000)


@pytest.mark.requirement("H-05", "H-09")
def test_a_silent_host_is_done_without_while_the_place_allows_it(make):
    rig = make(offline=2)
    rig.port.store_enrolment(12345, 677)
    for _ in range(2):
        rig.insert(2000)
        rig.engine.handle(EventType.CASH_OUT)
        rig.port.refuse_number(silent=True)
        printed(rig)
        assert is_secure_enhanced(rig.hands.jobs[-1].barcode)
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.port.refuse_number(silent=True)
    assert (rig.state, len(rig.hands.jobs)) == (State.HANDPAY, 2)


@pytest.mark.requirement("H-05", "H-09")
def test_a_host_that_refuses_is_not_got_round(make):
    rig = make(offline=5)
    rig.port.store_enrolment(12345, 677)
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.port.refuse_number()
    assert rig.state is State.HANDPAY


def test_a_restart_asks_for_the_number_again(make):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    again = make()
    assert again.state is State.PAYING
    assert again.port.pending_number_request.amount_cents == 2000
    assert again.port.assign_number(FIRST) is NumberReplyResult.TAKEN
    printed(again)
    assert again.journal.balance_cents("out:voucher:cashable") == 2000


@pytest.mark.requirement("F-09", "H-09")
@pytest.mark.parametrize("alone", [Validation.STAND_ALONE, Validation.SECURE_ENHANCED])
def test_a_cash_out_that_waits_for_a_host_the_machine_has_no_more_is_paid_by_hand(make, alone):
    make().insert(2000).engine.handle(EventType.CASH_OUT)
    rig = make(alone)
    assert (rig.state, rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]) == (State.HANDPAY, 2000)


def test_a_number_taken_by_the_ledger_and_not_yet_by_the_journal_is_kept(make, monkeypatch):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    monkeypatch.setattr("egm.host.tickets.record_ticket_number", lambda *_: None)  # the power goes just here
    rig.port.assign_number(FIRST)
    monkeypatch.undo()
    again = make()
    assert again.port.pending_number_request is None
    assert again.hands.jobs[-1].barcode == FIRST
    assert again.port.assign_number(FIRST) is NumberReplyResult.TAKEN


def test_a_number_that_comes_while_a_door_is_open_is_printed_when_it_closes(make):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.port.assign_number(FIRST) is NumberReplyResult.TAKEN
    assert (rig.state, rig.hands.jobs) == (State.DOOR_OPEN, [])
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert rig.hands.jobs[-1].barcode == FIRST


# ---------------------------------------------------------------------------------------------- the ring
@pytest.mark.requirement("H-05", "H-09")
def test_secure_enhanced_numbers_come_from_the_hosts_identifier_and_wait_to_be_read(make):
    rig = make(Validation.SECURE_ENHANCED)
    assert rig.port.needs_enrolment
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY, "a machine not enrolled prints nothing"
    rig.engine.handle(EventType.KEY_TURNED)
    rig.port.store_enrolment(0x003039, 0x0002A5)
    assert not rig.port.needs_enrolment
    for place in range(1, 4):
        rig.insert(500)
        assert rig.cash_out_ticket() == create_secure_enhanced_number(0x003039, 0x0002A5 + place)
    first = rig.port.find_oldest_unread()
    assert (first.ring_index, first.ticket.number) == (1, "004724978028378429")
    rig.port.mark_ticket_read(first.ticket.number)
    rig.port.mark_ticket_read(first.ticket.number)
    assert rig.port.find_oldest_unread().ring_index == 2
    assert rig.port.find_ticket(1).ticket.number == first.ticket.number
    assert rig.port.find_ticket(9) is None
    again = make(Validation.SECURE_ENHANCED)
    assert again.port.find_oldest_unread().ring_index == 2


@pytest.mark.requirement("H-05")
def test_the_host_may_change_the_identifier_and_the_sequence_of_the_numbers(make):
    rig = make(Validation.SECURE_ENHANCED)
    for identifier, sequence in ((0x003039, 0x0002A5), (0xABCDEF, 0x000010)):
        rig.port.store_enrolment(identifier, sequence)
        rig.insert(500)
        assert rig.cash_out_ticket() == create_secure_enhanced_number(identifier, sequence + 1)


@pytest.mark.requirement("H-09")
def test_with_every_place_unread_the_attendant_pays(make):
    rig = make(Validation.SECURE_ENHANCED)
    rig.port.store_enrolment(1, 0)
    for _ in range(HOST_TICKET_RING_SIZE):
        rig.insert(100)
        rig.cash_out_ticket()
    rig.insert(100)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    rig.engine.handle(EventType.KEY_TURNED)
    rig.port.mark_ticket_read(rig.port.find_oldest_unread().ticket.number)
    rig.insert(100)
    rig.cash_out_ticket()
    assert rig.port.find_ticket(1).ticket.sequence == HOST_TICKET_RING_SIZE + 1


# ---------------------------------------------------------------------------------------------- in
@pytest.mark.requirement("H-08")
def test_a_ticket_of_another_machine_is_taken_on_the_hosts_word(make):
    rig = make()
    rig.offer_ticket(FIRST)
    assert rig.hands.orders == [("hold", 1)]
    assert (rig.port.offered_ticket_number, rig.port.redemption_state.status) == (
        FIRST,
        RedemptionStatus.WAITING,
    )
    assert rig.credit_cents == 0
    answer = rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    assert (answer.status, answer.amount_cents, answer.digits) == (RedemptionStatus.PENDING, 1234, FIRST)
    assert (rig.credit_cents, rig.port.has_unread_result) == (0, False)
    stacked(rig)
    assert rig.credit_cents == 1234
    assert rig.port.redemption_state.status is RedemptionStatus.REDEEMED
    assert rig.port.has_unread_result
    assert rig.port.authorise_redemption(FIRST, CASHABLE, 1234).status is RedemptionStatus.REDEEMED
    assert rig.credit_cents == 1234
    rig.port.acknowledge_result()
    assert (rig.port.has_unread_result, rig.port.redemption_state.status) == (
        False,
        RedemptionStatus.REDEEMED,
    )
    assert rig.journal.meters().values["ticket_in.cashable.value"] == 1234


@pytest.mark.requirement("H-07")
def test_one_paper_is_never_taken_twice_whatever_the_host_says(make):
    rig = make()
    for status in (RedemptionStatus.PENDING, RedemptionStatus.NOT_NOW):
        rig.port.acknowledge_result()
        rig.offer_ticket(FIRST)
        assert rig.port.authorise_redemption(FIRST, CASHABLE, 1234).status is status
        if status is RedemptionStatus.PENDING:
            stacked(rig)
            rig.port.acknowledge_result()
    assert (rig.credit_cents, rig.notice) == (1234, "ticket_refused.redeemed")


@pytest.mark.requirement("G-16")
def test_a_known_ticket_with_another_amount_from_the_host_is_returned(make):
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    rig.ledger.void_unstacked_paper("the path is clear")
    rig.port.acknowledge_result()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 4321)
    assert (rig.hands.orders[-1][0], rig.notice) == ("return", "ticket_refused.amount")


@pytest.mark.requirement("H-08", "G-16")
@pytest.mark.parametrize(
    ("digits", "kind", "cents", "status"),
    [
        (SECOND, CASHABLE, 100, RedemptionStatus.NUMBER_MISMATCH),
        (FIRST, CASHABLE, 0, RedemptionStatus.BAD_AMOUNT),
        (FIRST, CASHABLE, 300_001, RedemptionStatus.OVER_LIMIT),
        (FIRST, RESTRICTED, 100, RedemptionStatus.DISABLED),
    ],
)
def test_what_the_machine_may_not_take_goes_back(make, digits, kind, cents, status):
    rig = make()
    rig.offer_ticket(FIRST)
    assert rig.port.authorise_redemption(digits, kind, cents).status is status
    assert rig.hands.orders[-1] == ("return", 1)
    assert (rig.credit_cents, rig.port.redemption_state.status) == (0, status)
    assert rig.port.redemption_state.digits == FIRST
    assert rig.port.has_unread_result


@pytest.mark.requirement("H-08", "G-16")
@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (RedemptionStatus.REJECTED_BY_HOST, TicketRefusalReason.REDEEMED),
        (RedemptionStatus.TIMED_OUT, TicketRefusalReason.HOST_DOWN),
    ],
)
def test_a_ticket_the_host_will_not_have_goes_back(make, status, reason):
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.decline_redemption(status, reason)
    assert rig.hands.orders[-1] == ("return", 1)
    assert rig.notice == f"ticket_refused.{reason.value}"
    assert rig.port.decline_redemption(status, reason).status is status
    assert rig.port.authorise_redemption(FIRST, CASHABLE, 100).status is status
    assert rig.credit_cents == 0


@pytest.mark.requirement("H-08", "G-16")
def test_without_a_link_no_ticket_is_held(make):
    rig = make(online=False)
    rig.offer_ticket(FIRST)
    assert rig.hands.orders[-1] == ("return", 1)
    assert rig.port.redemption_state.status is RedemptionStatus.LINK_DOWN
    assert not rig.port.has_unread_result


def test_the_host_may_answer_while_a_game_is_shown_but_not_while_a_door_is_open(make):
    rig = make().insert(100)
    rig.offer_ticket(FIRST)
    rig.play()
    assert rig.port.authorise_redemption(FIRST, CASHABLE, 100).status is RedemptionStatus.PENDING
    stacked(rig)
    rig.report_shown()
    rig.offer_ticket(SECOND)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.port.authorise_redemption(SECOND, CASHABLE, 100).status is RedemptionStatus.NOT_NOW
    assert rig.hands.orders[-1] == ("return", 3)


def test_restricted_credit_keeps_its_terms_and_its_pool(make):
    rig = make(promotional=True)
    terms = {"expires": date(2026, 2, 1), "pool": 9}
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, RESTRICTED, 500, **terms)
    stacked(rig)
    assert rig.machine.memory.get(MoneyKey.RESTRICTED) == {"expires": "2026-02-01", "pool": 9}
    assert rig.machine.read_credit_cents(RESTRICTED) == 500
    rig.port.acknowledge_result()
    rig.offer_ticket(SECOND)
    assert (
        rig.port.authorise_redemption(SECOND, RESTRICTED, 500, pool=8).status is RedemptionStatus.OTHER_POOL
    )
    rig.offer_ticket(SECOND)
    late = rig.port.authorise_redemption(SECOND, RESTRICTED, 500, expires=date(2025, 12, 31), pool=9)
    assert late.status is RedemptionStatus.BAD_AMOUNT


# ---------------------------------------------------------------------------------------------- restarts
def test_a_ticket_asked_about_when_the_machine_stops_is_forgotten_with_it(make):
    rig = make()
    rig.offer_ticket(FIRST)
    again = make()
    assert again.port.offered_ticket_number is None
    assert again.port.redemption_state.status is RedemptionStatus.NO_TICKET
    assert again.port.authorise_redemption(FIRST, CASHABLE, 100).status is RedemptionStatus.NOT_NOW
    assert again.credit_cents == 0


@pytest.mark.requirement("H-08", "G-05")
def test_a_ticket_on_its_way_is_credited_once_after_a_restart(make):
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    again = make()
    assert again.ledger.find_open().content.digits == FIRST
    assert again.port.redemption_state.status is RedemptionStatus.PENDING
    stacked(again)
    assert again.credit_cents == 1234
    third = make()
    assert (third.port.redemption_state.status, third.port.has_unread_result) == (
        RedemptionStatus.REDEEMED,
        True,
    )
    assert third.port.redemption_state.digits == FIRST


@pytest.mark.requirement("E-06")
def test_no_number_is_in_the_journal_whole(make):
    rig = make().insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    rig.port.assign_number(SECOND)
    printed(rig)
    for answer in ("rejected", "returned", "taken"):
        rig.port.acknowledge_result()
        rig.offer_ticket(FIRST)
        if answer == "rejected":
            rig.port.decline_redemption(RedemptionStatus.REJECTED_BY_HOST, TicketRefusalReason.HOST_REFUSED)
            continue
        rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
        if answer == "returned":
            rig.ledger.void_unstacked_paper("jam")
            rig.port.acknowledge_result()
        else:
            stacked(rig)
    bodies = b"".join(rig.journal.iter_bodies())
    for number in (FIRST, SECOND):
        assert number.encode() not in bodies
        assert number[-4:].encode() in bodies


@pytest.mark.requirement("H-08")
def test_what_became_of_a_ticket_is_kept_for_the_host_whatever_is_put_in_meanwhile(make):
    """Another ticket would take its place, and the host would never know that the first is paid for."""
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    stacked(rig)
    rig.offer_ticket(SECOND)
    rig.machine.component(HostMoney).is_online = False
    rig.offer_ticket(SECOND)
    assert rig.port.offered_ticket_number is None
    assert (rig.port.redemption_state.status, rig.port.redemption_state.digits) == (
        RedemptionStatus.REDEEMED,
        FIRST,
    )
    rig.machine.component(HostMoney).is_online = True
    rig.port.acknowledge_result()
    rig.offer_ticket(SECOND)
    assert rig.port.offered_ticket_number == SECOND


@pytest.mark.requirement("H-08")
def test_a_ticket_given_back_by_the_acceptor_is_good_again(make):
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    rig.ledger.void_unstacked_paper("the path is clear")
    assert (rig.port.redemption_state.status, rig.credit_cents) == (RedemptionStatus.NOT_STACKED, 0)
    rig.port.acknowledge_result()
    rig.offer_ticket(FIRST)
    assert rig.port.authorise_redemption(FIRST, CASHABLE, 1234).status is RedemptionStatus.PENDING
    stacked(rig)
    assert rig.credit_cents == 1234


@pytest.mark.requirement("H-08")
def test_the_host_learns_of_a_ticket_given_back_between_lock_and_order(make, monkeypatch):
    rig = make()
    rig.offer_ticket(FIRST)
    monkeypatch.setattr(rig.hands, "stack", lambda _: None)  # the ticket is returned before the order
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    returned = PaperReturned(device="bill", content=Barcode(FIRST), reason=ReturnReason.DEVICE)
    for event in iter_reported_events(returned, "bill_acceptor", ()):
        rig.happen(event)
    assert (rig.port.redemption_state.status, rig.credit_cents) == (RedemptionStatus.NOT_STACKED, 0)
    assert rig.store.find_ticket(FIRST).state is TicketState.ISSUED
    assert rig.port.has_unread_result


def test_an_order_lost_with_the_machine_is_told_as_not_stacked(make, monkeypatch):
    rig = make()
    rig.offer_ticket(FIRST)
    monkeypatch.setattr(rig.hands, "stack", lambda escrow: None)  # the driver never got to record it
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    again = make()
    assert again.port.redemption_state.status is RedemptionStatus.NOT_STACKED
    assert again.store.find_ticket(FIRST).state is TicketState.ISSUED
    assert again.port.has_unread_result


@pytest.mark.requirement("H-08", "K-08")
@pytest.mark.parametrize(
    ("lose", "amount_cents", "ended"),
    [
        ("lost", 1234, RedemptionStatus.REDEEMED),
        ("lost", 0, RedemptionStatus.NOT_STACKED),
        ("released", 1234, RedemptionStatus.REDEEMED),
    ],
)
def test_a_ticket_in_dispute_is_pending_to_its_host_until_the_ruling(make, lose, amount_cents, ended):
    """Told before that it was not stacked, the host would let it go, and it would be paid twice."""
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    if lose == "lost":
        rig.ledger.dispute_lost_paper("the acceptor is idle")
    else:
        rig.machine.component(TicketDesk).redeem_abort(
            rig.machine.memory.get(MoneyKey.PAPER)["id"], "released at the cage"
        )
        rig.ledger.credit_stacked_paper()
        rig.ledger.delete_confirmed_paper()
    assert (rig.port.redemption_state.status, rig.port.has_unread_result) == (RedemptionStatus.PENDING, False)
    at = make()
    assert (at.port.redemption_state.status, at.port.has_unread_result) == (RedemptionStatus.PENDING, False)
    [disputed] = list_disputed_amounts(at.machine)
    menu = Menu(at).sign_in(Role.SUPERVISOR).touch("disputed").touch(f"disputed:{disputed}")
    menu.complete(str(amount_cents), "looked at the recording")
    menu.home().touch("leave")
    assert (at.port.redemption_state.status, at.port.redemption_state.amount_cents) == (ended, 1234)
    assert at.port.has_unread_result
    at.port.acknowledge_result()
    assert not at.port.has_unread_result
    assert Auditor(GameFiles()).audit_entries(at.journal.iter_bodies()).findings == []

"""Tickets validated by a host: number requests and redemptions; each reply is applied once, also after restarts."""

from datetime import date
from pathlib import Path

import pytest

import egm.profiles
from egm.app.wiring import iter_reported_events
from egm.config.cabinet_file import TicketValidator
from egm.devices.interface import Barcode, PaperReturned, PrintState, ReturnReason
from egm.host.ticket_interface import HostTicketInterface, TicketNumberReply
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.host_money import HOST_TICKET_RING_SIZE, HostMoney
from egm.money.keys import MoneyKey
from egm.money.records.host import RedemptionStatus
from egm.people import Role
from egm.testing.machine import GeneratorOutOfService, MachineRig
from egm.testing.service_menu import MenuUser
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState
from egm.tickets.numbers import create_secure_enhanced_number, is_secure_enhanced_number
from egm.tickets.redemption import TicketRefusalReason
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

CASHABLE, RESTRICTED = CreditKind.CASHABLE, CreditKind.RESTRICTED
FIRST, SECOND = "071111222233334444", "075555666677778888"
SOLD = Path(egm.profiles.__file__).with_name("generic.toml")


@pytest.fixture
def make(tmp_path):
    opened = []

    def start(
        validation=TicketValidator.SYSTEM,
        *,
        offline=0,
        online=True,
        promotional=False,
        generator=None,
        starts=True,
    ) -> MachineRig:
        """Start a machine with a host; a second call restarts the same machine."""
        if opened:
            opened[-1].close()
        profile = tmp_path / "place.toml"
        tickets = f"[tickets]\npromotional = {str(promotional).lower()}"
        text = SOLD.read_text().replace("[tickets]", tickets)
        profile.write_text(f"{text}\n[host]\noffline_tickets = {offline}\n")
        host = HostMoney(ticket_validator=validation, is_online=online)
        rig = MachineRig(tmp_path, profile=profile, devices=("printer",), host=host, generator=generator)
        opened.append(rig)
        if starts:
            rig.boot()
        rig.port = HostTicketInterface(rig.engine, rig.submit_event)
        return rig

    yield start
    for rig in opened:
        rig.close()


def complete_printing(rig: MachineRig) -> None:
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        rig.report_print_state(state)


def complete_stacking(rig: MachineRig) -> None:
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()


# ---------------------------------------------------------------------------------------------- out
@pytest.mark.requirement("H-05")
def test_a_cash_out_ticket_is_printed_with_the_number_the_host_assigns(make):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.credit_cents, rig.hands.jobs) == (State.PAYING, 0, [])
    assert (
        rig.port.pending_ticket_number_request.kind,
        rig.port.pending_ticket_number_request.amount_cents,
    ) == (
        CASHABLE,
        2000,
    )
    assert rig.port.assign_ticket_number(FIRST) is TicketNumberReply.ACCEPTED
    assert rig.hands.jobs[-1].barcode == FIRST
    assert rig.port.pending_ticket_number_request is None
    complete_printing(rig)
    assert rig.state is State.IDLE
    assert rig.ticket_store.find_ticket(FIRST).state is TicketState.ISSUED
    assert rig.journal.balance_cents("out:voucher:cashable") == 2000


def test_a_ticket_number_assigned_again_prints_no_second_ticket(make):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert [rig.port.assign_ticket_number(FIRST) for _ in range(3)] == [TicketNumberReply.ACCEPTED] * 3
    assert len(rig.hands.jobs) == 1
    complete_printing(rig)
    assert rig.port.assign_ticket_number(FIRST) is TicketNumberReply.ACCEPTED
    assert rig.port.assign_ticket_number(SECOND) is TicketNumberReply.NO_TICKET_WAITING
    rig.insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.port.assign_ticket_number(FIRST) is TicketNumberReply.INVALID_NUMBER
    assert rig.port.assign_ticket_number("12345") is TicketNumberReply.INVALID_NUMBER
    assert rig.port.pending_ticket_number_request.amount_cents == 500


@pytest.mark.requirement("F-09", "H-05")
@pytest.mark.parametrize("silent", [True, False])
def test_a_cash_out_without_a_number_from_the_host_is_a_hand_pay(make, silent):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.port.continue_without_host_number(has_timed_out=silent) is TicketNumberReply.ACCEPTED
    assert rig.state is State.HANDPAY
    assert rig.port.assign_ticket_number(FIRST) is TicketNumberReply.NO_TICKET_WAITING
    assert rig.port.continue_without_host_number() is TicketNumberReply.NO_TICKET_WAITING
    rig.engine.handle(EventType.KEY_TURNED)
    assert (rig.credit_cents, rig.journal.balance_cents("out:handpay_cancelled_credit")) == (0, 2000)


@pytest.mark.requirement("H-05", "H-09")
def test_the_profile_limits_tickets_printed_while_the_host_does_not_reply(make):
    rig = make(offline=2)
    rig.port.store_enrolment(12345, 677)
    for _ in range(2):
        rig.insert(2000)
        rig.engine.handle(EventType.CASH_OUT)
        rig.port.continue_without_host_number(has_timed_out=True)
        complete_printing(rig)
        assert is_secure_enhanced_number(rig.hands.jobs[-1].barcode)
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.port.continue_without_host_number(has_timed_out=True)
    assert (rig.state, len(rig.hands.jobs)) == (State.HANDPAY, 2)


@pytest.mark.requirement("H-05", "H-09")
def test_a_number_refused_by_the_host_leads_to_a_hand_pay_despite_offline_tickets(make):
    rig = make(offline=5)
    rig.port.store_enrolment(12345, 677)
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.port.continue_without_host_number()
    assert rig.state is State.HANDPAY


def test_the_request_for_a_ticket_number_is_repeated_after_a_restart(make):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    restarted = make()
    assert restarted.state is State.PAYING
    assert restarted.port.pending_ticket_number_request.amount_cents == 2000
    assert restarted.port.assign_ticket_number(FIRST) is TicketNumberReply.ACCEPTED
    complete_printing(restarted)
    assert restarted.journal.balance_cents("out:voucher:cashable") == 2000


@pytest.mark.requirement("F-09", "H-09")
@pytest.mark.parametrize("validation", [TicketValidator.STAND_ALONE, TicketValidator.SECURE_ENHANCED])
def test_a_cash_out_that_waits_for_a_number_is_a_hand_pay_when_host_validation_was_removed(make, validation):
    make().insert(2000).engine.handle(EventType.CASH_OUT)
    rig = make(validation)
    assert (rig.state, rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]) == (State.HANDPAY, 2000)


@pytest.mark.parametrize("is_started", [False, True])
def test_a_cash_out_that_waits_for_a_number_is_a_hand_pay_if_the_generator_has_failed(make, is_started):
    """Regression: the machine could not start, because it needed a random ticket number."""
    make().insert(2000).engine.handle(EventType.CASH_OUT)
    rig = make(TicketValidator.STAND_ALONE, offline=3, generator=GeneratorOutOfService(), starts=False)
    if not is_started:
        rig.machine.random_service = None
    rig.boot()
    assert (rig.state, rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]) == (State.HANDPAY, 2000)


def test_a_number_in_the_ticket_ledger_but_not_in_the_journal_is_used_after_a_restart(make, monkeypatch):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    monkeypatch.setattr("egm.host.tickets.record_ticket_number", lambda *_: None)  # simulate a power cut here
    rig.port.assign_ticket_number(FIRST)
    monkeypatch.undo()
    restarted = make()
    assert restarted.port.pending_ticket_number_request is None
    assert restarted.hands.jobs[-1].barcode == FIRST
    assert restarted.port.assign_ticket_number(FIRST) is TicketNumberReply.ACCEPTED


def test_a_number_received_while_a_door_is_open_is_printed_when_the_door_closes(make):
    rig = make().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.port.assign_ticket_number(FIRST) is TicketNumberReply.ACCEPTED
    assert (rig.state, rig.hands.jobs) == (State.DOOR_OPEN, [])
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert rig.hands.jobs[-1].barcode == FIRST


# ---------------------------------------------------------------------------------------------- the ring
@pytest.mark.requirement("H-05", "H-09")
def test_secure_enhanced_numbers_use_the_hosts_identifier_and_are_stored_until_read(make):
    rig = make(TicketValidator.SECURE_ENHANCED)
    assert rig.port.needs_enrolment
    rig.insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY, "a machine that is not enrolled prints no tickets"
    rig.engine.handle(EventType.KEY_TURNED)
    rig.port.store_enrolment(0x003039, 0x0002A5)
    assert not rig.port.needs_enrolment
    for offset in range(1, 4):
        rig.insert(500)
        assert rig.cash_out_ticket() == create_secure_enhanced_number(0x003039, 0x0002A5 + offset)
    first = rig.port.find_oldest_unread_ticket()
    assert (first.ring_index, first.ticket.number) == (1, "004724978028378429")
    rig.port.mark_ticket_read(first.ticket.number)
    rig.port.mark_ticket_read(first.ticket.number)
    assert rig.port.find_oldest_unread_ticket().ring_index == 2
    assert rig.port.find_ticket_in_ring(1).ticket.number == first.ticket.number
    assert rig.port.find_ticket_in_ring(9) is None
    restarted = make(TicketValidator.SECURE_ENHANCED)
    assert restarted.port.find_oldest_unread_ticket().ring_index == 2


@pytest.mark.requirement("H-05")
def test_the_host_may_change_the_identifier_and_the_sequence_of_the_numbers(make):
    rig = make(TicketValidator.SECURE_ENHANCED)
    for identifier, sequence in ((0x003039, 0x0002A5), (0xABCDEF, 0x000010)):
        rig.port.store_enrolment(identifier, sequence)
        rig.insert(500)
        assert rig.cash_out_ticket() == create_secure_enhanced_number(identifier, sequence + 1)


@pytest.mark.requirement("H-09")
def test_a_cash_out_is_a_hand_pay_while_every_record_of_the_ticket_ring_is_unread(make):
    rig = make(TicketValidator.SECURE_ENHANCED)
    rig.port.store_enrolment(1, 0)
    for _ in range(HOST_TICKET_RING_SIZE):
        rig.insert(100)
        rig.cash_out_ticket()
    rig.insert(100)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    rig.engine.handle(EventType.KEY_TURNED)
    rig.port.mark_ticket_read(rig.port.find_oldest_unread_ticket().ticket.number)
    rig.insert(100)
    rig.cash_out_ticket()
    assert rig.port.find_ticket_in_ring(1).ticket.sequence == HOST_TICKET_RING_SIZE + 1


# ---------------------------------------------------------------------------------------------- in
@pytest.mark.requirement("H-08")
def test_a_ticket_of_another_machine_is_credited_once_when_the_host_authorises_it(make):
    rig = make()
    rig.offer_ticket(FIRST)
    assert rig.hands.orders == [("hold", 1)]
    assert (rig.port.offered_ticket_number, rig.port.redemption_state.status) == (
        FIRST,
        RedemptionStatus.WAITING,
    )
    assert rig.credit_cents == 0
    answer = rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    assert (answer.status, answer.amount_cents, answer.ticket_number) == (
        RedemptionStatus.PENDING,
        1234,
        FIRST,
    )
    assert (rig.credit_cents, rig.port.has_unread_result) == (0, False)
    complete_stacking(rig)
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
def test_a_redeemed_ticket_is_refused_even_if_the_host_authorises_it_again(make):
    rig = make()
    for status in (RedemptionStatus.PENDING, RedemptionStatus.NOT_NOW):
        rig.port.acknowledge_result()
        rig.offer_ticket(FIRST)
        assert rig.port.authorise_redemption(FIRST, CASHABLE, 1234).status is status
        if status is RedemptionStatus.PENDING:
            complete_stacking(rig)
            rig.port.acknowledge_result()
    assert (rig.credit_cents, rig.notice) == (1234, "ticket_refused.redeemed")


@pytest.mark.requirement("G-16")
def test_a_known_ticket_with_another_amount_from_the_host_is_returned(make):
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    rig.escrow_ledger.void_unstacked_paper("the path is clear")
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
        (FIRST, RESTRICTED, 100, RedemptionStatus.PROMOTIONAL_TICKETS_DISABLED),
    ],
)
def test_a_ticket_that_the_machine_may_not_credit_is_returned_with_the_reason(
    make, digits, kind, cents, status
):
    rig = make()
    rig.offer_ticket(FIRST)
    assert rig.port.authorise_redemption(digits, kind, cents).status is status
    assert rig.hands.orders[-1] == ("return", 1)
    assert (rig.credit_cents, rig.port.redemption_state.status) == (0, status)
    assert rig.port.redemption_state.ticket_number == FIRST
    assert rig.port.has_unread_result


@pytest.mark.requirement("H-08", "G-16")
@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (RedemptionStatus.REJECTED_BY_HOST, TicketRefusalReason.REDEEMED),
        (RedemptionStatus.TIMED_OUT, TicketRefusalReason.HOST_DOWN),
    ],
)
def test_a_ticket_that_the_host_declines_is_returned_and_cannot_be_authorised_later(make, status, reason):
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.return_offered_ticket(status, reason)
    assert rig.hands.orders[-1] == ("return", 1)
    assert rig.notice == f"ticket_refused.{reason.value}"
    assert rig.port.return_offered_ticket(status, reason).status is status
    assert rig.port.authorise_redemption(FIRST, CASHABLE, 100).status is status
    assert rig.credit_cents == 0


@pytest.mark.requirement("H-08", "G-16")
def test_a_ticket_is_returned_at_once_while_the_link_to_the_host_is_down(make):
    rig = make(online=False)
    rig.offer_ticket(FIRST)
    assert rig.hands.orders[-1] == ("return", 1)
    assert rig.port.redemption_state.status is RedemptionStatus.LINK_DOWN
    assert not rig.port.has_unread_result


def test_the_host_may_authorise_a_ticket_during_a_game_but_not_while_a_door_is_open(make):
    rig = make().insert(100)
    rig.offer_ticket(FIRST)
    rig.play()
    assert rig.port.authorise_redemption(FIRST, CASHABLE, 100).status is RedemptionStatus.PENDING
    complete_stacking(rig)
    rig.report_shown()
    rig.offer_ticket(SECOND)
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert rig.port.authorise_redemption(SECOND, CASHABLE, 100).status is RedemptionStatus.NOT_NOW
    assert rig.hands.orders[-1] == ("return", 3)


def test_restricted_tickets_keep_expiry_and_pool_and_refuse_another_pool_or_a_past_date(make):
    rig = make(promotional=True)
    terms = {"expiry_date": date(2026, 2, 1), "restricted_pool": 9}
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, RESTRICTED, 500, **terms)
    complete_stacking(rig)
    assert rig.machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS) == {"expires": "2026-02-01", "pool": 9}
    assert rig.machine.read_credit_cents(RESTRICTED) == 500
    rig.port.acknowledge_result()
    rig.offer_ticket(SECOND)
    assert (
        rig.port.authorise_redemption(SECOND, RESTRICTED, 500, restricted_pool=8).status
        is RedemptionStatus.OTHER_POOL
    )
    rig.offer_ticket(SECOND)
    late = rig.port.authorise_redemption(
        SECOND, RESTRICTED, 500, expiry_date=date(2025, 12, 31), restricted_pool=9
    )
    assert late.status is RedemptionStatus.BAD_AMOUNT


# ---------------------------------------------------------------------------------------------- restarts
def test_a_ticket_that_waits_for_the_host_is_dropped_by_a_restart(make):
    rig = make()
    rig.offer_ticket(FIRST)
    restarted = make()
    assert restarted.port.offered_ticket_number is None
    assert restarted.port.redemption_state.status is RedemptionStatus.NO_TICKET
    assert restarted.port.authorise_redemption(FIRST, CASHABLE, 100).status is RedemptionStatus.NOT_NOW
    assert restarted.credit_cents == 0


@pytest.mark.requirement("H-08", "G-05")
def test_an_authorised_ticket_is_credited_once_when_it_is_stacked_after_a_restart(make):
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    restarted = make()
    assert restarted.escrow_ledger.find_open().content.digits == FIRST
    assert restarted.port.redemption_state.status is RedemptionStatus.PENDING
    complete_stacking(restarted)
    assert restarted.credit_cents == 1234
    third = make()
    assert (third.port.redemption_state.status, third.port.has_unread_result) == (
        RedemptionStatus.REDEEMED,
        True,
    )
    assert third.port.redemption_state.ticket_number == FIRST


@pytest.mark.requirement("E-06")
def test_the_journal_contains_no_complete_ticket_number(make):
    rig = make().insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    rig.port.assign_ticket_number(SECOND)
    complete_printing(rig)
    for answer in ("rejected", "returned", "taken"):
        rig.port.acknowledge_result()
        rig.offer_ticket(FIRST)
        if answer == "rejected":
            rig.port.return_offered_ticket(
                RedemptionStatus.REJECTED_BY_HOST, TicketRefusalReason.HOST_REFUSED
            )
            continue
        rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
        if answer == "returned":
            rig.escrow_ledger.void_unstacked_paper("jam")
            rig.port.acknowledge_result()
        else:
            complete_stacking(rig)
    bodies = b"".join(rig.journal.iter_bodies())
    for number in (FIRST, SECOND):
        assert number.encode() not in bodies
        assert number[-4:].encode() in bodies


@pytest.mark.requirement("H-08")
def test_an_unread_ticket_result_is_not_replaced_by_the_next_ticket(make):
    """If the next ticket replaced the result, the host would never learn that the first ticket was credited."""
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    complete_stacking(rig)
    rig.offer_ticket(SECOND)
    rig.machine.component(HostMoney).is_online = False
    rig.offer_ticket(SECOND)
    assert rig.port.offered_ticket_number is None
    assert (rig.port.redemption_state.status, rig.port.redemption_state.ticket_number) == (
        RedemptionStatus.REDEEMED,
        FIRST,
    )
    rig.machine.component(HostMoney).is_online = True
    rig.port.acknowledge_result()
    rig.offer_ticket(SECOND)
    assert rig.port.offered_ticket_number == SECOND


@pytest.mark.requirement("H-08")
def test_a_ticket_returned_by_the_acceptor_can_be_redeemed_again(make):
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    rig.escrow_ledger.void_unstacked_paper("the path is clear")
    assert (rig.port.redemption_state.status, rig.credit_cents) == (RedemptionStatus.NOT_STACKED, 0)
    rig.port.acknowledge_result()
    rig.offer_ticket(FIRST)
    assert rig.port.authorise_redemption(FIRST, CASHABLE, 1234).status is RedemptionStatus.PENDING
    complete_stacking(rig)
    assert rig.credit_cents == 1234


@pytest.mark.requirement("H-08")
def test_a_ticket_returned_before_the_stack_order_is_reported_to_the_host_as_not_stacked(make, monkeypatch):
    rig = make()
    rig.offer_ticket(FIRST)
    monkeypatch.setattr(
        rig.hands, "stack", lambda _: None
    )  # the acceptor returns the ticket before the stack order
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    returned = PaperReturned(device="bill", content=Barcode(FIRST), reason=ReturnReason.RETURNED_BY_ACCEPTOR)
    for event in iter_reported_events(returned, "bill_acceptor", ()):
        rig.submit_event(event)
    assert (rig.port.redemption_state.status, rig.credit_cents) == (RedemptionStatus.NOT_STACKED, 0)
    assert rig.ticket_store.find_ticket(FIRST).state is TicketState.ISSUED
    assert rig.port.has_unread_result


def test_a_stack_order_lost_in_a_restart_is_reported_to_the_host_as_not_stacked(make, monkeypatch):
    rig = make()
    rig.offer_ticket(FIRST)
    monkeypatch.setattr(rig.hands, "stack", lambda escrow: None)  # the driver does not record the order
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    restarted = make()
    assert restarted.port.redemption_state.status is RedemptionStatus.NOT_STACKED
    assert restarted.ticket_store.find_ticket(FIRST).state is TicketState.ISSUED
    assert restarted.port.has_unread_result


@pytest.mark.requirement("H-08", "K-08")
@pytest.mark.parametrize(
    ("cause", "amount_cents", "status"),
    [
        ("lost", 1234, RedemptionStatus.REDEEMED),
        ("lost", 0, RedemptionStatus.NOT_STACKED),
        ("released", 1234, RedemptionStatus.REDEEMED),
    ],
)
def test_a_disputed_ticket_is_pending_for_the_host_until_the_ruling(make, cause, amount_cents, status):
    """If the host received "not stacked" before the ruling, the ticket could be paid twice."""
    rig = make()
    rig.offer_ticket(FIRST)
    rig.port.authorise_redemption(FIRST, CASHABLE, 1234)
    if cause == "lost":
        rig.escrow_ledger.close_lost_paper_as_disputed("the acceptor is idle")
    else:
        rig.machine.component(TicketDesk).abort_redemption(
            rig.machine.memory.get(MoneyKey.PAPER_BEING_STACKED)["id"], "released again the cage"
        )
        rig.escrow_ledger.credit_stacked_paper()
        rig.escrow_ledger.close_confirmed_paper()
    assert (rig.port.redemption_state.status, rig.port.has_unread_result) == (RedemptionStatus.PENDING, False)
    restarted = make()
    assert (restarted.port.redemption_state.status, restarted.port.has_unread_result) == (
        RedemptionStatus.PENDING,
        False,
    )
    [disputed] = read_disputed_amounts_by_id(restarted.machine)
    menu = MenuUser(restarted).sign_in(Role.SUPERVISOR).touch("disputed").touch(f"disputed:{disputed}")
    menu.fill_open_form(str(amount_cents), "looked again the recording")
    menu.home().touch("leave")
    assert (restarted.port.redemption_state.status, restarted.port.redemption_state.amount_cents) == (
        status,
        1234,
    )
    assert restarted.port.has_unread_result
    restarted.port.acknowledge_result()
    assert not restarted.port.has_unread_result
    assert Auditor(GameFiles()).audit_entries(restarted.journal.iter_bodies()).findings == []

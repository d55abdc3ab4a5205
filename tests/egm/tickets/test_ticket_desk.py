"""The ticket desk of a machine: each step takes effect once, in any order and after every refusal."""

import re
from dataclasses import replace

import pytest
from rigs.ticket_office import RULES, Office

from egm.tickets.desk import build_stand_alone_numbering, create_enrolled_number
from egm.tickets.errors import TicketOrderError
from egm.tickets.model import TicketKind, TicketState
from egm.tickets.numbers import (
    create_secure_enhanced_number,
    is_secure_enhanced_number,
    is_system_number,
)
from egm.tickets.redemption import TicketRedemption, TicketRefusal, TicketRefusalReason


@pytest.fixture
def office(tmp_path):
    return Office(tmp_path)


@pytest.mark.requirement("H-07")
def test_a_ticket_is_issued_and_redeemed(office):
    ticket = office.desk.prepare_ticket("cashout-7", 1234, denomination_cents=25)
    assert (ticket.amount_cents, ticket.sequence, ticket.credits) == (1234, 1, 49)
    assert office.store.find_ticket(ticket.number).state is TicketState.RESERVED
    assert office.desk.begin_redemption("in-1", ticket.number).reason is TicketRefusalReason.NOT_PRINTED
    office.desk.record_printed(ticket.number)
    taken = office.desk.begin_redemption("in-2", ticket.number)
    assert taken == TicketRedemption(redemption_id="in-2", ticket=ticket)
    assert office.store.find_ticket(ticket.number).state is TicketState.PENDING
    office.desk.commit_redemption("in-2")
    assert office.store.find_ticket(ticket.number).state is TicketState.REDEEMED
    assert office.desk.begin_redemption("in-3", ticket.number).reason is TicketRefusalReason.REDEEMED


@pytest.mark.requirement("H-07", "H-08")
def test_every_step_repeated_counts_once(office):
    tickets = {office.desk.prepare_ticket("cashout-7", 1234, denomination_cents=25) for _ in range(3)}
    (ticket,) = tickets
    for _ in range(3):
        office.desk.record_printed(ticket.number)
    answers = {office.desk.begin_redemption("in-1", ticket.number) for _ in range(3)}
    assert len(answers) == 1
    for _ in range(3):
        office.desk.abort_redemption("in-1", "limit reached")
    office.desk.begin_redemption("in-2", ticket.number)
    for _ in range(3):
        office.desk.commit_redemption("in-2")
    with pytest.raises(TicketOrderError, match="already used"):  # it is money no more, under any id
        office.desk.begin_redemption("in-2", ticket.number)
    actions = [move.action.value for move in office.store.find_ticket(ticket.number).moves]
    assert actions == ["reserve", "issue", "lock", "release", "lock", "redeem"]


@pytest.mark.requirement("H-07")
def test_steps_out_of_order_are_refused_and_change_nothing(office):
    reserved = office.desk.prepare_ticket("a", 500, denomination_cents=25).number
    with pytest.raises(TicketOrderError, match="because no ticket was locked under this id"):
        office.desk.commit_redemption("never")
    office.desk.abort_redemption("never", "the cut came before the lock")
    office.desk.record_failed_print(reserved, "paper out")
    office.desk.record_failed_print(reserved, "paper out")
    with pytest.raises(TicketOrderError, match="issue is not possible while the ticket is void"):
        office.desk.record_printed(reserved)
    number = office.issue_ticket("b").number
    with pytest.raises(TicketOrderError, match="fail is not possible while the ticket is issued"):
        office.desk.record_failed_print(number, "too late")
    office.desk.begin_redemption("in-1", number)
    office.desk.abort_redemption("in-1", "returned")
    with pytest.raises(TicketOrderError, match="because the redemption ended in another way"):
        office.desk.commit_redemption("in-1")
    with pytest.raises(TicketOrderError, match="already used"):
        office.desk.begin_redemption("in-1", number)
    assert [r.state for r in office.store.iter_records()] == [TicketState.ISSUED, TicketState.VOID]


@pytest.mark.requirement("H-07")
def test_a_locked_ticket_cannot_be_redeemed_elsewhere(tmp_path, office):
    number = office.issue_ticket().number
    other = Office(tmp_path, serial="EGM-0000002")
    assert isinstance(other.desk.begin_redemption("theirs", number), TicketRedemption)
    assert office.desk.begin_redemption("ours", number).reason is TicketRefusalReason.LOCKED_BY_OTHER_REDEEMER
    assert office.desk.find_unfinished().redemptions == ()
    assert [r.redemption_id for r in other.desk.find_unfinished().redemptions] == ["theirs"]
    other.desk.abort_redemption("theirs", "returned")
    assert isinstance(office.desk.begin_redemption("ours", number), TicketRedemption)


@pytest.mark.requirement("H-08")
def test_a_restart_finds_unfinished_tickets(office):
    printed = office.issue_ticket("a").number
    open_ticket = office.desk.prepare_ticket("b", 700, denomination_cents=25)
    office.desk.begin_redemption("in-1", printed)
    office.restart()
    unfinished = office.desk.find_unfinished()
    assert [(r.issue_id, r.ticket) for r in unfinished.tickets] == [("b", open_ticket)]
    assert [(r.redemption_id, r.ticket.number) for r in unfinished.redemptions] == [("in-1", printed)]
    office.desk.record_failed_print(open_ticket.number, "power cut")
    office.desk.commit_redemption("in-1")
    assert office.desk.find_unfinished().tickets == office.desk.find_unfinished().redemptions == ()


@pytest.mark.requirement("H-10")
def test_a_ticket_is_good_to_the_end_of_its_last_local_day(office):
    ticket = office.issue_ticket()
    # Issued 09:05 in Montréal on 1 March; 30 days after is 31 March, and summer time has begun by then.
    assert ticket.expires_at.isoformat() == "2026-04-01T04:00:00+00:00"
    second = office.issue_ticket("b").number
    office.clock.wall = ticket.expires_at.replace(hour=3, minute=59, second=59)
    assert isinstance(office.desk.begin_redemption("just", second), TicketRedemption)
    office.clock.wall = ticket.expires_at
    assert office.desk.begin_redemption("late", ticket.number) == TicketRefusal(
        TicketRefusalReason.EXPIRED, "good until 2026-04-01 04:00:00 UTC"
    )
    assert office.store.find_ticket(ticket.number).state is TicketState.ISSUED  # asking writes nothing
    office.desk.commit_redemption("just")  # locked in time
    office.clock.pass_days(-10)
    assert isinstance(office.desk.begin_redemption("again", ticket.number), TicketRedemption)


@pytest.mark.requirement("H-11")
def test_an_amount_above_the_limit_is_refused_for_a_ticket_but_not_a_receipt(office):
    prepare = office.desk.prepare_ticket
    assert prepare("a", 1_000_001, denomination_cents=1).reason is TicketRefusalReason.ABOVE_LIMIT
    assert prepare("b", 1_000_000, denomination_cents=1).amount_cents == 1_000_000
    assert prepare("c", 1_000_001, TicketKind.HANDPAY_RECEIPT, denomination_cents=1).amount_cents == 1_000_001
    assert len(list(office.store.iter_records())) == 2


def test_a_machine_takes_no_receipt_no_other_currency_and_no_misread(tmp_path, office):
    receipt = office.issue_ticket("a", kind=TicketKind.JACKPOT_RECEIPT).number
    assert office.desk.begin_redemption("1", receipt).reason is TicketRefusalReason.WRONG_KIND
    number = office.issue_ticket("b").number
    euro = Office(tmp_path, serial="EGM-2", rules=replace(RULES, currency="EUR"))
    assert euro.desk.begin_redemption("2", number) == TicketRefusal(TicketRefusalReason.WRONG_CURRENCY, "CAD")
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert office.desk.begin_redemption("3", wrong).reason is TicketRefusalReason.MISREAD
    assert office.desk.begin_redemption("4", "").reason is TicketRefusalReason.MISREAD
    unknown = Office(tmp_path / "elsewhere").issue_ticket("x", kind=TicketKind.RESTRICTED).number
    assert office.desk.begin_redemption("5", unknown).reason is TicketRefusalReason.UNKNOWN


@pytest.mark.requirement("H-09")
def test_without_the_host_a_limited_number_of_tickets_is_issued(tmp_path):
    office = Office(tmp_path, rules=replace(RULES, unread_max_before_own_number=3))
    failed = office.desk.prepare_ticket("f", 100, denomination_cents=1).number
    office.desk.record_failed_print(failed, "jam")
    numbers = [office.issue_ticket(str(n)).number for n in range(3)]
    assert (
        office.desk.prepare_ticket("4", 100, denomination_cents=1).reason
        is TicketRefusalReason.TOO_MANY_UNREAD_TICKETS
    )
    assert [r.ticket.number for r in office.desk.list_unread()] == numbers
    office.desk.mark_read_by_host(numbers[0])
    office.desk.mark_read_by_host(numbers[0])
    assert office.desk.prepare_ticket("4", 100, denomination_cents=1).amount_cents == 100
    assert (
        office.desk.prepare_ticket("5", 100, denomination_cents=1).reason
        is TicketRefusalReason.TOO_MANY_UNREAD_TICKETS
    )


@pytest.mark.requirement("H-05")
def test_secure_enhanced_numbers_follow_the_hosts_seed(tmp_path):
    office = Office(
        tmp_path, create_number=create_enrolled_number, is_ticket_number=is_secure_enhanced_number
    )
    assert (
        office.desk.prepare_ticket("a", 100, denomination_cents=1).reason is TicketRefusalReason.NOT_ENROLLED
    )
    office.desk.store_enrolment(0xABCDEF, 0x001233)
    assert office.desk.prepare_ticket("a", 100, denomination_cents=1).number == "002860850951067985"
    office.restart()
    assert office.desk.prepare_ticket("a", 100, denomination_cents=1).number == "002860850951067985"
    assert office.desk.prepare_ticket("b", 100, denomination_cents=1).number == create_secure_enhanced_number(
        0xABCDEF, 0x001235
    )
    office.desk.store_enrolment(0xABCDEF, 0xFFFFFF)
    office.desk.prepare_ticket("c", 100, denomination_cents=1)
    assert office.desk.current_enrolment.sequence == 0


@pytest.mark.requirement("H-05")
def test_a_host_that_enrols_with_a_sequence_used_before_stops_nothing(tmp_path):
    """Many hosts do this at every start; the machine pays by hand until the used numbers are past."""
    office = Office(
        tmp_path, create_number=create_enrolled_number, is_ticket_number=is_secure_enhanced_number
    )
    office.desk.store_enrolment(0xABCDEF, 0)
    for n in range(150):
        number = office.desk.prepare_ticket(f"a{n}", 100, denomination_cents=1).number
        office.desk.record_failed_print(number, "jam")
    office.desk.store_enrolment(0xABCDEF, 0)
    assert (
        office.desk.prepare_ticket("b", 100, denomination_cents=1).reason is TicketRefusalReason.NOT_ENROLLED
    )
    fresh = office.desk.prepare_ticket("b", 100, denomination_cents=1).number
    assert fresh == create_secure_enhanced_number(0xABCDEF, 151)


@pytest.mark.requirement("H-05")
def test_the_hosts_number_is_used_once(tmp_path):
    office = Office(tmp_path, is_ticket_number=is_system_number)
    number = "071234567890123456"
    ticket = office.desk.prepare_ticket("a", 100, denomination_cents=1, ticket_number=number)
    assert ticket.number == "071234567890123456"
    assert office.desk.prepare_ticket("a", 100, denomination_cents=1, ticket_number=number) == ticket
    with pytest.raises(TicketOrderError, match="because its number or id is already used"):
        office.desk.prepare_ticket("b", 100, denomination_cents=1, ticket_number=number)


@pytest.mark.requirement("E-06", "G-17")
def test_no_unredeemed_number_is_shown_in_full(office):
    numbers = [office.issue_ticket(str(n)).number for n in range(40)]
    office.desk.begin_redemption("in", numbers[39])
    office.desk.commit_redemption("in")
    office.desk.begin_redemption("pending", numbers[38])  # in an acceptor, and not redeemed yet
    history = list(office.store.iter_records())[:35]
    assert history[1].state is TicketState.PENDING
    assert [r.ticket.sequence for r in history] == list(range(40, 5, -1))
    assert history[0].shown_number == numbers[39]
    assert {(r.ticket.amount_cents, r.ticket.issued_at) for r in history} == {
        (1234, office.clock.now().replace(microsecond=0))
    }
    for record in history[1:]:
        assert re.fullmatch(r"•{14}\d{4}", record.shown_number)
        assert record.shown_number[-4:] == record.ticket.number[-4:]


@pytest.mark.requirement("H-04")
def test_a_used_number_is_drawn_again(tmp_path):
    draws = iter([5, 5, 5, 8])
    office = Office(tmp_path, create_number=build_stand_alone_numbering(lambda bound: next(draws)))
    assert office.issue_ticket("a").number != office.issue_ticket("b").number
    assert list(draws) == []


def test_a_stuck_source_of_numbers_stops_the_machine(tmp_path):
    office = Office(tmp_path, create_number=build_stand_alone_numbering(lambda bound: 0))
    office.issue_ticket("a")
    with pytest.raises(TicketOrderError, match="no unused ticket number was found"):
        office.desk.prepare_ticket("b", 100, denomination_cents=1)
    assert len(list(office.store.iter_records())) == 1

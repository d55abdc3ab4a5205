"""The ticket ledger with two redeemers, two processes, a damaged file and a full disk; and tickets as JSON."""

import json
import multiprocessing
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rigs.ticket_office import HOUSE, KEY, Office, make_ticket

from egm.errors import OperatorError
from egm.tickets.copies import TICKET_DATABASE_FILE_NAME
from egm.tickets.errors import InvalidTicket, TicketLedgerDamaged, TicketLedgerUnwritable, TicketOrderError
from egm.tickets.model import Ticket, TicketKind, TicketState, Venue
from egm.tickets.move_log import MOVE_LOG_FILE_NAME as LOG_NAME
from egm.tickets.record import TICKET_TRANSITIONS, TicketAction
from egm.tickets.redemption import TicketRedemption
from egm.tickets.store import TicketStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


# ---------------------------------------------------------------- one ticket, two machines
def redeem_all(folder, serial, numbers, start, won):
    """Redeem every ticket as one machine in its own process, and report the successful ones."""
    office = Office(folder, serial=serial)
    start.wait()
    for number in numbers:
        answer = office.desk.begin_redemption(f"{serial}-{number}", number)
        if isinstance(answer, TicketRedemption):
            office.desk.commit_redemption(answer.redemption_id)
            won.put((number, serial))
    won.put((None, serial))


@pytest.mark.requirement("H-07")
def test_of_two_machines_exactly_one_redeems_a_ticket(tmp_path):
    """Two real processes redeem the same tickets in the same order, and start simultaneously."""
    office = Office(tmp_path)
    numbers = [office.issue_ticket(str(n)).number for n in range(40)]
    context = multiprocessing.get_context("spawn")
    start, won = context.Barrier(3), context.Queue()
    machines = [
        context.Process(target=redeem_all, args=(tmp_path, f"EGM-{n}", numbers, start, won)) for n in (1, 2)
    ]
    for machine in machines:
        machine.start()
    start.wait()
    winners, ended = [], 0
    while ended < 2:
        number, serial = won.get()
        ended += number is None
        winners += [(number, serial)] * (number is not None)
    for machine in machines:
        machine.join()
        assert machine.exitcode == 0
    assert sorted(number for number, _ in winners) == sorted(numbers)
    by_ledger = {
        r.ticket.number: r.current_lock.actor for r in office.store.iter_records(TicketState.REDEEMED)
    }
    assert by_ledger == dict(winners)
    assert office.store.verify_moves() == 40 * 4


def issue_some(folder, serial, start):
    office = Office(folder, serial=serial)
    start.wait()
    for n in range(20):
        office.issue_ticket(f"{serial}-{n}")


def test_machines_that_share_a_new_ledger_number_their_own_tickets(tmp_path):
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(2)
    machines = [context.Process(target=issue_some, args=(tmp_path, f"EGM-{n}", start)) for n in (1, 2)]
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join()
        assert machine.exitcode == 0
    with TicketStore.open(tmp_path, key=KEY) as store:
        for n in (1, 2):
            sequences = [r.ticket.sequence for r in store.iter_records(machine_serial=f"EGM-{n}")]
            assert sequences == list(range(20, 0, -1))
        assert store.verify_moves() == 80


# ---------------------------------------------------------------- the states of a ticket
PATHS = {
    TicketState.RESERVED: (),
    TicketState.ISSUED: (TicketAction.ISSUE,),
    TicketState.PENDING: (TicketAction.ISSUE, TicketAction.LOCK),
    TicketState.REDEEMED: (TicketAction.ISSUE, TicketAction.LOCK, TicketAction.REDEEM),
    TicketState.VOID: (TicketAction.FAIL_PRINTING,),
    TicketState.EXPIRED: (TicketAction.ISSUE, TicketAction.EXPIRE),  # of a ledger from before
}


@pytest.mark.requirement("H-07")
@pytest.mark.parametrize("state", TicketState)
@pytest.mark.parametrize("action", [action for action in TicketAction if action is not TicketAction.RESERVE])
def test_every_action_in_every_state_of_a_ticket_has_its_result(tmp_path, state, action):
    """Each pair is tried against the table of ticket states; a forbidden action changes nothing."""
    with TicketStore.open(tmp_path, key=KEY) as store:
        number = store.reserve_ticket("i", make_ticket(), actor="m").ticket.number
        for step in PATHS[state]:
            store.record_move(number, step, action_time=NOW, actor="m", redemption_id="r")
        before = store.require_ticket(number)
        assert before.state is state
        needs, leaves = TICKET_TRANSITIONS[action]
        if state in needs:
            assert (
                store.record_move(number, action, action_time=NOW, actor="m", redemption_id="x").state
                is leaves
            )
        else:
            with pytest.raises(
                TicketOrderError, match=f"{action} is not possible while the ticket is {state}"
            ):
                store.record_move(number, action, action_time=NOW, actor="m", redemption_id="x")
            assert store.require_ticket(number) == before


def test_a_group_of_changes_is_made_completely_or_not_at_all(tmp_path):
    with TicketStore.open(tmp_path, key=KEY) as store:
        number = store.reserve_ticket("i", make_ticket(), actor="m").ticket.number

        def issue_and_redeem():
            with store.transaction():
                store.record_move(number, TicketAction.ISSUE, action_time=NOW, actor="m")
                store.record_move(number, TicketAction.REDEEM, action_time=NOW, actor="m")

        with pytest.raises(TicketOrderError, match="redeem is not possible while the ticket is issued"):
            issue_and_redeem()
        assert store.require_ticket(number).state is TicketState.RESERVED
        store.verify_moves()


@pytest.mark.requirement("H-15")
def test_the_ledgers_sums_are_those_of_its_tickets(tmp_path):
    office = Office(tmp_path)
    for n in range(6):
        office.issue_ticket(str(n), 100 * (n + 1))
    numbers = [r.ticket.number for r in office.store.iter_records()]
    office.desk.begin_redemption("a", numbers[0])
    office.desk.begin_redemption("b", numbers[1])
    office.desk.commit_redemption("b")
    office.issue_ticket("x", 5000, kind=TicketKind.RESTRICTED)
    office.desk.record_failed_print(
        office.desk.prepare_ticket("y", 70, denomination_cents=1).number, "paper out"
    )
    office.store.record_move(
        office.issue_ticket("z", 80).number, TicketAction.EXPIRE, action_time=NOW, actor="m"
    )
    sums = {(s.state, s.kind): (s.ticket_count, s.amount_cents) for s in office.store.list_totals()}
    assert sums == {
        (TicketState.ISSUED, TicketKind.CASHABLE): (4, 1000),
        (TicketState.ISSUED, TicketKind.RESTRICTED): (1, 5000),
        (TicketState.PENDING, TicketKind.CASHABLE): (1, 600),
        (TicketState.REDEEMED, TicketKind.CASHABLE): (1, 500),
        (TicketState.VOID, TicketKind.CASHABLE): (1, 70),
        (TicketState.EXPIRED, TicketKind.CASHABLE): (1, 80),
    }
    assert sum(s.amount_cents for s in office.store.list_totals() if s.is_owed) == 6600


# ---------------------------------------------------------------- damage and refusals
def open_with_another_program(folder, *statements):
    """Open the ledger's file with another program."""
    with closing(sqlite3.connect(folder / TICKET_DATABASE_FILE_NAME)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


GAGS = tuple(
    f"DROP TRIGGER {table}_never_{verb}" for table in ("moves", "tickets") for verb in ("UPDATE", "DELETE")
)
CHANGES = [
    "UPDATE moves SET story = replace(story, '1234', '9234') WHERE place = 1",
    "UPDATE moves SET state = 'issued' WHERE place = 3",
    "UPDATE moves SET by = 'nobody' WHERE place = 2",
    "DELETE FROM moves WHERE place = 2",
]


def write_ledger(folder):
    """Write and close a ledger with tickets in various states; return the history of each ticket."""
    office = Office(folder)
    for n in range(5):
        office.issue_ticket(str(n))
    number = office.store.find_by_issue("2").ticket.number
    office.desk.begin_redemption("r", number)
    records = list(office.store.iter_records())
    office.store.close()
    return records


def reopen_ledger(folder):
    with TicketStore.open(folder, key=KEY) as store:
        store.verify_moves()
        return store.repair_text, list(store.iter_records())


@pytest.mark.requirement("A-02", "A-04")
@pytest.mark.parametrize("change", CHANGES)
def test_a_damaged_database_is_made_again_from_the_log(tmp_path, change):
    records = write_ledger(tmp_path)
    open_with_another_program(tmp_path, *GAGS, change)
    mended, found = reopen_ledger(tmp_path)
    assert re.search(
        r"tickets.sqlite rebuilt from tickets.moves, 11 moves: .*(altered after it was written|beginning)",
        mended,
    )
    assert found == records
    assert reopen_ledger(tmp_path) == ("", records)
    assert (tmp_path / f"{TICKET_DATABASE_FILE_NAME}.damaged-1").exists()


@pytest.mark.requirement("A-02")
def test_any_damaged_page_of_the_database_is_detected(tmp_path):
    records = write_ledger(tmp_path)
    original = (tmp_path / TICKET_DATABASE_FILE_NAME).read_bytes()
    mended = 0
    for page in range(0, len(original), 4096):
        spoilt = bytearray(original)
        spoilt[page + 20 : page + 400] = bytes(380)
        (tmp_path / TICKET_DATABASE_FILE_NAME).write_bytes(spoilt)
        warnings, found = reopen_ledger(tmp_path)
        assert found == records
        mended += bool(warnings)
    assert mended >= 3


@pytest.mark.requirement("A-02")
def test_a_lost_or_older_database_is_completed_from_the_log(tmp_path):
    office = Office(tmp_path)
    office.issue_ticket("a")
    office.store.close()
    older = (tmp_path / TICKET_DATABASE_FILE_NAME).read_bytes()
    records = [*write_ledger(tmp_path)]
    for content in (older, b""):
        (tmp_path / TICKET_DATABASE_FILE_NAME).write_bytes(content)
        assert reopen_ledger(tmp_path)[1] == records
    (tmp_path / TICKET_DATABASE_FILE_NAME).unlink()
    assert reopen_ledger(tmp_path)[1] == records


@pytest.mark.requirement("A-02")
@pytest.mark.parametrize("keep", [0, 1, 700, -1, -300], ids=["none", "a byte", "some", "no end", "most"])
def test_a_short_log_is_completed_from_the_database(tmp_path, keep):
    records = write_ledger(tmp_path)
    log = (tmp_path / LOG_NAME).read_bytes()
    (tmp_path / LOG_NAME).write_bytes(log[:keep])
    lost = f"{LOG_NAME} rebuilt from {TICKET_DATABASE_FILE_NAME}: it was lost"
    assert reopen_ledger(tmp_path) == (lost if keep in {0, 1} else "", records)
    office = Office(tmp_path)
    office.issue_ticket("more")
    assert office.store.verify_moves() == 13


@pytest.mark.requirement("A-02", "A-04")
def test_a_damaged_log_is_written_again(tmp_path):
    """The damage is in the middle: a digit, a line end, a missing line, two exchanged lines."""
    records = write_ledger(tmp_path)
    log = (tmp_path / LOG_NAME).read_bytes()
    lines = log.splitlines(keepends=True)
    for spoilt in (
        log.replace(b":1234,", b":9234,", 1),
        log.replace(b"\n", b" ", 1),
        b"".join(lines[:3] + lines[4:]),
        b"".join([lines[0], lines[2], lines[1], *lines[3:]]),
        log[:200] + b"\x00" * 50 + log[250:],
    ):
        assert spoilt != log
        (tmp_path / LOG_NAME).write_bytes(spoilt)
        with TicketStore.open(tmp_path, key=KEY) as store:
            assert store.verify_moves() == 11  # looks at every line, and mends
            assert store.repair_text.startswith("tickets.moves rebuilt from tickets.sqlite")
            assert list(store.iter_records()) == records
        with TicketStore.open(tmp_path, key=KEY) as store:
            assert (store.verify_moves(), store.repair_text) == (
                11,
                "",
            )  # the rewritten log can be read


def test_damage_in_both_copies_is_an_error(tmp_path):
    write_ledger(tmp_path)
    open_with_another_program(tmp_path, *GAGS, CHANGES[0])
    log = (tmp_path / LOG_NAME).read_bytes()
    (tmp_path / LOG_NAME).write_bytes(log.replace(b":1234,", b":9234,", 1))
    with pytest.raises(TicketLedgerDamaged, match=r"tickets.moves: move 1 was altered after it was written"):
        TicketStore.open(tmp_path, key=KEY)
    (tmp_path / LOG_NAME).write_bytes(b"")
    with pytest.raises(
        TicketLedgerDamaged,
        match=r"was altered after it was written; it cannot be rebuilt, because tickets.moves is empty",
    ):
        TicketStore.open(tmp_path, key=KEY)


def test_a_damaged_log_is_not_replaced_by_an_older_database(tmp_path):
    office = Office(tmp_path)
    office.issue_ticket("a")
    office.store.close()
    older = (tmp_path / TICKET_DATABASE_FILE_NAME).read_bytes()
    write_ledger(tmp_path)
    log = (tmp_path / LOG_NAME).read_bytes()
    (tmp_path / LOG_NAME).write_bytes(log.replace(b":1234,", b":9234,", 1))
    (tmp_path / TICKET_DATABASE_FILE_NAME).write_bytes(older)
    with pytest.raises(
        TicketLedgerDamaged, match=r"tickets.sqlite cannot replace it, because it ends earlier, at move 2"
    ):
        TicketStore.open(tmp_path, key=KEY)
    (tmp_path / LOG_NAME).write_bytes(log)
    assert len(reopen_ledger(tmp_path)[1]) == 6


def test_contradicting_copies_are_refused(tmp_path):
    first, other = tmp_path / "one", tmp_path / "other"
    write_ledger(first)
    Office(other).issue_ticket("x")
    (first / LOG_NAME).write_bytes((other / LOG_NAME).read_bytes())
    with pytest.raises(TicketLedgerDamaged, match="differs from this file"):
        TicketStore.open(first, key=KEY)


def test_a_reader_that_verifies_nothing_at_opening_still_rejects_a_changed_row(tmp_path):
    records = write_ledger(tmp_path)
    open_with_another_program(tmp_path, *GAGS, CHANGES[0])
    with TicketStore.open(tmp_path, key=KEY, verify=False) as store:
        with pytest.raises(TicketLedgerDamaged, match="move 1 was altered after it was written"):
            store.find_ticket(records[-1].ticket.number)
        with pytest.raises(TicketLedgerDamaged, match="move 1 was altered after it was written"):
            store.verify_moves()
    assert reopen_ledger(tmp_path)[1] == records


def test_the_database_is_not_replaced_under_another_process(tmp_path):
    office = Office(tmp_path)
    number = office.issue_ticket().number
    open_with_another_program(tmp_path, *GAGS, CHANGES[0])
    with pytest.raises(TicketLedgerDamaged, match="once every program that has it open is closed"):
        TicketStore.open(tmp_path, key=KEY)
    with pytest.raises(TicketLedgerDamaged, match="move 1 was altered after it was written"):
        office.desk.begin_redemption("r", number)
    office.store.close()
    assert len(reopen_ledger(tmp_path)[1]) == 1


@pytest.mark.parametrize("table", ["moves", "tickets"])
def test_the_ledger_only_grows(tmp_path, table):
    Office(tmp_path).issue_ticket()
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET number = '1'"):
        with pytest.raises(sqlite3.IntegrityError, match="only grows"):
            open_with_another_program(tmp_path, statement)


def test_only_its_owner_reads_the_ledger(tmp_path):
    office = Office(tmp_path)
    office.issue_ticket()
    names = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert set(names) >= {TICKET_DATABASE_FILE_NAME, f"{TICKET_DATABASE_FILE_NAME}-wal", LOG_NAME}
    assert set(names.values()) == {0o600}


def test_a_file_that_is_no_ledger_is_refused(tmp_path):
    (tmp_path / TICKET_DATABASE_FILE_NAME).write_bytes(
        b"not a database at all, but long enough to be looked at" * 30
    )
    with pytest.raises(TicketLedgerDamaged, match=r"tickets.moves is empty"):
        TicketStore.open(tmp_path, key=KEY)


def test_a_later_format_is_refused(tmp_path):
    TicketStore.open(tmp_path, key=KEY).close()
    open_with_another_program(tmp_path, "PRAGMA user_version=7")
    with pytest.raises(TicketLedgerDamaged, match="expected format 2, found 7"):
        TicketStore.open(tmp_path, key=KEY)


def test_a_reader_does_not_create_a_missing_ledger(tmp_path):
    with pytest.raises(OperatorError, match="no ticket ledger here"):
        TicketStore.open(tmp_path, key=KEY, create_missing=False)
    assert not list(tmp_path.iterdir())


def test_a_medium_that_refuses_a_write_changes_nothing(tmp_path):
    office = Office(tmp_path)
    number = office.issue_ticket("a").number
    blocker = sqlite3.connect(tmp_path / TICKET_DATABASE_FILE_NAME, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    office.store._run_sql("PRAGMA busy_timeout=0")
    with pytest.raises(TicketLedgerUnwritable, match="locked"):
        office.desk.begin_redemption("r", number)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert isinstance(office.desk.begin_redemption("r", number), TicketRedemption)


# ---------------------------------------------------------------- the ticket as JSON
TIMES = st.datetimes(timezones=st.just(UTC))
WORDS = st.text(max_size=12)
TICKETS = st.builds(
    Ticket,
    number=st.text("0123456789", min_size=18, max_size=18),
    sequence=st.integers(1),
    kind=st.sampled_from(TicketKind),
    amount_cents=st.integers(1),
    currency=st.sampled_from(["CAD", "EUR"]),
    denomination_cents=st.integers(1),
    issued_at=TIMES,
    expires_at=st.none() | TIMES,
    machine_serial=WORDS,
    operator_number=WORDS,
    venue=st.builds(Venue, site=WORDS, address=WORDS, licence_holder=WORDS),
    template=WORDS,
    is_duplicate=st.booleans(),
)


@given(TICKETS)
def test_a_ticket_survives_encoding_as_json(ticket):
    assert Ticket.from_json(ticket.to_json()) == ticket


WRONG = [
    ("", "not a ticket"),
    ("[]", "not a ticket"),
    ('{"number": "1"}', "not a ticket"),
    (make_ticket().to_json().replace("cashable", "valuable"), "valuable"),
    (make_ticket().to_json().replace("+00:00", ""), "has no time zone"),
    (make_ticket().to_json().replace("America/Montreal", "Mars/Olympus"), "time_zone 'Mars/Olympus'"),
    (make_ticket().to_json().replace('"site"', '"sight"'), "unknown field sight"),
    (make_ticket().to_json().replace("9112345", "911234"), "is not 18 digits"),
    (make_ticket().to_json().replace(":12345,", ":0,"), "above 0"),
    (json.dumps(json.loads(make_ticket().to_json()) | {"extra": 1}), "extra"),
]


@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_json_that_is_not_a_ticket_is_refused(text, reason):
    with pytest.raises(InvalidTicket, match=reason):
        Ticket.from_json(text)


def test_a_ticket_states_the_venues_local_time():
    assert replace(HOUSE, time_zone="UTC").zone is UTC
    assert make_ticket().issued_at.astimezone(HOUSE.zone).hour == 9

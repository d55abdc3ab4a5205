"""Attacks on the ticket ledger: a wrong clock, a repeated id, a line from a text editor, a lost copy."""

import json
from datetime import UTC, datetime

import pytest
from rigs.ticket_office import KEY, Office

from egm.tickets.copies import TICKET_DATABASE_FILE_NAME
from egm.tickets.errors import TicketLedgerAbsent, TicketLedgerDamaged, TicketOrderError
from egm.tickets.model import TicketKind, TicketState
from egm.tickets.move_log import MOVE_LOG_FILE_NAME as LOG_NAME
from egm.tickets.move_log import compute_row_digest
from egm.tickets.redemption import TicketRedemption, TicketRefusalReason
from egm.tickets.store import TicketStore


@pytest.fixture
def office(tmp_path):
    return Office(tmp_path)


# ---------------------------------------------------------------- time
@pytest.mark.requirement("H-10")
@pytest.mark.parametrize("year", [1970, 2036, 2038])
def test_a_clock_that_is_wrong_for_a_moment_expires_nothing(office, year):
    """Reading a ticket while the clock is wrong does not change the ticket."""
    number = office.issue_ticket().number
    right = office.clock.wall
    office.clock.wall = datetime(year, 1, 19, 3, 14, 8, tzinfo=UTC)
    office.desk.begin_redemption("in-1", number)
    list(office.store.iter_records())
    office.clock.wall = right
    if year > right.year:
        assert isinstance(office.desk.begin_redemption("in-2", number), TicketRedemption)
    assert TicketState.EXPIRED not in {move.state for move in office.store.find_ticket(number).moves}


def test_while_the_date_is_unknown_no_ticket_is_issued_or_expired(tmp_path):
    known = [True]
    office = Office(tmp_path, is_clock_trusted=lambda: known[0])
    number = office.issue_ticket().number
    office.clock.pass_days(400)
    assert office.desk.begin_redemption("in-1", number).reason is TicketRefusalReason.EXPIRED
    known[0] = False
    assert (
        office.desk.prepare_ticket("c", 500, denomination_cents=1).reason
        is TicketRefusalReason.CLOCK_NOT_TRUSTED
    )
    assert isinstance(office.desk.begin_redemption("in-2", number), TicketRedemption)


# ---------------------------------------------------------------- repeated ids
@pytest.mark.parametrize(
    "change",
    [
        {"amount_cents": 10_000},
        {"kind": TicketKind.NONRESTRICTED},
        {"denomination_cents": 1},
        {"ticket_number": "911234567890123456"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_reserved_id_returns_its_ticket_only_for_the_same_request(office, change):
    values = {"amount_cents": 500, "denomination_cents": 25}
    first = office.desk.prepare_ticket("cashout-7", **values)
    assert office.desk.prepare_ticket("cashout-7", **values) == first
    with pytest.raises(TicketOrderError, match="under this id the ledger has"):
        office.desk.prepare_ticket("cashout-7", **(values | change))


def test_an_id_with_an_issued_ticket_yields_no_other_ticket(office):
    """A wiped journal repeats its ids: the old ticket of $100 must not be printed again for $5."""
    office.issue_ticket("cashout-7", 10_000)
    with pytest.raises(TicketOrderError, match=r"under this id the ledger has .* 10000 cents, issued"):
        office.desk.prepare_ticket("cashout-7", 500, denomination_cents=25)


@pytest.mark.requirement("H-07")
def test_a_redeemed_ticket_is_not_taken_again_under_its_old_id(office):
    number = office.issue_ticket(amount_cents=10_000).number
    office.desk.begin_redemption("ticket-9", number)
    office.desk.commit_redemption("ticket-9")
    with pytest.raises(TicketOrderError, match="already used"):
        office.desk.begin_redemption("ticket-9", number)


# ---------------------------------------------------------------- a text editor
def build_forged_line(office, cents=999_999):
    """Build a complete ticket, chained without the key: reserved and issued in one line."""
    rows = [list(row) for row in office.store._copies.run_sql("SELECT * FROM moves ORDER BY place")][-2:]
    move_number, before = office.store.last_move
    line = []
    for row in rows:
        move_number += 1
        row[0], row[1] = move_number, "919999999999990001"
        story = json.loads(row[8])
        if "ticket" in story:
            story["issue_id"] = "cashout-forged"
            story["ticket"] |= {"number": row[1], "amount_cents": cents, "sequence": 99}
        row[8] = json.dumps(story)
        row[9] = before = compute_row_digest(b"", before, tuple(row[:9]))
        line.append(row)
    return json.dumps(line).encode() + b"\n"


@pytest.mark.requirement("H-15")
def test_a_line_appended_with_a_text_editor_is_refused_and_named(tmp_path, office):
    office.issue_ticket("a")
    line = build_forged_line(office)
    with (tmp_path / LOG_NAME).open("ab") as log:
        log.write(line)
    with pytest.raises(TicketLedgerDamaged, match=r"move 3 was altered after it was written"):
        office.desk.begin_redemption("in-1", "919999999999990001")
    assert office.store.find_ticket("919999999999990001") is None
    office.store.close()
    with pytest.raises(TicketLedgerDamaged, match=r"move 3 was altered after it was written"):
        TicketStore.open(tmp_path, key=KEY)


def test_a_ledger_cannot_be_read_with_another_machines_key(tmp_path, office):
    office.issue_ticket("a")
    office.store.close()
    with pytest.raises(TicketLedgerDamaged, match="move 1 was altered after it was written"):
        TicketStore.open(tmp_path, key=bytes(32))


# ---------------------------------------------------------------- copies on two media
def test_the_second_copy_is_on_the_second_medium_and_is_rebuilt_there(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    with TicketStore.open(first, second_folder=second, key=KEY):
        pass
    office = Office(first, second=second)
    number = office.issue_ticket("a").number
    office.store.close()
    assert not (first / LOG_NAME).exists()
    (second / LOG_NAME).unlink()
    with TicketStore.open(first, second_folder=second, key=KEY) as store:
        assert store.repair_text == f"{LOG_NAME} rebuilt from {TICKET_DATABASE_FILE_NAME}: it was lost"
    for path in first.glob(f"{TICKET_DATABASE_FILE_NAME}*"):
        path.unlink()
    with TicketStore.open(first, second_folder=second, key=KEY) as store:
        assert (
            store.repair_text == f"{TICKET_DATABASE_FILE_NAME} rebuilt from {LOG_NAME}, 2 moves: it was lost"
        )
        assert store.find_ticket(number).state is TicketState.ISSUED


def test_a_missing_ledger_is_not_created_unless_requested(tmp_path):
    with pytest.raises(TicketLedgerAbsent):
        TicketStore.open(tmp_path, key=KEY, create_missing=False)
    assert not list(tmp_path.iterdir())


def test_a_reader_writes_nothing(tmp_path, office):
    number = office.issue_ticket("a").number
    office.store.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if "-shm" not in path.name}
    with TicketStore.open(tmp_path, key=KEY, read_only=True) as store:
        assert store.verify_moves() == 2
        assert store.find_ticket(number).state is TicketState.ISSUED
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if "-shm" not in path.name}
    assert {name: data for name, data in after.items() if data} == {n: d for n, d in before.items() if d}
    with (tmp_path / LOG_NAME).open("ab") as log:
        log.write(b"[[3]]\n")
    with (
        TicketStore.open(tmp_path, key=KEY, read_only=True, verify=False) as store,
        pytest.raises(TicketLedgerDamaged, match="move 3 was altered after it was written"),
    ):
        store.verify_moves()

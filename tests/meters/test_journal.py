"""The journal records complete transactions, refuses invalid ones, and is rebuilt exactly."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from meters import (
    AccountOverdrawn,
    ForbiddenTransfer,
    InvalidTransaction,
    Journal,
    JournalDamaged,
    JournalLocked,
    JournalUnwritable,
    MediumMissing,
    Phase,
    Transaction,
    TransactionIdConflict,
    Transfer,
    UnknownAccount,
    UnknownReservation,
)

CREDIT = "credit:1:cashable"


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


def bill(tx_id, cents=2000):
    return Transaction(
        id=tx_id, kind="bill.in", transfers=(Transfer("world:bill", CREDIT, cents, {"bill_cents": cents}),)
    )


def cash_out(tx_id, cents):
    return Transaction(
        id=tx_id,
        kind="cashout.request",
        phase=Phase.RESERVE,
        transfers=(Transfer(CREDIT, "out:handpay_cancelled_credit", cents),),
    )


@pytest.fixture
def journal(tmp_path):
    with Journal.open(tmp_path / "state", now=clock) as opened:
        yield opened


@pytest.mark.requirement("D-15", "F-01")
def test_a_transaction_moves_credit_and_meters_together(journal):
    journal.append(bill("b1"))
    journal.append(
        Transaction(
            id="g1",
            kind="game.start",
            transfers=(Transfer(CREDIT, "house:wager", 25),),
            dims={"game": "classic", "denomination_cents": 5},
            counts={"games_played": 1},
            state={"game.open": {"play_id": "g1"}},
        )
    )
    assert journal.balance_cents(CREDIT) == 1975
    assert journal.state("game.open") == {"play_id": "g1"}
    meters = journal.meters()
    assert meters.get_value("coin_in") == 25
    assert meters.get_value("bill_in.value") == 2000
    assert meters.split_by("bill_in.count", "bill_cents") == {"2000": 1}
    assert meters.select(game="classic").get_value("coin_in") == 25
    assert meters.split_by("games_played", "game") == {"classic": 1}


@pytest.mark.requirement("E-13:b", "D-07")
@pytest.mark.parametrize(
    "command",
    ["UPDATE entries SET body = x'00' WHERE sequence = 2", "DELETE FROM entries WHERE sequence = 2"],
)
def test_the_database_refuses_to_change_or_remove_an_entry(journal, tmp_path, command):
    entry = journal.append(bill("b1"))
    assert entry.sequence == 2
    with closing(sqlite3.connect(tmp_path / "state" / "journal.sqlite")) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="the journal is append-only"):
            connection.execute(command)
        connection.rollback()
    assert [stored.id for stored in journal.entries("bill.in")] == ["b1"]
    journal.check()


def test_a_repeat_is_recognised_and_counted_once(journal):
    first = journal.append(bill("b1"))
    repeated = journal.append(bill("b1"))
    assert (repeated.sequence, repeated.hash_hex, repeated.already_existed) == (
        first.sequence,
        first.hash_hex,
        True,
    )
    assert journal.balance_cents(CREDIT) == 2000
    with pytest.raises(TransactionIdConflict, match="b1"):
        journal.append(bill("b1", 500))


def test_a_repeat_is_recognised_with_integer_keys_in_its_record(journal):
    details = Transaction(id="e1", kind="event", record={10: "ten", 9: "nine"})
    journal.append(details)
    assert journal.append(details).already_existed
    assert journal.get("e1").record == {"10": "ten", "9": "nine"}


def test_a_reservation_is_settled_once(journal):
    journal.append(bill("b1"))
    journal.append(cash_out("c1", 2000))
    assert (journal.balance_cents(CREDIT), journal.available_cents(CREDIT)) == (2000, 0)
    assert [r.id for r in journal.list_pending()] == ["c1"]
    with pytest.raises(AccountOverdrawn, match="0 cents available"):
        journal.append(cash_out("c2", 1))
    journal.append(Transaction(id="c1.paid", kind="handpay.paid", phase=Phase.SETTLE, ref="c1"))
    assert journal.balance_cents(CREDIT) == 0
    assert journal.list_pending() == []
    with pytest.raises(UnknownReservation, match="c1"):
        journal.append(Transaction(id="c1.again", kind="handpay.paid", phase=Phase.SETTLE, ref="c1"))


def test_a_voided_reservation_moves_nothing(journal):
    journal.append(bill("b1"))
    journal.append(cash_out("c1", 1500))
    journal.append(Transaction(id="c1.void", kind="cashout.void", phase=Phase.VOID, ref="c1"))
    assert journal.available_cents(CREDIT) == 2000


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("world:cheque", CREDIT, UnknownAccount),
        ("house:wager", CREDIT, ForbiddenTransfer),
        (CREDIT, "world:bill", ForbiddenTransfer),
        ("world:bill", "stock:coin_box", ForbiddenTransfer),
        ("world:voucher_in:gold", CREDIT, UnknownAccount),
    ],
)
def test_unknown_accounts_and_forbidden_transfers_are_refused(journal, source, target, error):
    with pytest.raises(error):
        journal.append(Transaction(id="x", kind="bill.in", transfers=(Transfer(source, target, 1),)))
    assert journal.sequence == 1


@pytest.mark.parametrize("amount", [0, -1, 1.0, True, "5"])
def test_an_amount_must_be_a_positive_integer(amount):
    with pytest.raises(InvalidTransaction, match="amount_cents"):
        Transfer("world:bill", CREDIT, amount)


@pytest.mark.parametrize("record", [1.5, float("nan"), {"a": {1, 2}}, b"x", [{"deep": 0.1}]])
def test_a_record_that_json_cannot_represent_exactly_is_refused(journal, record):
    with pytest.raises(InvalidTransaction):
        journal.append(Transaction(id="x", kind="event", record=record))
    assert journal.sequence == 1


def test_a_restart_rebuilds_the_exact_state(tmp_path):
    first = Journal.open(tmp_path, now=clock)
    first.append(bill("b1"))
    first.append(cash_out("c1", 700))
    first.append(Transaction(id="e1", kind="event", state={"lang": "fr", "gone": 1}, record={"é": [1, None]}))
    first.append(Transaction(id="e2", kind="event", state={"gone": None}))
    before = (first.meters().values, first.states(), first.list_pending())
    head = (first.sequence, first.head_hash)
    first.close_without_checkpoint()
    with Journal.open(tmp_path, now=clock) as second:
        assert (second.meters().values, second.states(), second.list_pending()) == before
        assert (second.sequence, second.head_hash) == head
        assert second.get("e1").record == {"é": [1, None]}


def test_entries_are_read_by_kind_from_either_end(journal):
    for n in range(5):
        journal.append(bill(f"b{n}"))
        journal.append(Transaction(id=f"e{n}", kind="event"))
    assert [e.id for e in journal.entries("event", newest_first=True, limit=2)] == ["e4", "e3"]
    assert [e.id for e in journal.entries(("event", "bill.in"), after_sequence=8)] == ["e3", "b4", "e4"]


def test_a_second_machine_on_the_same_journal_is_refused_with_the_process_named(tmp_path):
    code = (
        "import sys; from datetime import datetime, UTC; from pathlib import Path;"
        "from meters import Journal;"
        "Journal.open(Path(sys.argv[1]), now=lambda: datetime(2026, 11, 21, tzinfo=UTC))"
    )
    with Journal.open(tmp_path, now=clock):
        with pytest.raises(JournalLocked, match=str(os.getpid())):
            Journal.open(tmp_path, now=clock)
        other = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert "JournalLocked" in other.stderr
    Journal.open(tmp_path, now=clock).close()


@pytest.mark.requirement("A-02")
def test_the_second_copy_is_in_the_given_folder_and_belongs_to_one_machine(tmp_path):
    second = tmp_path / "other-medium"
    with Journal.open(tmp_path / "a", now=clock, second_folder=second, machine_id="A") as journal:
        journal.append(bill("b1"))
        assert list(second.glob("*.log"))
        assert not (tmp_path / "a" / "second").exists()
        with pytest.raises(JournalLocked, match="other-medium"):
            Journal.open(tmp_path / "b", now=clock, second_folder=second)
    with pytest.raises(JournalDamaged, match="belongs to machine A, not C"):
        Journal.open(tmp_path / "c", now=clock, second_folder=second, machine_id="C")
    shutil.rmtree(second)
    with pytest.raises(MediumMissing, match="other-medium"):
        Journal.open(tmp_path / "a", now=clock, second_folder=second)
    assert not second.exists()
    with Journal.open(tmp_path / "a", now=clock, second_folder=second, allow_missing_second=True) as journal:
        assert journal.balance_cents(CREDIT) == 2000
        assert [e.record["code"] for e in journal.entries("event")] == ["memory.medium_missing"]
    assert not second.exists()


def test_an_unusable_folder_is_named(tmp_path):
    plain = tmp_path / "file"
    plain.write_text("not a folder")
    with pytest.raises(JournalUnwritable, match="file"):
        Journal.open(Path(plain) / "state", now=clock)


def test_a_closed_journal_leaves_no_file_open(tmp_path):
    def opened_and_closed():
        with Journal.open(tmp_path / "state", now=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as journal:
            journal.append(Transaction(id=f"e{journal.sequence}", kind="event"))
            journal.check()
        return len(list(Path("/proc/self/fd").iterdir()))

    assert opened_and_closed() == opened_and_closed()


def test_an_emptied_default_second_folder_is_recreated_and_reported_until_acknowledged(tmp_path):
    """No mount point is missing, but the content of the folder is lost, and with it one of the two copies."""
    Journal.open(tmp_path / "one", now=clock).close()
    shutil.rmtree(tmp_path / "one" / "second")
    for _ in range(2):  # until a person has seen to it
        with Journal.open(tmp_path / "one", now=clock) as journal:
            assert "second medium: it was emptied" in str(journal.state("memory.medium_replaced"))
            codes = [entry.record["code"] for entry in journal.entries("event")]
            assert codes.count("memory.medium_replaced") == 1

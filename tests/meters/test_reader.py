"""Reading while the machine runs: without its lock, without stopping it, and without false damage."""

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from meters import Journal, JournalPolicy, JournalUnwritable, Transaction, Transfer, open_view

CREDIT = "credit:1:cashable"
POLICY = JournalPolicy(entries_per_checkpoint=20, segment_size_bytes=1 << 16)


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


def bill(n, cents=100):
    return Transaction(id=f"b{n}", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, cents),))


@pytest.mark.requirement("K-14", "D-16")
def test_a_long_reader_neither_stops_play_nor_causes_damage(tmp_path):
    """A reader's snapshot keeps SQLite from moving its WAL; checkpoints continue, and the sums stay valid."""
    journal = Journal.open(tmp_path, now=clock, policy=POLICY)
    journal.append(bill(0))
    reader = sqlite3.connect(f"file:{tmp_path}/journal.sqlite?mode=ro", uri=True, isolation_level=None)
    reader.execute("BEGIN")
    seen = reader.execute("SELECT count(*) FROM entries").fetchone()[0]
    for n in range(1, 90):
        journal.append(bill(n))
    assert reader.execute("SELECT count(*) FROM entries").fetchone()[0] == seen
    journal.check()
    journal.close_without_checkpoint()
    reader.close()
    with Journal.open(tmp_path, now=clock, policy=POLICY) as continued:
        assert continued.balance_cents(CREDIT) == 9000
        assert list(continued.entries("event")) == []
    with Journal.open(tmp_path, now=clock, policy=POLICY) as continued:
        assert list(continued.entries("event")) == []


def test_a_reader_sees_one_state_while_the_machine_continues(tmp_path):
    with Journal.open(tmp_path, now=clock, policy=POLICY) as journal:
        journal.append(bill(0))
        with open_view(tmp_path) as view:
            sequence = view.sequence
            for n in range(1, 50):
                journal.append(bill(n))
            assert (view.sequence, view.balance_cents(CREDIT)) == (sequence, 100)
            assert len(list(view.iter_bodies())) == sequence
        with open_view(tmp_path) as view:
            assert view.balance_cents(CREDIT) == 5000
            assert view.fingerprint == journal.fingerprint


def test_a_folder_without_write_permission_is_read_and_not_changed(tmp_path, monkeypatch):
    with Journal.open(tmp_path, now=clock, policy=POLICY) as journal:
        journal.append(bill(0))
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    before = sorted(p.name for p in tmp_path.iterdir())
    with open_view(tmp_path) as view:
        assert view.balance_cents(CREDIT) == 100
        assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(JournalUnwritable, match="nowhere"):
        open_view(tmp_path / "nowhere")


KILLED = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from meters import Journal, JournalPolicy, Transaction, Transfer
journal = Journal.open(Path(sys.argv[1]), now=lambda: datetime(2026, 11, 21, tzinfo=UTC), policy=JournalPolicy(entries_per_checkpoint=20))
start = journal.balance_cents("credit:1:cashable") // 100
for n in range(start, start + 100000):
    journal.append(Transaction(id=f"b{n}", kind="bill.in",
                               transfers=(Transfer("world:bill", "credit:1:cashable", 100),)))
    sys.stdout.write(f"{n}\\n")
    sys.stdout.flush()
"""


@pytest.mark.requirement("A-01", "A-08")
def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path):
    """A real process on a real disk is killed after some hundred entries, eight times."""
    last = -1
    for turn in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as process:
            for _ in range(17 + 23 * turn):
                last = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            lines = process.stdout.read().split("\n")
            last = max([last, *(int(n) for n in lines[:-1])])
        with Journal.open(tmp_path, now=clock, policy=POLICY) as journal:
            entries = [e.id for e in journal.entries("bill.in")]
            assert entries == [f"b{n}" for n in range(len(entries))]
            assert len(entries) in {last + 1, last + 2}
            assert journal.balance_cents(CREDIT) == 100 * len(entries)
            assert all(e.record["code"] == "memory.completed" for e in journal.entries("event"))

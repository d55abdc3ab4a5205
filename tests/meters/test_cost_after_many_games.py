"""A start, the memory and the audit of a day cost the same after ten times as many games.

The costs are counted, not timed: bytes read from the medium, opened files and archived segments, rows from SQLite,
bytes in Python. The slow test plays the library's games and lets a verifier continue from its saved point.
"""

import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from egm.config.cabinet_file import GameTable
from meters import Journal, JournalPolicy, Transaction, Transfer, open_view
from meters.archive import ARCHIVE_END_KEY
from meters.segment import SEGMENT_SUFFIX
from paytables import list_non_table_games
from tools.audit.games import GameFiles
from tools.audit.saved_state import load_auditor, save_auditor
from tools.dev.bench.bench_age import Player
from tools.dev.bench.bench_cabinet import start_bench_machine
from tools.dev.bench.bench_meters import UnsyncedStorage

CREDIT = "credit:1:cashable"
POLICY = JournalPolicy(
    entries_per_checkpoint=50,
    segment_size_bytes=1 << 15,
    entries_archived_together_min=150,
    newest_entries_not_archived=150,
)
FEW, MANY = 400, 4000
FLAT = 1.35
"""How far what is at hand swings between one segment archived and the next."""


class CountedRows:
    def __init__(self, rows, count):
        self._rows, self._count = rows, count

    def fetchone(self):
        self._count["rows"] += 1
        return self._rows.fetchone()

    def fetchall(self):
        found = self._rows.fetchall()
        self._count["rows"] += len(found)
        return found

    def __iter__(self):
        for row in self._rows:
            self._count["rows"] += 1
            yield row


class Counting(UnsyncedStorage):
    """The real medium, which counts the bytes read from it."""

    def __init__(self):
        self.count = {"bytes": 0, "rows": 0, "files": 0, "segments": 0}

    def connect(self, path, *, read_only):
        database, count = super().connect(path, read_only=read_only), self.count

        class Counted:
            close = database.close

            def execute(self, sql, parameters=()):
                return CountedRows(database.execute(sql, parameters), count)

        return Counted()

    def open_file(self, path, *, write):
        file, count = super().open_file(path, write=write), self.count
        count["files"] += 1
        count["segments"] += path.name.endswith(SEGMENT_SUFFIX)
        read_at = file.read_at

        def counted(offset, size):
            data = read_at(offset, size)
            count["bytes"] += len(data)
            return data

        file.read_at = counted
        return file


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


def play(journal):
    journal.check()
    play_id = journal.fresh_id("play")
    wager = Transfer(CREDIT, "house:wager", 1)
    details = {"play_id": play_id, "steps": [{"draws": [[24, 3, "reel"]]}]}
    journal.append(Transaction(id=f"{play_id}.start", kind="game.start", transfers=(wager,), record=details))
    journal.append(Transaction(id=f"{play_id}.end", kind="game.end", record={"play_id": play_id}))


def measure_costs(folder):
    """Measure what a start reads and stores, and what a game and an audit of 100 entries read."""
    storage = Counting()
    tracemalloc.start()
    with Journal.open(folder, now=clock, policy=POLICY, storage=storage) as journal:
        found = {f"start {operation}": n for operation, n in storage.count.items()}
        found["start memory"] = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        before = dict(storage.count)
        for _ in range(20):
            play(journal)
        found |= {f"play {operation}": storage.count[operation] - before[operation] for operation in before}
        journal.append_checkpoint()
    reading = Counting()
    with open_view(folder, storage=reading) as view:
        assert len(list(view.iter_bodies(view.sequence - 100))) == 100
    return found | {f"audit {operation}": n for operation, n in reading.count.items()}


@pytest.fixture(scope="module")
def ages(tmp_path_factory):
    """The costs of one machine after few games, and after ten times as many."""
    folder = tmp_path_factory.mktemp("age")
    found = []
    played = 0
    for games in (FEW, MANY):
        with Journal.open(folder, now=clock, policy=POLICY, storage=UnsyncedStorage()) as journal:
            if not played:
                note = Transfer("world:bill", CREDIT, 10**6)
                journal.append(Transaction(id="bill:1", kind="bill.in", transfers=(note,)))
            for _ in range(games - played):
                play(journal)
            played = games
            assert journal.sequence - journal.state(ARCHIVE_END_KEY)["through"] < 450
        found.append(measure_costs(folder))
    return found


@pytest.mark.parametrize("operation", ["start", "play", "audit"])
def test_start_play_and_audit_cost_the_same_after_ten_times_the_games(ages, operation):
    few, many = ages
    hold(*({name: n for name, n in age.items() if name.startswith(operation)} for age in (few, many)))


def hold(few, many):
    assert few.keys() == many.keys()
    for name in few:
        slack = 2 if name.endswith(("files", "segments")) else 4096
        assert many[name] <= FLAT * few[name] + slack, f"{name}: {few[name]} after few, {many[name]}"


@pytest.mark.slow
def test_ten_times_the_games_of_the_library_cost_the_same(tmp_path):
    """Measure what a start, and a verification continued from its point, read and store."""
    state, point, ages = tmp_path / "state", tmp_path / "point", []
    slots = tuple(GameTable(game=name) for name in list_non_table_games())
    policy = replace(POLICY, entries_archived_together_min=500, newest_entries_not_archived=500)
    played, games_a_day = 0, 100
    for games in (1000, 10_000):
        for day in (games - games_a_day - played, games_a_day):
            with Journal.open(state, now=clock, policy=policy, storage=UnsyncedStorage()) as journal:
                Player(start_bench_machine(journal, game_tables=slots, credit_cents=10**9), played).play(day)
            played += day
            storage = Counting()
            auditor = load_auditor(point, GameFiles())
            with open_view(state, storage=storage) as view:
                report = auditor.audit_entries(view.iter_bodies(auditor.last_entry_checked[0]))
            assert (report.finding_count, report.game_count) == (0, played), report.findings
            save_auditor(auditor, point)
        found = {f"audit {operation}": n for operation, n in storage.count.items()} | {
            "point": point.stat().st_size
        }
        storage = Counting()
        Journal.open(state, now=clock, policy=policy, storage=storage).close()
        ages.append(found | {f"start {operation}": n for operation, n in storage.count.items()})
    assert len(list((state / "archive").glob("*.seg"))) > 30
    hold(*ages)


def test_a_game_takes_at_most_two_thousand_bytes_on_both_media(tmp_path):
    """The library's games as the cabinet records them; preallocated space of a file does not count."""
    games = 400
    with Journal.open(tmp_path, now=clock, storage=UnsyncedStorage()) as journal:
        slots = tuple(GameTable(game=name) for name in list_non_table_games())
        engine = start_bench_machine(journal, game_tables=slots, credit_cents=10**9)
        before = (tmp_path / "journal.sqlite").stat().st_size
        Player(engine, 3).play(games)
        journal.append_checkpoint()
        first = (tmp_path / "journal.sqlite").stat().st_size - before
    second = sum(len(path.read_bytes().rstrip(b"\0")) for path in (tmp_path / "second").glob("*.log"))
    assert (first + second) / games <= 2000

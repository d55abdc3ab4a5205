"""Measure the journal: durable games per second, start-up time, and how both change as it grows.

``EGM_BENCH_ENTRIES`` sets the size of the larger journal.
"""

import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from egm.clock import SystemClock
from meters import Journal, StoredEntry, open_view
from meters.storage import Database, DatabaseRows, DiskStorage, StorageFile
from tools.dev.bench import (
    BareDatabase,
    BenchFigure,
    measure_alternately,
    measure_call,
    measure_median_milliseconds,
)
from tools.dev.bench.bench_cabinet import play, start_bench_machine

TURN_COUNT: Final = 5
GAMES_PER_TURN: Final = 200
ENTRY_COUNTS_OF_JOURNALS: Final = (10_000, int(os.environ.get("EGM_BENCH_ENTRIES", "50000")))
START_CREDIT_CENTS: Final = 10**9


class _UnsyncedFile:
    """A file whose syncs do nothing, to build a long journal quickly for a benchmark."""

    def __init__(self, file: StorageFile) -> None:
        self.read_at, self.write_at = file.read_at, file.write_at
        self.truncate, self.allocate, self.size = file.truncate, file.allocate, file.size
        self.close = file.close

    def sync(self) -> None:
        """Do nothing."""


class _UnsyncedDatabase:
    """A SQLite database that does not sync to disk."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.close = database.close

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> DatabaseRows:
        """Run the statement, with syncing turned off."""
        return self._database.execute(sql.replace("synchronous=FULL", "synchronous=OFF"), parameters)


class UnsyncedStorage(DiskStorage):
    """Disk storage without syncs."""

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open ``path``, without syncing."""
        return _UnsyncedDatabase(super().connect(path, read_only=read_only))

    def sync_together(self, files: Sequence[StorageFile]) -> None:
        """Do nothing."""

    def open_file(self, path: Path, *, write: bool) -> StorageFile:
        """Open ``path``, without syncing."""
        return _UnsyncedFile(super().open_file(path, write=write))


def _measure_durable_games(
    folder: Path, entries: Sequence[tuple[StoredEntry, bytes]]
) -> Iterator[BenchFigure]:
    """Yield the durable games per second, compared with bare SQLite transactions of the same bytes.

    The entries of earlier games are written again, to both copies of a journal.
    """
    with (
        Journal.open(folder / "durable", now=SystemClock().now) as journal,
        closing(BareDatabase(folder)) as bare_database,
    ):
        product_entries, baseline_entries = iter(entries), iter(entries)
        entries_per_turn = len(entries) // TURN_COUNT

        def append() -> float:
            started_seconds = time.perf_counter()
            for entry, _ in itertools.islice(product_entries, entries_per_turn):
                journal.append(entry.transaction)
            return time.perf_counter() - started_seconds

        seconds, bare_seconds = measure_alternately(
            TURN_COUNT,
            append,
            lambda: bare_database.write(
                body for _, body in itertools.islice(baseline_entries, entries_per_turn)
            ),
        )
        check_ms = measure_median_milliseconds(journal.check, 200)
    games = sum(entry.kind == "game.start" for entry, _ in entries[: entries_per_turn * TURN_COUNT])
    yield BenchFigure(
        "durable games, two entries each, both copies",
        games / seconds,
        "games/s",
        "the same bodies in bare fsync-ed transactions",
        games / bare_seconds,
        target="0.5",
    )
    yield BenchFigure("check before play (A-03), median", check_ms * 1e3, "us", better_if="lower")


def _measure_long_journal(state: Path, entry_count: int) -> Iterator[BenchFigure]:
    with Journal.open(state, now=SystemClock().now, storage=UnsyncedStorage()) as journal:
        play(start_bench_machine(journal, credit_cents=START_CREDIT_CENTS), entry_count // 2)
    seconds, opened_journal = measure_call(partial(Journal.open, state, now=SystemClock().now))
    opened_journal.close()
    yield BenchFigure(
        f"start-up, {entry_count:,} entries, every byte of both copies checked",
        seconds,
        "s",
        better_if="lower",
        target="under 5 s at a million",
    )
    yield BenchFigure(
        f"opening to read meters, {entry_count:,} entries",
        measure_median_milliseconds(lambda: open_view(state).close(), 1),
        "ms",
        better_if="lower",
    )


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the figures of the journal."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as folder_name:
        folder = Path(folder_name)
        for entry_count in ENTRY_COUNTS_OF_JOURNALS:
            yield from _measure_long_journal(folder / f"long-{entry_count}", entry_count)
        with open_view(folder / f"long-{ENTRY_COUNTS_OF_JOURNALS[0]}") as view:
            entries_and_bodies = zip(view.entries(), view.iter_bodies(), strict=True)
            machine_entries = (
                entry_and_body
                for entry_and_body in entries_and_bodies
                if not entry_and_body[0].id.startswith("checkpoint:")
            )
            chosen_entries = list(itertools.islice(machine_entries, 2 * TURN_COUNT * GAMES_PER_TURN))
        yield from _measure_durable_games(folder, chosen_entries)

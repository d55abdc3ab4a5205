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

TURNS: Final = 5
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
        closing(BareDatabase(folder)) as bare,
    ):
        ours, theirs = iter(entries), iter(entries)
        part = len(entries) // TURNS

        def append() -> float:
            began = time.perf_counter()
            for entry, _ in itertools.islice(ours, part):
                journal.append(entry.transaction)
            return time.perf_counter() - began

        seconds, bare_seconds = measure_alternately(
            TURNS, append, lambda: bare.write(body for _, body in itertools.islice(theirs, part))
        )
        checks = measure_median_milliseconds(journal.check, 200)
    games = sum(entry.kind == "game.start" for entry, _ in entries[: part * TURNS])
    yield BenchFigure(
        "durable games, two entries each, both copies",
        games / seconds,
        "games/s",
        "the same bodies in bare fsync-ed transactions",
        games / bare_seconds,
        target="0.5",
    )
    yield BenchFigure("check before play (A-03), median", checks * 1e3, "us", better_if="lower")


def _measure_long_journal(state: Path, entries: int) -> Iterator[BenchFigure]:
    with Journal.open(state, now=SystemClock().now, storage=UnsyncedStorage()) as journal:
        play(start_bench_machine(journal, credit_cents=START_CREDIT_CENTS), entries // 2)
    seconds, opened = measure_call(partial(Journal.open, state, now=SystemClock().now))
    opened.close()
    yield BenchFigure(
        f"start-up, {entries:,} entries, every byte of both copies checked",
        seconds,
        "s",
        better_if="lower",
        target="under 5 s at a million",
    )
    yield BenchFigure(
        f"opening to read meters, {entries:,} entries",
        measure_median_milliseconds(lambda: open_view(state).close(), 1),
        "ms",
        better_if="lower",
    )


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the figures of the journal."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as name:
        folder = Path(name)
        for entries in ENTRY_COUNTS_OF_JOURNALS:
            yield from _measure_long_journal(folder / f"long-{entries}", entries)
        with open_view(folder / f"long-{ENTRY_COUNTS_OF_JOURNALS[0]}") as view:
            written = zip(view.entries(), view.iter_bodies(), strict=True)
            of_machine = (each for each in written if not each[0].id.startswith("checkpoint:"))
            some = list(itertools.islice(of_machine, 2 * TURNS * GAMES_PER_TURN))
        yield from _measure_durable_games(folder, some)

"""Benchmarks: measure figures of the product, each with a named baseline from the same run.

A module ``tools/dev/bench/bench_<area>.py`` defines ``measure_figures()``, which yields :class:`BenchFigure` objects.
Computers are noisy: ratios can be compared between computers, times cannot.
"""

import itertools
import resource
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BenchFigure:
    """One measured figure.

    ``value`` and ``baseline`` share ``unit``; the printed ratio is value / baseline. ``better_if`` is ``higher`` or
    ``lower`` and says which values are better. ``target`` is the desired ratio as text (or the desired value if
    ``baseline`` is None).
    """

    name: str
    value: float
    unit: str
    baseline_name: str = ""
    baseline: float | None = None
    better_if: str = "higher"
    target: str = ""

    @property
    def ratio(self) -> float | None:
        """Return value / baseline, or None if there is no baseline."""
        return None if not self.baseline else self.value / self.baseline


def measure_call(work: Callable[[], T]) -> tuple[float, T]:
    """Call ``work``; return the elapsed seconds and its result."""
    started_seconds = time.perf_counter()
    result = work()
    return time.perf_counter() - started_seconds, result


def measure_median_milliseconds(work: Callable[[], object], call_count: int) -> float:
    """Return the median time of ``work`` over ``call_count`` calls, in milliseconds."""
    return median(measure_call(work)[0] for _ in range(call_count)) * 1000


def measure_processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds that ``work`` takes; other processes on the computer do not count."""
    started_seconds = time.process_time()
    work()
    return time.process_time() - started_seconds


def measure_command_processor_seconds(command: Sequence[str]) -> float:
    """Run a command; return the processor seconds it took. Raises CalledProcessError if it fails without any output."""
    usage_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    completed_process = subprocess.run(command, check=False, stdout=subprocess.PIPE)
    usage_after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not completed_process.stdout:
        completed_process.check_returncode()
    return usage_after.ru_utime + usage_after.ru_stime - usage_before.ru_utime - usage_before.ru_stime


class BareDatabase:
    """A SQLite database with durable transactions of one row each: the minimum cost of a ledger."""

    def __init__(self, folder: Path) -> None:
        """Create the database in ``folder``."""
        folder.mkdir(exist_ok=True)
        self._database = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.execute("CREATE TABLE entry (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
        self.close = self._database.close

    def write(self, bodies: Iterable[bytes] = (b"x",)) -> float:
        """Write each of ``bodies`` in a transaction of its own; return the elapsed seconds."""
        started_seconds = time.perf_counter()
        for body in bodies:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("INSERT INTO entry (body) VALUES (?)", (body,))
            self._database.execute("COMMIT")
        return time.perf_counter() - started_seconds

    def write_games(self, game_count: int) -> float:
        """Write as many bytes as the two journal entries of each game take; return the elapsed seconds."""
        return self.write(itertools.repeat(b"x" * 1500, 2 * game_count))


def measure_alternately(
    turn_count: int, measure_product: Callable[[], float], measure_baseline: Callable[[], float]
) -> tuple[float, float]:
    """Run the two functions alternately, ``turn_count`` times each; return the total seconds of each.

    As they alternate, other load on the computer affects both.
    """
    pairs = [(measure_product(), measure_baseline()) for _ in range(turn_count)]
    return sum(seconds for seconds, _ in pairs), sum(seconds for _, seconds in pairs)

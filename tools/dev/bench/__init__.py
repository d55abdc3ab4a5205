"""Measured figures, each beside a named baseline of the same run.

A module ``tools/dev/bench/bench_<area>.py`` defines ``figures()``, which yields :class:`Figure` objects.
Machines are noisy: what carries over is the ratio, never the time.
"""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    ``value`` and ``baseline`` share ``unit``; ``better`` is the good direction. The printed ratio is value /
    baseline. ``aim`` states the desired ratio in words (or the desired value if ``baseline`` is None).
    """

    name: str
    value: float
    unit: str
    baseline_name: str = ""
    baseline: float | None = None
    better: str = "higher"
    aim: str = ""

    @property
    def ratio(self) -> float | None:
        """Value over baseline, or None where a figure stands alone."""
        return None if not self.baseline else self.value / self.baseline


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the elapsed seconds of ``work`` and its result."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median time of ``work`` over the given number of rounds, in milliseconds."""
    return median(timed(work)[0] for _ in range(rounds)) * 1000


def processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds that ``work`` takes; other load on the computer does not count."""
    began = time.process_time()
    work()
    return time.process_time() - began


def bare_table(folder: Path) -> sqlite3.Connection:
    """Create a table ``entry`` with one column ``body`` and durable statements: the minimum cost of a ledger."""
    made = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    made.execute("PRAGMA journal_mode=WAL")
    made.execute("PRAGMA synchronous=FULL")
    made.execute("CREATE TABLE entry (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
    return made

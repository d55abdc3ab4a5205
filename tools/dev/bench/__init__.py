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

    ``value`` and ``baseline`` share ``unit``; ``better`` says which way is good. The printed ratio is
    value / baseline. ``aim`` is the ratio (or, where ``baseline`` is None, the value) wished for, in words.
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
    """The seconds a work takes, and what comes of it."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """The median time of a work in so many rounds."""
    return median(timed(work)[0] for _ in range(rounds)) * 1000


def processor_seconds(work: Callable[[], object]) -> float:
    """The processor time of a work: what else the computer does at the time is not counted."""
    began = time.process_time()
    work()
    return time.process_time() - began


def bare_table(folder: Path) -> sqlite3.Connection:
    """A table ``entry`` of a column ``body``, whose every statement is durable: the least a ledger costs."""
    made = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    made.execute("PRAGMA journal_mode=WAL")
    made.execute("PRAGMA synchronous=FULL")
    made.execute("CREATE TABLE entry (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
    return made

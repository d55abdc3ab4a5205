"""The search for plain games in a journal, in this process or in several.

A plain game has only ordinary entries (:mod:`tools.audit.plain_games`); nearly all games are plain. The entries
are read once and divided into batches. The plain games of a batch are found without the entries before it, so
``jobs`` processes search batches at the same time. All results return to the auditor in the order of the
journal; hash chain, ledger and every other check stay there. The number of processes therefore changes no
report. At most a few batches per process are held at once, however long the journal is.

The other processes do not have definitions that only the journal contains: the auditor replays such games
itself.
"""

import gc
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Final

from egm.errors import OperatorError
from egm.private_process import end_with_parent
from meters.errors import JournalError
from tools.audit.plain_games import GameSource, PlainGameFinder, PlainRun, is_open_game_entry

#: The number of entries after which a batch ends at the next game.
BATCH_ENTRY_COUNT: Final = 500
#: The size of a batch after which it ends at the next game.
_BATCH_SIZE_BYTES: Final = 4 << 20
#: A batch is extended up to this multiple of its usual size, so that it does not end within a game.
_BATCH_EXCESS_FACTOR: Final = 2
#: The maximum number of batches per process that are held at once, because their results were not yet returned.
_BATCHES_PER_PROCESS_MAX: Final = 3

#: The text of the error that a process of the audit has ended.
_PROCESS_ENDED_ERROR: Final = (
    "a process of the audit ended unexpectedly, so the journal was not verified; run it again, with fewer --jobs if"
    " memory is short"
)

#: The finder of plain games in this worker process; None in the main process.
_worker_finder: PlainGameFinder | None = None


class JobError(OperatorError):
    """A worker process of the audit ended or failed, so the journal was not completely verified."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A batch of entries that a worker process searches for plain games, with the future result."""

    first_sequence: int
    """The number of the first entry in the batch."""
    entry_bodies: list[bytes]
    """The encoded entries of the batch."""
    result: Future[list[PlainRun]]

    def wait(self) -> tuple[list[bytes], list[PlainRun]]:
        """Wait for the search to end; return the encoded entries and the runs of plain games in them.

        Raises :class:`JobError`.
        """
        try:
            return self.entry_bodies, self.result.result()
        except BrokenProcessPool as error:
            raise JobError(_PROCESS_ENDED_ERROR) from error
        except Exception as error:
            last_sequence = self.first_sequence + len(self.entry_bodies) - 1
            raise JobError(
                f"the journal was not verified: the check of the entries {self.first_sequence} to "
                f"{last_sequence} failed ({error!r})"
            ) from error


def find_plain_runs(
    bodies: Iterable[bytes], games: GameSource, process_count: int, after_sequence: int = 0
) -> Iterator[tuple[list[bytes], list[PlainRun]]]:
    """Yield the journal's entries in batches, in order, each with the runs of plain games in it.

    ``bodies`` are the encoded entries that follow the entry with the number ``after_sequence``. If reading them
    raises an error, the entries before it are yielded first. Raises :class:`JobError` if a worker process ends
    or fails.
    """
    if process_count == 1:
        finder = PlainGameFinder(games)
        for batch in _iter_batches(bodies):
            yield batch, finder.find_runs(batch)
        return
    submitted_jobs: deque[_Job] = deque()
    # A forked process has the definitions already, and no other thread of this one uses a lock that it needs.
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(process_count, context, _start_worker, (games, os.getpid()))
    try:
        journal_error: JournalError | None = None
        try:
            for batch in _iter_batches(bodies):
                submitted_jobs.append(_Job(after_sequence + 1, batch, _submit(pool, batch)))
                after_sequence += len(batch)
                if len(submitted_jobs) >= _BATCHES_PER_PROCESS_MAX * process_count:
                    yield submitted_jobs.popleft().wait()
        except JournalError as error:
            journal_error = error
        while submitted_jobs:
            yield submitted_jobs.popleft().wait()
        if journal_error is not None:
            raise journal_error
    finally:
        pool.shutdown(cancel_futures=True)


def _iter_batches(bodies: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield the entries in batches that end between two games.

    A game is only divided if it is longer than a batch of the usual size.
    """
    batch: list[bytes] = []
    size_bytes, journal_error = 0, None
    try:
        for body in bodies:
            batch.append(body)
            size_bytes += len(body)
            if len(batch) < BATCH_ENTRY_COUNT and size_bytes < _BATCH_SIZE_BYTES:
                continue
            is_full = (
                len(batch) >= _BATCH_EXCESS_FACTOR * BATCH_ENTRY_COUNT
                or size_bytes >= _BATCH_EXCESS_FACTOR * _BATCH_SIZE_BYTES
            )
            if is_full or not is_open_game_entry(body):
                yield batch
                batch, size_bytes = [], 0
    except JournalError as error:
        journal_error = error
    if batch:
        yield batch
    if journal_error is not None:
        raise journal_error


def _start_worker(games: GameSource, parent_process_id: int) -> None:
    """Prepare a worker process of the audit.

    The process ends when the process ``parent_process_id`` ends.
    """
    global _worker_finder  # noqa: PLW0603 (one value for each process)
    end_with_parent(parent_process_id, signal.SIGKILL)
    gc.freeze()  # exempt the parent's objects from garbage collection, so that their memory stays shared
    _worker_finder = PlainGameFinder(games)


def _find_runs(batch: list[bytes]) -> list[PlainRun]:
    """Return the runs of plain games (consecutive ordinary games) in a batch; executed in a worker process."""
    assert _worker_finder is not None
    return _worker_finder.find_runs(batch)


def _submit(pool: ProcessPoolExecutor, batch: list[bytes]) -> Future[list[PlainRun]]:
    """Submit a batch of entries to the worker processes, to be searched for plain games; return the future result."""
    try:
        return pool.submit(_find_runs, batch)
    except BrokenProcessPool as error:
        raise JobError(_PROCESS_ENDED_ERROR) from error
    except OSError as error:
        raise JobError(
            f"the journal was not verified: no process can be started for --jobs ({error})"
        ) from error

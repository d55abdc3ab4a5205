"""Wrong PINs at a terminal, counted in a file of the state folder until the machine has recorded them in its journal.

Only the machine writes the journal, and it may be running or stopped while a person types at a terminal. Each
wrong PIN is one line, written under a lock that prevents two terminals from guessing at once. Age is counted
in seconds since the computer started, not by the clock, which anybody there may set; a line from before the
last start counts as no older than that.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from egm.people.person import NUMBER

FILE_NAME: Final = "people.tries"
WRONG_MAX: Final = 3
"""Wrong PINs that lock a number at every terminal of this machine."""
LOCKED_SECONDS: Final = 15 * 60


@dataclass(frozen=True, slots=True)
class WrongPin:
    """A wrong PIN that was entered, with the staff number it counts for (:func:`find_counted_number`)."""

    id: str
    number: str
    up_seconds: int
    at: str
    """The clock's time, for display."""
    recorded: bool = False
    """Whether it was typed at the machine, whose journal already has it."""

    @classmethod
    def create_now(cls, number: str, at: str, *, recorded: bool = False) -> "WrongPin":
        """Return the record of a wrong PIN entered now for ``number`` as typed; ``at`` is the time for display."""
        return cls(os.urandom(8).hex(), find_counted_number(number), _read_uptime_seconds(), at, recorded)  # noqa: TID251 (an id)

    @property
    def counts_towards_lock(self) -> bool:
        """Return whether this wrong PIN still counts towards the lock of its staff number."""
        now = _read_uptime_seconds()
        # Less than the stored uptime means that the computer has restarted since.
        age = now - self.up_seconds if now >= self.up_seconds else now
        return age < LOCKED_SECONDS


def find_counted_number(number: str) -> str:
    """Return the staff number for which a wrong PIN counts, or "?" if ``number`` is not a staff number."""
    return number if NUMBER.fullmatch(number) else "?"


@contextmanager
def edit_wrong_pins(folder: Path, *, wait: bool) -> Iterator[list[WrongPin]]:
    """Lock the file of wrong PINs and yield its content as a list, which is stored at the end.

    Raises OSError; BlockingIOError if another process holds the file and ``wait`` is False.
    """
    descriptor = os.open(folder / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+", encoding="utf-8", errors="replace") as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        before = list(_read(file))
        held = list(before)
        try:
            yield held
        finally:
            if held != before:
                file.seek(0)
                file.truncate()
                file.writelines(f"{json.dumps(asdict(one))}\n" for one in held)
                file.flush()
                os.fsync(file.fileno())


def _read(lines: Iterator[str]) -> Iterator[WrongPin]:
    """Yield the wrong PINs in the lines; unreadable lines are skipped."""
    for line in lines:
        try:
            one = WrongPin(**json.loads(line))
        except (ValueError, TypeError, RecursionError):
            continue
        if (
            all(isinstance(value, str) for value in (one.id, one.number, one.at))
            and isinstance(one.up_seconds, int)
            and isinstance(one.recorded, bool)
        ):
            yield one


def _read_uptime_seconds() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME))

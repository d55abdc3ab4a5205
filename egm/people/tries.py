"""Wrong PINs at a terminal: counted in a file of the state folder, until the machine has journalled them.

The machine alone writes the journal, and may be running or stopped while somebody types at a terminal. One
line a wrong PIN, under the lock that keeps two terminals from guessing at once. Age is counted in seconds
of the computer's running, not by the time of day, which anybody there may set: what was noted before
it was switched on last is taken for no older than that.
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
"""As many wrong PINs lock a number at every terminal of this machine."""
LOCKED_SECONDS: Final = 15 * 60


@dataclass(frozen=True, slots=True)
class WrongPin:
    """One wrong PIN; ``number`` as :func:`counted_as` has it."""

    id: str
    number: str
    up_seconds: int
    at: str
    """The wall clock's time, for people."""
    recorded: bool = False
    """Whether it was typed at the machine, whose journal has it already."""

    @classmethod
    def of(cls, number: str, at: str, *, recorded: bool = False) -> "WrongPin":
        """Note a wrong PIN now."""
        return cls(os.urandom(8).hex(), counted_as(number), _up_seconds(), at, recorded)

    @property
    def locks(self) -> bool:
        """Whether it still counts."""
        now = _up_seconds()
        # Less than was noted: the computer was switched on since.
        age = now - self.up_seconds if now >= self.up_seconds else now
        return age < LOCKED_SECONDS


def counted_as(number: str) -> str:
    """What a number is counted under: itself, or "?" for anything that is no staff number."""
    return number if NUMBER.fullmatch(number) else "?"


@contextmanager
def wrong_pins(folder: Path, *, wait: bool) -> Iterator[list[WrongPin]]:
    """Hold the file: what is in the list at the end is what stays in it.

    Raises BlockingIOError where another process holds it and this one may not ``wait``; OSError.
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
    """What can be read; a line that cannot is nobody's try."""
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


def _up_seconds() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME))

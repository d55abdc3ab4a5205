"""Wrong PINs typed at a computer terminal (command line), in a file of the state folder.

Only the machine writes the journal, and it may be running or stopped while a person types at a terminal. Each
wrong PIN is one line, written under a lock that prevents two terminals from trying PINs at once; wrong PINs typed
at the machine are added, so that terminals count them too. A line is removed once the journal has it and it no longer
counts towards a lock. Ages are measured in seconds since the computer started,
because anybody at the terminal may set the clock. After a restart the true age is unknown, and the time since the
start is used, which is never more. So a restart can lengthen a lock, never shorten it.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from egm.people.person import STAFF_NUMBER_PATTERN
from egm.record_codec import RecordError, from_json, stored_as, to_json

#: Name of the file of wrong PINs in the state folder.
WRONG_PINS_FILE_NAME: Final = "people.tries"
#: The number of wrong PINs after which a staff number is locked at every terminal of this machine.
WRONG_PINS_MAX: Final = 3
#: Seconds for which a number stays locked at the terminals.
SIGN_IN_LOCKED_SECONDS: Final = 15 * 60


@dataclass(frozen=True, slots=True)
class WrongPin:
    """One wrong PIN that was typed: for which staff number, and when."""

    record_id: str = field(metadata=stored_as("id"))
    """A random id of this record."""
    staff_number: str = field(metadata=stored_as("number"))
    """The staff number for which the PIN was typed; ``?`` if what was typed cannot be a staff number."""
    uptime_seconds: int = field(metadata=stored_as("up_seconds"))
    """The seconds from the start of the computer until the PIN was typed."""
    typed_at: str = field(metadata=stored_as("at"))
    """The time of day at which the PIN was typed, for display only."""
    was_typed_at_machine: bool = field(default=False, metadata=stored_as("recorded"))
    """Whether the PIN was typed at the machine's screen, and not at a terminal; the journal then has it already."""

    @classmethod
    def create_now(
        cls, staff_number: str, display_time: str, *, was_typed_at_machine: bool = False
    ) -> "WrongPin":
        """Return the record of a wrong PIN typed now for a staff number; ``display_time`` is its time for display."""
        record_id = os.urandom(8).hex()  # noqa: TID251 (it makes an id)
        return cls(
            record_id,
            normalise_staff_number(staff_number),
            _read_uptime_seconds(),
            display_time,
            was_typed_at_machine,
        )

    @property
    def is_counted_towards_lock(self) -> bool:
        """Return whether this wrong PIN still counts towards the lock of its staff number."""
        uptime_seconds = _read_uptime_seconds()
        # Less than the stored uptime means that the computer has restarted since.
        age_seconds = (
            uptime_seconds - self.uptime_seconds if uptime_seconds >= self.uptime_seconds else uptime_seconds
        )
        return age_seconds < SIGN_IN_LOCKED_SECONDS


def normalise_staff_number(typed_number: str) -> str:
    """Return ``typed_number``, or "?" if it cannot be a staff number."""
    return typed_number if STAFF_NUMBER_PATTERN.fullmatch(typed_number) else "?"


def is_locked_at_terminals(wrong_pins: Iterable[WrongPin], typed_number: str) -> bool:
    """Return whether too many of ``wrong_pins`` count for a staff number; a wrong PIN counts for 15 minutes."""
    staff_number = normalise_staff_number(typed_number)
    counted_wrong_pins = [
        wrong_pin
        for wrong_pin in wrong_pins
        if wrong_pin.staff_number == staff_number and wrong_pin.is_counted_towards_lock
    ]
    return len(counted_wrong_pins) >= WRONG_PINS_MAX


@contextmanager
def edit_wrong_pins(folder: Path, *, must_wait: bool) -> Iterator[list[WrongPin]]:
    """Lock the terminals' file of wrong PINs and yield its content as a list, which is written back at the end.

    Raises OSError; BlockingIOError if another process has the lock and ``must_wait`` is False.
    """
    descriptor = os.open(
        folder / WRONG_PINS_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    with os.fdopen(descriptor, "r+", encoding="utf-8", errors="replace") as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if must_wait else fcntl.LOCK_NB))
        stored_wrong_pins = list(_parse_wrong_pins(file))
        wrong_pins = list(stored_wrong_pins)
        try:
            yield wrong_pins
        finally:
            if wrong_pins != stored_wrong_pins:
                file.seek(0)
                file.truncate()
                file.writelines(f"{json.dumps(to_json(wrong_pin))}\n" for wrong_pin in wrong_pins)
                file.flush()
                os.fsync(file.fileno())


def _parse_wrong_pins(lines: Iterator[str]) -> Iterator[WrongPin]:
    """Yield the wrong PINs in the lines of the terminals' file; lines that cannot be read are skipped."""
    for line in lines:
        try:
            wrong_pin = from_json(WrongPin, json.loads(line), "a wrong PIN")
        except (ValueError, RecursionError, RecordError):
            continue
        yield wrong_pin


def _read_uptime_seconds() -> int:
    """Return the seconds since the computer started, time asleep included."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME))

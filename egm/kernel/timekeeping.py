"""Clock plausibility: whether the clock may be believed, judged from evidence each time a date matters.

The operating system owns the clock, and it may be wrong: a board without a battery comes up in 1970, somebody
sets it, a counter of seconds runs over in 2038. Nothing that is worth money may follow from such a moment.
What the evidence is: the day this program was made, the last moment the machine knew to be right, and the
time that has really passed since, which the monotonic clock counts however the other is set. While the clock
is not believed, no ticket is dated or past its date, no promotion expires, and what must be timed goes by
:meth:`Timekeeper.now`: the last moment known to be right and the time that has passed since.

A clock that comes back to what the evidence expects is believed again by itself; any other waits for a
person, who reads the date and confirms it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from egm.clock import Clock
from meters import JournalView

#: The state of a journal that tells of a doubt: why, and the last moment known to be right.
STATE_KEY: Final = "clock"
#: What a journal writes of its own when it is opened, by a clock nobody has judged yet.
_AT_OPENING: Final = frozenset({"clock.changed", "event"})
#: No machine with this program ran before.
MADE: Final = datetime(2026, 1, 1, tzinfo=UTC)
#: A clock that shows this or later is broken; dates can be worked out for some years more.
END: Final = datetime(9995, 1, 1, tzinfo=UTC)
#: By how much a clock may be corrected without anybody being asked: no ticket's last day hangs on it.
SLACK: Final = timedelta(hours=1)
#: For how long a machine may have been off without anybody being asked what day it is.
OFF_MOST: Final = timedelta(days=31)


class Doubt(StrEnum):
    """Why a clock is not believed."""

    BEFORE_MADE = "before_made"
    """It shows a time before this program was made."""
    SET_BACK = "set_back"
    """It shows a time before the last moment known to be right."""
    FAR_AHEAD = "far_ahead"
    """It shows a time long after the last moment known to be right."""
    CHANGED = "changed"
    """It was set while the machine ran, and nobody has confirmed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a clock is judged by.

    ``good``: the last moment known to be right; None where there never was one. ``passed``: the time since,
    by the monotonic clock; None where the machine was off in between. ``unsettled``: the clock was set before
    the machine went off, and nobody has confirmed it since.
    """

    now: datetime
    good: datetime | None
    passed: timedelta | None
    unsettled: bool = False


def doubt(evidence: Evidence) -> Doubt | None:
    """Why the clock may not be believed; None where it may."""
    now, good, passed = evidence.now, evidence.good, evidence.passed
    if now < MADE:
        return Doubt.BEFORE_MADE
    if good is None:
        return Doubt.FAR_AHEAD if now >= END else None
    if passed is not None:
        return Doubt.CHANGED if abs(now - good - passed) > SLACK else None
    if good - now > SLACK:
        return Doubt.SET_BACK
    if now - good > OFF_MOST:
        return Doubt.FAR_AHEAD
    return Doubt.CHANGED if evidence.unsettled else None


class Timekeeper:
    """The judgement over one machine's clock, from its start on."""

    def __init__(self, clock: Clock, good: datetime | None = None, *, unsettled: bool = False) -> None:
        """``good`` and ``unsettled`` as in :class:`Evidence`, of the time before this start."""
        self._clock = clock
        self._good = good if good is not None and MADE <= good < END else None
        self._unsettled = unsettled
        self._running = False
        self._since_ns = clock.monotonic_ns()
        self.look()

    def look(self) -> Doubt | None:
        """Judge now; from the first time the clock is believed, the monotonic one says what it must show."""
        found = self.doubt
        if found is None and not self._running:
            self.confirm()
        return found

    @property
    def doubt(self) -> Doubt | None:
        """Why the clock may not be believed at this moment."""
        return doubt(
            Evidence(
                now=self._clock.now(),
                good=self._good,
                passed=self._passed if self._running else None,
                unsettled=self._unsettled,
            )
        )

    @property
    def is_believed(self) -> bool:
        """Whether a date may be printed, or be over."""
        return self.doubt is None

    @property
    def good(self) -> datetime | None:
        """The last moment known to be right, with the time that has passed since."""
        return None if self._good is None else min(self._good + self._passed, END)

    def now(self) -> datetime:
        """The time as far as it is known: the clock's, or where that is not believed the evidence's."""
        good = self.good
        return self._shown if good is None or self.is_believed else good

    def steady(self) -> datetime:
        """The time that goes on as time has passed: in one run a clock that is set moves it by nothing."""
        return self.good or self._shown

    @property
    def _shown(self) -> datetime:
        """What the clock shows, early enough for dates to be worked out from it."""
        return min(self._clock.now(), END)

    def confirm(self) -> None:
        """What the clock shows is right: a person says so, or all the evidence does."""
        self._good, self._since_ns = self._shown, self._clock.monotonic_ns()
        self._running, self._unsettled = True, False

    @property
    def _passed(self) -> timedelta:
        return timedelta(microseconds=(self._clock.monotonic_ns() - self._since_ns) // 1000)


def timekeeper_of(journal: JournalView, clock: Clock) -> Timekeeper:
    """The judgement as a machine's journal has it: its last entry, and a doubt that nobody has settled."""
    stored: Any = journal.state(STATE_KEY)
    if stored is not None:
        good = datetime.fromisoformat(stored["good"]) if stored["good"] else None
        return Timekeeper(clock, good, unsettled=stored["why"] == Doubt.CHANGED)
    entries = journal.entries(newest_first=True)
    last = next((entry for entry in entries if entry.kind not in _AT_OPENING), None)
    return Timekeeper(clock, None if last is None else last.time_utc)

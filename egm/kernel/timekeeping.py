"""Clock plausibility: whether the clock can be trusted, judged from evidence each time a date matters.

The operating system owns the clock, and it may be wrong: a board without a battery starts in 1970, a person
sets it, a counter of seconds overflows in 2038. Nothing that is worth money may follow from a wrong time. The
evidence is: a date before which this program did not exist, the last time known to be right, and the time elapsed
since then by the monotonic clock. While the clock is not trusted, no ticket is dated or expired and no promotion
expires; other dates use :meth:`Timekeeper.now`, then the last time known to be right plus the time elapsed. Timers
use :meth:`Timekeeper.read_steady_time`, which no change of the clock affects.

A clock that returns to the expected time is trusted again automatically; otherwise a person must read the
date and confirm it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from egm.clock import Clock
from meters import JournalView

#: The journal state key of a doubt about the clock: the reason, and the last time known to be right.
CLOCK_STATE_KEY: Final = "clock"
#: Entries that opening a journal writes itself, dated by a clock that has not been judged yet.
_ENTRY_KINDS_WRITTEN_AT_JOURNAL_OPENING: Final = frozenset({"clock.changed", "event"})
#: No machine ran this program before this date.
EARLIEST_PLAUSIBLE_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)
#: A clock at or after this date is broken; date arithmetic remains possible for some years beyond it.
LATEST_PLAUSIBLE_TIME: Final = datetime(9995, 1, 1, tzinfo=UTC)
#: A correction of the clock up to this size needs no confirmation: it cannot expire a ticket.
CLOCK_TOLERANCE: Final = timedelta(hours=1)
#: A machine that was off for longer than this asks for confirmation of the date.
OFF_TIME_WITHOUT_CONFIRMATION_MAX: Final = timedelta(days=31)


class ClockDoubtReason(StrEnum):
    """Reason why the clock is not trusted."""

    IMPLAUSIBLY_EARLY = "before_made"
    """The clock shows a time before :data:`EARLIEST_PLAUSIBLE_TIME`, when this program did not exist."""
    SET_BACK = "set_back"
    """The clock shows a time before the last one known to be right."""
    FAR_AHEAD = "far_ahead"
    """The clock shows a time long after the last one known to be right or, without such a time, an impossible one."""
    CHANGED = "changed"
    """The clock was set while the machine ran, and nobody has confirmed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockEvidence:
    """The evidence from which it is judged whether the clock is right.

    ``shown_time`` is the time that the clock shows.
    """

    shown_time: datetime
    last_trusted_time: datetime | None
    """The last time known to be right, or None if there never was one."""
    elapsed_since_trusted: timedelta | None
    """The time since ``last_trusted_time`` by the monotonic clock, or None if the machine was off in between."""
    was_set_unconfirmed: bool = False
    """Whether the clock was set before the machine was switched off, and nobody has confirmed it since."""


def find_clock_doubt(evidence: ClockEvidence) -> ClockDoubtReason | None:
    """Return why the clock cannot be trusted, or None if it can."""
    now, last_trusted_time = evidence.shown_time, evidence.last_trusted_time
    if now < EARLIEST_PLAUSIBLE_TIME:
        return ClockDoubtReason.IMPLAUSIBLY_EARLY
    if last_trusted_time is None:
        return ClockDoubtReason.FAR_AHEAD if now >= LATEST_PLAUSIBLE_TIME else None
    if evidence.elapsed_since_trusted is not None:
        return (
            ClockDoubtReason.CHANGED
            if abs(now - last_trusted_time - evidence.elapsed_since_trusted) > CLOCK_TOLERANCE
            else None
        )
    if last_trusted_time - now > CLOCK_TOLERANCE:
        return ClockDoubtReason.SET_BACK
    if now - last_trusted_time > OFF_TIME_WITHOUT_CONFIRMATION_MAX:
        return ClockDoubtReason.FAR_AHEAD
    return ClockDoubtReason.CHANGED if evidence.was_set_unconfirmed else None


class Timekeeper:
    """The judgement, during one run of the machine, whether its clock can be trusted; and the best known time."""

    def __init__(
        self, clock: Clock, last_trusted_time: datetime | None = None, *, was_set_unconfirmed: bool = False
    ) -> None:
        """Start to assess the clock.

        ``last_trusted_time`` is the last time known to be right before this start. ``was_set_unconfirmed`` is
        whether the clock was set before the machine was switched off, and nobody has confirmed it.
        """
        self._clock = clock
        self._last_trusted_time = (
            last_trusted_time
            if last_trusted_time is not None
            and EARLIEST_PLAUSIBLE_TIME <= last_trusted_time < LATEST_PLAUSIBLE_TIME
            else None
        )
        self._was_set_unconfirmed = was_set_unconfirmed
        self._was_trusted_in_this_run = False
        self._elapsed_from_ns = clock.monotonic_ns()
        self.check_clock()

    def check_clock(self) -> ClockDoubtReason | None:
        """Check the clock now; return the reason why it is not trusted, or None if it is trusted.

        When it is first trusted in this run, its time becomes the last time known to be right. To stay trusted, it must
        then advance with the monotonic clock.
        """
        doubt = self.clock_doubt
        if doubt is None and not self._was_trusted_in_this_run:
            self.confirm_time()
        return doubt

    @property
    def clock_doubt(self) -> ClockDoubtReason | None:
        """Return why the clock cannot be trusted at this moment, or None if it can."""
        return find_clock_doubt(
            ClockEvidence(
                shown_time=self._clock.now(),
                last_trusted_time=self._last_trusted_time,
                elapsed_since_trusted=self._elapsed_since_trusted if self._was_trusted_in_this_run else None,
                was_set_unconfirmed=self._was_set_unconfirmed,
            )
        )

    @property
    def is_clock_trusted(self) -> bool:
        """Return whether the clock is trusted, so that dates may be printed and deadlines may expire."""
        return self.clock_doubt is None

    @property
    def trusted_time(self) -> datetime | None:
        """Return the last time known to be right, plus the time elapsed since; None if there never was one.

        The time during which the machine was off is not included, because it is not known.
        """
        return (
            None
            if self._last_trusted_time is None
            else min(self._last_trusted_time + self._elapsed_since_trusted, LATEST_PLAUSIBLE_TIME)
        )

    def now(self) -> datetime:
        """Return the clock's time if it is trusted, otherwise the last time known to be right plus the time since.

        If no time was ever known to be right, return the clock's time.
        """
        trusted_time = self.trusted_time
        return self._clamped_clock_time if trusted_time is None or self.is_clock_trusted else trusted_time

    def read_steady_time(self) -> datetime:
        """Return a time that advances with the monotonic clock during one run, even when the wall clock is set."""
        return self.trusted_time or self._clamped_clock_time

    @property
    def _clamped_clock_time(self) -> datetime:
        """Return the clock's time, moved into the range in which date arithmetic cannot overflow."""
        return min(self._clock.now(), LATEST_PLAUSIBLE_TIME)

    def confirm_time(self) -> None:
        """Accept the clock's current time as right.

        This is called if staff confirm the time, or if no evidence is against it.
        """
        self._last_trusted_time, self._elapsed_from_ns = self._clamped_clock_time, self._clock.monotonic_ns()
        self._was_trusted_in_this_run, self._was_set_unconfirmed = True, False

    @property
    def _elapsed_since_trusted(self) -> timedelta:
        """Return the time since the clock was first trusted or last confirmed in this run, by the monotonic clock.

        Before that, return the time since the start of the run.
        """
        return timedelta(microseconds=(self._clock.monotonic_ns() - self._elapsed_from_ns) // 1000)


def create_timekeeper(journal: JournalView, clock: Clock) -> Timekeeper:
    """Create the timekeeper from the journal: the time of its last entry, and a stored doubt about the clock."""
    recorded_doubt: Any = journal.state(CLOCK_STATE_KEY)
    if recorded_doubt is not None:
        last_trusted_time = datetime.fromisoformat(recorded_doubt["good"]) if recorded_doubt["good"] else None
        return Timekeeper(
            clock, last_trusted_time, was_set_unconfirmed=recorded_doubt["why"] == ClockDoubtReason.CHANGED
        )
    entries = journal.entries(newest_first=True)
    last_entry = next(
        (entry for entry in entries if entry.kind not in _ENTRY_KINDS_WRITTEN_AT_JOURNAL_OPENING), None
    )
    return Timekeeper(clock, None if last_entry is None else last_entry.time_utc)

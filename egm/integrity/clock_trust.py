"""Trust in the clock: a recorded doubt survives a power loss, until the clock is right or staff confirm it.

:mod:`egm.kernel.timekeeping` decides whether the clock is trusted; this module records the result.
"""

from typing import Final

from egm.integrity.entries import (
    CLOCK_CONFIRMED,
    CLOCK_DOUBTED,
    CLOCK_TRUSTED,
    ClockConfirmed,
    ClockDoubted,
    ClockTrusted,
)
from egm.integrity.events import ClockConfirmationForm
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.own_entries import ClockDoubt
from egm.kernel.rules import refusal_code
from egm.staff.desk import find_actor

#: The fault code while the clock is not trusted.
CLOCK_DOUBTED_FAULT: Final = "clock_doubted"


def record_clock_trust(machine: PositionMachine) -> None:
    """Check whether the clock can be trusted; if the result has changed, record it in the journal.

    At start-up this happens before anything else is recorded. Together with a doubt, the last time known to be
    right is stored, because later entries carry the doubtful time.
    """
    doubt, recorded_doubt = machine.timekeeper.check_clock(), machine.memory.get(KernelKey.CLOCK_DOUBT)
    if doubt is None:
        if recorded_doubt is not None:
            details = ClockTrusted(clock_time=_format_time_now(machine))
            machine.post(CLOCK_TRUSTED, details, state={KernelKey.CLOCK_DOUBT: None})
    elif recorded_doubt is None or recorded_doubt["why"] != doubt:
        trusted_time = (
            "" if machine.timekeeper.trusted_time is None else machine.timekeeper.trusted_time.isoformat()
        )
        machine.post(
            CLOCK_DOUBTED,
            ClockDoubted(reason=doubt, last_trusted_time=trusted_time, clock_time=_format_time_now(machine)),
            state={KernelKey.CLOCK_DOUBT: ClockDoubt(reason=doubt, last_trusted_time=trusted_time)},
        )


def _format_time_now(machine: PositionMachine) -> str:
    """Return the time that the clock shows, ISO 8601."""
    return machine.clock.now().isoformat()


# ---------------------------------------------------------------------------------------------- by staff
def clock_is_doubted(machine: PositionMachine, _: Event) -> bool:
    """Return whether the clock is not trusted."""
    return not machine.timekeeper.is_clock_trusted


@refusal_code("date_is_the_clocks")
def entered_date_matches_clock(machine: PositionMachine, event: Event) -> bool:
    """Return whether the date entered by staff (YYYYMMDD) is the clock's date in the venue's time zone."""
    local_now = machine.clock.now().astimezone(machine.identity.venue.zone)
    return event.read_payload(ClockConfirmationForm).date == f"{local_now:%Y%m%d}"


def confirm_clock(machine: PositionMachine, event: Event) -> None:
    """Trust the clock from now on, and record that staff have confirmed its date by a form."""
    recorded_doubt, now = machine.memory.get(KernelKey.CLOCK_DOUBT), _format_time_now(machine)
    machine.timekeeper.confirm_time()
    machine.post(
        CLOCK_CONFIRMED,
        ClockConfirmed(
            clock_time=now,
            doubt_reason="" if recorded_doubt is None else recorded_doubt["why"],
            person=find_actor(machine, event),
            persons=event.read_payload(ClockConfirmationForm).persons,
        ),
        state={KernelKey.CLOCK_DOUBT: None, f"{KernelKey.FAULT}{CLOCK_DOUBTED_FAULT}": None},
    )

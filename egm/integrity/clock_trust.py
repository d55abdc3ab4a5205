"""Doubted clock: kept over a power cut, confirmed by a person (`egm.kernel.timekeeping`)."""

from typing import Final

from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import Machine
from egm.staff.service.desk import who

FAULT: Final = "clock_doubted"


def note_clock(machine: Machine) -> None:
    """Judge the clock, and keep a doubt over a power cut; at start-up before anything else is recorded.

    The last moment known to be right is kept with it: the entries that follow carry the doubted time.
    """
    found, stored = machine.times.look(), machine.memory.get(KernelKey.CLOCK)
    if found is None:
        if stored is not None:
            machine.record("clock.believed", state={KernelKey.CLOCK: None}, details={"now": _now(machine)})
    elif stored is None or stored["why"] != found:
        good = machine.times.good
        doubted = {"why": found.value, "good": "" if good is None else good.isoformat()}
        machine.record(
            "clock.doubted", state={KernelKey.CLOCK: doubted}, details={**doubted, "now": _now(machine)}
        )


def _now(machine: Machine) -> str:
    return machine.clock.now().isoformat()


# ---------------------------------------------------------------------------------------------- by a person
def clock_is_doubted(machine: Machine, _: Event) -> bool:
    """The clock is not believed."""
    return not machine.times.is_believed


def date_is_the_clocks(machine: Machine, event: Event) -> bool:
    """The date a person has read elsewhere, as YYYYMMDD, is the one the clock shows where the house is."""
    shown = machine.clock.now().astimezone(machine.identity.house.zone)
    return event.data.get("date") == f"{shown:%Y%m%d}"


def confirm_clock(machine: Machine, event: Event) -> None:
    """A person has read the date and stands for it: the clock is believed from here on."""
    stored, details = machine.memory.get(KernelKey.CLOCK), {"now": _now(machine)}
    machine.times.confirm()
    machine.record(
        "clock.confirmed",
        state={KernelKey.CLOCK: None, f"{KernelKey.FAULT}{FAULT}": None},
        details={
            **details,
            "why": "" if stored is None else stored["why"],
            "person": who(machine, event),
            "persons": list(event.data["persons"]),
        },
    )

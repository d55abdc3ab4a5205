"""Technician's work: faults that a key does not clear, the software's check, exchanged counters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import Machine
from egm.records.keys import IntegrityKey
from egm.staff.service.desk import who

SOFTWARE_DIFFERS: Final = "software_differs"
"""Files are not as signed; ends with its cause."""
SOFTWARE_CHECK: Final = "software_check"
"""Somebody authorised must look, after the files are right again."""

_RULED_ON: Final = frozenset({"progressive_unproved"})
"""Faults that end with a ruling of persons, and with nothing else."""


def _settled(machine: Machine) -> list[str]:
    """The faults a technician may settle now. Software that is still wrong is not settled by saying so."""
    faults = machine.faults
    return [
        code
        for code, entry in faults.items()
        if entry["cleared_by"] == "technician"
        and code not in _RULED_ON
        and not (code == SOFTWARE_CHECK and SOFTWARE_DIFFERS in faults)
    ]


@dataclass(slots=True)
class SoftwareCheck:
    """How to have the software held against its manifest again, soon; None where there is no manifest."""

    ask: Callable[[], None] | None = None


# ---------------------------------------------------------------------------------------------- guards
def technician_is_needed(machine: Machine, _: Event) -> bool:
    """A fault waits for a technician, and its cause has gone."""
    return bool(_settled(machine))


def software_is_signed(machine: Machine, _: Event) -> bool:
    """There is a manifest to hold the software against."""
    return machine.state(SoftwareCheck).ask is not None


def hard_meters_are_fitted(machine: Machine, _: Event) -> bool:
    """There are counters that follow the electronic meters."""
    return machine.memory.get(IntegrityKey.HARD_METERS) is not None


# ---------------------------------------------------------------------------------------------- effects
def settle_faults(machine: Machine, event: Event) -> None:
    """The technician has found the cause and says what it was."""
    codes = _settled(machine)
    machine.record(
        "fault.settled",
        state={f"{KernelKey.FAULT}{code}": None for code in codes},
        details={
            "codes": codes,
            "finding": str(event.data["finding"]),
            "person": who(machine, event),
            "persons": list(event.data["persons"]),
        },
    )


def verify_software(machine: Machine, event: Event) -> None:
    """Have every file of the software read and compared, now."""
    ask = machine.state(SoftwareCheck).ask
    if ask is not None:
        machine.log("software.check", {"person": who(machine, event)})
        ask()


def refit_hard_meters(machine: Machine, event: Event) -> None:
    """The board or its counters are others than before: they count on from where they stand (D-20).

    What the old counters were short of is not made up for on the new ones; the electronic meters have it.
    """
    machine.record(
        "hard_meters.exchanged",
        state={IntegrityKey.HARD_METERS: None},
        details={
            "person": who(machine, event),
            "persons": list(event.data["persons"]),
            "reason": event.data["reason"],
            "readings": event.data["readings"],
            "before": machine.memory.get(IntegrityKey.HARD_METERS),
        },
    )

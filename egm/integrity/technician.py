"""A technician's work: clear faults that an attendant may not clear, check software, replace hard meters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from egm.integrity.entries import (
    FAULTS_CLEARED_BY_TECHNICIAN,
    HARD_METERS_EXCHANGED,
    SOFTWARE_CHECK_REQUESTED,
    FaultsClearedByTechnician,
    HardMetersExchanged,
    SoftwareCheckRequested,
)
from egm.integrity.events import FaultClearanceForm, HardMeterExchangeForm
from egm.integrity.keys import IntegrityKey
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.staff.desk import find_actor

#: The code of the fault that is active while software files are not as signed.
SOFTWARE_DIFFERS_FAULT: Final = "software_differs"
#: The code of the fault that is raised when software files differ or the signer has changed.
#:
#: It stays until a technician clears it.
SOFTWARE_CHECK_FAULT: Final = "software_check"

#: The codes of faults that no technician may clear: they end when staff decide on the disputed amount.
_FAULTS_ENDED_BY_RULING: Final = frozenset({"progressive_unproved"})


def _list_clearable_faults(machine: PositionMachine) -> list[str]:
    """Return the codes of the faults that a technician may clear now.

    The fault ``software_check`` is among them only once the files are as signed.
    """
    faults = machine.active_faults
    return [
        code
        for code, fault in faults.items()
        if fault["cleared_by"] == "technician"
        and code not in _FAULTS_ENDED_BY_RULING
        and not (code == SOFTWARE_CHECK_FAULT and SOFTWARE_DIFFERS_FAULT in faults)
    ]


@dataclass(slots=True)
class SoftwareCheckRequester:
    """The machine's function that requests a verification of its software.

    ``request`` is None if the machine has no signed manifest.
    """

    request: Callable[[], None] | None = None


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("technician_is_needed")
def technician_can_clear_fault(machine: PositionMachine, _: Event) -> bool:
    """Return whether there is a fault that a technician may clear now."""
    return bool(_list_clearable_faults(machine))


def software_is_signed(machine: PositionMachine, _: Event) -> bool:
    """Return whether the machine has a signed manifest with which its software can be compared."""
    return machine.component(SoftwareCheckRequester).request is not None


def hard_meters_are_fitted(machine: PositionMachine, _: Event) -> bool:
    """Return whether hard meters (electromechanical counters) have been detected on the machine."""
    return machine.memory.get(IntegrityKey.HARD_METER_OFFSETS) is not None


# ---------------------------------------------------------------------------------------------- effects
def clear_faults_as_technician(machine: PositionMachine, event: Event) -> None:
    """Clear all faults that a technician may clear, and record the cause that the technician has found."""
    codes, form = _list_clearable_faults(machine), event.read_payload(FaultClearanceForm)
    machine.post(
        FAULTS_CLEARED_BY_TECHNICIAN,
        FaultsClearedByTechnician(
            codes=tuple(codes),
            finding=form.finding,
            person=find_actor(machine, event),
            persons=form.persons,
        ),
        state={f"{KernelKey.FAULT}{code}": None for code in codes},
    )


def verify_software(machine: PositionMachine, event: Event) -> None:
    """Request a verification of all software files now."""
    request = machine.component(SoftwareCheckRequester).request
    if request is not None:
        machine.post(SOFTWARE_CHECK_REQUESTED, SoftwareCheckRequested(person=find_actor(machine, event)))
        request()


def record_hard_meter_exchange(machine: PositionMachine, event: Event) -> None:
    """Record that the I/O board or its hard meters were exchanged (D-20).

    The new hard meters count on from what they show now. Pulses still owed to the old ones are not given to the
    new ones; the electronic meters contain them.
    """
    form = event.read_payload(HardMeterExchangeForm)
    machine.post(
        HARD_METERS_EXCHANGED,
        HardMetersExchanged(
            person=find_actor(machine, event),
            persons=form.persons,
            reason=form.reason,
            readings=form.readings,
            offsets_before=tuple(machine.memory.get(IntegrityKey.HARD_METER_OFFSETS)),
        ),
        state={IntegrityKey.HARD_METER_OFFSETS: None},
    )

"""The integrity feature: doors, faults, the generator, the software, the memory and the clock."""

from typing import Final

from egm.integrity import entries
from egm.integrity.clock_watch import create_clock_watch
from egm.integrity.events import PAYLOAD_CLASS_BY_EVENT
from egm.integrity.forms import INTEGRITY_FORMS
from egm.integrity.hard_meters import create_hard_meter_service
from egm.integrity.keys import IntegrityKey
from egm.integrity.lockups import list_disabling_sources
from egm.integrity.memory_watch import create_memory_watch
from egm.integrity.notices import iter_notices
from egm.integrity.records import DisablingRecord, InstalledSoftware
from egm.integrity.rules import INTEGRITY_RULES
from egm.integrity.software import create_reverification
from egm.kernel.entries import list_entries
from egm.kernel.events import State
from egm.kernel.faults import get_fault_definition
from egm.kernel.feature import Feature
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import DerivedState
from egm.record_fields import NonBlankText, PositiveNumber


def _is_out_of_service(machine: PositionMachine) -> bool:
    """Return whether the machine is out of service.

    The self-test or the generator has failed, a host, link or operator disables the machine, or a fault takes
    it out of service.
    """
    return (
        machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None
        or bool(list_disabling_sources(machine))
        or any(get_fault_definition(code).puts_out_of_service for code in machine.active_faults)
    )


INTEGRITY_FEATURE: Final = Feature(
    name="integrity",
    storage_keys=IntegrityKey,
    value_types={
        IntegrityKey.BOOT_COUNT: PositiveNumber,
        IntegrityKey.CURRENCY: NonBlankText,
        IntegrityKey.SERVICE_CALL: bool,
        IntegrityKey.OUT_OF_SERVICE: entries.OutOfServiceRecord,
        IntegrityKey.DISABLING_RECORD: DisablingRecord,
        IntegrityKey.HARD_METER_OFFSETS: tuple[int, ...],
        IntegrityKey.MEDIUM_REPLACED: str,
        IntegrityKey.INSTALLED_SOFTWARE: InstalledSoftware,
        IntegrityKey.SIGNED_CABINET_FILE: entries.CabinetSignatureRecord,
    },
    entry_declarations=list_entries(entries),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=INTEGRITY_RULES,
    contributions=(*INTEGRITY_FORMS,),
    derived_states=(
        DerivedState(State.DOOR_OPEN, lambda machine: bool(machine.open_doors)),
        DerivedState(State.TILT, lambda machine: machine.is_tilted),
        DerivedState(State.OUT_OF_SERVICE, _is_out_of_service),
    ),
    list_notices=iter_notices,
    service_factories=(
        create_hard_meter_service,
        create_memory_watch,
        create_reverification,
        create_clock_watch,
    ),
)

"""Interventions: work at the open machine, declared with its reason beforehand (Monaco arts 20.1-20.3; J-04 to J-07).

An authenticated person declares an intervention in the service menu. While it is open, the machine is out of
service, and the doors that this kind of work covers may be opened. If the profile requires identified openings,
opening any other door, or any door without an intervention, is a separate event and a tilt. If it requires
monitoring, so is opening a door before the monitoring system has read who is at work (K-13). The sheet of an
intervention is derived from journal entries alone: see :mod:`egm.staff.intervention_sheet`.
"""

from collections.abc import Mapping
from typing import Final

from egm.devices.ioboard.codec import DOORS, MONEY_DOORS
from egm.errors import InvariantError
from egm.integrity.keys import IntegrityKey
from egm.integrity.records import DisablingRecord
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.staff.desk import find_actor
from egm.staff.entries import (
    CABINET_BASE_RETURNED,
    CABINET_BASE_WITHDRAWN,
    INTERVENTION_CLOSED,
    INTERVENTION_OPENED,
    INTERVENTION_READ,
    CabinetBaseReturned,
    CabinetBaseWithdrawn,
    Intervention,
    InterventionClosed,
    InterventionOpened,
    InterventionReadByMonitoring,
    WithdrawnBase,
)
from egm.staff.events import CabinetBaseForm, InterventionForm, InterventionRead
from egm.staff.keys import StaffKey
from egm.staff.slips import print_access_ticket
from egm.staff.stock import build_collection_state

#: The source that holds the machine out of service during an intervention.
OPEN_INTERVENTION_DISABLING_SOURCE: Final = "intervention"
#: The fault of a door opened by an unidentified person.
UNIDENTIFIED_OPENING_FAULT: Final = "unidentified_opening"
#: The source that holds a machine out of service while its base is withdrawn.
BASE_WITHDRAWN_DISABLING_SOURCE: Final = "base"
#: Doors of money containers, opened only at a collection (Monaco art. 20.1).
_COLLECTION_DOORS: Final = frozenset({"drop", "cash_box", "stacker"})
#: Faults by which a device reports that it is open or removed -> the door that protects it.
DOOR_BY_DEVICE_FAULT: Final[Mapping[str, str]] = {
    "bill_acceptor.stacker_removed": "stacker",
    "ticket_printer.chassis_open": "main",
}
#: The doors that each kind of intervention covers.
COVERED_DOORS_BY_WORK_KIND: Final[Mapping[str, frozenset[str]]] = {
    "repair": frozenset(DOORS) - _COLLECTION_DOORS,
    "collection": MONEY_DOORS | {"main"},
}


# ---------------------------------------------------------------------------------------------- guards
def no_intervention_is_open(machine: PositionMachine, _: Event) -> bool:
    """Return whether no intervention is open. Only one intervention can be open at a time."""
    return machine.memory.get(StaffKey.INTERVENTION) is None


@refusal_code("intervention_is_open")
def named_intervention_is_open(machine: PositionMachine, event: Event) -> bool:
    """Return whether an intervention is open and is of the kind that the form names."""
    intervention = machine.memory.read(Intervention, StaffKey.INTERVENTION)
    return intervention is not None and intervention.kind == event.read_payload(InterventionForm).kind


@refusal_code("somebody_is_at_work")
def any_intervention_is_open(machine: PositionMachine, _: Event) -> bool:
    """Return whether an intervention of any kind is open."""
    return machine.memory.get(StaffKey.INTERVENTION) is not None


def base_is_in_place(machine: PositionMachine, _: Event) -> bool:
    """Return whether the machine's stand (base) is in place, not withdrawn."""
    return machine.memory.get(StaffKey.WITHDRAWN_BASE) is None


def base_is_withdrawn(machine: PositionMachine, _: Event) -> bool:
    """Return whether the machine's stand (base) is withdrawn, and so can be returned."""
    return machine.memory.get(StaffKey.WITHDRAWN_BASE) is not None


def every_door_is_closed(machine: PositionMachine, _: Event) -> bool:
    """Return whether every door of the machine is closed."""
    return not machine.open_doors


# ---------------------------------------------------------------------------------------------- effects
def open_intervention(machine: PositionMachine, event: Event) -> None:
    """Open an intervention: record who, when, why and the meters, and hold the machine out of service.

    If the profile requires slips, also print an access ticket.
    """
    form, start_time = event.read_payload(InterventionForm), machine.clock.now().isoformat()
    intervention_id, person = machine.fresh_id("intervention"), find_actor(machine, event)
    if form.kind is None:
        raise InvariantError("an intervention was submitted without its kind")
    intervention = Intervention(
        id=intervention_id,
        opened_at=start_time,
        kind=form.kind,
        reason=form.reason,
        person=person,
        persons=form.persons,
    )
    machine.post(
        INTERVENTION_OPENED,
        InterventionOpened(
            id=intervention_id,
            kind=form.kind,
            reason=form.reason,
            person=person,
            persons=form.persons,
            serial=machine.identity.serial,
            operator_number=machine.identity.operator_number,
            meters=_read_nonzero_meters(machine),
        ),
        entry_id=intervention_id,
        state={
            StaffKey.INTERVENTION: intervention,
            f"{IntegrityKey.DISABLING_RECORD}{OPEN_INTERVENTION_DISABLING_SOURCE}": DisablingRecord(
                reason=form.reason, disabled_at=start_time
            ),
        },
    )
    print_access_ticket(machine, f"{form.kind}: {form.reason} ({person})")
    # Whether the monitoring system must read who is at work before a door is opened.
    must_be_read = machine.profile.staff.requires_reading_by_monitoring
    machine.notice = Notice(code="intervention_announced" if must_be_read else "intervention_opened")


def record_intervention_read(machine: PositionMachine, event: Event) -> None:
    """Record that the monitoring system has read who is at work, so that doors may be opened.

    A repeated report changes nothing.
    """
    intervention, intervention_id = (
        machine.memory.get(StaffKey.INTERVENTION),
        event.read_payload(InterventionRead).id,
    )
    if (
        intervention is None
        or intervention["id"] != intervention_id
        or machine.memory.get(StaffKey.MONITORED_INTERVENTION) == intervention_id
    ):
        return
    machine.post(
        INTERVENTION_READ,
        InterventionReadByMonitoring(id=intervention_id),
        state={StaffKey.MONITORED_INTERVENTION: intervention_id},
    )
    machine.notice = Notice(code="intervention_opened")


def close_intervention(machine: PositionMachine, event: Event) -> None:
    """Close the intervention: record what was done and the meters, and end its hold on the machine.

    After a collection, also store the amounts metered into the boxes, with which their counts are compared.
    """
    form = event.read_payload(InterventionForm)
    intervention = machine.memory.require(Intervention, StaffKey.INTERVENTION)
    collection_state = (
        build_collection_state(machine, intervention.id) if intervention.kind == "collection" else {}
    )
    machine.post(
        INTERVENTION_CLOSED,
        InterventionClosed(
            id=intervention.id,
            work=form.work,
            parts=form.parts or "",
            person=find_actor(machine, event),
            persons=form.persons,
            serial=machine.identity.serial,
            operator_number=machine.identity.operator_number,
            meters=_read_nonzero_meters(machine),
        ),
        entry_id=f"{intervention.id}.closed",
        state={
            StaffKey.INTERVENTION: None,
            f"{IntegrityKey.DISABLING_RECORD}{OPEN_INTERVENTION_DISABLING_SOURCE}": None,
            **collection_state,
        },
    )
    machine.notice = Notice(code="intervention_closed")


def withdraw_base(machine: PositionMachine, event: Event) -> None:
    """Record that the machine's stand (base) is withdrawn; its lock and key go to the main cashier (Monaco art. 20.2).

    Until it is returned, coins have no drop box to fall into, and the machine is out of service.
    """
    form, withdrawn_time = event.read_payload(CabinetBaseForm), machine.clock.now().isoformat()
    machine.post(
        CABINET_BASE_WITHDRAWN,
        CabinetBaseWithdrawn(
            base_number=form.base_number,
            lock_number=form.lock_number,
            cashier=form.cashier,
            reason=form.reason,
            intervention_id=machine.memory.require(Intervention, StaffKey.INTERVENTION).id,
            person=find_actor(machine, event),
            persons=form.persons,
            serial=machine.identity.serial,
            operator_number=machine.identity.operator_number,
        ),
        state={
            StaffKey.WITHDRAWN_BASE: WithdrawnBase(
                withdrawn_at=withdrawn_time,
                base_number=form.base_number,
                lock_number=form.lock_number,
                cashier=form.cashier,
                reason=form.reason,
            ),
            f"{IntegrityKey.DISABLING_RECORD}{BASE_WITHDRAWN_DISABLING_SOURCE}": DisablingRecord(
                reason=form.reason, disabled_at=withdrawn_time
            ),
        },
    )


def return_base(machine: PositionMachine, event: Event) -> None:
    """Record that a stand (base) is under the machine again, with a lock and key issued by the main cashier."""
    form = event.read_payload(CabinetBaseForm)
    machine.post(
        CABINET_BASE_RETURNED,
        CabinetBaseReturned(
            base_number=form.base_number,
            lock_number=form.lock_number,
            cashier=form.cashier,
            intervention_id=machine.memory.require(Intervention, StaffKey.INTERVENTION).id,
            person=find_actor(machine, event),
            persons=form.persons,
            serial=machine.identity.serial,
            operator_number=machine.identity.operator_number,
        ),
        state={
            StaffKey.WITHDRAWN_BASE: None,
            f"{IntegrityKey.DISABLING_RECORD}{BASE_WITHDRAWN_DISABLING_SOURCE}": None,
        },
    )


def is_opening_identified(machine: PositionMachine, door: str) -> bool:
    """Return whether it would be known who opens the door now.

    True if the profile requires no declaration before doors are opened. Otherwise an intervention must be open and
    cover the door and, if the profile requires monitoring, the monitoring system must have read who is at work.
    """
    staff_rules = machine.profile.staff
    if not staff_rules.reports_undeclared_openings:
        return True
    intervention = machine.memory.read(Intervention, StaffKey.INTERVENTION)
    if intervention is None or door not in COVERED_DOORS_BY_WORK_KIND[intervention.kind]:
        return False
    return (
        not staff_rules.requires_reading_by_monitoring
        or machine.memory.get(StaffKey.MONITORED_INTERVENTION) == intervention.id
    )


def _read_nonzero_meters(machine: PositionMachine) -> dict[str, int]:
    """Return the meters that are not zero, by name.

    Meters that count only since power-up, or since a door was closed, are left out.
    """
    values = machine.journal.meters().values
    return {name: value for name, value in values.items() if value and ".since_" not in name}

"""Interventions: who opens the machine, why, what was done (Monaco arts 20.1-20.3; J-04 to J-07).

An intervention is declared at the service menu by somebody who has proved who he is; while it is open the
machine is held out of service, and the doors it covers may be opened. Where the profile wants openings
identified, any other door, and any door without an intervention, is an event of its own and a tilt; where it
wants them monitored, so is a door opened before the monitoring system has read who is at work (K-13). The
sheet of an intervention is made from the journal's entries alone: see :mod:`egm.staff.sheet`.
"""

from collections.abc import Mapping
from typing import Final

from egm.devices.ioboard.codec import DOORS
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.records.keys import IntegrityKey, StaffKey
from egm.staff.slips import print_slip
from egm.staff.stock import collected

#: The source that holds the machine out of service meanwhile.
HOLD: Final = "intervention"
#: The fault of a door opened by nobody known.
UNIDENTIFIED: Final = "unidentified_opening"
#: The source that holds a machine out of service whose base is withdrawn.
BASE: Final = "base"
#: Doors of what holds the house's money, opened at a collection only (Monaco art. 20.1).
_COLLECTED: Final = frozenset({"drop", "cash_box", "stacker"})
#: Faults by which a device itself says that it is open or out of its place -> the door it is locked behind.
OPENINGS: Final[Mapping[str, str]] = {
    "bill_acceptor.stacker_removed": "stacker",
    "ticket_printer.chassis_open": "main",
}
#: Kind of intervention -> the doors it covers.
COVERED: Final[Mapping[str, frozenset[str]]] = {
    "repair": frozenset(DOORS) - _COLLECTED,
    "collection": _COLLECTED | {"main", "hopper", "belly"},
}


# ---------------------------------------------------------------------------------------------- guards
def no_intervention_is_open(machine: Machine, _: Event) -> bool:
    """One at a time."""
    return machine.memory.get(StaffKey.INTERVENTION) is None


def intervention_is_open(machine: Machine, event: Event) -> bool:
    """There is one of this kind to end."""
    opened = machine.memory.get(StaffKey.INTERVENTION)
    return opened is not None and opened["kind"] == event.data.get("kind")


def somebody_is_at_work(machine: Machine, _: Event) -> bool:
    """An intervention of any kind is open."""
    return machine.memory.get(StaffKey.INTERVENTION) is not None


def base_is_in_place(machine: Machine, _: Event) -> bool:
    """The base is not withdrawn."""
    return machine.memory.get(StaffKey.BASE) is None


def base_is_withdrawn(machine: Machine, _: Event) -> bool:
    """The base is withdrawn: it can come back."""
    return machine.memory.get(StaffKey.BASE) is not None


def every_door_is_closed(machine: Machine, _: Event) -> bool:
    """No door stands open."""
    return not machine.doors_open


# ---------------------------------------------------------------------------------------------- effects
def open_intervention(machine: Machine, event: Event) -> None:
    """Keep who, when, why and the meters, and hold the machine out of service."""
    values = event.data
    since = machine.clock.now().isoformat()
    number = machine.fresh_id("intervention")
    told = {key: values[key] for key in ("kind", "reason", "person")} | {"persons": list(values["persons"])}
    machine.record(
        "intervention.opened",
        transaction_id=number,
        state={
            StaffKey.INTERVENTION: {"id": number, "since": since, **told},
            f"{IntegrityKey.DISABLED}{HOLD}": {"reason": str(values["reason"]), "since": since},
        },
        details={"id": number, **told, **_identity(machine), "meters": _meters(machine)},
    )
    about = f"{values['kind']}: {values['reason']} ({values['person']})"
    print_slip(machine, "ACCESS", about)
    waits = machine.profile.staff.monitored_openings
    machine.notice = Notice(code="intervention_announced" if waits else "intervention_opened")


def record_intervention_seen(machine: Machine, event: Event) -> None:
    """The monitoring system has read who is at work: the doors may be opened. Told again, nothing changes."""
    opened, number = machine.memory.get(StaffKey.INTERVENTION), str(event.data["id"])
    if opened is None or opened["id"] != number or machine.memory.get(StaffKey.MONITORED) == number:
        return
    machine.record("intervention.seen", state={StaffKey.MONITORED: number}, details={"id": number})
    machine.notice = Notice(code="intervention_opened")


def close_intervention(machine: Machine, event: Event) -> None:
    """Keep what was done and the meters, and give the machine back."""
    values, opened = event.data, machine.memory.get(StaffKey.INTERVENTION)
    counted = collected(machine, opened["id"]) if opened["kind"] == "collection" else {}
    machine.record(
        "intervention.closed",
        transaction_id=f"{opened['id']}.closed",
        state={StaffKey.INTERVENTION: None, f"{IntegrityKey.DISABLED}{HOLD}": None, **counted},
        details={
            "id": opened["id"],
            "work": values["work"],
            "parts": values.get("parts") or "",
            "person": values["person"],
            "persons": list(values["persons"]),
            **_identity(machine),
            "meters": _meters(machine),
        },
    )
    machine.notice = Notice(code="intervention_closed")


def withdraw_base(machine: Machine, event: Event) -> None:
    """The base is taken out of service: its lock and key go to the main cashier (Monaco art. 20.2).

    Until it is back the machine has nowhere for its coins to fall, and is held out of service.
    """
    values, since = event.data, machine.clock.now().isoformat()
    told = {name: values[name] for name in ("base", "lock", "cashier", "reason")}
    machine.record(
        "base.withdrawn",
        state={
            StaffKey.BASE: {"since": since, **told},
            f"{IntegrityKey.DISABLED}{BASE}": {"reason": str(values["reason"]), "since": since},
        },
        details={**told, **_at_work(machine, event)},
    )


def return_base(machine: Machine, event: Event) -> None:
    """A base stands under the machine again, with a lock and key the main cashier has given out."""
    told = {name: event.data[name] for name in ("base", "lock", "cashier")}
    machine.record(
        "base.returned",
        state={StaffKey.BASE: None, f"{IntegrityKey.DISABLED}{BASE}": None},
        details={**told, **_at_work(machine, event)},
    )


def _at_work(machine: Machine, event: Event) -> dict[str, object]:
    """The intervention it belongs to, and who stands behind it."""
    values = event.data
    return {
        "intervention": machine.memory.get(StaffKey.INTERVENTION)["id"],
        "person": values["person"],
        "persons": list(values["persons"]),
        **_identity(machine),
    }


def is_identified(machine: Machine, door: str) -> bool:
    """Whether somebody has said that he would open this door; always, where the place does not ask."""
    staff = machine.profile.staff
    if not staff.identify_before_opening:
        return True
    opened = machine.memory.get(StaffKey.INTERVENTION)
    if opened is None or door not in COVERED[opened["kind"]]:
        return False
    return not staff.monitored_openings or machine.memory.get(StaffKey.MONITORED) == opened["id"]


def _identity(machine: Machine) -> dict[str, object]:
    """Both numbers of the machine, in every record that leaves it (Monaco art. 19.1)."""
    return {"serial": machine.identity.serial, "operator_number": machine.identity.operator_number}


def _meters(machine: Machine) -> dict[str, int]:
    """Every meter that is not zero, but what is counted since some moment."""
    values = machine.journal.meters().values
    return {name: value for name, value in values.items() if value and ".since_" not in name}

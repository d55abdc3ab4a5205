"""Who is about to open the machine, why, what was done: interventions (Monaco arts 20.1-20.3; J-04 to J-07).

An intervention is declared at the service menu by somebody who has proved who he is; while it is open the
machine is held out of service, and the doors it covers may be opened. Where the profile wants openings
identified, any other door, and any door without an intervention, is an event of its own and a tilt; where it
wants them monitored, so is a door opened before the monitoring system has read who is at work (K-13). The
sheet of an intervention is made from the journal's entries alone: see :mod:`egm.staff.sheet`.
"""

from collections.abc import Mapping
from typing import Any, Final

from egm.devices.ioboard.codec import DOORS
from egm.kernel.events import Event
from egm.kernel.machine import Cabinet
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
def no_intervention_is_open(cabinet: Cabinet, _: Event) -> bool:
    """One at a time."""
    return cabinet.memory.get(StaffKey.INTERVENTION) is None


def intervention_is_open(cabinet: Cabinet, event: Event) -> bool:
    """There is one of this kind to end."""
    opened = cabinet.memory.get(StaffKey.INTERVENTION)
    return opened is not None and opened["kind"] == event.data.get("kind")


def somebody_is_at_work(cabinet: Cabinet, _: Event) -> bool:
    """An intervention of any kind is open."""
    return cabinet.memory.get(StaffKey.INTERVENTION) is not None


def base_is_in_place(cabinet: Cabinet, _: Event) -> bool:
    """The base is not withdrawn."""
    return cabinet.memory.get(StaffKey.BASE) is None


def base_is_withdrawn(cabinet: Cabinet, _: Event) -> bool:
    """The base is withdrawn: it can come back."""
    return cabinet.memory.get(StaffKey.BASE) is not None


def every_door_is_closed(cabinet: Cabinet, _: Event) -> bool:
    """No door stands open."""
    return not cabinet.doors_open


# ---------------------------------------------------------------------------------------------- effects
def open_intervention(cabinet: Cabinet, event: Event) -> None:
    """Keep who, when, why and the meters, and hold the machine out of service."""
    values = event.data
    since = cabinet.clock.now().isoformat()
    number = cabinet.fresh_id("intervention")
    told = {key: values[key] for key in ("kind", "reason", "person")} | {"persons": list(values["persons"])}
    cabinet.record(
        "intervention.opened",
        transaction_id=number,
        state={
            StaffKey.INTERVENTION: {"id": number, "since": since, **told},
            f"{IntegrityKey.DISABLED}{HOLD}": {"reason": str(values["reason"]), "since": since},
        },
        details={"id": number, **told, **_identity(cabinet), "meters": _meters(cabinet)},
    )
    about = f"{values['kind']}: {values['reason']} ({values['person']})"
    print_slip(cabinet, "ACCESS", about)
    waits = cabinet.profile.staff.monitored_openings
    cabinet.notice = Notice(code="intervention_announced" if waits else "intervention_opened")


def record_intervention_seen(cabinet: Cabinet, event: Event) -> None:
    """The monitoring system has read who is at work: the doors may be opened. Told again, nothing changes."""
    opened, number = cabinet.memory.get(StaffKey.INTERVENTION), str(event.data["id"])
    if opened is None or opened["id"] != number or cabinet.memory.get(StaffKey.MONITORED) == number:
        return
    cabinet.record("intervention.seen", state={StaffKey.MONITORED: number}, details={"id": number})
    cabinet.notice = Notice(code="intervention_opened")


def close_intervention(cabinet: Cabinet, event: Event) -> None:
    """Keep what was done and the meters, and give the machine back."""
    values, opened = event.data, cabinet.memory.get(StaffKey.INTERVENTION)
    counted = collected(cabinet, opened["id"]) if opened["kind"] == "collection" else {}
    cabinet.record(
        "intervention.closed",
        transaction_id=f"{opened['id']}.closed",
        state={StaffKey.INTERVENTION: None, f"{IntegrityKey.DISABLED}{HOLD}": None, **counted},
        details={
            "id": opened["id"],
            "work": values["work"],
            "parts": values.get("parts") or "",
            "person": values["person"],
            "persons": list(values["persons"]),
            **_identity(cabinet),
            "meters": _meters(cabinet),
        },
    )
    cabinet.notice = Notice(code="intervention_closed")


def withdraw_base(cabinet: Cabinet, event: Event) -> None:
    """The base is taken out of service: its lock and key go to the main cashier (Monaco art. 20.2).

    Until it is back the machine has nowhere for its coins to fall, and is held out of service.
    """
    values, since = event.data, cabinet.clock.now().isoformat()
    told = {name: values[name] for name in ("base", "lock", "cashier", "reason")}
    cabinet.record(
        "base.withdrawn",
        state={
            StaffKey.BASE: {"since": since, **told},
            f"{IntegrityKey.DISABLED}{BASE}": {"reason": str(values["reason"]), "since": since},
        },
        details={**told, **_at_work(cabinet, event)},
    )


def return_base(cabinet: Cabinet, event: Event) -> None:
    """A base stands under the machine again, with a lock and key the main cashier has given out."""
    told = {name: event.data[name] for name in ("base", "lock", "cashier")}
    cabinet.record(
        "base.returned",
        state={StaffKey.BASE: None, f"{IntegrityKey.DISABLED}{BASE}": None},
        details={**told, **_at_work(cabinet, event)},
    )


def _at_work(cabinet: Cabinet, event: Event) -> dict[str, Any]:
    """The intervention it belongs to, and who stands behind it."""
    values = event.data
    return {
        "intervention": cabinet.memory.get(StaffKey.INTERVENTION)["id"],
        "person": values["person"],
        "persons": list(values["persons"]),
        **_identity(cabinet),
    }


def is_identified(cabinet: Cabinet, door: str) -> bool:
    """Whether somebody has said that he would open this door; always, where the place does not ask."""
    staff = cabinet.profile.staff
    if not staff.identify_before_opening:
        return True
    opened = cabinet.memory.get(StaffKey.INTERVENTION)
    if opened is None or door not in COVERED[opened["kind"]]:
        return False
    return not staff.monitored_openings or cabinet.memory.get(StaffKey.MONITORED) == opened["id"]


def _identity(cabinet: Cabinet) -> dict[str, Any]:
    """Both numbers of the machine, in every record that leaves it (Monaco art. 19.1)."""
    return {"serial": cabinet.identity.serial, "operator_number": cabinet.identity.operator_number}


def _meters(cabinet: Cabinet) -> dict[str, int]:
    """Every meter that is not zero, but what is counted since some moment."""
    values = cabinet.journal.meters().values
    return {name: value for name, value in values.items() if value and ".since_" not in name}

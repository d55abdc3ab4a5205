"""Who is about to open the machine, why, what was done: interventions (Monaco arts 20.1-20.3; J-04 to J-07).

An intervention is declared at the service menu by somebody who has proved who he is; while it is open the
machine is held out of service, and the doors it covers may be opened. Where the profile wants openings
identified, any other door, and any door without an intervention, is an event of its own and a tilt. The sheet
of an intervention is made from the journal's entries alone: see :mod:`egm.cabinet.staff.sheet`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from egm.cabinet.cabinet import Cabinet, Key, Occurrence
from egm.devices.ioboard.codec import DOORS
from egm.link.messages import Notice

#: The source that holds the machine out of service meanwhile.
HOLD: Final = "intervention"
#: The fault of a door opened by nobody known.
UNIDENTIFIED: Final = "unidentified_opening"
#: Doors of what holds the house's money, opened at a collection only (Monaco art. 20.1).
_COLLECTED: Final = frozenset({"drop", "cash_box"})
#: Kind of intervention -> the doors it covers.
COVERED: Final[Mapping[str, frozenset[str]]] = {
    "repair": frozenset(DOORS) - _COLLECTED,
    "collection": _COLLECTED | {"main", "stacker", "hopper", "belly"},
}


# ---------------------------------------------------------------------------------------------- guards
def no_intervention_is_open(cabinet: Cabinet, _: Occurrence) -> bool:
    """One at a time."""
    return cabinet.recall(Key.INTERVENTION) is None


def intervention_is_open(cabinet: Cabinet, occurrence: Occurrence) -> bool:
    """There is one of this kind to end."""
    opened = cabinet.recall(Key.INTERVENTION)
    return opened is not None and opened["kind"] == occurrence.values.get("kind")


def every_door_is_closed(cabinet: Cabinet, _: Occurrence) -> bool:
    """No door stands open."""
    return not cabinet.doors_open


# ---------------------------------------------------------------------------------------------- effects
def open_intervention(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Keep who, when, why and the meters, and hold the machine out of service."""
    values = occurrence.values
    since = cabinet.clock.now().isoformat()
    number = f"intervention-{cabinet.journal.sequence + 1}"
    told = {key: values[key] for key in ("kind", "reason", "person")} | {"persons": list(values["persons"])}
    cabinet.record(
        "intervention.opened",
        transaction_id=number,
        state={
            Key.INTERVENTION: {"id": number, "since": since, **told},
            f"{Key.DISABLED}{HOLD}": {"reason": str(values["reason"]), "since": since},
        },
        story={"id": number, **told, **_identity(cabinet), "meters": _meters(cabinet)},
    )
    cabinet.notice = Notice(code="intervention_opened")


def close_intervention(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Keep what was done and the meters, and give the machine back."""
    values, opened = occurrence.values, cabinet.recall(Key.INTERVENTION)
    cabinet.record(
        "intervention.closed",
        transaction_id=f"{opened['id']}.closed",
        state={Key.INTERVENTION: None, f"{Key.DISABLED}{HOLD}": None},
        story={
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


def is_identified(cabinet: Cabinet, door: str) -> bool:
    """Whether somebody has said that he would open this door; always, where the place does not ask."""
    if not cabinet.profile.staff.identify_before_opening:
        return True
    opened = cabinet.recall(Key.INTERVENTION)
    return opened is not None and door in COVERED[opened["kind"]]


def _identity(cabinet: Cabinet) -> dict[str, Any]:
    """Both numbers of the machine, in every record that leaves it (Monaco art. 19.1)."""
    return {"serial": cabinet.identity.serial, "operator_number": cabinet.identity.operator_number}


def _meters(cabinet: Cabinet) -> dict[str, int]:
    """Every meter that is not zero, but what is counted since some moment."""
    values = cabinet.journal.meters().values
    return {name: value for name, value in values.items() if value and ".since_" not in name}


GUARDS: Final[Sequence[Callable[[Cabinet, Occurrence], bool]]] = (
    no_intervention_is_open,
    intervention_is_open,
    every_door_is_closed,
)
EFFECTS: Final[Sequence[Callable[[Cabinet, Occurrence], None]]] = (open_intervention, close_intervention)

"""Doors, faults, keys and the machine's own health: what stops play, and who starts it again."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from egm.cabinet import ticket_ledger
from egm.cabinet.cabinet import Cabinet, Instead, Key, Occurrence
from egm.cabinet.faults import fault
from egm.cabinet.slips import AUDITED, print_slip
from egm.cabinet.staff.interventions import OPENINGS, UNIDENTIFIED, is_identified
from egm.cabinet.states import Event
from egm.link.messages import Notice
from meters import Mark
from rng import ReseedNotAllowed, RngError


# ---------------------------------------------------------------------------------------------- guards
def language_is_offered(cabinet: Cabinet, occurrence: Occurrence) -> bool:
    """A language of the profile."""
    return occurrence.values.get("value") in cabinet.profile.languages


def has_failed(cabinet: Cabinet, _: Occurrence) -> bool:
    """A self-test or the generator failed: not merely held out of service by somebody."""
    return cabinet.recall(Key.OUT_OF_SERVICE) is not None


# ---------------------------------------------------------------------------------------------- coming up
def record_power_up(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Count the boot, and keep what is running; the first position speaks for the machine."""
    if cabinet.position.number > 1:
        return
    boots = int(cabinet.recall(Key.BOOTS) or 0) + 1
    cabinet.record(
        "power.up",
        transaction_id=f"power-up-{boots}",
        counts={"power_resets": 1},
        marks=(Mark.POWER_UP,),
        state={Key.BOOTS: boots},
        story=dict(occurrence.values),
    )


def record_self_test(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Keep what was tested. A pass lifts what an earlier self-test had stopped, never a failure of chance."""
    if cabinet.credit_cents and cabinet.recall(Key.GAME) is None:
        cabinet.notice = Notice(code="restarted")
    if cabinet.position.number > 1:
        return
    stopped = cabinet.recall(Key.OUT_OF_SERVICE)
    lifted: dict[str, Any] = (
        {Key.OUT_OF_SERVICE: None} if stopped is not None and stopped["cause"] == "self_test" else {}
    )
    cabinet.record("self_test.passed", state=lifted, story=dict(occurrence.values))


def take_out_of_service(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Stop offering games. Credits stay the player's, and can be cashed out."""
    entry = {
        "cause": occurrence.event.value.removesuffix("_failed"),
        "detail": occurrence.values.get("detail", ""),
    }
    cabinet.record(f"{entry['cause']}.failed", state={Key.OUT_OF_SERVICE: entry}, story=entry)


def record_disabled(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """A host, a link or an operator takes the machine out of service; credits can still be cashed out.

    Each ``source`` holds the machine on its own account, so that one cannot release what another holds; it
    stays held over a power cut. A repeat changes nothing.
    """
    source = str(occurrence.values["source"])
    if source in cabinet.disabled:
        return
    held = {"reason": str(occurrence.values["reason"]), "since": cabinet.clock.now().isoformat()}
    cabinet.record(
        "service.disabled", state={f"{Key.DISABLED}{source}": held}, story={"source": source, **held}
    )


def record_enabled(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """The same source gives the machine back."""
    source = str(occurrence.values["source"])
    if source in cabinet.disabled:
        cabinet.record(
            "service.enabled", state={f"{Key.DISABLED}{source}": None}, story=dict(occurrence.values)
        )


# ---------------------------------------------------------------------------------------------- doors
def record_door_opened(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Remember the door as open, and count it; a repeat changes nothing.

    Whoever was at the logic, with the power on or off, is asked about: the machine stays locked when the door
    is closed again, until an attendant has looked (NZ 1.18.2; Annex E).
    """
    door = str(occurrence.values["door"])
    if door in cabinet.doors_open:
        return
    while_off = bool(occurrence.values.get("unattended"))
    # What locks the machine first: after a power cut in between the door is reported anew, the lock is not.
    if door == "logic":
        record_fault(cabinet, Occurrence(occurrence.event, {"code": "logic_access"}))
    if not is_identified(cabinet, door):
        record_fault(cabinet, Occurrence(occurrence.event, {"code": UNIDENTIFIED, "detail": door}))
    cabinet.record(
        "door.opened_while_off" if while_off else "door.opened",
        counts={f"door.{door}.opens": 1},
        state={f"{Key.DOOR}{door}": {"since": cabinet.clock.now().isoformat()}},
        story=dict(occurrence.values),
    )
    if door in AUDITED:
        print_slip(cabinet, "AUDIT", f"{door} {'opened while off' if while_off else 'opened'}")


def record_door_closed(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Remember the door as closed."""
    door = str(occurrence.values["door"])
    if door not in cabinet.doors_open:
        return
    cabinet.record(
        "door.closed",
        marks=(Mark.DOOR_CLOSE,),
        state={f"{Key.DOOR}{door}": None},
        story=dict(occurrence.values),
    )
    cabinet.notice = Notice(code="door_closed", values={"door": door})
    if cabinet.desk is not None:
        note_ticket_ledger(cabinet, ticket_ledger.hold_against(cabinet))
    _reseed(cabinet, "door_closed")


def _reseed(cabinet: Cabinet, reason: str) -> None:
    """Take fresh entropy, where the profile wants it for this reason."""
    if cabinet.chance is None or cabinet.recall(Key.OUT_OF_SERVICE) is not None:
        return
    try:
        cabinet.chance.reseed(reason)
    except ReseedNotAllowed:
        return
    except RngError as error:
        raise Instead(Occurrence(Event.CHANCE_FAILED, {"detail": str(error)})) from error


# ---------------------------------------------------------------------------------------------- faults
def record_fault(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Remember a fault until it is cleared; a repeat changes nothing."""
    code = str(occurrence.values["code"])
    if code in cabinet.faults:
        return
    if code in OPENINGS and not is_identified(cabinet, OPENINGS[code]):
        record_fault(cabinet, Occurrence(occurrence.event, {"code": UNIDENTIFIED, "detail": OPENINGS[code]}))
    properties = fault(code)
    cabinet.record(
        "fault.raised",
        counts={f"fault.{code}": 1},
        state={
            f"{Key.FAULT}{code}": {
                "since": cabinet.clock.now().isoformat(),
                "locks": properties.locks,
                "cleared_by": properties.cleared_by,
                "detail": str(occurrence.values.get("detail", "")),
            }
        },
        story=dict(occurrence.values),
    )


def record_fault_cleared(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """The cause has gone. A fault that a person must clear stays."""
    code = str(occurrence.values["code"])
    standing_fault = cabinet.faults.get(code)
    if standing_fault is None or standing_fault["cleared_by"] != "self":
        return
    cabinet.record("fault.cleared", state={f"{Key.FAULT}{code}": None}, story=dict(occurrence.values))
    if standing_fault["locks"]:
        cabinet.notice = Notice(code="fault_cleared")


def note_ticket_ledger(cabinet: Cabinet, why: str) -> None:
    """Stop tickets, or let them go on, by whether their ledger can be trusted."""
    values = {"code": ticket_ledger.FAULT, "detail": why}
    if why:
        record_fault(cabinet, Occurrence(Event.FAULT_RAISED, values))
    else:
        record_fault_cleared(cabinet, Occurrence(Event.FAULT_CLEARED, values))


def clear_tilts(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """The attendant clears what an attendant may clear."""
    clearable = [code for code, entry in cabinet.faults.items() if entry["cleared_by"] == "attendant"]
    if not clearable:
        cabinet.notice = Notice(code="not_yours_to_clear", severity="warning")
        return
    cabinet.record(
        "tilt.cleared",
        state={f"{Key.FAULT}{code}": None for code in clearable},
        story={"codes": clearable, "person": cabinet.who(occurrence)},
    )
    cabinet.notice = Notice(code="fault_cleared")


# ---------------------------------------------------------------------------------------------- people
def set_language(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Speak the player's language."""
    cabinet.select(language=str(occurrence.values["value"]))


def call_service(cabinet: Cabinet, _: Occurrence) -> None:
    """Light the candle; pressed again, put it out."""
    calling = cabinet.recall(Key.SERVICE) is not None
    cabinet.record("service.call", state={Key.SERVICE: None if calling else True}, story={"on": not calling})


def answer_service_call(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """The attendant has come."""
    if cabinet.recall(Key.SERVICE) is not None:
        cabinet.record("service.answered", state={Key.SERVICE: None}, story=dict(occurrence.values))


def restart_generator(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Instantiate the generator anew, under authority: the only way back from a failure of chance."""
    try:
        cabinet.chance = cabinet.restart_chance()
    except RngError as error:
        cabinet.notice = Notice(code="chance_still_fails", severity="alarm", values={"detail": str(error)})
        return
    cabinet.record(
        "chance.restarted",
        state={Key.OUT_OF_SERVICE: None},
        story={"person": cabinet.who(occurrence)},
    )


GUARDS: Final[Sequence[Callable[[Cabinet, Occurrence], bool]]] = (language_is_offered, has_failed)
EFFECTS: Final[Sequence[Callable[[Cabinet, Occurrence], None]]] = (
    record_power_up,
    record_self_test,
    take_out_of_service,
    record_disabled,
    record_enabled,
    record_door_opened,
    record_door_closed,
    record_fault,
    record_fault_cleared,
    clear_tilts,
    set_language,
    call_service,
    answer_service_call,
    restart_generator,
)

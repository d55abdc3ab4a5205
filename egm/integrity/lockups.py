"""Doors, faults, keys and the machine's own health: what stops play, and who starts it again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from egm.kernel.events import Event, EventType, SupersededBy
from egm.kernel.faults import fault
from egm.kernel.machine import Cabinet, Key
from egm.kernel.messages import Notice
from egm.money import ticket_ledger
from egm.staff.interventions import OPENINGS, UNIDENTIFIED, is_identified
from egm.staff.service.desk import who
from egm.staff.slips import AUDITED, print_slip
from egm.tickets.desk import TicketDesk
from meters import Mark
from rng import RandomService, ReseedNotAllowed, RngError

CABINET_FILE: Final = "cabinet_file"
"""Not all that the cabinet file names is offered."""


# ---------------------------------------------------------------------------------------------- guards
def language_is_offered(cabinet: Cabinet, event: Event) -> bool:
    """A language of the profile."""
    return event.data.get("value") in cabinet.profile.languages


def has_failed(cabinet: Cabinet, _: Event) -> bool:
    """A self-test or the generator failed: not merely held out of service by somebody."""
    return cabinet.memory.get(Key.OUT_OF_SERVICE) is not None


# ---------------------------------------------------------------------------------------------- coming up
def record_power_up(cabinet: Cabinet, event: Event) -> None:
    """Count the boot, and keep what is running; the first position speaks for the machine."""
    if cabinet.position.number > 1:
        return
    boots = int(cabinet.memory.get(Key.BOOTS) or 0) + 1
    cabinet.record(
        "power.up",
        transaction_id=f"power-up-{boots}",
        counts={"power_resets": 1},
        marks=(Mark.POWER_UP,),
        state={Key.BOOTS: boots},
        details=dict(event.data),
    )


def record_self_test(cabinet: Cabinet, event: Event) -> None:
    """Keep what was tested. A pass lifts what an earlier self-test had stopped, never a failure of chance."""
    if cabinet.credit_cents and cabinet.memory.get(Key.GAME) is None:
        cabinet.notice = Notice(code="restarted")
    if cabinet.position.number > 1:
        return
    stopped = cabinet.memory.get(Key.OUT_OF_SERVICE)
    lifted: dict[str, Any] = (
        {Key.OUT_OF_SERVICE: None} if stopped is not None and stopped["cause"] == "self_test" else {}
    )
    cabinet.record("self_test.passed", state=lifted, details=dict(event.data))


def take_out_of_service(cabinet: Cabinet, event: Event) -> None:
    """Stop offering games. Credits stay the player's, and can be cashed out."""
    entry = {
        "cause": event.type.value.removesuffix("_failed"),
        "detail": event.data.get("detail", ""),
    }
    cabinet.record(f"{entry['cause']}.failed", state={Key.OUT_OF_SERVICE: entry}, details=entry)


def disabled_by(cabinet: Cabinet) -> dict[str, Any]:
    """Who has taken the machine out of service, and why: source -> its reason and since when."""
    states = sorted(cabinet.journal.states(Key.DISABLED).items())
    return {key.removeprefix(Key.DISABLED): held for key, held in states}


def record_disabled(cabinet: Cabinet, event: Event) -> None:
    """A host, a link or an operator takes the machine out of service; credits can still be cashed out.

    Each ``source`` holds the machine on its own account, so that one cannot release what another holds; it
    stays held over a power cut. A repeat changes nothing.
    """
    source = str(event.data["source"])
    if source in disabled_by(cabinet):
        return
    held = {"reason": str(event.data["reason"]), "since": cabinet.clock.now().isoformat()}
    cabinet.record(
        "service.disabled", state={f"{Key.DISABLED}{source}": held}, details={"source": source, **held}
    )


def record_enabled(cabinet: Cabinet, event: Event) -> None:
    """The same source gives the machine back."""
    source = str(event.data["source"])
    if source in disabled_by(cabinet):
        cabinet.record("service.enabled", state={f"{Key.DISABLED}{source}": None}, details=dict(event.data))


# ---------------------------------------------------------------------------------------------- doors
def record_door_opened(cabinet: Cabinet, event: Event) -> None:
    """Remember the door as open, and count it; a repeat changes nothing.

    Whoever was at the logic, with the power on or off, is asked about: the machine stays locked when the door
    is closed again, until an attendant has looked (NZ 1.18.2; Annex E).
    """
    door = str(event.data["door"])
    if door in cabinet.doors_open:
        return
    while_off = bool(event.data.get("unattended"))
    # What locks the machine first: after a power cut in between the door is reported anew, the lock is not.
    if door == "logic":
        record_fault(cabinet, Event(event.type, {"code": "logic_access"}))
    if not is_identified(cabinet, door):
        record_fault(cabinet, Event(event.type, {"code": UNIDENTIFIED, "detail": door}))
    cabinet.record(
        "door.opened_while_off" if while_off else "door.opened",
        counts={f"door.{door}.opens": 1},
        state={f"{Key.DOOR}{door}": {"since": cabinet.clock.now().isoformat()}},
        details=dict(event.data),
    )
    if door in AUDITED:
        print_slip(cabinet, "AUDIT", f"{door} {'opened while off' if while_off else 'opened'}")


def record_door_closed(cabinet: Cabinet, event: Event) -> None:
    """Remember the door as closed."""
    door = str(event.data["door"])
    if door not in cabinet.doors_open:
        return
    cabinet.record(
        "door.closed",
        marks=(Mark.DOOR_CLOSE,),
        state={f"{Key.DOOR}{door}": None},
        details=dict(event.data),
    )
    if not cabinet.doors_open:
        cabinet.notice = Notice(code="door_closed", values={"door": door})
    if cabinet.installed(TicketDesk) is not None:
        note_ticket_ledger(cabinet, ticket_ledger.hold_against(cabinet))
    _reseed(cabinet, "door_closed")


def _reseed(cabinet: Cabinet, reason: str) -> None:
    """Take fresh entropy, where the profile wants it for this reason."""
    if cabinet.chance is None or cabinet.memory.get(Key.OUT_OF_SERVICE) is not None:
        return
    try:
        cabinet.chance.reseed(reason)
    except ReseedNotAllowed:
        return
    except RngError as error:
        raise SupersededBy(Event(EventType.CHANCE_FAILED, {"detail": str(error)})) from error


# ---------------------------------------------------------------------------------------------- faults
def record_fault(cabinet: Cabinet, event: Event) -> None:
    """Remember a fault until it is cleared; a repeat changes nothing."""
    code = str(event.data["code"])
    if code in cabinet.faults:
        return
    if code in OPENINGS and not is_identified(cabinet, OPENINGS[code]):
        record_fault(cabinet, Event(event.type, {"code": UNIDENTIFIED, "detail": OPENINGS[code]}))
    properties = fault(code)
    cabinet.record(
        "fault.raised",
        counts={f"fault.{code}": 1},
        state={
            f"{Key.FAULT}{code}": {
                "since": cabinet.clock.now().isoformat(),
                "locks": properties.locks,
                "cleared_by": properties.cleared_by,
                "detail": str(event.data.get("detail", "")),
            }
        },
        details=dict(event.data),
    )


def record_fault_cleared(cabinet: Cabinet, event: Event) -> None:
    """The cause has gone. A fault that a person must clear stays."""
    code = str(event.data["code"])
    standing_fault = cabinet.faults.get(code)
    if standing_fault is None or standing_fault["cleared_by"] != "self":
        return
    cabinet.record("fault.cleared", state={f"{Key.FAULT}{code}": None}, details=dict(event.data))
    if standing_fault["locks"]:
        cabinet.notice = Notice(code="fault_cleared")


def note_ticket_ledger(cabinet: Cabinet, why: str) -> None:
    """Stop tickets, or let them go on, by whether their ledger can be trusted."""
    _note(cabinet, ticket_ledger.FAULT, why)


def note_cabinet_file(cabinet: Cabinet, why: str) -> None:
    """Tell staff that the machine does not offer all that its cabinet file names, or that it does now."""
    standing = cabinet.faults.get(CABINET_FILE)
    if standing is not None and standing["detail"] != why:
        _note(cabinet, CABINET_FILE, "")
    _note(cabinet, CABINET_FILE, why)


def _note(cabinet: Cabinet, code: str, why: str) -> None:
    values = {"code": code, "detail": why}
    if why:
        record_fault(cabinet, Event(EventType.FAULT_RAISED, values))
    else:
        record_fault_cleared(cabinet, Event(EventType.FAULT_CLEARED, values))


def clear_tilts(cabinet: Cabinet, event: Event) -> None:
    """The attendant clears what an attendant may clear."""
    clearable = [code for code, entry in cabinet.faults.items() if entry["cleared_by"] == "attendant"]
    if not clearable:
        cabinet.notice = Notice(code="not_yours_to_clear", severity="warning")
        return
    cabinet.record(
        "tilt.cleared",
        state={f"{Key.FAULT}{code}": None for code in clearable},
        details={"codes": clearable, "person": who(cabinet, event)},
    )
    cabinet.notice = Notice(code="fault_cleared")


# ---------------------------------------------------------------------------------------------- people
def set_language(cabinet: Cabinet, event: Event) -> None:
    """Speak the player's language."""
    cabinet.select(language=str(event.data["value"]))


def call_service(cabinet: Cabinet, _: Event) -> None:
    """Light the candle; pressed again, put it out."""
    calling = cabinet.memory.get(Key.SERVICE) is not None
    cabinet.record(
        "service.call", state={Key.SERVICE: None if calling else True}, details={"on": not calling}
    )


def answer_service_call(cabinet: Cabinet, event: Event) -> None:
    """The attendant has come."""
    if cabinet.memory.get(Key.SERVICE) is not None:
        cabinet.record("service.answered", state={Key.SERVICE: None}, details=dict(event.data))


@dataclass(frozen=True, slots=True)
class GeneratorStart:
    """How a new generator is instantiated; raises RngError where it fails its tests again."""

    start: Callable[[], RandomService]


def restart_generator(cabinet: Cabinet, event: Event) -> None:
    """Instantiate the generator anew, under authority: the only way back from a failure of chance."""
    try:
        cabinet.chance = cabinet.state(GeneratorStart).start()
    except RngError as error:
        cabinet.notice = Notice(code="chance_still_fails", severity="alarm", values={"detail": str(error)})
        return
    cabinet.record(
        "chance.restarted",
        state={Key.OUT_OF_SERVICE: None},
        details={"person": who(cabinet, event)},
    )

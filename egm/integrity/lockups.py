"""Lock-ups: doors, faults, a failed self-test or generator; what stops play, and who starts it again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from egm.kernel.events import Event, EventType, SupersededBy
from egm.kernel.faults import fault
from egm.kernel.keys import KernelKey
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.kernel.standing_faults import clear_fault, raise_fault
from egm.records.held_money import held_values
from egm.records.keys import IntegrityKey, PlayKey
from egm.records.residual import changed_terms
from egm.staff.interventions import OPENINGS, UNIDENTIFIED, is_identified
from egm.staff.service.desk import who
from egm.staff.service_calls import answer_service_call
from egm.staff.slips import AUDITED, print_slip
from meters import Mark
from rng import RandomService, ReseedNotAllowed, RngError


# ---------------------------------------------------------------------------------------------- guards
def door_was_open(machine: Machine, event: Event) -> bool:
    """The door stands open in memory; a repeat changes nothing."""
    return event.data["door"] in machine.doors_open


def has_failed(machine: Machine, _: Event) -> bool:
    """A self-test or the generator failed: not merely held out of service by somebody."""
    return machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None


# ---------------------------------------------------------------------------------------------- coming up
def record_power_up(machine: Machine, event: Event) -> None:
    """Count the boot, and record what is running and the venue's gaming day; once for all positions.

    Each position records the terms of its residual credit when they have changed.
    """
    terms = changed_terms(machine)
    if machine.position.number > 1:
        if terms:
            machine.record("residual.terms", state=terms)
        return
    boots = int(machine.memory.get(IntegrityKey.BOOTS) or 0) + 1
    machine.record(
        "power.up",
        transaction_id=f"power-up-{boots}",
        counts={"power_resets": 1},
        marks=(Mark.POWER_UP,),
        state={IntegrityKey.BOOTS: boots, **terms},
        details={
            **event.data,
            "time_zone": machine.identity.house.time_zone,
            "day_ends_hour": machine.identity.day_ends_hour,
        },
    )


def record_self_test(machine: Machine, event: Event) -> None:
    """Keep what was tested. A pass lifts what an earlier self-test had stopped, never a failure of chance."""
    if machine.credit_cents and machine.memory.get(PlayKey.GAME) is None:
        machine.notice = Notice(code="restarted")
    if machine.position.number > 1:
        return
    stopped = machine.memory.get(IntegrityKey.OUT_OF_SERVICE)
    lifted: dict[str, object] = (
        {IntegrityKey.OUT_OF_SERVICE: None} if stopped is not None and stopped["cause"] == "self_test" else {}
    )
    machine.record("self_test.passed", state=lifted, details=dict(event.data))


def take_out_of_service(machine: Machine, event: Event) -> None:
    """Stop offering games. Credits stay the player's, and can be cashed out."""
    entry = {
        "cause": event.type.value.removesuffix("_failed"),
        "detail": event.data.get("detail", ""),
    }
    machine.record(f"{entry['cause']}.failed", state={IntegrityKey.OUT_OF_SERVICE: entry}, details=entry)


def disabled_by(machine: Machine) -> dict[str, object]:
    """Who has taken the machine out of service, and why: source -> its reason and since when."""
    states = sorted(machine.journal.states(IntegrityKey.DISABLED).items())
    return {key.removeprefix(IntegrityKey.DISABLED): held for key, held in states}


def record_disabled(machine: Machine, event: Event) -> None:
    """A host, a link or an operator takes the machine out of service; credits can still be cashed out.

    Each ``source`` holds the machine on its own account, so that one cannot release what another holds; it
    stays held over a power cut. A repeat changes nothing.
    """
    source = str(event.data["source"])
    if source in disabled_by(machine):
        return
    held = {"reason": str(event.data["reason"]), "since": machine.clock.now().isoformat()}
    machine.record(
        "service.disabled",
        state={f"{IntegrityKey.DISABLED}{source}": held},
        details={"source": source, **held},
    )


def record_enabled(machine: Machine, event: Event) -> None:
    """The same source gives the machine back."""
    source = str(event.data["source"])
    if source in disabled_by(machine):
        machine.record(
            "service.enabled", state={f"{IntegrityKey.DISABLED}{source}": None}, details=dict(event.data)
        )


# ---------------------------------------------------------------------------------------------- doors
def record_door_opened(machine: Machine, event: Event) -> None:
    """Remember the door as open, and count it; a repeat changes nothing.

    Whoever was at the logic, with the power on or off, is asked about: the machine stays locked when the door
    is closed again, until an attendant has looked (NZ 1.18.2; Annex E).
    """
    door = str(event.data["door"])
    if door in machine.doors_open:
        return
    while_off = bool(event.data.get("unattended"))
    # What locks the machine first: after a power cut in between the door is reported anew, the lock is not.
    if door == "logic":
        raise_fault(machine, "logic_access")
    if not is_identified(machine, door):
        raise_fault(machine, UNIDENTIFIED, detail=door)
    machine.record(
        "door.opened_while_off" if while_off else "door.opened",
        counts={f"door.{door}.opens": 1},
        state={f"{KernelKey.DOOR}{door}": {"since": machine.clock.now().isoformat()}},
        details=dict(event.data),
    )
    if door in AUDITED:
        print_slip(machine, "AUDIT", f"{door} {'opened while off' if while_off else 'opened'}")


def record_door_closed(machine: Machine, event: Event) -> None:
    """Remember the door as closed."""
    door = str(event.data["door"])
    machine.record(
        "door.closed",
        marks=(Mark.DOOR_CLOSE,),
        state={f"{KernelKey.DOOR}{door}": None},
        details=dict(event.data),
    )
    if not machine.doors_open:
        machine.notice = Notice(code="door_closed", values={"door": door})


def reseed(machine: Machine, _: Event) -> None:
    """A door is closed: take fresh entropy, where the profile wants it then."""
    if machine.chance is None or machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None:
        return
    try:
        machine.chance.reseed("door_closed")
    except ReseedNotAllowed:
        return
    except RngError as error:
        raise SupersededBy(Event(EventType.CHANCE_FAILED, {"detail": str(error)})) from error


# ---------------------------------------------------------------------------------------------- faults
#: Notices that have said already what became of a paper in the acceptor.
_MONEY_IS_SAID: Final = frozenset({"bill_accepted", "bill_returned", "ticket_accepted", "ticket_returned"})


def record_fault(machine: Machine, event: Event) -> None:
    """Remember a fault until it is cleared; one by which a device says that it is open is an opening."""
    code = str(event.data["code"])
    if code in OPENINGS and code not in machine.faults and not is_identified(machine, OPENINGS[code]):
        raise_fault(machine, UNIDENTIFIED, detail=OPENINGS[code])
    is_new = code not in machine.faults
    raise_fault(machine, **event.data)
    if is_new and held_values(machine, code):
        machine.notice = None  # what was said before is not about the money that is held now


def record_fault_cleared(machine: Machine, event: Event) -> None:
    """The cause has gone. A fault that a person must clear stays; one that held money has its last word."""
    code = str(event.data["code"])
    stood, held = code in machine.faults, held_values(machine, code)
    clear_fault(machine, **event.data)
    is_over = stood and code not in machine.faults and not fault(code).locks
    said = None if machine.notice is None else machine.notice.code
    if is_over and held and said not in _MONEY_IS_SAID:
        notice_code = "held_over_amount" if "amount_cents" in held else "held_over"
        machine.notice = Notice(code=notice_code, values=held)


def clear_tilts(machine: Machine, event: Event) -> None:
    """The attendant clears what an attendant may clear."""
    clearable = [code for code, entry in machine.faults.items() if entry["cleared_by"] == "attendant"]
    if not clearable:
        machine.notice = Notice(code="not_yours_to_clear", severity="warning")
        return
    answer_service_call(machine, event)
    machine.record(
        "tilt.cleared",
        state={f"{KernelKey.FAULT}{code}": None for code in clearable},
        details={"codes": clearable, "person": who(machine, event)},
    )
    machine.notice = Notice(code="fault_cleared")


# ---------------------------------------------------------------------------------------------- the generator
@dataclass(frozen=True, slots=True)
class GeneratorStart:
    """How a new generator is instantiated; raises RngError where it fails its tests again."""

    start: Callable[[], RandomService]


def restart_generator(machine: Machine, event: Event) -> None:
    """Instantiate the generator anew, under authority: the only way back from a failure of chance."""
    try:
        machine.chance = machine.state(GeneratorStart).start()
    except RngError as error:
        machine.notice = Notice(code="chance_still_fails", severity="alarm", values={"detail": str(error)})
        return
    machine.record(
        "chance.restarted",
        state={IntegrityKey.OUT_OF_SERVICE: None},
        details={"person": who(machine, event)},
    )

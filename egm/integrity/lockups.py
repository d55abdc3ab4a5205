"""Lock-ups: doors, faults, and a failed self-test or generator stop play until their cause ends or staff act."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from egm.errors import LocalError
from egm.integrity.entries import (
    DOOR_CLOSED,
    DOOR_OPENED,
    DOOR_OPENED_WHILE_OFF,
    GENERATOR_FAILED,
    GENERATOR_RESTARTED,
    MACHINE_DISABLED,
    MACHINE_ENABLED,
    POWER_UP,
    RESIDUAL_CREDIT_TERMS,
    SELF_TEST_FAILED,
    SELF_TEST_PASSED,
    TILT_CLEARED,
    DoorOpenedOrClosed,
    GeneratorRestarted,
    MachineDisabled,
    MachineEnabled,
    OutOfServiceRecord,
    PowerUp,
    SelfTestPassed,
    TiltCleared,
)
from egm.integrity.events import (
    DisablingRequest,
    DoorChange,
    EnablingRequest,
    FailureDetail,
    MemoryReady,
    SelfTestSuccess,
)
from egm.integrity.keys import IntegrityKey
from egm.integrity.records import DisablingRecord
from egm.kernel.active_faults import clear_fault, raise_fault
from egm.kernel.events import Event, EventReplacement, EventType, FaultChange
from egm.kernel.faults import get_fault_definition
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.own_entries import OpenDoor
from egm.kernel.rules import refusal_code
from egm.money.records.held_money import build_held_money_values
from egm.play.keys import PlayKey
from egm.play.records.residual_terms import build_residual_terms_change
from egm.staff.desk import find_actor
from egm.staff.interventions import DOOR_BY_DEVICE_FAULT, UNIDENTIFIED_OPENING_FAULT, is_opening_identified
from egm.staff.service_calls import answer_service_call
from egm.staff.slips import print_door_slip
from rng import RandomService, ReseedNotAllowed, RngError


# ---------------------------------------------------------------------------------------------- guards
def door_was_open(machine: PositionMachine, event: Event) -> bool:
    """Return whether the door named in the event is recorded as open.

    If it is not, the report that the door was closed changes nothing.
    """
    return event.read_payload(DoorChange).door in machine.open_doors


@refusal_code("has_failed")
def self_test_or_generator_has_failed(machine: PositionMachine, _: Event) -> bool:
    """Return whether the machine is out of service because its self-test or random number generator failed.

    Being disabled by a host or operator does not count.
    """
    return machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None


# ---------------------------------------------------------------------------------------------- start-up
def record_power_up(machine: PositionMachine, event: Event) -> None:
    """Record that the machine has started: number of the start, software release, venue's gaming day, currency.

    Position 1 records this for the machine. Each position records the terms of its residual credit (what
    happens to credit too small to be played) if they have changed.
    """
    state = build_residual_terms_change(machine)
    if machine.position.number > 1:
        if state:
            machine.post(RESIDUAL_CREDIT_TERMS, state=state)
        return
    start_up = event.read_payload(MemoryReady)
    start_count = int(machine.memory.get(IntegrityKey.BOOT_COUNT) or 0) + 1
    currency = machine.profile.currency
    if machine.memory.get(IntegrityKey.CURRENCY) != currency:
        state[IntegrityKey.CURRENCY] = currency
    machine.post(
        POWER_UP,
        PowerUp(
            version=start_up.version,
            profile=start_up.profile,
            time_zone=machine.identity.venue.time_zone,
            day_ends_hour=machine.identity.gaming_day_end_hour,
        ),
        entry_id=f"power-up-{start_count}",
        state={IntegrityKey.BOOT_COUNT: start_count, **state},
    )


def record_self_test(machine: PositionMachine, event: Event) -> None:
    """Record a passed self-test.

    If the machine was out of service because of a failed self-test, it returns to service; after a failure of the
    generator it does not. Position 1 records the test for the machine. At each position that has credit and no open
    game, a notice says that the machine was restarted.
    """
    if machine.credit_cents and machine.memory.get(PlayKey.GAME) is None:
        machine.notice = Notice(code="restarted")
    if machine.position.number > 1:
        return
    out_of_service = machine.memory.get(IntegrityKey.OUT_OF_SERVICE)
    state: dict[str, object] = (
        {IntegrityKey.OUT_OF_SERVICE: None}
        if out_of_service is not None and out_of_service["cause"] == "self_test"
        else {}
    )
    machine.post(
        SELF_TEST_PASSED, SelfTestPassed(games=event.read_payload(SelfTestSuccess).games), state=state
    )


def take_out_of_service(machine: PositionMachine, event: Event) -> None:
    """Take the machine out of service after a failed self-test or generator: no game is offered.

    The credits stay the player's and can be cashed out.
    """
    detail = event.read_payload(FailureDetail).detail
    if event.name is EventType.GENERATOR_FAILED:
        declaration, out_of_service = GENERATOR_FAILED, OutOfServiceRecord(cause="chance", detail=detail)
    else:
        declaration, out_of_service = SELF_TEST_FAILED, OutOfServiceRecord(cause="self_test", detail=detail)
    machine.post(declaration, out_of_service, state={IntegrityKey.OUT_OF_SERVICE: out_of_service})


def list_disabling_sources(machine: PositionMachine) -> dict[str, object]:
    """Return which hosts, links or operator functions disable the machine, by name.

    Each value is the stored record of the reason and the time.
    """
    states = sorted(machine.journal.states(IntegrityKey.DISABLING_RECORD).items())
    return {key.removeprefix(IntegrityKey.DISABLING_RECORD): record for key, record in states}


def disable_for_source(machine: PositionMachine, event: Event) -> None:
    """Disable the machine for a host, a link or an operator; credits can still be cashed out.

    Each ``source`` disables the machine separately, so that one cannot enable what another has disabled; this
    survives a power loss. A repeat changes nothing.
    """
    request = event.read_payload(DisablingRequest)
    if request.source in list_disabling_sources(machine):
        return
    record = DisablingRecord(reason=request.reason, disabled_at=machine.clock.now().isoformat())
    machine.post(
        MACHINE_DISABLED,
        MachineDisabled(source=request.source, reason=record.reason, disabled_at=record.disabled_at),
        state={f"{IntegrityKey.DISABLING_RECORD}{request.source}": record},
    )


def enable_for_source(machine: PositionMachine, event: Event) -> None:
    """Record that the source named in the event no longer disables the machine.

    Other sources may still do so. A repeat changes nothing.
    """
    request = event.read_payload(EnablingRequest)
    if request.source not in list_disabling_sources(machine):
        return
    machine.post(
        MACHINE_ENABLED,
        MachineEnabled(
            source=request.source,
            reason=request.reason,
            form=request.form_id,
            person=request.person,
            persons=request.persons or None,
        ),
        state={f"{IntegrityKey.DISABLING_RECORD}{request.source}": None},
    )


# ---------------------------------------------------------------------------------------------- doors
def record_door_opened(machine: PositionMachine, event: Event) -> None:
    """Record and count that a door was opened; if it is recorded as open already, do nothing.

    After access to the logic area, with the power on or off, the machine stays locked when the door is closed
    again, until a technician has cleared the fault (NZ 1.18.2; Annex E). If nobody has declared work behind the door, a
    fault reports the unidentified opening. If the machine prints slips for this door, one is printed.
    """
    change = event.read_payload(DoorChange)
    door = change.door
    if door in machine.open_doors:
        return
    # Raise the faults before recording the door. If the power fails between these entries, the I/O board reports the
    # door again, and this function runs again. In the other order, the door would already count as open, and the
    # faults would never be raised.
    if door == "logic":
        raise_fault(machine, "logic_access")
    if not is_opening_identified(machine, door):
        raise_fault(machine, UNIDENTIFIED_OPENING_FAULT, detail=door)
    machine.post(
        DOOR_OPENED_WHILE_OFF if change.was_unobserved else DOOR_OPENED,
        DoorOpenedOrClosed(door=door, was_unobserved=change.was_unobserved),
        counts={f"door.{door}.opens": 1},
        state={f"{KernelKey.DOOR}{door}": OpenDoor(opened_at=machine.clock.now().isoformat())},
    )
    print_door_slip(machine, door, was_unobserved=bool(change.was_unobserved))


def record_door_closed(machine: PositionMachine, event: Event) -> None:
    """Record that a door was closed."""
    change = event.read_payload(DoorChange)
    door = change.door
    machine.post(
        DOOR_CLOSED,
        DoorOpenedOrClosed(door=door, was_unobserved=change.was_unobserved),
        state={f"{KernelKey.DOOR}{door}": None},
    )
    if not machine.open_doors:
        machine.notice = Notice(code="door_closed", values={"door": door})


def reseed_generator_after_door(machine: PositionMachine, _: Event) -> None:
    """Reseed the random number generator after a door was closed, if the jurisdiction's policy says so."""
    if machine.random_service is None or machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None:
        return
    try:
        machine.random_service.reseed("door_closed")
    except ReseedNotAllowed:
        return
    except RngError as error:
        raise EventReplacement(Event(EventType.GENERATOR_FAILED, FailureDetail(detail=str(error)))) from error


#: Codes of notices that already report what happened to a bill or ticket in the acceptor.
_VALUE_IN_NOTICE_CODES: Final = frozenset(
    {"bill_accepted", "bill_returned", "ticket_accepted", "ticket_returned"}
)


def record_fault(machine: PositionMachine, event: Event) -> None:
    """Record that a fault is active until it is cleared.

    If a device reports that its housing is open and nobody has declared work there, a second fault reports the
    unidentified opening.
    """
    fault = event.read_payload(FaultChange)
    code = fault.code
    if (
        code in DOOR_BY_DEVICE_FAULT
        and code not in machine.active_faults
        and not is_opening_identified(machine, DOOR_BY_DEVICE_FAULT[code])
    ):
        raise_fault(machine, UNIDENTIFIED_OPENING_FAULT, detail=DOOR_BY_DEVICE_FAULT[code])
    is_new = code not in machine.active_faults
    raise_fault(machine, code, fault.detail)
    if is_new and build_held_money_values(machine, code):
        machine.notice = None  # it is about earlier money; the fault's own notice is shown instead


def record_fault_cleared(machine: PositionMachine, event: Event) -> None:
    """Clear a fault whose cause has ended, unless staff must clear it.

    If the faulty device held money of the player and no notice has said what happened to it, a notice says that the
    device works again and how the player gets the money.
    """
    fault = event.read_payload(FaultChange)
    code = fault.code
    was_active, held_money = code in machine.active_faults, build_held_money_values(machine, code)
    clear_fault(machine, code, fault.detail)
    is_over = was_active and code not in machine.active_faults and not get_fault_definition(code).stops_play
    last_notice = None if machine.notice is None else machine.notice.code
    if is_over and held_money and last_notice not in _VALUE_IN_NOTICE_CODES:
        notice_code = "held_over_amount" if "amount_cents" in held_money else "held_over"
        machine.notice = Notice(code=notice_code, values=held_money)


def clear_faults_as_attendant(machine: PositionMachine, event: Event) -> None:
    """Clear all active faults that an attendant may clear, and end the service call.

    If no fault can be cleared, nothing is changed, and a notice says so.
    """
    clearable_codes = [
        code for code, fault in machine.active_faults.items() if fault["cleared_by"] == "attendant"
    ]
    if not clearable_codes:
        machine.notice = Notice(code="not_yours_to_clear", severity="warning")
        return
    answer_service_call(machine, event)
    machine.post(
        TILT_CLEARED,
        TiltCleared(codes=tuple(clearable_codes), person=find_actor(machine, event)),
        state={f"{KernelKey.FAULT}{code}": None for code in clearable_codes},
    )
    machine.notice = Notice(code="fault_cleared")


# ---------------------------------------------------------------------------------------------- the generator
@dataclass(frozen=True, slots=True)
class GeneratorFactory:
    """The component with the function that repeats the machine's self-test and creates a new generator."""

    create_generator: Callable[[], RandomService]
    """Repeats the self-test, then creates and returns the random number generator.

    Raises LocalError if a check other than the generator's fails, for example because a level does not add up, and
    RngError if the new generator fails its tests.
    """


def restart_generator(machine: PositionMachine, event: Event) -> None:
    """Replace the random number generator by a new one, by order of authorised staff.

    The self-test is repeated, and the machine returns to service if it passes. After a failure of the generator, only
    this returns it to service; after a failed self-test, a passed self-test at the next start does so too. If a check
    fails, a notice says so and nothing else changes.
    """
    try:
        machine.random_service = machine.component(GeneratorFactory).create_generator()
    except RngError as error:
        machine.notice = Notice(code="chance_still_fails", severity="alarm", values={"detail": str(error)})
        return
    except LocalError as error:
        machine.notice = Notice(code="self_test_still_fails", severity="alarm", values={"detail": str(error)})
        return
    machine.post(
        GENERATOR_RESTARTED,
        GeneratorRestarted(person=find_actor(machine, event)),
        state={IntegrityKey.OUT_OF_SERVICE: None},
    )

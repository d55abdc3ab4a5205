"""Wrong PINs at the machine: after a limit, the staff number is locked for a while, whether it exists or not.

All staff numbers, known and unknown, are counted in a fixed number of groups, chosen by a digest of the number. So
nothing reveals whether a number exists, and typing many numbers does not fill the memory. Wrong PINs typed without
turning a key are counted separately, so that no player can lock out a person who has a key; terminals do not count
them. Otherwise computer terminals (command line) and the machine count each other's wrong PINs, so that using both
gives nobody twice as many tries. A lock lasts for a number of seconds of the machine's own running time, not of the
clock; after a restart, it lasts for the seconds that were stored last.
"""

from contextlib import suppress
from typing import Any

from egm.clock import NANOSECONDS_PER_SECOND
from egm.kernel.machine import PositionMachine
from egm.kernel.running_positions import RunningPositions
from egm.people import Person, Roster
from egm.people.wrong_pins import WrongPin, edit_wrong_pins, normalise_staff_number
from egm.staff.desk import ServiceDesk
from egm.staff.entries import (
    SIGN_IN_LOCKED,
    SIGN_IN_REFUSED,
    SIGN_IN_REFUSED_AT_TERMINAL,
    SIGN_IN_WHILE_LOCKED,
    WRONG_PINS_CLEARED,
    SignInWhileLocked,
    WrongPinAtTerminal,
    WrongPinsCleared,
    WrongPinTyped,
)
from egm.staff.keys import StaffKey, format_wrong_pins_key


def build_wrong_pins_key(
    machine: PositionMachine, staff_number: str, *, is_opened_by_key: bool = True
) -> str:
    """Return the storage key under which this machine counts the wrong PINs of a staff number's group.

    ``is_opened_by_key``: whether a key switch was turned to open the menu.
    """
    return format_wrong_pins_key(machine.journal.fingerprint, staff_number, is_opened_by_key=is_opened_by_key)


def compute_lock_seconds_left(machine: PositionMachine, wrong_pins_key: str) -> int:
    """Return how many more seconds the staff numbers counted under ``wrong_pins_key`` are locked; 0 if not.

    If a lock is stored but its time does not run yet at this player position, the time starts now.
    """
    stored_counts = _read_stored_counts(machine, wrong_pins_key)
    if not stored_counts["locked_seconds"]:
        return 0
    now_ns = machine.clock.monotonic_ns()
    lock_start_ns = machine.component(ServiceDesk).lock_start_ns_by_storage_key.setdefault(
        wrong_pins_key, now_ns
    )
    return max(0, int(stored_counts["locked_seconds"]) - (now_ns - lock_start_ns) // NANOSECONDS_PER_SECOND)


def restart_lock_outs(machine: PositionMachine) -> None:
    """At power-up, restart the lock of each staff number that was locked at power-down.

    A lock lasts for the seconds that were last stored. They are stored when a number is locked, and again each time
    that somebody tries a locked number.
    """
    for storage_key in machine.journal.states(StaffKey.WRONG_PINS):
        machine.component(ServiceDesk).lock_start_ns_by_storage_key.setdefault(
            storage_key, machine.clock.monotonic_ns()
        )


def authenticate(machine: PositionMachine, staff_number: str, pin: str) -> Person | str:
    """Return the person whose staff number and PIN were typed, or the code of the refusal.

    A refused attempt is recorded here; a correct PIN only if it clears earlier wrong PINs.
    """
    wrong_pins_key = build_wrong_pins_key(
        machine, staff_number, is_opened_by_key=machine.component(ServiceDesk).is_opened_by_key
    )
    lock_seconds = compute_lock_seconds_left(machine, wrong_pins_key)
    stored_counts = _read_stored_counts(machine, wrong_pins_key)
    if lock_seconds:
        state = _start_lock(machine, wrong_pins_key, stored_counts["wrong"], lock_seconds)
        machine.post(
            SIGN_IN_WHILE_LOCKED, SignInWhileLocked(person=staff_number, reason="locked"), state=state
        )
        return "locked"
    staff_rules = machine.profile.staff
    earlier_wrong_pin_count = 0 if stored_counts["locked_seconds"] else int(stored_counts["wrong"])
    terminal_wrong_pin_count = _count_wrong_pins_at_terminals(machine, staff_number)
    if (
        terminal_wrong_pin_count
        and earlier_wrong_pin_count + terminal_wrong_pin_count >= staff_rules.wrong_pin_count_max
    ):
        machine.post(SIGN_IN_WHILE_LOCKED, SignInWhileLocked(person=staff_number, reason="locked"))
        return "locked"
    person = machine.component(Roster).authenticate(staff_number, pin)
    if person is not None:
        if stored_counts["wrong"]:
            machine.post(
                WRONG_PINS_CLEARED, WrongPinsCleared(person=staff_number), state={wrong_pins_key: None}
            )
            clear_wrong_pins_at_terminals(machine, staff_number)
        return person
    if machine.component(ServiceDesk).is_opened_by_key:  # a player must not lock a terminal
        _report_wrong_pin_to_terminals(machine, staff_number)
    wrong_pin_count = earlier_wrong_pin_count + 1
    lock_seconds_after = (
        staff_rules.pin_lock_minutes * 60 if wrong_pin_count >= staff_rules.wrong_pin_count_max else 0
    )
    machine.post(
        SIGN_IN_LOCKED if lock_seconds_after else SIGN_IN_REFUSED,
        WrongPinTyped(
            person=staff_number,
            reason="wrong",
            wrong_pin_count=wrong_pin_count,
            locked_seconds=lock_seconds_after,
        ),
        state=_start_lock(machine, wrong_pins_key, wrong_pin_count, lock_seconds_after),
    )
    return "locked" if lock_seconds_after else "wrong_pin"


def _read_stored_counts(machine: PositionMachine, wrong_pins_key: str) -> dict[str, int]:
    """Return the count of wrong PINs and the lock's seconds that are stored under ``wrong_pins_key``, by name.

    Records of earlier versions in another form are ignored.
    """
    stored_counts: Any = machine.journal.state(wrong_pins_key)
    return (
        stored_counts
        if stored_counts and "locked_seconds" in stored_counts
        else {"wrong": 0, "locked_seconds": 0}
    )


def _start_lock(
    machine: PositionMachine, wrong_pins_key: str, wrong_pin_count: int, lock_seconds: int
) -> dict[str, object]:
    """Start a lock of the staff numbers counted under ``wrong_pins_key``; return the state change that stores it.

    The state change also stores the count of wrong PINs. With 0 ``lock_seconds``, the numbers are not locked. The
    lock starts now at every player position of the machine.
    """
    positions = machine.find_installed(RunningPositions)
    other_positions = () if positions is None else positions.position_by_number.values()
    for position_machine in (machine, *(position.engine.machine for position in other_positions)):
        position_machine.component(ServiceDesk).lock_start_ns_by_storage_key[wrong_pins_key] = (
            machine.clock.monotonic_ns()
        )
    return {wrong_pins_key: {"wrong": wrong_pin_count, "locked_seconds": lock_seconds}}


def _count_wrong_pins_at_terminals(machine: PositionMachine, staff_number: str) -> int:
    """Return how many wrong PINs typed at terminals still count for a staff number."""
    roster_path, normalised_number = machine.component(Roster).path, normalise_staff_number(staff_number)
    if roster_path is None:
        return 0
    try:
        with edit_wrong_pins(roster_path.parent, must_wait=False) as wrong_pins:
            return sum(
                wrong_pin.is_counted_towards_lock and not wrong_pin.was_typed_at_machine
                for wrong_pin in wrong_pins
                if wrong_pin.staff_number == normalised_number
            )
    except OSError:  # a terminal is in use, or the file cannot be read: only tries typed here count
        return 0


def _report_wrong_pin_to_terminals(machine: PositionMachine, staff_number: str) -> None:
    """Add a wrong PIN typed at the machine to the count that the terminals keep for its staff number."""
    roster_path = machine.component(Roster).path
    if roster_path is not None:
        with suppress(OSError), edit_wrong_pins(roster_path.parent, must_wait=False) as wrong_pins:
            display_time = machine.timekeeper.now().isoformat(timespec="seconds")
            wrong_pins.append(WrongPin.create_now(staff_number, display_time, was_typed_at_machine=True))


def clear_wrong_pins_at_terminals(machine: PositionMachine, staff_number: str) -> None:
    """Record the terminals' wrong PINs in the journal, then remove those of a staff number from the terminals' file."""
    record_wrong_pins_of_terminals(machine)
    roster_path, normalised_number = machine.component(Roster).path, normalise_staff_number(staff_number)
    if roster_path is not None:
        with suppress(OSError), edit_wrong_pins(roster_path.parent, must_wait=False) as wrong_pins:
            wrong_pins[:] = [
                wrong_pin for wrong_pin in wrong_pins if wrong_pin.staff_number != normalised_number
            ]


def record_wrong_pins_of_terminals(machine: PositionMachine) -> None:
    """Record in the journal the wrong PINs that were typed at terminals since the last call.

    Wrong PINs that no longer count are removed from the terminals' file.
    """
    roster_path = machine.component(Roster).path
    if roster_path is None:
        return
    try:
        with edit_wrong_pins(roster_path.parent, must_wait=False) as wrong_pins:
            for wrong_pin in wrong_pins:
                entry_id = f"wrong-pin-{wrong_pin.record_id}"
                # Another player position may have recorded it, as an entry of its own.
                if wrong_pin.was_typed_at_machine or machine.journal.has_entry(entry_id):
                    continue
                machine.post(
                    SIGN_IN_REFUSED_AT_TERMINAL,
                    WrongPinAtTerminal(
                        person=wrong_pin.staff_number, reason="terminal", typed_at=wrong_pin.typed_at
                    ),
                    entry_id=entry_id,
                )
            wrong_pins[:] = [wrong_pin for wrong_pin in wrong_pins if wrong_pin.is_counted_towards_lock]
    except OSError:  # a terminal is in use, or the file cannot be read: retried next time
        return

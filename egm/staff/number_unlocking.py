"""Unlocking of staff numbers before their lock expires (J-16)."""

from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.people import Roster
from egm.staff.desk import find_actor
from egm.staff.entries import SIGN_IN_UNLOCKED, SignInUnlocked
from egm.staff.events import StaffNumberUnlockForm
from egm.staff.failed_sign_ins import (
    build_wrong_pins_key,
    clear_wrong_pins_at_terminals,
    compute_lock_seconds_left,
)


def _list_lock_storage_keys(machine: PositionMachine, staff_number: str) -> list[str]:
    """Return the storage keys under which a staff number is locked now.

    There may be two: for menus opened by a key switch, and for menus opened without one.
    """
    storage_keys = (
        build_wrong_pins_key(machine, staff_number),
        build_wrong_pins_key(machine, staff_number, is_opened_by_key=False),
    )
    return [storage_key for storage_key in storage_keys if compute_lock_seconds_left(machine, storage_key)]


@refusal_code("number_is_locked")
def staff_number_is_locked(machine: PositionMachine, event: Event) -> bool:
    """Return whether the enrolled staff number in the form is locked.

    Without a number, return whether any is locked, so that the form is offered.
    """
    requested_number = event.read_payload(StaffNumberUnlockForm).staff_number
    return any(
        _list_lock_storage_keys(machine, staff_number)
        for staff_number in machine.component(Roster).person_by_staff_number
        if requested_number in {"", staff_number}
    )


def unlock_staff_number(machine: PositionMachine, event: Event) -> None:
    """Unlock a staff number by deleting its count of wrong PINs; the PIN itself does not change.

    Other staff numbers that are counted under the same storage keys are unlocked with it.
    """
    form = event.read_payload(StaffNumberUnlockForm)
    clear_wrong_pins_at_terminals(machine, form.staff_number)
    # The lock may have expired since the form was checked: the count of wrong PINs is then deleted all the same.
    storage_keys = _list_lock_storage_keys(machine, form.staff_number) or [
        build_wrong_pins_key(machine, form.staff_number)
    ]
    machine.post(
        SIGN_IN_UNLOCKED,
        SignInUnlocked(
            person=find_actor(machine, event),
            persons=form.persons,
            locked_number=form.staff_number,
            reason=form.reason,
        ),
        state=dict.fromkeys(storage_keys),
    )

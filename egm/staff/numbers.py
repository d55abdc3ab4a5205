"""Unlocking of staff numbers before their lock expires (J-16)."""

from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.rules import refusal_code
from egm.people import Roster
from egm.staff.desk import find_actor
from egm.staff.entries import SIGN_IN_UNLOCKED, SignInUnlocked
from egm.staff.events import SignInUnlockForm
from egm.staff.failed_sign_ins import (
    build_wrong_pins_key,
    clear_wrong_pins_at_terminals,
    compute_lock_seconds_left,
)


def _find_locked_numbers(machine: Machine) -> dict[str, str]:
    """Return the enrolled staff numbers that are locked now, each with the storage key of its wrong PINs.

    If a number is locked both for menus opened by a key switch and for menus opened without one, the storage key is
    that of the former.
    """
    keys_by_number = {
        number: (
            build_wrong_pins_key(machine, number),
            build_wrong_pins_key(machine, number, is_opened_by_key=False),
        )
        for number in machine.component(Roster).people
    }
    return {
        number: next(key for key in keys if compute_lock_seconds_left(machine, key))
        for number, keys in keys_by_number.items()
        if any(compute_lock_seconds_left(machine, key) for key in keys)
    }


@refusal_code("number_is_locked")
def staff_number_is_locked(machine: Machine, event: Event) -> bool:
    """Return whether the staff number in the form is locked; without a number, whether any is locked."""
    locked = _find_locked_numbers(machine)
    number = event.read_payload(SignInUnlockForm).number
    return number in locked if number else bool(locked)


def unlock_staff_number(machine: Machine, event: Event) -> None:
    """Unlock a staff number by deleting its count of wrong PINs; the PIN itself does not change.

    Other staff numbers that are counted under the same storage key are unlocked with it. A number that is locked twice,
    with and without a key switch, is to be unlocked twice.
    """
    form = event.read_payload(SignInUnlockForm)
    clear_wrong_pins_at_terminals(machine, form.number)
    # The lock may have expired since the form was checked.
    key = _find_locked_numbers(machine).get(form.number) or build_wrong_pins_key(machine, form.number)
    machine.post(
        SIGN_IN_UNLOCKED,
        SignInUnlocked(
            person=find_actor(machine, event),
            persons=form.persons,
            locked_number=form.number,
            reason=form.reason,
        ),
        state={key: None},
    )

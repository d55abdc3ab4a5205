"""Unlocking of staff numbers before their lock expires (J-16)."""

from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.people import Roster
from egm.staff.service.desk import who
from egm.staff.service.tries import forget_at_terminals, key_of, left_seconds


def _locked(machine: Machine) -> dict[str, str]:
    """Return the locked staff numbers, and the state key that counts each lock."""
    counted = {
        number: (key_of(machine, number), key_of(machine, number, keyed=False))
        for number in machine.state(Roster).people
    }
    return {
        number: next(key for key in keys if left_seconds(machine, key))
        for number, keys in counted.items()
        if any(left_seconds(machine, key) for key in keys)
    }


def number_is_locked(machine: Machine, event: Event) -> bool:
    """Return whether the named number is locked; if none is named yet, whether any is."""
    locked = _locked(machine)
    return event.data.get("number", next(iter(locked), None)) in locked


def unlock_number(machine: Machine, event: Event) -> None:
    """Clear the wrong PINs of a number; the PIN itself does not change."""
    number = str(event.data["number"])
    forget_at_terminals(machine, number)
    machine.record(
        "sign_in.unlocked",
        state={_locked(machine)[number]: None},
        details={
            "person": who(machine, event),
            "persons": list(event.data["persons"]),
            "whom": number,
            "reason": event.data["reason"],
        },
    )

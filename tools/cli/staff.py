"""Identification of staff at a terminal, by their PINs in a machine's staff roster."""

from pathlib import Path

import click

from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder
from egm.errors import OperatorError
from egm.people import Permission, Person, Roster, load_recorded_roster, read_recorded_roster
from egm.people.wrong_pins import WRONG_PINS_MAX, WrongPin, edit_wrong_pins, is_locked_at_terminals
from meters.copies import SECOND_FOLDER


def load_roster(folder: Path, second_folder: Path | None = None) -> Roster:
    """Return the roster of a state folder; ``second_folder`` is the folder of the second copy.

    Raises ClickException if it cannot be read, is missing, or is not the one that the journal records. So no PIN
    can be bypassed by deleting the file.
    """
    roster_path = StateFolder(folder).roster_file
    second_copy = (second_folder or folder / SECOND_FOLDER) / roster_path.name
    try:
        roster, _ = load_recorded_roster(
            roster_path, second_copy, read_recorded_roster(folder, second_folder)
        )
    except OperatorError as error:
        raise click.ClickException(
            f"{error}\nRestore the roster file. If there is no copy: stop the machine, and let "
            "two people start a new roster with `egm people renew`"
        ) from error
    return roster


def authenticate(roster: Roster, staff_number: str, prompt: str = "PIN") -> Person:
    """Ask for the PIN of a staff number and return the person.

    Raises ClickException if the PIN is wrong, the number is locked, or wrong PINs cannot be recorded. Each failed
    attempt (staff number and time, never the PIN) is stored in a file, and the machine copies it into its journal
    later. After :data:`~egm.people.wrong_pins.WRONG_PINS_MAX` wrong PINs within
    :data:`~egm.people.wrong_pins.SIGN_IN_LOCKED_SECONDS` of the computer's uptime, the staff number is locked at
    terminals. Wrong PINs typed at the machine count here too.
    """
    pin = click.prompt(f"{prompt} of {staff_number}", hide_input=True)
    if roster.path is None:
        raise click.ClickException("there is no roster: nobody is enrolled on this machine")
    try:
        with edit_wrong_pins(roster.path.parent, must_wait=True) as wrong_pin_attempts:
            if is_locked_at_terminals(wrong_pin_attempts, staff_number):
                raise click.ClickException(
                    f"{staff_number} is locked after {WRONG_PINS_MAX} wrong PINs; try again later"
                )
            person = roster.authenticate(staff_number, pin)
            if person is None:
                wrong_pin_attempts.append(
                    WrongPin.create_now(staff_number, SystemClock().now().isoformat(timespec="seconds"))
                )
                raise click.ClickException("number or PIN is wrong")
    except OSError as error:
        raise click.ClickException(
            f"{roster.path.parent}: {error.strerror}: no PIN can be checked, because wrong ones cannot be recorded"
        ) from error
    return person


def authenticate_for(roster: Roster, staff_number: str, permission: Permission) -> Person:
    """Ask for the PIN of a staff number and return the person.

    Raises ClickException if the PIN is wrong or the role lacks the permission.
    """
    person = authenticate(roster, staff_number)
    if not person.has_permission(permission):
        raise click.ClickException(
            f"{staff_number} is {person.role} and may not {permission.value.replace('_', ' ')}"
        )
    return person

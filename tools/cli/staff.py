"""Identification of staff at a terminal, by their PINs in a machine's staff roster."""

import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import click

from egm.app.features import FEATURES
from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder
from egm.errors import OperatorError
from egm.kernel.entries import Entry
from egm.kernel.keys import KernelKey
from egm.kernel.own_entries import ActiveFault
from egm.people import Permission, Person, RecordedRoster, Roster, load_recorded_roster, read_recorded_roster
from egm.people.recorded import STATE_KEY
from egm.people.tries import WRONG_PINS_MAX, WrongPin, edit_wrong_pins, find_counted_number
from egm.record_codec import to_json
from egm.staff.entries import STAFF_CARRIED, STAFF_RENEWED, RosterCarried, RosterRenewed
from egm.staff.service.sign_in import STAFF_ROSTER
from meters import Journal, Transaction
from meters.copies import SECOND_FOLDER
from meters.storage import Storage
from meters.transaction import JSON

R = TypeVar("R")


def load_roster(folder: Path, second: Path | None = None) -> Roster:
    """Return the roster of a state folder; ``second`` is the folder of the second copy.

    Raises ClickException if it cannot be read, or is not the one that the journal records: a missing file
    does not bypass the PINs.
    """
    path = StateFolder(folder).staff
    spare = (second or folder / SECOND_FOLDER) / path.name
    try:
        return load_recorded_roster(path, spare, read_recorded_roster(folder, second))[0]
    except OperatorError as error:
        raise click.ClickException(
            f"{error}\nRestore the roster file. If there is no copy: stop the machine, and let "
            "two people start a new roster with `egm people renew`"
        ) from error


def authenticate(roster: Roster, number: str, prompt: str = "PIN") -> Person:
    """Ask for the PIN of a staff number and return the person. Raises ClickException if it is wrong.

    A wrong PIN is stored, and the machine records it in its journal later. After
    :data:`~egm.people.tries.WRONG_PINS_MAX` wrong ones the number is locked at terminals for a while.
    """
    pin = click.prompt(f"{prompt} of {number}", hide_input=True)
    if roster.path is None:
        raise click.ClickException("there is no roster: nobody is enrolled on this machine")
    try:
        with edit_wrong_pins(roster.path.parent, wait=True) as noted:
            if (
                sum(
                    attempt.is_counted_towards_lock
                    for attempt in noted
                    if attempt.number == find_counted_number(number)
                )
                >= WRONG_PINS_MAX
            ):
                raise click.ClickException(
                    f"{number} is locked after {WRONG_PINS_MAX} wrong PINs; try again later"
                )
            person = roster.authenticate(number, pin)
            if person is None:
                noted.append(WrongPin.create_now(number, SystemClock().now().isoformat(timespec="seconds")))
                raise click.ClickException("number or PIN is wrong")
    except OSError as error:
        raise click.ClickException(
            f"{roster.path.parent}: {error.strerror}: no PIN can be checked, because wrong ones cannot be recorded"
        ) from error
    return person


def authenticate_for(roster: Roster, number: str, permission: Permission) -> Person:
    """Ask for the PIN of a staff number and return the person.

    Raises ClickException if the PIN is wrong or the role lacks the permission.
    """
    person = authenticate(roster, number)
    if not person.may(permission):
        raise click.ClickException(
            f"{number} is {person.role} and may not {permission.value.replace('_', ' ')}"
        )
    return person


def carry_roster(
    roster: Roster,
    folder: Path,
    second: Path | None,
    machine_id: str,
    *,
    now: Callable[[], datetime],
    storage: Storage | None = None,
) -> None:
    """Record the existing staff roster in the new journal after a memory clear, signed with the present key."""
    if not roster.changes:
        return
    roster.write_to(StateFolder(folder).staff)
    last = roster.changes[-1]
    recorded = RecordedRoster(last.number, roster.digest).to_json()
    with Journal.open(folder, now=now, second_dir=second, machine_id=machine_id, storage=storage) as journal:
        journal.append(
            _build_transaction(
                STAFF_CARRIED,
                RosterCarried(
                    number=last.number,
                    digest=roster.digest,
                    people={number: person.role for number, person in roster.people.items()},
                    disabled=tuple(
                        sorted(number for number, person in roster.people.items() if person.disabled)
                    ),
                ),
                entry_id=f"staff-{last.number}-{roster.digest[:16]}",
                state={STATE_KEY: recorded},
            )
        )


def renew_roster(folder: Path, second: Path | None, details: Mapping[str, str]) -> None:
    """Start an empty staff roster on a machine whose roster is lost; ``details`` name the people and the reason.

    Remaining roster files are renamed and kept. Raises JournalError, also if the machine is running.
    """
    path = StateFolder(folder).staff
    with Journal.open(folder, now=SystemClock().now, second_dir=second) as journal:
        number = journal.sequence + 1
        fault = ActiveFault(
            since=SystemClock().now().isoformat(),
            locks=True,
            cleared_by="technician",
            detail=details["reason"],
        )
        journal.append(
            _build_transaction(
                STAFF_RENEWED,
                RosterRenewed(person=details["person"], witness=details["witness"], reason=details["reason"]),
                entry_id=f"staff-renewed-{number}",
                state={
                    STATE_KEY: RecordedRoster().to_json(),
                    f"{KernelKey.FAULT}{STAFF_ROSTER}": to_json(fault),
                },
            )
        )
    for copy in (path, (second or folder / SECOND_FOLDER) / path.name):
        with contextlib.suppress(FileNotFoundError):
            copy.rename(copy.with_name(f"{copy.name}.before-{number}"))


def _build_transaction(
    entry: Entry[R], record: R, *, entry_id: str, state: Mapping[str, JSON]
) -> Transaction:
    """Return the transaction of a declared entry, for the journal of a stopped machine.

    Raises EntryError if the entry does not have its declared form.
    """
    transaction = Transaction(
        id=entry_id, kind=entry.kind, phase=entry.phase, state=state, record=to_json(record)
    )
    entry.check(transaction, FEATURES.keys)
    return transaction

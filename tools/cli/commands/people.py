"""``egm people``: enrol the staff of one machine, also while it runs."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import click

from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder, find_default_state_folder, load_cabinet
from egm.errors import OperatorError
from egm.people import (
    Permission,
    Person,
    Role,
    Roster,
    RosterChange,
    RosterError,
    find_permissions,
    load_recorded_roster,
    read_recorded_roster,
)
from egm.record_codec import get_stored_key, to_json
from meters import JournalError
from meters.copies import SECOND_FOLDER
from tools.cli.journal_source import STATE_OPTION
from tools.cli.memory_folder import find_memory_folder
from tools.cli.printed_text import REASON_TYPE, PrintedText
from tools.cli.roster_entries import renew_roster
from tools.cli.staff import authenticate, authenticate_for, load_roster
from tools.cli.tables import OutputFormat, Table, add_format_options, show
from tools.cli.terminal import echo

#: The option that names the person who makes the change.
_authorising_person_option = click.option(
    "--by",
    "author_number",
    metavar="NUMBER",
    help="Your staff number; your role must allow enrolling others.",
)


@click.group()
def command() -> None:
    """Enrol, list, disable and enable the people who work on a machine, and set their PINs.

    PINs are asked for, never given as arguments. The machine records every change in its journal at its start
    and at each sign-in.
    """


def _load_roster(state_folder: Path | None) -> Roster:
    """Create the state folder if it is missing, and return the machine's roster.

    Raises ClickException if the folder cannot be made private, or the roster cannot be trusted.
    """
    folder = StateFolder(state_folder or find_default_state_folder())
    try:
        folder.create_private_folders()
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    return load_roster(folder.root)


def _prove_authority(roster: Roster, person_number: str | None) -> str:
    """Check the PIN of the person who makes a change to the roster; return their staff number.

    Return "" on a machine without staff, where no proof is needed.
    """
    if not roster.person_by_staff_number:
        return ""
    if person_number is None:
        raise click.ClickException("give --by NUMBER, the staff number of a person who may enrol others")
    return authenticate_for(roster, person_number, Permission.ENROL_STAFF).id


def _ask_new_pin(staff_number: str) -> str:
    """Ask for a new PIN twice, and return it; if the two differ, ask again."""
    return str(click.prompt(f"New PIN of {staff_number}", hide_input=True, confirmation_prompt=True))


@command.command("add")
@click.argument("number")
@click.argument("name")
@click.option(
    "--role", type=click.Choice([role.value for role in Role]), required=True, help="See `egm people roles`."
)
@_authorising_person_option
@STATE_OPTION
def add(number: str, name: str, role: str, author_number: str | None, state_folder: Path | None) -> None:
    """Enrol the person NAME under staff NUMBER. The first person must be a manager and needs no authorisation."""
    roster = _load_roster(state_folder)
    changed_by = _prove_authority(roster, author_number)
    try:
        roster.enrol_person(
            Person(number, name, Role(role)),
            _ask_new_pin(number),
            changed_by=changed_by,
            changed_at=SystemClock().now(),
        )
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    echo(f"{number} {name} is enrolled as {role}")


@command.command("disable")
@click.argument("number")
@_authorising_person_option
@STATE_OPTION
def disable(number: str, author_number: str | None, state_folder: Path | None) -> None:
    """Disable the person with this NUMBER. Nobody is ever deleted: the journal names them."""
    _change_enabled(Roster.disable_person, number, author_number, state_folder)
    echo(f"{number} is disabled")


@command.command("enable")
@click.argument("number")
@_authorising_person_option
@STATE_OPTION
def enable(number: str, author_number: str | None, state_folder: Path | None) -> None:
    """Enable the disabled person with this NUMBER again, with the same role and PIN."""
    _change_enabled(Roster.enable_person, number, author_number, state_folder)
    echo(f"{number} is enabled")


def _change_enabled(
    change: Callable[..., Roster], staff_number: str, author_number: str | None, state_folder: Path | None
) -> None:
    """Disable or enable a person, after the PIN of the person who decides it.

    ``change`` is the method of the roster that makes the change; ``author_number`` is the staff number given with --by.
    """
    roster = load_roster(find_memory_folder(state_folder))
    try:
        roster.require_person(staff_number)  # before anybody gives a PIN
        changed_by = _prove_authority(roster, author_number)
        change(roster, staff_number, changed_by=changed_by, changed_at=SystemClock().now())
    except OperatorError as error:
        raise click.ClickException(str(error)) from error


@command.command("pin")
@click.argument("number")
@_authorising_person_option
@STATE_OPTION
def pin(number: str, author_number: str | None, state_folder: Path | None) -> None:
    """Set the PIN of staff NUMBER: your own, with the old PIN, or another person's with --by."""
    roster = load_roster(find_memory_folder(state_folder))
    try:
        if author_number is not None:
            roster.require_person(number)  # before anybody gives a PIN
        changed_by = (
            authenticate(roster, number, "Old PIN").id
            if author_number is None
            else _prove_authority(roster, author_number)
        )
        roster.set_pin(number, _ask_new_pin(number), changed_by=changed_by, changed_at=SystemClock().now())
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    echo(f"{number} has a new PIN")


@command.command("renew")
@click.option("--person", type=PrintedText(), required=True, help="Your name.")
@click.option("--witness", required=True, help="The name of the witness.")
@click.option("--reason", type=REASON_TYPE, required=True, help="How the roster was lost.")
@click.option(
    "--cabinet",
    type=click.Path(path_type=Path, exists=True),
    help="The cabinet file, which names the second medium.",
)
@STATE_OPTION
def renew(person: str, witness: str, reason: str, cabinet: Path | None, state_folder: Path | None) -> None:
    """Replace a lost staff roster with an empty one. The machine must be stopped, and both copies must be lost.

    Without a roster nobody can confirm their identity: the journal records both names and the reason, and the machine
    shows a fault until a newly enrolled technician has cleared it.
    """
    details = {"person": person.strip(), "witness": witness.strip(), "reason": reason.strip()}
    if not all(details.values()) or person.strip() == witness.strip():
        raise click.ClickException("two different people and a reason are needed")
    folder = state_folder or find_default_state_folder()
    try:
        second_folder = load_cabinet(cabinet).memory.second_copy
        recorded_roster = read_recorded_roster(folder, second_folder)
        roster_path = StateFolder(folder).roster_file
        second_copy = (second_folder or folder / SECOND_FOLDER) / roster_path.name
        try:
            load_recorded_roster(roster_path, second_copy, recorded_roster)
        except RosterError:
            renew_roster(folder, second_folder, details)
        else:
            raise click.ClickException(
                "the roster is intact and was not renewed: to enrol people, use `egm people add` with --by"
            )
    except (OperatorError, JournalError, OSError) as error:
        raise click.ClickException(str(error)) from error
    echo("the machine has no staff now; enrol a manager first")


@command.command("list")
@click.option("--changes", is_flag=True, help="List every change instead of the enrolled people.")
@add_format_options
@STATE_OPTION
def list_(state_folder: Path | None, *, changes: bool, output_format: OutputFormat) -> None:
    """List the enrolled persons, or with --changes the changes of the roster. PINs are not stored, so none is shown."""
    roster = load_roster(find_memory_folder(state_folder))
    rows = [to_json(row) for row in (roster.changes if changes else roster.person_by_staff_number.values())]
    columns = tuple(get_stored_key(field) for field in fields(RosterChange if changes else Person))
    show(
        output_format,
        Table(columns, (row.values() for row in rows), empty_text="nobody is enrolled"),
        document=rows,
    )


@command.command("roles")
@add_format_options
def roles(*, output_format: OutputFormat) -> None:
    """List what each role of the staff may do."""
    rows = (
        (role.value, [permission.value for permission in sorted(find_permissions(role))]) for role in Role
    )
    show(output_format, Table(("role", "may"), rows))

"""Proving who one is at a terminal, against the roster of a machine."""

from pathlib import Path

import click

from egm.config import StateFolder
from egm.errors import OperatorError
from egm.people import Permission, Person, Roster


def roster_of(folder: Path) -> Roster:
    """The roster of a state folder. Raises ClickException where it cannot be read."""
    try:
        return Roster.load(StateFolder(folder).staff)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error


def prove(roster: Roster, number: str, permission: Permission) -> Person:
    """Ask for the PIN of a staff number. Raises ClickException unless it is right and the role allows it."""
    person = roster.proves(number, click.prompt(f"PIN of {number}", hide_input=True))
    if person is None:
        raise click.ClickException("number or PIN is wrong")
    if not person.may(permission):
        raise click.ClickException(
            f"{number} is {person.role} and may not {permission.value.replace('_', ' ')}"
        )
    return person

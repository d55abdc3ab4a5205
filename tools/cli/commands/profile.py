"""``egm profile``: list, show and check jurisdiction profiles, and print their schema."""

import click

from egm.errors import OperatorError
from egm.profiles import available, load_profile
from egm.profiles.schema import schema as profile_schema
from tools.cli.tables import Form, Table, forms
from tools.cli.tables import show as show_table
from tools.cli.terminal import echo, json_text
from tools.lab.named import named


@click.group()
def command() -> None:
    """List, show and check jurisdiction profiles: every rule that differs by jurisdiction."""


@command.command("list")
@forms
def list_(*, form: Form) -> None:
    """List the profiles that ship with the machine."""
    profiles = ((name, load_profile(name)) for name in available())
    rows = (
        (name, each.title.get("en", each.id), each.currency, each.languages, each.source)
        for name, each in profiles
    )
    show_table(form, Table(("profile", "place", "currency", "languages", "made from"), rows))


@command.command()
@click.argument("profile")
def show(profile: str) -> None:
    """Print the complete PROFILE (an id or a file) as JSON, with every default filled in."""
    try:
        loaded = load_profile(named(profile))
    except OperatorError as why:
        raise click.ClickException(str(why)) from why
    echo(json_text(_plain(loaded.model_dump()), indent=2))


@command.command()
@click.argument("profiles", nargs=-1, required=True)
def check(profiles: tuple[str, ...]) -> None:
    """Check PROFILES (ids or files); print file, key and reason, with exit status 1, if one is wrong."""
    wrong = []
    for profile in profiles:
        try:
            echo(f"{profile}: valid, {load_profile(named(profile)).id}")
        except OperatorError as why:
            wrong.append(str(why))
    if wrong:
        raise click.ClickException("\n".join(wrong))


@command.command()
def schema() -> None:
    """Print the JSON Schema of a profile, for editors."""
    echo(json_text(profile_schema(), indent=2))


def _plain(value: object) -> object:
    """Return a value as JSON; odds and settings as they are written in the profile."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, str | int | bool) else str(value)

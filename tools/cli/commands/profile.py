"""``egm profile``: list, show and check jurisdiction profiles, and print their schema."""

import click

from egm.errors import OperatorError
from egm.profiles import list_profile_ids, load_profile
from egm.profiles.schema import build_schema as build_profile_schema
from tools.cli.tables import Column, OutputFormat, Table, add_format_options, show
from tools.cli.terminal import echo, format_json
from tools.lab.argument_names import parse_path_or_id


@click.group()
def command() -> None:
    """List, show and check jurisdiction profiles: every rule that differs by jurisdiction."""


@command.command("list")
@add_format_options
def list_(*, output_format: OutputFormat) -> None:
    """List the jurisdiction profiles that ship with the machine."""
    profiles = ((name, load_profile(name)) for name in list_profile_ids())
    rows = (
        (name, profile.title.get("en", profile.id), profile.currency, profile.languages, profile.regulations)
        for name, profile in profiles
    )
    show(
        output_format,
        Table(
            (
                "profile",
                Column("jurisdiction", "place"),
                "currency",
                "languages",
                Column("regulations", "made_from"),
            ),
            rows,
        ),
    )


@command.command("show")
@click.argument("profile")
def show_(profile: str) -> None:
    """Print the complete PROFILE (an id or a file) as JSON, with every default filled in."""
    try:
        loaded_profile = load_profile(parse_path_or_id(profile))
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    echo(format_json(_to_plain_json(loaded_profile.model_dump(by_alias=True)), indent=2))


@command.command()
@click.argument("profiles", nargs=-1, required=True)
def check(profiles: tuple[str, ...]) -> None:
    """Check PROFILES (ids or files). For each mistake, print file, key and reason, and exit with status 1."""
    errors = []
    for profile in profiles:
        try:
            echo(f"{profile}: valid, {load_profile(parse_path_or_id(profile)).id}")
        except OperatorError as error:
            errors.append(str(error))
    if errors:
        raise click.ClickException("\n".join(errors))


@command.command()
def schema() -> None:
    """Print the JSON Schema of a jurisdiction profile, for editors."""
    echo(format_json(build_profile_schema(), indent=2))


def _to_plain_json(value: object) -> object:
    """Return a profile's value as JSON data; a value of any other type, such as odds, becomes text."""
    if isinstance(value, dict):
        return {key: _to_plain_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain_json(part) for part in value]
    if isinstance(value, frozenset):
        return sorted(value)
    return value if value is None or isinstance(value, str | int | bool) else str(value)

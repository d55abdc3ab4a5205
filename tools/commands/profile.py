"""``egm profile``: the places' rules; list, show and check them, and print their schema."""

from pathlib import Path

import click
from rich.console import Console

from egm.errors import OperatorError
from egm.profiles import available, load_profile
from egm.profiles.schema import schema as profile_schema
from tools.named import named
from tools.terminal import Table, echo, json_text


@click.group()
def command() -> None:
    """Jurisdiction profiles: every rule that differs by place."""


@command.command("list")
def list_() -> None:
    """The profiles that ship with the machine."""
    table = Table("profile", "place", "currency", "languages", "made from", show_edge=False)
    for name in available():
        profile = load_profile(name)
        title = profile.title.get("en", profile.id)
        table.add_row(name, title, profile.currency, ", ".join(profile.languages), profile.source)
    Console().print(table)


@command.command()
@click.argument("profile")
def show(profile: str) -> None:
    """Print PROFILE (an id or a file) whole, every default filled in, as JSON."""
    try:
        loaded = load_profile(named(profile))
    except OperatorError as why:
        raise click.ClickException(str(why)) from why
    echo(json_text(_plain(loaded.model_dump()), indent=2))


@command.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
def check(files: tuple[Path, ...]) -> None:
    """Check profile FILES; exit status 1 and the file, the key and the reason when one is wrong."""
    wrong = []
    for file in files:
        try:
            echo(f"{file}: right, {load_profile(file).id}")
        except OperatorError as why:
            wrong.append(str(why))
    if wrong:
        raise click.ClickException("\n".join(wrong))


@command.command()
def schema() -> None:
    """Print the JSON Schema of a profile, for editors."""
    echo(json_text(profile_schema(), indent=2))


def _plain(value: object) -> object:
    """A value as JSON has it; odds and settings as they are written."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, str | int | bool) else str(value)

"""``egm register``: the registers of the house, from a machine's memory or from an exported journal."""

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from egm.cabinet.staff.identities import FILE, IdentityRegister
from egm.cabinet.staff.registers import REGISTERS, lines
from egm.config import default_state_dir
from egm.errors import OperatorError
from meters import JournalError, StoredEntry, open_view
from meters.entry import decode
from meters.export import ExportReader
from tools.statement import Period, statement
from tools.terminal import Table, echo, json_text, printable

STATE = click.option("--state", type=click.Path(path_type=Path), help="Where the machine's memory lives.")


@click.group()
def command() -> None:
    """The registers: hand-pays, checks, disputes, complements, orphans, forfeits, refunds, incidents ..."""


@command.command("list")
def list_() -> None:
    """Name the registers, what they hold and why."""
    table = Table("register", "columns", "rule", show_edge=False)
    for register in REGISTERS.values():
        table.add_row(register.name, ", ".join(register.columns), register.source)
    Console().print(table)


@command.command()
@click.argument("name", type=click.Choice([*REGISTERS]))
@STATE
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="An exported journal (egm audit export) instead of a machine's memory.",
)
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
@click.option("--csv", "as_csv", is_flag=True, help="For spreadsheets.")
def show(*, name: str, state: Path | None, file: Path | None, as_json: bool, as_csv: bool) -> None:
    """Print a register, oldest line first."""
    try:
        with _entries(state, file) as entries:
            rows = list(lines(name, entries))
    except (JournalError, OSError) as why:
        raise click.ClickException(str(why)) from why
    columns = ("entry", "time_utc", *REGISTERS[name].columns)
    if as_json:
        echo(json_text(rows))
    elif as_csv:
        out = csv.writer(sys.stdout)
        out.writerow(columns)
        out.writerows([printable(_cell(row[column])) for column in columns] for row in rows)
    else:
        table = Table(*columns, show_edge=False)
        for row in rows:
            table.add_row(*(_cell(row[column]) for column in columns))
        Console().print(table)


@command.command("statement")
@click.option(
    "--by", type=click.Choice(["day", "month", "year"]), default="day", show_default=True, help="The periods."
)
@STATE
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="An exported journal (egm audit export) instead of a machine's memory.",
)
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def statement_(*, by: Period, state: Path | None, file: Path | None, as_json: bool) -> None:
    """Print what the meters moved by day, month or year (UTC), and what was counted against them (D-21)."""
    try:
        with _entries(state, file) as entries:
            periods = statement(entries, by)
    except (JournalError, OSError) as why:
        raise click.ClickException(str(why)) from why
    if as_json:
        echo(json_text(periods))
        return
    table = Table(by, "meter or count", "minor units or times", show_edge=False)
    for period, values in periods.items():
        for name, value in values.items():
            table.add_row(period, name, str(value))
    Console().print(table)


@contextmanager
def _entries(state: Path | None, file: Path | None) -> Iterator[Iterator[StoredEntry]]:
    if file is None:
        with open_view(state or default_state_dir()) as view:
            yield view.entries()
        return
    with file.open("rb") as opened:
        reader = ExportReader(opened, str(file))
        yield (decode(body) for body in reader.bodies())
    if reader.footer_fault:
        raise click.ClickException(f"{file}: {reader.footer_fault}")


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return "" if value is None else str(value)


@command.command()
@STATE
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def identities(*, state: Path | None, as_json: bool) -> None:
    """Print who was paid by hand or excluded, and whether each record is what the journal committed to.

    For management only: names stand here in clear. Exit status 1 when a record is missing or altered.
    """
    folder = state or default_state_dir()
    try:
        with open_view(folder) as view:
            promised = {
                story["identity"]: entry.sequence
                for entry in view.entries()
                if isinstance(story := entry.record, dict) and story.get("identity")
            }
    except JournalError as why:
        raise click.ClickException(str(why)) from why
    rows = _compared(folder, promised)
    if as_json:
        echo(json_text(rows))
    else:
        table = Table("entry", "time (UTC)", "of", "who", "record", show_edge=False)
        for row in rows:
            who = ", ".join(f"{key} {value}" for key, value in (row["fields"] or {}).items())
            table.add_row(_cell(row["entry"]), row["time_utc"], row["subject"], who, row["record"])
        Console().print(table)
    raise SystemExit(1 if any(row["record"] in {"altered", "missing"} for row in rows) else 0)


def _compared(folder: Path, promised: dict[str, int]) -> list[dict[str, Any]]:
    """Each record beside the journal's commitment: right, erased, altered, missing, or not committed to."""
    rows: list[dict[str, Any]] = []
    kept = _open(folder)
    try:
        for record in kept.records():
            entry = promised.pop(record.commitment, None)
            state = "erased" if record.fields is None else "right" if record.agrees else "altered"
            rows.append(
                {
                    "entry": entry,
                    "time_utc": record.time_utc.isoformat(timespec="seconds"),
                    "subject": record.subject,
                    "fields": None if record.fields is None else dict(record.fields),
                    "record": "not committed to" if entry is None else state,
                }
            )
    finally:
        kept.close()
    missing = {"time_utc": "", "subject": "", "fields": None, "record": "missing"}
    return rows + [{"entry": entry, **missing} for entry in sorted(promised.values())]


@command.command()
@STATE
@click.option(
    "--before", required=True, type=click.DateTime(["%Y-%m-%d"]), help="Records older than this day."
)
def erase(*, state: Path | None, before: datetime) -> None:
    """Erase names and documents whose time is over; the journal and its commitments stay whole."""
    kept = _open(state or default_state_dir())
    try:
        count = kept.erase_before(before.replace(tzinfo=UTC))
    finally:
        kept.close()
    echo(f"{count} erased")


def _open(folder: Path) -> IdentityRegister:
    if not (folder / FILE).exists():
        raise click.ClickException(f"{folder / FILE}: there is no register of identities")
    try:
        return IdentityRegister.open(folder)
    except OperatorError as why:
        raise click.ClickException(str(why)) from why

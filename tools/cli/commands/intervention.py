"""``egm intervention``: the sheets of interventions on a machine, derived from its journal alone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from egm.app.features import FEATURES
from egm.config.cabinet_file import default_state_dir
from egm.gaming_day import GamingDay
from egm.integrity.entries import POWER_UP
from egm.kernel.service_pages import PageRow
from egm.kernel.service_pages import PageTable as LinesTable
from egm.screen.text import Texts
from egm.staff.sheet import InterventionSheet, iter_sheets
from egm.staff.words import build_column_titles, say, say_plain, say_time
from meters import JournalError, JournalView, open_view
from paytables.wording import format_count, format_known_names
from tools.cli.result_file import write_result
from tools.cli.sheets import LANGUAGE, NO_MONEY, build_pdf, format_as_text
from tools.cli.tables import OutputFormat, Table, add_format_options
from tools.cli.tables import show as show_table
from tools.cli.terminal import echo

#: The option that names the state folder.
_state = click.option("--state", type=click.Path(path_type=Path), help="The machine's state folder.")


@click.group()
def command() -> None:
    """List and print interventions: who opened the machine, why, and what was done (Monaco art. 20.3)."""


@contextmanager
def _open_view(state: Path | None) -> Iterator[JournalView]:
    """Open a machine's journal for reading. Raises ClickException if it is damaged or missing."""
    try:
        with open_view(state or default_state_dir(), check_pages=True) as view:
            yield view
    except JournalError as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def _read_sheets(state: Path | None) -> Iterator[list[InterventionSheet]]:
    """Yield the printable sheets of a machine's interventions while its journal is open for reading."""
    with _open_view(state) as view:
        yield list(iter_sheets(view, FEATURES.entries))


def _find_sheet(sheets: list[InterventionSheet], name: str) -> InterventionSheet:
    """Return the sheet of the intervention with this id. Raises ClickException if none exists."""
    sheet = next((sheet for sheet in sheets if sheet.id == name), None)
    if sheet is None:
        known_names = format_known_names(name, (sheet.id for sheet in sheets))
        raise click.ClickException(f"there is no intervention {name!r}; {known_names}")
    return sheet


@command.command("list")
@add_format_options
@_state
def list_(state: Path | None, *, output_format: OutputFormat) -> None:
    """List every intervention, oldest first."""
    with _read_sheets(state) as sheets:
        columns = ("sheet", "stopped", "ended", "person", "reason", "doors")
        rows = (
            (sheet.id, sheet.stopped, sheet.ended or "open", sheet.person, sheet.reason, sheet.doors)
            for sheet in sheets
        )
        show_table(
            output_format,
            Table(columns, rows, empty_text="no intervention"),
            document=[*map(_build_document, sheets)],
        )


@command.command("show")
@click.argument("name")
@LANGUAGE
@_state
def show(name: str, language: str, state: Path | None) -> None:
    """Print the sheet of one intervention as text."""
    with _read_sheets(state) as sheets:
        echo(_format_sheet(_find_sheet(sheets, name), language), nl=False)


@command.command("export")
@click.argument("name")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The file to write."
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["pdf", "text", "json"]),
    default="pdf",
    show_default=True,
    help="The format of the file.",
)
@LANGUAGE
@_state
def export(name: str, out: Path, output_format: str, language: str, state: Path | None) -> None:
    """Write the sheet of one intervention to a file, for printing, signing and filing."""
    with _read_sheets(state) as sheets:
        sheet = _find_sheet(sheets, name)
    if output_format == "pdf":
        title = Texts(language).say("service.sheet.title", number=sheet.id)
        content = build_pdf(title, sheet.tables(), Texts(language), NO_MONEY)
    elif output_format == "text":
        content = _format_sheet(sheet, language).encode()
    else:
        content = json.dumps(_build_document(sheet), ensure_ascii=False, indent=1).encode()
    write_result(out, content, sheet.id)


@command.command("day")
@click.argument("date", type=click.DateTime(["%Y-%m-%d"]))
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The PDF to write."
)
@LANGUAGE
@_state
def day(date: datetime, out: Path, language: str, state: Path | None) -> None:
    """Write every sheet of one day to one PDF, for the management (Monaco art. 20.3).

    A sheet belongs to the gaming day on which its machine was stopped; an intervention still open is included
    and marked as open. The first page lists all sheets, so that a missing one is noticed.
    """
    with _open_view(state) as view:
        sheets = list(iter_sheets(view, FEATURES.entries))
        powered = next(view.entries((POWER_UP.kind,), newest_first=True, limit=1), None)
    days = GamingDay.read_recorded(None if powered is None else powered.record)
    of_day = [
        sheet for sheet in sheets if days.find_date(datetime.fromisoformat(sheet.stopped)) == date.date()
    ]
    texts = Texts(language)
    title = texts.say("service.sheet.day", date=date.date().isoformat(), number=len(of_day))
    listed = LinesTable(
        columns=build_column_titles("id", "time", "ended", "person", "reason"),
        rows=tuple(
            PageRow(
                cells=(
                    say_plain(sheet.id),
                    say_time(sheet.stopped),
                    say_time(sheet.ended) if sheet.ended else say("service.sheet.open"),
                    say_plain(sheet.person),
                    say_plain(sheet.reason),
                )
            )
            for sheet in of_day
        ),
    )
    tables = [listed]
    for sheet in of_day:
        head = say("service.sheet.title", number=sheet.id)
        tables += [table.model_copy(update={"title": table.title or head}) for table in sheet.tables()]
    write_result(out, build_pdf(title, tables, texts, NO_MONEY), format_count(len(of_day), "sheet"))


def _format_sheet(sheet: InterventionSheet, language: str) -> str:
    """Return a sheet as plain text."""
    texts = Texts(language)
    return format_as_text(texts.say("service.sheet.title", number=sheet.id), sheet.tables(), texts, NO_MONEY)


def _build_document(sheet: InterventionSheet) -> dict[str, Any]:
    """Return the sheet of an intervention as JSON data."""
    changed_meters = {
        name: {"before": old, "after": new} for name, (old, new) in sheet.changed_meters.items()
    }
    data = asdict(sheet)
    data["lines"] = [
        {"when": line.when, "what": line.what, "person": ", ".join(line.authors)} for line in sheet.lines
    ]
    data["before"], data["after"] = data.pop("meters_before"), data.pop("meters_after")
    return {**data, "doors": list(sheet.doors), "moved": changed_meters}

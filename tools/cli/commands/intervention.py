"""``egm intervention``: the sheets of interventions on a machine, derived from its journal alone."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from egm.app.features import FEATURES
from egm.gaming_day import GamingDay
from egm.kernel.service_pages import PageRow, PageTable
from egm.screen.text import Texts
from egm.staff.intervention_sheet import InterventionSheet, iter_sheets
from egm.staff.page_texts import build_column_titles, build_plain_text, build_text, build_time_text
from paytables.wording import format_count, format_known_names
from tools.cli.day import DayParameter
from tools.cli.journal_source import EXPORT_OPTION, STATE_OPTION, open_journal_entries
from tools.cli.result_file import write_result
from tools.cli.sheet_head import SheetHead
from tools.cli.sheets import LANGUAGE_OPTION, NO_CURRENCY_CODE, build_pdf, format_as_text
from tools.cli.tables import OutputFormat, Table, add_format_options, show
from tools.cli.terminal import echo


@click.group()
def command() -> None:
    """List and print interventions: who opened the machine, why, and what was done (Monaco art. 20.3)."""


def _read_sheets(
    state_folder: Path | None, export_file: Path | None
) -> tuple[list[InterventionSheet], GamingDay]:
    """Return the sheets of all interventions in a journal, oldest first, and the venue's gaming day.

    The journal is read from a machine's memory or from ``export_file``. Raises ClickException if it is
    damaged or missing.
    """
    sheet_head = SheetHead()
    with open_journal_entries(state_folder, export_file) as entries:
        sheets = list(iter_sheets(sheet_head.watch_entries(entries), FEATURES.entry_declarations))
    return sheets, sheet_head.gaming_day


def _find_sheet(sheets: list[InterventionSheet], sheet_id: str) -> InterventionSheet:
    """Return the sheet of the intervention with this id. Raises ClickException if none exists."""
    sheet = next((sheet for sheet in sheets if sheet.id == sheet_id), None)
    if sheet is None:
        known_names = format_known_names(sheet_id, (sheet.id for sheet in sheets))
        raise click.ClickException(f"there is no intervention {sheet_id!r}; {known_names}")
    return sheet


@command.command("list")
@add_format_options
@STATE_OPTION
@EXPORT_OPTION
def list_(state_folder: Path | None, export_file: Path | None, *, output_format: OutputFormat) -> None:
    """List every intervention, oldest first."""
    sheets, _ = _read_sheets(state_folder, export_file)
    columns = ("sheet", "stopped", "ended", "person", "reason", "doors")
    rows = (
        (
            sheet.id,
            sheet.opened_time,
            sheet.closed_time or "open",
            sheet.person,
            sheet.reason,
            sheet.opened_doors,
        )
        for sheet in sheets
    )
    show(
        output_format,
        Table(columns, rows, empty_text="no intervention"),
        document=[*map(_build_document, sheets)],
    )


@command.command("show")
@click.argument("name")
@LANGUAGE_OPTION
@STATE_OPTION
@EXPORT_OPTION
def show_(name: str, language: str, state_folder: Path | None, export_file: Path | None) -> None:
    """Print the sheet of one intervention as text."""
    sheets, _ = _read_sheets(state_folder, export_file)
    echo(_format_sheet(_find_sheet(sheets, name), language), nl=False)


@command.command("export")
@click.argument("name")
@click.option(
    "--out",
    "output_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["pdf", "text", "json"]),
    default="pdf",
    show_default=True,
    help="The format of the file.",
)
@LANGUAGE_OPTION
@STATE_OPTION
@EXPORT_OPTION
def export(
    name: str,
    output_file: Path,
    output_format: str,
    language: str,
    state_folder: Path | None,
    export_file: Path | None,
) -> None:
    """Write the sheet of one intervention to a file, for printing, signing and filing."""
    sheets, _ = _read_sheets(state_folder, export_file)
    sheet = _find_sheet(sheets, name)
    if output_format == "pdf":
        title = Texts(language).translate("service.sheet.title", number=sheet.id)
        content = build_pdf(title, sheet.build_tables(), Texts(language), NO_CURRENCY_CODE)
    elif output_format == "text":
        content = _format_sheet(sheet, language).encode()
    else:
        content = json.dumps(_build_document(sheet), ensure_ascii=False, indent=1).encode()
    write_result(output_file, content, sheet.id)


@command.command("day")
@click.argument("date", metavar="YYYY-MM-DD", type=DayParameter())
@click.option(
    "--out",
    "output_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The PDF to write.",
)
@LANGUAGE_OPTION
@STATE_OPTION
@EXPORT_OPTION
def day(
    date: datetime, output_file: Path, language: str, state_folder: Path | None, export_file: Path | None
) -> None:
    """Write every sheet of one gaming day to one PDF for the management.

    Monaco art. 20.3 requires it. A sheet belongs to the gaming day on which the intervention stopped the
    machine; an unfinished intervention is marked as open. The first page lists all sheets, so that a missing
    sheet is noticed.
    """
    sheets, gaming_day = _read_sheets(state_folder, export_file)
    day_sheets = [
        sheet
        for sheet in sheets
        if gaming_day.find_date(datetime.fromisoformat(sheet.opened_time)) == date.date()
    ]
    texts = Texts(language)
    title = texts.translate("service.sheet.day", date=date.date().isoformat(), number=len(day_sheets))
    overview_table = PageTable(
        columns=build_column_titles("id", "time", "ended", "person", "reason"),
        rows=tuple(
            PageRow(
                cells=(
                    build_plain_text(sheet.id),
                    build_time_text(sheet.opened_time),
                    build_time_text(sheet.closed_time)
                    if sheet.closed_time
                    else build_text("service.sheet.open"),
                    build_plain_text(sheet.person),
                    build_plain_text(sheet.reason),
                )
            )
            for sheet in day_sheets
        ),
    )
    tables = [overview_table]
    for sheet in day_sheets:
        sheet_title = build_text("service.sheet.title", number=sheet.id)
        tables += [
            table.model_copy(update={"title": table.title or sheet_title}) for table in sheet.build_tables()
        ]
    write_result(
        output_file, build_pdf(title, tables, texts, NO_CURRENCY_CODE), format_count(len(day_sheets), "sheet")
    )


def _format_sheet(sheet: InterventionSheet, language: str) -> str:
    """Return a sheet as plain text."""
    texts = Texts(language)
    return format_as_text(
        texts.translate("service.sheet.title", number=sheet.id), sheet.build_tables(), texts, NO_CURRENCY_CODE
    )


def _build_document(sheet: InterventionSheet) -> dict[str, Any]:
    """Return the sheet of an intervention as JSON data."""
    changed_meters = {
        name: {"before": value_before, "after": value_after}
        for name, (value_before, value_after) in sheet.changed_meters.items()
    }
    sheet_data = asdict(sheet)
    sheet_data["lines"] = [
        {"when": line.time_utc, "what": line.event_and_subject, "person": ", ".join(line.actors)}
        for line in sheet.lines
    ]
    sheet_data["before"], sheet_data["after"] = (
        sheet_data.pop("meters_before"),
        sheet_data.pop("meters_after"),
    )
    sheet_data["stopped"], sheet_data["ended"] = sheet_data.pop("opened_time"), sheet_data.pop("closed_time")
    sheet_data["ended_by"] = sheet_data.pop("closed_by")
    return {**sheet_data, "doors": list(sheet.opened_doors), "moved": changed_meters}

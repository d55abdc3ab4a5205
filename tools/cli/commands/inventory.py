"""``egm inventory``: the machine's inventory entry and technical sheet, from its journal alone."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from egm.screen.text import Texts
from egm.staff.inventory import TechnicalSheet, read_technical_sheet
from tools.cli.journal_source import EXPORT_OPTION, STATE_OPTION, open_journal, open_journal_entries
from tools.cli.result_file import write_result
from tools.cli.sheets import LANGUAGE_OPTION, NO_CURRENCY_CODE, build_pdf, format_as_text
from tools.cli.tables import Column, OutputFormat, Table, add_format_options, show
from tools.cli.terminal import echo, format_json
from tools.floor import machine_register


@click.group()
def command() -> None:
    """Print what the venue's inventory records of this machine, now and in the past (Monaco arts 19.1-19.4)."""


@contextmanager
def _open_sheet(state_folder: Path | None, export_file: Path | None) -> Iterator[TechnicalSheet]:
    """Yield the technical sheet of a machine. Raises ClickException if its journal has no inventory entry."""
    with open_journal(state_folder, export_file) as view:
        sheet = read_technical_sheet(view)
        if not sheet.current_values:
            raise click.ClickException("this machine has recorded no inventory entry yet: start it once")
        yield sheet


@command.command("show")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
@LANGUAGE_OPTION
@STATE_OPTION
@EXPORT_OPTION
def show_(language: str, state_folder: Path | None, export_file: Path | None, *, as_json: bool) -> None:
    """Print the machine's technical sheet."""
    with _open_sheet(state_folder, export_file) as sheet:
        if as_json:
            text = format_json({"now": sheet.current_values, "changes": sheet.changes}) + "\n"
        else:
            texts = Texts(language)
            text = format_as_text(_format_title(texts, sheet), sheet.build_tables(), texts, NO_CURRENCY_CODE)
    echo(text, nl=False)


@command.command("export")
@click.option(
    "--out",
    "output_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write.",
)
@click.option(
    "--copy",
    "copy_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file for the duplicate.",
)
@LANGUAGE_OPTION
@STATE_OPTION
@EXPORT_OPTION
def export(
    output_file: Path, copy_file: Path, language: str, state_folder: Path | None, export_file: Path | None
) -> None:
    """Write the machine's technical sheet as two PDF files: for the management and for the secretariat.

    A rule of the jurisdiction requires the two copies.
    """
    texts = Texts(language)
    with _open_sheet(state_folder, export_file) as sheet:
        content = build_pdf(_format_title(texts, sheet), sheet.build_tables(), texts, NO_CURRENCY_CODE)
    for path in (output_file, copy_file):
        write_result(path, content, f"SHA-256 {hashlib.sha256(content).hexdigest()}")


@command.command("house")
@click.argument("machines", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@add_format_options
def house_(machines: tuple[Path, ...], *, output_format: OutputFormat) -> None:
    """List the venue's cabinet stands (bases) and machines. Each MACHINE is a state folder or an exported journal.

    Exit status 1 if two machines state the same base, serial number or operator's number.
    """
    house_machines = []
    for path in machines:
        folder, file = (path, None) if path.is_dir() else (None, path)
        with open_journal_entries(folder, file) as entries:
            house_machines.append(machine_register.read_machine(str(path), entries))
        if not house_machines[-1].inventory_entry:
            raise click.ClickException(f"{path}: no inventory entry is recorded yet: start the machine once")
    machine_rows = sorted(
        (machine.to_json() for machine in house_machines),
        key=lambda row: (row["base_number"], row["serial"]),
    )
    columns = [Column(name.replace("_", " "), name) for name in machine_rows[0]]
    show(output_format, Table(columns, (row.values() for row in machine_rows)))
    if duplicates := machine_register.list_duplicate_identifiers(house_machines):
        raise click.ClickException("\n".join(duplicates))


def _format_title(texts: Texts, sheet: TechnicalSheet) -> str:
    """Return the title of a technical sheet."""
    return texts.translate(
        "service.inventory.title",
        number=sheet.current_values["operator_number"],
        serial=sheet.current_values["serial"],
    )

"""``egm memory``: show the two media of a machine's memory, and replace the second one."""

from pathlib import Path

import click

from egm.config.cabinet_file import find_default_state_folder
from egm.people import Permission
from meters import JournalError
from meters.copies import SECOND_FOLDER
from meters.media import MediumLabel, MediumName, find_pairing, replace_second
from meters.storage import DiskStorage
from tools.cli.journal_source import STATE_OPTION
from tools.cli.memory_folder import find_memory_folder
from tools.cli.printed_text import REASON_TYPE
from tools.cli.staff import authenticate_for, load_roster
from tools.cli.tables import OutputFormat, Table, add_format_options, build_number_column, show
from tools.cli.terminal import echo

#: The option that names the folder of the second copy.
_SECOND_FOLDER_OPTION = click.option(
    "--second-copy",
    "--second",
    "second_folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The folder of the memory's second copy.",
)


@click.group()
def command() -> None:
    """Show the two media of a machine's memory, and replace the second one."""


@command.command("show")
@STATE_OPTION
@_SECOND_FOLDER_OPTION
@add_format_options
def show_(state_folder: Path | None, second_folder: Path | None, *, output_format: OutputFormat) -> None:
    """Print what each medium is, and whether both belong to this machine; the machine may be running."""
    folder = find_memory_folder(state_folder, second_folder)
    second_folder = second_folder or folder / SECOND_FOLDER
    storage = DiskStorage()
    rows, missing_label_texts = [], []
    for medium_name, medium_folder in zip(MediumName, (folder, second_folder), strict=True):
        free_mib = None
        try:
            label = MediumLabel.read(storage, medium_folder)
            missing_label_texts += (
                [f"the {medium_name} medium has no label: {medium_folder}"] if label is None else []
            )
            label_text = (
                "no label" if label is None else f"{label.name} of machine {label.machine_id}, {label.id}"
            )
            free_mib = storage.count_free_bytes(medium_folder) >> 20
        except JournalError as error:
            label_text = str(error)
        rows.append((str(medium_name), str(medium_folder), label_text, free_mib))
    pairing_error = ""
    try:
        pairing_text = find_pairing(storage, folder, second_folder, "").second_medium_error
        pairing_text = pairing_text or "\n".join(missing_label_texts) or "both media are this machine's"
    except JournalError as error:
        pairing_text, pairing_error = "", str(error)
    show(
        output_format,
        Table(("medium", "folder", "label", build_number_column("MiB free")), rows),
        text_after=pairing_text,
    )
    if pairing_error:
        raise click.ClickException(pairing_error)


@command.command()
@STATE_OPTION
@_SECOND_FOLDER_OPTION
@click.option("--person", required=True, help="Your staff number.")
@click.option("--reason", type=REASON_TYPE, required=True, help="Why the medium is replaced.")
def replace(state_folder: Path | None, second_folder: Path | None, person: str, reason: str) -> None:
    """Register the medium mounted at --second-copy as the new second medium.

    The machine copies to it at its next start.
    """
    folder = state_folder or find_default_state_folder()
    roster = load_roster(folder, second_folder)
    if roster.person_by_staff_number:
        authenticate_for(roster, person, Permission.CLEAR_MEMORY)
    try:
        label = replace_second(
            DiskStorage(), folder, second_folder or folder / SECOND_FOLDER, f"{person}: {reason.strip()}"
        )
    except JournalError as error:
        raise click.ClickException(str(error)) from error
    echo(f"medium {label.id} replaces the second one; restart the machine to fill it")

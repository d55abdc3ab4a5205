"""``egm backup``: back up and restore cabinet file, staff and certificates; never a journal."""

from dataclasses import replace
from pathlib import Path

import click

from egm.clock import SystemClock
from egm.config.cabinet_file import CabinetFile, StateFolder, find_default_state_folder, load_cabinet
from egm.config.mistakes import read_toml
from egm.errors import OperatorError
from egm.integrity.signed_file import SIGNATURE_FILE_NAME, CabinetFileSignature, compute_cabinet_file_digest
from egm.people import Permission, Roster, RosterError, read_recorded_roster
from egm.private_files import replace_private_file
from meters import JournalError, open_view
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.lock import FolderLock
from meters.machine_key import format_fingerprint
from meters.recall import read_details
from meters.storage import DiskStorage
from tools.cli.backup import CABINET_FILE_NAME, LINK_FILE_KEYS, STAFF_FILE_NAME, Backup, load_machine_key
from tools.cli.printed_text import REASON_TYPE
from tools.cli.staff import authenticate_for, load_roster
from tools.cli.tables import OutputFormat, Table, add_format_options, build_facts_table, show
from tools.cli.terminal import echo

#: The option that names the state folder.
_STATE_OPTION = click.option(
    "--state", "state_folder", type=click.Path(path_type=Path, file_okay=False), help="The state folder."
)
#: The option that names the cabinet file.
_CABINET_OPTION = click.option(
    "--cabinet", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The cabinet file."
)


@click.group()
def command() -> None:
    """Back up and restore cabinet file, staff and certificates. A journal is never restored."""


@command.command("create")
@click.argument("output_file", metavar="OUT", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--person", required=True, help="Your staff number; your role must allow enrolling others.")
@_CABINET_OPTION
@_STATE_OPTION
def create(output_file: Path, cabinet: Path, person: str, state_folder: Path | None) -> None:
    """Write a signed backup to OUT, readable by its owner only: it contains PIN digests and the link's key."""
    folder = state_folder or find_default_state_folder()
    try:
        second_folder = load_cabinet(cabinet).memory.second_copy
        authenticate_for(load_roster(folder, second_folder), person, Permission.ENROL_STAFF)
        backup = Backup.create(folder, cabinet, SystemClock().now().isoformat(timespec="seconds"))
        replace_private_file(output_file, backup.format_signed_text(load_machine_key(folder)))
    except (OperatorError, JournalError) as error:
        raise click.ClickException(str(error)) from error
    echo(
        f"{output_file}: {', '.join(backup.files)} of machine {backup.machine_serial}, at entry {backup.sequence}"
    )


@command.command("show")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@add_format_options
def show_(file: Path, *, output_format: OutputFormat) -> None:
    """Show the contents of the backup FILE, and the machine it belongs to."""
    try:
        backup = Backup.read(file)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
    fields = {
        "machine": backup.machine_serial,
        "key": format_fingerprint(bytes.fromhex(backup.public_key)),
        "made": backup.created_at,
        "journal's entry then": backup.sequence,
    }
    rows = [(name, len(data)) for name, data in backup.files.items()]
    show(
        output_format,
        build_facts_table(fields.items()),
        Table(("file", "bytes"), rows),
        document={**fields, "files": dict(rows)},
    )


@command.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--person", required=True, help="Your staff number.")
@click.option(
    "--second-person",
    "--second",
    "second_person",
    metavar="NUMBER",
    required=True,
    help="The second person's staff number.",
)
@click.option("--reason", type=REASON_TYPE, required=True, help="The reason; it is recorded in the journal.")
@_CABINET_OPTION
@_STATE_OPTION
def restore(
    file: Path, cabinet: Path, person: str, second_person: str, reason: str, state_folder: Path | None
) -> None:
    """Restore FILE on a stopped machine; two people confirm their identity and sign the cabinet file.

    If the state folder has no journal, everything is restored, and the two people must be staff of the
    backup. A machine with a journal accepts only a backup made with its own key, and keeps the staff that its
    journal records. It accepts the restored cabinet file at its next start if no player has money or a game on it
    then; otherwise it stops with a fault.
    """
    folder = StateFolder(state_folder or find_default_state_folder())
    if person == second_person:
        raise click.ClickException("a restoration needs two different people")
    try:
        backup = Backup.read(file)
        folder.create_private_folders()
        lock = FolderLock(folder.root)
        try:
            for line in _restore(folder, backup, cabinet, (person, second_person), reason):
                echo(line)
        finally:
            lock.release()
    except (OperatorError, JournalError) as error:
        raise click.ClickException(str(error)) from error


def _restore(
    folder: StateFolder, backup: Backup, cabinet_file: Path, staff_numbers: tuple[str, str], reason: str
) -> list[str]:
    """Restore a backup on a stopped machine; return one line of text for each thing done.

    Every check is made, and OperatorError raised, before anything is written.
    """
    cabinet_text = backup.files[CABINET_FILE_NAME].decode()
    cabinet, mistakes = read_toml(cabinet_text, CabinetFile)
    if cabinet is None:
        raise OperatorError("\n".join(f"the backup's cabinet file: {mistake}" for mistake in mistakes))
    cabinet = cabinet.with_resolved_paths(cabinet_file.absolute().parent)
    second_folder = cabinet.memory.second_copy or folder.root / SECOND_FOLDER
    has_journal = JournalLocation(DiskStorage(), folder.root, second_folder).has_journal
    if has_journal:
        _require_journal_with_backup_entry(folder, backup, second_folder)
    backup_roster = _read_roster(folder, backup)
    roster = load_roster(folder.root, second_folder) if has_journal else backup_roster
    signers = [authenticate_for(roster, number, Permission.CONFIGURE) for number in staff_numbers]
    report_lines = [_restore_staff(folder, second_folder, backup_roster, has_journal=has_journal)]
    for name in LINK_FILE_KEYS:
        if name in backup.files and cabinet.progressive_link is not None:
            path: Path = getattr(cabinet.progressive_link, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_private_file(path, backup.files[name])
            report_lines.append(f"{name} of the progressive link: {path}")
    signed_time = SystemClock().now().isoformat(timespec="seconds")
    signer_numbers = tuple(person.id for person in signers)
    CabinetFileSignature(
        compute_cabinet_file_digest(cabinet_text), signer_numbers, reason, signed_time
    ).write(folder.root / SIGNATURE_FILE_NAME)
    replace_private_file(cabinet_file, cabinet_text)
    return [*report_lines, f"{cabinet_file}: restored, signed by {' and '.join(signer_numbers)}"]


def _read_roster(folder: StateFolder, backup: Backup) -> Roster:
    """Return the backup's staff. Raises OperatorError if the roster was altered."""
    temporary_file = folder.roster_file.with_name("people.given-back.json")
    try:
        replace_private_file(temporary_file, backup.files.get(STAFF_FILE_NAME, b""))
        return replace(Roster.load(temporary_file), path=folder.roster_file)
    finally:
        temporary_file.unlink(missing_ok=True)


def _require_journal_with_backup_entry(folder: StateFolder, backup: Backup, second_folder: Path) -> None:
    """Raise OperatorError unless the journal continues the one from which the backup was made.

    It must belong to the same machine and key, and contain the entry that was the last one at the time of the backup.
    """
    with open_view(folder.root, second_folder=second_folder) as view:
        machine_serial = str(read_details(next(view.entries(limit=1))).get("machine_id", ""))
        sequence = view.sequence
        entry_at_backup = next(view.entries(after_sequence=backup.sequence - 1, limit=1), None)
    if backup.machine_serial != machine_serial:
        raise OperatorError(
            f"the backup belongs to machine {backup.machine_serial}, this memory to {machine_serial}"
        )
    if backup.public_key != load_machine_key(folder.root).public_key.hex():
        raise OperatorError(
            f"the backup was made with another key of machine {machine_serial} than the present one"
        )
    if backup.sequence > sequence:
        raise OperatorError(
            f"the backup was made at entry {backup.sequence}, but this memory ends at {sequence}: an older memory "
            "has replaced the one that went on playing"
        )
    if (
        entry_at_backup is not None
        and entry_at_backup.sequence == backup.sequence
        and entry_at_backup.hash_hex != backup.head_hash
    ):
        raise OperatorError(f"entry {backup.sequence} of this memory is not the one in the backup")


def _restore_staff(
    folder: StateFolder, second_folder: Path, backup_roster: Roster, *, has_journal: bool
) -> str:
    """Restore the backup's staff; return as text what was done.

    If the machine has a journal, and the journal records another roster, leave the machine's staff unchanged.
    """
    if has_journal:
        try:
            read_recorded_roster(folder.root, second_folder).check_roster(backup_roster)
        except RosterError as error:
            return f"staff: left as it is (the backup's roster: {str(error).rpartition(': ')[2]})"
    (second_folder / folder.roster_file.name).unlink(missing_ok=True)
    backup_roster.write_to(folder.roster_file)
    return "staff: restored"

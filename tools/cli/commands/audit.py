"""``egm audit``: export a journal, verify one, read its logs, and clear a machine that cannot be repaired."""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from egm.app.features import FEATURES
from egm.config.cabinet_file import find_default_state_folder
from egm.kernel.logs import Log
from meters import (
    JournalDamaged,
    JournalError,
    JournalUnwritable,
    JournalView,
    StoredEntry,
    export,
    open_view,
    recall,
)
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.machine_key import MachineKey, format_fingerprint
from meters.storage import DiskStorage
from paytables.source import open_regular_file, read_contents
from paytables.wording import format_count
from tools.audit import saved_state
from tools.audit.games import GameFiles
from tools.audit.jobs import JobError
from tools.audit.log_text import format_log_lines
from tools.audit.tickets import find_ticket_ledger_error
from tools.audit.verify import AuditFinding, Auditor, AuditReport
from tools.cli.commands.clearing import clear_, inspect_
from tools.cli.journal_source import EXPORT_OPTION, STATE_OPTION, open_journal, open_journal_entries
from tools.cli.memory_folder import find_memory_folder
from tools.cli.result_file import open_result_file, resolve_links
from tools.cli.tables import OutputFormat, Table, add_format_options, find_terminal_width, show, show_progress
from tools.cli.terminal import Terminal, echo, escape_markup, format_json, make_printable
from tools.cli.whole_number import WholeNumber

#: The option for JSON output.
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="For scripts.")
#: The option that names the folder of the second copy.
SECOND_FOLDER_OPTION = click.option(
    "--second-copy",
    "--second",
    "second_folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The folder of the memory's second copy.",
)


#: Hexadecimal digits of a complete hash.
_HASH_DIGIT_COUNT = 64
#: The least number of hexadecimal digits of a hash that a person must state.
_WITNESS_DIGITS_MIN = 12
#: Most digits of a sequence number, and of the hash as a number in a metric.
_SEQUENCE_DIGITS_MAX = 19


@click.group()
def command() -> None:
    """Export, verify and read the journal of a machine."""


@command.command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@STATE_OPTION
@SECOND_FOLDER_OPTION
@click.option(
    "--since",
    "after_sequence",
    default=0,
    type=WholeNumber(min=0),
    help="Only entries after this sequence number.",
)
def export_(file: Path, state_folder: Path | None, second_folder: Path | None, after_sequence: int) -> None:
    """Write the complete journal to FILE with its archive, signed; the machine may be running.

    Before it signs, the export checks that this machine wrote every entry (CRC and signature), and that none
    is missing at the end.
    """
    folder = find_memory_folder(state_folder)
    try:
        key = MachineKey.load(DiskStorage(), folder)
        if key is None:
            raise click.ClickException(
                f"{folder}: no machine has been started in this folder: there is no machine key to sign with"
            )
        with (
            show_progress("checking and writing"),
            open_view(folder, key=key, second_folder=second_folder) as view,
            open_result_file(file) as output,
        ):
            count = export.write_export(view, key, output, datetime.now(UTC), after_sequence=after_sequence)
    except (JournalError, OSError) as error:
        raise click.ClickException(str(error)) from error
    echo(f"{file}: {format_count(count, 'entry', 'entries')}, machine key {key.fingerprint}")


@command.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False, exists=True))
@STATE_OPTION
@SECOND_FOLDER_OPTION
@click.option(
    "--games",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder of game definitions, in addition to the library.",
)
@click.option("--fingerprint", help="The machine's key as shown on its screen; a different key is an error.")
@click.option(
    "--after",
    "earlier_export",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="An earlier export, which must be the beginning of this journal.",
)
@click.option(
    "--witness",
    "witnesses",
    multiple=True,
    help="A journal head that was printed, shown or exported: SEQUENCE:HASH (or its beginning), the metrics'"
    " SEQUENCE=NUMBER, or a file of such; repeatable.",
)
@click.option(
    "--point",
    "point_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Continue the audit saved in this file, and save it there again if nothing is wrong.",
)
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    type=WholeNumber(min=1, max=64),
    help="The number of processes that replay games; the report does not depend on it.",
)
@JSON_OPTION
def verify(
    *,
    file: Path | None,
    state_folder: Path | None,
    second_folder: Path | None,
    games: tuple[Path, ...],
    fingerprint: str | None,
    earlier_export: Path | None,
    witnesses: tuple[str, ...],
    point_file: Path | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Verify FILE from its entries: chain, signatures, balances, meters, and every game from its draws.

    Without FILE, verify both copies in the state folder, each with the archive on its medium. With --point,
    verify only the entries added since the last run. Exit status 1 if anything is wrong; a repaired memory or
    a moved clock is a notice, not a fault. The disk also holds the signing key: use --fingerprint, --after
    and --witness to detect a journal that was rewritten with it.
    """
    if point_file is not None and (earlier_export is not None or witnesses):
        raise click.UsageError(
            "--after and --witness need the whole journal and cannot be combined with --point"
        )
    if point_file is not None:
        point_file = resolve_links(point_file)
    game_files = GameFiles(games)
    try:
        earlier_heads = dict([_read_export_head(earlier_export)]) if earlier_export else {}
        witnessed_heads = list(_parse_witnesses(witnesses))

        def create_auditor(point_file: Path | None) -> Auditor:
            """Return a new auditor, or one that continues from the state saved at ``point_file``."""
            return (
                Auditor(game_files, earlier_heads, witnessed_heads)
                if point_file is None
                else saved_state.load_auditor(point_file, game_files)
            )

        with show_progress("recomputing everything"):
            reports = _audit_export_or_copies(
                file, state_folder, second_folder, create_auditor, point_file, jobs
            )
    except (JournalError, JobError) as error:
        raise click.ClickException(str(error)) from error
    for report in reports.values():
        report.is_key_compared = bool(fingerprint)
        if fingerprint and report.fingerprint != fingerprint:
            report.add_finding(
                AuditFinding(0, "", f"the machine's key is {report.fingerprint}, expected {fingerprint}")
            )
    if as_json:
        echo(format_json({name: report.to_json() for name, report in reports.items()}))
    else:
        for name, report in reports.items():
            _print_report(name, report)
    raise SystemExit(1 if any(report.finding_count for report in reports.values()) else 0)


def _audit_export_or_copies(
    file: Path | None,
    state_folder: Path | None,
    second_folder: Path | None,
    create_auditor: Callable[[Path | None], Auditor],
    point_file: Path | None,
    jobs: int,
) -> dict[str, AuditReport]:
    """Return the audit report of the exported file, or of each copy in a state folder, by the name of file or copy.

    If a state folder is audited, an error of its ticket ledger is a finding of the first report.
    """
    if file is not None:
        return {str(file): _audit_export(file, create_auditor(point_file), point_file, jobs)}
    folder = state_folder or find_default_state_folder()
    second_folder = second_folder or folder / SECOND_FOLDER
    reports = _audit_both_copies(folder, second_folder, create_auditor, point_file, jobs)
    error_text = find_ticket_ledger_error(folder, second_folder)
    if error_text:
        next(iter(reports.values())).add_finding(AuditFinding(0, "", error_text))
    return reports


def _read_export_head(file: Path) -> tuple[int, str]:
    """Return the number and hash of the last entry of an earlier export, from its header."""
    with open_regular_file(file) as source:
        header = export.ExportReader(source, str(file)).header
    return header.sequence, header.head_hash


def _parse_witnesses(witnesses: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (sequence, hash) of each journal head, given as SEQUENCE:HASH or as the name of a file of such lines.

    SEQUENCE=NUMBER is accepted as well, with the values of the metrics ``egm_journal_sequence`` and
    ``egm_journal_head``. Raises ClickException for any other text.
    """
    for text in witnesses:
        path = Path(text)
        lines = read_contents(path).decode().split() if path.is_file() else [text]
        for line in lines:
            sequence, _, hash_hex = _convert_metric_to_witness(line).partition(":")
            hash_hex = hash_hex.lower()
            is_sequence = sequence.isascii() and sequence.isdigit() and len(sequence) <= _SEQUENCE_DIGITS_MAX
            is_hash_prefix = _WITNESS_DIGITS_MIN <= len(hash_hex) <= _HASH_DIGIT_COUNT and not set(
                hash_hex
            ) - set("0123456789abcdef")
            if not (is_sequence and is_hash_prefix):
                raise click.ClickException(
                    f"{make_printable(line)!r} is not a witness: write SEQUENCE:HASH,"
                    f" with at least {_WITNESS_DIGITS_MIN} hexadecimal digits"
                )
            yield int(sequence), hash_hex


def _convert_metric_to_witness(line: str) -> str:
    """Convert a line of the form ``SEQUENCE=NUMBER``, as in the metrics, to ``SEQUENCE:HASH``.

    NUMBER is the metric ``egm_journal_head``: the first twelve hexadecimal digits of the hash as a number, perhaps
    written as a float. Any other line is returned unchanged.
    """
    sequence, equals_sign, number = line.partition("=")
    try:
        decimal_value = Decimal(number) if equals_sign else Decimal(0)
        return (
            f"{sequence}:{int(decimal_value):012x}"
            if equals_sign and decimal_value.adjusted() < _SEQUENCE_DIGITS_MAX
            else line
        )
    except (ArithmeticError, ValueError):
        return line


def _conclude_audit(report: AuditReport, auditor: Auditor, point_file: Path | None) -> AuditReport:
    """Return the audit report; if nothing was wrong, save the auditor's state to ``point_file`` for the next run."""
    if point_file is not None and not report.finding_count:
        saved_state.save_auditor(auditor, point_file)
    return report


def _audit_export(file: Path, auditor: Auditor, point_file: Path | None, jobs: int) -> AuditReport:
    """Verify an exported journal and return the report; a saved audit continues after its last entry."""
    with open_regular_file(file) as source:
        reader = export.ExportReader(source, str(file))
        header, (last_sequence, _) = reader.header, auditor.last_entry_checked
        if header.after_sequence > last_sequence:
            reason = (
                f"this export begins after entry {header.after_sequence}, but only entries up to {last_sequence} "
                "have been verified. Verify the earlier export first with --point FILE, then this one with the same "
                "FILE"
            )
            raise JournalDamaged(str(file), reason)
        bodies = itertools.islice(reader.iter_bodies(), last_sequence - header.after_sequence, None)
        report = auditor.audit_entries(bodies, expected_head=(header.sequence, header.head_hash), jobs=jobs)
    if reader.footer_error:
        report.add_finding(AuditFinding(0, "", reader.footer_error))
    if auditor.public_key != header.public_key:
        report.add_finding(
            AuditFinding(0, "", "the key that signed the file is not the one the journal begins with")
        )
    return _conclude_audit(report, auditor, point_file)


def _audit_both_copies(
    folder: Path,
    second_folder: Path,
    create_auditor: Callable[[Path | None], Auditor],
    point_file: Path | None,
    jobs: int,
) -> dict[str, AuditReport]:
    """Return the audit report of each copy of the journal in a state folder, by the copy's name.

    Each copy is verified with the archive on its own medium, and continues from its own saved audit state.
    """
    key = _load_machine_key(folder, second_folder)
    second_point_file = None if point_file is None else point_file.with_name(point_file.name + ".second")
    # Read only the first medium: damage that the second could repair is a finding.
    with open_view(folder, key=key, second_folder=folder) as view:
        head = (view.sequence, view.head_hash)
        auditor = create_auditor(point_file)
        last_checked_sequence, _ = auditor.last_entry_checked
        first_report = _conclude_audit(
            auditor.audit_entries(view.iter_bodies(last_checked_sequence), expected_head=head, jobs=jobs),
            auditor,
            point_file,
        )
        location = JournalLocation(DiskStorage(), folder, second_folder)
        second_auditor = create_auditor(second_point_file)
        last_checked_sequence, _ = second_auditor.last_entry_checked
        bodies = view.iter_second_medium_bodies(location, last_checked_sequence)
        reports = {
            "first copy": first_report,
            "second copy": _conclude_audit(
                second_auditor.audit_entries(bodies, expected_head=head, jobs=jobs),
                second_auditor,
                second_point_file,
            ),
        }
    try:
        open_view(folder, key=key, second_folder=folder, check_pages=True).close()
    except JournalError as error:  # SQLite damage outside the entry bodies
        first_report.add_finding(AuditFinding(0, "", str(error)))
    return reports


def _load_machine_key(*folders: Path) -> MachineKey | None:
    """Return the machine's key, or None if it is missing or may not be read."""
    try:
        return MachineKey.load(DiskStorage(), *folders)
    except JournalUnwritable:
        return None


def _format_finding_entry(finding: AuditFinding) -> str:
    """Return the number and id of the entry that a finding is about, as text, or "the file as a whole" for number 0."""
    location_text = f"entry {finding.sequence}" if finding.sequence else "the file as a whole"
    return f"{location_text} {escape_markup(finding.id)}".rstrip()


def _print_report(copy_name: str, report: AuditReport) -> None:
    """Print the result of verifying one copy: what was checked, the findings and the notices."""
    console = Terminal()
    key_text = "" if report.is_key_compared else ", key not compared (--fingerprint)"
    console.print(
        f"[bold]{escape_markup(copy_name)}[/bold]  machine {escape_markup(report.machine_id) or '-'},"
        f" key {escape_markup(report.fingerprint)}{key_text}",
        highlight=False,
    )
    rate = report.game_count / report.duration_seconds if report.duration_seconds else 0
    console.print(
        f"  {format_count(report.entry_count, 'entry', 'entries')} chained to {report.head_hash[:16]},"
        f" {format_count(report.checkpoint_count, 'signed checkpoint')}; games: {report.game_count} replayed,"
        f" {report.void_game_count} void, {report.open_game_count} open;"
        f" {format_count(report.level_count, 'progressive level')} derived;"
        f" {format_count(report.matching_head_count, 'journal head')} given with --witness matched;"
        f" {report.duration_seconds:.2f} s ({rate:,.0f} games/s)"
    )
    for finding in report.findings:
        console.print(
            f"  [red]{_format_finding_entry(finding)}[/red]: {escape_markup(finding.text)}",
            highlight=False,
        )
    if report.notice_count > len(report.notices):
        console.print(
            f"  [yellow]{format_count(report.notice_count - len(report.notices), 'earlier notice')}, and:[/yellow]"
        )
    for notice in report.notices:
        console.print(
            f"  [yellow]notice[/yellow] {_format_finding_entry(notice)}: {escape_markup(notice.text)}",
            highlight=False,
        )
    if report.finding_count > len(report.findings):
        console.print(f"  [red]and {report.finding_count - len(report.findings)} more[/red]")
    console.print(
        "  [green]nothing wrong[/green]"
        if not report.finding_count
        else f"  [red]{report.finding_count} wrong[/red]"
    )


@command.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def readout(file: Path) -> None:
    """Check the signature of FILE, a meter readout written by `egm meters --json --sign`."""
    try:
        signed_readout = json.loads(read_contents(file))
        key = export.verify_readout(signed_readout, str(file))
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"{file}: not a readout of `egm meters --json --sign`: {error}") from error
    except JournalError as error:
        raise click.ClickException(str(error)) from error
    sequence = signed_readout["readout"]["sequence"]
    echo(f"{file}: entry {sequence}, machine key {format_fingerprint(key)}, valid signature")


# ---------------------------------------------------------------------- recall and logs
@command.command()
@click.argument("name", metavar="LOG", type=click.Choice(["plays", *(log.value for log in Log)]))
@click.option(
    "--last",
    "line_count_max",
    type=WholeNumber(min=1),
    help="The number of lines (default: the size of the log).",
)
@STATE_OPTION
@EXPORT_OPTION
@add_format_options
def log(
    *,
    name: str,
    line_count_max: int | None,
    state_folder: Path | None,
    export_file: Path | None,
    output_format: OutputFormat,
) -> None:
    """Print a log, newest first: plays, events, bills, vouchers (tickets), transfers, handpays ...

    It shows the journal entries as recorded; without --last, as many as the machine's own log shows. The
    registers that regulations require, complete and with their columns, are in `egm register`.
    """
    with open_journal(state_folder, export_file) as view:
        rows = _read_log(view, name, line_count_max)
    if output_format == "text":
        for line in format_log_lines(rows, find_terminal_width()) if rows else ["the log has no entries"]:
            echo(line)
        return
    names = tuple(rows[0]) if rows else ("entry", "time", "kind")
    show(output_format, Table(names, (row.values() for row in rows)), document=rows)


def _read_log(view: JournalView, log_name: str, entry_count_max: int | None) -> list[dict[str, Any]]:
    """Return the lines of a log, or of the log of plays, newest first."""
    if log_name == "plays":
        return [
            *map(
                _build_play_row, recall.iter_recent_plays(view, entry_count_max or recall.RECALLED_PLAYS_MAX)
            )
        ]
    return [
        *map(
            _build_row,
            FEATURES.entry_declarations.read_log(
                view, next(log for log in Log if log == log_name), entry_count_max
            ),
        )
    ]


def _build_row(entry: StoredEntry) -> dict[str, Any]:
    """Return a journal entry as a row of the printed log, with a masked ticket number."""
    details = dict(recall.read_details(entry))
    if "validation_number" in details:
        details["validation_number"] = recall.mask_validation_number(str(details["validation_number"]))
    significance = FEATURES.entry_declarations.find_significance(entry)
    return {
        "entry": entry.sequence,
        "time": entry.time_utc.isoformat(timespec="seconds"),
        "kind": entry.kind,
        "effect": str(significance.effect) if significance else "",
        "clear": str(significance.cleared_by) if significance else "",
        "sas": significance.sas_exception_code if significance else None,
        "person": ", ".join(FEATURES.entry_declarations.list_actors(entry)),
        "position": entry.transaction.dims.get("position"),
        "cents": sum(transfer.amount_cents for transfer in entry.transfers) or None,
        "story": details,
    }


def _build_play_row(play: recall.Play) -> dict[str, Any]:
    """Return a game play as a row of the printed log."""
    start = recall.read_details(play.start_entry)
    return {
        "entry": play.start_entry.sequence,
        "time": play.start_entry.time_utc.isoformat(timespec="seconds"),
        "kind": start.get("game", {}).get("id", ""),
        "position": play.start_entry.transaction.dims.get("position"),
        "bet_cents": play.bet_cents,
        "win_cents": play.payout_cents,
        "prizes": [dict(prize) for prize in play.prizes_won],
        "credit_before_cents": play.credit_before_cents,
        "credit_after_cents": play.credit_after_cents,
        "added_cents": dict(play.added_cents_by_source),
        "steps": [dict(recall.read_details(step)) for step in play.shown_steps],
        "outcome": play.outcome,
    }


@command.command()
@click.argument("number", type=WholeNumber(min=1))
@STATE_OPTION
@EXPORT_OPTION
def entry(*, number: int, state_folder: Path | None, export_file: Path | None) -> None:
    """Print the complete journal entry NUMBER as JSON."""
    with open_journal_entries(state_folder, export_file, after_sequence=number - 1) as entries:
        stored_entry = next(entries, None)
    if stored_entry is None or stored_entry.sequence != number:
        raise click.ClickException(
            f"{export_file}: there is no entry {number}" if export_file else f"there is no entry {number}"
        )
    echo(make_printable(stored_entry.body.decode()))


command.add_command(inspect_)
command.add_command(clear_)

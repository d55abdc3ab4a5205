"""``egm register``: the venue's registers, from a machine's memory or from an exported journal."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from egm.app.features import STAFF_REGISTERS
from egm.config.cabinet_file import find_default_state_folder
from egm.errors import OperatorError
from egm.screen.text import Texts
from egm.staff.identities import IDENTITY_FILE_NAME, IdentityRegister
from egm.staff.registers import iter_register_lines
from meters import JournalError, open_view
from meters.copies import SECOND_FOLDER
from meters.table import METER_BY_NAME, OCCURRENCE_METERS, MeterUnit
from tools.audit.collusion import (
    LARGE_BET_FOLDS_MIN,
    LARGE_BET_SHARE,
    SIGNIFICANCE_LEVEL,
    SIGNIFICANT_ROUNDS_MIN,
    compute_pair_flows,
    iter_round_results,
)
from tools.audit.statement import StatementPeriod, compute_statement
from tools.cli.day import DayParameter
from tools.cli.journal_source import EXPORT_OPTION, STATE_OPTION, open_journal_entries
from tools.cli.sheet_head import SheetHead
from tools.cli.tables import (
    BAD_STYLE,
    DOUBT_STYLE,
    GOOD_STYLE,
    Column,
    OutputFormat,
    Table,
    add_format_options,
    build_number_column,
    show,
)
from tools.cli.terminal import echo

#: Column titles that differ from the columns' names.
_TITLE_BY_COLUMN = {"time_utc": "time (UTC)"}
#: How the state of an identity record is printed.
_STYLE_BY_RECORD_STATE = {"right": GOOD_STYLE, "erased": {}, "altered": BAD_STYLE, "missing": BAD_STYLE}
#: How the verdict on two positions is printed.
_STYLE_BY_VERDICT = {"judge": BAD_STYLE, "usual": GOOD_STYLE}
#: The option that names the folder of the second copy.
SECOND_FOLDER_OPTION = click.option(
    "--second-copy",
    "second_folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The folder of the memory's second copy.",
)


@click.group()
def command() -> None:
    """Print registers: hand-pays, checks, disputes, complements, orphans, forfeits, refunds, incidents ...

    These are the registers that regulations require, each complete and with its columns. The latest journal
    entries as recorded are in `egm audit log`, the payees of the cage in `egm ticket payees`.
    """


@command.command("list")
@add_format_options
def list_(*, output_format: OutputFormat) -> None:
    """List the registers: what each contains, and which rule requires it."""
    rows = (
        (register.name, register.columns, register.source_clauses) for register in STAFF_REGISTERS.values()
    )
    show(output_format, Table(("register", "columns", "rule"), rows))


@command.command("show")
@click.argument("name", metavar="REGISTER", type=click.Choice([*STAFF_REGISTERS]))
@STATE_OPTION
@EXPORT_OPTION
@add_format_options
def show_(
    *, name: str, state_folder: Path | None, export_file: Path | None, output_format: OutputFormat
) -> None:
    """Print one of the machine's registers, oldest line first."""
    with open_journal_entries(state_folder, export_file) as entries:
        rows = list(iter_register_lines(STAFF_REGISTERS[name], entries))
    position_columns = ("position",) if any(row["position"] is not None for row in rows) else ()
    columns = ("entry", "time_utc", *position_columns, *STAFF_REGISTERS[name].columns)
    titled_columns = [
        Column(_TITLE_BY_COLUMN.get(column, column.replace("_", " ")), column) for column in columns
    ]
    cells = ([row[column] for column in columns] for row in rows)
    show(
        output_format,
        Table(titled_columns, cells, empty_text="nothing is recorded in this register yet"),
        document=rows,
    )


@command.command("statement")
@click.option(
    "--by",
    "period_length",
    type=click.Choice(["day", "month", "year"]),
    default="day",
    show_default=True,
    help="The length of a period.",
)
@click.option(
    "--position",
    type=click.IntRange(1),
    help="Only this player position: its buy-ins, wagers, wins and cash-outs.",
)
@STATE_OPTION
@EXPORT_OPTION
@add_format_options
def statement_(
    *,
    period_length: StatementPeriod,
    position: int | None,
    state_folder: Path | None,
    export_file: Path | None,
    output_format: OutputFormat,
) -> None:
    """Print, by day, month or year: changes of the meters, the operator's win, and the counted amounts (D-21).

    A day is a gaming day of the venue: in its time zone, up to the hour set in the cabinet file.
    """
    sheet_head = SheetHead()
    with open_journal_entries(state_folder, export_file) as entries:
        periods = compute_statement(sheet_head.watch_entries(entries), period_length, position)
    texts = Texts("en")
    rows = (
        (
            period,
            texts.format_code_text("meter_name", name),
            _find_unit(name, sheet_head.currency),
            value,
            name,
        )
        for period, values in periods.items()
        for name, value in values.items()
    )
    columns = (
        period_length,
        Column("what", "name"),
        "unit",
        build_number_column("value"),
        Column("readout's name", "meter"),
    )
    show(
        output_format,
        Table(columns, rows),
        document=periods,
        text_before=f"{sheet_head.format_line()}; {sheet_head.gaming_day.description}",
    )


@command.command(
    help=f"""Print the money that each position won from each other at poker, and signs that two play together.

    A person judges each sign (QC 67.107, 67.109): on a gaming day, money went one way in a proportion that
    {1 - SIGNIFICANCE_LEVEL:.1%} of even pairs do not reach (from {SIGNIFICANT_ROUNDS_MIN} rounds on), or a position
    folded at least {LARGE_BET_FOLDS_MIN} times after it had bet {LARGE_BET_SHARE} of its table stakes or more, in
    rounds that the other won, and so often in no more than {SIGNIFICANCE_LEVEL:.1%} of pairs that play as the others
    at the game do.

    A better player wins from a weaker one as well; and two players who only do not bet against each other leave no
    sign. Exit status 1 if there is a sign.
    """
)
@STATE_OPTION
@EXPORT_OPTION
@add_format_options
def collusion(*, state_folder: Path | None, export_file: Path | None, output_format: OutputFormat) -> None:
    """Print the money that moved between positions at poker, and the signs of collusion."""
    with open_journal_entries(state_folder, export_file) as entries:
        pair_flows = compute_pair_flows(iter_round_results(entries))
    columns = (
        Column("verdict", choose_style=_STYLE_BY_VERDICT.get),
        Column("gaming day", "day"),
        "game",
        build_number_column("from position", "loser"),
        build_number_column("to position", "winner"),
        build_number_column("rounds"),
        build_number_column("net", "net_cents"),
        build_number_column("largest", "largest_cents"),
        build_number_column("large folds", "large_folds"),
        build_number_column("large folds back", "large_folds_back"),
        build_number_column("z"),
    )
    lines = [pair_flow.to_json() for pair_flow in pair_flows]
    empty_text = "no round was played between players"
    show(
        output_format,
        Table(columns, (line.values() for line in lines), empty_text=empty_text),
        document=lines,
    )
    raise SystemExit(1 if any(pair_flow.is_significant for pair_flow in pair_flows) else 0)


def _find_unit(meter: str, currency: str) -> str:
    """Return the unit of a meter in a statement: "times" for a count, else "cents" with the currency, if known."""
    is_count = (
        meter in METER_BY_NAME and METER_BY_NAME[meter].unit is MeterUnit.TIMES
    ) or meter in OCCURRENCE_METERS
    return "times" if is_count else f"cents ({currency})" if currency else "cents"


@command.command()
@STATE_OPTION
@SECOND_FOLDER_OPTION
@add_format_options
def identities(*, state_folder: Path | None, second_folder: Path | None, output_format: OutputFormat) -> None:
    """Print the persons paid by hand or excluded; compare each record with its commitment in the journal.

    For management only: names are shown in clear. Exit status 1 if a record is missing or altered.
    """
    folder = state_folder or find_default_state_folder()
    try:
        with open_view(folder, check_pages=True) as view:
            entry_number_by_commitment = {
                details["identity"]: entry.sequence
                for entry in view.entries()
                if isinstance(details := entry.record, dict) and details.get("identity")
            }
    except JournalError as error:
        raise click.ClickException(str(error)) from error
    rows = _compare_records(folder, second_folder, entry_number_by_commitment)
    record_column = Column(
        "record", choose_style=lambda state_text: _STYLE_BY_RECORD_STATE.get(state_text, DOUBT_STYLE)
    )
    columns = ("entry", Column("time (UTC)", "time_utc"), Column("of", "subject"), Column("who", "fields"))
    show(output_format, Table((*columns, record_column), (row.values() for row in rows)))
    raise SystemExit(1 if any(row["record"] in {"altered", "missing"} for row in rows) else 0)


def _compare_records(
    folder: Path, second_folder: Path | None, entry_number_by_commitment: dict[str, int]
) -> list[dict[str, Any]]:
    """Return one row for each identity record, compared with its commitment, and for each commitment without one.

    A commitment binds the journal to the content of a record. Commitments with a record are removed from
    ``entry_number_by_commitment``. A row says whether the record is right, erased, altered or missing, or has no
    commitment.
    """
    rows: list[dict[str, Any]] = []
    identity_register = _open_register(folder, second_folder)
    try:
        for record in identity_register.iter_records():
            entry_number = entry_number_by_commitment.pop(record.commitment, None)
            state = (
                "erased"
                if record.text_by_field is None
                else "right"
                if record.matches_commitment
                else "altered"
            )
            rows.append(
                {
                    "entry": entry_number,
                    "time_utc": record.time_utc.isoformat(timespec="seconds"),
                    "subject": record.subject,
                    "fields": None if record.text_by_field is None else dict(record.text_by_field),
                    "record": "not committed to" if entry_number is None else state,
                }
            )
    finally:
        identity_register.close()
    missing_record = {"time_utc": "", "subject": "", "fields": None, "record": "missing"}
    return rows + [
        {"entry": entry_number, **missing_record}
        for entry_number in sorted(entry_number_by_commitment.values())
    ]


@command.command()
@STATE_OPTION
@SECOND_FOLDER_OPTION
@click.option(
    "--before",
    "first_kept_day",
    required=True,
    metavar="YYYY-MM-DD",
    type=DayParameter(),
    help="Erase records older than this day.",
)
def erase(*, state_folder: Path | None, second_folder: Path | None, first_kept_day: datetime) -> None:
    """Erase names and documents of persons whose retention time is over; the journal stays intact."""
    identity_register = _open_register(state_folder or find_default_state_folder(), second_folder)
    try:
        erased_count = identity_register.erase_before(first_kept_day.replace(tzinfo=UTC))
    finally:
        identity_register.close()
    echo(f"{erased_count} erased")


def _open_register(folder: Path, second_folder: Path | None) -> IdentityRegister:
    """Open the identity register of a state folder. Raises ClickException if there is none."""
    second_copy_folder = second_folder or folder / SECOND_FOLDER
    if not any((copy_folder / IDENTITY_FILE_NAME).exists() for copy_folder in (folder, second_copy_folder)):
        raise click.ClickException(f"{folder / IDENTITY_FILE_NAME}: there is no identity register")
    try:
        return IdentityRegister.open(folder, second_copy_folder)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error

"""``egm meters``: every meter of a machine, at any time, without stopping play and without write access."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from egm.config.cabinet_file import find_default_state_folder
from egm.record_codec import RecordError, check_value
from meters import JournalView, MeterReading
from meters.entry import encode_canonical_json
from meters.export import READOUT_SIGNATURE_PREFIX
from meters.machine_key import MachineKey
from meters.names import METER_NAMES_BY_JURISDICTION, read_jurisdiction_meters
from meters.reading import METER_DIGIT_COUNT, compute_displayed_value
from meters.storage import DiskStorage
from meters.table import METER_BY_NAME, MeterUnit
from paytables.source import read_contents
from paytables.wording import format_count, format_known_names
from tools.cli.journal_source import EXPORT_OPTION, STATE_OPTION, open_journal
from tools.cli.sheet_head import SheetHead
from tools.cli.tables import Column, Columns, OutputFormat, Table, add_format_options, show
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber


def _select_meters(reading: MeterReading, conditions: tuple[str, ...]) -> MeterReading:
    """Return the meters that fulfil the conditions, each given as ``dimension=value``, such as ``position=1``.

    If no meter fulfils a condition, print a warning.
    """
    value_by_dimension = {}
    for condition in conditions:
        key, equals_sign, value = condition.partition("=")
        if not equals_sign:
            raise click.BadParameter(f"{condition!r} must look like position=1", param_hint="--where")
        _warn_if_nothing_selected(reading, key, value)
        value_by_dimension[key] = value
    return reading.select(**value_by_dimension) if value_by_dimension else reading


def _warn_if_nothing_selected(reading: MeterReading, dimension: str, value: str | None = None) -> None:
    """Print a warning if no meter has the requested dimension or value; all printed meters are then zero."""
    known_dimensions = sorted({name for cell in reading.cells for name in cell.dims})
    if dimension not in known_dimensions:
        echo(
            f"egm: no meter of this machine has the dimension {dimension!r}; "
            f"{format_known_names(dimension, known_dimensions)}",
            err=True,
        )
    elif value is not None and value not in reading.list_dimension_values(dimension):
        known_values = format_known_names(value, reading.list_dimension_values(dimension))
        echo(f"egm: no meter of this machine has {dimension}={value}; {known_values}", err=True)


@dataclass(frozen=True, slots=True)
class _MeterFormat:
    """The form in which meter values are printed: the number of digits, and credits or minor units."""

    digit_count: int
    credit_cents: int | None

    def format_cells(self, name: str, value: int) -> tuple[str, str]:
        """Return the value of a meter as printed, and its unit."""
        meter = METER_BY_NAME.get(_find_canonical_name(name))
        unit = meter.unit if meter else MeterUnit.TIMES
        if unit is MeterUnit.CENTS and self.credit_cents is not None:
            credits_ = compute_displayed_value(value // self.credit_cents, self.digit_count)
            return f"{credits_:0{self.digit_count}d}", f"credits of {format_count(self.credit_cents, 'cent')}"
        return f"{compute_displayed_value(value, self.digit_count):0{self.digit_count}d}", str(unit)


def _find_canonical_name(name: str) -> str:
    """Return this software's name of the meter for which a jurisdiction uses ``name``.

    If the jurisdiction's name stands for several meters, the first of them is returned. If no jurisdiction uses the
    name, it is returned unchanged.
    """
    return next((names[name][0] for names in METER_NAMES_BY_JURISDICTION.values() if name in names), name)


def _build_document(
    view: JournalView, value_by_meter: dict[str, int], selection: dict[str, Any]
) -> dict[str, Any]:
    """Return the meter readout as JSON data: machine, journal head, selection, credit and meters."""
    return {
        "machine": view.fingerprint,
        "sequence": view.sequence,
        "head": view.head_hash,
        **selection,
        "credits_cents": view.credits_cents(),
        "meters": value_by_meter,
    }


@click.command()
@STATE_OPTION
@EXPORT_OPTION
@click.option(
    "--where",
    "conditions",
    multiple=True,
    metavar="DIM=VALUE",
    help="Only the meters of one value of a dimension: position=1, game=..., level=...",
)
@click.option(
    "--by",
    "split_dimension",
    metavar="DIM",
    help="Split every meter by a dimension: game, paytable, bill_cents ... Balances can only be split by position.",
)
@click.option(
    "--names",
    "jurisdiction",
    type=click.Choice(sorted(METER_NAMES_BY_JURISDICTION)),
    help="Use the meter names of a jurisdiction.",
)
@click.option(
    "--digits",
    "digit_count",
    default=METER_DIGIT_COUNT,
    type=WholeNumber(min=1),
    show_default=True,
    help="The number of digits; larger values roll over.",
)
@click.option(
    "--credit",
    "credit_cents",
    type=WholeNumber(min=1),
    metavar="CENTS",
    help="Show values in credits of CENTS instead of minor units.",
)
@click.option(
    "--since",
    "earlier_readout_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Show what was added since an earlier --json readout of this machine.",
)
@click.option("--all", "includes_zeros", is_flag=True, help="Include meters at zero.")
@add_format_options
@click.option(
    "--sign", is_flag=True, help="With --json: sign with the machine key (run it as the key's owner)."
)
def command(
    *,
    state_folder: Path | None,
    export_file: Path | None,
    conditions: tuple[str, ...],
    split_dimension: str | None,
    jurisdiction: str | None,
    digit_count: int,
    credit_cents: int | None,
    earlier_readout_file: Path | None,
    includes_zeros: bool,
    output_format: OutputFormat,
    sign: bool,
) -> None:
    """Print the meters of a machine."""
    options = {
        "--sign": sign,
        "--since": earlier_readout_file is not None,
        "--names": jurisdiction is not None,
    }
    if split_dimension is not None and any(options.values()):
        other_options_text = " and ".join(option for option, is_given in options.items() if is_given)
        raise click.UsageError(
            f"--by splits the current meters and cannot be combined with {other_options_text}"
        )
    if sign and export_file is not None:
        raise click.UsageError(
            "--sign signs with the key in a machine's memory and cannot be combined with --file"
        )
    with open_journal(state_folder, export_file, check_pages=False) as view:
        reading = _select_meters(view.meters(), conditions)
        if split_dimension is not None:
            _warn_if_nothing_selected(reading, split_dimension)
            _print_split(reading, split_dimension, _MeterFormat(digit_count, credit_cents), output_format)
            return
        values = read_jurisdiction_meters(reading, jurisdiction) if jurisdiction else reading.values
        selection = {"where": sorted(conditions), **({"names": jurisdiction} if jurisdiction else {})}
        if earlier_readout_file is not None:
            values = _compute_growth_since_readout(view, values, earlier_readout_file, selection)
        document = _build_document(view, values, selection)
        if earlier_readout_file is not None:
            document["is_difference"] = True
        shown_values = {
            name: value for name, value in values.items() if value or includes_zeros or jurisdiction
        }
        show(
            output_format,
            _build_table(
                (),
                (((name,), value) for name, value in shown_values.items()),
                _MeterFormat(digit_count, credit_cents),
            ),
            document=_sign_readout(document, state_folder or find_default_state_folder())
            if sign
            else document,
            text_before=f"{SheetHead.from_view(view).format_line()}\n"
            f"machine key {view.fingerprint}, head {view.head_hash[:16]}",
        )


def _compute_growth_since_readout(
    view: JournalView, values: dict[str, int], earlier_readout_file: Path, selection: dict[str, Any]
) -> dict[str, int]:
    """Return how much each meter has grown since an earlier readout.

    Raises ClickException if the readout is not of the same journal and the same selection of meters, or if it is
    itself a difference.
    """
    try:
        earlier_readout = json.loads(read_contents(earlier_readout_file))
        earlier_readout = earlier_readout.get("readout", earlier_readout)
        sequence, head_hash, earlier_meters = (
            earlier_readout["sequence"],
            earlier_readout["head"],
            earlier_readout["meters"],
        )
        check_value(int, sequence, "sequence")
        check_value(Mapping[str, int], earlier_meters, "meters")
        growth_by_meter = {name: value - earlier_meters.get(name, 0) for name, value in values.items()}
    except (ValueError, KeyError, RecursionError, TypeError, AttributeError, RecordError) as error:
        raise click.ClickException(f"{earlier_readout_file}: not a readout of meters ({error!r})") from error
    is_possible = 0 < sequence <= view.sequence  # SQLite refuses numbers of more than 64 bits
    entry = next(view.entries(after_sequence=sequence - 1, limit=1), None) if is_possible else None
    if entry is None or entry.hash_hex != head_hash:
        raise click.ClickException(
            f"{earlier_readout_file}: not a readout of this journal: entry {sequence} differs"
        )
    if "is_difference" in earlier_readout:
        raise click.ClickException(
            f"{earlier_readout_file}: a difference (--since), which cannot serve as a start"
        )
    earlier_selection = {key: earlier_readout[key] for key in ("where", "names") if key in earlier_readout}
    if {"where": [], **earlier_selection} != selection:
        raise click.ClickException(
            f"{earlier_readout_file}: not a readout of the same meters (--where, --names)"
        )
    return growth_by_meter


def _sign_readout(document: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the readout of the meters with the machine's signature. Raises ClickException without a machine key."""
    key = MachineKey.load(DiskStorage(), folder)
    if key is None:
        raise click.ClickException(f"{folder}: there is no machine key to sign with")
    signature = key.sign(READOUT_SIGNATURE_PREFIX + encode_canonical_json(document))
    return {"readout": document, "public_key": key.public_key.hex(), "signature": signature.hex()}


def _build_table(
    dimension_names: tuple[str, ...], cells: Iterable[tuple[tuple[str, ...], int]], meter_format: _MeterFormat
) -> Table:
    """Return a table of meter values: the meter's name, its value of each named dimension, its value."""
    columns: Columns = ("meter", *dimension_names, Column("value", is_right_aligned=True), "unit")
    rows = (
        (meter, *dimension_values, *meter_format.format_cells(meter, value))
        for (meter, *dimension_values), value in cells
    )
    return Table(columns, rows)


def _is_split_by(name: str, dimension: str) -> bool:
    """Return whether a meter can be split by a dimension, such as ``game``.

    A balance, such as the credit on the machine, can only be split by position. It cannot be split by game,
    because credit won in one game may be spent in another.
    """
    return dimension == "position" or name not in METER_BY_NAME or not METER_BY_NAME[name].can_decrease


def _print_split(
    reading: MeterReading, dimension: str, meter_format: _MeterFormat, output_format: OutputFormat
) -> None:
    """Print the meters split by a dimension, such as the game."""
    meters = [meter for meter in reading.values if ".since_" not in meter and _is_split_by(meter, dimension)]
    values_by_meter = {
        meter: value_by_part
        for meter in meters
        if any((value_by_part := reading.split_by(meter, dimension)).values())
    }
    cells = (
        ((meter, part or "-"), value)
        for meter, value_by_part in values_by_meter.items()
        for part, value in sorted(value_by_part.items())
    )
    show(output_format, _build_table((dimension,), cells, meter_format), document=values_by_meter)

"""``egm rng``: laboratory tests and output of the random number generator."""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import click

import rng
from paytables.source import read_contents
from paytables.wording import format_count
from rng.self_test import SELF_TESTS
from tools.cli.commands.rng_battery import battery, calibrate_tests
from tools.cli.tables import GOOD_STYLE, Column, OutputFormat, Table, add_format_options, show, show_progress
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber
from tools.lab.rng.collection import iter_raw_bytes
from tools.lab.rng.service import start_laboratory_generator


@click.group("rng")
def command() -> None:
    """Test the random number generator and collect its output."""


command.add_command(battery)
command.add_command(calibrate_tests)


@command.command("selftest")
@add_format_options
def selftest(*, output_format: OutputFormat) -> None:
    """Run the self-test of the whole generator, and the start-up test of every entropy source of this computer."""
    try:
        with show_progress("testing the generator"):
            random_service = start_laboratory_generator()
            passed_tests = random_service.run_self_test()
    except rng.RngError as error:
        raise click.ClickException(str(error)) from error
    rows = [(name, "passed" if name in passed_tests else "not run") for name in SELF_TESTS]
    rows += [(f"start-up of {source.name}", "passed") for source in rng.list_available_sources()]
    result_column = Column(
        "result", choose_style=lambda result_text: GOOD_STYLE if result_text == "passed" else None
    )
    show(output_format, Table(("test", result_column), rows))


@command.command("bytes")
@click.option("--count", type=WholeNumber(min=0), help="The number of bytes (default: endless).")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead of standard output.",
)
def raw(count: int | None, output: Path | None) -> None:
    """Write the random number generator's raw output, before it is scaled to a range."""
    if output is None and sys.stdout.isatty():
        raise click.UsageError("raw bytes are not written to a terminal: give --output FILE")
    try:
        random_service = start_laboratory_generator()
        if output is None:
            _write(sys.stdout.buffer, iter_raw_bytes(random_service, count))
        else:
            with output.open("wb") as stream:
                _write(stream, iter_raw_bytes(random_service, count))
            echo(f"{output}: {output.stat().st_size:,} bytes")
    except (rng.RngError, OSError) as error:
        raise click.ClickException(str(error)) from error


@command.command("outcomes")
@click.option("--range", "bound", type=int, metavar="N", help="Draw one number from 0 to N - 1 per play.")
@click.option("--positions", type=int, help="With --range: the count of numbers per play.  [default: 1]")
@click.option("--keno", is_flag=True, help="Draw 20 of the numbers 1 to 80 per play, in order.")
@click.option("--deck", type=int, metavar="D", help="Shuffle a deck of the cards 0 to D - 1 per play.")
@click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help='Draw one weighted index per play; FILE is JSON: {"weights": [3, 5], "total": 8}.',
)
@click.option("--count", type=WholeNumber(min=0), required=True, help="The number of plays.")
@click.option(
    "--bulk", is_flag=True, help="Draw in bulk: same random words and scaling, without a step per play."
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead of standard output.",
)
def outcomes_(  # one parameter per option
    bound: int | None,
    positions: int | None,
    keno: bool,  # noqa: FBT001 (signature of a click command)
    deck: int | None,
    weights: Path | None,
    count: int,
    bulk: bool,  # noqa: FBT001
    output: Path | None,
) -> None:
    """Write final outcomes (drawn numbers), one play per line, drawn as a cabinet draws them."""
    from tools.lab.rng import outcomes  # noqa: PLC0415 (only laboratories load numpy)

    if [bound is not None, keno, deck is not None, weights is not None].count(True) != 1:
        raise click.UsageError("give exactly one of --range, --keno, --deck and --weights")
    if positions is not None and bound is None:
        raise click.UsageError("--positions is only valid with --range")
    try:
        game: outcomes.TestedGame
        if bound is not None:
            game = outcomes.IndependentNumbers(bound, 1 if positions is None else positions)
        elif deck is not None:
            game = outcomes.SelectionWithoutReplacement(deck, deck)
        else:
            game = (
                outcomes.KENO_GAME if weights is None else outcomes.WeightedOutcomes(*_read_weights(weights))
            )
        plays = (outcomes.collect_in_bulk if bulk else outcomes.collect)(
            start_laboratory_generator(), game, count
        )
        first_number = 1 if keno else 0
        lines = ((" ".join(str(number + first_number) for number in play) + "\n").encode() for play in plays)
        if output is None:
            _write(sys.stdout.buffer, lines)
        else:
            with show_progress(f"drawing {format_count(count, 'play')}"), output.open("wb") as stream:
                _write(stream, lines)
            echo(f"{output}: {format_count(count, 'play')}")
    except (rng.RngError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _read_weights(path: Path) -> tuple[tuple[int, ...], int]:
    """Return the weights in a JSON file, and the total that it states.

    Raises ClickException if the file has another form.
    """
    try:
        table = json.loads(read_contents(path))
        weights, stated_total = table["weights"], table["total"]
    except (ValueError, KeyError, RecursionError, TypeError) as error:
        raise click.ClickException(f'{path}: not {{"weights": [...], "total": N}}: {error!r}') from error
    if not isinstance(weights, list):
        raise click.ClickException(f"{path}: weights is {weights!r}; expected a list of whole numbers")
    return tuple(weights), stated_total


def _write(stream: BinaryIO, blocks: Iterable[bytes]) -> None:
    """Write the blocks to ``stream``; if the reader has closed the pipe, end without an error."""
    try:
        stream.writelines(blocks)
        stream.flush()
    except BrokenPipeError:
        # The interpreter's final flush needs an open descriptor.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

"""``egm rng``: what a laboratory asks of the random number generator."""

import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

import click
from rich.console import Console
from rich.table import Table

import rng
from rng.collection import raw_bytes
from rng.self_test import TESTS


def start_service() -> rng.RandomService:
    """A generator as a cabinet has it, made this process's own by the time in place of a boot counter."""
    return rng.RandomService.start(
        personalization=rng.Personalization(
            product="open-egm",
            version=version("open-egm"),
            machine_serial="laboratory",
            instance=os.getpid(),
            boot_counter=time.time_ns(),
        )
    )


@click.group("rng")
def command() -> None:
    """Test the random number generator and collect its output."""


@command.command("selftest")
def selftest() -> None:
    """Run the self-test of the whole chain and the start-up tests of every source here."""
    try:
        service = start_service()
        passed = service.self_test()
    except rng.RngError as error:
        raise click.ClickException(str(error)) from error
    table = Table(title="self-test", title_justify="left", show_edge=False)
    table.add_column("test")
    table.add_column("result")
    for name in TESTS:
        table.add_row(name, "passed" if name in passed else "not run")
    for source in rng.available_sources():
        table.add_row(f"start-up of {source.name}", "passed")
    Console().print(table)


@command.command("bytes")
@click.option("--count", type=click.IntRange(min=0), help="How many bytes; without it, no end.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="A file in place of stdout.")
def raw(count: int | None, output: Path | None) -> None:
    """Write raw output, before any scaling."""
    try:
        service = start_service()
        if output is None:
            _write(sys.stdout.buffer, service, count)
        else:
            with output.open("wb") as stream:
                _write(stream, service, count)
    except (rng.RngError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _write(stream: BinaryIO, service: rng.RandomService, count: int | None) -> None:
    """Write until the count is reached or the reader has gone, which is no error."""
    try:
        stream.writelines(raw_bytes(service, count))
        stream.flush()
    except BrokenPipeError:
        # What the interpreter flushes at its end must have somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

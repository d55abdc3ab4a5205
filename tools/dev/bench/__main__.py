"""``make bench``: run every ``bench_*`` module, or those named on the command line, and print the table.

Each area (a ``bench_*`` module) has a time limit: its ``LIMIT_SECONDS``, or the default here, so nothing hangs. An area
that cannot be measured is reported, the others are still measured, and the exit status is 1.
"""

import importlib
import multiprocessing
import os
import pkgutil
import platform
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Final

import click
from rich.table import Table

import tools.dev.bench
from tools.cli.terminal import Terminal, echo
from tools.dev.bench import BenchFigure

LIMIT_SECONDS: Final = 900.0


def _send_figures(module: ModuleType, results_end: Connection) -> None:
    """Measure an area in this process and send its figures to ``results_end``, then an error text or ""."""
    os.setsid()
    try:
        for figure in module.measure_figures():
            results_end.send(figure)
    except Exception as error:  # noqa: BLE001 (any error is reported, and the other areas are measured)
        results_end.send(f"{type(error).__name__}: {error}")
    else:
        results_end.send("")


def _run_area(module: ModuleType) -> Iterator[BenchFigure | str]:
    """Yield the figures of one area, then an error text if some of them could not be measured.

    The area runs in a process of its own. At its time limit that process and all its children are killed.
    """
    limit_seconds = float(getattr(module, "LIMIT_SECONDS", LIMIT_SECONDS))
    deadline_seconds = time.monotonic() + limit_seconds
    context = multiprocessing.get_context("fork")
    results, results_end = context.Pipe(duplex=False)
    area_process = context.Process(target=_send_figures, args=(module, results_end))
    area_process.start()
    results_end.close()
    try:
        figure_or_error: BenchFigure | str | None = None
        while not isinstance(figure_or_error, str):
            if not results.poll(max(0.0, deadline_seconds - time.monotonic())):
                figure_or_error = f"no end within {limit_seconds:g} s"
            else:
                try:
                    figure_or_error = results.recv()
                except EOFError:
                    area_process.join()
                    figure_or_error = f"its process ended ({area_process.exitcode})"
            yield figure_or_error
    finally:
        with suppress(ProcessLookupError):
            os.killpg(area_process.pid or 0, signal.SIGKILL)
        area_process.kill()
        area_process.join()
        results.close()


def _fill_table(module: ModuleType, table: Table) -> str:
    """Add the figures of one area to the table; return why some could not be measured, or an empty string.

    Each figure is printed when it is measured, because an area takes minutes.
    """
    for figure in _run_area(module):
        if isinstance(figure, str):
            return figure
        echo(f"{figure.name}: {figure.value:,.4g} {figure.unit}", err=True)
        baseline = (
            "" if figure.baseline is None else f"{figure.baseline_name}: {figure.baseline:,.4g} {figure.unit}"
        )
        ratio = "" if figure.ratio is None else f"{figure.ratio:.3g}"
        table.add_row(figure.name, f"{figure.value:,.4g} {figure.unit}", baseline, ratio, figure.target)
    raise AssertionError  # the last item is a text


def _list_bench_modules() -> list[str]:
    return sorted(
        m.name for m in pkgutil.iter_modules(tools.dev.bench.__path__) if m.name.startswith("bench_")
    )


@click.command()
@click.argument("areas", nargs=-1)
def main(areas: tuple[str, ...]) -> None:
    """Print the figures of AREAS, or of all areas if none is named."""
    module_names = _list_bench_modules()
    unknown_areas = [a for a in areas if f"bench_{a}" not in module_names]
    if unknown_areas:
        known_areas = ", ".join(n.removeprefix("bench_") for n in module_names)
        raise click.ClickException(f"no bench area {', '.join(unknown_areas)}; there are: {known_areas}")
    # Terminating this program also terminates the processes of the area.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    terminal = Terminal()
    terminal.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}", style="dim"
    )
    areas_not_measured = []
    for module_name in [f"bench_{a}" for a in areas] or module_names:
        table = Table(title=module_name.removeprefix("bench_"), title_justify="left", show_edge=False)
        for column in ("figure", "value", "baseline", "ratio", "aim"):
            table.add_column(column, justify="left" if column in {"figure", "baseline", "aim"} else "right")
        error_text = _fill_table(importlib.import_module(f"tools.dev.bench.{module_name}"), table)
        terminal.print(table)
        if error_text:
            areas_not_measured.append(module_name.removeprefix("bench_"))
            message = f"not measured: {table.row_count} figures, and then {error_text}"
            terminal.print(message, style="bold red", markup=False)
        terminal.print()
    if areas_not_measured:
        terminal.print(f"not measured whole: {', '.join(areas_not_measured)}", style="bold red")
        sys.exit(1)


if __name__ == "__main__":
    main()

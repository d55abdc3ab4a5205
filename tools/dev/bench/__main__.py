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


def _send_figures(module: ModuleType, out: Connection) -> None:
    """Measure an area in this process and send its figures to ``out``, then an error text or an empty string."""
    os.setsid()
    try:
        for figure in module.measure_figures():
            out.send(figure)
    except Exception as why:  # noqa: BLE001 (any error is reported, and the other areas are measured)
        out.send(f"{type(why).__name__}: {why}")
    else:
        out.send("")


def _run_area(module: ModuleType) -> Iterator[BenchFigure | str]:
    """Yield the figures of one area, then an error text if some of them could not be measured.

    The area runs in a process of its own. At its time limit that process and all its children are killed.
    """
    seconds = float(getattr(module, "LIMIT_SECONDS", LIMIT_SECONDS))
    ends = time.monotonic() + seconds
    context = multiprocessing.get_context("fork")
    results, out = context.Pipe(duplex=False)
    area = context.Process(target=_send_figures, args=(module, out))
    area.start()
    out.close()
    try:
        item: BenchFigure | str | None = None
        while not isinstance(item, str):
            if not results.poll(max(0.0, ends - time.monotonic())):
                item = f"no end within {seconds:g} s"
            else:
                try:
                    item = results.recv()
                except EOFError:
                    area.join()
                    item = f"its process ended ({area.exitcode})"
            yield item
    finally:
        with suppress(ProcessLookupError):
            os.killpg(area.pid or 0, signal.SIGKILL)
        area.kill()
        area.join()
        results.close()


def _fill_table(module: ModuleType, table: Table) -> str:
    """Add the figures of one area to the table; return why some could not be measured, or an empty string.

    Each figure is printed when it is measured, because an area takes minutes.
    """
    for f in _run_area(module):
        if isinstance(f, str):
            return f
        echo(f"{f.name}: {f.value:,.4g} {f.unit}", err=True)
        baseline = "" if f.baseline is None else f"{f.baseline_name}: {f.baseline:,.4g} {f.unit}"
        ratio = "" if f.ratio is None else f"{f.ratio:.3g}"
        table.add_row(f.name, f"{f.value:,.4g} {f.unit}", baseline, ratio, f.target)
    raise AssertionError  # the last item is a text


def _list_bench_modules() -> list[str]:
    return sorted(
        m.name for m in pkgutil.iter_modules(tools.dev.bench.__path__) if m.name.startswith("bench_")
    )


@click.command()
@click.argument("areas", nargs=-1)
def main(areas: tuple[str, ...]) -> None:
    """Print the figures of AREAS, or of all areas if none is named."""
    names = _list_bench_modules()
    unknown = [a for a in areas if f"bench_{a}" not in names]
    if unknown:
        known = ", ".join(n.removeprefix("bench_") for n in names)
        raise click.ClickException(f"no bench area {', '.join(unknown)}; there are: {known}")
    # Terminating this program also terminates the processes of the area.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    console = Terminal()
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}", style="dim"
    )
    areas_not_measured = []
    for name in [f"bench_{a}" for a in areas] or names:
        table = Table(title=name.removeprefix("bench_"), title_justify="left", show_edge=False)
        for column in ("figure", "value", "baseline", "ratio", "aim"):
            table.add_column(column, justify="left" if column in {"figure", "baseline", "aim"} else "right")
        why = _fill_table(importlib.import_module(f"tools.dev.bench.{name}"), table)
        console.print(table)
        if why:
            areas_not_measured.append(name.removeprefix("bench_"))
            message = f"not measured: {table.row_count} figures, and then {why}"
            console.print(message, style="bold red", markup=False)
        console.print()
    if areas_not_measured:
        console.print(f"not measured whole: {', '.join(areas_not_measured)}", style="bold red")
        sys.exit(1)


if __name__ == "__main__":
    main()

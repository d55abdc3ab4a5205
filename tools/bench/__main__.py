"""``make bench``: run every ``bench_*`` module, or those named on the command line, and print the table.

Each area has a limit of its own (``LIMIT_SECONDS`` of its module, or the one here): nothing hangs. What
could not be measured is said, the others are measured all the same, and the exit status is 1.
"""

import importlib
import os
import pkgutil
import platform
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Final

import click
from rich.console import Console
from rich.table import Table

import tools.bench

LIMIT_SECONDS: Final = 900.0


class TooLongError(Exception):
    """An area has not come to its end within its limit."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise :class:`TooLongError` in whatever runs after so long, wherever it waits."""

    def end(_: int, __: FrameType | None) -> None:
        raise TooLongError(f"no end within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _measure(module: ModuleType, table: Table) -> str:
    """Fill the table with an area's figures; why the rest could not be measured, or nothing."""
    seconds = float(getattr(module, "LIMIT_SECONDS", LIMIT_SECONDS))
    try:
        with _limited(seconds):
            for f in module.figures():
                baseline = "" if f.baseline is None else f"{f.baseline_name}: {f.baseline:,.4g} {f.unit}"
                ratio = "" if f.ratio is None else f"{f.ratio:.3g}"
                table.add_row(f.name, f"{f.value:,.4g} {f.unit}", baseline, ratio, f.aim)
    except Exception as why:  # noqa: BLE001 (whatever it is, it is said, and the other areas go on)
        return f"{type(why).__name__}: {why}"
    return ""


def _modules() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(tools.bench.__path__) if m.name.startswith("bench_"))


@click.command()
@click.argument("areas", nargs=-1)
def main(areas: tuple[str, ...]) -> None:
    """Print the figures of AREAS (all of them when none is named)."""
    names = _modules()
    unknown = [a for a in areas if f"bench_{a}" not in names]
    if unknown:
        known = ", ".join(n.removeprefix("bench_") for n in names)
        raise click.ClickException(f"no bench area {', '.join(unknown)}; there are: {known}")
    console = Console()
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}", style="dim"
    )
    missing = []
    for name in [f"bench_{a}" for a in areas] or names:
        table = Table(title=name.removeprefix("bench_"), title_justify="left", show_edge=False)
        for column in ("figure", "value", "baseline", "ratio", "aim"):
            table.add_column(column, justify="left" if column in {"figure", "baseline", "aim"} else "right")
        why = _measure(importlib.import_module(f"tools.bench.{name}"), table)
        console.print(table)
        if why:
            missing.append(name.removeprefix("bench_"))
            said = f"not measured: {table.row_count} figures, and then {why}"
            console.print(said, style="bold red", markup=False)
        console.print()
    if missing:
        console.print(f"not measured whole: {', '.join(missing)}", style="bold red")
        sys.exit(1)


if __name__ == "__main__":
    main()

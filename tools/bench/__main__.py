"""``make bench``: run every ``bench_*`` module, or those named on the command line, and print the table."""

import importlib
import os
import pkgutil
import platform

import click
from rich.console import Console
from rich.table import Table

import tools.bench


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
    for name in [f"bench_{a}" for a in areas] or names:
        table = Table(title=name.removeprefix("bench_"), title_justify="left", show_edge=False)
        for column in ("figure", "value", "baseline", "ratio", "aim"):
            table.add_column(column, justify="left" if column in {"figure", "baseline", "aim"} else "right")
        for f in importlib.import_module(f"tools.bench.{name}").figures():
            baseline = "" if f.baseline is None else f"{f.baseline_name}: {f.baseline:,.4g} {f.unit}"
            ratio = "" if f.ratio is None else f"{f.ratio:.3g}"
            table.add_row(f.name, f"{f.value:,.4g} {f.unit}", baseline, ratio, f.aim)
        console.print(table)
        console.print()


if __name__ == "__main__":
    main()

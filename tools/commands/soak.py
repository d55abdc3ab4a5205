"""``egm soak``: a whole cabinet through players, faults and power cuts, then everything held to the cent."""

import json
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table

from egm.errors import OperatorError
from meters import JournalError
from tools.soak.campaign import Soak, soak


@click.command()
@click.option("--actions", default=100_000, show_default=True, type=click.IntRange(min=1), help="how many")
@click.option("--seed", default=1, show_default=True, type=int, help="the same seed is the same soak")
@click.option("--profile", default="generic", show_default=True, help="a jurisdiction, or a profile's file")
@click.option(
    "--cabinet",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="a cabinet file (default: the demonstration cabinet)",
)
@click.option(
    "--keep", type=click.Path(path_type=Path, file_okay=False), help="an empty folder that keeps the memory"
)
@click.option("--json", "as_json", is_flag=True, help="for scripts")
def command(
    *, actions: int, seed: int, profile: str, cabinet: Path | None, keep: Path | None, as_json: bool
) -> None:
    """Let a cabinet live on a clock that jumps: the real machine, drivers and simulated devices.

    Players, attendants, faults, bad lines and power cuts come as the seed says. At the end everything is
    mended and paid out, and the journal, the boxes, the tickets and the independent audit must agree; exit
    status 1 when they do not.
    """
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise click.ClickException(f"{keep}: not empty; a soak begins with a new machine")
    began = time.perf_counter()
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with (
        tempfile.TemporaryDirectory(prefix="egm-soak-") as folder,
        Progress(*columns, console=Console(stderr=True), transient=True, disable=as_json) as bar,
    ):
        task = bar.add_task("actions", total=actions)
        root = Path(folder) if keep is None else keep
        root.mkdir(parents=True, exist_ok=True)
        try:
            result = soak(
                root,
                seed=seed,
                actions=actions,
                profile=profile,
                cabinet=cabinet,
                progress=lambda done: bar.update(task, completed=done),
            )
        except (OperatorError, JournalError, TimeoutError) as error:
            raise click.ClickException(f"seed {seed}: {error}") from error
    if as_json:
        click.echo(json.dumps(result.to_json(), ensure_ascii=False))
    else:
        _print(result, time.perf_counter() - began)
    raise SystemExit(1 if result.reckoning.wrong else 0)


def _print(result: Soak, seconds: float) -> None:
    console = Console()
    reckoning = result.reckoning
    hours = result.cabinet_seconds / 3600
    console.print(
        f"seed {result.seed}: {result.actions.total()} actions, {result.power_cuts} power cuts and"
        f" {result.restarts} restarts by the staff"
        f" in {hours:.1f} hours of the cabinet's life, {seconds:.0f} s of ours"
    )
    console.print(", ".join(f"{name} {count}" for name, count in result.actions.most_common()), style="dim")
    came = ", ".join(f"{name} {count}" for name, count in result.states.most_common())
    console.print(f"came into: {came}", style="dim")
    table = Table("", "minor units", box=None)
    for what, cents in reckoning.amounts_cents.items():
        table.add_row(what, f"{cents:,}")
    table.columns[1].justify = "right"
    console.print(table)
    console.print(
        f"{reckoning.entries} journal entries; {reckoning.games_replayed} games played again from their draws"
    )
    for wrong in reckoning.wrong:
        console.print(f"[red]wrong[/red] {wrong}", highlight=False)
    if not reckoning.wrong:
        console.print("[green]everything agrees[/green]")

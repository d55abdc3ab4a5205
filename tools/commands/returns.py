"""``egm returns``: each game's return on this machine, held against its exact return by its volume."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from egm.config import default_state_dir
from meters import JournalError, open_view
from tools.returns import Return, returns
from tools.simulation import INTERVAL_Z

_STYLE = {"explained": "green", "investigate": "bold red", "unknown": "yellow"}


@click.command()
@click.option("--state", type=click.Path(path_type=Path), help="Where the machine's memory lives.")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def command(state: Path | None, *, as_json: bool) -> None:
    """Say of each game, version and denomination whether its volume explains its return (NJ 13:69D-1.31).

    A return is to be investigated where it lies further from the theoretical one than 99.9 % of honest
    machines would after as many games; the exit status is 1 then.
    """
    try:
        with open_view(state or default_state_dir()) as view:
            found = list(returns(view))
    except JournalError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps([line.to_json() for line in found], ensure_ascii=False))
    else:
        _print(found)
    raise SystemExit(1 if any(line.verdict == "investigate" for line in found) else 0)


def _print(found: list[Return]) -> None:
    table = Table(
        "verdict", "game", "credit", "games", "coin in", "coin out", "return", "theoretical", "sigma", "z",
        title=f"minor units; explained: |z| at most {INTERVAL_Z:.2f}", title_justify="left", show_edge=False,
    )  # fmt: skip
    table.columns[0].no_wrap = True
    for column in table.columns[2:]:
        column.justify = "right"
    for line in found:
        played, known = line.played, line.best is not None and line.least is not None
        exact = "-"
        if line.best is not None and line.least is not None:
            low = "" if line.least == line.best else f"{float(line.least):.2%} to "
            exact = f"{low}{float(line.best):.2%}"
        table.add_row(
            f"[{_STYLE[line.verdict]}]{line.verdict}[/]",
            f"{played.game} {played.version} {played.digest[:8]}",
            str(played.denomination_cents),
            f"{line.games:,}",
            f"{line.coin_in_cents:,}",
            f"{line.paid_cents:,}",
            f"{line.won_cents / line.staked_cents:.2%}",
            exact,
            f"{line.sigma_cents / line.staked_cents:.2%}" if known and line.sigma_cents is not None else "-",
            "-" if line.z is None else f"{line.z:+.2f}",
        )
    console = Console()
    console.print(table)
    for line in found:
        if line.why:
            console.print(f"{line.played.game} at {line.played.denomination_cents}: {line.why}")

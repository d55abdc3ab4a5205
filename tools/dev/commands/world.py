"""``python -m tools.dev world``: a whole house on one virtual time, held to the cent; failures are shrunk."""

import tempfile
import time
from pathlib import Path

import click

from paytables.wording import format_count
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber
from tools.dev.simulation.campaign import Result, case_of
from tools.dev.simulation.shrink import attempt, read, shrink, write


@click.command()
@click.option(
    "--seed", default=1, show_default=True, type=int, help="of the first world; each seed is one world"
)
@click.option(
    "--worlds",
    default=1,
    show_default=True,
    type=WholeNumber(min=1),
    help="how many worlds, with consecutive seeds",
)
@click.option("--actions", default=2000, show_default=True, type=WholeNumber(min=1), help="in each world")
@click.option("--cuts", default=20, show_default=True, type=WholeNumber(), help="of its power, in each world")
@click.option(
    "--again",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="the case of a file",
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="a folder for shrunk failures",
)
@click.option(
    "--exports",
    type=click.Path(path_type=Path, file_okay=False),
    help="a folder for the export of each world's journal",
)
@click.option("--tries", default=60, show_default=True, type=WholeNumber(), help="of shrinking, at most")
def command(
    *,
    seed: int,
    worlds: int,
    actions: int,
    cuts: int,
    again: Path | None,
    keep: Path | None,
    exports: Path | None,
    tries: int,
) -> None:
    """Simulate a venue in virtual time: the real machine, drivers and devices, on media that lose unsynced writes.

    The seed decides the cabinet, its games and jurisdiction, what people do, the faults and the power cuts.
    At intervals everything is repaired and paid out; then the machine, the boxes, papers, pockets and screens,
    and the independent audit must agree. Exit status 1 if they do not.
    """
    cases = [read(again)] if again else [case_of(n, actions, cuts) for n in range(seed, seed + worlds)]
    failed = False
    if exports is not None:
        exports.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="egm-world-") as folder:
        for number, case in enumerate(cases, seed):
            began = time.perf_counter()
            result, wrong = attempt(
                Path(folder) / "world", case, None if exports is None else exports / f"{number}.jsonl"
            )
            echo(f"seed {number}: {said(result)}; {time.perf_counter() - began:.0f} s")
            if not wrong:
                continue
            failed = True
            echo(f"  {wrong}")
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                write(keep / f"seed-{number}.json", shrink(Path(folder), case, wrong, tries, echo), wrong)
    raise SystemExit(failed)


def said(result: Result | None) -> str:
    """Return one line that says what happened."""
    if result is None:
        return "the machine stopped"
    verdict = result.verdict
    return (
        f"{format_count(result.actions.total(), 'action')}, {format_count(result.cuts, 'power cut')},"
        f" {format_count(result.restarts, 'restart')} by the staff, {result.cabinet_seconds / 60:.0f} minutes of"
        f" the cabinet's life, {format_count(verdict.entries, 'journal entry', 'journal entries')},"
        f" {format_count(verdict.games, 'game')} played again"
    )

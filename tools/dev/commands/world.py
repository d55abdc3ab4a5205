"""``python -m tools.dev world``: simulate a venue in virtual time, reconcile all money and shrink failures."""

import tempfile
import time
from pathlib import Path
from typing import Final

import click

from paytables.wording import format_count
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber
from tools.dev.simulation.campaign import SimulationResult, create_case
from tools.dev.simulation.shrinking import read_case, run_and_report, shrink_case, write_case

#: Whether players gather, by the value of the option; None lets the seed decide.
_GATHERS_BY_OPTION_VALUE: Final = {"any": None, "always": True, "never": False}


@click.command()
@click.option(
    "--seed", default=1, show_default=True, type=int, help="Seed of the first world; each seed is one world."
)
@click.option(
    "--worlds",
    default=1,
    show_default=True,
    type=WholeNumber(min=1),
    help="Number of worlds, with consecutive seeds.",
)
@click.option(
    "--actions", default=2000, show_default=True, type=WholeNumber(min=1), help="Actions in each world."
)
@click.option(
    "--cuts", default=20, show_default=True, type=WholeNumber(min=0), help="Power cuts in each world."
)
@click.option(
    "--gathering",
    type=click.Choice(sorted(_GATHERS_BY_OPTION_VALUE)),
    default="any",
    show_default=True,
    help="Whether all players of a cabinet gather at one table; any: the seed decides.",
)
@click.option(
    "--again",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Run the case stored in a file.",
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for shrunk failures.",
)
@click.option(
    "--exports",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the export of each world's journal.",
)
@click.option(
    "--tries",
    default=60,
    show_default=True,
    type=WholeNumber(min=0),
    help="Maximum number of shrinking attempts.",
)
def command(
    *,
    seed: int,
    worlds: int,
    actions: int,
    cuts: int,
    gathering: str,
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
    cases = (
        [read_case(again)]
        if again
        else [
            create_case(n, actions, cuts, gathers=_GATHERS_BY_OPTION_VALUE[gathering])
            for n in range(seed, seed + worlds)
        ]
    )
    has_failed = False
    if exports is not None:
        exports.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="egm-world-") as folder:
        for number, case in enumerate(cases, seed):
            started_seconds = time.perf_counter()
            result, failure_text = run_and_report(
                Path(folder) / "world", case, None if exports is None else exports / f"{number}.jsonl"
            )
            echo(f"seed {number}: {format_result(result)}; {time.perf_counter() - started_seconds:.0f} s")
            if not failure_text:
                continue
            has_failed = True
            echo(f"  {failure_text}")
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                write_case(
                    keep / f"seed-{number}.json",
                    shrink_case(Path(folder), case, failure_text, tries, echo),
                    failure_text,
                )
    raise SystemExit(has_failed)


def format_result(result: SimulationResult | None) -> str:
    """Return one line that summarises a result."""
    if result is None:
        return "the machine stopped"
    verdict = result.verdict
    return (
        f"{format_count(result.actions.total(), 'action')}, {format_count(result.cuts, 'power cut')},"
        f" {format_count(result.restarts, 'restart')} by the staff, {result.cabinet_seconds / 60:.0f} minutes of"
        f" virtual time, {format_count(verdict.entries, 'journal entry', 'journal entries')},"
        f" {format_count(verdict.games, 'game')} replayed"
    )

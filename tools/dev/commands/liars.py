"""``python -m tools.dev liars``: falsify honest journals and count how many lies the audit finds."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from egm.errors import OperatorError
from meters import JournalError, export, open_view
from paytables.source import open_regular_file
from paytables.wording import format_count
from tools.audit.games import GameFiles
from tools.cli.tables import OutputFormat, Table, add_format_options, build_number_column, show, show_progress
from tools.cli.terminal import make_printable
from tools.cli.whole_number import WholeNumber
from tools.dev.liars import run_falsifications
from tools.dev.simulation.cabinet_setup import PHYSICAL_WHEEL_GAME, CabinetSetup
from tools.dev.simulation.campaign import SimulationCase, StuckError, create_case, run_case

_EXPORT_FILE_TYPE: Final = click.Path(path_type=Path, dir_okay=False, exists=True)
#: The simulated cabinets whose journals are falsified, and the number of actions on each.
_SIMULATED_CABINETS: Final = (
    CabinetSetup(),
    CabinetSetup(positions=3),
    CabinetSetup(positions=2, games=("maple-classic", PHYSICAL_WHEEL_GAME, "quebec-blackjack"), wheel=True),
)
_ACTIONS_PER_CABINET: Final = 150


@click.command()
@click.argument("exports", nargs=-1, type=_EXPORT_FILE_TYPE)
@click.option(
    "--journals",
    multiple=True,
    type=_EXPORT_FILE_TYPE,
    metavar="FILE...",
    help="Exports to falsify; more may follow.",
)
@click.option("--lies", default=1000, show_default=True, type=WholeNumber(min=1), help="Number of lies.")
@click.option("--seed", default=1, show_default=True, type=int, help="The same seed gives the same lies.")
@click.option(
    "--games",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder of game definitions, in addition to the library.",
)
@add_format_options
def command(
    *,
    exports: tuple[Path, ...],
    journals: tuple[Path, ...],
    lies: int,
    seed: int,
    games: tuple[Path, ...],
    output_format: OutputFormat,
) -> None:
    """Falsify honest journals, each signed again with the machine's key, and report which lies are found.

    The journals are the given exports, with or without --journals, or else those of simulated cabinets with
    one position and with several. One lie alters, leaves out, repeats, moves or invents one thing, together
    with everything that agrees with it. Exit status 1 if a lie is neither named by the audit nor listed in
    ARCHITECTURE.md with its outside evidence.
    """
    game_files = GameFiles(games)
    try:
        with show_progress("lies", lies) as report_progress:
            bodies = [_read_bodies(file) for file in (*journals, *exports)] or _simulate_journals(seed)
            score = run_falsifications(bodies, game_files, lies=lies, seed=seed, progress=report_progress)
    except (JournalError, OperatorError, ValueError) as error:
        raise click.ClickException(make_printable(error)) from error
    report = score.to_json()
    columns = (
        "of",
        "what",
        build_number_column("lies"),
        build_number_column("named"),
        build_number_column("not named"),
    )
    rows = (
        (group, name, lies, named, lies - named)
        for group, kinds in (("touched", report["by_what_they_touch"]), ("entry", report["by_kind"]))
        for name, (lies, named) in kinds.items()
    )
    show(output_format, Table(columns, rows), document=report, text_after="\n".join(_format_summary(report)))
    raise SystemExit(1 if score.undetected else 0)


def _read_bodies(file: Path) -> list[bytes]:
    with open_regular_file(file) as source:
        return list(export.ExportReader(source, str(file)).iter_bodies())


def _simulate_journals(seed: int) -> list[list[bytes]]:
    """Return the journals of simulated cabinets that ran for a while in virtual time."""
    journals = []
    for number, cabinet in enumerate(_SIMULATED_CABINETS):
        with tempfile.TemporaryDirectory(prefix="egm-liars-") as folder:
            case = create_case(seed + number, _ACTIONS_PER_CABINET, cuts=1)
            with suppress(StuckError):  # a journal is honest even if the staff could not repair the machine
                run_case(Path(folder), SimulationCase(case.world, cabinet, case.script))
            with open_view(Path(folder) / "state") as view:
                journals.append(list(view.iter_bodies()))
    return journals


def _format_summary(report: dict[str, Any]) -> Iterator[str]:
    for witness, count in report["witnessed"].items():
        yield f"not in the export alone, {format_count(count, 'lie')}; found by: {witness}"
    for lie in report["undetected"]:
        location = f"entry {lie['entry']} {lie['kind']} {lie['field'] or 'as a whole'}"
        yield f"passed {lie['about']}: {location}: {lie['what']}"
    yield f"{report['named']} of {format_count(report['lies'], 'lie')} named, {report['at_the_entry']} at that entry"

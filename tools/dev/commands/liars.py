"""``python -m tools.dev liars``: lies about honest journals, and how many the audit names."""

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
from tools.audit.games import Shelf
from tools.cli.tables import Form, Table, add_form_options, number_column, show, show_progress
from tools.cli.terminal import make_printable
from tools.cli.whole_number import WholeNumber
from tools.dev.liars import play
from tools.dev.simulation.campaign import Case, StuckError, case_of, simulate
from tools.dev.simulation.house import BY_WHEEL, House

_EXPORT: Final = click.Path(path_type=Path, dir_okay=False, exists=True)
#: The cabinets whose journals are falsified, and how much happens on each.
_HOUSES: Final = (
    House(),
    House(positions=3),
    House(positions=2, games=("maple-classic", BY_WHEEL, "quebec-blackjack"), wheel=True),
)
_ACTIONS_A_LIFE: Final = 150


@click.command()
@click.argument("exports", nargs=-1, type=_EXPORT)
@click.option(
    "--journals",
    multiple=True,
    type=_EXPORT,
    metavar="FILE...",
    help="Exports to lie about; more may follow.",
)
@click.option("--lies", default=1000, show_default=True, type=WholeNumber(min=1), help="How many.")
@click.option("--seed", default=1, show_default=True, type=int, help="The same seed tells the same lies.")
@click.option(
    "--games",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder of game definitions, besides the library.",
)
@add_form_options
def command(
    *,
    exports: tuple[Path, ...],
    journals: tuple[Path, ...],
    lies: int,
    seed: int,
    games: tuple[Path, ...],
    form: Form,
) -> None:
    """Falsify honest journals, each signed again with the machine's key, and report which lies are found.

    The journals are the given exports, with or without --journals, or else those of simulated cabinets with
    one position and with several. One lie alters, leaves out, repeats, moves or invents one thing, together
    with everything that agrees with it. Exit status 1 if a lie is neither named by the audit nor listed in
    ARCHITECTURE.md with its outside evidence.
    """
    shelf = Shelf(games)
    try:
        with show_progress("lies told", lies) as done:
            bodies = [_bodies_of(file) for file in (*journals, *exports)] or _lived(seed)
            score = play(bodies, shelf, lies=lies, seed=seed, progress=done)
    except (JournalError, OperatorError, ValueError) as why:
        raise click.ClickException(make_printable(why)) from why
    told = score.to_json()
    columns = ("of", "what", number_column("lies"), number_column("named"), number_column("not named"))
    rows = (
        (of, name, lies, named, lies - named)
        for of, kinds in (("touched", told["by_what_they_touch"]), ("entry", told["by_kind"]))
        for name, (lies, named) in kinds.items()
    )
    show(form, Table(columns, rows), document=told, after="\n".join(_sentences(told)))
    raise SystemExit(1 if score.undetected else 0)


def _bodies_of(file: Path) -> list[bytes]:
    with open_regular_file(file) as source:
        return list(export.ExportReader(source, str(file)).iter_bodies())


def _lived(seed: int) -> list[list[bytes]]:
    """Return the journals of cabinets that ran for a while in virtual time."""
    journals = []
    for life, house in enumerate(_HOUSES):
        with tempfile.TemporaryDirectory(prefix="egm-liars-") as folder:
            lived = case_of(seed + life, _ACTIONS_A_LIFE, cuts=1)
            with suppress(StuckError):  # what its staff could not mend is in an honest journal as well
                simulate(Path(folder), Case(lived.world, house, lived.script))
            with open_view(Path(folder) / "state") as view:
                journals.append(list(view.iter_bodies()))
    return journals


def _sentences(told: dict[str, Any]) -> Iterator[str]:
    for witness, times in told["witnessed"].items():
        yield f"not in the export alone, {format_count(times, 'lie')}; found by: {witness}"
    for lie in told["undetected"]:
        where = f"entry {lie['entry']} {lie['kind']} {lie['field'] or 'as a whole'}"
        yield f"passed {lie['about']}: {where}: {lie['what']}"
    yield f"{told['named']} of {format_count(told['lies'], 'lie')} named, {told['at_the_entry']} at the very entry"

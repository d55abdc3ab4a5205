"""``python -m tools.dev soak``: a cabinet through players, faults and power cuts, all held to the cent."""

import tempfile
import time
from pathlib import Path

import click

from egm.errors import OperatorError
from meters import JournalError
from paytables.wording import counted
from tools.cli.commands.par import profile_of
from tools.cli.tables import Form, Table, forms, show, whole, working
from tools.cli.whole import Whole
from tools.dev.soak.campaign import Soak, soak


@click.command()
@click.option("--actions", default=100_000, show_default=True, type=Whole(min=1), help="how many")
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
@forms
def command(
    *, actions: int, seed: int, profile: str, cabinet: Path | None, keep: Path | None, form: Form
) -> None:
    """Let a cabinet live on a clock that jumps: the real machine, drivers and simulated devices.

    Players, attendants, faults, bad lines and power cuts come as the seed says. At the end everything is
    mended and paid out, and the journal, the boxes, the tickets and the independent audit must agree; exit
    status 1 when they do not.
    """
    profile_of(profile)  # refused at once where there is none
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise click.ClickException(f"{keep}: not empty; a soak begins with a new machine")
    began = time.perf_counter()
    with (
        tempfile.TemporaryDirectory(prefix="egm-soak-") as folder,
        working("actions", actions) as done,
    ):
        root = Path(folder) if keep is None else keep
        root.mkdir(parents=True, exist_ok=True)
        try:
            result = soak(
                root,
                seed=seed,
                actions=actions,
                profile=profile,
                cabinet=cabinet,
                progress=done,
            )
        except (OperatorError, JournalError, TimeoutError) as error:
            raise click.ClickException(f"seed {seed}: {error}") from error
    before, after = _sentences(result, time.perf_counter() - began)
    amounts = Table(("amount", whole("minor units", "cents")), result.reckoning.amounts_cents.items())
    show(form, amounts, document=result.to_json(), before=before, after=after)
    raise SystemExit(1 if result.reckoning.wrong else 0)


def _sentences(result: Soak, seconds: float) -> tuple[str, str]:
    """What is said before and after the amounts."""
    reckoning = result.reckoning
    hours = result.cabinet_seconds / 3600
    before = (
        (
            f"seed {result.seed}: {counted(result.actions.total(), 'action')},"
            f" {counted(result.power_cuts, 'power cut')} and {counted(result.restarts, 'restart')}"
            f" by the staff, {hours:.1f} hours of the cabinet's life, {seconds:.0f} s of ours"
        ),
        ", ".join(f"{name} {count}" for name, count in result.actions.most_common()),
        "came into: " + ", ".join(f"{name} {count}" for name, count in result.states.most_common()),
    )
    replayed = f"{counted(reckoning.games_replayed, 'game')} played again from their draws"
    verdict = [f"wrong: {wrong}" for wrong in reckoning.wrong] or ["everything agrees"]
    entries = counted(reckoning.entries, "journal entry", "journal entries")
    return "\n".join(before), "\n".join((f"{entries}; {replayed}", *verdict))

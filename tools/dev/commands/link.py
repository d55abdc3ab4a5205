"""``python -m tools.dev link``: simulated machines on a progressive link, busy or troubled."""

import asyncio
import logging
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click

from paytables.wording import format_count
from tools.cli.tables import show_progress
from tools.cli.terminal import echo
from tools.cli.whole import WholeNumber
from tools.dev.progressive.campaign import Campaign, run_campaign
from tools.dev.progressive.simulate import run_floor
from tools.floor.progressive.opening import REPORTED_ERRORS, STORE, open_store
from tools.floor.progressive.store import Store


@click.group()
def command() -> None:
    """Run a progressive link under load and failures (needs Debian's mosquitto)."""


@command.command()
@click.option("--machines", default=8, show_default=True, type=click.IntRange(1, 1000))
@click.option("--wagers", default=200, show_default=True, type=WholeNumber(min=1), help="of each machine")
@click.option("--seed", default=1, show_default=True, type=int)
@STORE
def simulate(*, machines: int, wagers: int, seed: int, store: str | None) -> None:
    """Simulate a floor: MACHINES that feed and hit one level, over a real broker and a real controller."""
    with tempfile.TemporaryDirectory(prefix="egm-floor-") as folder:
        opener = _opener(store, Path(folder))
        try:
            floor = asyncio.run(run_floor(Path(folder), opener, machines=machines, wagers=wagers, seed=seed))
        except TimeoutError:
            why = f"{format_count(machines, 'machine')}: never all up, or never all at rest, on this computer"
            raise click.ClickException(why) from None
        except REPORTED_ERRORS as error:
            raise click.ClickException(str(error)) from error
    for line in floor.lines():
        echo(line)
    raise SystemExit(1 if floor.wrong else 0)


@command.command()
@click.option("--scenarios", default=1000, show_default=True, type=WholeNumber(min=1))
@click.option("--seed", default=1, show_default=True, type=int, help="the same seed is the same troubles")
@STORE
def campaign(*, scenarios: int, seed: int, store: str | None) -> None:
    """Trouble a link in every way, and hold every wager and hit to the fraction afterwards.

    Broker, controllers and machines are killed, cut off and confused, on SQLite, or on PostgreSQL with a DSN
    as --store. Everything that took place is counted. A scenario that stands still ends the run, with what
    every task was waiting for.
    """
    for name in ("asyncio", "mqtt"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # connections end all the time here
    began, result = time.perf_counter(), Campaign(seed)
    with (
        tempfile.TemporaryDirectory(prefix="egm-link-") as folder,
        show_progress("scenarios", scenarios) as done,
    ):
        try:
            asyncio.run(
                run_campaign(
                    result,
                    Path(folder),
                    _opener(store, Path(folder)),
                    scenarios=scenarios,
                    progress=done,
                )
            )
        except KeyboardInterrupt:
            result.wrong.append("it was interrupted")
        except REPORTED_ERRORS as error:
            raise click.ClickException(str(error)) from error
    seconds = time.perf_counter() - began
    echo(f"seed {seed}: {result.scenarios} of {format_count(scenarios, 'scenario')} in {seconds:.0f} s")
    for line in result.lines():
        echo(line)
    raise SystemExit(1 if result.wrong else 0)


def _opener(store: str | None, folder: Path) -> Callable[[], Store]:
    """Return a function that opens the given store, or a file that is deleted after the run."""
    return lambda: open_store(store or str(folder / "controller.db"))

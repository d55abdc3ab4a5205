"""``python -m tools.dev link``: simulated machines on a progressive link in every trouble."""

import asyncio
import logging
import tempfile
import time
from pathlib import Path

import click

from paytables.wording import format_count
from tools.cli.tables import show_progress
from tools.cli.terminal import echo
from tools.cli.whole_number import WholeNumber
from tools.dev.progressive.campaign import Campaign, run_campaign
from tools.floor.progressive.opening import REPORTED_ERRORS, STORE, open_store


@click.command()
@click.option("--scenarios", default=1000, show_default=True, type=WholeNumber(min=1))
@click.option("--seed", default=1, show_default=True, type=int, help="the same seed is the same troubles")
@STORE
def command(*, scenarios: int, seed: int, store: str | None) -> None:
    """Trouble a progressive link in every way, and hold every wager and hit to the fraction afterwards.

    It needs Debian's mosquitto.

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
                    lambda: open_store(store or str(Path(folder) / "controller.db")),
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

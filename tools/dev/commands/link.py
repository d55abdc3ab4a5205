"""``python -m tools.dev link``: run simulated machines on a progressive link with injected faults."""

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
from tools.dev.progressive.campaign import CampaignResult, run_campaign
from tools.floor.progressive.store_option import ERRORS_REPORTED_IN_ONE_LINE, STORE_OPTION, open_store


@click.command()
@click.option("--scenarios", default=1000, show_default=True, type=WholeNumber(min=1))
@click.option("--seed", default=1, show_default=True, type=int, help="The same seed gives the same faults.")
@STORE_OPTION
def command(*, scenarios: int, seed: int, store: str | None) -> None:
    """Inject faults into a progressive link, then check that every contribution and hit is exact to the fraction.

    It needs Debian's mosquitto.

    Broker, controllers and machines are killed, disconnected and given wrong clocks, on SQLite, or on PostgreSQL
    with a DSN as --store. Every fault that occurred is counted. A scenario that makes no progress ends the run and
    reports what every task was waiting for.
    """
    for name in ("asyncio", "mqtt"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # lost connections are expected
    started_seconds, result = time.perf_counter(), CampaignResult(seed)
    with (
        tempfile.TemporaryDirectory(prefix="egm-link-") as folder,
        show_progress("scenarios", scenarios) as report_progress,
    ):
        try:
            asyncio.run(
                run_campaign(
                    result,
                    Path(folder),
                    lambda: open_store(store or str(Path(folder) / "controller.db")),
                    scenarios=scenarios,
                    progress=report_progress,
                )
            )
        except KeyboardInterrupt:
            result.findings.append("it was interrupted")
        except ERRORS_REPORTED_IN_ONE_LINE as error:
            raise click.ClickException(str(error)) from error
    seconds = time.perf_counter() - started_seconds
    echo(f"seed {seed}: {result.scenarios} of {format_count(scenarios, 'scenario')} in {seconds:.0f} s")
    for line in result.format_report():
        echo(line)
    raise SystemExit(1 if result.findings else 0)

"""``python -m egm.cabinet --state DIR``: the machine process."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import click

from egm.cabinet.process import Machine
from egm.cabinet.stopped import stand_still
from egm.clock import SystemClock
from egm.config import StateFolder, load_cabinet
from egm.errors import OperatorError
from meters import JournalDamaged, JournalError, SelfAuditFailed

_OPERATOR_ERROR = 2


async def _run(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


@click.command()
@click.option("--state", type=click.Path(path_type=Path), required=True)
@click.option("--cabinet", type=click.Path(path_type=Path))
def main(state: Path, cabinet: Path | None) -> None:
    """Run the machine on the memory in STATE until told to stop."""
    folder, clock = StateFolder(state), SystemClock()
    try:
        folder.prepare()
        file = load_cabinet(cabinet)
        try:
            asyncio.run(_run(Machine(folder, file, clock).run()))
        except (JournalDamaged, SelfAuditFailed) as error:
            click.echo(f"egm: {error}", err=True)
            asyncio.run(_run(stand_still(folder, file, clock, str(error))))
    except (OperatorError, JournalError) as error:
        click.echo(f"egm: {error}", err=True)
        sys.exit(_OPERATOR_ERROR)


if __name__ == "__main__":
    main()

"""``python -m egm.cabinet --state DIR``: the machine process."""

import asyncio
import signal
import sys
from pathlib import Path

import click

from egm.cabinet.process import Machine
from egm.clock import SystemClock
from egm.config import StateFolder, load_cabinet
from egm.errors import OperatorError
from meters import JournalError

_OPERATOR_ERROR = 2


async def _run(machine: Machine) -> None:
    task = asyncio.ensure_future(machine.run())
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
    folder = StateFolder(state)
    try:
        folder.prepare()
        asyncio.run(_run(Machine(folder, load_cabinet(cabinet), SystemClock())))
    except (OperatorError, JournalError) as error:
        click.echo(f"egm: {error}", err=True)
        sys.exit(_OPERATOR_ERROR)


if __name__ == "__main__":
    main()

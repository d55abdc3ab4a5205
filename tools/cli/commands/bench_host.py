"""``egm bench-host``: run only the simulated devices of a cabinet, without machine and screen."""

import sys
from pathlib import Path

import click

from egm.app import bench
from egm.config.cabinet_file import find_default_state_folder


@click.command()
@click.option("--state", "state_folder", type=click.Path(path_type=Path), help="The machine's state folder.")
@click.option("--cabinet", type=click.Path(path_type=Path, exists=True), help="A cabinet file.")
@click.option("--speed", default=1.0, show_default=True, help="Run the mechanics this many times as fast.")
def command(state_folder: Path | None, cabinet: Path | None, speed: float) -> None:
    """Run the simulated devices until stopped; `egm device` operates them."""
    arguments = ["--state", str(state_folder or find_default_state_folder()), "--speed", str(speed)]
    if cabinet is not None:
        arguments += ["--cabinet", str(cabinet)]
    sys.exit(bench.main(arguments))

"""``egm gat``: an inspector's verifier on this computer, for a machine's GAT port."""

from pathlib import Path

import click
import serial
from rich.console import Console
from rich.table import Table

from egm.config import StateFolder, default_state_dir
from egm.gat.functions import LIST, PROGRAM_ID
from tools.gat_reader import GatError, Verifier

_FORMAT = click.option("--xml", "form", flag_value="xml", default="text", help="As XML instead of text.")


@click.group()
@click.option("--port", metavar="PATH", help="The serial port, 9600 8N1.")
@click.option("--state", type=click.Path(path_type=Path), help="The simulated port of this machine's memory.")
@click.pass_context
def command(ctx: click.Context, port: str | None, state: Path | None) -> None:
    """Ask a machine to identify and sign its software over GAT 3.50, while it plays."""
    if ctx.resilient_parsing:
        return
    where = port or str(StateFolder(state or default_state_dir()).gat_port)
    try:
        line = serial.Serial(where, baudrate=9600, exclusive=True)
    except (serial.SerialException, OSError) as error:
        raise click.ClickException(f"{where}: cannot be opened: {error}") from error
    ctx.obj = Verifier(ctx.with_resource(line))


def _run(verifier: Verifier, parameters: tuple[str, ...], form: str) -> None:
    try:
        click.echo(verifier.run(parameters, form).decode())
    except GatError as error:
        raise click.ClickException(str(error)) from error


@command.command()
@click.pass_obj
def status(verifier: Verifier) -> None:
    """How the machine stands, and when it last authenticated itself."""
    try:
        now, (level, seconds) = verifier.status(), verifier.last()
    except GatError as error:
        raise click.ClickException(str(error)) from error
    table = Table(show_header=False, show_edge=False)
    table.add_row("version", now.version)
    table.add_row("calculation", now.state)
    table.add_row("results", "ready" if now.ready else "none")
    table.add_row("formats", ", ".join(now.formats))
    table.add_row("last", "never" if not level else f"level {level:02X}, {seconds} s ago")
    Console().print(table)


@command.command()
@_FORMAT
@click.pass_obj
def functions(verifier: Verifier, form: str) -> None:
    """What the machine can be asked."""
    _run(verifier, (LIST,), form)


@command.command()
@_FORMAT
@click.pass_obj
def identity(verifier: Verifier, form: str) -> None:
    """What is installed, and who signed it."""
    _run(verifier, ("Get File", PROGRAM_ID), form)


@command.command()
@click.argument("name", required=False)
@click.option("--seed", default="", metavar="HEX", help="The key of the HMAC.")
@click.option("--sha256", is_flag=True, help="HMAC-SHA-256 instead of SHA-1.")
@_FORMAT
@click.pass_obj
def sign(verifier: Verifier, *, name: str | None, seed: str, sha256: bool, form: str) -> None:
    """Have the component NAME signed under the seed, or all of them."""
    if name is None:
        feature, parameter = "Get File", f"AuthenticationResponse{'-SHA256' * sha256}.xml"
    else:
        feature, parameter = "Component" + " SHA-256" * sha256, name
    _run(verifier, (feature, parameter, *([seed] if seed else [])), form)


@command.command()
@_FORMAT
@click.pass_obj
def results(verifier: Verifier, form: str) -> None:
    """The last results once more, without asking for new ones."""
    try:
        click.echo(verifier.results(form).decode())
    except GatError as error:
        raise click.ClickException(str(error)) from error

"""``egm gat``: the verifier that an inspector connects to a machine's GAT port (software identification)."""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from pathlib import Path

import click
import serial

from egm.config.cabinet_file import StateFolder, find_default_state_folder
from egm.links.gat.functions import GET_SPECIAL_FUNCTIONS, PROGRAM_ID_FILE_NAME
from tools.audit.gat_verifier import GatError, GatVerifier
from tools.cli.tables import OutputFormat, add_format_options, build_facts_table, show
from tools.cli.terminal import echo

#: The option for the format of results.
_FORMAT_OPTION = click.option(
    "--xml", "output_format", flag_value="xml", default="text", help="Print XML instead of text."
)

#: The option that names the serial port.
_PORT_OPTION = click.option("--port", metavar="PATH", help="The serial port, 9600 8N1.")
#: The option that names the state folder of a machine on this computer.
_STATE_OPTION = click.option(
    "--state",
    "state_folder",
    type=click.Path(path_type=Path),
    help="The machine's state folder, to use its simulated port.",
)


class _GatPort:
    """The serial port of a GAT connection; it is opened at the first query."""

    def __init__(self, port_path: str, context: click.Context) -> None:
        self._port_path = port_path
        self._context = context

    @cached_property
    def verifier(self) -> GatVerifier:
        """Return the verifier on the port. Raises ``click.ClickException`` if the port cannot be opened."""
        try:
            serial_port = serial.Serial(self._port_path, baudrate=9600, exclusive=True)
        except (serial.SerialException, OSError) as error:
            if not Path(self._port_path).exists():
                raise click.ClickException(
                    f"{self._port_path}: there is no GAT port: "
                    "start the machine, with [gat] in its cabinet file"
                ) from error
            raise click.ClickException(f"{self._port_path}: cannot be opened: {error}") from error
        return GatVerifier(self._context.with_resource(serial_port))


def _add_port_options(command_function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--port`` and ``--state`` to a command, and pass the selected port to it."""

    @click.pass_context
    def run_with_port(
        context: click.Context, /, *, port: str | None, state_folder: Path | None, **arguments: object
    ) -> None:
        """Run the command with the GAT port ``port``, or with the simulated one in the folder ``state_folder``."""
        command_function(
            _GatPort(port or str(StateFolder(state_folder or find_default_state_folder()).gat_port), context),
            **arguments,
        )

    return _PORT_OPTION(_STATE_OPTION(update_wrapper(run_with_port, command_function)))


@click.group()
def command() -> None:
    """Query a machine over GAT 3.50 to identify and sign its software, while it plays."""


def _run_function(gat_port: _GatPort, parameters: tuple[str, ...], output_format: str) -> None:
    """Run a special function of the machine (a query of GAT with a name) and print its results."""
    try:
        echo(gat_port.verifier.run_special_function(parameters, output_format).decode())
    except GatError as error:
        raise click.ClickException(str(error)) from error


@command.command()
@add_format_options
@_add_port_options
def status(gat_port: _GatPort, output_format: OutputFormat) -> None:
    """Print the machine's status, and when it last authenticated itself."""
    try:
        current_status = gat_port.verifier.read_status()
        (authentication_level, seconds_ago) = gat_port.verifier.read_last_authentication()
    except GatError as error:
        raise click.ClickException(str(error)) from error
    fields = {
        "version": current_status.version,
        "calculation": current_status.state,
        "results": "ready" if current_status.has_results else "none",
        "formats": list(current_status.formats),
        "last": "never"
        if not authentication_level
        else f"level {authentication_level:02X}, {seconds_ago} s ago",
    }
    show(output_format, build_facts_table(fields.items()), document=fields)


@command.command()
@_FORMAT_OPTION
@_add_port_options
def functions(gat_port: _GatPort, output_format: str) -> None:
    """Print the special functions that the machine offers over GAT."""
    _run_function(gat_port, (GET_SPECIAL_FUNCTIONS,), output_format)


@command.command()
@_FORMAT_OPTION
@_add_port_options
def identity(gat_port: _GatPort, output_format: str) -> None:
    """Print the software that the machine reports over GAT as installed, and who signed it."""
    _run_function(gat_port, ("Get File", PROGRAM_ID_FILE_NAME), output_format)


@command.command()
@click.argument("name", required=False)
@click.option("--seed", default="", metavar="HEX", help="The HMAC key.")
@click.option("--sha256", is_flag=True, help="HMAC-SHA-256 instead of SHA-1.")
@_FORMAT_OPTION
@_add_port_options
def sign(gat_port: _GatPort, *, name: str | None, seed: str, sha256: bool, output_format: str) -> None:
    """Query a machine's signature of its component NAME, or of all components, computed with the seed.

    `egm signature` computes the same for the software installed here, without a machine, for comparison.
    """
    if name is None:
        feature, parameter = "Get File", f"AuthenticationResponse{'-SHA256' * sha256}.xml"
    else:
        feature, parameter = "Component" + " SHA-256" * sha256, name
    _run_function(gat_port, (feature, parameter, *([seed] if seed else [])), output_format)


@command.command()
@_FORMAT_OPTION
@_add_port_options
def results(gat_port: _GatPort, output_format: str) -> None:
    """Print the results of the last GAT calculation again, without starting a new one."""
    try:
        echo(gat_port.verifier.read_results(output_format).decode())
    except GatError as error:
        raise click.ClickException(str(error)) from error

"""``egm device``: operate a simulated device of a running cabinet, or listen to a real one on a port."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from egm.config.cabinet_file import StateFolder, find_default_state_folder
from egm.devices.interface import DeviceEvent
from egm.devices.protocols import PROTOCOLS
from egm.links.bench_client import BenchClient, BenchUnreachableError
from tools.cli.device_listener import DeviceListener, ListenError
from tools.cli.tables import OutputFormat, Table, add_format_options, build_facts_table, show
from tools.cli.terminal import echo


def _parse_value(word: str) -> int | str | bool:
    """Return the value that an argument states: ``true`` and ``false`` are bool, digits int, anything else text."""
    if word in {"true", "false"}:
        return word == "true"
    try:
        return int(word)
    except ValueError:
        return word


def _parse_values(arguments: tuple[str, ...]) -> dict[str, int | str | bool]:
    """Return the values in arguments of the form ``key=value``, by key; a bar code remains text."""
    values: dict[str, int | str | bool] = {}
    for argument in arguments:
        key, equals_sign, value = argument.partition("=")
        if not equals_sign or not key:
            raise click.ClickException(f"{argument!r}: write a value as key=value")
        # the leading zeros of a bar code belong to it
        values[key] = value if key == "barcode" else _parse_value(value)
    return values


@click.command()
@click.argument("name", required=False)
@click.argument("action", default="state")
@click.argument("values", nargs=-1)
@click.option("--state", "state_folder", type=click.Path(path_type=Path), help="The machine's state folder.")
@add_format_options
@click.option("--protocol", type=click.Choice(sorted(PROTOCOLS)), help="Monitor a real device.")
@click.option("--port", type=click.Path(path_type=Path), help="The real device's serial port.")
@click.option(
    "--accept",
    "accepted_text",
    default="",
    help="With --protocol: denominations to accept, in cents, separated by commas.",
)
@click.option(
    "--keep",
    "keeps_paper",
    is_flag=True,
    help="With --accept: stack what is inserted instead of returning it.",
)
@click.option("--bytes", "as_bytes", is_flag=True, help="With --protocol: print the line's bytes too.")
@click.option("--seconds", type=float, help="With --protocol: monitor for this time (default: until Ctrl-C).")
def command(
    name: str | None,
    action: str,
    values: tuple[str, ...],
    state_folder: Path | None,
    output_format: OutputFormat,
    protocol: str | None,
    port: Path | None,
    accepted_text: str,
    keeps_paper: bool,  # noqa: FBT001 (click passes flags)
    as_bytes: bool,  # noqa: FBT001
    seconds: float | None,
) -> None:
    """Operate device NAME of the bench: ACTION with VALUES such as amount_cents=2000.

    Without NAME, list the devices. For an unknown action, print the list of known ones.

    \b
    egm device bill insert amount_cents=2000
    egm device io door name=main open=true
    egm device bill log
    egm device --protocol id003 --port /dev/ttyUSB0 --accept 500,1000
    """  # noqa: D301 (click's mark for unwrapped text)
    if protocol is not None:
        _listen(protocol, port, accepted_text, keeps_paper=keeps_paper, as_bytes=as_bytes, seconds=seconds)
        return
    if port is not None:
        raise click.ClickException("--port needs --protocol, the protocol of the real device on it")
    folder = StateFolder(state_folder or find_default_state_folder())
    try:
        with BenchClient(folder.run_folder) as bench_client:
            reply = bench_client.execute_action(name or "bench", action, **_parse_values(values))
    except BenchUnreachableError as error:
        raise click.ClickException(str(error)) from error
    if not reply.ok:
        raise click.ClickException(reply.text)
    if name is None:
        columns = ("kind", "status", "powered", "plugged")
        rows = ((device, *(state.get(key) for key in columns)) for device, state in reply.state.items())
        show(output_format, Table(("device", *columns), rows), document=reply.state)
    elif output_format == "text" and action == "log":
        echo(reply.text)
    else:
        facts = iter_device_facts(reply.state) if output_format == "text" else reply.state.items()
        show(output_format, build_facts_table(facts), document=reply.state, text_before=reply.text)


def iter_device_facts(state: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the facts of a device's state as (name, value).

    A list of objects, such as the printed tickets, becomes one fact per object: "tickets 1", "tickets 2", etc.
    """
    for key, value in state.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for number, item in enumerate(value, start=1):
                # Lists are long, so they come last.
                is_list_by_name = {name: isinstance(field_value, list) for name, field_value in item.items()}
                yield (
                    f"{key} {number}",
                    {name: item[name] for name in sorted(item, key=is_list_by_name.__getitem__)},
                )
        else:
            yield key, value


def _listen(
    protocol: str,
    port: Path | None,
    accepted_text: str,
    *,
    keeps_paper: bool,
    as_bytes: bool,
    seconds: float | None,
) -> None:
    """Connect to a real device without a machine, and print its events until stopped."""
    if port is None:
        raise click.ClickException("--protocol needs --port, the serial port of the real device")
    if not port.exists():
        raise click.ClickException(
            f"{port} does not exist; `egm cabinet devices` lists the serial ports here"
        )
    try:
        accepted_cents = frozenset(int(word) for word in accepted_text.split(",") if word)
    except ValueError:
        raise click.ClickException(f"--accept {accepted_text!r}: whole cents, separated by commas") from None

    def print_event(event: DeviceEvent) -> None:
        """Print an event of the device."""
        fields = ", ".join(
            f"{key}={getattr(event, key)!r}" for key in event.__dataclass_fields__ if key != "device"
        )
        echo(f"{type(event).__name__}({fields})")

    def print_bytes(data: bytes, is_sent: bool) -> None:  # noqa: FBT001 (signature of the line's callback)
        """Print bytes of the line after ">" if they were sent, or "<" if they were received."""
        echo(f"{'>' if is_sent else '<'} {data.hex(' ')}")

    listener = DeviceListener(
        protocol,
        port,
        print_event,
        accepted_cents=accepted_cents,
        keeps_paper=keeps_paper,
        on_bytes=print_bytes if as_bytes else None,
    )
    try:
        asyncio.run(listener.run(seconds))
    except ListenError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        return

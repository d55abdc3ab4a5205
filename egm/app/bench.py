"""The bench: the process that runs the simulated devices, so that they survive a restart of the machine.

``python -m egm.app.bench --state DIR [--cabinet FILE] [--speed N]`` creates, below ``DIR/run``:

* ``dev/<name>``: for each device a link to the pseudo-terminal that the machine opens as its port;
* ``bench.token`` (0600): the token that clients of the bench must present;
* ``bench.sock`` (0600): newline-delimited messages of :mod:`egm.kernel.messages`. The first line is a
  ``Hello`` with the token, answered by a ``Hello``; then each ``BenchCommand`` is answered by one
  ``BenchReply``;
* ``bench.ready``: contains the process id; written when everything above works, removed at the end.

Actions of every device:

* ``state``: return the device's state, and do nothing else;
* ``power_off``, ``power_on``: switch the device off or on;
* ``unplug``, ``plug``: pull its cable out, or plug it in;
* ``silence {on}``: send no replies;
* ``late {milliseconds}``: send each reply this much later;
* ``corrupt {answers}``, ``drop {answers}``: corrupt or lose the next replies, this many of them;
* ``split {on}``: send each reply byte by byte, with pauses;
* ``clear_line``: end all line faults;
* ``log``: return the latest messages of the line.

Each simulated device adds its own (``insert {amount_cents}``, ``jam``, ``clear``, ``door {name, open}``,
``key {name, on}``, ``press {button}`` ...): see its ``actions``; an unknown action is answered with the list.
A command to the device name ``bench`` returns the states of all devices, whatever its action.

What a device retains without power (paper inside, counters, the changes of doors and key switches that an I/O
board has counted) is stored in ``DIR/bench/<name>.json``, so stopping the bench is only a power loss for its devices.

The devices of the cabinet file with port ``bench`` are simulated; without a file, those of the
demonstration cabinet.
"""

import argparse
import asyncio
import gc
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from egm.garbage_collector import pause_garbage_collector

with pause_garbage_collector():  # collecting garbage would take a quarter of the time of these imports
    from egm.config.cabinet_file import CabinetFile, load_cabinet
    from egm.devices.protocols import PROTOCOLS
    from egm.devices.twin import ActionError, SimulatedPort, Twin
    from egm.errors import OperatorError
    from egm.kernel.messages import (
        BenchCommand,
        BenchReply,
        Hello,
        Message,
        MessageError,
        decode_message,
        encode_message,
    )
    from egm.links.screen.private_sockets import is_same_token, serve_unix_socket, write_new_token
    from egm.links.systemd import READY_NOTIFICATION, notify_systemd
    from egm.private_files import replace_private_file
    from egm.private_process import make_process_private
    from egm.profiles import load_profile
    from egm.terminal import echo
    from egm.unix_sockets import open_socket_address

#: Longest line of a client of the bench, in bytes.
_CLIENT_LINE_BYTES_MAX: Final = 64 * 1024
#: Exit status of a bench that cannot run and has printed why: a restart would only repeat it.
_EXIT_CODE_OPERATOR_ERROR: Final = 2


class BenchError(Exception):
    """Raised if the bench cannot start; the text says why."""


def read_protocol_by_simulated_device(cabinet: CabinetFile) -> dict[str, str]:
    """Return the protocol of each simulated device of a cabinet file, by the device's name."""
    return {name: device.protocol for name, device in cabinet.devices.items() if device.port == "bench"}


class Bench:
    """The simulated devices of one state folder, and the socket through which clients operate them."""

    def __init__(
        self,
        state_folder: Path,
        protocol_by_device: Mapping[str, str],
        *,
        speed: float = 1.0,
        values_cents_by_device: Mapping[str, tuple[int, ...]] | None = None,
        currency: str = Twin.currency,
    ) -> None:
        """Create the simulated devices; ``protocol_by_device`` maps each device's name to its protocol.

        Their mechanics run ``speed`` times as fast as real ones; the time limits of their protocols are unchanged.
        ``values_cents_by_device`` maps a device's name to the values of its note or coin channels, in minor units,
        as the cabinet file states them. ``currency`` is the currency for which the devices are programmed,
        ISO 4217.
        """
        self._run_folder = state_folder / "run"
        self._retained_state_folder = state_folder / "bench"
        self._token = ""  # created anew at each start
        self._server: asyncio.Server | None = None
        # Whether the folder's sockets, links and files belong to this bench.
        self._is_run_folder_owned = False
        self.simulated_devices: dict[str, Twin[object]] = {}
        for name, protocol in protocol_by_device.items():
            protocol_definition = PROTOCOLS[protocol]
            port = SimulatedPort(
                self._run_folder / "dev" / name, protocol_definition.line_settings.character_seconds
            )
            self.simulated_devices[name] = protocol_definition.create_twin(
                name, port, speed, (values_cents_by_device or {}).get(name, ())
            )
            self.simulated_devices[name].currency = currency

    @property
    def socket_path(self) -> Path:
        """Return the path of the socket for clients of the bench."""
        return self._run_folder / "bench.sock"

    async def start(self) -> None:
        """Plug in every simulated device, open the socket and report ready. Raises BenchError."""
        self._run_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        await self._refuse_second_bench()
        self._is_run_folder_owned = True
        for stale_link in (self._run_folder / "dev").glob("*") if (self._run_folder / "dev").is_dir() else ():
            # Left by a killed bench: what it points to may belong to another process now.
            stale_link.unlink(missing_ok=True)
        for name, twin in self.simulated_devices.items():
            self._restore_retained_state(name, twin)
            twin.port.plug()
            twin.start_autonomous_behaviour()
        self._token = write_new_token(self._run_folder / "bench.token")
        self._server = await serve_unix_socket(
            self.socket_path, self._serve_client, line_bytes_max=_CLIENT_LINE_BYTES_MAX
        )
        replace_private_file(self._run_folder / "bench.ready", f"{os.getpid()}\n")

    # ------------------------------------------------------------ what devices retain without power
    def _restore_retained_state(self, name: str, twin: Twin[object]) -> None:
        """Restore the state that a simulated device retains without power; store it whenever it changes."""
        path = self._retained_state_folder / f"{name}.json"
        stored_state = {"kind": twin.kind, **twin.export_retained_state()}
        with suppress(FileNotFoundError):
            try:
                stored_state = json.loads(path.read_text(encoding="utf-8"))
                if stored_state["kind"] == twin.kind:
                    twin.restore_retained_state(stored_state)
            except (ValueError, KeyError, RecursionError, TypeError) as error:
                raise BenchError(f"{path}: not the retained state of a {twin.kind}: {error!r}") from error

        def store_retained_state() -> None:
            """Store the state that the simulated device retains without power, if it has changed."""
            nonlocal stored_state
            retained_state = {"kind": twin.kind, **twin.export_retained_state()}
            if retained_state != stored_state:
                stored_state = retained_state
                self._retained_state_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                replace_private_file(path, json.dumps(retained_state))

        twin.on_change = store_retained_state

    async def _refuse_second_bench(self) -> None:
        """Raise BenchError if another bench runs on this state folder."""
        with suppress(OSError), open_socket_address(self.socket_path) as address:
            _, writer = await asyncio.open_unix_connection(address)
            writer.close()
            raise BenchError(f"{self.socket_path}: another bench is running on this state folder")

    async def stop(self) -> None:
        """Stop the bench, and remove its files, its socket and the links to its devices; stored device states stay.

        If the bench could not start, there is nothing to remove.
        """
        if not self._is_run_folder_owned:
            return
        self._is_run_folder_owned = False
        for name in ("bench.ready", "bench.token"):
            (self._run_folder / name).unlink(missing_ok=True)
        if self._server is not None:
            self._server.close()
        self.socket_path.unlink(missing_ok=True)
        for twin in self.simulated_devices.values():
            twin.shut_down()

    # ------------------------------------------------------------ the socket
    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client of the bench: if its token is right, reply with ``Hello`` and execute its commands."""
        try:
            greeting = await self._read_message(reader)
            if not isinstance(greeting, Hello) or not is_same_token(greeting.token, self._token):
                writer.write(
                    encode_message(
                        BenchReply(ok=False, text="the first message must be a hello with the bench's token")
                    )
                )
                return
            writer.write(encode_message(Hello()))
            while (message := await self._read_message(reader)) is not None:
                writer.write(encode_message(self.execute_command(message)))
                await writer.drain()
                await asyncio.sleep(0)  # so that buffered commands do not delay the devices' replies
        except MessageError as error:
            writer.write(encode_message(BenchReply(ok=False, text=str(error))))
        except (ConnectionError, ValueError):  # disconnected, or a line over the limit
            pass
        except asyncio.CancelledError:  # the bench is closing, and nobody awaits this task
            pass
        finally:
            with suppress(ConnectionError):
                await writer.drain()
            writer.close()

    @staticmethod
    async def _read_message(reader: asyncio.StreamReader) -> Message | None:
        """Return the next message of a client, or None at the end of its connection."""
        line = await reader.readline()
        return decode_message(line) if line else None

    def execute_command(self, message: Message) -> BenchReply:
        """Execute a client's command on one simulated device and return the result."""
        if not isinstance(message, BenchCommand):
            return BenchReply(ok=False, text=f"the bench takes bench commands, not {message.type}")
        if message.device == "bench":
            return BenchReply(
                ok=True, state={name: twin.describe() for name, twin in self.simulated_devices.items()}
            )
        twin = self.simulated_devices.get(message.device)
        if twin is None:
            return BenchReply(
                ok=False,
                text=f"there is no simulated device {message.device!r}; "
                f"expected one of {', '.join(self.simulated_devices)}",
            )
        try:
            text = twin.perform_action(message.action, message.values)
        except ActionError as error:
            return BenchReply(ok=False, text=str(error), state=twin.describe())
        return BenchReply(ok=True, text=text, state=twin.describe())


async def run_bench(state_folder: Path, cabinet: CabinetFile, *, speed: float = 1.0) -> None:
    """Run the simulated devices of a cabinet file until SIGTERM or SIGINT.

    Raises :class:`BenchError` if another bench runs them already, or if the retained state of one of them cannot be
    read.
    """
    values_cents_by_device = {name: device.channel_values_cents for name, device in cabinet.devices.items()}
    currency = load_profile(cabinet.machine.profile).currency
    bench = Bench(
        state_folder,
        read_protocol_by_simulated_device(cabinet),
        speed=speed,
        values_cents_by_device=values_cents_by_device,
        currency=currency,
    )
    stop_event = asyncio.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signal_number, stop_event.set)
    try:
        await bench.start()
        echo("READY")
        notify_systemd(READY_NOTIFICATION)
        await stop_event.wait()
    finally:
        await bench.stop()


def main(arguments: list[str] | None = None) -> int:
    """Run the simulated devices for the state folder and cabinet file on the command line; return the exit status."""
    make_process_private()
    gc.freeze()  # what was imported stays: no later collection searches it
    parser = argparse.ArgumentParser(prog="python -m egm.app.bench", description="Host simulated devices.")
    parser.add_argument("--state", type=Path, required=True, help="the machine's state folder")
    parser.add_argument("--cabinet", type=Path, help="the cabinet file, which lists the devices")
    parser.add_argument("--speed", type=float, default=1.0, help="run the mechanics this many times as fast")
    options = parser.parse_args(arguments)
    try:
        cabinet = load_cabinet(options.cabinet)
        if not read_protocol_by_simulated_device(cabinet):
            echo("the cabinet file has no simulated device, so the bench ends")
            notify_systemd(READY_NOTIFICATION)
            return 0
        asyncio.run(run_bench(options.state, cabinet, speed=options.speed))
    except (BenchError, OperatorError, OSError) as error:
        echo(f"bench: {error}", err=True)
        return _EXIT_CODE_OPERATOR_ERROR
    return 0


if __name__ == "__main__":
    sys.exit(main())

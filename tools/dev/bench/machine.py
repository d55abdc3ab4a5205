"""Run complete machines in their own processes, with a player at the screen socket, for benchmarks."""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from egm.config.cabinet_file import StateFolder
from egm.isolated import build_python_command
from egm.kernel.messages import LINE_BYTES_MAX, Hello, Intent, Message, decode_message, encode_message
from egm.unix_sockets import open_socket_address

TIMEOUT_SECONDS: Final = 120.0
_MACHINE_TABLES: Final = """
[machine]
serial = "BENCH-1"
operator_number = "1"
site = "bench"
profile = "generic"
[metrics]
port = 0
"""


def write_cabinet(folder: Path, tables: str) -> StateFolder:
    """Write the cabinet file of a benchmark machine, with its games and devices; return its state folder.

    ``tables`` are the tables of its devices as TOML text.
    """
    state = StateFolder(folder / "state")
    state.create_private_folders()
    (folder / "cabinet.toml").write_text(_MACHINE_TABLES + tables, encoding="utf-8")
    return state


def build_machine_command(folder: Path, module: str = "egm.app") -> tuple[str, ...]:
    """Return the command of a process of the machine whose cabinet file is in ``folder``."""
    options = ("--state", str(folder / "state"), "--cabinet", str(folder / "cabinet.toml"))
    return build_python_command(module, *options)


@contextlib.contextmanager
def run_process(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a command without window and sound while the context lasts, then end it."""
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def wait_for(is_done: Callable[[], bool], awaited_text: str) -> None:
    """Wait until ``is_done`` returns True. Raises TimeoutError, which names ``awaited_text``."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not is_done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{awaited_text}: not within {TIMEOUT_SECONDS:.0f} s")
        time.sleep(0.01)


class Screen:
    """A simulated player's connection to the screen socket of a machine."""

    def __init__(self, state: StateFolder) -> None:
        """Connect to the machine as soon as it listens. Raises TimeoutError."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT_SECONDS)
        self._state = state
        wait_for(self._is_connected, "a machine that listens")
        self._socket.sendall(
            encode_message(Hello(token=state.screen_token.read_text(encoding="ascii").strip()))
        )
        self._lines = self._socket.makefile("rb")

    def _is_connected(self) -> bool:
        with contextlib.suppress(OSError), open_socket_address(self._state.screen_socket) as address:
            self._socket.connect(address)
            return True
        return False

    def press(self, name: str, value: str | int | None = None) -> None:
        """Send the touch of a button of this name, with its value, to the machine."""
        self._socket.sendall(encode_message(Intent.model_validate({"name": name, "value": value})))

    def receive(self) -> Message:
        """Return the next message. Raises TimeoutError, or ConnectionError if the machine has ended."""
        line = self._lines.readline(LINE_BYTES_MAX)
        if not line:
            raise ConnectionError("the machine closed the connection")
        return decode_message(line)

    def wait_for_message(self, is_wanted: Callable[[Message], bool]) -> Message:
        """Return the next message for which ``is_wanted`` returns True."""
        while not is_wanted(message := self.receive()):
            pass
        return message

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

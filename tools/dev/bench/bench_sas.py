"""The SAS line: from the last byte of a poll to the first byte of its answer, beside a bare echo.

A real machine process answers on its own pseudo-terminal; the clock is the host's. Idle, nothing else runs;
at play, a player's hand starts game after game and the real screen draws them. The standard allows 20 ms.
"""

import contextlib
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder
from egm.isolated import build_python_command
from egm.kernel.credits import CREDIT
from egm.kernel.messages import Hello, Intent, Play, Snapshot, decode, encode
from egm.links.sas.crc import append_crc
from egm.links.sas.line import LINE_PRIORITY, raise_priority
from egm.links.sas.wire import mark_message
from egm.unix_sockets import open_socket_address
from meters import Journal, Transaction, Transfer
from tools.dev.bench import Figure

POLLS: Final = 3000
_PAUSE_SECONDS: Final = 0.004
_PATIENCE_SECONDS: Final = 2.0
_START_SECONDS: Final = 60.0
_CABINET: Final = """
[machine]
serial = "BENCH"
operator_number = "1"
site = "bench"
profile = "generic"
[[games]]
game = "maple-classic"
[[games]]
game = "aurora-twenty"
[metrics]
port = 0
[sas.main]
port = "pty"
"""
#: What a host asks all day: exceptions, credits, six meters, ten meters by code.
_CYCLE: Final[Sequence[bytes]] = (
    b"\x81",
    b"\x01\x1a",
    b"\x80\x81",
    b"\x01\x0f",
    append_crc(bytes.fromhex("01 2F 0C 0000 00 01 02 04 05 06 07 0B 0C 24")),
    append_crc(bytes.fromhex("01 6F 0A 0000 0000 0100 0500 A000")),
)
_ECHO: Final = """
import os, sys
from egm.links.sas.line import LINE_PRIORITY, raise_priority
raise_priority(LINE_PRIORITY)
fd = int(sys.argv[1])
while data := os.read(fd, 4096):
    os.write(fd, data)
"""


class _Line:
    """The host's end of a pseudo-terminal."""

    def __init__(self, fileno: int) -> None:
        self._get_fileno = fileno

    def ask_ns(self, message: bytes) -> int:
        """Nanoseconds from the last byte written to the first byte read."""
        while select.select([self._get_fileno], [], [], 0)[0]:
            os.read(self._get_fileno, 4096)
        os.write(self._get_fileno, message)
        began = time.perf_counter_ns()
        if not select.select([self._get_fileno], [], [], _PATIENCE_SECONDS)[0]:
            raise TimeoutError(f"no answer to {message.hex(' ')}")
        took = time.perf_counter_ns() - began
        os.read(self._get_fileno, 4096)
        return took


def _wire(poll: bytes) -> bytes:
    """Return a poll as a UART delivers it, preceded by 80 if a general poll acknowledges the last message."""
    return mark_message(poll[:1]) + mark_message(poll[1:]) if poll[0] == 0x80 else mark_message(poll)


def _measure(line: _Line, messages: Sequence[bytes]) -> list[int]:
    times = []
    for number in range(POLLS):
        times.append(line.ask_ns(messages[number % len(messages)]))
        time.sleep(_PAUSE_SECONDS)
    return sorted(times)


def _quantile_ms(times: Sequence[int], thousandths: int) -> float:
    return times[min(len(times) - 1, len(times) * thousandths // 1000)] / 1e6


# ---------------------------------------------------------------------------------------------- the echo
def _echo_times() -> list[int]:
    master, slave = os.openpty()
    tty.setraw(slave)
    echo = subprocess.Popen([sys.executable, "-c", _ECHO, str(master)], pass_fds=(master,))
    try:
        return _measure(_Line(slave), [_wire(poll) for poll in _CYCLE])
    finally:
        echo.kill()
        echo.wait()
        os.close(master)
        os.close(slave)


# ---------------------------------------------------------------------------------------------- the machine
@contextlib.contextmanager
def _machine(folder: Path, *, playing: bool) -> Iterator[_Line]:
    state = StateFolder(folder / "state")
    state.prepare()
    cabinet = folder / "cabinet.toml"
    cabinet.write_text(_CABINET, encoding="utf-8")
    with Journal.open(state.root, now=SystemClock().now, machine_id="BENCH") as journal:
        fund = Transfer("world:bill", CREDIT, 1_000_000)
        journal.append(Transaction(id="fund", kind="bill.in", transfers=(fund,), record={"amount_cents": 0}))
    arguments = ["--state", str(state.root)]
    with contextlib.ExitStack() as cleanup:
        machine = build_python_command("egm.app", *arguments, "--cabinet", str(cabinet))
        cleanup.enter_context(_process(machine))
        slave = _opened(state.run / "sas" / "main")
        cleanup.callback(os.close, slave)
        if playing:
            cleanup.enter_context(_process(build_python_command("egm.screen", *arguments)))
            hand = _Hand(state)
            cleanup.callback(hand.stop)
            hand.start()
            hand.playing.wait(_START_SECONDS)
        yield _Line(slave)


@contextlib.contextmanager
def _process(command: Sequence[str]) -> Iterator[None]:
    quiet = {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    process = subprocess.Popen(command, env=quiet, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _opened(path: Path) -> int:
    """Open the line, and return once the machine replies on it."""
    deadline = time.monotonic() + _START_SECONDS
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the machine opened no line at {path}")
        time.sleep(0.05)
    slave = os.open(path, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(slave)
    while True:
        os.write(slave, _wire(b"\x80\x81"))
        if select.select([slave], [], [], 0.5)[0]:
            os.read(slave, 4096)
            return slave


class _Hand(threading.Thread):
    """A player who presses the button whenever the machine is idle, and skips every show."""

    def __init__(self, state: StateFolder) -> None:
        super().__init__(daemon=True)
        self.playing = threading.Event()
        self.games = 0
        self._socket = socket.socket(socket.AF_UNIX)
        with open_socket_address(state.screen_socket) as address:
            self._socket.connect(address)
        self._socket.sendall(encode(Hello(token=state.screen_token.read_text(encoding="ascii"))))

    def run(self) -> None:
        """Play until the socket is closed."""
        with contextlib.suppress(OSError), self._socket.makefile("rb") as lines:
            for line in lines:
                message = decode(line)
                if isinstance(message, Play):
                    self.games += 1
                    self.playing.set()
                    time.sleep(0.2)
                    self._socket.sendall(encode(Intent(name="shown", value=message.play_id)))
                elif isinstance(message, Snapshot) and message.state == "idle":
                    self._socket.sendall(encode(Intent(name="play")))

    def stop(self) -> None:
        """Walk away."""
        self._socket.close()


def figures() -> Iterator[Figure]:
    """Answer times, idle and at play; the baseline is a bare echo of equal priority."""
    raise_priority(LINE_PRIORITY)  # the host must not be late itself
    echo = _echo_times()
    for title, playing in (("idle", False), ("at play, screen drawing", True)):
        with tempfile.TemporaryDirectory() as folder, _machine(Path(folder), playing=playing) as line:
            times = _measure(line, [_wire(poll) for poll in _CYCLE])
        for name, thousandths, aim in (
            ("p50", 500, ""),
            ("p99", 990, ""),
            ("p99.9", 999, "at most 5 ms; the standard allows 20"),
        ):
            yield Figure(
                f"SAS poll to answer, {title}, {name}",
                _quantile_ms(times, thousandths),
                "ms",
                "bare echo on a pty",
                _quantile_ms(echo, thousandths),
                better="lower",
                aim=aim,
            )

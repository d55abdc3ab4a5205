"""Measure the SAS line: time from the last byte of a poll to the first byte of its reply, against a bare echo.

A real machine process replies on its own pseudo-terminal; the time is measured at the host. The machine is measured
idle, with nothing else running, and while a player starts one game after another and the real screen draws them. The
standard allows 20 ms.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from egm.clock import SystemClock
from egm.isolated import build_python_command
from egm.kernel.credits import FIRST_POSITION_CASHABLE_ACCOUNT
from egm.kernel.messages import GameOutcome, Snapshot
from egm.links.sas.crc import append_crc
from egm.links.sas.line import LINE_PRIORITY, raise_thread_priority
from meters import Journal, Transaction, Transfer
from tools.dev.bench import BenchFigure
from tools.dev.bench.machine import Screen, build_machine_command, run_process, wait_for, write_cabinet
from tools.dev.host.line import HostLine, WakeupEncoding

POLL_COUNT: Final = 3000
_PAUSE_AFTER_POLL_SECONDS: Final = 0.004
_REPLY_TIMEOUT_SECONDS: Final = 2.0
_SYNC_POLL: Final = b"\x80"
_CABINET_FILE_TABLES: Final = """
[[games]]
game = "maple-classic"
[[games]]
game = "aurora-twenty"
[sas.main]
port = "pty"
"""
#: The regular polls of a host: exceptions, credits, six meters, ten meters by code.
_POLL_CYCLE: Final[Sequence[bytes]] = (
    b"\x81",
    b"\x01\x1a",
    b"\x80",
    b"\x81",
    b"\x01\x0f",
    append_crc(bytes.fromhex("01 2F 0C 0000 00 01 02 04 05 06 07 0B 0C 24")),
    append_crc(bytes.fromhex("01 6F 0A 0000 0000 0100 0500 A000")),
)
_ECHO_PROGRAM: Final = """
import os, sys
from egm.links.sas.line import LINE_PRIORITY, raise_thread_priority
raise_thread_priority(LINE_PRIORITY)
fd = int(sys.argv[1])
while data := os.read(fd, 4096):
    os.write(fd, data)
"""


def _open_line(path: str) -> HostLine:
    """Open the host's end of a line and wait until the machine replies on it."""
    line = HostLine(path, WakeupEncoding.MARKED, reply_timeout_seconds=_REPLY_TIMEOUT_SECONDS)
    wait_for(lambda: bool(line.exchange(b"\x81", bool)), "an answer")
    return line


def _measure_reply_seconds(line: HostLine) -> list[float]:
    """Return the seconds from the last byte of each poll to the first byte of its reply, sorted."""
    times = []
    for number in range(POLL_COUNT):
        poll = _POLL_CYCLE[number % len(_POLL_CYCLE)]
        if poll == _SYNC_POLL:  # an acknowledgement, which is not answered
            line.send(poll)
            continue
        if not line.exchange(poll, bool):
            raise TimeoutError(f"no answer to {poll.hex(' ')}")
        times.append(line.latency_seconds)
        time.sleep(_PAUSE_AFTER_POLL_SECONDS)
    return sorted(times)


def _find_quantile_ms(times: Sequence[float], thousandths: int) -> float:
    return times[min(len(times) - 1, len(times) * thousandths // 1000)] * 1e3


# ---------------------------------------------------------------------------------------------- the echo
def _measure_echo_seconds() -> list[float]:
    master, slave = os.openpty()
    tty.setraw(slave)
    echo = subprocess.Popen([sys.executable, "-c", _ECHO_PROGRAM, str(master)], pass_fds=(master,))
    try:
        with closing(_open_line(os.ttyname(slave))) as line:
            return _measure_reply_seconds(line)
    finally:
        echo.kill()
        echo.wait()
        os.close(master)
        os.close(slave)


# ---------------------------------------------------------------------------------------------- the machine
@contextmanager
def _run_machine(folder: Path, *, playing: bool) -> Iterator[HostLine]:
    """Run a machine, with a player if ``playing``; yield the host's end of its line once the machine replies."""
    state = write_cabinet(folder, _CABINET_FILE_TABLES)
    with Journal.open(state.root, now=SystemClock().now, machine_id="BENCH-1") as journal:
        fund = Transfer("world:bill", FIRST_POSITION_CASHABLE_ACCOUNT, 1_000_000)
        journal.append(Transaction(id="fund", kind="bill.in", transfers=(fund,), record={"amount_cents": 0}))
    with ExitStack() as cleanup:
        cleanup.enter_context(run_process(build_machine_command(folder)))
        path = state.run_folder / "sas" / "main"
        wait_for(path.exists, "a line")
        line = cleanup.enter_context(closing(_open_line(str(path))))
        if playing:
            cleanup.enter_context(run_process(build_python_command("egm.screen", "--state", str(state.root))))
            screen = cleanup.enter_context(closing(Screen(state)))
            screen.wait_for_message(lambda message: isinstance(message, Snapshot) and message.state == "idle")
            screen.press("play")
            threading.Thread(target=_play_continuously, args=(screen,), daemon=True).start()
        yield line


def _play_continuously(screen: Screen) -> None:
    """Press the PLAY button whenever the machine is idle, and skip every animation, until the screen is closed."""
    with suppress(OSError, ValueError):
        while True:
            message = screen.receive()
            if isinstance(message, GameOutcome):
                time.sleep(0.2)
                screen.press("shown", message.play_id)
            elif isinstance(message, Snapshot) and message.state == "idle":
                screen.press("play")


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the reply times of an idle and of a playing machine, compared with a bare echo of equal priority."""
    raise_thread_priority(LINE_PRIORITY)  # the host must not be late itself
    echo = _measure_echo_seconds()
    for title, playing in (("idle", False), ("at play, screen drawing", True)):
        with tempfile.TemporaryDirectory() as folder, _run_machine(Path(folder), playing=playing) as line:
            times = _measure_reply_seconds(line)
        for name, thousandths, aim in (
            ("p50", 500, ""),
            ("p99", 990, ""),
            ("p99.9", 999, "at most 5 ms; the standard allows 20"),
        ):
            yield BenchFigure(
                f"SAS poll to answer, {title}, {name}",
                _find_quantile_ms(times, thousandths),
                "ms",
                "bare echo on a pty",
                _find_quantile_ms(echo, thousandths),
                better_if="lower",
                target=aim,
            )

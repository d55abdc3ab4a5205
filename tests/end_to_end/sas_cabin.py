"""A whole cabinet in its own processes, a player, and the bench host on its SAS lines.

The bench outlives the machine, as real devices do, so that the machine may be killed and restarted. Every wait is for
a condition, never for a fixed time.
"""

import contextlib
import functools
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from egm.config.cabinet_file import StateFolder
from egm.isolated import build_python_command
from egm.kernel.messages import (
    LINE_BYTES_MAX,
    GameOutcome,
    Hello,
    Intent,
    Snapshot,
    decode_message,
    encode_message,
)
from egm.links.bench_client import BenchClient, BenchUnreachableError
from egm.unix_sockets import open_socket_address
from tools.dev.host.host import Host, HostRestartedError
from tools.dev.host.line import HostLine, WakeupEncoding
from tools.dev.host.messages import expects_reply, is_complete_reply

PATIENCE = 60.0
"""Seconds after which something that must happen has failed to, on however slow a machine."""

ANSWER_SECONDS = 1.0
"""How long our hosts wait for an answer: a busy computer is late, and after 5 s of silence it has lost its host."""
GAP_SECONDS = 0.1
"""What ends an answer that may be longer: "busy" begins as an acknowledgement does."""
PAUSE_SECONDS = 0.006
"""A pause after what nobody answers, so that the next message is not taken for its continuation."""
POLL_SECONDS = 0.04
"""Between two general polls without news."""
SETTLE_SECONDS = 5.0
"""How often a host asks about what the machine has not answered for: its answer may have been lost."""
QUIET_SECONDS = 0.12
"""How long a poll that nobody may answer is listened to: six times the machine's limit."""

CABINET = """
[machine]
serial = "SAS-1"
operator_number = "1"
site = "rig"
profile = "generic"
[[games]]
game = "maple-classic"
denominations_cents = [5]
[devices.bill]
protocol = "id003"
[devices.printer]
protocol = "tcl"
[devices.io]
protocol = "ioboard"
[metrics]
port = 0
"""


def toml(table: dict) -> str:
    """Return a TOML table of strings, whole numbers, booleans and lists of strings."""
    lines = []
    for key, value in table.items():
        shown = str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')
        lines.append(f"{key} = {shown}")
    return "\n".join(lines) + "\n"


def wait_for(condition, failure_text="", seconds=PATIENCE):
    """Wait until ``condition`` returns a true value; return it."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() >= deadline:
            raise AssertionError(
                (failure_text() if callable(failure_text) else failure_text) or f"waited {seconds} s in vain"
            )
        time.sleep(0.005)
    return result


def is_silent(line, request) -> bool:
    """Return whether there is no reply to a poll."""
    line.listen(0.0)
    line.send(request)
    return line.listen(QUIET_SECONDS) == b""


class Player(threading.Thread):
    """Receives messages as a screen does, reports each outcome as shown at once, and presses keys."""

    def __init__(self, folder: StateFolder) -> None:
        super().__init__(daemon=True)
        self._folder = folder
        self._ending = threading.Event()
        self._socket = None
        self.snapshot: Snapshot | None = None
        self.games = 0
        self.sequences: dict[int, Snapshot] = {}

    def run(self) -> None:
        while not self._ending.is_set():
            with contextlib.suppress(OSError, ConnectionError), socket.socket(socket.AF_UNIX) as line:
                with open_socket_address(self._folder.screen_socket) as address:
                    line.connect(address)
                line.sendall(encode_message(Hello(token=self._folder.screen_token.read_text().strip())))
                self._socket = line
                with line.makefile("rb") as file:
                    while (text := file.readline(LINE_BYTES_MAX)).endswith(b"\n"):
                        self._hear(decode_message(text))
            self.snapshot = None
            self._ending.wait(0.01)

    def _hear(self, message) -> None:
        if isinstance(message, Snapshot):
            self.snapshot = message
            self.sequences[message.journal_sequence] = message
        elif isinstance(message, GameOutcome):
            self.snapshot = None  # the previous snapshot must not satisfy a wait for the game's end
            self.games += 1
            self.send_intent("shown", message.play_id)

    def send_intent(self, name, value=None) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendall(encode_message(Intent(name=name, value=value)))

    def wait_until_shown(self, **facts) -> Snapshot:
        """Wait for a snapshot with these values."""
        return wait_for(
            lambda: (now := self.snapshot) and all(getattr(now, k) == v for k, v in facts.items()) and now,
            lambda: f"never saw {facts}: {self.snapshot}",
        )

    def play_games(self, games=1) -> None:
        for _ in range(games):
            before = self.games
            wait_for(lambda: self.snapshot and "play" in self.snapshot.accepted_inputs, "cannot play")
            self.send_intent("play")
            wait_for(lambda n=before: self.games > n, lambda: f"no outcome came: {self.snapshot}")
            wait_for(lambda: self.snapshot and self.snapshot.state != "playing", "the game never ended")

    def end(self) -> None:
        self._ending.set()


class LineHost(Host):
    """The bench host on a serial line, whose ledger continues from one connection to the next."""

    def __init__(self) -> None:
        super().__init__(self._exchange, key="11" * 20, wait_for_machine=lambda: time.sleep(POLL_SECONDS))

    def connect(self, line: HostLine) -> None:
        """Wait until the machine replies; on a new line, complete what the last connection left open."""
        self.line = line
        wait_for(lambda: self.read_values(0x54), f"{line.port}: nobody answers")
        if self.tickets or self.transfers:
            self.restart()
            self.poll()
            self.resume()

    def register(self) -> None:
        """Register for transfers with the asset number that the machine reports."""
        self.asset = self.read_values(0x73, {"code": 0xFF})["asset"]
        for code, status in ((0x00, 0x00), (0x01, 0x01)):
            order = {"code": code, "asset": self.asset, "key": self.key, "pos_id": 1}
            assert self.read_values(0x73, order)["status"] == status

    def run_until(self, is_done, seconds=PATIENCE) -> bool:
        """Poll until ``is_done`` returns true or the time is over; return whether it was true."""
        deadline = time.monotonic() + seconds
        settle_at = time.monotonic() + SETTLE_SECONDS
        while not is_done():
            if time.monotonic() >= deadline:
                return False
            if not self.poll():
                time.sleep(POLL_SECONDS)
            if time.monotonic() >= settle_at:
                self.query_open_items()
                settle_at = time.monotonic() + SETTLE_SECONDS
        return True

    def drain(self) -> None:
        """Poll until the machine has nothing to report."""
        while self.poll():
            pass

    def stop_after(self, messages, act=lambda: None) -> None:
        """Execute ``act`` and poll, and stop after this number of messages, whatever is in progress.

        General polls without an exception do not count, so that the number states the progress of a ticket or a
        transfer.
        """
        honest, messages_left = self.send, messages

        def send(message):
            nonlocal messages_left
            if not messages_left:
                raise HostRestartedError
            answer = honest(message)
            messages_left -= answer != b"\0"
            return answer

        self.send = send
        with contextlib.suppress(HostRestartedError):
            act()
            self.run_until(lambda: False, SETTLE_SECONDS)
        self.send = honest

    def _exchange(self, message: bytes) -> bytes:
        if expects_reply(message):
            return self.line.exchange(message, functools.partial(is_complete_reply, message))
        self.line.send(message)
        return self.line.listen(PAUSE_SECONDS)


class Cabin:
    """A cabinet with the ``channels`` as its [sas.<name>] tables. Use it as a context manager."""

    def __init__(self, root: Path, channels: dict[str, dict], added_text: str = "") -> None:
        self.root = root
        self.folder = StateFolder(root / "state")
        self.folder.create_private_folders()
        self.file = root / "cabinet.toml"
        tables = "".join(f"[sas.{name}]\n{toml(table)}" for name, table in channels.items())
        self.file.write_text(CABINET + added_text + tables)
        self._channels = channels
        self._log = (root / "machine.log").open("ab")
        self._where = ("--state", str(self.folder.root), "--cabinet", str(self.file))
        self._hosts: dict[str, LineHost] = {}
        self.machine = None
        self.player = Player(self.folder)

    def __enter__(self):
        with contextlib.ExitStack() as ending:
            ending.callback(self._log.close)
            bench = build_python_command("egm.app.bench", *self._where, "--speed", "20")
            self._bench = subprocess.Popen(bench, stderr=self._log)
            ending.callback(self._bench.wait)
            ending.callback(self._bench.terminate)
            wait_for((self.folder.run_folder / "bench.ready").exists, "the bench never came up")
            self._bench_client = BenchClient(self.folder.run_folder)
            ending.callback(self._bench_client.close)
            # The acceptor would return a paper while a killed machine starts on a busy computer; if the machine had
            # ordered the paper into the box before, staff must decide.
            assert self.operate("bill", "escrow_limit", seconds=0)
            ending.callback(self.stop)
            self.start()
            ending.callback(self.player.end)
            self.player.start()
            self.player.wait_until_shown(state="idle")
            self._ending = ending.pop_all()
        return self

    def __exit__(self, *_):
        self._ending.close()

    # ------------------------------------------------------------------ its power
    def start(self) -> None:
        """Switch the machine on."""
        self.machine = subprocess.Popen(build_python_command("egm.app", *self._where), stderr=self._log)

    def stop(self, number=signal.SIGTERM) -> None:
        """Stop the machine: cleanly, or by SIGKILL."""
        if self.machine is not None:
            self.machine.send_signal(number)
            status = self.machine.wait(PATIENCE)
            self.machine = None
            for name in self._channels:  # a killed machine leaves links to terminals that no longer exist
                (self.folder.run_folder / "sas" / name).unlink(missing_ok=True)
            assert status in (0, -number), self.log()

    def log(self) -> str:
        """Return what the processes have printed."""
        return (self.root / "machine.log").read_text()

    # ------------------------------------------------------------------ its devices
    def operate(self, device, action, **values) -> bool:
        """Act on a device; return whether it accepted the action."""
        return self._bench_client.execute_action(device, action, **values).ok

    def operate_until_accepted(self, device, action, **values) -> None:
        """Repeat the action until the device accepts it, which the machine must have enabled."""
        wait_for(lambda: self.operate(device, action, **values), f"{device} never took {action}")

    def insert_bill(self, cents: int) -> None:
        """Insert a bill until it is credit."""
        self._insert_paper(cents, "insert", amount_cents=cents)

    def insert_ticket(self, cents: int) -> None:
        """Insert the last printed ticket, of this amount, until it is credited."""
        self._insert_paper(cents, "insert_ticket", barcode=self.tickets()[-1])

    def _insert_paper(self, cents: int, action: str, **paper) -> None:
        """Insert paper until it is credited; a machine that was delayed may return it at first."""
        wanted_cents = wait_for(lambda: self.player.snapshot).credit_cents + cents
        stacked_count = before = len(self._acceptor()["stacked"])
        while stacked_count == before:
            self.operate_until_accepted("bill", action, **paper)
            wait_for(
                lambda: self._acceptor()["status"] in {"idle", "disabled"}, lambda: f"{paper} stays under way"
            )
            stacked_count = len(self._acceptor()["stacked"])
        self.player.wait_until_shown(credit_cents=wanted_cents)

    def _acceptor(self) -> dict:
        return self._bench_client.execute_action("bill").state

    def turn_attendant_key(self) -> None:
        """Turn the attendant's key on and off."""
        self.operate("io", "key", name="attendant", on=True)
        self.operate("io", "key", name="attendant", on=False)

    def tickets(self) -> list[str]:
        """Return the numbers of all completely printed tickets."""
        printed = self._bench_client.execute_action("printer").state["printed"]
        return [paper["barcode"] for paper in printed if paper["barcode_complete"]]

    # ------------------------------------------------------------------ its hosts
    @contextlib.contextmanager
    def line(self, name="main", **options):
        """Open the host's end of a SAS line."""
        port = self.folder.run_folder / "sas" / name
        wait_for(port.exists, f"no line {name}: {self.log()}")
        wire = (
            WakeupEncoding.PLAIN
            if self._channels[name].get("framing") == "lenient"
            else WakeupEncoding.MARKED
        )
        options = {"reply_timeout_seconds": ANSWER_SECONDS, "gap_seconds": GAP_SECONDS} | options
        line = HostLine(str(port), wire, **options)
        try:
            yield line
        finally:
            line.close()

    @contextlib.contextmanager
    def host(self, name="main"):
        """Connect the host to a SAS line; later calls reuse the host's ledger."""
        with self.line(name) as line:
            host = self._hosts.setdefault(name, LineHost())
            host.connect(line)
            yield host


__all__ = [
    "ANSWER_SECONDS",
    "QUIET_SECONDS",
    "BenchUnreachableError",
    "Cabin",
    "LineHost",
    "Player",
    "is_silent",
    "wait_for",
]

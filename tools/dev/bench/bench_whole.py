"""The whole machine in its own process: from a press or a note to what the player sees, everything recorded.

Simulated devices at the real line speeds, their mechanics twenty times faster than real ones; the machine
as it ships, with both copies of its journal on disk; a player at the screen's socket. Each baseline is the
sum of what cannot be avoided: the mechanics, the bytes on the wire, and as many bare fsync-ed SQLite
transactions as the journal's two copies take.
"""

import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final

from egm.app.bench import Bench
from egm.config.cabinet_file import StateFolder
from egm.devices.bill_twin import STACK_SECONDS
from egm.devices.id003 import codec as id003
from egm.devices.ioboard import codec as ioboard
from egm.devices.printer_status import PrinterStatus
from egm.devices.printer_twin import BARCODE_SECONDS
from egm.devices.tcl import codec as tcl
from egm.isolated import build_python_command
from egm.kernel.messages import (
    LINE_BYTES_MAX,
    BenchCommand,
    Hello,
    Intent,
    Message,
    Play,
    Pressed,
    Snapshot,
    decode,
    encode,
)
from egm.unix_sockets import open_socket_address
from tools.dev.bench import Figure
from tools.dev.bench.bench_devices import Disk, wire

_ROUNDS: Final = 12
_SPEED: Final = 20.0
_NOTE_CENTS: Final = 20_00
_PATIENCE_SECONDS: Final = 60.0
#: Durable writes of a transaction: one in each copy of the journal.
_COPIES: Final = 2
_CABINET: Final = """
[machine]
serial = "BENCH-1"
operator_number = "1"
site = "bench"
profile = "generic"
[[games]]
game = "maple-classic"
[devices.bill]
protocol = "id003"
[devices.printer]
protocol = "tcl"
[devices.io]
protocol = "ioboard"
[metrics]
port = 0
"""


class _Player:
    """Hands on the devices, and eyes on the screen."""

    def __init__(self, bench: Bench, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._bench = bench
        self._reader = reader
        self._writer = writer

    def hand(self, device: str, action: str, **values: int | str | bool) -> bool:
        """Do something to a device."""
        return self._bench.execute_command(BenchCommand(device=device, action=action, values=values)).ok

    def wish(self, intent: Intent) -> None:
        """Touch the screen."""
        self._writer.write(encode(intent))

    async def sees(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the next message that satisfies ``wanted``."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                message = decode(await self._reader.readline())
                if wanted(message):
                    return message

    async def insert(self) -> float:
        """Seconds from a note pushed in to its credit on the screen."""
        while not self.hand("bill", "insert", amount_cents=_NOTE_CENTS):  # noqa: ASYNC110 (a device has no event)
            await asyncio.sleep(0.02)
        began = time.perf_counter()
        await self.sees(lambda m: isinstance(m, Snapshot) and m.credit_cents >= _NOTE_CENTS)
        return time.perf_counter() - began


@contextlib.asynccontextmanager
async def _machine(folder: Path) -> AsyncIterator[_Player]:
    """Yield a player at a machine that has started and is idle."""
    state = StateFolder(folder / "state")
    state.prepare()
    (folder / "cabinet.toml").write_text(_CABINET, encoding="utf-8")
    devices = {"bill": "id003", "printer": "tcl", "io": "ioboard"}
    bench = Bench(state.root, devices, speed=_SPEED)
    await bench.start()
    where = ("--state", str(state.root), "--cabinet", str(folder / "cabinet.toml"))
    process = await asyncio.create_subprocess_exec(*build_python_command("egm.app", *where))
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                with contextlib.suppress(OSError), open_socket_address(state.screen_socket) as address:
                    reader, writer = await asyncio.open_unix_connection(address, limit=LINE_BYTES_MAX)
                    break
                await asyncio.sleep(0.05)
        writer.write(encode(Hello(token=state.screen_token.read_text(encoding="ascii").strip())))
        with contextlib.closing(writer):
            player = _Player(bench, reader, writer)
            await player.sees(lambda m: isinstance(m, Snapshot) and m.state == "idle" and not m.notices)
            yield player
    finally:
        process.terminate()
        await process.wait()
        await bench.stop()


async def _press(player: _Player) -> float:
    """From a press on the deck to the outcome, decided and durable, on its way to the screen.

    The press goes to the screen, which knows what the button means there and then, and asks for it.
    """
    await asyncio.sleep(0.1)  # the button has come up again
    began = time.perf_counter()
    player.hand("io", "press", button="play")
    await player.sees(lambda m: isinstance(m, Pressed))
    player.wish(Intent(name="play"))
    play = await player.sees(lambda m: isinstance(m, Play))
    seconds = time.perf_counter() - began
    player.wish(Intent(name="shown", value=play.play_id if isinstance(play, Play) else ""))
    await player.sees(lambda m: isinstance(m, Snapshot) and m.state != "playing")
    return seconds


async def _note_and_ticket(player: _Player) -> tuple[float, float]:
    """From a note pushed in to its credit; from the cash-out to the ticket printed and settled."""
    credit = await player.insert()
    began = time.perf_counter()
    player.wish(Intent(name="cash_out"))
    await player.sees(lambda m: isinstance(m, Snapshot) and m.state == "paying")
    await player.sees(lambda m: isinstance(m, Snapshot) and m.state == "idle" and m.credit_cents == 0)
    return credit, time.perf_counter() - began


def _measured(scene: Callable[[_Player], Awaitable[list[float]]], folder: Path) -> list[float]:
    async def run() -> list[float]:
        async with _machine(folder) as player:
            return await scene(player)

    folder.mkdir()
    return asyncio.run(run())


def figures() -> Iterator[Figure]:
    """Button to outcome, note to credit and cash-out to printed, of the machine as it ships."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk = Disk(folder)
        write = _COPIES * disk.seconds()

        async def presses(player: _Player) -> list[float]:
            await player.insert()
            return [await _press(player) for _ in range(_ROUNDS)]

        tickets: list[float] = []

        async def notes(player: _Player) -> list[float]:
            pairs = [await _note_and_ticket(player) for _ in range(_ROUNDS)]
            tickets.extend(printed for _, printed in pairs)
            return [credit for credit, _ in pairs]

        edge = ioboard.Status(boot=1, levels=0, lost=False, edges=(ioboard.Edge(1, 12, level=True),)).encode()
        yield Figure(
            "whole machine: button to outcome",
            1000 * statistics.median(_measured(presses, folder / "presses")),
            "ms",
            "the press on the wire, one durable transaction",
            1000 * (wire("ioboard", edge) + write),
            better="lower",
            aim="below 50 ms: a person notices nothing",
        )
        status = id003.Frame(id003.Command.STATUS).encode()
        echo = id003.Frame(id003.Command.ACK).encode()
        line = wire("id003", id003.Frame(id003.Command.STACK_1).encode(), echo, status, echo)
        yield Figure(
            "whole machine: note pushed in to credit",
            1000 * statistics.median(_measured(notes, folder / "notes")),
            "ms",
            "drawing in and stacking, stack and status on the wire, four durable transactions",
            1000 * (2 * STACK_SECONDS / _SPEED + line + 4 * write),
            better="lower",
            aim="about two polls of 100 ms more",
        )
        said = tcl.Answer("TCLSIM100", PrinterStatus()).encode() + tcl.StatusQuery().encode()
        yield Figure(
            "whole machine: cash-out to ticket printed and settled",
            1000 * statistics.median(tickets),
            "ms",
            "printing, four statuses on the wire, five durable transactions",
            1000 * (BARCODE_SECONDS / _SPEED + 4 * wire("tcl", said) + 5 * write),
            better="lower",
            aim="below six polls of 50 ms more",
        )
        disk.close()

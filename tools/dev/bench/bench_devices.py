"""Devices over real pseudo-terminals at the real line speeds: how long a note, a ticket and a press take.

The twins' mechanics are twenty times faster than real ones, so that what remains is the protocol: its line
time, its polling and the ledger's durable writes. The baseline of each figure is the least it could be: those
mechanics, the time its bytes take on the wire, and as many bare fsync-ed SQLite transactions as it records,
measured in the same run.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from egm.app.bench import Bench
from egm.devices.bill_twin import STACK_SECONDS
from egm.devices.catalogue import PROTOCOLS
from egm.devices.driver import LineDriver
from egm.devices.ebds import codec as ebds
from egm.devices.ebds.driver import EbdsDriver
from egm.devices.id003 import codec as id003
from egm.devices.id003.driver import Id003Driver
from egm.devices.interface import (
    ButtonPressed,
    Content,
    DeviceEvent,
    Escrowed,
    InputsKnown,
    PrintState,
    Ready,
    Returned,
    Stacked,
    TicketJob,
)
from egm.devices.ioboard import codec as ioboard
from egm.devices.ioboard.driver import IoBoardDriver
from egm.devices.line import SerialLine
from egm.devices.printer_status import PrinterStatus
from egm.devices.printer_twin import BARCODE_SECONDS
from egm.devices.tcl import codec as tcl
from egm.devices.tcl.driver import TclDriver, Template
from egm.devices.transient import TransientEscrowLedger, TransientPrintLedger
from tools.dev.bench import Figure, bare_table, milliseconds

LIMIT_SECONDS: Final = 180.0
#: What takes longer has been lost: a computer that stalls has the acceptor give its bill back.
_SCENE_SECONDS: Final = 20.0
_ROUNDS: Final = 12
_SPEED: Final = 20.0
_DENOMINATION: Final = 20_00
_FIELDS: Final = ("site", "date", "amount", "words", "number", "barcode")
_JOB_FIELDS: Final = {
    "site": "Demonstration",
    "date": "2026-01-01 12:00",
    "amount": "$12.50",
    "words": "TWELVE DOLLARS AND FIFTY CENTS",
    "number": "0042",
}
_BARCODE: Final = "004724978028378429"


class Disk:
    """Bare durable transactions: what a ledger costs at the very least."""

    def __init__(self, folder: Path) -> None:
        """Create the database in ``folder``."""
        self._base = bare_table(folder)

    def write(self) -> None:
        """One durable transaction."""
        self._base.execute("INSERT INTO entry (body) VALUES (x'78')")

    def seconds(self) -> float:
        """Return the median time of one write."""
        return milliseconds(self.write, 100) / 1000

    def close(self) -> None:
        """Close the database."""
        self._base.close()


class _DurableEscrows(TransientEscrowLedger):
    def __init__(self, disk: Disk) -> None:
        super().__init__()
        self._disk = disk

    def stack_ordered(self, content: Content, mark: int) -> None:
        super().stack_ordered(content, mark)
        self._disk.write()

    def credit_stacked_paper(self) -> None:
        super().credit_stacked_paper()
        self._disk.write()

    def set_mark(self, mark: int) -> None:
        super().set_mark(mark)
        self._disk.write()


class _DurablePrints(TransientPrintLedger):
    def __init__(self, disk: Disk) -> None:
        super().__init__()
        self._disk = disk

    def opened(self, job: TicketJob) -> None:
        super().opened(job)
        self._disk.write()

    def moved(self, job_id: str, state: PrintState, detail: str) -> None:
        super().moved(job_id, state, detail)
        self._disk.write()


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 (it looks at a device, which has no event to wait for)
        await asyncio.sleep(0.02)


class _Stage:
    """A bench with one device, its running driver, and the events the driver reported."""

    def __init__(self, folder: Path, protocol: str) -> None:
        self.bench = Bench(folder, {protocol: protocol}, speed=_SPEED)
        self.twin = self.bench.twins[protocol]
        self.line = SerialLine(str(folder / "run" / "dev" / protocol), PROTOCOLS[protocol].line)
        self.waiters: list[tuple[Callable[[DeviceEvent], bool], asyncio.Future[float]]] = []

    def sink(self, event: DeviceEvent) -> None:
        for wanted, future in self.waiters:
            if wanted(event) and not future.done():
                future.set_result(time.perf_counter())

    def when(self, wanted: Callable[[DeviceEvent], bool]) -> asyncio.Future[float]:
        """Return a future of the time of the next event that satisfies ``wanted``."""
        future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self.waiters.append((wanted, future))
        return future

    async def play(self, driver: LineDriver[Any], scene: Callable[[], Any]) -> list[float]:
        """Run the driver and ``scene`` several times; the seconds each took."""
        await self.bench.start()
        task = asyncio.create_task(driver.run())
        try:
            return [await self._timed(scene) for _ in range(_ROUNDS)]
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self.bench.stop()

    @staticmethod
    async def _timed(scene: Callable[[], Any]) -> float:
        async with asyncio.timeout(_SCENE_SECONDS):
            seconds: float = await scene()
            return seconds


def _bill(folder: Path, disk: Disk, protocol: str) -> float:
    async def scene_all() -> list[float]:
        stage = _Stage(folder, protocol)
        ledger = _DurableEscrows(disk)
        make = Id003Driver if protocol == "id003" else EbdsDriver
        driver = make(protocol, stage.line, stage.sink, ledger)
        driver.enable(frozenset({_DENOMINATION}))
        ready = stage.when(lambda event: isinstance(event, Ready) and event.accepting)

        async def scene() -> float:
            await ready
            while True:  # a bill given back by a stall of this computer is put in again
                await _until(lambda: stage.twin.describe()["status"] == "idle" and ledger.pending() is None)
                escrowed = stage.when(lambda event: isinstance(event, Escrowed))
                ended = stage.when(lambda event: isinstance(event, Stacked | Returned))
                stacked = stage.when(lambda event: isinstance(event, Stacked))
                stage.twin.act("insert", {"amount_cents": _DENOMINATION})
                start = await escrowed
                driver.stack(driver.present_escrow or 0)
                await ended
                if stacked.done():
                    return stacked.result() - start

        return await stage.play(driver, scene)

    return statistics.median(asyncio.run(scene_all()))


def _ticket(folder: Path, disk: Disk) -> float:
    async def scene_all() -> list[float]:
        stage = _Stage(folder, "tcl")
        ledger = _DurablePrints(disk)
        templates = {"cash_out": Template("0", _FIELDS)}
        driver = TclDriver("tcl", stage.line, stage.sink, ledger, templates)
        numbers = iter(range(_ROUNDS))

        async def scene() -> float:
            await _until(lambda: driver.up and ledger.pending() is None)
            job_id = f"t{next(numbers)}"
            done = stage.when(
                lambda event: (
                    getattr(event, "state", None) is PrintState.BARCODE_DONE
                    and getattr(event, "job_id", "") == job_id
                )
            )
            start = time.perf_counter()
            job = TicketJob(job_id=job_id, template="cash_out", barcode=_BARCODE, fields=_JOB_FIELDS)
            driver.print_ticket(job)
            return await done - start

        return await stage.play(driver, scene)

    return statistics.median(asyncio.run(scene_all()))


def _press(folder: Path) -> float:
    async def scene_all() -> list[float]:
        stage = _Stage(folder, "ioboard")
        driver = IoBoardDriver("ioboard", stage.line, stage.sink)
        known = stage.when(lambda event: isinstance(event, InputsKnown))

        async def scene() -> float:
            await known
            await asyncio.sleep(0.05)
            heard = stage.when(lambda event: isinstance(event, ButtonPressed))
            start = time.perf_counter()
            stage.twin.act("press", {"button": "play"})
            return await heard - start

        return await stage.play(driver, scene)

    return statistics.median(asyncio.run(scene_all()))


def wire(protocol: str, *messages: bytes) -> float:
    """Seconds these messages take on the line of a protocol."""
    return sum(map(len, messages)) * PROTOCOLS[protocol].line.character_seconds


def figures() -> Iterator[Figure]:
    """Time from escrow to credit, from cash-out to printed, from a press to the machine hearing it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk = Disk(folder)
        write = disk.seconds()
        status = id003.Frame(id003.Command.STATUS).encode()
        echo = id003.Frame(id003.Command.ACK).encode()
        line = wire("id003", id003.Frame(id003.Command.STACK_1).encode(), echo, status, echo)
        yield Figure(
            "ID-003: escrow to credit",
            1000 * _bill(folder, disk, "id003"),
            "ms",
            "stacking, stack and status on the wire, two durable writes",
            1000 * (STACK_SECONDS / _SPEED + line + 2 * write),
            better="lower",
            aim="about one poll of 100 ms more",
        )
        poll = ebds.Poll(ack=0, stack=True).encode()
        answer = ebds.Status(ack=0, bits=ebds.Bits.STACKED).encode()
        yield Figure(
            "EBDS: escrow to credit",
            1000 * _bill(folder, disk, "ebds"),
            "ms",
            "stacking, two polls on the wire, three durable writes",
            1000 * (STACK_SECONDS / _SPEED + 2 * wire("ebds", poll, answer) + 3 * write),
            better="lower",
            aim="below one poll of 100 ms more",
        )
        said = tcl.Answer("TCLSIM100", PrinterStatus()).encode() + tcl.StatusQuery().encode()
        ticket = tcl.Print("0", (*_JOB_FIELDS.values(), _BARCODE)).encode()
        yield Figure(
            "TCL: ticket ordered to bar code done",
            1000 * _ticket(folder, disk),
            "ms",
            "printing, four statuses and the ticket on the wire, three durable writes",
            1000 * (BARCODE_SECONDS / _SPEED + 4 * wire("tcl", said) + wire("tcl", ticket) + 3 * write),
            better="lower",
            aim="below three polls of 50 ms more",
        )
        edge = ioboard.Status(boot=1, levels=0, lost=False, edges=(ioboard.Edge(1, 12, level=True),)).encode()
        yield Figure(
            "I/O board: press to the machine hearing it",
            1000 * _press(folder),
            "ms",
            "the answer on the wire",
            1000 * wire("ioboard", edge),
            better="lower",
            aim="below 10 ms",
        )
        disk.close()

"""Measure the complete machine in its own process: time from a button press or bill to the shown result.

The simulated devices have the real line speeds, with mechanics twenty times faster than real ones. The machine is the
product, with both copies of its journal on disk. The player is connected to the screen's socket. Each baseline is the
sum of what cannot be avoided: the mechanics, the bytes on the line, and as many bare synced SQLite transactions as the
journal's two copies take.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from egm.devices.bill_twin import STACK_SECONDS
from egm.devices.ebds import codec as ebds
from egm.devices.id003 import codec as id003
from egm.devices.ioboard import codec as ioboard
from egm.devices.printer_status import PrinterStatus
from egm.devices.printer_twin import BARCODE_PRINT_SECONDS
from egm.devices.protocols import PROTOCOLS
from egm.devices.tcl import codec as tcl
from egm.kernel.messages import GameOutcome, Message, PlayButtonPress, Snapshot
from egm.links.bench_client import BenchClient
from tools.dev.bench import BareDatabase, BenchFigure, measure_median_milliseconds
from tools.dev.bench.machine import Screen, build_machine_command, run_process, wait_for, write_cabinet

_MEASUREMENTS: Final = 12
_MECHANICS_SPEED_FACTOR: Final = 20.0
_BILL_CENTS: Final = 20_00
#: Durable writes of a transaction: one in each copy of the journal.
_JOURNAL_COPY_COUNT: Final = 2
_CABINET_FILE_TABLES: Final = """
[[games]]
game = "maple-classic"
[devices.bill]
protocol = "{bill}"
[devices.printer]
protocol = "tcl"
[devices.io]
protocol = "ioboard"
"""


@dataclass(frozen=True, slots=True)
class _Player:
    """A simulated player who can use the screen and the devices of a machine."""

    screen: Screen
    device_operator: BenchClient

    def insert_bill(self) -> float:
        """Insert a bill; return the seconds until its credit is on the screen."""
        wait_for(
            lambda: self.device_operator.execute_action("bill", "insert", amount_cents=_BILL_CENTS).ok,
            "the acceptor",
        )
        started_seconds = time.perf_counter()
        self.screen.wait_for_message(lambda m: isinstance(m, Snapshot) and m.credit_cents >= _BILL_CENTS)
        return time.perf_counter() - started_seconds

    def press_play(self) -> float:
        """Press PLAY on the button deck; return the seconds until the screen has the outcome, which is then durable.

        The press goes to the screen, which knows what the button means at that moment and sends the request.
        """
        time.sleep(0.1)  # the button has been released
        started_seconds = time.perf_counter()
        self.device_operator.execute_action("io", "press", button="play")
        self.screen.wait_for_message(lambda m: isinstance(m, PlayButtonPress))
        self.screen.press("play")
        outcome = self.screen.wait_for_message(lambda m: isinstance(m, GameOutcome))
        seconds = time.perf_counter() - started_seconds
        self.screen.press("shown", outcome.play_id if isinstance(outcome, GameOutcome) else "")
        self.screen.wait_for_message(lambda m: isinstance(m, Snapshot) and m.state != "playing")
        return seconds

    def cash_out(self) -> float:
        """Cash out; return the seconds until the ticket is printed and recorded."""
        started_seconds = time.perf_counter()
        self.screen.press("cash_out")
        self.screen.wait_for_message(lambda m: isinstance(m, Snapshot) and m.state == "paying")
        self.screen.wait_for_message(
            lambda m: isinstance(m, Snapshot) and m.state == "idle" and m.credit_cents == 0
        )
        return time.perf_counter() - started_seconds


def _is_idle(message: Message) -> bool:
    return isinstance(message, Snapshot) and message.state == "idle" and not message.notices


@contextmanager
def _run_machine_with_player(folder: Path, bill: str) -> Iterator[_Player]:
    """Run a machine with the bill acceptor ``bill``; yield a player once the machine is idle."""
    state = write_cabinet(folder, _CABINET_FILE_TABLES.format(bill=bill))
    with ExitStack() as cleanup:
        bench_command = (
            *build_machine_command(folder, "egm.app.bench"),
            "--speed",
            str(_MECHANICS_SPEED_FACTOR),
        )
        cleanup.enter_context(run_process(bench_command))
        wait_for((state.run_folder / "bench.ready").exists, "the bench")
        device_operator = cleanup.enter_context(closing(BenchClient(state.run_folder)))
        cleanup.enter_context(run_process(build_machine_command(folder)))
        screen = cleanup.enter_context(closing(Screen(state)))
        screen.wait_for_message(_is_idle)
        yield _Player(screen, device_operator)


def compute_wire_seconds(protocol: str, *messages: bytes) -> float:
    """Return the seconds that these messages take on a line with the protocol's speed."""
    return sum(map(len, messages)) * PROTOCOLS[protocol].line_settings.character_seconds


def _compute_stacking_wire_seconds(bill: str) -> float:
    """Return the seconds that an order to stack a bill and the acceptor's report take on the line."""
    if bill == "ebds":
        poll = ebds.EbdsPoll(ack_number=0, is_stack_command=True).encode()
        return 2 * compute_wire_seconds(
            "ebds", poll, ebds.AcceptorStatus(ack_number=0, bits=ebds.AcceptorStatusBits.STACKED).encode()
        )
    status = id003.Id003Frame(id003.Id003Command.STATUS).encode()
    echo = id003.Id003Frame(id003.Id003Command.ACK).encode()
    return compute_wire_seconds(
        "id003", id003.Id003Frame(id003.Id003Command.STACK_1).encode(), echo, status, echo
    )


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the times from button to outcome, from bill to credit and from cash-out to printed ticket."""
    with tempfile.TemporaryDirectory() as name, closing(BareDatabase(Path(name))) as bare_database:
        write_seconds = _JOURNAL_COPY_COUNT * measure_median_milliseconds(bare_database.write, 100) / 1000
        with _run_machine_with_player(Path(name) / "press", "id003") as player:
            player.insert_bill()
            press_seconds = [player.press_play() for _ in range(_MEASUREMENTS)]
        press_report = ioboard.InputStatus(
            boot_number=1,
            input_levels_mask=0,
            are_edges_lost=False,
            edges=(ioboard.InputEdge(1, 12, is_on=True),),
        ).encode()
        yield BenchFigure(
            "whole machine: button to outcome",
            1000 * median(press_seconds),
            "ms",
            "the press on the wire, one durable transaction",
            1000 * (compute_wire_seconds("ioboard", press_report) + write_seconds),
            better_if="lower",
            target="below 50 ms: a person notices nothing",
        )
        for bill in ("id003", "ebds"):
            with _run_machine_with_player(Path(name) / bill, bill) as player:
                bill_and_ticket_seconds = [
                    (player.insert_bill(), player.cash_out()) for _ in range(_MEASUREMENTS)
                ]
            bill_seconds, ticket_seconds = zip(*bill_and_ticket_seconds, strict=True)
            yield BenchFigure(
                f"whole machine: note pushed in to credit, {bill}",
                1000 * median(bill_seconds),
                "ms",
                "drawing in and stacking, stack and status on the wire, four durable transactions",
                1000
                * (
                    2 * STACK_SECONDS / _MECHANICS_SPEED_FACTOR
                    + _compute_stacking_wire_seconds(bill)
                    + 4 * write_seconds
                ),
                better_if="lower",
                target="about two polls of 100 ms more",
            )
        printer_messages = (
            tcl.PrinterReply("TCLSIM100", PrinterStatus()).encode() + tcl.StatusQuery().encode()
        )
        yield BenchFigure(
            "whole machine: cash-out to ticket printed and settled",
            1000 * median(ticket_seconds),
            "ms",
            "printing, four statuses on the wire, five durable transactions",
            1000
            * (
                BARCODE_PRINT_SECONDS / _MECHANICS_SPEED_FACTOR
                + 4 * compute_wire_seconds("tcl", printer_messages)
                + 5 * write_seconds
            ),
            better_if="lower",
            target="below six polls of 50 ms more",
        )

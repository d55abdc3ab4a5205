"""Measure host transfers on this computer's disk: transfers per second, and the time to accept an order."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from egm.clock import SystemClock
from egm.config.sas_line import SasLineTable
from egm.errors import check_invariant
from egm.host.keys import HostKey
from egm.host.transfer_interface import HostTransferInterface
from egm.kernel.credits import CreditKind
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.records.host import TransferKind
from meters import Journal
from tools.dev.bench import BareDatabase, BenchFigure
from tools.dev.bench.bench_cabinet import start_bench_machine

TRANSFER_COUNT: Final = 1000
_ASSET_NUMBER: Final = 1


def _measure_transfers(folder: Path) -> tuple[float, list[float]]:
    """Return the completed transfers to the host per second, and how long each order took in milliseconds."""
    order_times_ms = []
    with Journal.open(folder, now=SystemClock().now) as journal:
        engine = start_bench_machine(
            journal, HostMoney(can_transfer=True, asset_number=_ASSET_NUMBER, is_online=True)
        )

        transfers = HostTransferInterface(engine, engine.submit)
        started_seconds = time.perf_counter()
        for number in range(TRANSFER_COUNT):
            cents = {CreditKind.CASHABLE: 100}
            order = TransferOrder(
                identifier=f"bench-{number}", kind=TransferKind.OUT, cents_by_credit_kind=cents
            )
            ordered_seconds = time.perf_counter()
            transfers.execute_or_refuse_order(order, asset_number=_ASSET_NUMBER)
            order_times_ms.append((time.perf_counter() - ordered_seconds) * 1000)
            transfers.acknowledge_result()
        seconds = time.perf_counter() - started_seconds
        check_invariant(
            engine.machine.memory.get(HostKey.TRANSFER_COUNT) == TRANSFER_COUNT, "bench.transfers_refused"
        )
    return TRANSFER_COUNT / seconds, sorted(order_times_ms)


def measure_figures() -> Iterator[BenchFigure]:
    """Yield transfers per second, compared with bare SQLite, and the slowest orders, compared with SAS's reply time."""
    with tempfile.TemporaryDirectory() as folder, closing(BareDatabase(Path(folder))) as bare_database:
        transfers_per_second, order_times_ms = _measure_transfers(Path(folder) / "machine")
        yield BenchFigure(
            "electronic transfers, ordered, done and closed",
            transfers_per_second,
            "transfers/s",
            "two fsync-ed rows of bare SQLite",
            TRANSFER_COUNT / bare_database.write_games(TRANSFER_COUNT),
            target="above 0.2",
        )
    yield BenchFigure(
        "an order until it is durable, p99",
        order_times_ms[int(len(order_times_ms) * 0.99)],
        "ms",
        "what a SAS host waits before it is told busy",
        float(SasLineTable().busy_after_ms),
        better_if="lower",
        target="below 1: hosts are seldom told to ask again",
    )

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
from egm.host.transfer_port import HostTransferInterface
from egm.kernel.credits import CreditKind
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.records.host import TransferKind
from meters import Journal
from tools.dev.bench import BareDisk, BenchFigure
from tools.dev.bench.bench_cabinet import bench_engine

TRANSFERS: Final = 1000
_ASSET: Final = 1


def _transfers(folder: Path) -> tuple[float, list[float]]:
    """Return the completed transfers to the host per second, and how long each order took in milliseconds."""
    orders_ms = []
    with Journal.open(folder, now=SystemClock().now) as journal:
        engine = bench_engine(journal, HostMoney(can_transfer=True, asset_number=_ASSET, is_online=True))

        transfers = HostTransferInterface(engine, engine.submit)
        began = time.perf_counter()
        for number in range(TRANSFERS):
            cents = {CreditKind.CASHABLE: 100}
            order = TransferOrder(
                identifier=f"bench-{number}", kind=TransferKind.OUT, cents_by_credit_kind=cents
            )
            ordered = time.perf_counter()
            transfers.execute_or_refuse_order(order, asset_number=_ASSET)
            orders_ms.append((time.perf_counter() - ordered) * 1000)
            transfers.acknowledge_result()
        seconds = time.perf_counter() - began
        check_invariant(engine.machine.memory.get(HostKey.TRANSFERS) == TRANSFERS, "bench.transfers_refused")
    return TRANSFERS / seconds, sorted(orders_ms)


def measure_figures() -> Iterator[BenchFigure]:
    """Yield transfers per second, compared with bare SQLite, and the slowest orders, compared with SAS's reply time."""
    with tempfile.TemporaryDirectory() as folder, closing(BareDisk(Path(folder))) as bare:
        per_second, orders_ms = _transfers(Path(folder) / "machine")
        yield BenchFigure(
            "electronic transfers, ordered, done and closed",
            per_second,
            "transfers/s",
            "two fsync-ed rows of bare SQLite",
            TRANSFERS / bare.write_games(TRANSFERS),
            target="above 0.2",
        )
    yield BenchFigure(
        "an order until it is durable, p99",
        orders_ms[int(len(orders_ms) * 0.99)],
        "ms",
        "what a SAS host waits before it is told busy",
        float(SasLineTable().busy_ms),
        better="lower",
        target="below 1: hosts are seldom told to ask again",
    )

"""Simulate a floor: many machines on one level, with the real broker, controller and link clients."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from egm.config.levels import LevelScope
from egm.errors import OperatorError
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import LevelTerms
from egm.progressive.mqtt import MqttCarrier
from egm.progressive.pools import LevelKeeper, ProgressivePool
from tools.dev.progressive.broker import Broker
from tools.dev.progressive.machine import MachineMemory, SimulatedMachine
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.serve import ControllerService
from tools.floor.progressive.store import Store

_TIMEOUT_SECONDS: Final = 300.0
VALUE_STALE_AFTER_NS: Final = 5_000_000_000
#: The interval between a machine's ticks is this many seconds for every machine on the floor.
#:
#: One process runs all machines, so each must tick less often if there are more.
_TICK_SECONDS_PER_MACHINE: Final = 0.001
_HIT_CHANCE: Final = 0.001
LEVEL_DEFINITION: Final = LevelDefinition(
    id="floor",
    names={"en": "Floor", "fr": "Salle"},
    scope=LevelScope.LINKED,
    terms=LevelTerms(base_cents=1_000_00, increment=Fraction(1, 75), hidden_increment=Fraction(1, 300)),
    stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=25, hit_rate=Fraction(1, 1000)),
)


@dataclass(frozen=True, slots=True)
class Floor:
    """Machines that contribute to one level, each with its own connection, and the controller, all running."""

    controller: Controller
    machines: Sequence[SimulatedMachine]
    service: "asyncio.Task[None]"

    async def wait_until(self, condition: Callable[[], bool], seconds: float = _TIMEOUT_SECONDS) -> None:
        """Wait until the condition holds.

        Raises TimeoutError, the error that ended the controller, or OperatorError with an invalid message that a
        machine received.
        """
        async with asyncio.timeout(seconds):
            while not condition():
                if self.service.done():
                    self.service.result()
                for complaint in (text for each in self.machines for text in each.memory.findings):
                    raise OperatorError(complaint)
                await asyncio.sleep(0.005)

    def is_settled(self) -> bool:
        """Return whether every wager is counted and every hit is paid."""
        return all(machine.is_settled for machine in self.machines)


@contextlib.asynccontextmanager
async def open_floor(
    broker: Broker,
    store: Store,
    names: Sequence[str],
    definition: LevelDefinition = LEVEL_DEFINITION,
    step: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[Floor]:
    """Yield the floor once the controller has enrolled every machine.

    Each machine calls ``step`` after each of its durable changes.
    """
    controller = Controller(store, lambda: datetime.now(UTC))
    controller.open_levels([definition])
    for name in names:
        controller.admit_machine(name)
    service = asyncio.create_task(
        ControllerService(controller, broker.build_link_settings("controller"), lambda _: None).run()
    )
    pool = ProgressivePool(
        definition=definition, game_id="floor", level_name="top", keeper=LevelKeeper.CONTROLLER
    )
    machines = [
        SimulatedMachine(
            name,
            pool,
            MachineMemory(),
            MqttCarrier(broker.build_link_settings(name), name),
            now_ns=time.monotonic_ns,
            stale_after_ns=VALUE_STALE_AFTER_NS,
            tick_seconds=len(names) * _TICK_SECONDS_PER_MACHINE,
            step=step,
        )
        for name in names
    ]
    tasks = [service, *(asyncio.create_task(machine.run()) for machine in machines)]
    try:
        running_floor = Floor(controller, machines, service)
        await running_floor.wait_until(lambda: all(machine.is_enrolled for machine in machines))
        yield running_floor
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        controller.verify_levels()


async def run_floor(
    folder: Path, open_store: Callable[[], Store], *, machines: int, wagers: int, seed: int
) -> list[str]:
    """Play ``wagers`` wagers on each of ``machines`` machines; return the differences once all are counted and paid.

    A difference is text about amounts that machines and controller do not agree on. Raises BrokerMissingError, or
    TimeoutError if the floor does not start or settle.
    """
    random_source = random.Random(seed)  # noqa: S311 (the sequence must be repeatable)
    names = [f"FLOOR-{n}" for n in range(1, machines + 1)]
    broker = Broker(folder / "link", names)
    with contextlib.closing(broker), contextlib.closing(open_store()) as store:
        await broker.start()
        async with open_floor(broker, store, names) as running_floor:
            for _ in range(wagers):
                for machine in running_floor.machines:
                    machine.play(random_source, _HIT_CHANCE)
                await asyncio.sleep(0)
            await running_floor.wait_until(running_floor.is_settled)
        (record,) = (
            each for each in running_floor.controller.list_level_records() if each.id == LEVEL_DEFINITION.id
        )
        paid_cents = sum(
            hit.paid_cents or 0 for machine in running_floor.machines for hit in machine.memory.hits.values()
        )
    differences = []
    if paid_cents != record.level.paid_cents:
        differences.append(f"{paid_cents} paid on the machines, {record.level.paid_cents} on record")
    stake_cents, terms = LEVEL_DEFINITION.stake_and_hit_rate.stake_cents, LEVEL_DEFINITION.terms
    if record.level.contributed_amount != machines * wagers * stake_cents * (
        terms.increment + terms.hidden_increment
    ):
        differences.append(f"{record.level.contributed_amount} contributed by {machines * wagers} wagers")
    return differences

"""A simulated floor: many machines on one level, over the real broker, controller and link clients."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from egm.config.levels import Kind
from egm.progressive.definition import Chance, LevelDefinition
from egm.progressive.level import Level, Terms
from egm.progressive.mqtt import MqttCarrier
from egm.progressive.pools import Keeper, Pool
from tools.dev.progressive.broker import Broker
from tools.dev.progressive.machine import Memory, SimulatedMachine
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.records import ClaimRecord
from tools.floor.progressive.serve import Service
from tools.floor.progressive.store import Store

_REST_SECONDS: Final = 300.0
_UP_SECONDS: Final = 120.0
_STALE_NS: Final = 5_000_000_000
_TICK_SECONDS_EACH: Final = 0.001
"""One process plays all of them: the more there are, the less often each looks at the time."""
_HIT_CHANCE: Final = 0.001
_LEVEL: Final = LevelDefinition(
    id="floor",
    names={"en": "Floor", "fr": "Salle"},
    kind=Kind.LINKED,
    terms=Terms(base_cents=1_000_00, increment=Fraction(1, 75), hidden=Fraction(1, 300)),
    chance=Chance(stake_cents=25, odds=Fraction(1, 1000)),
)


@dataclass(slots=True)
class Floor:
    """Result of a simulation."""

    machines: int
    wagers: int
    seconds: float
    up_seconds: float
    level: Level
    register: tuple[ClaimRecord, ...]
    wrong: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the report lines."""
        level = self.level
        came = level.contributed + level.seeded + level.received
        went = level.paid + level.current + level.hidden + level.overflow + level.released
        rate = f"{self.wagers / self.seconds if self.seconds else 0.0:,.0f}/s"
        return [
            f"{self.machines} machines up in {self.up_seconds:.1f} s",
            f"{self.wagers} wagers counted in {self.seconds:.1f} s ({rate}); {len(self.register)} hits",
            f"contributed {level.contributed} + seeded {level.seeded} = {came}",
            (
                f"paid {level.paid} + shown {level.current} + hidden {level.hidden}"
                f" + overflow {level.overflow} = {went}"
            ),
            *(f"wrong: {text}" for text in self.wrong),
            *(() if self.wrong else ("everything adds up, to the fraction",)),
        ]


async def run_floor(
    folder: Path, open_store: Callable[[], Store], *, machines: int, wagers: int, seed: int
) -> Floor:
    """Play ``wagers`` on each of ``machines`` and wait until all is counted and paid.

    Raises BrokerMissingError, or TimeoutError where the floor does not come up or to rest.
    """
    dice = random.Random(seed)  # noqa: S311 (it must repeat)
    names = [f"FLOOR-{n}" for n in range(1, machines + 1)]
    broker = Broker(folder / "link", names)
    await broker.start()
    store = open_store()
    controller = Controller(store, lambda: datetime.now(UTC))
    controller.open_levels([_LEVEL])
    for name in names:
        controller.admit(name)
    service = asyncio.create_task(Service(controller, broker.slot("controller"), lambda _: None).run())
    pool = Pool(definition=_LEVEL, game="floor", level="top", keeper=Keeper.CONTROLLER)
    floor = [
        SimulatedMachine(
            name,
            pool,
            Memory(),
            MqttCarrier(broker.slot(name), name),
            now_ns=time.monotonic_ns,
            stale_ns=_STALE_NS,
            tick_seconds=machines * _TICK_SECONDS_EACH,
        )
        for name in names
    ]
    tasks = [asyncio.create_task(machine.run()) for machine in floor]
    began = time.perf_counter()
    try:
        await _until(lambda: all(machine.joined for machine in floor), _UP_SECONDS, service)
        up_seconds = time.perf_counter() - began
        began = time.perf_counter()
        for _ in range(wagers):
            for machine in floor:
                machine.play(dice, _HIT_CHANCE)
            await asyncio.sleep(0)
        await _until(lambda: all(machine.settled for machine in floor), _REST_SECONDS, service)
        seconds = time.perf_counter() - began
        return _reckoned(controller, floor, machines * wagers, seconds, up_seconds)
    finally:
        for task in (service, *tasks):
            task.cancel()
        await asyncio.gather(service, *tasks, return_exceptions=True)
        store.close()
        broker.close()


async def _until(condition: Callable[[], bool], seconds: float, service: asyncio.Task[None]) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            if service.done():
                service.result()
            await asyncio.sleep(0.01)


def _reckoned(
    controller: Controller, floor: list[SimulatedMachine], wagers: int, seconds: float, up_seconds: float
) -> Floor:
    controller.check()
    (record,) = (each for each in controller.records() if each.id == _LEVEL.id)
    register = controller.register()
    found = Floor(len(floor), wagers, seconds, up_seconds, record.level, register)
    paid = sum(hit.paid_cents or 0 for machine in floor for hit in machine.memory.hits.values())
    if paid != record.level.paid:
        found.wrong.append(f"{paid} paid on the machines, {record.level.paid} on record")
    stake_cents, terms = _LEVEL.chance.stake_cents, _LEVEL.terms
    if record.level.contributed != wagers * stake_cents * (terms.increment + terms.hidden):
        found.wrong.append(f"{record.level.contributed} contributed by {wagers} wagers")
    return found

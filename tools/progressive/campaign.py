"""The fault campaign of a progressive link: real broker, real controller and store, real link clients.

A scenario is a level of its own that two machines feed and hit while, as its seed says, the broker is killed,
the controller is killed between any two of its statements and another takes over with another idea of the
time, machines are killed between any two steps of a hit, cut off, and what is said on the way is delayed,
doubled and mixed up. Then everything is mended, and must come to rest with every wager counted once, every
hit paid once with the amount that was locked for it, and every level adding up to the fraction. Meanwhile a
witness reads every value published: it never falls but by what is on record.

The links' clocks run fast, so that what is sent again after seconds is sent again after a moment.
"""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from egm.progressive import topics
from egm.progressive.carrier import Carrier, Ears
from egm.progressive.connection import Line, finish, payload, stay_connected, tls
from egm.progressive.definition import Chance, Kind, LevelDefinition
from egm.progressive.level import Terms
from egm.progressive.messages import FromController, FromMachine, Value, from_controller
from egm.progressive.mqtt import MqttCarrier
from egm.progressive.pools import Keeper, Pool
from tools.progressive.broker import Broker
from tools.progressive.certificates import SIGN
from tools.progressive.controller import Controller
from tools.progressive.machine import Memory, SimulatedMachine
from tools.progressive.serve import Service
from tools.progressive.store import Row, Store

MACHINES: Final = ("M-1", "M-2")
STAKE_CENTS: Final = 25
_FAST: Final = 40
_STALE_NS: Final = 5_000_000_000
_QUICK_SECONDS: Final = 0.02
_REST_SECONDS: Final = 60.0
_HIT_CHANCE: Final = 0.12
_WAGERS: Final = 12


class Killed(BaseException):
    """Something was killed here. Not an Exception: nobody may handle it and go on."""


@dataclass(slots=True)
class Campaign:
    """What was done and found."""

    seed: int
    scenarios: int = 0
    disturbances: Counter[str] = field(default_factory=Counter)
    wagers: int = 0
    hits: int = 0
    paid_cents: int = 0
    values_seen: int = 0
    wrong: list[str] = field(default_factory=list)


def _fast_ns() -> int:
    return time.monotonic_ns() * _FAST


def _level(number: int, dice: random.Random) -> LevelDefinition:
    terms = Terms(
        base_cents=dice.choice((100, 1_000, 50_000)),
        increment=Fraction(dice.randrange(1, 40), dice.randrange(41, 400)),
        hidden=dice.choice((Fraction(0), Fraction(1, 97))),
        ceiling_cents=dice.choice((None, 60_000)),
    )
    name = f"S{number}"
    chance = Chance(stake_cents=STAKE_CENTS, odds=Fraction(1, 1000))
    return LevelDefinition(
        id=name, names={"en": name, "fr": name}, kind=Kind.LINKED, terms=terms, chance=chance
    )


class _Rough(Carrier):
    """A carrier on which things happen: cut off, late, twice, in another order; both ways."""

    def __init__(self, inner: Carrier, dice: random.Random) -> None:
        self._inner = inner
        self._dice = dice
        self.rough = 0.0
        self.cut = False
        self._ears: Ears | None = None

    async def run(self, ears: Ears) -> None:
        """Carry, as the inner one does."""
        self._ears = ears
        await self._inner.run(self)

    def send(self, message: FromMachine) -> None:
        """To the controller."""
        self._somehow(lambda: self._inner.send(message))

    def connected(self) -> None:
        """Heard from the inner carrier."""
        if self._ears is not None:
            self._ears.connected()

    def disconnected(self, why: str) -> None:
        """Heard from the inner carrier."""
        if self._ears is not None:
            self._ears.disconnected(why)

    def received(self, message: FromController) -> None:
        """To the machine."""
        ears = self._ears
        if ears is not None:
            self._somehow(lambda: ears.received(message))

    def misunderstood(self, text: str) -> None:
        """Heard from the inner carrier."""
        if self._ears is not None:
            self._ears.misunderstood(text)

    def _somehow(self, deliver: Callable[[], None]) -> None:
        if self.cut or (self.rough and self._dice.random() < self.rough / 4):
            return
        times = 2 if self.rough and self._dice.random() < self.rough else 1
        for _ in range(times):
            if self.rough and self._dice.random() < self.rough:
                asyncio.get_running_loop().call_later(self._dice.uniform(0.0, 0.1), deliver)
            else:
                deliver()


class _Seat:
    """The place of one machine: its memory outlives every life of it."""

    def __init__(self, serial: str, pool: Pool, broker: Broker, dice: random.Random) -> None:
        self.serial = serial
        self.memory = Memory()
        self._pool = pool
        self._dice = dice
        self._broker = broker
        self._deadly = 0
        self.deaths = 0
        self.machine: SimulatedMachine
        self._task: asyncio.Task[None]
        self.line: _Rough
        self.start()

    def start(self) -> None:
        """A life begins."""
        inner = MqttCarrier(self._broker.slot(self.serial), self.serial, retry_seconds=_QUICK_SECONDS)
        self.line = _Rough(inner, self._dice)
        self.machine = SimulatedMachine(
            self.serial,
            self._pool,
            self.memory,
            self.line,
            now_ns=_fast_ns,
            stale_ns=_STALE_NS,
            step=self._step,
        )
        self._task = asyncio.create_task(self.machine.run())

    def die_soon(self) -> None:
        """It will be killed at one of its next steps."""
        self._deadly = self._dice.randrange(1, 9)

    def live_on(self) -> None:
        """It will not."""
        self._deadly = 0

    def _step(self, _: str) -> None:
        if self._deadly:
            self._deadly -= 1
            if not self._deadly:
                raise Killed

    def play(self, hit_chance: float = _HIT_CHANCE) -> None:
        """One wager; it may be the machine's last."""
        with contextlib.suppress(Killed):
            self.machine.play(self._dice, hit_chance)
            return
        self._task.cancel()

    async def revive(self) -> None:
        """Start it again if it is dead. Raises whatever else ended it."""
        if not self._task.done() and not self._task.cancelling():
            return
        await self.end()
        self.deaths += 1
        self.start()

    async def end(self) -> None:
        """End the life as it stands."""
        await finish(self._task)
        if self._task.cancelled():
            return
        error = self._task.exception()
        if isinstance(error, BaseExceptionGroup):
            error = error.split((Killed, asyncio.CancelledError))[1]
        if error is not None and not isinstance(error, Killed):
            raise error


class _Office:
    """Controllers on one store, one after the other; the store's connection may die at any statement."""

    def __init__(
        self, open_store: Callable[[], Store], broker: Broker, dice: random.Random, result: Campaign
    ) -> None:
        self._open = open_store
        self._broker = broker
        self._dice = dice
        self._result = result
        self._deadly = 0
        self.controller: Controller
        self._store: Store
        self._task: asyncio.Task[None]

    def start(self) -> None:
        """A controller takes over, with its own idea of the time."""
        store = self._store = self._open()
        honest = store.run

        def run(sql: str, *values: Any) -> list[Row]:
            rows = honest(sql, *values)
            if self._deadly:
                self._deadly -= 1
                if not self._deadly:
                    raise Killed
            return rows

        store.run = run  # type: ignore[method-assign]  # a statement at which the process dies
        skew = timedelta(seconds=self._dice.uniform(-90_000, 90_000))
        self.controller = Controller(store, lambda: datetime.now(UTC) + skew)
        service = Service(
            self.controller,
            self._broker.slot("controller"),
            lambda _: None,
            values_seconds=_QUICK_SECONDS,
            retry_seconds=_QUICK_SECONDS,
        )
        self._task = asyncio.create_task(service.run())

    def die_soon(self) -> None:
        """It will be killed at one of its next statements."""
        self._deadly = self._dice.randrange(1, 60)

    def live_on(self) -> None:
        """It will not."""
        self._deadly = 0

    async def revive(self) -> None:
        """Let another take over if this one is dead. Raises whatever else ended it."""
        if self._task.done():
            await self.end()
            self.start()

    async def end(self) -> None:
        """End it as it stands: the connection to the store is gone with it."""
        self._deadly = 0
        await finish(self._task)
        self._store.rollback()
        self._store.close()
        error = None if self._task.cancelled() else self._task.exception()
        if error is not None and not isinstance(error, Killed):
            raise error


class _Witness:
    """Reads every value published: what the public is shown, whoever publishes it."""

    def __init__(self, broker: Broker, result: Campaign) -> None:
        self._slot = broker.slot(SIGN)
        self._result = result
        self._last: dict[str, Value] = {}

    async def run(self) -> None:
        """Watch until cancelled."""

        async def serve(line: Line) -> None:
            await line.subscribe(topics.ALL_VALUES)
            async for message in line.messages:
                value = from_controller(payload(message))
                if isinstance(value, Value):
                    self._see(value)

        await stay_connected(
            self._slot, tls(self._slot), SIGN, serve, lambda _: None, retry_seconds=_QUICK_SECONDS
        )

    def _see(self, value: Value) -> None:
        last = self._last.get(value.level)
        if last is not None and value.sequence <= last.sequence:
            return
        self._last[value.level] = value
        self._result.values_seen += 1
        if last is not None and value.falls == last.falls and value.amount_cents < last.amount_cents:
            self._result.wrong.append(
                f"{value.level}: {value.amount_cents} shown after {last.amount_cents}, and no fall on record"
            )


async def run_campaign(
    folder: Path,
    open_store: Callable[[], Store],
    *,
    seed: int,
    scenarios: int,
    progress: Callable[[int], None] = lambda _: None,
) -> Campaign:
    """Run ``scenarios`` of them. Raises BrokerMissingError; what is found is in the result's ``wrong``."""
    result = Campaign(seed)
    dice = random.Random(seed)  # noqa: S311 (it must repeat)
    broker = Broker(folder / "link", MACHINES)
    await broker.start()
    office = _Office(open_store, broker, dice, result)
    office.start()
    for machine in MACHINES:
        office.controller.admit(machine)
    witness = asyncio.create_task(_Witness(broker, result).run())
    try:
        for number in range(scenarios):
            await _scenario(number, broker, office, dice, result)
            result.scenarios += 1
            progress(number + 1)
        with _named(result, "the whole store"):
            office.controller.check()
    finally:
        witness.cancel()
        await asyncio.gather(witness, return_exceptions=True)
        await office.end()
        broker.kill()
    return result


@contextlib.contextmanager
def _named(result: Campaign, what: str) -> Any:
    try:
        yield
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        result.wrong.append(f"{what}: {type(error).__name__}: {error}")


async def _scenario(
    number: int, broker: Broker, office: _Office, dice: random.Random, result: Campaign
) -> None:
    definition = _level(number, dice)
    office.controller.open_levels([definition])
    pool = Pool(definition=definition, game="campaign", level="top", keeper=Keeper.CONTROLLER)
    async with _seats(pool, broker, dice) as seats:
        await _trouble(seats, broker, office, dice, result)
        for seat in seats:
            seat.live_on()
            seat.line.rough, seat.line.cut = 0.0, False
        try:
            async with asyncio.timeout(_REST_SECONDS):
                while not all(seat.machine.settled for seat in seats):
                    await _revive(seats, office)
                    await asyncio.sleep(0.005)
        except TimeoutError:
            result.wrong.append(f"{definition.id}: it does not come to rest")
        office.live_on()
        await office.revive()
    with _named(result, definition.id):
        _reckon(definition, seats, office, result)


@contextlib.asynccontextmanager
async def _seats(pool: Pool, broker: Broker, dice: random.Random) -> AsyncIterator[list[_Seat]]:
    seats = [_Seat(serial, pool, broker, dice) for serial in MACHINES]
    try:
        yield seats
    finally:
        for seat in seats:
            await seat.end()


async def _revive(seats: list[_Seat], office: _Office) -> None:
    await office.revive()
    for seat in seats:
        await seat.revive()


async def _trouble(
    seats: list[_Seat], broker: Broker, office: _Office, dice: random.Random, result: Campaign
) -> None:
    """Wagers and hits, with one disturbance or several among them."""
    planned = Counter(
        dice.choices(
            ("broker killed", "controller killed", "machine killed", "cut off", "rough", "same instant"),
            k=dice.randrange(1, 4),
        )
    )
    at = {dice.randrange(_WAGERS): name for name in planned}
    for n in range(_WAGERS):
        await _revive(seats, office)
        if (name := at.get(n)) is not None:
            result.disturbances[name] += 1
            await _disturb(name, seats, broker, office, dice)
        for seat in seats:
            seat.play()
        await asyncio.sleep(dice.choice((0.0, 0.0, 0.01, 0.03)))


async def _disturb(
    name: str, seats: list[_Seat], broker: Broker, office: _Office, dice: random.Random
) -> None:
    seat = dice.choice(seats)
    match name:
        case "broker killed":
            broker.kill()
            await asyncio.sleep(dice.uniform(0.0, 0.05))
            await broker.start()
        case "controller killed":
            office.die_soon()
        case "machine killed":
            seat.die_soon()
        case "cut off":
            seat.line.cut = True
            asyncio.get_running_loop().call_later(dice.uniform(0.0, 0.2), setattr, seat.line, "cut", False)
        case "rough":
            seat.line.rough = dice.uniform(0.1, 0.6)
        case _:
            for each in seats:  # both hit, and neither knows of the other
                each.play(hit_chance=1.0)


def _reckon(definition: LevelDefinition, seats: list[_Seat], office: _Office, result: Campaign) -> None:
    """Hold the machines' memories against the controller's ledger and register."""
    wrong = result.wrong
    record = next(r for r in office.controller.records() if r.id == definition.id)
    register = {hit.claim: hit for hit in office.controller.register() if hit.level == definition.id}
    wagers = sum(len(seat.memory.given) for seat in seats)
    terms = definition.terms
    if record.level.contributed != wagers * STAKE_CENTS * (terms.increment + terms.hidden):
        wrong.append(f"{definition.id}: {record.level.contributed} contributed by {wagers} wagers")
    hits = {name: hit for seat in seats for name, hit in seat.memory.hits.items()}
    if hits.keys() != register.keys():
        wrong.append(f"{definition.id}: hits {sorted(hits)} on the machines, {sorted(register)} on record")
    for name in hits.keys() & register.keys():
        hit, line = hits[name], register[name]
        if not line.amount_cents == line.paid_cents == hit.locked_cents == hit.paid_cents:
            wrong.append(f"{name}: {line} on record, {hit} on the machine")
    if sorted(line.place for line in register.values()) != list(range(1, len(register) + 1)):
        wrong.append(f"{definition.id}: hits without an order of their own")
    wrong += [f"{seat.serial}: {text}" for seat in seats for text in seat.memory.complaints]
    result.wagers += wagers
    result.hits += len(hits)
    result.paid_cents += sum(hit.paid_cents or 0 for hit in hits.values())

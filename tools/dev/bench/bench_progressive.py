"""A progressive link under load: wagers counted a second, hit to locked amount, and how late the sign is.

Real Mosquitto with TLS and certificates, the real controller on a real disk, one real link state machine for
each machine. Machines share connections (a hundred each), for a thousand TLS connections of one process would
measure the process; the controller and the machines are one process, so a floor does better than this.
"""

import asyncio
import contextlib
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from egm.config.levels import Kind
from egm.errors import OperatorError
from egm.progressive import topics
from egm.progressive.connection import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    Line,
    Waiting,
    build_tls_context,
    get_payload,
    open_connection,
    run_together,
    stay_connected,
)
from egm.progressive.definition import Chance, LevelDefinition
from egm.progressive.level import Terms
from egm.progressive.link import AmountLocked, Complaint, Link, PaymentRecorded
from egm.progressive.messages import (
    Claim,
    Commit,
    Contribution,
    FromMachine,
    Value,
    decode_controller_message,
    encode,
)
from egm.progressive.pools import Keeper, Pool
from tools.dev.bench import Figure
from tools.dev.progressive.broker import Broker, BrokerMissingError
from tools.dev.progressive.server import Postgres, PostgresMissingError
from tools.floor.progressive.certificates import CONTROLLER, format_sign_name
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.postgres import PostgresStore
from tools.floor.progressive.serve import Service
from tools.floor.progressive.sign import Sign, listen
from tools.floor.progressive.store import SqliteStore, Store

WAGERS: Final = 4000
HITS: Final = 50
LOOKS: Final = 7
_GROWTH: Final = (10, 100, 1000)
_A_LINE: Final = 100
_LINES: Final = tuple(f"FLOOR-{n}" for n in range(10))
_STALE_NS: Final = 5_000_000_000
_PATIENCE_SECONDS: Final = 600.0
_LEVEL: Final = LevelDefinition(
    id="bench",
    names={"en": "Bench", "fr": "Banc"},
    kind=Kind.LINKED,
    terms=Terms(base_cents=1_000_00, increment=Fraction(1, 5), hidden=Fraction(1, 300)),
    # Every wager of a measured hit wins: with longer odds the controller holds most of them for persons.
    chance=Chance(stake_cents=25, odds=Fraction(9, 10)),
)
_POOL: Final = Pool(definition=_LEVEL, game="bench", level="top", keeper=Keeper.CONTROLLER)
_ADDED_CENTS: Final = 5


def _contribution(machine: str, sequence: int) -> Contribution:
    amount = Fraction(_ADDED_CENTS)
    return Contribution(machine=machine, level=_LEVEL.id, sequence=sequence, wager_cents=25, amount=amount)


# ---------------------------------------------------------------------------------------------- the floor
class _Line:
    """One connection and the machines on it."""

    def __init__(self, broker: Broker, name: str, machines: list[str]) -> None:
        self._slot, self._name = broker.slot(name), name
        self.links = {each: Link(each, (_POOL,), stale_ns=_STALE_NS) for each in machines}
        self._outbox: Waiting[FromMachine] = Waiting()
        self._connections = 0
        self._made = dict.fromkeys(machines, 0)
        self._claims: dict[str, tuple[Claim, asyncio.Future[int]]] = {}

    async def run(self) -> None:
        """Stay connected: where a disk or this process stands still for long, the broker hangs up."""
        context = build_tls_context(self._slot)
        await stay_connected(self._slot, lambda: context, self._name, self._serve, lambda _: None)

    async def _serve(self, line: Line) -> None:
        self._connections += 1
        await line.subscribe(topics.ALL_VALUES)
        for machine, link in self.links.items():
            await line.subscribe(topics.build_downlink_topic(machine))
            link.connected(f"{machine}.{self._connections}", time.monotonic_ns())
            self._send(link)
        await run_together(self._speak(line), self._hear(line), self._tick())

    async def _speak(self, line: Line) -> None:
        while True:
            message = await self._outbox.get()
            qos = AT_MOST_ONCE if isinstance(message, Contribution) else AT_LEAST_ONCE
            await line.publish(topics.build_uplink_topic(message.machine), encode(message), qos)

    async def _hear(self, line: Line) -> None:
        async for message in line.messages:
            said = decode_controller_message(get_payload(message))
            meant = self.links.values() if isinstance(said, Value) else (self.links[said.machine],)
            for link in meant:
                link.receive(said, time.monotonic_ns())
                self._learn(link)
                self._send(link)

    def _learn(self, link: Link) -> None:
        for news in link.take_news():
            if isinstance(news, AmountLocked):
                self._locked(link, news)
            elif isinstance(news, PaymentRecorded):
                link.forget(news.claim)
            elif isinstance(news, Complaint):
                self._refused(news)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            for link in self.links.values():
                link.tick(time.monotonic_ns())
                self._send(link)

    def _locked(self, link: Link, news: AmountLocked) -> None:
        claim, heard = self._claims[news.claim]
        if not heard.done():
            heard.set_result(time.perf_counter_ns())
        link.locked(news.claim)
        paid = Commit(
            machine=claim.machine, level=_LEVEL.id, claim=claim.claim, amount_cents=news.amount_cents
        )
        link.paid(paid, claim, time.monotonic_ns())

    def _refused(self, news: Complaint) -> None:
        """End every wait for a hit, because no answer will follow."""
        for _, heard in self._claims.values():
            if not heard.done():
                heard.set_exception(OperatorError(f"{news.code}: {news.text}"))

    def _send(self, link: Link) -> None:
        for message in link.take_messages():
            self._outbox.put_nowait(message)

    @property
    def joined(self) -> bool:
        return all(link.feeders[_LEVEL.id].joined for link in self.links.values())

    @property
    def settled(self) -> bool:
        return all(self._made[name] == link.feeders[_LEVEL.id].counted for name, link in self.links.items())

    def wager(self, machine: str) -> int:
        """One wager; its number."""
        self._made[machine] += 1
        self.links[machine].contributed(_contribution(machine, self._made[machine]), time.monotonic_ns())
        self._send(self.links[machine])
        return self._made[machine]

    async def hit(self, machine: str) -> int:
        """Place a wager that hits; return the nanoseconds from the wager to the locked amount."""
        began = time.perf_counter_ns()
        after = self.wager(machine)
        name = f"{machine}.{after}"
        claim = Claim(machine=machine, level=_LEVEL.id, claim=name, after=after, shown_cents=1_000_00)
        heard: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._claims[name] = claim, heard
        self.links[machine].hit(claim, time.monotonic_ns())
        self._send(self.links[machine])
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await heard - began


async def _until(condition: Callable[[], bool], *tasks: asyncio.Task[None]) -> None:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not condition():
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def _together(*work: Coroutine[None, None, None]) -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def _floor(broker: Broker, store: Store, machines: int) -> AsyncIterator[list[_Line]]:
    names = [f"EGM-{n}" for n in range(machines)]
    controller = Controller(store, lambda: datetime.now(UTC))
    controller.open_levels([_LEVEL])
    for name in names:
        controller.admit(name)
    per = max(1, min(_A_LINE, machines // 2))
    shares = [names[n : n + per] for n in range(0, machines, per)]
    lines = [_Line(broker, _LINES[n], share) for n, share in enumerate(shares)]
    service = Service(controller, broker.slot(CONTROLLER), lambda _: None)
    async with _together(service.run(), *(line.run() for line in lines)) as tasks:
        await _until(lambda: all(line.joined for line in lines), *tasks)
        yield lines
        await _until(lambda: all(line.settled for line in lines), *tasks)
    controller.check()


# ---------------------------------------------------------------------------------------------- measuring
async def _counted(broker: Broker, store: Store, machines: int) -> float:
    """Wagers counted a second, from the first made to the last known to be durable."""
    async with _floor(broker, store, machines) as lines:
        began = time.perf_counter()
        for _ in range(WAGERS // machines):
            for line in lines:
                for machine in line.links:
                    line.wager(machine)
        await _until(lambda: all(line.settled for line in lines))
        return WAGERS / (time.perf_counter() - began)


async def _published(broker: Broker) -> float:
    """Return the messages per second that the same broker carries to a subscriber that only counts them."""
    data = encode(_contribution("EGM-0", 1))
    slots = broker.slot(CONTROLLER), broker.slot(_LINES[0])
    async with open_connection(slots[0], build_tls_context(slots[0]), "in") as hears:
        await hears.subscribe(topics.ALL_UP)
        async with open_connection(slots[1], build_tls_context(slots[1]), "out") as says:

            async def say() -> None:
                for _ in range(WAGERS):
                    await says.publish(topics.build_uplink_topic("EGM-0"), data, AT_MOST_ONCE)

            began = time.perf_counter()
            async with _together(say()), asyncio.timeout(_PATIENCE_SECONDS):
                heard = 0
                async for _ in hears.messages:
                    heard += 1
                    if heard == WAGERS:
                        break
            return WAGERS / (time.perf_counter() - began)


async def _round_trip_ms(broker: Broker) -> float:
    """Median of a bare message through the broker and its echo."""
    slots = broker.slot(CONTROLLER), broker.slot(_LINES[0])
    async with open_connection(slots[0], build_tls_context(slots[0]), "in") as far:
        await far.subscribe(topics.ALL_UP)

        async def echo() -> None:
            async for message in far.messages:
                await far.publish(topics.build_downlink_topic("EGM-0"), get_payload(message), AT_MOST_ONCE)

        async with (
            asyncio.timeout(_PATIENCE_SECONDS),
            open_connection(slots[1], build_tls_context(slots[1]), "out") as near,
            _together(echo()),
        ):
            await near.subscribe(topics.build_downlink_topic("EGM-0"))
            times, answers = [], aiter(near.messages)
            for _ in range(HITS):
                began = time.perf_counter_ns()
                await near.publish(topics.build_uplink_topic("EGM-0"), b"x" * 200, AT_MOST_ONCE)
                await anext(answers)
                times.append(time.perf_counter_ns() - began)
    return statistics.median(times) / 1e6


async def _hits_ms(broker: Broker, store: Store) -> list[float]:
    async with _floor(broker, store, 10) as lines:
        machines = itertools.cycle((line, machine) for line in lines for machine in line.links)
        return sorted([await line.hit(machine) / 1e6 for line, machine in itertools.islice(machines, HITS)])


async def _seen_ms(broker: Broker, store: Store) -> tuple[float, float]:
    """From a wager until the sign's drums begin to run, and until they stand at the amount; medians."""
    dice, begun, stood = random.Random(1), [], []  # noqa: S311 (moments between two values)
    sign = Sign((_LEVEL.id,))

    def shown() -> int:
        return sign.plates(time.monotonic_ns())[0].thousandths or 0

    watching = listen(
        sign,
        broker.slot(format_sign_name("1")),
        time.monotonic_ns,
        lambda _: None,
        name=format_sign_name("1"),
    )
    async with _floor(broker, store, 10) as lines, _together(watching) as tasks:
        await _until(lambda: shown() > 0, *tasks)
        for _ in range(LOOKS):
            await asyncio.sleep(dice.uniform(0.0, 0.5))
            before, began = shown(), time.perf_counter()
            lines[0].wager("EGM-0")
            await _until(lambda then=before: shown() > then, *tasks)  # type: ignore[misc]
            begun.append(time.perf_counter() - began)
            await _until(lambda then=before: shown() == then + _ADDED_CENTS * 1000, *tasks)  # type: ignore[misc]
            stood.append(time.perf_counter() - began)
    return statistics.median(begun) * 1e3, statistics.median(stood) * 1e3


def _inserted(store: Store) -> float:
    """Rows a second into the contribution ledger of the same store, as many a transaction as are taken."""
    began, row = time.perf_counter(), itertools.count(1)
    for _ in range(0, WAGERS, 256):
        with store.transaction() as session:
            for sequence in itertools.islice(row, 256):
                session.add_contribution(_contribution("BARE", sequence), hidden=Fraction(1, 12))
    return next(row) / (time.perf_counter() - began)


# ---------------------------------------------------------------------------------------------- figures
def figures() -> Iterator[Figure]:
    """Wagers a second, hit to locked amount, the sign's delay, and the growth of the floor."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as name:
        try:
            broker = _broker(Path(name) / "link")
        except BrokerMissingError as missing:
            yield Figure(f"not measured: {missing}", 0, "")
            return
        fresh = itertools.count()

        def sqlite() -> Store:
            return SqliteStore(Path(name) / f"{next(fresh)}.db")

        try:
            asyncio.run(broker.start())
            published = asyncio.run(_published(broker))
            yield from _store_figures(broker, sqlite, "SQLite", published)
            yield from _growth(broker, sqlite)
            yield from _moments(broker, sqlite)
            yield from _postgres_figures(broker, published)
        finally:
            broker.close()


def _broker(folder: Path) -> Broker:
    """Start a broker on which one connection may act for many machines; for benchmarks only."""
    broker = Broker(folder, _LINES)
    with (folder / "broker.acl").open("a", encoding="ascii") as access:
        for line in _LINES:
            access.write(f"\nuser {line}\ntopic write {topics.ALL_UP}\n")
            access.write(f"topic read {topics.PREFIX}/machine/+/down\n")
    return broker


def _with(open_store: Callable[[], Store], measure: Callable[[Store], float]) -> float:
    with contextlib.closing(open_store()) as store:
        return measure(store)


def _store_figures(
    broker: Broker, open_store: Callable[[], Store], title: str, published: float
) -> Iterator[Figure]:
    counted = _with(open_store, lambda store: asyncio.run(_counted(broker, store, 10)))
    inserted = _with(open_store, _inserted)
    name = f"wagers counted, 10 machines, {title}"
    yield Figure(name, counted, "/s", "bare publish", published)
    yield Figure(name, counted, "/s", "bare insert", inserted)


def _postgres_figures(broker: Broker, published: float) -> Iterator[Figure]:
    try:
        server = Postgres()
    except PostgresMissingError as missing:
        yield Figure(f"not measured: {missing}", 0, "")
        return
    fresh = itertools.count()
    try:
        yield from _store_figures(
            broker, lambda: PostgresStore(server.new_database(f"b{next(fresh)}")), "PostgreSQL", published
        )
    finally:
        server.close()


def _growth(broker: Broker, open_store: Callable[[], Store]) -> Iterator[Figure]:
    def rate(machines: int) -> float:
        return _with(open_store, lambda store: asyncio.run(_counted(broker, store, machines)))

    ten = rate(_GROWTH[0])
    for machines in _GROWTH[1:]:
        yield Figure(
            f"wagers counted, {machines} machines, SQLite",
            rate(machines),
            "/s",
            f"{_GROWTH[0]} machines",
            ten,
            aim="about 1: more machines cost no more a wager",
        )


def _moments(broker: Broker, open_store: Callable[[], Store]) -> Iterator[Figure]:
    trip = asyncio.run(_round_trip_ms(broker))
    with contextlib.closing(open_store()) as store:
        hits = asyncio.run(_hits_ms(broker, store))
    for what, value in (("median", statistics.median(hits)), ("49th of 50", hits[-2])):
        yield Figure(
            f"hit to locked amount, {what}",
            value,
            "ms",
            "bare round trip",
            trip,
            better="lower",
            aim="wager and claim: two round trips and two commits",
        )
    with contextlib.closing(open_store()) as store:
        begun, stood = asyncio.run(_seen_ms(broker, store))
    for what, value in (("runs", begun), ("stands at the amount", stood)):
        yield Figure(
            f"wager until the sign {what}, median", value, "ms", "between two values", 500.0, better="lower"
        )

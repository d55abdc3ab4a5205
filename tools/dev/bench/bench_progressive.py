"""Measure a progressive link under load: wagers per second, time from hit to locked amount, and sign delay.

It runs real Mosquitto with TLS and certificates, the real controller on a real disk, one real link client, and one
connection for each machine. The controller and the machines share one process, so a real floor is faster.
"""

import asyncio
import contextlib
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

from egm.config.levels import LevelScope
from egm.errors import check_invariant
from egm.progressive import topics
from egm.progressive.connection import QOS_AT_MOST_ONCE, build_tls_context, get_payload, open_connection
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import LevelTerms
from egm.progressive.link import ControllerLink
from egm.progressive.messages import Contribution, LevelValue, encode
from egm.progressive.pools import LevelKeeper, ProgressivePool
from tools.dev.bench import BenchFigure
from tools.dev.progressive.broker import Broker, BrokerMissingError
from tools.dev.progressive.floor import open_floor
from tools.dev.progressive.postgres import Postgres, PostgresMissingError
from tools.floor.progressive.certificates import CONTROLLER_CERTIFICATE_NAME, format_sign_name
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.postgres import PostgresStore
from tools.floor.progressive.sign import Sign, listen
from tools.floor.progressive.store import SqliteStore, Store

WAGER_COUNT: Final = 4000
MEASURED_HIT_COUNT: Final = 50
SIGN_MEASUREMENTS: Final = 7
_MACHINE_NAMES: Final = tuple(f"EGM-{n}" for n in range(10))
_MACHINE_COUNTS: Final = (10, 100, 1000)
#: Number of wagers that the controller processes in one transaction.
_WAGERS_PER_TRANSACTION: Final = 250
_RANDOM_SOURCE: Final = random.Random(1)  # noqa: S311 (it decides no outcome)
_TIMEOUT_SECONDS: Final = 600.0
_LEVEL_DEFINITION: Final = LevelDefinition(
    id="bench",
    names={"en": "Bench", "fr": "Banc"},
    scope=LevelScope.LINKED,
    terms=LevelTerms(base_cents=1_000_00, increment=Fraction(1, 5), hidden_increment=Fraction(1, 300)),
    # Every wager of a measured hit wins: with longer odds the controller holds most of them for persons.
    stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=25, hit_rate=Fraction(9, 10)),
)
_CONTRIBUTION_CENTS: Final = 5


_LEVEL_NUMBERS: Final = itertools.count(1)


def _create_level() -> LevelDefinition:
    """Return a level with a new name, because the broker retains the last value of each earlier level."""
    return replace(_LEVEL_DEFINITION, id=f"bench-{next(_LEVEL_NUMBERS)}")


def _build_contribution(machine: str, sequence: int) -> Contribution:
    amount = Fraction(_CONTRIBUTION_CENTS)
    return Contribution(
        machine=machine, level=_LEVEL_DEFINITION.id, sequence=sequence, wager_cents=25, amount=amount
    )


@contextlib.asynccontextmanager
async def _run_in_background(work: Coroutine[None, None, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


# ---------------------------------------------------------------------------------------------- measuring
async def _measure_counted_rate(broker: Broker, store: Store) -> float:
    """Return the wagers counted per second, from the first wager to the last one that is durable."""
    async with open_floor(broker, store, _MACHINE_NAMES, _create_level()) as floor:
        started_seconds = time.perf_counter()
        for _ in range(WAGER_COUNT // len(_MACHINE_NAMES)):
            for machine in floor.machines:
                machine.play(_RANDOM_SOURCE, 0.0)
        await floor.wait_until(floor.is_settled)
        return WAGER_COUNT / (time.perf_counter() - started_seconds)


def _measure_controller_rate(store: Store, machine_count: int) -> float:
    """Return the wagers per second that the controller counts from real link clients without a broker."""
    level = _create_level()
    pool = ProgressivePool(definition=level, game_id="bench", level_name="top", keeper=LevelKeeper.CONTROLLER)
    links = {
        f"EGM-{n}": ControllerLink(f"EGM-{n}", (pool,), stale_after_ns=10**12) for n in range(machine_count)
    }
    controller = Controller(store, lambda: datetime.now(UTC))
    controller.open_levels([level])

    def exchange() -> None:
        messages = [
            ReceivedMessage(name, message) for name, link in links.items() for message in link.take_messages()
        ]
        for reply in controller.process_messages(messages):
            assert not isinstance(reply, LevelValue)  # those are published, not replied
            links[reply.machine].process_message(reply, time.monotonic_ns())

    for name, link in links.items():
        controller.admit_machine(name)
        link.enrol_levels(name, time.monotonic_ns())
    exchange()
    started_seconds = time.perf_counter()
    wagers = itertools.product(range(1, WAGER_COUNT // machine_count + 1), links)
    while batch := list(itertools.islice(wagers, _WAGERS_PER_TRANSACTION)):
        for sequence, name in batch:
            contribution = _build_contribution(name, sequence).model_copy(update={"level_id": level.id})
            links[name].queue_contribution(contribution, time.monotonic_ns())
        exchange()
    seconds = time.perf_counter() - started_seconds
    check_invariant(
        sum(link.feeder_by_level[level.id].last_counted_number for link in links.values()) == WAGER_COUNT,
        "bench.counted",
    )
    return WAGER_COUNT / seconds


async def _measure_broker_rate(broker: Broker) -> float:
    """Return the messages per second that the same broker delivers to a subscriber that only counts them."""
    data = encode(_build_contribution("EGM-0", 1))
    settings = broker.build_link_settings(CONTROLLER_CERTIFICATE_NAME), broker.build_link_settings("EGM-0")
    async with open_connection(settings[0], build_tls_context(settings[0]), "in") as subscriber:
        await subscriber.subscribe(topics.MACHINE_UPLINK_TOPIC_FILTER)
        async with open_connection(settings[1], build_tls_context(settings[1]), "out") as publisher:

            async def publish_all() -> None:
                for _ in range(WAGER_COUNT):
                    await publisher.publish(topics.build_uplink_topic("EGM-0"), data, QOS_AT_MOST_ONCE)

            started_seconds = time.perf_counter()
            async with _run_in_background(publish_all()), asyncio.timeout(_TIMEOUT_SECONDS):
                received = 0
                async for _ in subscriber.messages:
                    received += 1
                    if received == WAGER_COUNT:
                        break
            return WAGER_COUNT / (time.perf_counter() - started_seconds)


async def _measure_round_trip_ms(broker: Broker) -> float:
    """Return the median time of a bare message through the broker and back."""
    settings = broker.build_link_settings(CONTROLLER_CERTIFICATE_NAME), broker.build_link_settings("EGM-0")
    async with open_connection(settings[0], build_tls_context(settings[0]), "in") as controller_connection:
        await controller_connection.subscribe(topics.MACHINE_UPLINK_TOPIC_FILTER)

        async def echo() -> None:
            async for message in controller_connection.messages:
                await controller_connection.publish(
                    topics.build_downlink_topic("EGM-0"), get_payload(message), QOS_AT_MOST_ONCE
                )

        async with (
            asyncio.timeout(_TIMEOUT_SECONDS),
            open_connection(settings[1], build_tls_context(settings[1]), "out") as machine_connection,
            _run_in_background(echo()),
        ):
            await machine_connection.subscribe(topics.build_downlink_topic("EGM-0"))
            times_ns, replies = [], aiter(machine_connection.messages)
            for _ in range(MEASURED_HIT_COUNT):
                started_ns = time.perf_counter_ns()
                await machine_connection.publish(
                    topics.build_uplink_topic("EGM-0"), b"x" * 200, QOS_AT_MOST_ONCE
                )
                await anext(replies)
                times_ns.append(time.perf_counter_ns() - started_ns)
    return statistics.median(times_ns) / 1e6


async def _measure_hit_times_ms(broker: Broker, store: Store) -> list[float]:
    """Return, for each wager that hits, the milliseconds until its amount is locked; sorted."""
    lock_times: list[float] = []

    def step(name: str) -> None:
        if name == "award received":
            lock_times.append(time.perf_counter())

    times_ms = []
    async with open_floor(broker, store, _MACHINE_NAMES, _create_level(), step) as floor:
        for machine in itertools.islice(itertools.cycle(floor.machines), MEASURED_HIT_COUNT):
            started_seconds, count_before = time.perf_counter(), len(lock_times)
            machine.play(_RANDOM_SOURCE, 1.0)
            await floor.wait_until(lambda count=count_before: len(lock_times) > count)  # type: ignore[misc]
            times_ms.append((lock_times[-1] - started_seconds) * 1e3)
        await floor.wait_until(floor.is_settled)
    return sorted(times_ms)


async def _measure_sign_delays_ms(broker: Broker, store: Store) -> tuple[float, float]:
    """Return the median milliseconds from a wager until the sign starts to move, and until it shows the new amount."""
    random_source, move_delays, stand_delays = random.Random(1), [], []  # noqa: S311 (it draws times, not outcomes)
    level = _create_level()
    sign = Sign((level.id,))

    def read_shown_thousandths() -> int:
        return sign.build_plates(time.monotonic_ns())[0].amount_thousandths or 0

    watching = listen(
        sign,
        broker.build_link_settings(format_sign_name("1")),
        time.monotonic_ns,
        lambda _: None,
        name=format_sign_name("1"),
    )
    async with open_floor(broker, store, _MACHINE_NAMES, level) as floor, _run_in_background(watching):
        await floor.wait_until(lambda: read_shown_thousandths() > 0)
        for _ in range(SIGN_MEASUREMENTS):
            await asyncio.sleep(random_source.uniform(0.0, 0.5))
            shown_before, started_seconds = read_shown_thousandths(), time.perf_counter()
            floor.machines[0].play(random_source, 0.0)
            await floor.wait_until(lambda shown=shown_before: read_shown_thousandths() > shown)  # type: ignore[misc]
            move_delays.append(time.perf_counter() - started_seconds)
            expected_thousandths = shown_before + _CONTRIBUTION_CENTS * 1000
            await floor.wait_until(lambda shown=expected_thousandths: read_shown_thousandths() == shown)  # type: ignore[misc]
            stand_delays.append(time.perf_counter() - started_seconds)
    return statistics.median(move_delays) * 1e3, statistics.median(stand_delays) * 1e3


def _measure_insert_rate(store: Store) -> float:
    """Return the rows per second that can be inserted into the contribution ledger of the same store."""
    started_seconds, sequences = time.perf_counter(), itertools.count(1)
    for _ in range(0, WAGER_COUNT, _WAGERS_PER_TRANSACTION):
        with store.transaction() as session:
            for sequence in itertools.islice(sequences, _WAGERS_PER_TRANSACTION):
                session.add_contribution(
                    _build_contribution("BARE", sequence), hidden_increment=Fraction(1, 12)
                )
    return next(sequences) / (time.perf_counter() - started_seconds)


# ---------------------------------------------------------------------------------------------- figures
def measure_figures() -> Iterator[BenchFigure]:
    """Yield wagers per second, time from hit to locked amount, sign delay, and each with more machines."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as name:
        try:
            broker = Broker(Path(name) / "link", _MACHINE_NAMES)
        except BrokerMissingError as missing:
            yield BenchFigure(f"not measured: {missing}", 0, "")
            return
        store_numbers = itertools.count()

        def open_sqlite_store() -> Store:
            return SqliteStore(Path(name) / f"{next(store_numbers)}.db")

        try:
            asyncio.run(broker.start())
            publish_rate = asyncio.run(_measure_broker_rate(broker))
            yield from _measure_store(broker, open_sqlite_store, "SQLite", publish_rate)
            yield from _measure_growing_machine_count(open_sqlite_store)
            yield from _measure_delays(broker, open_sqlite_store)
            yield from _measure_postgres(broker, publish_rate)
        finally:
            broker.close()


def _measure_with_new_store(open_store: Callable[[], Store], measure: Callable[[Store], float]) -> float:
    with contextlib.closing(open_store()) as store:
        return measure(store)


def _measure_store(
    broker: Broker, open_store: Callable[[], Store], title: str, publish_rate: float
) -> Iterator[BenchFigure]:
    counted_rate = _measure_with_new_store(
        open_store, lambda store: asyncio.run(_measure_counted_rate(broker, store))
    )
    insert_rate = _measure_with_new_store(open_store, _measure_insert_rate)
    name = f"wagers counted, 10 machines, {title}"
    yield BenchFigure(name, counted_rate, "/s", "bare publish", publish_rate)
    yield BenchFigure(name, counted_rate, "/s", "bare insert", insert_rate)


def _measure_postgres(broker: Broker, publish_rate: float) -> Iterator[BenchFigure]:
    try:
        server = Postgres()
    except PostgresMissingError as missing:
        yield BenchFigure(f"not measured: {missing}", 0, "")
        return
    database_numbers = itertools.count()
    try:
        yield from _measure_store(
            broker,
            lambda: PostgresStore(server.create_database(f"b{next(database_numbers)}")),
            "PostgreSQL",
            publish_rate,
        )
    finally:
        server.close()


def _measure_growing_machine_count(open_store: Callable[[], Store]) -> Iterator[BenchFigure]:
    rate_of_fewest, *rates_of_more = (
        _measure_with_new_store(open_store, partial(_measure_controller_rate, machine_count=machine_count))
        for machine_count in _MACHINE_COUNTS
    )
    for machine_count, rate in zip(_MACHINE_COUNTS[1:], rates_of_more, strict=True):
        yield BenchFigure(
            f"wagers taken by the controller alone, {machine_count} machines, SQLite",
            rate,
            "/s",
            f"{_MACHINE_COUNTS[0]} machines",
            rate_of_fewest,
            target="about 1: more machines cost no more a wager",
        )


def _measure_delays(broker: Broker, open_store: Callable[[], Store]) -> Iterator[BenchFigure]:
    round_trip_ms = asyncio.run(_measure_round_trip_ms(broker))
    with contextlib.closing(open_store()) as store:
        hit_times_ms = asyncio.run(_measure_hit_times_ms(broker, store))
    for figure_name, value in (("median", statistics.median(hit_times_ms)), ("49th of 50", hit_times_ms[-2])):
        yield BenchFigure(
            f"hit to locked amount, {figure_name}",
            value,
            "ms",
            "bare round trip",
            round_trip_ms,
            better_if="lower",
            target="wager and claim: two round trips and two commits",
        )
    with contextlib.closing(open_store()) as store:
        move_delay_ms, stand_delay_ms = asyncio.run(_measure_sign_delays_ms(broker, store))
    for figure_name, value in (("runs", move_delay_ms), ("stands at the amount", stand_delay_ms)):
        yield BenchFigure(
            f"wager until the sign {figure_name}, median",
            value,
            "ms",
            "between two values",
            500.0,
            better_if="lower",
        )

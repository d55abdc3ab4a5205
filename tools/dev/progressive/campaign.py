"""Inject faults into a progressive link with a real broker, controller, store and link clients.

A scenario is one level to which two machines contribute and which they hit. The scenario's seed decides the faults: the
broker is killed; the controller is killed between any two of its statements, or disconnected from its store while a
second controller takes over; clocks are wrong; machines are killed after any step of a hit; connections are interrupted
or slow. Every third level is a mystery: the controllers decide its winner, each by the secret that its predecessor
committed to.

At the end of a scenario everything is repaired. Then every wager must be counted once, every hit paid once with its
locked amount and no less than was shown, and every level be exact to the fraction. Meanwhile a listener reads every
published value. Single lost, duplicated and reordered messages are tested without a broker, in
``tests/egm/progressive/test_progressive_client.py``.

A scenario has a time limit. If it makes no progress, what every task was waiting for is reported, and the campaign
ends.
"""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from egm.config.levels import LevelScope, ProgressiveLinkTable
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate, compute_mystery_hit_rate
from egm.progressive.level import LevelTerms
from egm.progressive.pools import LevelKeeper, ProgressivePool
from tools.dev.progressive.broker import Broker
from tools.dev.progressive.faults import KILL_POINTS, RECONNECT_SECONDS, CampaignMachine, ControllerSuccession
from tools.dev.progressive.relay import Relay
from tools.dev.progressive.value_checker import ValueChecker
from tools.dev.progressive.waiting_tasks import describe_waiting_tasks
from tools.floor.progressive.certificates import CONTROLLER_CERTIFICATE_NAME, format_sign_name
from tools.floor.progressive.sign import listen
from tools.floor.progressive.store import Store

MACHINE_SERIALS: Final = ("M-1", "M-2")
STAKE_CENTS: Final = 25
SCENARIO_SECONDS: Final = 180.0
_CLEANING_ATTEMPTS: Final = 10
_HIT_CHANCE: Final = 0.12
#: Odds that include the planned hits, so that no hit is held as improbable.
_LEVEL_ODDS: Final = Fraction(1, 2)
#: One level in this many is a mystery.
_MYSTERY_INTERVAL: Final = 3
_WAGERS_PER_SCENARIO: Final = 12
_DISCONNECTED_SECONDS_MAX: Final = 0.2
#: Sometimes longer than the keep-alive time of the connections.
_LONG_DISCONNECTION_SECONDS: Final = 5.0
_LONG_DISCONNECTION_PROBABILITY: Final = 0.04
_DELAY_RANGE_SECONDS: Final = (0.02, 0.1)
#: Name of the level that takes over the amount of each scenario's level when the scenario ends.
_COLLECTING_LEVEL: Final = LevelDefinition(
    id="BANK",
    names={"en": "Bank", "fr": "Banque"},
    scope=LevelScope.LINKED,
    terms=LevelTerms(base_cents=100, increment=Fraction(1, 100), hidden_increment=Fraction(0)),
    stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=STAKE_CENTS, hit_rate=_LEVEL_ODDS),
)

_SUCCESS_TEXT: Final = "every wager counted once, every hit paid once, nothing shown too low; to the fraction"


@dataclass(slots=True)
class CampaignResult:
    """Result of a campaign. ``fault_counts`` has the number of faults that occurred, by kind."""

    seed: int
    scenarios: int = 0
    fault_counts: Counter[str] = field(default_factory=Counter)
    wagers: int = 0
    hits: int = 0
    paid_cents: int = 0
    values_seen: int = 0
    findings: list[str] = field(default_factory=list)
    waiting_tasks: list[str] = field(default_factory=list)
    """What every task was waiting for when a scenario made no progress; empty otherwise."""

    def format_report(self) -> list[str]:
        """Return the report lines."""
        totals_text = f"{self.wagers} wagers, {self.hits} hits, {self.paid_cents} minor units paid, "
        return [
            *(f"{count:8} x {name}" for name, count in sorted(self.fault_counts.items())),
            f"{totals_text}{self.values_seen} values seen",
            *(f"wrong: {text}" for text in self.findings),
            *self.waiting_tasks,
            *(() if self.findings else (_SUCCESS_TEXT,)),
        ]


@dataclass(slots=True)
class _CampaignFloor:
    """The machines, the broker and the controllers of one scenario."""

    broker: Broker
    relays: dict[str, Relay]
    random_source: random.Random
    result: CampaignResult
    value_checker: ValueChecker
    controllers: ControllerSuccession = field(init=False)
    machines: list[CampaignMachine] = field(default_factory=list)

    def format_states(self) -> list[str]:
        """Return the state of each part, one line each."""
        parted = [name for name, relay in self.relays.items() if relay.is_disconnected]
        broker = f"broker: {'up' if self.broker.is_running else 'down'}; disconnected: {', '.join(parted) or 'none'}"
        return [
            broker,
            self.controllers.format_state(),
            *(machine.format_state() for machine in self.machines),
        ]

    def build_link_settings(self, name: str) -> ProgressiveLinkTable:
        """Return the settings with which ``name`` connects to the broker, over a relay that can be interrupted."""
        return self.broker.build_link_settings(name).model_copy(update={"port": self.relays[name].port})


# ---------------------------------------------------------------------------------------------- the run
async def run_campaign(
    result: CampaignResult,
    folder: Path,
    open_store: Callable[[], Store],
    *,
    scenarios: int,
    progress: Callable[[int], None] = lambda _: None,
    scenario_seconds: float = SCENARIO_SECONDS,
) -> None:
    """Run ``scenarios`` scenarios.

    Counts and findings are stored in ``result`` as they arise, so that they remain if the run is interrupted. Raises
    BrokerMissingError, or OperatorError if the broker does not start.
    """
    tasks_before = asyncio.all_tasks()
    try:
        async with _open_floor(folder, open_store, result) as floor:
            for number in range(scenarios):
                if not await _run_with_limit(
                    _run_scenario(number, floor), scenario_seconds, f"S{number}", floor
                ):
                    break
                result.scenarios += 1
                progress(number + 1)
            else:
                with _record_errors(result, "the whole store"):
                    floor.controllers.controller.verify_levels()
    finally:
        await _cancel_new_tasks(tasks_before)


@contextlib.asynccontextmanager
async def _open_floor(
    folder: Path, open_store: Callable[[], Store], result: CampaignResult
) -> AsyncIterator[_CampaignFloor]:
    random_source = random.Random(result.seed)  # noqa: S311 (the sequence must be repeatable)
    broker = Broker(folder / "link", MACHINE_SERIALS)
    relays = {name: Relay(broker.port) for name in (CONTROLLER_CERTIFICATE_NAME, *MACHINE_SERIALS)}
    value_checker = ValueChecker()
    floor = _CampaignFloor(broker, relays, random_source, result, value_checker)
    try:
        await broker.start()
        for relay in relays.values():
            await relay.start()
        controllers = floor.controllers = ControllerSuccession(
            open_store,
            lambda: floor.build_link_settings(CONTROLLER_CERTIFICATE_NAME),
            random_source,
            result.fault_counts,
        )
        controllers.controller.open_levels([_COLLECTING_LEVEL])
        for machine in MACHINE_SERIALS:
            controllers.controller.admit_machine(machine)
        watching = asyncio.create_task(_watch_values(floor), name="witness")
        yield floor
        watching.cancel()
        if not result.waiting_tasks:
            with _record_errors(result, "the end"):
                await controllers.end_all()
    finally:
        result.values_seen = value_checker.value_count
        for relay in relays.values():
            await relay.stop()
        broker.close()


async def _watch_values(floor: _CampaignFloor) -> None:
    """Read the published values of the level, and record every wrong value as a finding.

    A lost connection is not a finding.
    """
    await listen(
        floor.value_checker,
        floor.broker.build_link_settings(format_sign_name("1")),
        time.monotonic_ns,
        floor.result.findings.append,
        name=format_sign_name("1"),
        retry_seconds=RECONNECT_SECONDS,
        on_lost=lambda _: None,
    )


async def _run_with_limit(
    work: Coroutine[Any, Any, None], seconds: float, name: str, floor: _CampaignFloor
) -> bool:
    """Run ``work`` for at most ``seconds``; return whether it finished. If it did not, report what is stuck."""
    result = floor.result
    task = asyncio.create_task(work, name=name)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if done:
        with _record_errors(result, name):
            task.result()
        return task.exception() is None
    current = asyncio.current_task()
    result.findings.append(f"{name}: no progress: not settled within {seconds:g} s")
    tasks = describe_waiting_tasks(each for each in asyncio.all_tasks() if each is not current)
    result.waiting_tasks = [*floor.format_states(), *tasks]
    return False


async def _cancel_new_tasks(tasks_before: set[asyncio.Task[Any]]) -> None:
    """Cancel every task that is not in ``tasks_before``, and wait a limited time for each to end."""
    for _ in range(_CLEANING_ATTEMPTS):
        new_tasks = asyncio.all_tasks() - tasks_before
        if not new_tasks:
            return
        for task in new_tasks:
            task.cancel()
        await asyncio.wait(new_tasks, timeout=1.0)


@contextlib.contextmanager
def _record_errors(result: CampaignResult, name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 (any error is a finding)
        result.findings.append(f"{name}: {type(error).__name__}: {error}")


# ---------------------------------------------------------------------------------------------- a scenario
def _create_level(number: int, random_source: random.Random) -> LevelDefinition:
    """Return the definition of a new level.

    Every third level is a mystery level; the controller decides its winner after a few wagers.
    """
    is_mystery = number % _MYSTERY_INTERVAL == _MYSTERY_INTERVAL - 1
    base_cents = random_source.choice((100, 1_000, 50_000))
    increment = Fraction(random_source.randrange(1, 40), random_source.randrange(41, 400))
    ceiling_cents = random_source.choice((None, 60_000))
    if is_mystery:
        ceiling_cents = base_cents + max(
            1, int(increment * STAKE_CENTS * random_source.randrange(1, _WAGERS_PER_SCENARIO))
        )
    terms = LevelTerms(
        base_cents=base_cents,
        increment=increment,
        hidden_increment=random_source.choice((Fraction(0), Fraction(1, 97))),
        ceiling_cents=ceiling_cents,
        is_mystery=is_mystery,
    )
    name = f"S{number}"
    odds = compute_mystery_hit_rate(terms, STAKE_CENTS) if is_mystery else _LEVEL_ODDS
    generator = LevelStakeAndHitRate(stake_cents=STAKE_CENTS, hit_rate=odds)
    return LevelDefinition(
        id=name,
        names={"en": name, "fr": name},
        scope=LevelScope.LINKED,
        terms=terms,
        stake_and_hit_rate=generator,
    )


async def _run_scenario(number: int, floor: _CampaignFloor) -> None:
    definition, controllers = _create_level(number, floor.random_source), floor.controllers
    controllers.controller.open_levels([definition])
    pool = ProgressivePool(
        definition=definition, game_id="campaign", level_name="top", keeper=LevelKeeper.CONTROLLER
    )
    async with _open_machines(pool, floor) as machines:
        await _play_with_disturbances(_plan_disturbances(floor.result.seed, number), machines, floor)
        for relay in floor.relays.values():
            relay.reconnect()
        while not all(machine.is_settled for machine in machines):
            await _restart_dead_parts(machines, controllers)
            await asyncio.sleep(0.005)
        controllers.cancel_kill()
        await controllers.replace_if_dead()
        await controllers.wait_for_deposed_controllers()
    with _record_errors(floor.result, definition.id):
        _reconcile(definition, machines, floor)
        controllers.controller.close_level(definition.id, _COLLECTING_LEVEL.id)
        floor.result.fault_counts["level given up"] += 1


@contextlib.asynccontextmanager
async def _open_machines(
    pool: ProgressivePool, floor: _CampaignFloor
) -> AsyncIterator[list[CampaignMachine]]:
    fault_counts = floor.result.fault_counts
    machines = [
        CampaignMachine(serial, pool, floor.build_link_settings(serial), floor.random_source, fault_counts)
        for serial in MACHINE_SERIALS
    ]
    floor.machines = machines
    try:
        yield machines
    finally:
        for machine in machines:
            await machine.end()


async def _restart_dead_parts(machines: list[CampaignMachine], controllers: ControllerSuccession) -> None:
    await controllers.replace_if_dead()
    for machine in machines:
        await machine.restart_if_dead()


# ---------------------------------------------------------------------------------------------- disturbances
def _plan_disturbances(seed: int, number: int) -> dict[int, str]:
    """Return the name of the disturbance before each wager, by the wager's index.

    Each kind occurs, combined with others as the seed decides. The plan has its own source of
    random numbers, because the number of other random draws depends on timing.
    """
    random_source, kinds = random.Random(f"{seed}.{number}"), tuple(_DISTURBANCES)  # noqa: S311 (the sequence must be repeatable)
    planned = {kinds[number % len(kinds)], *random_source.choices(kinds, k=random_source.randrange(3))}
    return dict(
        zip(random_source.sample(range(_WAGERS_PER_SCENARIO), len(planned)), sorted(planned), strict=True)
    )


async def _play_with_disturbances(
    plan: dict[int, str], machines: list[CampaignMachine], floor: _CampaignFloor
) -> None:
    """Play wagers and hits, with the planned disturbances between them."""
    for n in range(_WAGERS_PER_SCENARIO):
        await _restart_dead_parts(machines, floor.controllers)
        if (name := plan.get(n)) is not None:
            disturbing = _DISTURBANCES[name](machines, floor)
            if disturbing is not None:
                await disturbing
        for machine in machines:
            machine.play(_HIT_CHANCE)
        await asyncio.sleep(floor.random_source.choice((0.0, 0.0, 0.01, 0.03)))


async def _kill_broker(floor: _CampaignFloor) -> None:
    floor.broker.kill()
    floor.result.fault_counts["broker killed"] += 1
    await asyncio.sleep(floor.random_source.uniform(0.0, 0.05))
    await floor.broker.start()


def _kill_machine(machines: list[CampaignMachine], floor: _CampaignFloor) -> None:
    """Plan to kill one machine after a random step of a hit, and make it hit, so that the step occurs."""
    machine = floor.random_source.choice(machines)
    machine.kill_after(floor.random_source.choice(KILL_POINTS))
    machine.play(hit_chance=1.0)


async def _disconnect(name: str, part: str, floor: _CampaignFloor) -> None:
    """Interrupt the connection of ``name`` to the broker, without either end noticing, and reconnect it later.

    Messages sent meanwhile arrive afterwards if there is still a receiver. ``part`` says what is disconnected, for the
    count of faults.
    """
    relay, seconds = floor.relays[name], floor.random_source.uniform(0.0, _DISCONNECTED_SECONDS_MAX)
    relay.disconnect()
    floor.result.fault_counts[f"{part} disconnected from the broker"] += 1
    if floor.random_source.random() < _LONG_DISCONNECTION_PROBABILITY:
        floor.result.fault_counts["disconnected for longer than the keep-alive time"] += 1
        await asyncio.sleep(_LONG_DISCONNECTION_SECONDS)
    asyncio.get_running_loop().call_later(seconds, relay.reconnect)


def _delay_one_connection(floor: _CampaignFloor) -> None:
    """Delay one connection by more than the time after which its sender repeats a message."""
    floor.relays[floor.random_source.choice(sorted(floor.relays))].delay(
        floor.random_source.uniform(*_DELAY_RANGE_SECONDS)
    )
    floor.result.fault_counts["wire slow"] += 1


def _hit_simultaneously(machines: list[CampaignMachine], floor: _CampaignFloor) -> None:
    """Make both machines hit the level, each before it knows of the other machine's hit."""
    hit_counts = [len(machine.memory.hits) for machine in machines]
    for machine in machines:
        machine.play(hit_chance=1.0)
    if all(len(machine.memory.hits) > n for machine, n in zip(machines, hit_counts, strict=True)):
        floor.result.fault_counts["both hit in one instant"] += 1


#: The function of each disturbance, by name. If it returns a coroutine, this is awaited.
_DISTURBANCES: Final[
    Mapping[str, Callable[[list[CampaignMachine], _CampaignFloor], Coroutine[Any, Any, None] | None]]
] = {
    "broker killed": lambda _, floor: _kill_broker(floor),
    "controller killed": lambda _, floor: floor.controllers.plan_kill(),
    "fail-over": lambda _, floor: floor.controllers.fail_over(),
    "clock wrong": lambda _, floor: floor.controllers.set_wrong_clock(),
    "machine killed": _kill_machine,
    "machine parted": lambda machines, floor: _disconnect(
        floor.random_source.choice(machines).serial, "machine", floor
    ),
    "controller parted": lambda _, floor: _disconnect(CONTROLLER_CERTIFICATE_NAME, "controller", floor),
    "wire slow": lambda _, floor: _delay_one_connection(floor),
    "same instant": _hit_simultaneously,
}


# ---------------------------------------------------------------------------------------------- reconciliation
def _reconcile(definition: LevelDefinition, machines: list[CampaignMachine], floor: _CampaignFloor) -> None:
    """Compare what the machines stored with the controller's ledger and register, and with the published values.

    Differences are recorded as findings.
    """
    result, controller = floor.result, floor.controllers.controller
    findings = result.findings
    record = next(r for r in controller.list_level_records() if r.id == definition.id)
    register = {hit.claim_id: hit for hit in controller.read_win_register() if hit.level_id == definition.id}
    wagers = sum(len(machine.memory.contributions) for machine in machines)
    terms = definition.terms
    if record.level.contributed_amount != wagers * STAKE_CENTS * (terms.increment + terms.hidden_increment):
        findings.append(f"{definition.id}: {record.level.contributed_amount} contributed by {wagers} wagers")
    hits = {name: hit for machine in machines for name, hit in machine.memory.hits.items()}
    if hits.keys() != register.keys():
        findings.append(f"{definition.id}: hits {sorted(hits)} on the machines, {sorted(register)} on record")
    for name in hits.keys() & register.keys():
        hit, line = hits[name], register[name]
        if not line.amount_cents == line.paid_cents == hit.locked_cents == hit.paid_cents:
            findings.append(f"{name}: {line} on record, {hit} on the machine")
        if line.hit_number == hit.fall_count + 1 and line.amount_cents < hit.shown_cents:
            findings.append(f"{name}: {line.amount_cents} awarded, {hit.shown_cents} shown on the machine")
        shown_cents = floor.value_checker.highest_cents(definition.id, line.hit_number - 1)
        if line.amount_cents < shown_cents:
            findings.append(f"{name}: {line.amount_cents} awarded, {shown_cents} shown on the sign")
    if sorted(line.hit_number for line in register.values()) != list(range(1, len(register) + 1)):
        findings.append(f"{definition.id}: hits without a unique order")
    findings += [f"{machine.serial}: {text}" for machine in machines for text in machine.memory.findings]
    result.fault_counts["mystery prize won"] += len(hits) if terms.is_mystery else 0
    result.wagers += wagers
    result.hits += len(hits)
    result.paid_cents += sum(hit.paid_cents or 0 for hit in hits.values())

"""Fault campaign of a progressive link: real broker, real controller and store, real link clients.

A scenario is one level that two machines feed and hit. Following its seed, the broker is killed, the
controller is killed between any two of its statements or disconnected from its store while a second one takes
over, clocks go wrong, machines are killed after any step of a hit, and wires are disconnected or slow. Every
third level is a mystery: the controllers decide who wins it, each by the secret that its predecessor
committed to. Then everything is repaired, and the link must settle with every wager counted once, every hit
paid once with its locked amount and no less than was shown, and every level exact to the fraction. Meanwhile
a listener reads every published value. Messages that are lost one by one, doubled and reordered are shown
without a broker, in ``tests/egm/progressive/test_progressive_client.py``.

A scenario has a time limit: one that makes no progress is reported with what every task was waiting for, and
ends the campaign.
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

from egm.config.levels import Kind, LinkSlot
from egm.progressive.definition import Chance, LevelDefinition, compute_mystery_odds
from egm.progressive.level import Terms
from egm.progressive.pools import Keeper, Pool
from tools.dev.progressive.broker import Broker
from tools.dev.progressive.relay import Relay
from tools.dev.progressive.standstill import standing
from tools.dev.progressive.troubles import QUICK_SECONDS, STEPS, Office, Seat
from tools.dev.progressive.witness import Witness
from tools.floor.progressive.certificates import CONTROLLER, format_sign_name
from tools.floor.progressive.sign import listen
from tools.floor.progressive.store import Store

MACHINES: Final = ("M-1", "M-2")
STAKE_CENTS: Final = 25
SCENARIO_SECONDS: Final = 180.0
_CLEANING_ATTEMPTS: Final = 10
_HIT_CHANCE: Final = 0.12
#: With the hits that a scenario plans, so that none is held for being improbable.
_ODDS: Final = Fraction(1, 2)
#: One level in this many is a mystery.
_MYSTERIES: Final = 3
_WAGERS: Final = 12
_PARTED_SECONDS: Final = 0.2
#: Now and then, longer than the broker and the machines take to give a silent connection up.
_LONG_PARTED_SECONDS: Final = 5.0
_LONG_PARTING: Final = 0.04
_SLOW_SECONDS: Final = (0.02, 0.1)
_BANK: Final = LevelDefinition(
    id="BANK",
    names={"en": "Bank", "fr": "Banque"},
    kind=Kind.LINKED,
    terms=Terms(base_cents=100, increment=Fraction(1, 100), hidden=Fraction(0)),
    chance=Chance(stake_cents=STAKE_CENTS, odds=_ODDS),
)
"""It takes over what each level holds when its scenario is reckoned, and is given up by nobody."""

_RIGHT: Final = "every wager counted once, every hit paid once, nothing shown too low; to the fraction"


@dataclass(slots=True)
class Campaign:
    """Result of a campaign. ``happened``: each fault that really occurred, and how often."""

    seed: int
    scenarios: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    wagers: int = 0
    hits: int = 0
    paid_cents: int = 0
    values_seen: int = 0
    wrong: list[str] = field(default_factory=list)
    standing: list[str] = field(default_factory=list)
    """What every task was waiting for, where a scenario stood still."""

    def lines(self) -> list[str]:
        """Return the report lines."""
        done = f"{self.wagers} wagers, {self.hits} hits, {self.paid_cents} minor units paid, "
        return [
            *(f"{count:8} x {name}" for name, count in sorted(self.happened.items())),
            f"{done}{self.values_seen} values seen",
            *(f"wrong: {text}" for text in self.wrong),
            *self.standing,
            *(() if self.wrong else (_RIGHT,)),
        ]


@dataclass(slots=True)
class _Floor:
    """The machines, broker and controllers of a scenario."""

    broker: Broker
    relays: dict[str, Relay]
    dice: random.Random
    result: Campaign
    witness: Witness
    office: Office = field(init=False)
    seats: list[Seat] = field(default_factory=list)

    def states(self) -> list[str]:
        """Return the state of each part, one line each."""
        parted = [name for name, relay in self.relays.items() if relay.parted]
        broker = (
            f"broker: {'up' if self.broker.up else 'down'}; parted from it: {', '.join(parted) or 'nobody'}"
        )
        return [broker, self.office.state(), *(seat.state() for seat in self.seats)]

    def slot(self, name: str) -> LinkSlot:
        """Return the connection settings for ``name``, over a wire that can be disconnected."""
        return self.broker.slot(name).model_copy(update={"port": self.relays[name].port})


# ---------------------------------------------------------------------------------------------- the run
async def run_campaign(
    result: Campaign,
    folder: Path,
    open_store: Callable[[], Store],
    *,
    scenarios: int,
    progress: Callable[[int], None] = lambda _: None,
    scenario_seconds: float = SCENARIO_SECONDS,
) -> None:
    """Run ``scenarios`` of them; what is done and found is in ``result``, however the run ends.

    Raises BrokerMissingError, or OperatorError where the broker does not come up.
    """
    before = asyncio.all_tasks()
    try:
        async with _floor(folder, open_store, result) as floor:
            for number in range(scenarios):
                if not await _in_time(_scenario(number, floor), scenario_seconds, f"S{number}", floor):
                    break
                result.scenarios += 1
                progress(number + 1)
            else:
                with _named(result, "the whole store"):
                    floor.office.controller.check()
    finally:
        await _end_all(before)


@contextlib.asynccontextmanager
async def _floor(folder: Path, open_store: Callable[[], Store], result: Campaign) -> AsyncIterator[_Floor]:
    dice = random.Random(result.seed)  # noqa: S311 (it must repeat)
    broker = Broker(folder / "link", MACHINES)
    relays = {name: Relay(broker.port) for name in (CONTROLLER, *MACHINES)}
    witness = Witness()
    floor = _Floor(broker, relays, dice, result, witness)
    try:
        await broker.start()
        for relay in relays.values():
            await relay.start()
        office = floor.office = Office(open_store, lambda: floor.slot(CONTROLLER), dice, result.happened)
        office.controller.open_levels([_BANK])
        for machine in MACHINES:
            office.controller.admit(machine)
        watching = asyncio.create_task(_watch(floor), name="witness")
        yield floor
        watching.cancel()
        if not result.standing:
            with _named(result, "the end"):
                await office.end()
    finally:
        result.values_seen = witness.seen
        for relay in relays.values():
            await relay.stop()
        broker.close()


async def _watch(floor: _Floor) -> None:
    """Record every wrong published value as a finding; a missing broker is not one."""
    await listen(
        floor.witness,
        floor.broker.slot(format_sign_name("1")),
        time.monotonic_ns,
        floor.result.wrong.append,
        name=format_sign_name("1"),
        retry_seconds=QUICK_SECONDS,
        lost=lambda _: None,
    )


async def _in_time(work: Coroutine[Any, Any, None], seconds: float, what: str, floor: _Floor) -> bool:
    """Run ``work`` within the limit and return whether it finished; after that, report what is stuck."""
    result = floor.result
    task = asyncio.create_task(work, name=what)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if done:
        with _named(result, what):
            task.result()
        return task.exception() is None
    current = asyncio.current_task()
    result.wrong.append(f"{what}: it stands still: not at rest within {seconds:g} s")
    tasks = standing(each for each in asyncio.all_tasks() if each is not current)
    result.standing = [*floor.states(), *tasks]
    return False


async def _end_all(before: set[asyncio.Task[Any]]) -> None:
    """End every task started since ``before`` was taken, without waiting forever for any of them."""
    for _ in range(_CLEANING_ATTEMPTS):
        left = asyncio.all_tasks() - before
        if not left:
            return
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=1.0)


@contextlib.contextmanager
def _named(result: Campaign, what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        result.wrong.append(f"{what}: {type(error).__name__}: {error}")


# ---------------------------------------------------------------------------------------------- a scenario
def _level(number: int, dice: random.Random) -> LevelDefinition:
    """Return a new level; every third is a mystery, which the controller decides after a few wagers."""
    mystery = number % _MYSTERIES == _MYSTERIES - 1
    base_cents = dice.choice((100, 1_000, 50_000))
    increment = Fraction(dice.randrange(1, 40), dice.randrange(41, 400))
    ceiling_cents = dice.choice((None, 60_000))
    if mystery:
        ceiling_cents = base_cents + max(1, int(increment * STAKE_CENTS * dice.randrange(1, _WAGERS)))
    terms = Terms(
        base_cents=base_cents,
        increment=increment,
        hidden=dice.choice((Fraction(0), Fraction(1, 97))),
        ceiling_cents=ceiling_cents,
        mystery=mystery,
    )
    name = f"S{number}"
    odds = compute_mystery_odds(terms, STAKE_CENTS) if mystery else _ODDS
    chance = Chance(stake_cents=STAKE_CENTS, odds=odds)
    return LevelDefinition(
        id=name, names={"en": name, "fr": name}, kind=Kind.LINKED, terms=terms, chance=chance
    )


async def _scenario(number: int, floor: _Floor) -> None:
    definition, office = _level(number, floor.dice), floor.office
    office.controller.open_levels([definition])
    pool = Pool(definition=definition, game="campaign", level="top", keeper=Keeper.CONTROLLER)
    async with _seats(pool, floor) as seats:
        await _trouble(_plan(floor.result.seed, number), seats, floor)
        for relay in floor.relays.values():
            relay.heal()
        while not all(seat.settled for seat in seats):
            await _revive(seats, office)
            await asyncio.sleep(0.005)
        office.live_on()
        await office.revive()
        await office.settle()
    with _named(floor.result, definition.id):
        _reckon(definition, seats, floor)
        office.controller.give_up(definition.id, _BANK.id)
        floor.result.happened["level given up"] += 1


@contextlib.asynccontextmanager
async def _seats(pool: Pool, floor: _Floor) -> AsyncIterator[list[Seat]]:
    happened = floor.result.happened
    seats = [Seat(serial, pool, floor.slot(serial), floor.dice, happened) for serial in MACHINES]
    floor.seats = seats
    try:
        yield seats
    finally:
        for seat in seats:
            await seat.end()


async def _revive(seats: list[Seat], office: Office) -> None:
    await office.revive()
    for seat in seats:
        await seat.revive()


# ---------------------------------------------------------------------------------------------- disturbances
def _plan(seed: int, number: int) -> dict[int, str]:
    """Return the disturbance before each wager: each kind occurs, combined with others by the seed.

    The dice are separate, because what goes wrong in transit depends on timing.
    """
    dice, kinds = random.Random(f"{seed}.{number}"), tuple(_DISTURBANCES)  # noqa: S311 (it must repeat)
    planned = {kinds[number % len(kinds)], *dice.choices(kinds, k=dice.randrange(3))}
    return dict(zip(dice.sample(range(_WAGERS), len(planned)), sorted(planned), strict=True))


async def _trouble(plan: dict[int, str], seats: list[Seat], floor: _Floor) -> None:
    """Wagers and hits, with what is planned among them."""
    for n in range(_WAGERS):
        await _revive(seats, floor.office)
        if (name := plan.get(n)) is not None:
            disturbing = _DISTURBANCES[name](seats, floor)
            if disturbing is not None:
                await disturbing
        for seat in seats:
            seat.play(_HIT_CHANCE)
        await asyncio.sleep(floor.dice.choice((0.0, 0.0, 0.01, 0.03)))


async def _kill_broker(floor: _Floor) -> None:
    floor.broker.kill()
    floor.result.happened["broker killed"] += 1
    await asyncio.sleep(floor.dice.uniform(0.0, 0.05))
    await floor.broker.start()


def _kill_machine(seats: list[Seat], floor: _Floor) -> None:
    """One machine will die after one step; where it is a step of a hit, it makes one."""
    seat = floor.dice.choice(seats)
    seat.die_after(floor.dice.choice(STEPS))
    seat.play(hit_chance=1.0)


async def _part(name: str, what: str, floor: _Floor) -> None:
    """Disconnect silently; messages sent meanwhile arrive afterwards if there is still a receiver."""
    relay, seconds = floor.relays[name], floor.dice.uniform(0.0, _PARTED_SECONDS)
    relay.part()
    floor.result.happened[f"{what} parted from the broker"] += 1
    if floor.dice.random() < _LONG_PARTING:
        floor.result.happened["parted for longer than a connection is kept"] += 1
        await asyncio.sleep(_LONG_PARTED_SECONDS)
    asyncio.get_running_loop().call_later(seconds, relay.heal)


def _slow(floor: _Floor) -> None:
    """Delay one wire by more than its sender's retry time."""
    floor.relays[floor.dice.choice(sorted(floor.relays))].slow(floor.dice.uniform(*_SLOW_SECONDS))
    floor.result.happened["wire slow"] += 1


def _same_instant(seats: list[Seat], floor: _Floor) -> None:
    """Both hit, and neither knows of the other."""
    before = [len(seat.memory.hits) for seat in seats]
    for seat in seats:
        seat.play(hit_chance=1.0)
    if all(len(seat.memory.hits) > n for seat, n in zip(seats, before, strict=True)):
        floor.result.happened["both hit in one instant"] += 1


_DISTURBANCES: Final[Mapping[str, Callable[[list[Seat], _Floor], Coroutine[Any, Any, None] | None]]] = {
    "broker killed": lambda _, floor: _kill_broker(floor),
    "controller killed": lambda _, floor: floor.office.die_soon(),
    "fail-over": lambda _, floor: floor.office.fail_over(),
    "clock wrong": lambda _, floor: floor.office.mistake_the_time(),
    "machine killed": _kill_machine,
    "machine parted": lambda seats, floor: _part(floor.dice.choice(seats).serial, "machine", floor),
    "controller parted": lambda _, floor: _part(CONTROLLER, "controller", floor),
    "wire slow": lambda _, floor: _slow(floor),
    "same instant": _same_instant,
}
"""What may go wrong, by name; what takes time is awaited."""


# ---------------------------------------------------------------------------------------------- the reckoning
def _reckon(definition: LevelDefinition, seats: list[Seat], floor: _Floor) -> None:
    """Hold the machines' memories against the controller's ledger and register, and what was shown."""
    result, controller = floor.result, floor.office.controller
    wrong = result.wrong
    record = next(r for r in controller.records() if r.id == definition.id)
    register = {hit.claim: hit for hit in controller.register() if hit.level == definition.id}
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
        if line.place == hit.falls + 1 and line.amount_cents < hit.shown_cents:
            wrong.append(f"{name}: {line.amount_cents} awarded, {hit.shown_cents} shown on the machine")
        shown_cents = floor.witness.highest_cents(definition.id, line.place - 1)
        if line.amount_cents < shown_cents:
            wrong.append(f"{name}: {line.amount_cents} awarded, {shown_cents} shown on the sign")
    if sorted(line.place for line in register.values()) != list(range(1, len(register) + 1)):
        wrong.append(f"{definition.id}: hits without an order of their own")
    wrong += [f"{seat.serial}: {text}" for seat in seats for text in seat.memory.complaints]
    result.happened["mystery prize won"] += len(hits) if terms.mystery else 0
    result.wagers += wagers
    result.hits += len(hits)
    result.paid_cents += sum(hit.paid_cents or 0 for hit in hits.values())

"""Faults of the link campaign: on a machine, and on the controllers.

The parts are real. A killed part stays dead, its memory or store survives it, and every fault that really
occurred is counted.
"""

import asyncio
import contextlib
import fcntl
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from egm.config.levels import LinkSlot
from egm.progressive.connection import finish
from egm.progressive.mqtt import MqttCarrier
from egm.progressive.pools import Pool
from tools.dev.progressive.machine import Memory, SimulatedMachine
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.secret_store import SecretStore
from tools.floor.progressive.serve import Service
from tools.floor.progressive.store import (
    DeposedError,
    Row,
    SqliteStore,
    Store,
    StoreBusyError,
    StoreLostError,
)

#: Between two attempts to connect.
QUICK_SECONDS: Final = 0.02
_VALUES_SECONDS: Final = 0.05
#: Where a machine can be killed: after each thing that becomes durable, before what follows from it.
STEPS: Final = ("wager", "hit", "award heard", "award kept", "paid", "closed")
#: A clock may be off by this, either way: more than a day, so that the date is wrong too.
_SKEW_SECONDS: Final = 90_000
#: The links' clocks run this fast: what is sent again after seconds is sent again after a moment.
_FAST: Final = 40
_STALE_NS: Final = 5_000_000_000
_TICK_SECONDS: Final = 0.01
_STATEMENTS_MAX: Final = 60
#: Of the mystery levels' secrets: every controller of one store has the same.
_KEY: Final = bytes(range(32))


class Killed(BaseException):
    """Something was killed here. Not an Exception: nobody may handle it and go on."""


def _fast_ns() -> int:
    return time.monotonic_ns() * _FAST


class Seat:
    """The place of one machine: its memory outlives every life of it."""

    def __init__(
        self, serial: str, pool: Pool, slot: LinkSlot, dice: random.Random, happened: Counter[str]
    ) -> None:
        self.serial = serial
        self.memory = Memory()
        self._pool = pool
        self._slot = slot
        self._dice = dice
        self._happened = happened
        self._deadly = ""
        self._dead = False
        self.machine: SimulatedMachine
        self._task: asyncio.Task[None]
        self.start()

    def start(self) -> None:
        """Start a new run of the machine."""
        self._dead = False
        self.machine = SimulatedMachine(
            self.serial,
            self._pool,
            self.memory,
            MqttCarrier(self._slot, self.serial, retry_seconds=QUICK_SECONDS),
            now_ns=_fast_ns,
            stale_ns=_STALE_NS,
            tick_seconds=_TICK_SECONDS,
            step=self._step,
        )
        self._task = asyncio.create_task(self.machine.run(), name=self.serial)

    @property
    def settled(self) -> bool:
        """Return whether it is running and has no pending message; the last message received may have killed it."""
        return not self._dead and self.machine.settled

    def state(self) -> str:
        """Return its state in one line."""
        memory, machine = self.memory, self.machine
        open_hits = {name: hit for name, hit in memory.hits.items() if not hit.closed}
        return (
            f"{self.serial}: dead {self._dead}, enrolled {machine.joined}, "
            f"{memory.counted} of {len(memory.given)} counted, "
            f"claims {machine.link.claims()}, open {open_hits}, life {memory.boots}"
        )

    def die_after(self, step: str) -> None:
        """Kill the machine when it next completes this step."""
        self._deadly = step

    def _step(self, name: str) -> None:
        if name == self._deadly and not self._dead:
            self._deadly, self._dead = "", True
            self._happened[f"machine killed after: {name}"] += 1
            self._task.cancel()
        if self._dead:
            raise Killed

    def play(self, hit_chance: float) -> None:
        """One wager, unless it is dead; it may be the machine's last."""
        if not self._dead:
            with contextlib.suppress(Killed):
                self.machine.play(self._dice, hit_chance)

    async def revive(self) -> None:
        """Start it again if it is dead. Raises whatever else ended it."""
        if self._dead or self._task.done():
            await self.end()
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


@dataclass(slots=True)
class _Term:
    """One controller at work."""

    store: Store
    controller: Controller
    task: asyncio.Task[None] = field(init=False)
    deadly: int = 0
    dead: bool = False


class Office:
    """Controllers on one store, one after the other: each may die at any statement, or be cut off from it."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        slot: Callable[[], LinkSlot],
        dice: random.Random,
        happened: Counter[str],
    ) -> None:
        """``slot``: how a controller connects now."""
        self._open = open_store
        self._slot = slot
        self._dice = dice
        self._happened = happened
        self._skew = timedelta()
        self._vault = SecretStore(_KEY)
        self._deposed: list[_Term] = []
        self._term = self._take_over(self._open())

    @property
    def controller(self) -> Controller:
        """Return the active controller."""
        return self._term.controller

    def state(self) -> str:
        """Return its state in one line."""
        term = self._term
        return (
            f"controller of term {term.store.term}: at work {not term.task.done()}, before it {self._deposed}"
        )

    def mistake_the_time(self) -> None:
        """From now on the controllers have another idea of the time."""
        self._happened["clock wrong"] += 1
        self._skew = timedelta(seconds=self._dice.uniform(-_SKEW_SECONDS, _SKEW_SECONDS))

    def die_soon(self) -> None:
        """Kill the active controller at one of its next statements."""
        self._term.deadly = self._dice.randrange(1, _STATEMENTS_MAX)

    def live_on(self) -> None:
        """Cancel the planned kill."""
        self._term.deadly = 0

    def _take_over(self, store: Store) -> _Term:
        term = _Term(store, Controller(store, lambda: datetime.now(UTC) + self._skew, self._vault))
        honest = store.run

        def run(sql: str, *values: Any) -> list[Row]:
            if term.dead:  # whatever else it was doing ends with it
                raise Killed
            rows = honest(sql, *values)
            if term.deadly:
                term.deadly -= 1
                if not term.deadly:
                    term.dead = True
                    self._happened["controller killed"] += 1
                    raise Killed
            return rows

        store.run = run  # type: ignore[method-assign]  # a statement at which the process dies
        service = Service(
            term.controller,
            self._slot(),
            lambda _: None,
            values_seconds=_VALUES_SECONDS,
            retry_seconds=QUICK_SECONDS,
        )
        term.task = asyncio.create_task(service.run(), name=f"controller of term {store.term}")
        return term

    async def revive(self) -> None:
        """Let another take over if who works is dead. Raises whatever else ended it."""
        if self._term.task.done():
            await _over(self._term, Killed)
            self._term = self._take_over(await self._freed())

    async def fail_over(self) -> None:
        """Cut who works off from the store, unaware, and let a second controller that stood by take over.

        Raises AssertionError when a second one may work while the first one does.
        """
        await self.revive()
        try:
            self._open().close()
        except StoreBusyError:
            self._happened["second controller stood by"] += 1
        else:
            raise AssertionError("two controllers work on one store")
        self._term.deadly = 0
        self._deposed.append(self._term)
        _cut_off(self._term.store)
        self._term = self._take_over(await self._freed())
        self._happened["second controller took over"] += 1

    async def _freed(self) -> Store:
        """Open the store as soon as its last controller is gone: PostgreSQL notices a little after."""
        while True:
            with contextlib.suppress(StoreBusyError):
                return self._open()
            await asyncio.sleep(QUICK_SECONDS)

    async def settle(self) -> None:
        """Wait until every controller that was deposed has noticed, and stopped by itself."""
        while self._deposed:
            term = self._deposed[-1]
            await asyncio.wait({term.task})
            self._deposed.pop()
            await _over(term, Killed, DeposedError, StoreLostError)
            if not isinstance(term.task.exception(), Killed):  # it was dying while it was cut off
                self._happened["deposed controller stopped by itself"] += 1

    async def end(self) -> None:
        """End them all as they stand."""
        for term in (*self._deposed, self._term):
            await _over(term, Killed, DeposedError, StoreLostError)


async def _over(term: _Term, *expected: type[BaseException]) -> None:
    """End a controller as it stands: the connection to the store is gone with it."""
    term.deadly = 0
    await finish(term.task)
    term.store.rollback()
    term.store.close()
    error = None if term.task.cancelled() else term.task.exception()
    if error is not None and not isinstance(error, expected):
        raise error


def _cut_off(store: Store) -> None:
    """Disconnect a store like a lost network or stopped process: its lock is free and it is not informed."""
    if isinstance(store, SqliteStore):
        fcntl.flock(store._lock, fcntl.LOCK_UN)  # noqa: SLF001 (the lock of a process taken for dead)
    else:
        with contextlib.suppress(StoreLostError):
            store.run("SELECT pg_terminate_backend(pg_backend_pid())")

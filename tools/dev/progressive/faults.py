"""Inject the faults of the link campaign into the machines and the controllers.

The machines and controllers use the real code. When one is killed, it stops for good, but its memory or store remains
for the next run. Every fault that really occurred is counted.
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

from egm.config.levels import ProgressiveLinkTable
from egm.progressive.connection import cancel_tasks
from egm.progressive.mqtt import MqttCarrier
from egm.progressive.pools import ProgressivePool
from tools.dev.progressive.floor import VALUE_STALE_AFTER_NS
from tools.dev.progressive.machine import MachineMemory, SimulatedMachine
from tools.floor.progressive.controller import Controller
from tools.floor.progressive.mystery_secrets import MysterySecrets
from tools.floor.progressive.serve import ControllerService
from tools.floor.progressive.store import (
    DatabaseRow,
    DeposedError,
    SqliteStore,
    Store,
    StoreBusyError,
    StoreLostError,
)

#: Time between two attempts to connect.
RECONNECT_SECONDS: Final = 0.02
_VALUES_INTERVAL_SECONDS: Final = 0.05
#: Points at which a machine can be killed: after each durable change, before its consequences.
KILL_POINTS: Final = ("wager", "hit", "award received", "award stored", "paid", "closed")
#: Maximum clock error in either direction: more than a day, so that the date is wrong too.
_CLOCK_ERROR_SECONDS_MAX: Final = 90_000
#: Speed of the links' clocks, so that retries happen sooner.
_CLOCK_SPEED: Final = 40
_TICK_SECONDS: Final = 0.01
_STATEMENTS_BEFORE_KILL_MAX: Final = 60
#: Key of the mystery levels' secrets, the same for every controller of a store.
_MYSTERY_SECRETS_KEY: Final = bytes(range(32))


class ProcessKilled(BaseException):
    """Raised where a process is killed. It is not an Exception, so that no handler can continue."""


def _read_fast_clock_ns() -> int:
    return time.monotonic_ns() * _CLOCK_SPEED


class CampaignMachine:
    """One machine of the campaign, which is killed and started again; its memory remains."""

    def __init__(
        self,
        serial: str,
        pool: ProgressivePool,
        slot: ProgressiveLinkTable,
        random_source: random.Random,
        fault_counts: Counter[str],
    ) -> None:
        self.serial = serial
        self.memory = MachineMemory()
        self._pool = pool
        self._slot = slot
        self._random_source = random_source
        self._fault_counts = fault_counts
        self._fatal_step = ""
        self._is_dead = False
        self.machine: SimulatedMachine
        self._task: asyncio.Task[None]
        self.start()

    def start(self) -> None:
        """Start the machine again, with its memory."""
        self._is_dead = False
        self.machine = SimulatedMachine(
            self.serial,
            self._pool,
            self.memory,
            MqttCarrier(self._slot, self.serial, retry_seconds=RECONNECT_SECONDS),
            now_ns=_read_fast_clock_ns,
            stale_after_ns=VALUE_STALE_AFTER_NS,
            tick_seconds=_TICK_SECONDS,
            step=self._step,
        )
        self._task = asyncio.create_task(self.machine.run(), name=self.serial)

    @property
    def is_settled(self) -> bool:
        """Return whether the machine is running and every wager and hit is completed.

        It is not running if the last message that it processed killed it.
        """
        return not self._is_dead and self.machine.is_settled

    def format_state(self) -> str:
        """Return the machine's state in one line."""
        memory, machine = self.memory, self.machine
        open_hits = {name: hit for name, hit in memory.hits.items() if not hit.is_closed}
        return (
            f"{self.serial}: dead {self._is_dead}, enrolled {machine.is_enrolled}, "
            f"{memory.last_counted_number} of {len(memory.contributions)} counted, "
            f"claims {machine.link.list_open_claims()}, open {open_hits}, run {memory.run_count}"
        )

    def kill_after(self, step: str) -> None:
        """Kill the machine as soon as it completes this step again."""
        self._fatal_step = step

    def _step(self, name: str) -> None:
        if name == self._fatal_step and not self._is_dead:
            self._fatal_step, self._is_dead = "", True
            self._fault_counts[f"machine killed after: {name}"] += 1
            self._task.cancel()
        if self._is_dead:
            raise ProcessKilled

    def play(self, hit_chance: float) -> None:
        """Play one wager, unless the machine is dead; the wager may kill it."""
        if not self._is_dead:
            with contextlib.suppress(ProcessKilled):
                self.machine.play(self._random_source, hit_chance)

    async def restart_if_dead(self) -> None:
        """Start the machine again if it is dead. Raises any other error that ended it."""
        if self._is_dead or self._task.done():
            await self.end()
            self.start()

    async def end(self) -> None:
        """End the current run. Raises any error except a kill."""
        await cancel_tasks(self._task)
        if self._task.cancelled():
            return
        error = self._task.exception()
        if isinstance(error, BaseExceptionGroup):
            error = error.split((ProcessKilled, asyncio.CancelledError))[1]
        if error is not None and not isinstance(error, ProcessKilled):
            raise error


@dataclass(slots=True)
class _ControllerTerm:
    """One controller's time in charge, from its start until it is killed or replaced, and its store connection."""

    store: Store
    controller: Controller
    task: asyncio.Task[None] = field(init=False)
    statements_until_kill: int = 0
    is_dead: bool = False


class ControllerSuccession:
    """Successive controllers on one store.

    Each of them may be killed at any statement or lose its connection to the store.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        slot: Callable[[], ProgressiveLinkTable],
        random_source: random.Random,
        fault_counts: Counter[str],
    ) -> None:
        """Start the first controller. ``slot`` returns the current connection settings."""
        self._open = open_store
        self._slot = slot
        self._random_source = random_source
        self._fault_counts = fault_counts
        self._skew = timedelta()
        self._mystery_secrets = MysterySecrets(_MYSTERY_SECRETS_KEY)
        self._deposed: list[_ControllerTerm] = []
        self._term = self._start_term(self._open())

    @property
    def controller(self) -> Controller:
        """Return the active controller."""
        return self._term.controller

    def format_state(self) -> str:
        """Return the active controller's state in one line."""
        term = self._term
        return (
            f"controller of term {term.store.term}: running {not term.task.done()}, deposed {self._deposed}"
        )

    def set_wrong_clock(self) -> None:
        """Set the controllers' clock to a wrong time."""
        self._fault_counts["clock wrong"] += 1
        self._skew = timedelta(
            seconds=self._random_source.uniform(-_CLOCK_ERROR_SECONDS_MAX, _CLOCK_ERROR_SECONDS_MAX)
        )

    def plan_kill(self) -> None:
        """Kill the active controller at one of its next statements."""
        self._term.statements_until_kill = self._random_source.randrange(1, _STATEMENTS_BEFORE_KILL_MAX)

    def cancel_kill(self) -> None:
        """Cancel the planned kill."""
        self._term.statements_until_kill = 0

    def _start_term(self, store: Store) -> _ControllerTerm:
        term = _ControllerTerm(
            store, Controller(store, lambda: datetime.now(UTC) + self._skew, self._mystery_secrets)
        )
        original_run = store.run

        def run(sql: str, *values: Any) -> list[DatabaseRow]:
            if term.is_dead:  # everything else that it was doing ends too
                raise ProcessKilled
            rows = original_run(sql, *values)
            if term.statements_until_kill:
                term.statements_until_kill -= 1
                if not term.statements_until_kill:
                    term.is_dead = True
                    self._fault_counts["controller killed"] += 1
                    raise ProcessKilled
            return rows

        store.run = run  # type: ignore[method-assign]  # a statement at which the process dies
        service = ControllerService(
            term.controller,
            self._slot(),
            lambda _: None,
            value_interval_seconds=_VALUES_INTERVAL_SECONDS,
            retry_seconds=RECONNECT_SECONDS,
        )
        term.task = asyncio.create_task(service.run(), name=f"controller of term {store.term}")
        return term

    async def replace_if_dead(self) -> None:
        """Start another controller if the active one was killed. Raises any other error that ended it."""
        if self._term.task.done():
            await _end_term(self._term, ProcessKilled)
            self._term = self._start_term(await self._open_released_store())

    async def fail_over(self) -> None:
        """Disconnect the active controller from the store without its knowledge, and let a second one take over.

        Raises AssertionError if the second controller can open the store while the active one still uses it.
        """
        await self.replace_if_dead()
        try:
            self._open().close()
        except StoreBusyError:
            self._fault_counts["second controller stood by"] += 1
        else:
            raise AssertionError("two controllers work on one store")
        self._term.statements_until_kill = 0
        self._deposed.append(self._term)
        _disconnect_store(self._term.store)
        self._term = self._start_term(await self._open_released_store())
        self._fault_counts["second controller took over"] += 1

    async def _open_released_store(self) -> Store:
        """Open the store once the last controller has released it; PostgreSQL detects this with a delay."""
        while True:
            with contextlib.suppress(StoreBusyError):
                return self._open()
            await asyncio.sleep(RECONNECT_SECONDS)

    async def wait_for_deposed_controllers(self) -> None:
        """Wait until every controller that was replaced has detected this and stopped."""
        while self._deposed:
            term = self._deposed[-1]
            await asyncio.wait({term.task})
            self._deposed.pop()
            await _end_term(term, ProcessKilled, DeposedError, StoreLostError)
            if not isinstance(term.task.exception(), ProcessKilled):  # it was killed while being disconnected
                self._fault_counts["deposed controller stopped by itself"] += 1

    async def end_all(self) -> None:
        """End all controllers."""
        for term in (*self._deposed, self._term):
            await _end_term(term, ProcessKilled, DeposedError, StoreLostError)


async def _end_term(term: _ControllerTerm, *expected: type[BaseException]) -> None:
    """End a controller and close its store. Raises the controller's error unless it is ``expected``."""
    term.statements_until_kill = 0
    await cancel_tasks(term.task)
    term.store.rollback()
    term.store.close()
    error = None if term.task.cancelled() else term.task.exception()
    if error is not None and not isinstance(error, expected):
        raise error


def _disconnect_store(store: Store) -> None:
    """Disconnect a store as a lost network would: its lock is released, but its controller does not notice."""
    if isinstance(store, SqliteStore):
        fcntl.flock(store._lock_descriptor, fcntl.LOCK_UN)  # noqa: SLF001 (the lock of a process presumed dead)
    else:
        with contextlib.suppress(StoreLostError):
            store.run("SELECT pg_terminate_backend(pg_backend_pid())")

"""A loop on which time jumps: when nothing is ready, its clock moves to the next timer instead of waiting.

Work given to threads is done on the spot, so that a run is the same every time.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)


class _JumpingSelector:
    """Never waits: when no descriptor is ready, the clock moves on instead."""

    def __init__(self) -> None:
        self._real = selectors.DefaultSelector()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> object:
        ready = self._real.select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise RuntimeError("every task waits for something that no timer or line will bring")
        self.now += timeout
        return []

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)


class JumpingLoop(asyncio.SelectorEventLoop):
    """The loop; :meth:`time` is its own."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)  # type: ignore[arg-type]  # all of a selector that a loop needs

    def time(self) -> float:
        """Seconds, as far as this loop has jumped."""
        return self._jumping.now

    def run_in_executor(self, executor: object, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Do it at once: a thread would be done whenever it likes, and no two runs would be the same."""
        del executor
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 (whatever it is, whoever awaits it gets it)
            done.set_exception(error)
        return done


class LoopClock:
    """The machine's clock, as the loop jumps: an hour of it may take a second."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        """The time of day, UTC."""
        return BEGINNING + timedelta(seconds=self._loop.time())

    def monotonic_ns(self) -> int:
        """Nanoseconds since the loop's beginning."""
        return int(self._loop.time() * 1e9)


def jump(coroutine: Coroutine[object, object, T]) -> T:
    """Run to the end on a loop whose time jumps."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(coroutine)

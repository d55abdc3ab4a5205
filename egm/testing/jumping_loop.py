"""Event loop that skips waiting time: when nothing is ready, its clock jumps to the next timer.

Functions that would run in threads run immediately, so that every run of a test has the same order.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar, TypeVarTuple

ResultT = TypeVar("ResultT")
ArgumentTs = TypeVarTuple("ArgumentTs")

#: The date and time of a simulated clock when its loop's time is 0; a run begins at the loop's time 1000 s.
SIMULATION_START_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)


class _JumpingSelector:
    """Selector that never waits: when no descriptor is ready, it advances the simulated time."""

    def __init__(self) -> None:
        self._real_selector = selectors.DefaultSelector()
        self.now_seconds = 1000.0

    def select(self, timeout: float | None = None) -> object:
        """Return the ready descriptors; if there are none, advance the simulated time by ``timeout``.

        Raises RuntimeError if the loop would wait forever.
        """
        ready_events = self._real_selector.select(0)
        if ready_events or timeout == 0:
            return ready_events
        if timeout is None:
            raise RuntimeError("every task waits for something that no timer or line will bring")
        self.now_seconds += timeout
        return []

    def __getattr__(self, name: str) -> object:
        return getattr(self._real_selector, name)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop with its own clock (:meth:`time`), which jumps to the next timer instead of waiting."""

    def __init__(self) -> None:
        self._jumping_selector = _JumpingSelector()
        super().__init__(self._jumping_selector)  # type: ignore[arg-type]  # all of a selector that a loop needs

    def time(self) -> float:
        """Return the simulated time in seconds."""
        return self._jumping_selector.now_seconds

    def run_in_executor(
        self, executor: object, func: Callable[[*ArgumentTs], ResultT], *args: *ArgumentTs
    ) -> asyncio.Future[ResultT]:
        """Run the function at once instead of in a thread, so that every run of a test has the same order of events."""
        del executor
        future: asyncio.Future[ResultT] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 (raised again where the result is awaited)
            future.set_exception(error)
        return future


class LoopClock:
    """The machine's clock on a jumping loop, whose simulated time advances without waiting."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        """Return the time of day, UTC."""
        return SIMULATION_START_TIME + timedelta(seconds=self._loop.time())

    def monotonic_ns(self) -> int:
        """Return the loop's time in nanoseconds."""
        return int(self._loop.time() * 1e9)


def jump(coroutine: Coroutine[object, object, ResultT]) -> ResultT:
    """Run a coroutine to its end on a jumping loop."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(coroutine)

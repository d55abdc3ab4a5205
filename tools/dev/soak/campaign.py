"""One soak from its seed: so many actions, with power cuts between them, then rest and reckoning."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from egm.testing.jumping_loop import LoopClock, jump
from tools.dev.soak.floor import Floor
from tools.dev.soak.people import Crowd
from tools.dev.soak.reckoning import Reckoning, reckon

#: For sockets to close before the loop does.
_CLOSING_SECONDS: Final = 1.0
#: One action in so many, the power is cut.
_ACTIONS_A_CUT: Final = 250
_COMING_UP_SECONDS: Final = 60.0


@dataclass(slots=True)
class Soak:
    """What was done, how long it took the cabinet, how often it came into each state, and what came out."""

    seed: int
    actions: Counter[str] = field(default_factory=Counter)
    power_cuts: int = 0
    restarts: int = 0
    """Starts that the staff asked for at the service menu."""
    cabinet_seconds: float = 0.0
    states: Counter[str] = field(default_factory=Counter)
    reckoning: Reckoning = field(default_factory=Reckoning)

    def to_json(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "seed": self.seed,
            "actions": dict(self.actions),
            "power_cuts": self.power_cuts,
            "restarts": self.restarts,
            "cabinet_seconds": round(self.cabinet_seconds, 3),
            "states": dict(self.states),
            "reckoning": asdict(self.reckoning),
        }


def soak(
    root: Path,
    *,
    seed: int,
    actions: int,
    profile: str = "generic",
    cabinet: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Soak:
    """Run a soak in ``root``. Raises what stopped the machine, if anything did."""
    return jump(_soak(root, seed, actions, profile, cabinet, progress))


async def _soak(
    root: Path, seed: int, actions: int, profile: str, cabinet: Path | None, progress: Callable[[int], None]
) -> Soak:
    dice = random.Random(seed)  # noqa: S311 (it must repeat)
    floor = Floor(root, dice.randrange(2**32), cabinet, profile)
    crowd = Crowd(floor, dice)
    result = Soak(seed, crowd.done, states=crowd.player.states)
    began = asyncio.get_running_loop().time()
    floor.start()
    crowd.repair()
    watching = asyncio.ensure_future(crowd.player.attend())
    try:
        for number in range(actions):
            if dice.randrange(_ACTIONS_A_CUT) == 0:
                await floor.stop()
                await crowd.pause()
                floor.start()
                result.power_cuts += 1
                await _up(floor, crowd)
            crowd.act()
            await crowd.pause()
            _still_runs(floor)
            progress(number + 1)
        await crowd.come_to_rest()
        _still_runs(floor)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await floor.stop()
        await asyncio.sleep(_CLOSING_SECONDS)
    result.restarts = floor.restarts
    result.cabinet_seconds = asyncio.get_running_loop().time() - began
    result.reckoning = reckon(floor, LoopClock(asyncio.get_running_loop()).now())
    floor.put_away()
    return result


async def _up(floor: Floor, crowd: Crowd) -> None:
    """Wait until the machine shows itself. It comes up in every condition of its devices."""
    async with asyncio.timeout(_COMING_UP_SECONDS):
        while crowd.player.seen is None:
            _still_runs(floor)
            await asyncio.sleep(0.05)


def _still_runs(floor: Floor) -> None:
    failure = floor.failure()
    if failure is not None:
        raise failure

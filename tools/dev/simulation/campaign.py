"""Campaign of a simulation: a script of actions on one world, with rest and reckoning again and again."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from egm.testing.jumping_loop import jump
from tools.dev.simulation.actions import Action, Crowd, script
from tools.dev.simulation.house import House
from tools.dev.simulation.oracle import Verdict, reckon
from tools.dev.simulation.player import Player
from tools.dev.simulation.world import World

#: For sockets to close before the loop does.
_CLOSING_SECONDS: Final = 1.0
_COMING_UP_SECONDS: Final = 60.0
#: How long the machine may take to come to rest before somebody is stuck.
_REST_SECONDS: Final = 900.0
_REPAIR_TURNS: Final = 30
_QUIET_TURNS: Final = 20
_TURN_SECONDS: Final = 0.7
_PAUSE_SECONDS: Final = 1.5
#: So many actions from one reckoning to the next.
ACTIONS_A_RECKONING: Final = 500


#: A journal is audited again when it has grown so much, so that a long world's cost grows with its length.
_AUDITED_AGAIN: Final = 1.5


class StuckError(Exception):
    """Somebody's money cannot be got out, or the machine does not come up: says what it shows."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a seed decides: a house and a script of actions. ``world``: what decides everything else."""

    world: int
    house: House
    script: Sequence[Action]


@dataclass(slots=True)
class Result:
    """What was done, and what came out."""

    actions: Counter[str] = field(default_factory=Counter)
    cuts: int = 0
    restarts: int = 0
    cabinet_seconds: float = 0.0
    states: Counter[str] = field(default_factory=Counter)
    verdict: Verdict = field(default_factory=Verdict)
    reckonings: int = 0


def simulate(root: Path, case: Case, progress: Callable[[int], None] = lambda _: None) -> Result:
    """Run a case in ``root``. Raises what stopped the machine, or StuckError."""

    async def run() -> Result:
        return await _Run(root, case).run(progress)

    return jump(run())


class _Run:
    def __init__(self, root: Path, case: Case) -> None:
        dice = random.Random(case.world)  # noqa: S311 (it must repeat)
        self._script = case.script
        self._world = World(root, case.house, dice.randrange(2**63))
        self._players = {
            number: Player(self._world, number, random.Random(dice.randrange(2**63)))  # noqa: S311
            for number in range(1, case.house.positions + 1)
        }
        self._crowd = Crowd(self._world, self._players)
        self._result = Result(self._crowd.done)
        self._audited = 0
        """Entries that the journal in use had when it was last audited."""
        self._others: list[asyncio.Task[None]] = []

    async def run(self, progress: Callable[[int], None]) -> Result:
        world, loop = self._world, asyncio.get_running_loop()
        began = loop.time()
        loop.set_exception_handler(self._dying)
        watching = [asyncio.ensure_future(player.attend()) for player in self._players.values()]
        watching += [asyncio.ensure_future(world.bank.attend())] if world.bank else []
        self._others = watching
        world.start()
        try:
            await self._up()
            self._crowd.repair()
            for number, action in enumerate(self._script, 1):
                self._crowd.act(action)
                await asyncio.sleep(self._crowd.pause_seconds(_PAUSE_SECONDS))
                await self._goes_on()
                progress(number)
                if number % ACTIONS_A_RECKONING == 0 and number < len(self._script):
                    await self._reckon(is_last=False)
                    if self._result.verdict.wrong:
                        break
                    world.start()
                    await self._up()
            else:
                await self._reckon(is_last=True)
        finally:
            for each in watching:
                each.cancel()
            for each in watching:
                with suppress(asyncio.CancelledError):
                    await each
            await world.stop(cut=True)
            await asyncio.sleep(_CLOSING_SECONDS)
            world.put_away()
        self._result.cabinet_seconds = loop.time() - began
        self._result.cuts, self._result.restarts = world.cuts, world.restarts
        for player in self._players.values():
            self._result.states += player.states
        return self._result

    def _dying(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """What a process without power still stumbles over is nobody's."""
        if self._world.is_on:
            loop.default_exception_handler(context)

    async def _goes_on(self) -> None:
        """Bring the machine back where its power has gone. Raises what else has ended it."""
        await self._switched_on()
        if not all(player.now for player in self._players.values()):
            await self._up()

    async def _up(self) -> None:
        """Wait until every screen shows something. The machine comes up in every condition of its devices."""
        try:
            async with asyncio.timeout(_COMING_UP_SECONDS):
                while not all(player.sees_machine for player in self._players.values()):
                    await asyncio.sleep(0.05)
                    await self._switched_on()
        except TimeoutError:
            raise StuckError("the machine does not come up") from None

    async def _switched_on(self) -> None:
        for other in self._others:
            if other.done():
                other.result()
        failure = self._world.failure()
        if failure is not None:
            raise failure
        if not self._world.is_on or self._world.is_work_due:
            await self._world.stop()
            self._world.do_work()
            self._world.start()

    async def _reckon(self, *, is_last: bool) -> None:
        """Mend, close and pay out everything, switch off, and hold all against all."""
        self._world.medium.cut_at = self._world.work = None
        await self._come_to_rest()
        self._world.errands = ()
        await self._world.stop()
        self._result.verdict = reckon(
            self._world,
            self._players,
            self._world.now(),
            audit_from=0 if is_last else int(self._audited * _AUDITED_AGAIN),
        )
        self._audited = self._result.verdict.audited or self._audited
        self._result.reckonings += 1

    async def _come_to_rest(self) -> None:
        quiet = turns = 0
        try:
            async with asyncio.timeout(_REST_SECONDS):
                while quiet < _QUIET_TURNS:
                    if turns % _REPAIR_TURNS == 0:  # now and then, as a mechanic comes by
                        self._crowd.repair()
                        self._crowd.close_doors()
                    rests = [self._rests(player) for player in self._players.values()]
                    quiet = quiet + 1 if all(rests) else 0
                    turns += 1
                    await asyncio.sleep(_TURN_SECONDS)
                    await self._goes_on()
        except TimeoutError:
            shown = [player.now for player in self._players.values()]
            devices = {name: self._world.say(name).get("status") for name in self._world.twins}
            raise StuckError(
                f"the machine does not come to rest: devices {devices}; what others wait for {self._waits()};"
                f" screens {shown}"
            ) from None

    def _rests(self, player: Player) -> bool:
        """Whether there is nothing left to do here; does what is next otherwise."""
        now = player.now
        if now is None:
            return False
        if player.ruling_needed:
            self._crowd.rule()
        elif now.state in {"handpay", "tilt", "out_of_service"}:
            self._crowd.turn_key()
        elif now.credit_cents:
            player.leave()
        world = self._world
        still = all(
            world.say(names[player.position])["status"] in {"idle", "disabled"}
            for names in (world.of_kind("bill_acceptor"), world.of_kind("ticket_printer"))
        )
        return (now.state, now.credit_cents, still and not self._waits()) == ("idle", 0, True)

    def _waits(self) -> list[str]:
        """Return who beyond the machine still waits for it: the host, or the controller of a linked level."""
        others = {"host": self._world.bank, "controller": self._world.link}
        return [name for name, other in others.items() if other is not None and other.is_open]


def case_of(seed: int, actions: int, cuts: int) -> Case:
    """The case of a seed."""
    dice = random.Random(seed)  # noqa: S311 (it must repeat)
    house = House.of(dice)
    start = random.Random(f"start of {seed}")  # noqa: S311
    house = replace(
        house, start=start.choice(("file", "signed", *(("asked",) if house.may_be_asked else ())))
    )
    return Case(dice.randrange(2**63), house, script(dice, actions, cuts))

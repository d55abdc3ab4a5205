"""Run a script of actions on one simulated cabinet, and reconcile all money at intervals."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from egm.testing.jumping_loop import jump
from tools.dev.simulation.actions import Action, Crowd, create_script
from tools.dev.simulation.cabinet_setup import CabinetSetup
from tools.dev.simulation.oracle import ReconciliationResult, reconcile
from tools.dev.simulation.player import Player
from tools.dev.simulation.world import SimulatedWorld

#: Time for sockets to close before the loop ends.
_CLOSING_SECONDS: Final = 1.0
_START_SECONDS_MAX: Final = 60.0
#: Time limit for the machine to become idle with all money paid out.
_IDLE_SECONDS_MAX: Final = 900.0
_REPAIR_ATTEMPTS_MAX: Final = 30
_IDLE_TURNS: Final = 20
_TURN_SECONDS: Final = 0.7
_PAUSE_SECONDS: Final = 1.5
#: Number of actions between reconciliations.
ACTIONS_PER_RECONCILIATION: Final = 500

#: Probability that the players of a seed gather at one table.
_GATHERING_PROBABILITY: Final = 0.3
#: Growth after which a journal is audited again, so that the cost of a long world grows linearly.
_AUDIT_GROWTH_FACTOR: Final = 1.5


class StuckError(Exception):
    """Raised if money cannot be paid out, or the machine does not start.

    The message has what the screens show.
    """


@dataclass(frozen=True, slots=True)
class SimulationCase:
    """A cabinet and a script of actions.

    ``world`` is the seed of everything that the script does not decide.
    """

    world: int
    setup: CabinetSetup
    script: Sequence[Action]


@dataclass(slots=True)
class SimulationResult:
    """What a simulation did and found."""

    actions: Counter[str] = field(default_factory=Counter)
    cuts: int = 0
    restarts: int = 0
    cabinet_seconds: float = 0.0
    states: Counter[str] = field(default_factory=Counter)
    verdict: ReconciliationResult = field(default_factory=ReconciliationResult)
    reconciliations: int = 0


def run_case(
    root: Path, case: SimulationCase, progress: Callable[[int], None] = lambda _: None
) -> SimulationResult:
    """Run a case in the folder ``root``. Raises StuckError, or the error that stopped the machine."""

    async def run() -> SimulationResult:
        return await _CaseRun(root, case).run(progress)

    return jump(run())


class _CaseRun:
    def __init__(self, root: Path, case: SimulationCase) -> None:
        random_source = random.Random(case.world)  # noqa: S311 (the sequence must be repeatable)
        self._script = case.script
        self._world = SimulatedWorld(root, case.setup, random_source.randrange(2**63))
        self._players = {
            number: Player(self._world, number, random.Random(random_source.randrange(2**63)))  # noqa: S311
            for number in range(1, case.setup.positions + 1)
        }
        self._crowd = Crowd(self._world, self._players)
        self._result = SimulationResult(self._crowd.done)
        self._audited_entries = 0
        """The number of entries that the current journal had at its last audit."""
        self._background_tasks: list[asyncio.Task[None]] = []

    async def run(self, progress: Callable[[int], None]) -> SimulationResult:
        world, loop = self._world, asyncio.get_running_loop()
        start_seconds = loop.time()
        loop.set_exception_handler(self._handle_loop_error)
        background_tasks = [asyncio.ensure_future(player.watch_screen()) for player in self._players.values()]
        background_tasks += [asyncio.ensure_future(world.host.poll_forever())] if world.host else []
        self._background_tasks = background_tasks
        world.start()
        try:
            await self._wait_until_started()
            self._crowd.repair_devices()
            for number, action in enumerate(self._script, 1):
                self._crowd.perform_action(action)
                await asyncio.sleep(self._crowd.pause_seconds(_PAUSE_SECONDS))
                await self._ensure_running()
                progress(number)
                if number % ACTIONS_PER_RECONCILIATION == 0 and number < len(self._script):
                    await self._reconcile(is_last=False)
                    if self._result.verdict.findings:
                        break
                    world.start()
                    await self._wait_until_started()
            else:
                await self._reconcile(is_last=True)
        finally:
            for task in background_tasks:
                task.cancel()
            for task in background_tasks:
                with suppress(asyncio.CancelledError):
                    await task
            await world.stop(cut=True)
            await asyncio.sleep(_CLOSING_SECONDS)
            world.shut_down_devices()
        self._result.cabinet_seconds = loop.time() - start_seconds
        self._result.cuts, self._result.restarts = world.cuts, world.restarts
        for player in self._players.values():
            self._result.states += player.states
        return self._result

    def _handle_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """Ignore errors of a process that has lost its power; handle others as the event loop does."""
        if self._world.is_on:
            loop.default_exception_handler(context)

    async def _ensure_running(self) -> None:
        """Restart the machine if it has lost power. Raises any other error that ended it."""
        await self._restart_if_off()
        if not all(player.snapshot for player in self._players.values()):
            await self._wait_until_started()

    async def _wait_until_started(self) -> None:
        """Wait until every screen shows the machine; it must start whatever the state of its devices."""
        try:
            async with asyncio.timeout(_START_SECONDS_MAX):
                while not all(player.sees_machine for player in self._players.values()):
                    await asyncio.sleep(0.05)
                    await self._restart_if_off()
        except TimeoutError:
            raise StuckError("the machine does not start") from None

    async def _restart_if_off(self) -> None:
        for task in self._background_tasks:
            if task.done():
                task.result()
        failure = self._world.find_failure()
        if failure is not None:
            raise failure
        if not self._world.is_on or self._world.is_work_pending:
            await self._world.stop()
            self._world.do_pending_work()
            self._world.start()

    async def _reconcile(self, *, is_last: bool) -> None:
        """Repair everything, close all doors, pay all money out, switch off and reconcile."""
        self._world.medium.power_loss_at_operation = self._world.pending_work = None
        await self._wait_until_idle()
        self._world.requested_forms = ()
        await self._world.stop()
        self._result.verdict = reconcile(
            self._world,
            self._players,
            self._world.now(),
            audit_from=0 if is_last else int(self._audited_entries * _AUDIT_GROWTH_FACTOR),
        )
        self._audited_entries = self._result.verdict.audited_entries or self._audited_entries
        self._result.reconciliations += 1

    async def _wait_until_idle(self) -> None:
        idle_turns = turns = 0
        try:
            async with asyncio.timeout(_IDLE_SECONDS_MAX):
                while idle_turns < _IDLE_TURNS:
                    if turns % _REPAIR_ATTEMPTS_MAX == 0:  # at intervals, as a technician would
                        self._crowd.repair_devices()
                        self._crowd.close_doors()
                    idle = [self._step_towards_idle(player) for player in self._players.values()]
                    idle_turns = idle_turns + 1 if all(idle) else 0
                    turns += 1
                    await asyncio.sleep(_TURN_SECONDS)
                    await self._ensure_running()
        except TimeoutError:
            snapshots = [player.snapshot for player in self._players.values()]
            devices = {name: self._world.describe_device(name).get("status") for name in self._world.twins}
            raise StuckError(
                f"the machine does not become idle: devices {devices}; waiting: {self._list_waiting_parties()};"
                f" screens {snapshots}"
            ) from None

    def _step_towards_idle(self, player: Player) -> bool:
        """Take the next step towards an idle machine without credit; return whether it is idle already."""
        snapshot = player.snapshot
        if snapshot is None:
            return False
        if player.needed_ruling_line:
            self._crowd.open_menu_for_ruling()
        elif snapshot.state in {"handpay", "tilt", "out_of_service"}:
            self._crowd.turn_key()
        elif snapshot.credit_cents:
            player.cash_out_or_finish_bet()
        world = self._world
        devices_are_idle = all(
            world.describe_device(names[player.position])["status"] in {"idle", "disabled"}
            for names in (world.find_devices("bill_acceptor"), world.find_devices("ticket_printer"))
        )
        return (
            snapshot.state,
            snapshot.credit_cents,
            devices_are_idle and not self._list_waiting_parties(),
        ) == (
            "idle",
            0,
            True,
        )

    def _list_waiting_parties(self) -> list[str]:
        """Return which of the host and the progressive controller still wait for the machine to complete something."""
        parties = {"host": self._world.host, "controller": self._world.link}
        return [name for name, party in parties.items() if party is not None and party.has_open_items]


def create_case(seed: int, actions: int, cuts: int, *, gathers: bool | None = False) -> SimulationCase:
    """Return the case that a seed determines, with ``actions`` actions and ``cuts`` power cuts.

    ``gathers``: whether its players gather at one table; None if the seed determines that too.
    """
    random_source = random.Random(seed)  # noqa: S311 (the sequence must be repeatable)
    if gathers is None:
        gathers = random.Random(f"gathering of {seed}").random() < _GATHERING_PROBABILITY  # noqa: S311
    setup = CabinetSetup.choose_gathering(random_source) if gathers else CabinetSetup.choose(random_source)
    start = random.Random(f"start of {seed}")  # noqa: S311
    setup = replace(
        setup, start=start.choice(("file", "signed", *(("asked",) if setup.can_use_first_start else ())))
    )
    return SimulationCase(
        random_source.randrange(2**63), setup, create_script(random_source, actions, cuts, gathers=gathers)
    )

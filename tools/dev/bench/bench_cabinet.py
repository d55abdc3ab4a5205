"""The cabinet without screen or devices: whole games, from button to closed, each durable twice."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from egm.app.features import FEATURES, MENU
from egm.clock import SystemClock
from egm.config.cabinet_file import GameSlot
from egm.kernel.credits import CreditKind
from egm.kernel.engine import Engine
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Identity, Machine
from egm.kernel.messages import Decision, Play
from egm.kernel.positions import Position
from egm.kernel.timekeeping import Timekeeper
from egm.money.host_money import HostMoney
from egm.play.events import OutcomeShown
from egm.play.installed_games import admit_games
from egm.play.keys import PlayKey
from egm.profiles import load_profile
from egm.tickets.model import House
from meters import Journal
from rng import Personalization, RandomService
from tools.dev.bench import Figure, bare_table
from tools.dev.bench.bench_meters import fund

TURNS: Final = 100
GAMES_A_TURN: Final = 15
ALONE: Final = Position()


class _Silent:
    """Nobody watches."""

    def show(self, message: Play | Decision) -> None:
        """Let it pass."""


def bench_engine(
    journal: Journal,
    host: HostMoney | None = None,
    *,
    slots: tuple[GameSlot, ...] = (GameSlot(game="maple-classic"),),
    fund_cents: int = 1_000_000,
    position: Position = ALONE,
) -> Engine[Machine]:
    """Return a started machine with ``fund_cents`` (ten thousand dollars) added to its credit meter."""
    profile = load_profile("generic")
    installed, _ = admit_games(slots, profile)
    who = Personalization(product="bench", version="1", machine_serial="BENCH", instance=1, boot_counter=1)
    chance = RandomService.start(personalization=who, policy=profile.chance)
    clock = SystemClock()
    machine = Machine(
        identity=Identity("BENCH", "1", House(site="bench")),
        journal=journal,
        keys=FEATURES.keys,
        entries=FEATURES.entries,
        profile=profile,
        games={game_id: each.game for game_id, each in installed.items()},
        denominations_cents={game_id: r.denominations_cents for game_id, r in installed.items()},
        clock=clock,
        times=Timekeeper(clock),
        chance=chance,
        position=position,
        outbox=_Silent(),
    )
    machine.install(FEATURES)
    machine.install(MENU)
    machine.install(host or HostMoney())
    engine = Engine(machine, FEATURES.rules, lambda: None)
    engine.handle(EventType.MEMORY_READY)
    engine.handle(EventType.SELF_TEST_PASSED)
    fund(journal, fund_cents, position.account(CreditKind.CASHABLE))
    return engine


def _play(engine: Engine[Machine], games: int) -> float:
    """Play the given number of games; return the seconds they took."""
    began = time.perf_counter()
    for _ in range(games):
        engine.handle(EventType.PLAY)
        shown = OutcomeShown(value=engine.machine.memory.get(PlayKey.GAME)["play_id"])
        engine.submit(Event(EventType.SHOWN, shown))
    return time.perf_counter() - began


class BarePairs:
    """Two fsync-ed one-row transactions of a game's size, as SQLite alone does them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._database = bare_table(folder)

    def write(self, pairs: int) -> float:
        """Write the given number of pairs; return the seconds they took."""
        body = b"x" * 1500
        began = time.perf_counter()
        for _ in range(2 * pairs):
            self._database.execute("BEGIN IMMEDIATE")
            self._database.execute("INSERT INTO entry (body) VALUES (?)", (body,))
            self._database.execute("COMMIT")
        return time.perf_counter() - began

    def close(self) -> None:
        """Close the database."""
        self._database.close()


def bare_pairs_per_second(folder: Path, pairs: int) -> float:
    """Return the pairs per second that SQLite alone writes."""
    with closing(BarePairs(folder)) as bare:
        return pairs / bare.write(pairs)


def figures() -> Iterator[Figure]:
    """Durable games per second (draw, evaluate, journal twice), in turns with bare transactions."""
    ours = theirs = 0.0
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
        journal = cleanup.enter_context(Journal.open(folder / "machine", now=SystemClock().now))
        engine = bench_engine(journal)
        bare = cleanup.enter_context(closing(BarePairs(folder / "bare")))
        for _ in range(TURNS):
            ours += _play(engine, GAMES_A_TURN)
            theirs += bare.write(GAMES_A_TURN)
    games = TURNS * GAMES_A_TURN
    yield Figure(
        "durable games, button to closed, both copies",
        games / ours,
        "games/s",
        "2 bare fsync-ed SQLite transactions a game",
        games / theirs,
        aim="0.5",
    )

"""A machine that grows old: what start-up, memory and a day's audit cost after many games, beside after few.

The games are made by the machine's own code, the whole library, without waiting for the disk. One memory
grows to the smaller number of games and then on to the larger: every figure of the larger has that of the
smaller as its baseline, and a ratio of 1 says that age costs nothing. ``EGM_BENCH_GAMES`` sets the larger.
"""

import multiprocessing
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from egm.cabinet.cabinet import Key
from egm.cabinet.engine import Engine
from egm.cabinet.events import EventType
from egm.clock import SystemClock
from egm.config import GameSlot
from meters import Journal, open_view
from meters.archive import STATE
from paytables import library
from tools.audit.games import Shelf
from tools.audit.point import go_on, save
from tools.audit.verify import Auditor
from tools.bench import Figure
from tools.bench.bench_cabinet import bench_engine
from tools.bench.bench_meters import UnsyncedStorage

LIMIT_SECONDS: Final = 4 * 3600.0
GAMES: Final = int(os.environ.get("EGM_BENCH_GAMES", "1000000"))
FIVE_YEARS: Final = 17_500_000
GAMES_A_DAY: Final = FIVE_YEARS // (5 * 365)
_SAME_GAME: Final = 25
_NOTE_CENTS: Final = 10**9


class Player:
    """Plays the whole library on one machine, as a seed says."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self._engine = engine
        self._random = random.Random(seed)  # noqa: S311 (who plays what, not what comes)
        self.games = 0

    def play(self, games: int) -> None:
        """Play so many games, to the end of each."""
        for _ in range(games):
            self._play_one()

    def _play_one(self) -> None:
        engine, cabinet = self._engine, self._engine.cabinet
        if self.games % _SAME_GAME == 0:
            engine.handle(EventType.GAME, value=self._random.choice(sorted(cabinet.games)))
        engine.handle(EventType.PLAY)
        while cabinet.conversation is not None and cabinet.conversation.decision is not None:
            engine.handle(
                EventType.CHOOSE, value=self._random.choice(list(cabinet.conversation.decision.options))
            )
        engine.handle(EventType.SHOWN, value=cabinet.recall(Key.GAME)["play_id"])
        if cabinet.recall(Key.HANDPAY) is not None:
            engine.handle(EventType.KEY_TURNED, key="attendant", reason="bench", detail="")
        self.games += 1


@dataclass(frozen=True, slots=True)
class _Age:
    """What a memory costs at one age."""

    games: int
    start_seconds: float
    resident_bytes: int
    audit_seconds: float
    audited_games: int
    at_hand_bytes: int
    games_at_hand: float
    archive_bytes: int
    games_archived: float


def _in_its_own_process(work: Callable[..., Any], *arguments: object) -> Any:
    """Run ``work`` in a new process: what it holds in memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _start(state: Path) -> tuple[float, int]:
    """Open the memory and read its meters: processor seconds, and the most memory the process then had."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    with Journal.open(state, now=SystemClock().now, storage=UnsyncedStorage()) as journal:
        journal.meters()
        seconds = time.process_time() - began
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10


def _audit(state: Path, point: Path) -> tuple[float, int]:
    """Verify what was added since ``point`` and write the next: processor seconds, and the games replayed."""
    auditor = go_on(point, Shelf()) if point.exists() else Auditor(Shelf())
    before = auditor.report.games
    began = time.process_time()
    with open_view(state) as view:
        auditor.run(view.bodies(auditor.reached[0]))
    save(auditor, point)
    return time.process_time() - began, auditor.report.games - before


def _bytes(*folders: Path) -> int:
    return sum(path.stat().st_size for folder in folders for path in folder.glob("*") if path.is_file())


def _grow(state: Path, games: int, played: int, seed: int) -> None:
    """Let the machine in ``state`` play on until it has played so many games."""
    with Journal.open(state, now=SystemClock().now, storage=UnsyncedStorage()) as journal:
        slots = tuple(GameSlot(game=name) for name in library())
        engine = bench_engine(journal, slots=slots, fund_cents=_NOTE_CENTS)
        Player(engine, seed).play(games - played)


def _aged(state: Path, point: Path, games: int, played: int) -> _Age:
    """Grow to ``games``, with a last day that is audited by itself."""
    _in_its_own_process(_grow, state, games - GAMES_A_DAY, played, played)
    _in_its_own_process(_audit, state, point)
    _in_its_own_process(_grow, state, games, games - GAMES_A_DAY, games)
    start_seconds, resident = _in_its_own_process(_start, state)
    audit_seconds, audited = _in_its_own_process(_audit, state, point)
    with open_view(state) as view:
        reached: Any = view.state(STATE)
        through, sequence = (reached["through"] if reached else 0), view.sequence
    a_game = sequence / games
    archives = state / "archive", state / "second" / "archive"
    return _Age(
        games=games,
        start_seconds=start_seconds,
        resident_bytes=resident,
        audit_seconds=audit_seconds,
        audited_games=audited,
        at_hand_bytes=_bytes(state, state / "second"),
        games_at_hand=(sequence - through) / a_game,
        archive_bytes=_bytes(*archives),
        games_archived=through / a_game,
    )


def _figures(young: _Age, old: _Age) -> Iterator[Figure]:
    def beside(name: str, unit: str, of: Callable[[_Age], float], aim: str, better: str = "lower") -> Figure:
        return Figure(
            name=f"{name}, {old.games:,} games",
            value=of(old),
            unit=unit,
            baseline_name=f"{young.games:,} games",
            baseline=of(young),
            better=better,
            aim=aim,
        )

    yield beside("start-up, both copies checked", "s", lambda a: a.start_seconds, "1; under 5 s")
    yield beside("memory the journal takes", "MiB", lambda a: a.resident_bytes / 2**20, "1")
    yield beside(f"a day's audit ({GAMES_A_DAY:,} games)", "s", lambda a: a.audit_seconds, "1")
    yield beside(
        "audit, one core",
        "games/s",
        lambda a: a.audited_games / a.audit_seconds,
        "10,000 games/s",
        better="higher",
    )
    yield beside("at hand, both copies", "MB", lambda a: a.at_hand_bytes / 1e6, "1")
    yield beside("a game at hand, both copies", "B", lambda a: a.at_hand_bytes / a.games_at_hand, "2,000 B")
    if young.games_archived and old.games_archived:
        yield beside("a game archived, both media", "B", lambda a: a.archive_bytes / a.games_archived, "1")
        total = old.at_hand_bytes + FIVE_YEARS * old.archive_bytes / old.games_archived
        yield Figure(
            name=f"five years ({FIVE_YEARS:,} games), both media",
            value=total / 1e9,
            unit="GB",
            baseline_name="as they would be at hand",
            baseline=FIVE_YEARS * old.at_hand_bytes / old.games_at_hand / 1e9,
            better="lower",
        )


def figures() -> Iterator[Figure]:
    """Yield what age costs."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as folder:
        state, point = Path(folder) / "state", Path(folder) / "point"
        few = max(GAMES // 10, 2 * GAMES_A_DAY)
        young = _aged(state, point, few, 0)
        old = _aged(state, point, GAMES, few)
        yield from _figures(young, old)

"""Cost of age: start-up, memory and a day's audit of a machine after many games, compared with after few games.

The machine's own code plays the whole library without waiting for the disk. One machine is measured after a smaller and
after a larger number of games; the figures after the smaller number are the baseline. A ratio of 1 means that age costs
nothing. Entries move to the archive in segments, so the number of unarchived entries varies. Therefore the last day is
measured at :data:`MEASUREMENTS_ON_LAST_DAY` moments, and the worst of them counts. ``EGM_BENCH_GAMES`` sets the larger
number. Progress is printed on standard error.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from egm.clock import SystemClock
from egm.config.cabinet_file import GameTable
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.money.keys import MoneyKey
from egm.play.events import ChoiceRequest, GameRequest, OutcomeShown
from egm.play.keys import PlayKey
from egm.play.records.games import GameInProgress
from egm.staff.events import Authorisation
from meters import Journal, export, open_view
from meters.archive import ARCHIVE_END_KEY
from meters.machine_key import MachineKey
from meters.storage import DiskStorage
from paytables import list_non_table_games
from tools.audit.games import GameFiles
from tools.audit.saved_state import load_auditor, save_auditor
from tools.cli.terminal import echo
from tools.dev.bench import BenchFigure
from tools.dev.bench.bench_cabinet import start_bench_machine
from tools.dev.bench.bench_meters import UnsyncedStorage

LIMIT_SECONDS: Final = 4 * 3600.0
GAME_COUNT: Final = int(os.environ.get("EGM_BENCH_GAMES", "1000000"))
GAMES_IN_FIVE_YEARS: Final = 17_500_000
GAMES_PER_DAY: Final = GAMES_IN_FIVE_YEARS // (5 * 365)
MEASUREMENTS_ON_LAST_DAY: Final = 6
#: The number of games that one process plays before they are audited.
_GAMES_PER_PROCESS: Final = 50_000
_PROGRESS_INTERVAL_GAMES: Final = 10_000
#: The number of games after which a running machine has loaded everything into memory.
_WARM_UP_GAMES: Final = 5_000
_CONSECUTIVE_PLAYS_OF_A_GAME: Final = 25
_START_CREDIT_CENTS: Final = 10**9


class Player:
    """A player that plays all games of the library on one machine, in an order that the seed determines."""

    def __init__(self, engine: StateMachineEngine[PositionMachine], seed: int) -> None:
        self._engine = engine
        self._random = random.Random(seed)  # noqa: S311 (it chooses players and games, not outcomes)
        self.games = 0

    def play(self, games: int) -> None:
        """Play the given number of games, each to its end."""
        for _ in range(games):
            self._play_one_game()

    def _play_one_game(self) -> None:
        engine, machine = self._engine, self._engine.machine
        if self.games % _CONSECUTIVE_PLAYS_OF_A_GAME == 0:
            engine.submit(
                Event(EventType.SELECT_GAME, GameRequest(game_id=self._random.choice(sorted(machine.games))))
            )
        engine.handle(EventType.PLAY)
        self.finish_open_game()
        self.games += 1

    def finish_open_game(self) -> None:
        """Play the open game to its end, if there is one."""
        engine, machine = self._engine, self._engine.machine
        while (
            machine.component(GameInProgress).stepped_game is not None
            and machine.component(GameInProgress).stepped_game.decision is not None
        ):
            options = list(machine.component(GameInProgress).stepped_game.decision.options)
            engine.submit(Event(EventType.CHOOSE, ChoiceRequest(choice=self._random.choice(options))))
        game = machine.memory.get(PlayKey.GAME)
        if game is not None:
            engine.submit(Event(EventType.OUTCOME_SHOWN, OutcomeShown(play_id=game["play_id"])))
        if machine.memory.get(MoneyKey.HANDPAY) is not None:
            engine.submit(Event(EventType.KEY_TURNED, Authorisation(key="attendant")))


@dataclass(frozen=True, slots=True)
class StartCosts:
    """The cost of starting the machine at one moment, and the size of its files."""

    start_seconds: float
    start_memory_bytes: int
    """Maximum resident memory of the starting process, its program included, in bytes."""
    unarchived_bytes: int
    unarchived_games: float


@dataclass(frozen=True, slots=True)
class AgedMachineCosts:
    """The costs of a machine after ``games`` games, with measurements at several moments of its last day."""

    games: int
    start_costs: tuple[StartCosts, ...]
    memory_growth_per_game_bytes: float
    """How much memory a running machine needs more for each game, after all code is loaded, in bytes."""
    export_seconds: float
    audit_seconds: float
    audited_games: int
    saved_audit_bytes: int
    archive_bytes: int
    archived_games: float

    def find_highest(self, figure: Callable[[StartCosts], float]) -> float:
        """Return the highest value that ``figure`` gives for a moment of the last day."""
        return max(map(figure, self.start_costs))

    @property
    def bytes_per_unarchived_game(self) -> float:
        """Return the bytes per unarchived game on both media, at the moment with most unarchived games.

        At other moments the figure would be too high, because files do not shrink when games are archived.
        """
        fullest = max(self.start_costs, key=lambda instant: instant.unarchived_games)
        return fullest.unarchived_bytes / fullest.unarchived_games


def _print_progress(text: str) -> None:
    echo(f"age: {text}", err=True)


def _run_in_new_process(work: Callable[..., Any], *arguments: object) -> Any:
    """Run ``work`` in a new process, so that its memory is measured separately."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _read_resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _measure_start(state: Path) -> tuple[float, int]:
    """Open the journal and read its meters; return the processor seconds and the process's maximum memory in bytes."""
    started_seconds = time.process_time()
    with Journal.open(state, now=SystemClock().now, storage=UnsyncedStorage()) as journal:
        journal.meters()
        seconds = time.process_time() - started_seconds
        return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _measure_audit(state: Path, point: Path) -> tuple[float, float, int]:
    """Export the entries added since ``point``, audit them and store the next point, as the commands do.

    A point is the stored state of an audit, from which the next audit continues. Return the processor seconds of the
    export and of the audit, and the number of games replayed. Raises RuntimeError if the audit finds an error.
    """
    key, export_path = MachineKey.load(DiskStorage(), state), point.with_name("day.export")
    if key is None:
        raise RuntimeError(f"{state}: no machine key")
    auditor = load_auditor(point, GameFiles())
    game_count_before = auditor.report.game_count
    started_seconds = time.process_time()
    with open_view(state, key=key) as view, export_path.open("wb") as export_file:
        export.write_export(
            view, key, export_file, datetime.now(UTC), after_sequence=auditor.last_entry_checked[0]
        )
    exported_seconds = time.process_time()
    auditor = load_auditor(point, GameFiles())
    with export_path.open("rb") as export_file:
        reader = export.ExportReader(export_file, str(export_path))
        report = auditor.audit_entries(
            reader.iter_bodies(), expected_head=(reader.header.sequence, reader.header.head_hash)
        )
    if report.finding_count or reader.footer_error:
        raise RuntimeError(f"the audit found {report.findings or reader.footer_error}")
    save_auditor(auditor, point)
    export_path.unlink()
    return (
        exported_seconds - started_seconds,
        time.process_time() - exported_seconds,
        report.game_count - game_count_before,
    )


def _sum_folder_bytes(*folders: Path) -> int:
    return sum(path.stat().st_size for folder in folders for path in folder.glob("*") if path.is_file())


def _count_played_games(state: Path) -> int:
    if not (state / "journal.sqlite").exists():
        return 0
    with open_view(state) as view:
        return view.meters().get_value("games_played")


def _play_more_games(state: Path, game_count: int, seed: int) -> float:
    """Play ``game_count`` more games in ``state``; return the memory in bytes that each one added after warm-up."""
    warm_bytes, played_count = 0, 0
    with Journal.open(state, now=SystemClock().now, storage=UnsyncedStorage()) as journal:
        game_tables = tuple(GameTable(game=name) for name in list_non_table_games())
        player = Player(
            start_bench_machine(journal, game_tables=game_tables, credit_cents=_START_CREDIT_CENTS), seed
        )
        player.finish_open_game()
        while played_count < game_count:
            player.play(more_count := min(_WARM_UP_GAMES, game_count - played_count))
            played_count += more_count
            warm_bytes = warm_bytes or _read_resident_bytes()
            if played_count % _PROGRESS_INTERVAL_GAMES == 0:
                _print_progress(f"{played_count:,} of {game_count:,} games, entry {journal.sequence:,}")
        return (_read_resident_bytes() - warm_bytes) / max(1, game_count - _WARM_UP_GAMES)


def _count_archived_games(state: Path) -> tuple[float, float]:
    """Return the number of games in the archive, and the number of games outside it."""
    with open_view(state) as view:
        archive_end: Any = view.state(ARCHIVE_END_KEY)
        archived_sequence = archive_end["through"] if archive_end else 0
        entries_per_game = view.sequence / view.meters().get_value("games_played")
        return archived_sequence / entries_per_game, (view.sequence - archived_sequence) / entries_per_game


def _measure_age(folder: Path, games: int) -> AgedMachineCosts:
    """Play ``games`` games in ``folder``, with regular audits; return the costs, measured on the last day."""
    state, point = folder / "state", folder / "point"
    growth_bytes, played_count = 0.0, _count_played_games(state)
    while played_count < games - GAMES_PER_DAY:
        more_count = min(_GAMES_PER_PROCESS, games - GAMES_PER_DAY - played_count)
        _print_progress(f"{played_count:,} games of {games:,}: playing {more_count:,}")
        growth_bytes = _run_in_new_process(_play_more_games, state, more_count, played_count)
        _run_in_new_process(_measure_audit, state, point)
        played_count = _count_played_games(state)
    start_costs, last_day_games = [], games - played_count
    for instant in range(MEASUREMENTS_ON_LAST_DAY):
        _run_in_new_process(
            _play_more_games,
            state,
            last_day_games * (instant + 1) // MEASUREMENTS_ON_LAST_DAY
            - last_day_games * instant // MEASUREMENTS_ON_LAST_DAY,
            instant,
        )
        start_seconds, start_memory_bytes = _run_in_new_process(_measure_start, state)
        unarchived_bytes = _sum_folder_bytes(state, state / "second")
        start_costs.append(
            StartCosts(start_seconds, start_memory_bytes, unarchived_bytes, _count_archived_games(state)[1])
        )
        _print_progress(f"{_count_played_games(state):,} games: {start_seconds:.3f} s to start")
    export_seconds, audit_seconds, audited_games = _run_in_new_process(_measure_audit, state, point)
    return AgedMachineCosts(
        games=games,
        start_costs=tuple(start_costs),
        memory_growth_per_game_bytes=growth_bytes,
        export_seconds=export_seconds,
        audit_seconds=audit_seconds,
        audited_games=audited_games,
        saved_audit_bytes=point.stat().st_size,
        archive_bytes=_sum_folder_bytes(state / "archive", state / "second" / "archive"),
        archived_games=_count_archived_games(state)[0],
    )


def _measure_age_figures(young_costs: AgedMachineCosts, old_costs: AgedMachineCosts) -> Iterator[BenchFigure]:
    def build_figure(
        name: str,
        unit: str,
        read_figure: Callable[[AgedMachineCosts], float],
        aim: str,
        better_if: str = "lower",
    ) -> BenchFigure:
        return BenchFigure(
            f"{name}, {old_costs.games:,} games",
            read_figure(old_costs),
            unit,
            f"{young_costs.games:,} games",
            read_figure(young_costs),
            better_if=better_if,
            target=aim,
        )

    yield build_figure(
        "start-up, both copies checked, slowest of the day",
        "s",
        lambda costs: costs.find_highest(lambda start_costs: start_costs.start_seconds),
        "1; under 5 s",
    )
    yield build_figure(
        "memory of a process that starts, program and all",
        "MiB",
        lambda costs: costs.find_highest(lambda start_costs: start_costs.start_memory_bytes) / 2**20,
        "1",
    )
    yield build_figure(
        "memory a machine at play takes more a game",
        "B",
        lambda costs: costs.memory_growth_per_game_bytes,
        "0",
    )
    yield build_figure(
        f"a day's export ({GAMES_PER_DAY:,} games)", "s", lambda costs: costs.export_seconds, "1"
    )
    yield build_figure("a day's audit", "s", lambda costs: costs.audit_seconds, "1")
    yield build_figure(
        "audit of the whole library, one core",
        "games/s",
        lambda costs: costs.audited_games / costs.audit_seconds,
        "1",
        better_if="higher",
    )
    yield build_figure("what the verifier keeps", "kB", lambda costs: costs.saved_audit_bytes / 1e3, "1")
    yield build_figure(
        "at hand, both media, at most",
        "MB",
        lambda costs: costs.find_highest(lambda start_costs: start_costs.unarchived_bytes) / 1e6,
        "1",
    )
    yield build_figure(
        "a game at hand, both media, when most are",
        "B",
        lambda costs: costs.bytes_per_unarchived_game,
        "2,000 B",
    )
    if young_costs.archived_games and old_costs.archived_games:
        yield build_figure(
            "a game archived, both media", "B", lambda costs: costs.archive_bytes / costs.archived_games, "1"
        )
        unarchived_bytes_max = old_costs.find_highest(lambda start_costs: start_costs.unarchived_bytes)
        yield BenchFigure(
            f"five years ({GAMES_IN_FIVE_YEARS:,} games), both media",
            (unarchived_bytes_max + GAMES_IN_FIVE_YEARS * old_costs.archive_bytes / old_costs.archived_games)
            / 1e9,
            "GB",
            "as they would be at hand",
            GAMES_IN_FIVE_YEARS * old_costs.bytes_per_unarchived_game / 1e9,
            better_if="lower",
        )


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the figures: the costs of a machine after many games, compared with after few."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as folder:
        young_costs = _measure_age(Path(folder), max(GAME_COUNT // 10, 2 * GAMES_PER_DAY))
        yield from _measure_age_figures(young_costs, _measure_age(Path(folder), GAME_COUNT))

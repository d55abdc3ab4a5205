"""The audit of games without a table: games per second with one and two processes, compared with mere replay."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from egm.clock import SystemClock
from egm.config.cabinet_file import GameTable
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import EventType
from egm.kernel.machine import PositionMachine
from egm.play.entries import GAME_CHOICE, GAME_START
from egm.play.records.games import GameInProgress
from egm.play.stepped_game import SteppedGame
from meters import Journal, open_view
from paytables import Choice, Decision, ReplayDrawSource, Wager, load_game
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.bench import BenchFigure, measure_call, measure_processor_seconds
from tools.dev.bench.bench_cabinet import play, start_bench_machine
from tools.dev.bench.bench_meters import START_CREDIT_CENTS, UnsyncedStorage

GAME: Final = "maple-classic"
#: The number of games audited; their entries are held in memory, so that reading them is not timed.
GAME_COUNT: Final = 20_000
REPLAYED_GAME_COUNT: Final = 2_000
#: The table games audited: for each, the bets of every round. Decisions are answered as advised.
BETS_BY_TABLE_GAME: Final = {
    "quebec-roulette-french": {"red": 5},
    "quebec-sic-bo": {"small": 5},
    "quebec-baccarat": {"bank": 20},
    "quebec-blackjack": {"main": 2},
}
#: How often one process and two processes are measured, alternately; the best measurement of each counts.
MEASUREMENTS: Final = 3


def measure_figures(
    game_count: int = GAME_COUNT, measurement_count: int = MEASUREMENTS
) -> Iterator[BenchFigure]:
    """Yield the figures of the audit; a test calls it with fewer games and measurements."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as folder:
        bodies, games = _write_journal(Path(folder) / "state", GAME, game_count)
    _run_audit(bodies[:REPLAYED_GAME_COUNT], 1)  # loads the definition and compiles the rules
    seconds_with_one_process = min(
        _measure_all_processor_seconds(lambda: _run_audit(bodies, 1)) for _ in range(measurement_count)
    )
    seconds_with_two_processes = min(
        _measure_all_processor_seconds(lambda: _run_audit(bodies, 2)) for _ in range(measurement_count)
    )
    yield BenchFigure(
        f"audit of {game_count:,} plain reel games: chain, books, meters, every game replayed, one core",
        game_count / seconds_with_one_process,
        "games/s",
        "only replaying the games",
        _measure_replay_rate(GAME, games),
        target="15,000 games/s",
    )
    yield BenchFigure(
        "the same with --jobs 2, for each second of processor time of all its processes",
        game_count / seconds_with_two_processes,
        "games/s",
        "with --jobs 1",
        game_count / seconds_with_one_process,
        target="0.9",
    )
    elapsed = [
        (measure_call(lambda: _run_audit(bodies, 1))[0], measure_call(lambda: _run_audit(bodies, 2))[0])
        for _ in range(measurement_count)
    ]
    yield BenchFigure(
        "the same with --jobs 2, for each second elapsed (needs two idle cores)",
        game_count / min(seconds for _, seconds in elapsed),
        "games/s",
        "with --jobs 1",
        game_count / min(seconds for seconds, _ in elapsed),
        target="1.8",
    )
    for game in BETS_BY_TABLE_GAME:
        yield _measure_table_game_audit(game)


def _measure_table_game_audit(game: str) -> BenchFigure:
    """Return the audit's figure for one table game."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as folder:
        bodies, games = _write_journal(Path(folder) / "state", game, REPLAYED_GAME_COUNT)
    _run_audit(bodies, 1)
    return BenchFigure(
        f"audit of {REPLAYED_GAME_COUNT:,} games of {game}, one core",
        REPLAYED_GAME_COUNT
        / min(_measure_all_processor_seconds(lambda: _run_audit(bodies, 1)) for _ in range(MEASUREMENTS)),
        "games/s",
        "only replaying the games",
        _measure_replay_rate(game, games),
        target="5,000 games/s",
    )


def _write_journal(state: Path, game: str, count: int) -> tuple[list[bytes], list[list[Any]]]:
    """Write a journal of ``count`` games; return its entries, and the records of each of the first games."""
    with Journal.open(state, now=SystemClock().now, storage=UnsyncedStorage()) as journal:
        engine = start_bench_machine(
            journal, game_tables=(GameTable(game=game),), credit_cents=START_CREDIT_CENTS
        )
        if bets := BETS_BY_TABLE_GAME.get(game):
            engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
        play(engine, count, answer_decisions)
    games: list[list[Any]] = []
    with open_view(state) as view:
        for entry in view.entries((GAME_START.kind, GAME_CHOICE.kind)):
            if entry.kind == GAME_START.kind:
                games.append([])
            games[-1].append(entry.record)
        return list(view.iter_bodies()), games[:REPLAYED_GAME_COUNT]


def answer_decisions(engine: StateMachineEngine[PositionMachine]) -> None:
    """Answer each decision of the open game as its prompt advises, or with the first option."""
    while (decision := _find_decision(engine)) is not None:
        engine.handle(EventType.CHOOSE, value=decision.prompt.get("advice", decision.options[0]))


def _find_decision(engine: StateMachineEngine[PositionMachine]) -> Decision | None:
    stepped_game = engine.machine.component(GameInProgress).stepped_game
    return None if stepped_game is None else stepped_game.decision


def _run_audit(bodies: Sequence[bytes], jobs: int) -> None:
    report = Auditor(GameFiles()).audit_entries(bodies, jobs=jobs)
    if report.finding_count:
        raise RuntimeError(f"the audit found {report.findings}")


def _measure_all_processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of ``work``, in this process and in the processes that it starts and ends."""
    times_before = os.times()
    work()
    times_after = os.times()
    return sum(times_after[:4]) - sum(times_before[:4])


def _measure_replay_rate(name: str, games: Sequence[Sequence[Any]]) -> float:
    """Return the games per second if recorded draws and choices are only evaluated again, without an audit."""
    game = load_game(name)

    def replay() -> None:
        for start_record, *choice_records in games:
            stepped_game = SteppedGame(
                game, Wager.from_json(start_record["wager"]), start_record.get("table")
            )
            stepped_game.advance(ReplayDrawSource(start_record["steps"][0]["draws"]))
            for choice_record in choice_records:
                stepped_game.advance(
                    ReplayDrawSource(choice_record["draws"]), Choice(choice_record["choice"])
                )

    return len(games) / min(measure_processor_seconds(replay) for _ in range(MEASUREMENTS))

"""Measure a roulette with eight seats, stored on two media: one draw, and a complete game for each seat."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from egm.clock import SystemClock
from egm.config.cabinet_file import GameTable
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.positions import Position
from egm.play.events import BetRequest, OutcomeShown
from egm.play.keys import PlayKey
from egm.seats.table import SharedTables
from meters import Journal
from meters.transaction import JSON
from tools.dev.bench import BareDatabase, BenchFigure, measure_alternately
from tools.dev.bench.bench_cabinet import start_bench_machine

GAME: Final = "quebec-roulette-french"
SEAT_COUNT: Final = 8
TURN_COUNT: Final = 40
ROUNDS_PER_TURN: Final = 4


def _create_table_and_positions(
    journal: Journal,
) -> tuple[SharedTables, list[StateMachineEngine[PositionMachine]]]:
    """Return a table and its eight player positions, each with credits and bets."""
    table, engines = SharedTables(), []
    for number in range(1, SEAT_COUNT + 1):
        engine = start_bench_machine(
            journal, game_tables=(GameTable(game=GAME),), position=Position(number, SEAT_COUNT)
        )
        engine.machine.install(table)
        table.register_position(engine.machine, engine.submit)
        bets: dict[str, JSON] = {"red" if number % 2 else "black": 5}
        engine.submit(Event(EventType.SELECT_BET, BetRequest(bet_credits=5, options={"bets": bets})))
        engines.append(engine)
    return table, engines


def _play_rounds(
    table: SharedTables, engines: list[StateMachineEngine[PositionMachine]], round_count: int
) -> float:
    """Play the given number of rounds; return the elapsed seconds."""
    digest = engines[0].machine.games[GAME].digest
    started_seconds = time.perf_counter()
    for _ in range(round_count):
        for engine in engines:
            engine.handle(EventType.PLAY)
        table.close_betting(digest)
        for engine in engines:
            outcome_shown = OutcomeShown(play_id=engine.machine.memory.get(PlayKey.GAME)["play_id"])
            engine.submit(Event(EventType.OUTCOME_SHOWN, outcome_shown))
    return time.perf_counter() - started_seconds


def measure_figures() -> Iterator[BenchFigure]:
    """Yield rounds of eight seats per second, measured alternately with the same number of bare transactions."""
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
        journal = cleanup.enter_context(Journal.open(folder / "machine", now=SystemClock().now))
        table, engines = _create_table_and_positions(journal)
        bare_database = cleanup.enter_context(closing(BareDatabase(folder)))
        product_seconds, bare_seconds = measure_alternately(
            TURN_COUNT,
            lambda: _play_rounds(table, engines, ROUNDS_PER_TURN),
            lambda: bare_database.write_games(ROUNDS_PER_TURN * SEAT_COUNT),
        )
    round_count = TURN_COUNT * ROUNDS_PER_TURN
    yield BenchFigure(
        f"rounds of {SEAT_COUNT} seats, bets to settlement, both copies",
        round_count / product_seconds,
        "rounds/s",
        f"{2 * SEAT_COUNT} bare fsync-ed SQLite transactions a round",
        round_count / bare_seconds,
    )

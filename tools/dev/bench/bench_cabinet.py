"""Measure complete games of a cabinet without screen or devices, each stored on two media."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from egm.app.features import FEATURES, SERVICE_MENU
from egm.clock import SystemClock
from egm.config.cabinet_file import GameTable
from egm.kernel.credits import CreditKind
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType
from egm.kernel.machine import MachineIdentity, PositionMachine
from egm.kernel.messages import DecisionRequest, GameOutcome
from egm.kernel.positions import Position
from egm.kernel.timekeeping import Timekeeper
from egm.money.host_money import HostMoney
from egm.play.events import OutcomeShown
from egm.play.installed_games import admit_games
from egm.play.keys import PlayKey
from egm.profiles import load_profile
from egm.tickets.model import Venue
from meters import JSON, Journal, Phase, Transaction, Transfer
from rng import Personalization, RandomService
from tools.dev.bench import BareDatabase, BenchFigure, measure_alternately, measure_processor_seconds

TURN_COUNT: Final = 100
GAMES_PER_TURN: Final = 15
#: How often the processor time is measured; the best measurement counts.
PROCESSOR_TIME_MEASUREMENT_COUNT: Final = 5
SINGLE_POSITION: Final = Position()


class _NoScreen:
    """A substitute for the screen that ignores all messages."""

    def send_message(self, message: GameOutcome | DecisionRequest) -> None:
        """Discard the message."""


def start_bench_machine(
    journal: Journal,
    host: HostMoney | None = None,
    *,
    game_tables: tuple[GameTable, ...] = (GameTable(game="maple-classic"),),
    credit_cents: int = 1_000_000,
    position: Position = SINGLE_POSITION,
) -> StateMachineEngine[PositionMachine]:
    """Return a started machine with ``credit_cents`` on its credit meter."""
    profile = load_profile("generic")
    installed_games, _ = admit_games(game_tables, profile)
    personalization = Personalization(
        product="bench", version="1", machine_serial="BENCH", instance=1, boot_counter=1
    )
    random_service = RandomService.start(personalization=personalization, policy=profile.reseed_policy)
    clock = SystemClock()
    machine = PositionMachine(
        identity=MachineIdentity("BENCH", "1", Venue(site="bench")),
        journal=journal,
        storage_keys=FEATURES.storage_keys,
        entry_declarations=FEATURES.entry_declarations,
        profile=profile,
        games={game_id: installed_game.game for game_id, installed_game in installed_games.items()},
        denominations_cents={
            game_id: installed_game.denominations_cents for game_id, installed_game in installed_games.items()
        },
        clock=clock,
        timekeeper=Timekeeper(clock),
        random_service=random_service,
        position=position,
        screen_outbox=_NoScreen(),
    )
    machine.install(FEATURES)
    machine.install(SERVICE_MENU)
    machine.install(host or HostMoney())
    engine = StateMachineEngine(machine, FEATURES.state_table, lambda: None)
    engine.handle(EventType.MEMORY_READY)
    engine.handle(EventType.SELF_TEST_PASSED)
    add_credit(journal, credit_cents, position.name_credit_account(CreditKind.CASHABLE))
    return engine


def add_credit(journal: Journal, cents: int, account: str) -> None:
    """Add ``cents`` to the credit meter, with the journal entries of an inserted bill."""
    paper_id = journal.fresh_id("bill")
    paper_state: dict[str, JSON] = {
        "id": paper_id,
        "amount_cents": cents,
        "ticket": "",
        "phase": "ordered",
        "mark": 0,
    }
    transfers = (Transfer("world:bill", account, cents, {"bill_cents": cents}),)
    journal.append(
        Transaction(
            id=paper_id,
            kind="bill.escrow",
            phase=Phase.RESERVE,
            transfers=transfers,
            state={"paper": paper_state},
        )
    )
    journal.append(
        Transaction(
            id=f"{paper_id}.in",
            kind="bill.in",
            phase=Phase.SETTLE,
            ref=paper_id,
            counts={"bills_accepted": 1},
            state={"paper": paper_state | {"phase": "vended"}},
            record={"amount_cents": cents},
        )
    )
    confirmation_id = journal.fresh_id("bill.confirmed")
    journal.append(Transaction(id=confirmation_id, kind="bill.confirmed", state={"paper": None}))


def play(
    engine: StateMachineEngine[PositionMachine],
    game_count: int,
    answer_decision: Callable[[StateMachineEngine[PositionMachine]], None] = lambda _: None,
) -> float:
    """Play the given number of games and return the elapsed seconds; ``answer_decision`` takes the decisions."""
    started_seconds = time.perf_counter()
    for _ in range(game_count):
        engine.handle(EventType.PLAY)
        answer_decision(engine)
        outcome_shown = OutcomeShown(play_id=engine.machine.memory.get(PlayKey.GAME)["play_id"])
        engine.submit(Event(EventType.OUTCOME_SHOWN, outcome_shown))
    return time.perf_counter() - started_seconds


def measure_figures() -> Iterator[BenchFigure]:
    """Yield durable games per second and the processor time of one, both compared with bare SQLite transactions."""
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
        journal = cleanup.enter_context(Journal.open(folder / "machine", now=SystemClock().now))
        engine = start_bench_machine(journal)
        bare_database = cleanup.enter_context(closing(BareDatabase(folder)))
        game_seconds, bare_seconds = measure_alternately(
            TURN_COUNT,
            lambda: play(engine, GAMES_PER_TURN),
            lambda: bare_database.write_games(GAMES_PER_TURN),
        )
        game_ms, bare_ms = (
            min(measure_processor_seconds(work) for _ in range(PROCESSOR_TIME_MEASUREMENT_COUNT))
            / GAMES_PER_TURN
            * 1000
            for work in (
                lambda: play(engine, GAMES_PER_TURN),
                lambda: bare_database.write_games(GAMES_PER_TURN),
            )
        )
    games = TURN_COUNT * GAMES_PER_TURN
    yield BenchFigure(
        "durable games, button to closed, both copies",
        games / game_seconds,
        "games/s",
        "2 bare fsync-ed SQLite transactions a game",
        games / bare_seconds,
        target="0.5",
    )
    yield BenchFigure(
        "processor time of a durable game, button to closed, both copies",
        game_ms,
        "ms",
        "2 bare fsync-ed SQLite transactions",
        bare_ms,
        better_if="lower",
        target="1.0 ms",
    )

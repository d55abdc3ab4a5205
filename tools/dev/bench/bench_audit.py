"""The audit of plain reel games: games a second with one and with two processes, beside replaying them alone."""

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from egm.clock import SystemClock
from egm.play.entries import GAME_START
from meters import Journal, open_view
from paytables import ReplayDraw, Wager, load_game, play_through
from tools.audit.games import Shelf
from tools.audit.verify import Auditor
from tools.dev.bench import Figure, processor_seconds, timed
from tools.dev.bench.bench_cabinet import bench_engine, play
from tools.dev.bench.bench_meters import FUND_CENTS, UnsyncedStorage

GAME: Final = "maple-classic"
GAMES: Final = 20_000
"""The games audited: their entries are held in memory, so that reading them is not timed."""
REPLAYED: Final = 2_000
ROUNDS: Final = 3
"""One and two processes take turns; the best round of each counts."""


def figures() -> Iterator[Figure]:
    """Yield the figures of the audit."""
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as folder:
        bodies, records = _write_journal(Path(folder) / "state")
    _audit(bodies[:REPLAYED], 1)  # loads the definition and compiles the rules
    one = min(_all_processor_seconds(lambda: _audit(bodies, 1)) for _ in range(ROUNDS))
    two = min(_all_processor_seconds(lambda: _audit(bodies, 2)) for _ in range(ROUNDS))
    yield Figure(
        f"audit of {GAMES:,} plain reel games: chain, books, meters, every game replayed, one core",
        GAMES / one,
        "games/s",
        "only replaying the games",
        _measure_replays(records),
        aim="15,000 games/s",
    )
    yield Figure(
        "the same with --jobs 2, for each second of processor time of all its processes",
        GAMES / two,
        "games/s",
        "with --jobs 1",
        GAMES / one,
        aim="0.9",
    )
    elapsed = [
        (timed(lambda: _audit(bodies, 1))[0], timed(lambda: _audit(bodies, 2))[0]) for _ in range(ROUNDS)
    ]
    yield Figure(
        "the same with --jobs 2, for each second elapsed (needs two idle cores)",
        GAMES / min(seconds for _, seconds in elapsed),
        "games/s",
        "with --jobs 1",
        GAMES / min(seconds for seconds, _ in elapsed),
        aim="1.8",
    )


def _write_journal(state: Path) -> tuple[list[bytes], list[Any]]:
    """Write a journal of ``GAMES`` games; return its entries, and the records of the first games."""
    with Journal.open(state, now=SystemClock().now, storage=UnsyncedStorage()) as journal:
        play(bench_engine(journal, fund_cents=FUND_CENTS), GAMES)
    with open_view(state) as view:
        records = [entry.record for entry in itertools.islice(view.entries(GAME_START.kind), REPLAYED)]
        return list(view.iter_bodies()), records


def _audit(bodies: Sequence[bytes], jobs: int) -> None:
    report = Auditor(Shelf()).run(bodies, jobs=jobs)
    if report.wrong:
        raise RuntimeError(f"the audit found {report.findings}")


def _all_processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds that ``work`` takes in this process and in those that it starts and ends."""
    before = os.times()
    work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def _measure_replays(records: Sequence[Any]) -> float:
    """Return the games a second if nothing is done but evaluating recorded draws."""
    game = load_game(GAME)

    def replay() -> None:
        for record in records:
            play_through(game, Wager.from_json(record["wager"]), ReplayDraw(record["steps"][0]["draws"]))

    return len(records) / processor_seconds(replay)

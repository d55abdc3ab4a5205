"""The journal: durable games and start-up, and how they grow.

``EGM_BENCH_ENTRIES`` sets the size of the larger journal.
"""

import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from meters import JSON, Journal, Phase, Transaction, Transfer, open_view
from meters.entry import encode
from meters.storage import Database, DiskStorage, Rows, StorageFile
from paytables import Game, RecordingDraw, load_game, play_through
from tools.dev.bench import Figure, bare_table, timed

CREDIT: Final = "credit:1:cashable"
ROUNDS: Final = 5
GAMES_A_ROUND: Final = 200
ENTRIES: Final = (10_000, int(os.environ.get("EGM_BENCH_ENTRIES", "50000")))
_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)
_DENOMINATION_CENTS: Final = 5
FUND_CENTS: Final = 10**12


class _Chance:
    """Numbers from a fixed seed; what is timed here is not the generator."""

    def __init__(self) -> None:
        self._random = random.Random(1)  # noqa: S311 (a bench draws nothing for a player)

    def below(self, bound: int, purpose: str) -> int:  # noqa: ARG002 (the contract of a draw)
        """Return the next number."""
        return self._random.randrange(bound)


class _UnsyncedFile:
    """A file whose syncs do nothing: to build a long journal quickly, never to keep one."""

    def __init__(self, file: StorageFile) -> None:
        self.read_at, self.write_at = file.read_at, file.write_at
        self.truncate, self.allocate, self.size = file.truncate, file.allocate, file.size
        self.close = file.close

    def sync(self) -> None:
        """Do nothing."""


class _UnsyncedDatabase:
    """A SQLite database that does not sync to disk."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.close = database.close

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        """Run the statement, with syncing turned off."""
        return self._database.execute(sql.replace("synchronous=FULL", "synchronous=OFF"), parameters)


class UnsyncedStorage(DiskStorage):
    """The real medium, never waited for."""

    def connect(self, path: Path, *, read_only: bool) -> Database:
        """Open ``path``, without syncing."""
        return _UnsyncedDatabase(super().connect(path, read_only=read_only))

    def sync_together(self, files: Sequence[StorageFile]) -> None:
        """Do nothing."""

    def open_file(self, path: Path, *, write: bool) -> StorageFile:
        """Open ``path``, without syncing."""
        return _UnsyncedFile(super().open_file(path, write=write))


def read_clock() -> datetime:
    """Return the fixed time of every entry."""
    return _TIME


def fund(journal: Journal, cents: int, account: str = CREDIT) -> None:
    """Put ``cents`` on the credit meter: a bill as the cabinet records one."""
    paper = journal.fresh_id("bill")
    kept: dict[str, JSON] = {"id": paper, "amount_cents": cents, "ticket": "", "phase": "ordered", "mark": 0}
    moved = (Transfer("world:bill", account, cents, {"bill_cents": cents}),)
    journal.append(
        Transaction(id=paper, kind="bill.escrow", phase=Phase.RESERVE, transfers=moved, state={"paper": kept})
    )
    journal.append(
        Transaction(
            id=f"{paper}.in",
            kind="bill.in",
            phase=Phase.SETTLE,
            ref=paper,
            counts={"bills_accepted": 1},
            state={"paper": kept | {"phase": "vended"}},
            record={"amount_cents": cents},
        )
    )
    confirmed = journal.fresh_id("bill.confirmed")
    journal.append(Transaction(id=confirmed, kind="bill.confirmed", state={"paper": None}))


def iter_game_transactions(
    game: Game, numbers: range, journal: Journal | None = None
) -> Iterator[tuple[Transaction, Transaction]]:
    """Yield the two transactions of each game as the cabinet writes them: real draws, real outcomes.

    Written to ``journal`` one by one, they are what an audit finds nothing wrong with.
    """
    chance = _Chance()
    bet = game.bet_options[0]
    wager = game.wager(bet)
    dims: dict[str, str | int] = {
        "game": game.id,
        "paytable": f"{game.id}@{game.version}",
        "denomination_cents": _DENOMINATION_CENTS,
        "wager_level": bet,
    }
    for number in numbers:
        draw = RecordingDraw(chance)
        outcome = play_through(game, wager, draw)
        play_id = f"play-{number}" if journal is None else journal.fresh_id("play")
        record: dict[str, JSON] = {
            "play_id": play_id,
            "game": {"id": game.id, "version": game.version, "digest": game.digest},
            "denomination_cents": _DENOMINATION_CENTS,
            "bet_credits": bet,
            "wager": wager.to_json(),
            "language": "en",
            "credit_before_cents": 10**6 if journal is None else journal.available_cents(CREDIT),
            "steps": [{"choice": None, "draws": [list(r) for r in draw.records]}],
            "outcome": outcome.to_json(),
        }
        win_cents = outcome.win_credits * _DENOMINATION_CENTS
        yield (
            Transaction(
                id=f"{play_id}.start",
                kind="game.start",
                transfers=(Transfer(CREDIT, "house:wager", bet * _DENOMINATION_CENTS),),
                dims=dims,
                counts={"games_played": 1},
                state={"game": {"play_id": play_id}},
                record=record,
            ),
            Transaction(
                id=f"{play_id}.end",
                kind="game.end",
                transfers=(Transfer("house:win", CREDIT, win_cents),) if win_cents else (),
                dims=dims,
                counts={"games_won" if win_cents else "games_lost": 1},
                state={"game": None, "last_game": {"play_id": play_id, "win_cents": win_cents}},
                record={"play_id": play_id, "win_cents": win_cents},
            ),
        )


def _check(journal: Journal, times: int) -> None:
    for _ in range(times):
        journal.check()


def _durable_games(folder: Path, game: Game) -> Iterator[Figure]:
    """Games in both copies, in turns with the same bytes in bare SQLite transactions on the same disk."""
    bare = bare_table(folder)
    ours = theirs = 0.0
    with Journal.open(folder / "durable", now=read_clock) as journal:
        fund(journal, FUND_CENTS)
        for turn in range(ROUNDS):
            pairs = list(
                iter_game_transactions(game, range(turn * GAMES_A_ROUND, (turn + 1) * GAMES_A_ROUND))
            )
            bodies = [encode(t, 1, _TIME, "0" * 64).body for pair in pairs for t in pair]

            def games(pairs: list[tuple[Transaction, Transaction]] = pairs) -> None:
                for start, end in pairs:
                    journal.append(start)
                    journal.append(end)

            def transactions(bodies: list[bytes] = bodies) -> None:
                for body in bodies:
                    bare.execute("BEGIN IMMEDIATE")
                    bare.execute("INSERT INTO entry (body) VALUES (?)", (body,))
                    bare.execute("COMMIT")

            ours += timed(games)[0]
            theirs += timed(transactions)[0]
        checks = timed(lambda: _check(journal, 200))[0] / 200
    bare.close()
    count = ROUNDS * GAMES_A_ROUND
    yield Figure(
        "durable games, two entries each, both copies",
        count / ours,
        "games/s",
        "the same two bodies in two bare fsync-ed transactions",
        count / theirs,
        aim="0.5",
    )
    yield Figure("check before play (A-03)", checks * 1e6, "us", better="lower")


def _long_journals(folder: Path, game: Game) -> Iterator[Figure]:
    for entries in ENTRIES:
        state = folder / f"long-{entries}"
        with Journal.open(state, now=read_clock, storage=UnsyncedStorage()) as journal:
            fund(journal, FUND_CENTS)
            for start, end in iter_game_transactions(game, range(entries // 2), journal):
                journal.append(start)
                journal.append(end)
        seconds, opened = timed(partial(Journal.open, state, now=read_clock))
        opened.close()
        yield Figure(
            f"start-up, {entries:,} entries, every byte of both copies checked",
            seconds,
            "s",
            better="lower",
            aim="under 5 s at a million",
        )
        yield Figure(
            f"opening to read meters, {entries:,} entries",
            timed(lambda state=state: open_view(state).close())[0] * 1e3,  # type: ignore[misc]
            "ms",
            better="lower",
        )


def figures() -> Iterator[Figure]:
    """Yield the figures of the journal."""
    game = load_game("maple-classic")
    with tempfile.TemporaryDirectory(prefix="egm-bench-") as folder:
        yield from _durable_games(Path(folder), game)
        yield from _long_journals(Path(folder), game)

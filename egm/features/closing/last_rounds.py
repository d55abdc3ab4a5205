"""The last rounds before the tables close: how many each table still plays, and the message that players read.

From the *closing time*, each table plays only its last three rounds. Players are informed during the half hour before
the closing time, and then of the last rounds
(Monaco arts. 5.1, 8.4, 9 and 13.4; the French casino hold'em). A position that plays alone has its own table; positions
that play the same round share one. After its last round a table takes no new bets. Bets that still stand on it (as at
craps) are played until they are decided.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from egm.features.closing.entries import CLOSING_ANNOUNCED
from egm.features.closing.keys import ClosingKey
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.play.records.tables import read_table
from meters.entry import StoredEntry
from meters.recall import PLAY_START_KIND, read_details
from paytables import Game

#: The number of rounds that every table still plays once its closing time has come.
ROUNDS_AFTER_CLOSING_TIME: Final = 3
#: How long before the closing time the closing is announced to the players.
PLAYER_NOTICE_PERIOD: Final = timedelta(minutes=30)


@dataclass(slots=True)
class RoundsSinceClosingTime:
    """A cache of the rounds that each table has started since ``closing_time``, read from the journal."""

    closing_time: str = ""
    last_read_sequence: int = 0
    """The sequence number of the last journal entry that was read."""
    round_ids_by_table: dict[str, set[str]] = field(default_factory=dict)
    """The ids of the rounds that each table has started since the closing time.

    The key is the digest of the game's definition. For a position that plays alone, ``/`` and the position's number
    follow it.
    """


def read_closing_time(machine: PositionMachine) -> datetime | None:
    """Return the time from which each table plays only its last rounds, or None if no closing is announced."""
    stored_time = machine.memory.get(ClosingKey.TABLES_CLOSING_TIME)
    return None if stored_time is None else datetime.fromisoformat(stored_time)


def count_rounds_left(machine: PositionMachine) -> int | None:
    """Return how many rounds the table of the selected game still plays.

    None if the selected game has no table, if no closing is announced, or before the closing time.
    """
    game, closing_time = machine.games.get(machine.selection.game_id), read_closing_time(machine)
    if game is None or closing_time is None or not is_table_game(game) or machine.clock.now() < closing_time:
        return None
    rounds_since_closing = _read_rounds_since_closing(machine, closing_time)
    shared_rounds = rounds_since_closing.round_ids_by_table.get(game.digest, set())
    own_rounds = rounds_since_closing.round_ids_by_table.get(
        f"{game.digest}/{machine.position.number}", set()
    )
    return max(0, ROUNDS_AFTER_CLOSING_TIME - len(shared_rounds | own_rounds))


def is_table_game(game: Game) -> bool:
    """Return whether a game is a table game with betting spots, not a slot game."""
    return bool(game.rules.list_spots())


def _read_rounds_since_closing(machine: PositionMachine, closing_time: datetime) -> RoundsSinceClosingTime:
    """Return the rounds that each table has started since ``closing_time``.

    Journal entries added since the last call are read first.
    """
    rounds_since_closing = machine.component(RoundsSinceClosingTime)
    if rounds_since_closing.closing_time != closing_time.isoformat():
        announcement = next(machine.journal.entries(CLOSING_ANNOUNCED.kind, newest_first=True, limit=1), None)
        rounds_since_closing.closing_time, rounds_since_closing.round_ids_by_table = (
            closing_time.isoformat(),
            {},
        )
        rounds_since_closing.last_read_sequence = 0 if announcement is None else announcement.sequence
    for entry in machine.journal.entries(
        PLAY_START_KIND, after_sequence=rounds_since_closing.last_read_sequence
    ):
        rounds_since_closing.last_read_sequence = entry.sequence
        if entry.time_utc >= closing_time:
            table_id, round_id = find_table_and_round_id(entry)
            rounds_since_closing.round_ids_by_table.setdefault(table_id, set()).add(round_id)
    return rounds_since_closing


def find_table_and_round_id(entry: StoredEntry) -> tuple[str, str]:
    """Return the id of the table and the id of the round that a journal entry starts.

    The table's id is the digest of its game's definition; for a position that plays alone, ``/`` and its number follow.
    """
    record = read_details(entry)
    digest, round_id = str(record["game"]["digest"]), str(record.get("round_id", ""))
    position_number = entry.transaction.dims.get("position", 1)
    return (digest, round_id) if round_id else (f"{digest}/{position_number}", str(record["play_id"]))


def table_is_closed(machine: PositionMachine, _: Event) -> bool:
    """Return whether the table of the selected game has played its last round and no bets stand on it."""
    if count_rounds_left(machine) != 0:
        return False
    table = read_table(machine, machine.games[machine.selection.game_id].digest)
    return table is None or not table.standing_stakes


def notify_table_closed(machine: PositionMachine, _: Event) -> None:
    """Show a notice that the table takes no more bets."""
    machine.notice = Notice(code="table_closed", severity="warning")


def iter_closing_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield the message about the closing of the table to the player who has selected a table game.

    It states the minutes left, the last rounds, or that the table is closed. There is no message until half an hour
    before the closing.
    """
    game, closing_time = machine.games.get(machine.selection.game_id), read_closing_time(machine)
    if game is None or closing_time is None or not is_table_game(game):
        return
    time_left = closing_time - machine.clock.now()
    rounds_left = count_rounds_left(machine)
    if rounds_left is not None:
        code = "last_rounds" if rounds_left > 1 else "last_round" if rounds_left else "table_closes"
        values: dict[str, int | str] = {"rounds": rounds_left} if rounds_left > 1 else {}
        yield Notice(code=code, severity="warning", values=values, is_lasting=True)
    elif time_left <= PLAYER_NOTICE_PERIOD:
        minutes = -(-int(time_left.total_seconds()) // 60)
        yield Notice(code="tables_close", values={"minutes": minutes}, is_lasting=True)

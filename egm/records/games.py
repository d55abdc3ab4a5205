"""The open game and the last one, as the journal tells them.

Each is told once, where it happened: the entries ``game.start`` and ``game.choice`` hold wager, draws,
choices and outcome. The machine's state only points at them by play id; what is held here besides is a copy
in memory of what was just written or read.
"""

from dataclasses import dataclass
from typing import Any, Final

from egm.kernel.credits import CreditKind
from egm.kernel.machine import Machine
from egm.record_codec import from_json
from egm.records.game_record import GameChoice, GamePointer, GameRecord, LastGame, MysteryWon
from egm.records.keys import PlayKey
from meters import StoredEntry

CARRIED_GAME: Final = "game.carried"
"""The kind of entry that tells a game again which an authorised clear has carried over."""
_CASH_OUTS: Final = ("voucher.request", "coins.request", "handpay.pending", "aft.complete")
CHOICE: Final = "game.choice"
"""The kind of entry that takes a game a step further."""
PUSH: Final = "house:push"
"""What stakes are given back from."""
WAGER: Final = "house:wager"
"""Where every stake goes: of a wager, and of what answers add to it."""
MYSTERY_WON: Final = "progressive.won"
"""The kind of entry that adds to a game what a controller found it has won."""


@dataclass(slots=True)
class GameInProgress:
    """What is held of the open game besides the journal, and put together from it again after a restart."""

    conversation: Any = None
    """The game's conversation with its player, at the question it has come to."""
    record: GameRecord | None = None
    """The game last written to the journal or read from it."""


def open_game(machine: Machine) -> GameRecord | None:
    """The game in progress, or None."""
    pointer = machine.memory.read(GamePointer, PlayKey.GAME)
    return None if pointer is None else _game(machine, pointer.play_id)


def beginning(machine: Machine, play_id: str) -> tuple[StoredEntry, GameRecord]:
    """The entry a game begins with in this journal, and the game as it is there.

    It has its first step; all its steps so far where a clear carried it over. Raises KeyError without one.
    """
    start = machine.journal.get(f"{play_id}.start")
    if start is None:
        raise KeyError(f"{play_id} has no beginning in the journal")
    return start, from_json(GameRecord, start.record, f"entry {start.sequence}, {start.kind}")


def last_game(machine: Machine) -> tuple[GameRecord, LastGame] | None:
    """The last finished game and what it paid, or None."""
    pointer = machine.memory.read(LastGame, PlayKey.LAST)
    return None if pointer is None else (_game(machine, pointer.play_id), pointer)


def staked_in(machine: Machine, game: GameRecord) -> tuple[tuple[str, int], ...]:
    """What was staked in the open game and of which credit, in order: account and minor units."""
    if game.staked is not None:  # before a clear, in another journal
        before: tuple[tuple[str, int], ...] = game.staked
    else:
        before = _wagered(machine, f"{game.play_id}.start")
    begun = len(game.steps) if game.raised_credits else 1
    raised = (_wagered(machine, f"{game.play_id}.choice-{number}") for number in range(1, begun))
    return (*before, *(flow for flows in raised for flow in flows))


def _wagered(machine: Machine, entry_id: str) -> tuple[tuple[str, int], ...]:
    entry = machine.journal.get(entry_id)
    flows = () if entry is None else entry.transfers
    return tuple((flow.source, flow.amount_cents) for flow in flows if flow.target == WAGER)


def win_is_taken(machine: Machine, game: GameRecord) -> bool:
    """Whether the player of the last game has cashed out since: WIN does not show it to the next one."""
    end = machine.journal.get(f"{game.play_id}.end")
    mine = {machine.credit(kind) for kind in CreditKind}
    return end is not None and any(
        flow.source in mine
        for entry in machine.journal.entries(_CASH_OUTS, since=end.sequence)
        for flow in entry.transfers
    )


def _game(machine: Machine, play_id: str) -> GameRecord:
    game = machine.state(GameInProgress)
    if game.record is None or game.record.play_id != play_id:
        game.record = _read(machine, play_id)
    return game.record


def _read(machine: Machine, play_id: str) -> GameRecord:
    """Put a game together from its entries."""
    start, game = beginning(machine, play_id)
    for entry in machine.journal.entries((CHOICE, MYSTERY_WON), since=start.sequence):
        where = f"entry {entry.sequence}, {entry.kind}"
        if entry.kind == CHOICE:
            choice = from_json(GameChoice, entry.record, where)
            game = game.after(choice) if choice.play_id == play_id else game
        else:
            won = from_json(MysteryWon, entry.record, where)
            game = game.hitting(won.hits) if won.play_id == play_id else game
    return game

"""The open game and the last one, read from the journal.

The entries ``game.start`` and ``game.choice`` contain wager, draws, choices and outcome. The machine's stored
state only refers to them by play id. The game last written or read is cached in memory.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from egm.kernel.credits import CreditKind
from egm.kernel.machine import PositionMachine
from egm.play.keys import PlayKey
from egm.play.records.game_record import (
    AccountAndCents,
    GameChoice,
    GamePointer,
    GameRecord,
    LastGame,
    MysteryPrizeRecord,
)
from egm.record_codec import from_json
from meters import StoredEntry

#: Kinds of the entries by which a player cashes out.
_CASH_OUT_KINDS: Final = ("voucher.request", "coins.request", "handpay.pending", "aft.complete")
#: The kind of the journal entry of a game's step after the first.
GAME_CHOICE_KIND: Final = "game.choice"
#: The kind of the journal entry of a tournament game's step after the first; such a game is played with points.
TOURNAMENT_GAME_CHOICE_KIND: Final = "tournament.choice"
#: The account from which stakes are returned to the player (a push, or a bet taken down).
PUSH_ACCOUNT: Final = "house:push"
#: The account that receives every stake: wagers, and what the player's answers add to them.
WAGER_ACCOUNT: Final = "house:wager"
#: The kind of the journal entry of a mystery prize that a controller reported; it adds the prize to its game.
MYSTERY_WON_KIND: Final = "progressive.won"


@dataclass(slots=True)
class GameInProgress:
    """The open game in memory, rebuilt from the journal after a restart."""

    stepped_game: Any = None
    """The SteppedGame of the open game, played up to its pending decision or its outcome."""
    record: GameRecord | None = None
    """The record of the open game, or of the game last read from the journal."""


def is_game_open(machine: PositionMachine) -> bool:
    """Return whether a game is in progress, played with credits or with a tournament's points."""
    return any(machine.memory.get(key) is not None for key in (PlayKey.GAME, PlayKey.TOURNAMENT_GAME))


def find_open_game(machine: PositionMachine) -> GameRecord | None:
    """Return the record of the game in progress, played with credits or points; None if no game is open."""
    pointer = machine.memory.read(GamePointer, PlayKey.GAME) or find_tournament_game(machine)
    return None if pointer is None else read_cached_game(machine, pointer.play_id)


def find_tournament_game(machine: PositionMachine) -> GamePointer | None:
    """Return the reference to the tournament game in progress, which is played with points, or None."""
    return machine.memory.read(GamePointer, PlayKey.TOURNAMENT_GAME)


class GameStart(NamedTuple):
    """A game's first entry in this journal, and the game record in it."""

    entry: StoredEntry
    record: GameRecord


def find_game_start(machine: PositionMachine, play_id: str) -> GameStart:
    """Return a game's first entry in this journal, and the game record in it.

    The record has the first step only. If a memory clear carried the game into this journal, it has all steps
    so far. Raises KeyError if there is no such entry.
    """
    entry = machine.journal.get(f"{play_id}.start")
    if entry is None:
        raise KeyError(f"{play_id} has no start entry in the journal")
    return GameStart(entry, from_json(GameRecord, entry.record, f"entry {entry.sequence}, {entry.kind}"))


def find_last_game(machine: PositionMachine) -> tuple[GameRecord, LastGame] | None:
    """Return the last finished game and what it paid, or None."""
    last_game = machine.memory.read(LastGame, PlayKey.LAST_GAME)
    return None if last_game is None else (read_cached_game(machine, last_game.play_id), last_game)


def list_stakes(machine: PositionMachine, game_record: GameRecord) -> tuple[AccountAndCents, ...]:
    """Return the stakes of the open game in the order in which they were made: each its account and minor units."""
    if game_record.stakes_by_account is not None:  # carried over from the journal before a memory clear
        first_stakes: tuple[AccountAndCents, ...] = game_record.stakes_by_account
    else:
        first_stakes = _list_wagers(machine, f"{game_record.play_id}.start")
    step_count = len(game_record.steps) if game_record.raised_credits else 1
    raises = (
        _list_wagers(machine, f"{game_record.play_id}.choice-{number}") for number in range(1, step_count)
    )
    return (*first_stakes, *(transfer for transfers in raises for transfer in transfers))


def _list_wagers(machine: PositionMachine, entry_id: str) -> tuple[AccountAndCents, ...]:
    """Return the stakes that a journal entry posts, each as its account and its amount in minor units."""
    entry = machine.journal.get(entry_id)
    transfers = () if entry is None else entry.transfers
    return tuple(
        (transfer.source, transfer.amount_cents) for transfer in transfers if transfer.target == WAGER_ACCOUNT
    )


def has_cashed_out_since_game(machine: PositionMachine, game_record: GameRecord) -> bool:
    """Return whether the player has cashed out since the last game; its win is then not shown to the next player."""
    end_entry = machine.journal.get(f"{game_record.play_id}.end")
    credit_accounts = {machine.name_credit_account(kind) for kind in CreditKind}
    return end_entry is not None and any(
        transfer.source in credit_accounts
        for entry in machine.journal.entries(_CASH_OUT_KINDS, after_sequence=end_entry.sequence)
        for transfer in entry.transfers
    )


def read_cached_game(machine: PositionMachine, play_id: str) -> GameRecord:
    """Return the record of a game: from the cache if it was the last one read, otherwise from the journal."""
    game_in_progress = machine.component(GameInProgress)
    if game_in_progress.record is None or game_in_progress.record.play_id != play_id:
        game_in_progress.record = _rebuild_game(machine, play_id)
    return game_in_progress.record


def _rebuild_game(machine: PositionMachine, play_id: str) -> GameRecord:
    """Return a game rebuilt from all its journal entries."""
    start_entry, game_record = find_game_start(machine, play_id)
    for entry in machine.journal.entries(
        (GAME_CHOICE_KIND, TOURNAMENT_GAME_CHOICE_KIND, MYSTERY_WON_KIND), after_sequence=start_entry.sequence
    ):
        location = f"entry {entry.sequence}, {entry.kind}"
        if entry.kind != MYSTERY_WON_KIND:
            choice = from_json(GameChoice, entry.record, location)
            game_record = game_record.with_step(choice) if choice.play_id == play_id else game_record
        else:
            prize = from_json(MysteryPrizeRecord, entry.record, location)
            game_record = game_record.with_hits(prize.hits) if prize.play_id == play_id else game_record
    return game_record

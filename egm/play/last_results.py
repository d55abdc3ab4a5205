"""How the last rounds at a table ended, newest first, as recorded games tell it; of a shoe, since it was new.

They are shown to the player, and foretell nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from egm.kernel.machine import Machine
from egm.record_codec import from_json
from egm.records.game_record import GameChoice, GameRecord
from egm.records.games import CHOICE, open_game
from meters.entry import StoredEntry
from meters.recall import PLAY_ENDS, PLAY_START

#: So many results of a table are kept; after a start they are looked for in so many entries.
KEPT: Final = 200
_LOOKED_AT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Result:
    """How a round ended; ``round_id`` where several seats have played it, each with a game of its own."""

    said: str
    round_id: str = ""


@dataclass(slots=True)
class LastResults:
    """What has been read of the journal: results by definition, and how far."""

    by_digest: dict[str, tuple[Result, ...]] = field(default_factory=dict)
    read_to: int = 0
    begun: dict[str, tuple[GameRecord, Mapping[str, object]]] = field(default_factory=dict)
    """Games whose end has not been read: which, and what they show so far."""


def last_results(machine: Machine) -> tuple[str, ...]:
    """The results of the selected table, newest first; of no other game, and of no round still shown."""
    game = machine.games.get(machine.selection.game_id)
    if game is None or not game.rules.layout():
        return ()
    known, opened = machine.state(LastResults), open_game(machine)
    kinds, since = (PLAY_START, CHOICE, *PLAY_ENDS), known.read_to
    if since < machine.journal.sequence:
        known.read_to = machine.journal.sequence
        new = machine.journal.entries(kinds, since=since, limit=_LOOKED_AT, newest_first=True)
        for entry in reversed(list(new)):
            _read(known, entry)
    shown_id = "" if opened is None else opened.round_id
    ended = known.by_digest.get(game.digest, ())
    return tuple(each.said for each in ended if not shown_id or each.round_id != shown_id)


def _read(known: LastResults, entry: StoredEntry) -> None:
    where = f"entry {entry.sequence}, {entry.kind}"
    if entry.kind == PLAY_START:
        game = from_json(GameRecord, entry.record, where)
        known.begun[game.play_id] = (game, {} if game.outcome is None else game.outcome.display)
    elif entry.kind == CHOICE:
        choice = from_json(GameChoice, entry.record, where)
        if choice.play_id in known.begun and choice.outcome is not None:
            known.begun[choice.play_id] = (known.begun[choice.play_id][0], choice.outcome.display)
    elif isinstance(entry.record, Mapping):
        begun = known.begun.pop(str(entry.record.get("play_id")), None)
        if begun is not None and "result" in begun[1]:
            _ended(known, *begun)


def _ended(known: LastResults, game: GameRecord, display: Mapping[str, object]) -> None:
    """Keep a result; a round of several seats has one, whoever comes to its end first."""
    digest = game.game.digest
    kept = known.by_digest.get(digest, ())
    if game.round_id and any(each.round_id == game.round_id for each in kept):
        return
    before = () if display.get("new_shoe") else kept
    known.by_digest[digest] = (Result(str(display["result"]), game.round_id), *before)[:KEPT]

"""The results of the last rounds at a table, newest first, read from the recorded games.

At games with a shoe, only results since the last new shoe are included. They are displayed to the player and do
not predict later rounds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from egm.kernel.machine import PositionMachine
from egm.play.records.game_record import GameChoice, GameRecord
from egm.play.records.games import GAME_CHOICE_KIND, find_open_game
from egm.record_codec import from_json
from meters.entry import StoredEntry
from meters.recall import PLAY_END_KINDS, PLAY_START_KINDS

#: Number of results shown per table.
LAST_RESULTS_MAX: Final = 200
#: The most journal entries that one search for new results reads.
ENTRIES_READ_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class TableResult:
    """The result of one round at a table, as text for the screen."""

    text: str
    round_id: str = ""
    """The id of the shared round or wheel spin to which the game belongs; empty if it is played alone."""


class StartedGame(NamedTuple):
    """A game whose end has not been read yet: its record and its latest display data."""

    record: GameRecord
    display: Mapping[str, object]


@dataclass(slots=True)
class LastResults:
    """The tables' results read from the journal so far, by the digest of the game's definition."""

    results_by_digest: dict[str, tuple[TableResult, ...]] = field(default_factory=dict)
    last_sequence_read: int = 0
    """The sequence number of the last journal entry read."""
    started_game_by_play_id: dict[str, StartedGame] = field(default_factory=dict)
    """Games whose end has not been read yet, by play id."""


def list_last_results(machine: PositionMachine) -> tuple[str, ...]:
    """Return the results of the selected game's table, newest first, without the round that is still being shown."""
    game = machine.games.get(machine.selection.game_id)
    if game is None or not game.rules.list_spots():
        return ()
    results, shown_game_record = machine.component(LastResults), find_open_game(machine)
    if results.last_sequence_read < machine.journal.sequence:
        new_entries = machine.journal.entries(
            (*PLAY_START_KINDS, GAME_CHOICE_KIND, *PLAY_END_KINDS),
            after_sequence=results.last_sequence_read,
            limit=ENTRIES_READ_MAX,
            newest_first=True,
        )
        results.last_sequence_read = machine.journal.sequence
        for entry in reversed(list(new_entries)):
            _read_entry(results, entry)
    shown_id = "" if shown_game_record is None else shown_game_record.round_id
    results_of_game = results.results_by_digest.get(game.digest, ())
    return tuple(result.text for result in results_of_game if not shown_id or result.round_id != shown_id)


def _read_entry(results: LastResults, entry: StoredEntry) -> None:
    """Update the tables' results from a journal entry: a game's start, a choice, or its end."""
    location = f"entry {entry.sequence}, {entry.kind}"
    if entry.kind in PLAY_START_KINDS:
        game_record = from_json(GameRecord, entry.record, location)
        if game_record.end_entry_kind:  # it had ended before the memory clear that carried it over
            return
        display = {} if game_record.outcome is None else game_record.outcome.display
        results.started_game_by_play_id[game_record.play_id] = StartedGame(game_record, display)
    elif entry.kind == GAME_CHOICE_KIND:
        choice = from_json(GameChoice, entry.record, location)
        if choice.play_id in results.started_game_by_play_id and choice.outcome is not None:
            started_game = results.started_game_by_play_id[choice.play_id]
            results.started_game_by_play_id[choice.play_id] = started_game._replace(
                display=choice.outcome.display
            )
    elif isinstance(entry.record, Mapping):
        ended_game = results.started_game_by_play_id.pop(str(entry.record.get("play_id")), None)
        if ended_game is not None and "result" in ended_game.display:
            _add_result(results, ended_game)


def _add_result(results: LastResults, ended_game: StartedGame) -> None:
    """Add the result of an ended game to the results of its table; add a round of several seats only once."""
    game_record, display = ended_game
    digest = game_record.game_reference.digest
    earlier_results = results.results_by_digest.get(digest, ())
    if game_record.round_id and any(result.round_id == game_record.round_id for result in earlier_results):
        return
    remaining_results = () if display.get("new_shoe") else earlier_results
    results.results_by_digest[digest] = (
        TableResult(str(display["result"]), game_record.round_id),
        *remaining_results,
    )[:LAST_RESULTS_MAX]

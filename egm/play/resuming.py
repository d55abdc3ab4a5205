"""Resuming of the open game after a restart, a door opening or a tilt, by replaying its record without new draws."""

from egm.kernel.events import Event, EventType, FaultChange
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.play import prizes_in_kind
from egm.play.definitions import find_definition
from egm.play.entries import GAME_REPLAY_DIFFERS, ReplayDifference
from egm.play.game_messages import send_screen_update
from egm.play.records.game_record import GameRecord
from egm.play.records.games import GameInProgress
from egm.play.rounds import require_open_game
from egm.play.stepped_game import REPLAY_ERRORS, SteppedGame, UnreplayableGame, replay_game


@refusal_code("ended_game_has_conversation")
def stepped_game_is_loaded(machine: PositionMachine, _: Event) -> bool:
    """Return whether a game's object (its :class:`SteppedGame`) is still in memory.

    The only rule with this guard applies in all states except PLAYING: the game has ended or is interrupted.
    """
    return machine.component(GameInProgress).stepped_game is not None


def unload_ended_game(machine: PositionMachine, _: Event) -> None:
    """Remove an ended or interrupted game's object from memory, so that late screen messages about it are ignored."""
    machine.component(GameInProgress).stepped_game = None


@refusal_code("open_game_has_no_conversation")
def stepped_game_is_not_loaded(machine: PositionMachine, _: Event) -> bool:
    """Return whether the open game is not in memory and must be replayed: after a restart, a door opening or a tilt."""
    return machine.component(GameInProgress).stepped_game is None


def resume_open_game(machine: PositionMachine, _: Event) -> Event | None:
    """Replay the open game and show it again; return a fault event if that is not possible.

    A decided game is shown and paid as recorded, even if its definition has changed. If its draws no longer
    give the recorded outcome, the difference is recorded for staff to investigate. An undecided game continues
    with the definition it started with. If it cannot be replayed, it is defective: the machine tilts until it
    can be replayed, or until staff rule on it.
    """
    try:
        game_record = require_open_game(machine)
        machine.component(GameInProgress).stepped_game = _rebuild_open_game(machine, game_record)
    except REPLAY_ERRORS as error:
        return Event(EventType.FAULT_RAISED, FaultChange(code="game_defective", detail=str(error)))
    send_screen_update(machine, is_resumed=True)
    return None


def _rebuild_open_game(machine: PositionMachine, game_record: GameRecord) -> "SteppedGame | UnreplayableGame":
    """Return the open game replayed from its record.

    A decided game that cannot be replayed is returned as an :class:`UnreplayableGame` with its recorded
    outcome. Raises one of :data:`REPLAY_ERRORS` if an undecided game cannot be replayed.
    """
    try:
        return replay_game(find_definition(machine, game_record.game_reference), game_record)
    except REPLAY_ERRORS as error:
        if game_record.outcome is None:
            raise
        # Called because it raises if the definition is lost: only that has the value of a won prize in kind.
        prizes_in_kind.list_won_prizes(machine, game_record)
        _record_replay_difference(machine, game_record, error)
        return UnreplayableGame()


def _record_replay_difference(machine: PositionMachine, game_record: GameRecord, error: Exception) -> None:
    """Record once that replaying the draws of a decided game, which is paid as recorded, did not give its outcome."""
    entry_id = f"{game_record.play_id}.differs"
    if not machine.journal.has_entry(entry_id):
        machine.post(
            GAME_REPLAY_DIFFERS,
            ReplayDifference(
                play_id=game_record.play_id, difference=str(error), returned_cents=game_record.returned_cents
            ),
            entry_id=entry_id,
        )
    machine.notice = Notice(code="game_differs", severity="alarm")

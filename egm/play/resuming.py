"""Resume the open game after a restart, a door opening or a tilt: it is replayed from its record, not drawn again."""

from egm.kernel.events import Event, EventType, FaultChange
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.play import prizes_in_kind as merchandise
from egm.play.conversation import REPLAY_ERRORS, GameConversation, UnreplayableGame, replay_game
from egm.play.definitions import find_definition
from egm.play.entries import GAME_DIFFERS, ReplayDifference
from egm.play.records.game_record import GameRecord
from egm.play.records.games import GameInProgress
from egm.play.rounds import require_open_game
from egm.play.showing import send_screen_update


def ended_game_has_conversation(machine: Machine, _: Event) -> bool:
    """Return whether the replayed game (GameConversation) is still in memory although it is no longer shown."""
    return machine.component(GameInProgress).conversation is not None


def end_conversation(machine: Machine, _: Event) -> None:
    """Remove the replayed game from memory, so that screen messages about a game no longer shown are ignored."""
    machine.component(GameInProgress).conversation = None


def open_game_has_no_conversation(machine: Machine, _: Event) -> bool:
    """Return whether the open game must be replayed into memory, after a restart, a door opening or a tilt."""
    return machine.component(GameInProgress).conversation is None


def resume_open_game(machine: Machine, _: Event) -> Event | None:
    """Resume the open game from its record and show it again, or return a fault event if it cannot be resumed.

    A decided game is shown and paid as recorded, even if its definition has changed. If its draws no longer
    give the recorded outcome, the difference is recorded for staff to investigate. An undecided game
    continues with the definition it started with. If it cannot, it is defective: the machine tilts until it
    can continue, or until staff rule on it.
    """
    try:
        game = require_open_game(machine)
        machine.component(GameInProgress).conversation = _rebuild_open_game(machine, game)
    except REPLAY_ERRORS as error:
        return Event(EventType.FAULT_RAISED, FaultChange(code="game_defective", detail=str(error)))
    send_screen_update(machine, resumed=True)
    return None


def _rebuild_open_game(machine: Machine, game: GameRecord) -> "GameConversation | UnreplayableGame":
    """Return the open game replayed from its record, or as its outcome was recorded.

    Only a decided game may be shown as recorded. Raises one of :data:`REPLAY_ERRORS` for an undecided game.
    """
    try:
        return replay_game(find_definition(machine, game.game), game)
    except REPLAY_ERRORS as error:
        if game.outcome is None:
            raise
        merchandise.list_won_prizes(machine, game)  # only the definition has the value of a prize in kind
        _record_replay_difference(machine, game, error)
        return UnreplayableGame()


def _record_replay_difference(machine: Machine, game: GameRecord, error: Exception) -> None:
    """Record, unless done already, that the draws of a decided game do not give its outcome.

    It is paid as recorded.
    """
    entry_id = f"{game.play_id}.differs"
    if not machine.journal.has_transaction(entry_id):
        machine.post(
            GAME_DIFFERS,
            ReplayDifference(play_id=game.play_id, difference=str(error), win_cents=game.returned_cents),
            entry_id=entry_id,
        )
    machine.notice = Notice(code="game_differs", severity="alarm")

"""A game taken up again after a restart, a door or a tilt: from its record, never drawn again."""

from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.play import prizes_in_kind as merchandise
from egm.play.conversation import NO_REPLAY, Conversation, Recorded, replay
from egm.play.definitions import definition_of
from egm.play.rounds import the_game
from egm.play.showing import show
from egm.records.game_record import GameRecord
from egm.records.games import GameInProgress


def conversation_is_open(machine: Machine, _: Event) -> bool:
    """A game is still held as if it were shown."""
    return machine.state(GameInProgress).conversation is not None


def end_conversation(machine: Machine, _: Event) -> None:
    """What the screen says of a game that is not shown any more is not heard."""
    machine.state(GameInProgress).conversation = None


def game_is_not_taken_up(machine: Machine, _: Event) -> bool:
    """A game is open, and its conversation is not: after a restart, a door or a tilt."""
    return machine.state(GameInProgress).conversation is None


def take_game_up(machine: Machine, _: Event) -> Event | None:
    """Take the open game up from its record, and show it again. It is never drawn again.

    A decided game is shown and paid as it is recorded, whatever has become of what decided it; where its
    draws do not give the recorded outcome any more, that is recorded beside it, for a person to look into. A
    game not decided yet goes on by the definition it began with. One that cannot is defective: the machine
    tilts until it can, or until persons rule on it.
    """
    try:
        game = the_game(machine)
        machine.state(GameInProgress).conversation = _taken_up(machine, game)
    except NO_REPLAY as error:
        return Event(EventType.FAULT_RAISED, {"code": "game_defective", "detail": str(error)})
    show(machine, resumed=True)
    return None


def _taken_up(machine: Machine, game: GameRecord) -> "Conversation | Recorded":
    try:
        return replay(definition_of(machine, game.game), game)
    except NO_REPLAY as error:
        if game.outcome is None:
            raise
        merchandise.won(machine, game)  # what a prize in kind is worth, the definition alone says
        _note_difference(machine, game, error)
        return Recorded()


def _note_difference(machine: Machine, game: GameRecord, error: Exception) -> None:
    """Record once that a decided game does not replay; it is paid as recorded."""
    entry_id = f"{game.play_id}.differs"
    if not machine.journal.knows(entry_id):
        machine.record(
            "game.differs",
            transaction_id=entry_id,
            details={"play_id": game.play_id, "why": str(error), "win_cents": game.returned_cents},
        )
    machine.notice = Notice(code="game_differs", severity="alarm")

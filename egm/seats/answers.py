"""A round in which what each seat answers counts for all: whose turn it is, and how long they wait for him.

An answer is recorded first in the game of the seat that was asked, with the numbers it led to; every other
game of the round takes the step as it stands there (:func:`follow`). A seat that does not answer in time is
answered for: by the first option that costs nothing. Nobody waits for one that cannot play, nor for bets that
were on the table when no more were taken and began no game.
"""

from collections.abc import Iterator
from typing import Final

from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.play.common_round import collect_round
from egm.records.game_record import GameRecord
from egm.records.games import GameInProgress, open_game
from egm.seats.table import Seat, SharedTable, Turn
from meters.transaction import JSON
from paytables import WHEEL_DECIDES, Decision

#: So many seconds a player may think about an answer while others wait for it.
ANSWER_SECONDS: Final = 20
_SECOND_NS: Final = 1_000_000_000


def follow(table: SharedTable) -> None:
    """Let every game that is behind in its round take what the furthest has recorded."""
    for seat in list(table.seats.values()):
        while (due := _due(table, seat)) is not None:
            game, event = due
            seat.handle(event)
            after = open_game(seat.machine)
            if after is None or len(after.steps) == len(game.steps):
                break


def _due(table: SharedTable, seat: Seat) -> tuple[GameRecord, Event] | None:
    asked = _asked(seat)
    if asked is None or asked[0].wager.seat is None:
        return None
    game, decision = asked
    round_ = collect_round(seat.machine, game, [each.machine for each in table.seats.values()])
    known = round_.at(len(game.steps))
    if known is None:
        return None
    return game, _told(seat, known.choice, decision)


def _told(seat: Seat, choice: JSON, decision: Decision) -> Event:
    """The table tells a game what was answered; what its player was told before stays."""
    values = {"value": choice, "seat": decision.seat, "notice": seat.machine.notice}
    return Event(EventType.CHOOSE, values)


def answers_due(table: SharedTable) -> list[Seat]:
    """Answer for who keeps others waiting too long, or is not there; return the seats to be told of the time.

    While none of a round can play (a door is open) its time does not run.
    """
    waiting: dict[str, list[tuple[Seat, GameRecord, Decision]]] = {}
    for seat in table.seats.values():
        asked = _asked(seat)
        if asked is not None and _keeps_waiting(seat.machine, asked[0]):
            waiting.setdefault(_key(asked[0]), []).append((seat, *asked))
    for key in table.turns.keys() - waiting.keys():
        del table.turns[key]
    told: list[Seat] = []
    for key, games in waiting.items():
        furthest = max(len(game.steps) for _, game, _ in games)
        _answer(table, key, [each for each in games if len(each[1].steps) == furthest])
        turn, seats = table.turns[key], [seat for seat, _, _ in games]
        left = turn.seconds_left(seats[0].machine)
        if turn.told != left:
            turn.told = left
            told += seats
    return told


def _answer(table: SharedTable, key: str, games: list[tuple[Seat, GameRecord, Decision]]) -> None:
    """Answer a question if it is time, in the game of the seat that is asked where that can play."""
    own = [each for each in games if each[2].seat == (each[1].wager.seat or 0)]
    seat, game, decision = (own or games)[0]
    turn, step, now_ns = table.turns.get(key), len(game.steps), seat.machine.clock.monotonic_ns()
    if turn is None or turn.step != step:
        waits = ANSWER_SECONDS if own or _is_there(table, game, decision.seat) else 0
        turn = table.turns[key] = Turn(step, now_ns + waits * _SECOND_NS)
    if turn.seconds_left(seat.machine):
        return
    turn.due_ns = now_ns + _SECOND_NS  # where it cannot be taken now (the generator has failed), then again
    seat.handle(_told(seat, decision.unanswered, decision))
    follow(table)


def _is_there(table: SharedTable, game: GameRecord, place: int) -> bool:
    """Whether a seat of the round has a game that is not over."""
    opened = (open_game(seat.machine) for seat in table.seats.values())
    return any(
        one is not None and one.round_id == game.round_id and one.wager.seat == place for one in opened
    )


def _key(game: GameRecord) -> str:
    """What waits for an answer: the whole round, or one game where each seat is asked for itself."""
    return game.play_id if game.wager.seat is None else game.round_id


def _keeps_waiting(machine: Machine, game: GameRecord) -> bool:
    """Whether others cannot play on before this question is answered."""
    rules = machine.games.get(game.game.id)
    return game.wager.seat is not None or (
        bool(game.round_id) and rules is not None and bool(rules.rules.shared_keys)
    )


def _asked(seat: Seat) -> tuple[GameRecord, Decision] | None:
    """The open game of a seat that is shown, and what it asks; nothing where it is a wheel that is asked."""
    conversation = seat.machine.state(GameInProgress).conversation
    decision = None if conversation is None else conversation.decision
    game = None if decision is None else open_game(seat.machine)
    if game is None or decision is None or not game.round_id or decision.kind == WHEEL_DECIDES:
        return None
    return game, decision


def turn_notices(machine: Machine) -> Iterator[Notice]:
    """How long the player may still think, or whose turn it is."""
    table = machine.installed(SharedTable)
    seat = None if table is None else table.seats.get(machine.position.number)
    asked = None if seat is None else _asked(seat)
    if table is None or asked is None or (turn := table.turns.get(_key(asked[0]))) is None:
        return
    game, decision = asked
    left = turn.seconds_left(machine)
    if decision.seat == (game.wager.seat or 0):
        yield Notice(code="answer_within", values={"seconds": left})
    else:
        yield Notice(code="seat_answers", values={"seat": decision.seat + 1, "seconds": left})

"""Several seats, one round: rules of the betting time, its clock, and what is told of it."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from typing import Final

from egm.kernel.events import Event, EventType, Next, State
from egm.kernel.feature import Feature
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice, Snapshot
from egm.kernel.rules import TELL, DerivedState, Rule
from egm.kernel.services import Attachment, MachineContext
from egm.kernel.states import BETTABLE, EVERYWHERE, only
from egm.play.rounds import start_game
from egm.play.rules import MAY_PLAY
from egm.records.games import open_game
from egm.records.keys import WheelKey
from egm.seats.answers import answers_due, follow, turn_notices
from egm.seats.table import (
    SharedTable,
    TableEvent,
    has_a_place,
    has_joined,
    join,
    leave_and_do,
    plays_apart,
    plays_in_common,
    say_not_taken,
    seconds_left,
)
from egm.seats.wheel import decide, wheel_notices

_BETTING: Final = only(State.BETTING)

RULES: Final[tuple[Rule[Machine], ...]] = (
    Rule(EventType.PLAY, only(State.IDLE), (plays_in_common, *MAY_PLAY), (join,), State.BETTING, TELL),
    Rule(EventType.CASH_OUT, _BETTING, (), (leave_and_do,), Next.DERIVED, TELL),
    Rule(TableEvent.NO_MORE_BETS, BETTABLE, (has_a_place, *MAY_PLAY), (start_game,), State.PLAYING),
    Rule(TableEvent.NO_MORE_BETS, EVERYWHERE, (), (say_not_taken,), Next.DERIVED_ONCE_TESTED),
)


class BettingClock:
    """Ends the betting time of each game, one for all positions, and tells how much is left.

    What a real wheel has decided it tells the games that wait; what a seat has answered, those of its round.
    """

    name = "betting"

    def __init__(self, context: MachineContext) -> None:
        self._machine = context.engine.machine
        self._table = self._machine.state(SharedTable)
        self._news = asyncio.Event()
        self._told: dict[str, int] = {}

    async def run(self) -> None:
        """Look whenever something has happened, and each second while a betting time runs."""
        while True:
            self._news.clear()
            self._look()
            decide(self._machine)
            follow(self._table)
            for seat in answers_due(self._table):
                seat.handle(Event(EventType.MACHINE_CHANGED))
            wait = 1.0 if self._table.closes_ns or self._table.turns else None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._news.wait()

    def changed(self, now: Snapshot) -> None:  # noqa: ARG002 (the memory is read, not the picture)
        """Look again."""
        self._news.set()

    def _look(self) -> None:
        for game in list(self._table.closes_ns):
            left = self._table.seconds_left(game) or 0
            if (not left or self._table.is_complete(game)) and not self._table.is_in_play(game):
                self._told.pop(game, None)
                self._table.close(game)
            elif self._told.get(game) != left:
                self._told[game] = left
                for seat in self._table.around(game):
                    seat.handle(Event(EventType.MACHINE_CHANGED))


def clock(context: MachineContext) -> Iterable[Attachment]:
    """One, where there are several positions, or a wheel, or a round of several is not over."""
    machine = context.engine.machine
    opened, several = open_game(machine), machine.position.of > 1
    wheel = any(game.rules.by_wheel for game in machine.games.values())
    return (BettingClock(context),) if several or wheel or (opened and opened.round_id) else ()


def notices(machine: Machine) -> Iterator[Notice]:
    """How long bets are still taken, whose turn it is, what is waited for at a wheel, who plays apart."""
    yield from wheel_notices(machine)
    yield from turn_notices(machine)
    if plays_apart(machine):
        yield Notice(code="bets_apart", severity="warning")
    left = seconds_left(machine)
    if left is not None:
        code = "bets_placed" if has_joined(machine) else "bets_close"
        yield Notice(code=code, values={"seconds": left})


SEATS: Final = Feature(
    name="seats",
    keys=WheelKey,
    rules=RULES,
    states=(DerivedState(State.BETTING, has_joined),),
    services=(clock,),
    notices=notices,
)

"""The betting time of a table: who has placed bets, when no more are taken, and the round they play then.

A table is one game that several positions of a machine play together. The first to play opens its betting
time; it ends when that is up, or as soon as every position that could join has. Then each seat's game begins
with its own wager, by its own rules and in its own entries, and all of them with the same numbers. Where
what a seat answers counts for the others (:mod:`egm.seats.answers`), the next round waits for the one in
play. Nothing of it outlives the process: before no more bets no money has moved, and after it each game is
in the memory.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from egm.devices.interface import WheelTurned
from egm.kernel.events import Event, EventName
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.play.common_round import CommonRound, RoundInCommon
from egm.progressive.bet import Bet, BetInForce, bet_in_force
from egm.records.games import GameInProgress, open_game
from egm.records.tables import AsRoundBegins, plays_along, table_in_common, table_of
from paytables import Wager, WagerError


class TableEvent(EventName):
    """What happens at a table that several play."""

    NO_MORE_BETS = "no_more_bets"


@dataclass(slots=True)
class Seat:
    """A position at the table: its machine, and how its events are let happen."""

    machine: Machine
    handle: Callable[[Event], None]
    game: str = ""
    """The digest of the game it has placed its bets on; empty while it has not."""


@dataclass(slots=True)
class Turn:
    """An answer that others wait for: of which step, until when, and the seconds left that were told last."""

    step: int
    due_ns: int
    told: int = -1

    def seconds_left(self, machine: Machine) -> int:
        """How long it is waited for, begun seconds counted whole."""
        return _seconds_until(self.due_ns, machine)


@dataclass(slots=True)
class SharedTable:
    """The tables of a machine, one betting time for each game; every position has the same object."""

    seats: dict[int, Seat] = field(default_factory=dict)
    closes_ns: dict[str, int] = field(default_factory=dict)
    """By the digest of a game whose betting time runs: when it ends, on the machine's own clock."""

    turns: dict[str, Turn] = field(default_factory=dict)
    """By the round, or the game, that keeps others waiting."""

    wheel: WheelTurned | None = None
    """What the reader of a real wheel said last; None while its line is lost, and before its first word."""

    def sit(self, machine: Machine, handle: Callable[[Event], None]) -> None:
        """A position is at work."""
        self.seats[machine.position.number] = Seat(machine, handle)

    def joined(self, game: str) -> list[Seat]:
        """The seats with bets on a game, in the order of their positions."""
        return [self.seats[n] for n in sorted(self.seats) if self.seats[n].game == game]

    def seconds_left(self, game: str) -> int | None:
        """How long bets are still taken on a game whose betting time runs, begun seconds counted whole."""
        closes_ns, seat = self.closes_ns.get(game), next(iter(self.seats.values()), None)
        if closes_ns is None or seat is None:
            return None
        return _seconds_until(closes_ns, seat.machine)

    def join(self, machine: Machine, game: str, seconds: int | None) -> None:
        """A seat has placed its bets; the first opens the betting time. None: a wheel ends it."""
        self.seats[machine.position.number].game = game
        if seconds is not None:
            self.closes_ns.setdefault(game, machine.clock.monotonic_ns() + seconds * 1_000_000_000)

    def leave(self, machine: Machine) -> None:
        """A seat has no bets any more; after the last the betting time is over."""
        seat = self.seats.get(machine.position.number)
        if seat is None or not seat.game:
            return
        game, seat.game = seat.game, ""
        if not self.joined(game):
            self.closes_ns.pop(game, None)

    def is_complete(self, game: str) -> bool:
        """Whether every position with credit that has the game before it has placed its bets."""
        return all(
            seat.game == game or not seat.machine.credit_cents or not plays_along(seat.machine, game)
            for seat in self.around(game)
        )

    def around(self, game: str) -> list[Seat]:
        """The seats that have a game before them."""
        return [seat for seat in self.seats.values() if game_before(seat.machine) == game]

    def is_in_play(self, game: str) -> bool:
        """Whether a seat is still to play, or to see, a round that the next goes on from."""
        return any(_holds_next(seat.machine, game) for seat in self.around(game))

    def close(self, game: str, round_id: str = "") -> None:
        """No more bets: each seat's game begins, all with the same numbers, at the table as it stands now."""
        self.closes_ns.pop(game, None)
        seats = self.joined(game)
        if not seats:
            return
        silent = [seat for seat in self.around(game) if not seat.game and _is_thrown_for(seat.machine, game)]
        for seat in silent:
            seat.machine.state(BetInForce).nothing_new = True
        try:
            self._begin(game, round_id, sorted((*seats, *silent), key=_number))
        finally:
            for seat in silent:
                seat.machine.state(BetInForce).nothing_new = False

    def _begin(self, game: str, round_id: str, seats: list[Seat]) -> None:
        places = _places([(seat, bet_in_force(seat.machine)) for seat in seats])
        wagers = dict(places.values())
        begins = CommonRound(round_id or seats[0].machine.fresh_id("round"), wagers)
        before = AsRoundBegins({game: table_in_common(seats[0].machine, game)})
        for seat in seats:
            seat.game = ""
            around = seat.machine.state(RoundInCommon)
            seat.machine.install(before)
            if (number := seat.machine.position.number) in places:
                around.begins, around.place = begins, places[number][0]
            try:
                seat.handle(Event(TableEvent.NO_MORE_BETS))
            finally:
                around.begins = None
                seat.machine.install(AsRoundBegins())


def _number(seat: Seat) -> int:
    return seat.machine.position.number


def _is_thrown_for(machine: Machine, game: str) -> bool:
    """Whether bets stand here that the dice of the others decide, though nothing new is staked."""
    table = table_of(machine, game)
    opened = machine.games.get(machine.selection.game_id)
    hangs = opened is not None and bool(opened.rules.bound_keys)
    return hangs and table is not None and bool(table.staked) and plays_along(machine, game)


def _holds_next(machine: Machine, game: str) -> bool:
    """Whether the next round waits: for what decides this one, or until it is seen how its bets stand."""
    opened = open_game(machine)
    if opened is None or opened.game.digest != game or machine.state(GameInProgress).conversation is None:
        return False
    rules = machine.games[opened.game.id].rules
    if opened.outcome is not None:
        return bool(opened.round_id and rules.bound_keys)
    return opened.wager.seat is not None or bool(rules.shared_keys)


def _places(bets: list[tuple[Seat, Bet | None]]) -> dict[int, tuple[int, Wager]]:
    """The places at the table, in the order of the positions; who finds none is left out."""
    found: dict[int, tuple[int, Wager]] = {}
    for seat, bet in bets:
        if bet is not None:
            with suppress(WagerError):
                bet.game.rules.seated(bet.wager, len(found), {})
                found[seat.machine.position.number] = (len(found), bet.wager)
    return found


def game_before(machine: Machine) -> str:
    """The digest of the game a position has chosen; empty where that is none."""
    game = machine.games.get(machine.selection.game_id)
    return "" if game is None else game.digest


def waits_for_spin(machine: Machine) -> bool:
    """Whether a real wheel decides the game chosen: bets are taken until its ball is about to fall."""
    game = machine.games.get(machine.selection.game_id)
    return game is not None and game.rules.by_wheel


def betting_seconds(machine: Machine) -> int | None:
    """How long bets are taken on the game chosen; None where each position plays it by itself."""
    alone = machine.position.of == 1 or machine.position.number not in machine.state(SharedTable).seats
    if alone or waits_for_spin(machine):
        return None
    game = machine.games.get(machine.selection.game_id)
    return None if game is None or not plays_along(machine, game.digest) else game.rules.betting_seconds


def plays_apart(machine: Machine) -> bool:
    """Whether bets stand here on the game chosen that have missed a throw of the others."""
    return machine.position.of > 1 and not plays_along(machine, game_before(machine))


def has_joined(machine: Machine) -> bool:
    """Whether this position has bets on a table whose betting time runs."""
    table = machine.installed(SharedTable)
    seat = None if table is None else table.seats.get(machine.position.number)
    return seat is not None and bool(seat.game)


def _seconds_until(due_ns: int, machine: Machine) -> int:
    return max(0, -(-(due_ns - machine.clock.monotonic_ns()) // 1_000_000_000))


def seconds_left(machine: Machine) -> int | None:
    """How long bets are still taken on the game this position has chosen; None: nobody has begun."""
    table = machine.installed(SharedTable)
    return None if table is None or not table.closes_ns else table.seconds_left(game_before(machine))


# ---------------------------------------------------------------------------------- guards, effects
def plays_in_common(machine: Machine, _: Event) -> bool:
    """The game chosen is one that several positions play together here, or one that a wheel decides."""
    return waits_for_spin(machine) or betting_seconds(machine) is not None


def join(machine: Machine, _: Event) -> None:
    """Place the bets; they are taken when no more are."""
    bet = bet_in_force(machine)
    if bet is not None:
        machine.state(SharedTable).join(machine, bet.game.digest, betting_seconds(machine))


def has_a_place(machine: Machine, _: Event) -> bool:
    """There is a place for it at the table."""
    return machine.state(RoundInCommon).begins is not None


def say_not_taken(machine: Machine, _: Event) -> None:
    """The bets could not be taken when no more were: nothing was wagered."""
    if machine.state(BetInForce).nothing_new:
        return
    machine.notice = Notice(code="bets_not_taken", severity="warning")


def leave_and_do(machine: Machine, event: Event) -> Event:
    """Take the bets back, and let what was asked happen at the position as it is then."""
    machine.state(SharedTable).leave(machine)
    return event

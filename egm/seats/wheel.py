"""A real wheel and the positions around it: when it takes no more bets, and where its ball came to rest.

The wheel has a game of its own. As its ball is about to fall, bets are closed: each seat that has placed
some begins its game, which takes the wager and waits. The number of that very spin, told by the reader and
recorded first, answers every game that waits for it. A spin that is void is none; the wheel launches its ball
again. The number of a spin that nobody heard decides nothing: its games wait for persons to rule.
"""

from collections.abc import Iterator

from egm.devices.interface import WheelPhase, WheelTurned
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.play.rounds import waits_for_wheel
from egm.records.games import GameInProgress, open_game
from egm.records.keys import WheelKey
from egm.records.wheel import WheelSpin, last_spin
from egm.seats.table import Seat, SharedTable, has_joined, waits_for_spin


def turned(machine: Machine, report: WheelTurned) -> None:
    """The wheel has come to another phase; ``machine`` is any of its positions."""
    table, last = machine.state(SharedTable), last_spin(machine)
    table.void = report.void
    if report.phase is WheelPhase.NO_MORE_BETS and (
        last is None or last.number is not None or last.spin != report.spin
    ):
        _close(machine, table, report.spin)
    elif report.number is not None and last is not None and last.number is None and last.spin == report.spin:
        decided = WheelSpin(round_id=last.round_id, spin=last.spin, number=report.number)
        machine.record(
            "wheel.number",
            transaction_id=f"{last.round_id}.number",
            state={WheelKey.SPIN: decided},
            details=decided,
        )


def _close(machine: Machine, table: SharedTable, spin: int) -> None:
    """No more bets, at each game that the wheel decides; nothing where nobody has placed any."""
    games = {seat.game for seat in table.seats.values() if seat.game and waits_for_spin(seat.machine)}
    if not games:
        return
    closed = WheelSpin(round_id=machine.fresh_id("round"), spin=spin)
    machine.record(
        "wheel.no_more_bets",
        transaction_id=f"{closed.round_id}.closed",
        state={WheelKey.SPIN: closed},
        details=closed,
    )
    for game in sorted(games):
        table.close(game, closed.round_id)


def decide(machine: Machine) -> None:
    """Tell every game that waits for the last spin its number, once that is recorded."""
    spin = last_spin(machine)
    if spin is None or spin.number is None:
        return
    for seat in list(machine.state(SharedTable).seats.values()):
        if _waits_for(seat, spin):
            values = {"value": str(spin.number), "spin": spin.spin}
            seat.handle(Event(EventType.CHOOSE, values))


def _waits_for(seat: Seat, spin: WheelSpin) -> bool:
    game, shown = open_game(seat.machine), seat.machine.state(GameInProgress).conversation is not None
    return shown and waits_for_wheel(seat.machine) and game is not None and game.round_id == spin.round_id


def wheel_notices(machine: Machine) -> Iterator[Notice]:
    """What the player waits for at a wheel."""
    table = machine.installed(SharedTable)
    if table is None:
        return
    if has_joined(machine) and waits_for_spin(machine):
        yield Notice(code="wheel_awaited")
    game = open_game(machine) if waits_for_wheel(machine) else None
    if game is not None:
        spin = last_spin(machine)
        if spin is None or spin.round_id != game.round_id:
            yield Notice(code="wheel_unheard", severity="alarm")
        else:
            yield Notice(code="wheel_void" if table.void else "wheel_turns")

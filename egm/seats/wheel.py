"""A real wheel and the positions around it: when it takes no more bets, and where its ball came to rest.

The wheel has a game of its own. As its ball is about to fall, bets are closed: each seat that has placed
some begins its game, which takes the wager and waits. The number that the reader tells next, heard without a
break and recorded first, answers every game that waits for it. A spin that is void is none; the wheel
launches its ball again.

A spin is known by the round of its games and by nothing that the reader counts. Where the line was lost, the
machine has started again, or the wheel has gone on to its next game, its number was not heard: that is
recorded, no later number decides its games, and persons rule on them.
"""

from collections.abc import Iterator
from dataclasses import replace

from egm.devices.interface import CommLost, DeviceEvent, WheelPhase, WheelTurned
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.play.rounds import is_decided_by_wheel, waits_for_wheel
from egm.records.games import GameInProgress, open_game
from egm.records.keys import WheelKey
from egm.records.wheel import WheelSpin, last_spin, recorded_number
from egm.seats.table import Seat, SharedTable, has_joined, waits_for_spin


def hear(machine: Machine, report: DeviceEvent) -> None:
    """What a device of the machine reports, where it is of its wheel; ``machine`` is any of its positions."""
    wheel = machine.state(SharedTable).wheel
    if isinstance(report, WheelTurned):
        turned(machine, report)
    elif isinstance(report, CommLost) and wheel is not None and wheel.device == report.device:
        lost(machine)


def turned(machine: Machine, report: WheelTurned) -> None:
    """The wheel has come to another phase."""
    table, spin = machine.state(SharedTable), awaited(machine)
    before, table.wheel = table.wheel, report
    if spin is not None and (why := _went_on(spin, before, report)):
        _give_up(machine, spin, why)
        spin = None
    if spin is not None:
        if report.number is not None:
            decided = replace(spin, number=report.number)
            machine.record(
                "wheel.number",
                transaction_id=f"{spin.round_id}.number",
                state={WheelKey.SPIN: decided},
                details=replace(decided, earlier={}),
            )
    elif report.phase is WheelPhase.NO_MORE_BETS and not _has_fallen(before, report):
        _close(machine, table, report.spin)


def lost(machine: Machine) -> None:
    """The reader's line is lost: whatever it counts when it is heard again, it may be another spin."""
    if (spin := awaited(machine)) is not None:
        _give_up(machine, spin, "line_lost")
    machine.state(SharedTable).wheel = None


def awaited(machine: Machine) -> WheelSpin | None:
    """The spin whose number is to come; one that began before the machine's last start is given up."""
    spin = last_spin(machine)
    if spin is None or not spin.is_awaited:
        return None
    if machine.state(SharedTable).wheel is None:
        _give_up(machine, spin, "restart")
        return None
    return spin


def _went_on(spin: WheelSpin, before: WheelTurned | None, report: WheelTurned) -> str:
    """Why a report is not of the spin awaited; empty where it is. A void spin is launched again."""
    if report.spin != spin.spin:
        return "another_spin"
    launched_again = report.void or (before is not None and before.void)
    if report.phase is WheelPhase.BETTING and launched_again:
        return ""
    is_over = report.phase in {WheelPhase.WAITING, WheelPhase.BETTING, WheelPhase.CLOSED}
    return "went_on" if is_over else ""


def _has_fallen(before: WheelTurned | None, report: WheelTurned) -> bool:
    """Whether the ball of this very game lay in a pocket a moment ago."""
    return before is not None and before.phase is WheelPhase.NUMBER and before.spin == report.spin


def _give_up(machine: Machine, spin: WheelSpin, why: str) -> None:
    """The number of a spin was not heard: record that it decides nothing."""
    given_up = replace(spin, unheard=why)
    machine.record(
        "wheel.unheard",
        transaction_id=f"{spin.round_id}.unheard",
        state={WheelKey.SPIN: given_up},
        details=replace(given_up, earlier={}),
    )


def _close(machine: Machine, table: SharedTable, spin: int) -> None:
    """No more bets, at each game that the wheel decides; nothing where nobody has placed any."""
    games = {seat.game for seat in table.seats.values() if seat.game and waits_for_spin(seat.machine)}
    if not games:
        return
    last = last_spin(machine)
    told = {} if last is None else last.numbers
    opened = [open_game(seat.machine) for seat in table.seats.values()]
    waiting = {game.round_id for game in opened if game is not None and game.outcome is None}
    closed = WheelSpin(
        round_id=machine.fresh_id("round"),
        spin=spin,
        earlier={round_id: number for round_id, number in told.items() if round_id in waiting},
    )
    machine.record(
        "wheel.no_more_bets",
        transaction_id=f"{closed.round_id}.closed",
        state={WheelKey.SPIN: closed},
        details=replace(closed, earlier={}),
    )
    for game in sorted(games):
        table.close(game, closed.round_id)


def decide(machine: Machine) -> None:
    """Tell every game that waits for a wheel the number of its own spin, once that is recorded."""
    awaited(machine)
    for seat in list(machine.state(SharedTable).seats.values()):
        game, spin = open_game(seat.machine), last_spin(seat.machine)
        number = None if game is None else recorded_number(seat.machine, game)
        if number is not None and spin is not None and _is_shown(seat) and is_decided_by_wheel(seat.machine):
            seat.handle(Event(EventType.CHOOSE, {"value": str(number), "spin": spin.spin}))


def _is_shown(seat: Seat) -> bool:
    return seat.machine.state(GameInProgress).conversation is not None


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
        if spin is None or spin.round_id != game.round_id or spin.unheard:
            yield Notice(code="wheel_unheard", severity="alarm")
        else:
            void = table.wheel is not None and table.wheel.void
            yield Notice(code="wheel_void" if void else "wheel_turns")

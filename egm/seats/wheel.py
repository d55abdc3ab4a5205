"""A real wheel and the positions around it: when betting closes, and which number each game gets.

The wheel runs on its own. When the ball is about to fall, betting closes: the game of each position with bets starts,
stakes its wager and waits. The next number from the wheel's reader is recorded, and given to every game that waits for
it, unless the line to the reader was interrupted meanwhile. A void spin has no number; the wheel launches its ball
again. A spin is identified by the round that it decides, not by the reader's count. If the line is lost, the machine
restarts, or the wheel begins its next spin, the number is recorded as missed: no later number decides the games of the
spin, and staff rule on them.
"""

from collections.abc import Iterator
from dataclasses import replace

from egm.devices.interface import DeviceEvent, LineLost, WheelPhase, WheelPhaseReported
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.play.events import ChoiceRequest
from egm.play.keys import WheelKey
from egm.play.records.games import GameInProgress, find_open_game
from egm.play.records.wheel import MissedSpinReason, WheelSpin, read_last_spin, read_winning_number
from egm.play.rounds import is_decided_by_wheel, is_waiting_for_wheel
from egm.seats.entries import (
    BETTING_CLOSED,
    WHEEL_NUMBER_MISSED,
    WHEEL_NUMBER_RECEIVED,
    BettingClosedForSpin,
    WheelNumberMissed,
    WheelNumberReceived,
)
from egm.seats.table import SeatedPosition, SharedTables, has_placed_bets, is_betting_closed_by_wheel


def process_wheel_report(machine: PositionMachine, report: DeviceEvent) -> None:
    """Process a device report if it concerns the real wheel; ``machine`` is any of the positions."""
    last_report = machine.component(SharedTables).last_wheel_report
    if isinstance(report, WheelPhaseReported):
        process_wheel_phase(machine, report)
    elif isinstance(report, LineLost) and last_report is not None and last_report.device == report.device:
        record_lost_spin_as_missed(machine)


def process_wheel_phase(machine: PositionMachine, report: WheelPhaseReported) -> None:
    """Process a new phase of the real wheel: close betting, record the spin's number, or record it as missed."""
    tables = machine.component(SharedTables)
    record_spin_before_restart_as_missed(machine)
    spin = find_expected_spin(machine)
    previous_report, tables.last_wheel_report = tables.last_wheel_report, report
    if spin is not None and (reason := _find_spin_mismatch(spin, previous_report, report)):
        _record_missed_spin(machine, spin, reason)
        spin = None
    if spin is not None:
        if report.number is not None:
            machine.post(
                WHEEL_NUMBER_RECEIVED,
                WheelNumberReceived(
                    round_id=spin.round_id, spin_counter=spin.spin_counter, winning_number=report.number
                ),
                entry_id=f"{spin.round_id}.number",
                state={WheelKey.LAST_SPIN: replace(spin, winning_number=report.number)},
            )
    elif report.phase is WheelPhase.NO_MORE_BETS and not _was_number_reported(previous_report, report):
        _close_betting(machine, tables, report.spin_counter)


def record_lost_spin_as_missed(machine: PositionMachine) -> None:
    """Record the number of the current spin, if one is expected, as missed, because the line to the wheel is lost.

    The next report may be about another spin.
    """
    if (spin := find_expected_spin(machine)) is not None:
        _record_missed_spin(machine, spin, "line_lost")
    machine.component(SharedTables).last_wheel_report = None


def record_spin_before_restart_as_missed(machine: PositionMachine) -> None:
    """Record the number of a spin launched before the last restart as missed, if it was not recorded before.

    The wheel may have reported it while the machine was off.
    """
    spin = find_expected_spin(machine)
    if spin is not None and machine.component(SharedTables).last_wheel_report is None:
        _record_missed_spin(machine, spin, "restart")


def find_expected_spin(machine: PositionMachine) -> WheelSpin | None:
    """Return the wheel's spin whose number is still expected, or None."""
    spin = read_last_spin(machine)
    return spin if spin is not None and spin.is_awaited else None


def _find_spin_mismatch(
    spin: WheelSpin, previous_report: WheelPhaseReported | None, report: WheelPhaseReported
) -> MissedSpinReason | None:
    """Return why the wheel's report cannot be about the expected spin, or None if it can.

    After a void spin, the wheel may report that it accepts bets again.
    """
    if report.spin_counter != spin.spin_counter:
        return "another_spin"
    was_relaunched = report.is_void or (previous_report is not None and previous_report.is_void)
    if report.phase is WheelPhase.BETTING and was_relaunched:
        return None
    has_next_game_begun = report.phase in {WheelPhase.WAITING, WheelPhase.BETTING, WheelPhase.CLOSED}
    return "went_on" if has_next_game_begun else None


def _was_number_reported(previous_report: WheelPhaseReported | None, report: WheelPhaseReported) -> bool:
    """Return whether the wheel's previous report already stated the number of the spin that ``report`` is about."""
    return (
        previous_report is not None
        and previous_report.phase is WheelPhase.NUMBER
        and previous_report.spin_counter == report.spin_counter
    )


def _record_missed_spin(machine: PositionMachine, spin: WheelSpin, missed_reason: MissedSpinReason) -> None:
    """Record that the number of a spin was missed, for ``missed_reason``, and that the spin decides no game."""
    machine.post(
        WHEEL_NUMBER_MISSED,
        WheelNumberMissed(
            round_id=spin.round_id, spin_counter=spin.spin_counter, missed_reason=missed_reason
        ),
        entry_id=f"{spin.round_id}.unheard",
        state={WheelKey.LAST_SPIN: replace(spin, missed_reason=missed_reason)},
    )


def _close_betting(machine: PositionMachine, tables: SharedTables, spin_counter: int) -> None:
    """Close betting on each game that the wheel decides, and record the spin; do nothing if there are no bets."""
    game_digests = {
        seated_position.game_digest
        for seated_position in tables.position_by_number.values()
        if seated_position.game_digest and is_betting_closed_by_wheel(seated_position.machine)
    }
    if not game_digests:
        return
    last_spin = read_last_spin(machine)
    number_by_round_id = {} if last_spin is None else last_spin.number_by_round_id
    seat_games = [
        find_open_game(seated_position.machine) for seated_position in tables.position_by_number.values()
    ]
    open_round_ids = {
        game_record.round_id
        for game_record in seat_games
        if game_record is not None and game_record.outcome is None
    }
    spin_record = WheelSpin(
        round_id=machine.fresh_id("round"),
        spin_counter=spin_counter,
        earlier_numbers={
            round_id: number for round_id, number in number_by_round_id.items() if round_id in open_round_ids
        },
    )
    machine.post(
        BETTING_CLOSED,
        BettingClosedForSpin(round_id=spin_record.round_id, spin_counter=spin_record.spin_counter),
        entry_id=f"{spin_record.round_id}.closed",
        state={WheelKey.LAST_SPIN: spin_record},
    )
    for game_digest in sorted(game_digests):
        tables.close_betting(game_digest, spin_record.round_id)


def deliver_spin_number(machine: PositionMachine) -> None:
    """Give the recorded number of the wheel's spin to every game that waits for it.

    A spin launched before the last restart is first recorded as missed.
    """
    record_spin_before_restart_as_missed(machine)
    for seated_position in list(machine.component(SharedTables).position_by_number.values()):
        game_record, spin = find_open_game(seated_position.machine), read_last_spin(seated_position.machine)
        number = None if game_record is None else read_winning_number(seated_position.machine, game_record)
        if (
            number is not None
            and spin is not None
            and _is_game_in_memory(seated_position)
            and is_decided_by_wheel(seated_position.machine)
        ):
            seated_position.submit_event(
                Event(EventType.CHOOSE, ChoiceRequest(choice=str(number), spin_counter=spin.spin_counter))
            )


def _is_game_in_memory(seated_position: SeatedPosition) -> bool:
    """Return whether the position's open game is in memory: begun or replayed since the process started."""
    return seated_position.machine.component(GameInProgress).stepped_game is not None


def iter_wheel_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield the notices that say what the game at a wheel table waits for."""
    tables = machine.find_installed(SharedTables)
    if tables is None:
        return
    if has_placed_bets(machine) and is_betting_closed_by_wheel(machine):
        yield Notice(code="wheel_awaited")
    game_record = find_open_game(machine) if is_waiting_for_wheel(machine) else None
    if game_record is not None:
        spin = read_last_spin(machine)
        if spin is None or spin.round_id != game_record.round_id or spin.missed_reason:
            yield Notice(code="wheel_unheard", severity="alarm")
        else:
            is_void = tables.last_wheel_report is not None and tables.last_wheel_report.is_void
            yield Notice(code="wheel_void" if is_void else "wheel_turns")

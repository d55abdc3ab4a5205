"""A simulated wheel with a reader: it spins by itself, spin after spin, and reports every half second."""

from collections.abc import Mapping
from typing import Final

from egm.devices.twin import ActionError, BenchAction, SimulatedPort, Twin
from egm.devices.wheel import codec
from egm.devices.wheel.codec import (
    NO_WARNINGS,
    WHEEL_NUMBERS,
    ReaderPhase,
    WheelReaderReport,
    WheelReaderStatus,
    WheelWarnings,
)

#: The duration of each phase, in seconds, and the next phase.
SECONDS_AND_NEXT_PHASE_BY_PHASE: Final[Mapping[ReaderPhase, tuple[float, ReaderPhase]]] = {
    ReaderPhase.WAITING: (3.0, ReaderPhase.BETTING),
    ReaderPhase.BETTING: (15.0, ReaderPhase.BALL_IN_TRACK),
    ReaderPhase.BALL_IN_TRACK: (8.0, ReaderPhase.NO_MORE_BETS),
    ReaderPhase.NO_MORE_BETS: (8.0, ReaderPhase.NUMBER),
    ReaderPhase.NUMBER: (4.0, ReaderPhase.WAITING),
}
#: Interval of the status reports.
_REPORT_INTERVAL_SECONDS: Final = 0.5
#: The spin counter (the reader's game number) counts modulo this number.
_SPIN_COUNTER_MODULUS: Final = 256
#: The simulation has no random numbers: its balls visit all pockets in steps of this size.
_POCKETS_PER_SIMULATED_SPIN: Final = 14


class WheelTwin(Twin[WheelReaderReport]):
    """The simulated wheel; it retains its spin counter and its last winning number without power."""

    kind = "roulette wheel"

    def __init__(self, name: str, port: SimulatedPort, speed: float = 1.0) -> None:
        super().__init__(name, port, codec.cut_report, speed)
        self._spin_counter = 0
        self._winning_number = 0
        self._phase = ReaderPhase.WAITING
        self._warnings = NO_WARNINGS
        self._lasting_warnings = NO_WARNINGS
        self._next_number: int | None = None
        self._is_running = False

    def start_autonomous_behaviour(self) -> None:
        """Start the simulated spins of the wheel."""
        if not self._is_running:
            self._is_running = True
            self._enter_phase(ReaderPhase.WAITING)
            self._send_status()

    def process_message(self, message: WheelReaderReport) -> None:
        """Ignore commands: a wheel's reader only reports."""

    def _send_status(self) -> None:
        """Send the wheel's status now, and again at regular intervals."""
        warnings = self._warnings | self._lasting_warnings
        self._send(
            WheelReaderStatus(
                self._phase,
                self._spin_counter,
                self._winning_number,
                warnings,
                rotor_speed=20,
                rotor_direction=self._spin_counter % 2,
            ).encode()
        )
        self._schedule_step(_REPORT_INTERVAL_SECONDS, self._send_status)

    def _enter_phase(self, phase: ReaderPhase) -> None:
        """Enter a phase of the simulated spin and schedule the next one."""
        self._phase = phase
        if phase is ReaderPhase.BETTING:
            self._warnings = NO_WARNINGS
        if phase is ReaderPhase.WAITING:
            self._spin_counter = (self._spin_counter + 1) % _SPIN_COUNTER_MODULUS
        if phase is ReaderPhase.NUMBER:
            self._winning_number = (
                (self._winning_number + _POCKETS_PER_SIMULATED_SPIN) % len(WHEEL_NUMBERS)
                if self._next_number is None
                else self._next_number
            )
            self._next_number = None
        if phase in SECONDS_AND_NEXT_PHASE_BY_PHASE:
            seconds, next_phase = SECONDS_AND_NEXT_PHASE_BY_PHASE[phase]
            self._schedule_step(seconds, lambda: self._enter_next_phase(next_phase))

    def _enter_next_phase(self, next_phase: ReaderPhase) -> None:
        """Enter the next phase of the spin; after a faulty launch, launch the ball again in the same spin."""
        if self._phase is not ReaderPhase.NO_MORE_BETS or not (self._warnings | self._lasting_warnings):
            self._enter_phase(next_phase)
        else:  # a faulty launch is void: the ball is launched again, while the bets stay closed
            self._warnings = NO_WARNINGS
            self._enter_phase(ReaderPhase.NO_MORE_BETS)

    def handle_power_loss(self) -> None:
        """Do nothing: the loss of power has already stopped the timers, and the wheel retains its spin counter."""

    def handle_power_return(self) -> None:
        """Continue with the next spin; the current one is lost."""
        self._is_running = False
        self._warnings = NO_WARNINGS
        self.start_autonomous_behaviour()

    def export_retained_state(self) -> dict[str, object]:
        """Return what the wheel retains without power: its spin counter, and the last winning number."""
        return {"game": self._spin_counter, "number": self._winning_number}

    def restore_retained_state(self, retained_state: Mapping[str, object]) -> None:
        """Restore the wheel's state that :meth:`export_retained_state` returned."""
        self._spin_counter, self._winning_number = (
            int(str(retained_state["game"])),
            int(str(retained_state["number"])),
        )

    def describe_state(self) -> dict[str, object]:
        """Return what a person at the simulated wheel sees: its phase, spin counter, winning number and warnings."""
        return {
            "phase": self._phase.name.lower(),
            "game": self._spin_counter,
            "number": self._winning_number,
            "warnings": int(self._warnings | self._lasting_warnings),
        }

    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions of the simulated device by name."""
        return {
            "land": self._land_ball,
            "void": self._warn_launch_failed,
            "no_ball": self._warn_no_ball,
            "wrong_way": self._warn_ball_in_rotor_direction,
            "jam": self._set_rim_sensor_broken,
            "lie": self._report_false_number,
            "close": self._close_table,
            "open": self._open_table,
        }

    def _land_ball(self, *, number: int) -> str:
        """Let the next ball come to rest on ``number``."""
        if number not in WHEEL_NUMBERS:
            raise ActionError(f"number: expected a pocket from 0 to {WHEEL_NUMBERS[-1]}, not {number}")
        self._next_number = number
        return f"the next ball lands on {number}"

    def _warn_launch_failed(self) -> str:
        """Report that the launch failed, so that the ball is launched again."""
        return self._set_warning(WheelWarnings.LAUNCH_FAILED, "the launch fails")

    def _warn_no_ball(self) -> str:
        """Report that the ball is out of the wheel."""
        return self._set_warning(WheelWarnings.NO_BALL, "the ball is out of the wheel")

    def _warn_ball_in_rotor_direction(self) -> str:
        """Report that the ball runs in the direction of the rotor."""
        return self._set_warning(WheelWarnings.BALL_IN_ROTOR_DIRECTION, "the ball runs with the rotor")

    def _set_warning(self, warning: WheelWarnings, text: str) -> str:
        """Set a warning of the wheel, so that the current spin is faulty; return ``text``, which describes it."""
        self._warnings |= warning
        return text

    def _set_rim_sensor_broken(self, *, on: bool = True) -> str:
        """Break a sensor of the rim if ``on``; otherwise repair it."""
        self._lasting_warnings = WheelWarnings.SENSOR_OR_MOTOR_FAILURE if on else NO_WARNINGS
        return "a sensor is broken" if self._lasting_warnings else "the sensors work"

    def _report_false_number(self, *, number: int = 0) -> str:
        """Simulate a defect: report once that the ball lies on ``number``, wherever it really is."""
        reported_number = number % len(WHEEL_NUMBERS)
        self._send(WheelReaderStatus(ReaderPhase.NUMBER, self._spin_counter, reported_number).encode())
        return f"reported that the ball lies on {reported_number}"

    def _close_table(self) -> str:
        """Close the table at once; the current spin is abandoned."""
        return self._enter_phase_at_once(ReaderPhase.CLOSED, "closed")

    def _open_table(self) -> str:
        """Open the table and begin the next spin at once; a spin in progress is abandoned."""
        return self._enter_phase_at_once(ReaderPhase.WAITING, "open")

    def _enter_phase_at_once(self, phase: ReaderPhase, text: str) -> str:
        """End the current phase and enter ``phase`` at once; return ``text``, which describes the action."""
        self._stop_timers()
        self._is_running = True
        self._enter_phase(phase)
        self._send_status()
        return text

"""Driver of a wheel's reader. It only receives: the wheel spins by itself and accepts no commands."""

from typing import Final

from egm.devices.driver import LineDriver
from egm.devices.interface import EventSink, FaultCode, WheelPhase, WheelPhaseReported
from egm.devices.line import LineSettings, SerialLine
from egm.devices.wheel import codec
from egm.devices.wheel.codec import (
    OtherReaderLine,
    ReaderPhase,
    WheelReaderReport,
    WheelReaderStatus,
    WheelWarnings,
)

#: Settings of the line to a reader.
WHEEL_LINE_SETTINGS: Final = LineSettings(baud_rate=9600)
#: Phase of the reader -> phase of the machine's interface.
_WHEEL_PHASE_BY_READER_PHASE: Final = {
    ReaderPhase.WAITING: WheelPhase.WAITING,
    ReaderPhase.BETTING: WheelPhase.BETTING,
    ReaderPhase.BALL_IN_TRACK: WheelPhase.BETTING,
    ReaderPhase.NO_MORE_BETS: WheelPhase.NO_MORE_BETS,
    ReaderPhase.NUMBER: WheelPhase.NUMBER,
    ReaderPhase.CLOSED: WheelPhase.CLOSED,
}
#: Warnings with which a spin does not count.
_WARNINGS_OF_VOID_SPIN: Final = (
    WheelWarnings.NO_BALL | WheelWarnings.BALL_IN_ROTOR_DIRECTION | WheelWarnings.LAUNCH_FAILED
)


class WheelDriver(LineDriver[WheelReaderReport]):
    """A :class:`~egm.devices.interface.Device` that reports each phase of a roulette wheel's spin.

    The reports are :class:`WheelPhaseReported` events.
    """

    reply_seconds = 0.75
    """The reader reports every half second; no report for this long counts as a query without a reply."""

    def __init__(self, name: str, line: SerialLine, sink: EventSink) -> None:
        super().__init__(name, line, sink, codec.cut_report, codec.WHEEL_PROTOCOL)
        self._last_report: WheelPhaseReported | None = None

    def _reset_session(self) -> None:
        """Clear the wheel's last report, so that the next one is reported to the machine even if it is equal."""
        self._last_report = None

    async def _run_cycle(self) -> None:
        """Run one cycle: receive the reports of the wheel's reader and process them."""
        for report in await self._receive_reply():
            self._process_report(report)

    def _process_report(self, report: WheelReaderReport) -> None:
        """Process a report of the wheel's reader; emit an event if it differs from the last one."""
        if isinstance(report, OtherReaderLine):
            return
        self._handle_reply()
        has_failed = WheelWarnings.SENSOR_OR_MOTOR_FAILURE in report.warnings
        self._update_faults({FaultCode.FAILURE: f"warnings {report.warnings:X}"} if has_failed else {})
        event = self._build_wheel_phase_report(report)
        if event != self._last_report:
            self._last_report = event
            self._emit(event)

    def _build_wheel_phase_report(self, report: WheelReaderStatus) -> WheelPhaseReported:
        """Build the event for a report of the wheel.

        It has a winning number only if the ball is in a pocket and no warning is set. The spin is void if a warning
        says so while bets are placed or the ball runs.
        """
        is_void = report.phase in {
            ReaderPhase.BETTING,
            ReaderPhase.BALL_IN_TRACK,
            ReaderPhase.NO_MORE_BETS,
        } and bool(report.warnings & _WARNINGS_OF_VOID_SPIN)
        has_valid_number = report.phase is ReaderPhase.NUMBER and not report.warnings
        return WheelPhaseReported(
            device=self.name,
            phase=_WHEEL_PHASE_BY_READER_PHASE[report.phase],
            spin_counter=report.spin_counter,
            number=report.winning_number if has_valid_number else None,
            is_void=is_void,
        )

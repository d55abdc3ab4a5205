"""Driver of a wheel's reader. It only receives: the wheel runs its own game and accepts no commands."""

from typing import Final

from egm.devices.driver import LineDriver
from egm.devices.interface import EventSink, FaultCode, WheelPhase, WheelTurned
from egm.devices.line import LineSettings, SerialLine
from egm.devices.wheel import codec
from egm.devices.wheel.codec import Aside, ReaderPhase, Report, Status, Warnings

#: Settings of the line to a reader.
LINE: Final = LineSettings(baud=9600)
#: Phase of the reader -> phase of the machine's interface.
_PHASES: Final = {
    ReaderPhase.WAITING: WheelPhase.WAITING,
    ReaderPhase.BETTING: WheelPhase.BETTING,
    ReaderPhase.BALL_IN_TRACK: WheelPhase.BETTING,
    ReaderPhase.NO_MORE_BETS: WheelPhase.NO_MORE_BETS,
    ReaderPhase.NUMBER: WheelPhase.NUMBER,
    ReaderPhase.CLOSED: WheelPhase.CLOSED,
}
#: Warnings with which a spin does not count.
_VOID: Final = Warnings.NO_BALL | Warnings.SAME_DIRECTION | Warnings.VOID


class WheelDriver(LineDriver[Report]):
    """A :class:`~egm.devices.interface.Device` that reports each phase (:class:`WheelTurned`)."""

    #: It reports every half second; silence for this long counts as a query without a reply.
    reply_seconds = 0.75

    def __init__(self, name: str, line: SerialLine, sink: EventSink) -> None:
        super().__init__(name, line, sink, codec.cut, codec.PROTOCOL)
        self._told: WheelTurned | None = None

    def _reset_session(self) -> None:
        """Clear the last report of the wheel, so that the next report is emitted in any case."""
        self._told = None

    async def _cycle(self) -> None:
        """Run one cycle: receive the reports of the wheel's reader and process them."""
        for report in await self._receive_reply():
            self._process_report(report)

    def _process_report(self, report: Report) -> None:
        """Process a report of the wheel's reader; emit an event if it differs from the last one."""
        if isinstance(report, Aside):
            return
        self._note_reply()
        failed = Warnings.FAILURE in report.warnings
        self._update_faults({FaultCode.FAILURE: f"warnings {report.warnings:X}"} if failed else {})
        turned = self._build_wheel_turned(report)
        if turned != self._told:
            self._told = turned
            self._emit(turned)

    def _build_wheel_turned(self, report: Status) -> WheelTurned:
        """Build the event of a wheel's report; it has a number only if the spin is decided without a warning."""
        void = report.phase in {
            ReaderPhase.BETTING,
            ReaderPhase.BALL_IN_TRACK,
            ReaderPhase.NO_MORE_BETS,
        } and bool(report.warnings & _VOID)
        decided = report.phase is ReaderPhase.NUMBER and not report.warnings
        return WheelTurned(
            device=self.name,
            phase=_PHASES[report.phase],
            spin=report.game,
            number=report.number if decided else None,
            void=void,
        )

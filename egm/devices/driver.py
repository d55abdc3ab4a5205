"""Drivers' common part: owning a line, asking and listening, telling silence from speech.

A driver is a loop of *cycles*. One cycle asks the device how it is and moves it one step towards what the
machine wishes. Whatever happens to the line, the next session starts by asking, never by assuming.
"""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

from egm.devices.framing import Cutter, FrameReader, ProtocolError
from egm.devices.interface import CommLost, CommUp, DeviceEvent, EventSink, Fault, FaultCode, LineError
from egm.devices.line import LineLostError, SerialLine

M = TypeVar("M")

#: How long to wait before trying a missing port again: hot-plug is noticed within this time.
REOPEN_SECONDS = 0.5
#: A device is lost after this many questions in a row without an answer, and at least so long a silence,
#: of which only what the driver itself waited is counted.
SILENT_QUESTIONS = 5
SILENT_SECONDS = 1.5


@dataclass(slots=True)
class Exchanges:
    """How the questions to a device went, since the machine started: for monitoring."""

    answered: int = 0
    unanswered: int = 0
    refused: int = 0
    """Messages of the device that were none."""
    answer_seconds: float = 0.0
    """From each question to its answer, added up."""


class LineDriver(ABC, Generic[M]):
    """Runs cycles on a line, reopens it, and reports ``CommUp``, ``CommLost``, faults and refused bytes."""

    #: Seconds between cycles when there is nothing to do.
    poll_seconds: float = 0.2
    #: Seconds to wait for an answer.
    reply_seconds: float = 0.15

    def __init__(
        self, name: str, line: SerialLine, sink: EventSink, cutter: Cutter[M], protocol: str
    ) -> None:
        self._name = name
        self._line = line
        self._sink = sink
        self._protocol = protocol
        self._cutter = cutter
        self._reader = FrameReader(cutter)
        self._wake = asyncio.Event()
        self._up: bool | None = None
        self._silent_questions = 0
        self._silence = 0.0
        self._silent_at = 0.0
        self._asked = 0.0
        self._faults: dict[FaultCode, str] = {}
        self.exchanges = Exchanges()
        self.turns = 0
        """How often its loop came round: a driver that lives goes on turning, whatever its device does."""

    @property
    def name(self) -> str:
        """Its name in the cabinet file."""
        return self._name

    @property
    def up(self) -> bool:
        """Whether the device answers."""
        return self._up is True

    def stood(self, codes: frozenset[FaultCode]) -> None:
        """The faults it had when the machine was last up: each is cleared once the device has it no more."""
        self._faults.update(dict.fromkeys(codes - {FaultCode.COMMUNICATION}, ""))

    # ------------------------------------------------------------ the loop
    async def run(self) -> None:
        """Own the line until cancelled. Ends otherwise only with the error of a ledger that cannot record."""
        try:
            while True:
                try:
                    self._line.open()
                    self._reader = FrameReader(self._cutter)
                    self._session_begins()
                    while True:
                        self.turns += 1
                        await self._cycle()
                except LineLostError as error:
                    self._lost(str(error))
                self._line.close()
                self.turns += 1
                self._without_line()
                await asyncio.sleep(REOPEN_SECONDS)
        finally:
            self._line.close()

    @abstractmethod
    def _session_begins(self) -> None:
        """Forget what was believed of the device: it may have been anywhere meanwhile."""

    @abstractmethod
    async def _cycle(self) -> None:
        """Ask, act, pause."""

    def _without_line(self) -> None:
        """Called now and then while there is no line: for what must not wait for ever."""

    # ------------------------------------------------------------ the line
    async def _exchange(self, request: bytes) -> list[M]:
        """Send ``request`` and return what the device said by the time its first message is whole.

        An empty list means silence, which is counted; refused bytes are reported.
        """
        loop = asyncio.get_running_loop()
        self._line.write(request)
        self._asked = asked = loop.time()
        messages = await self._hear()
        if messages:
            self.exchanges.answer_seconds += loop.time() - asked
        return messages

    async def _hear(self) -> list[M]:
        """What the device says within ``reply_seconds``, by the time its first message is whole.

        An empty list means silence, which is counted. However late this driver's own process was woken, it
        looks once more at what has arrived meanwhile before it says so.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.reply_seconds
        left = self.reply_seconds
        while True:
            messages = self._sorted_out(self._reader.feed(await self._line.read(left)))
            if messages:
                self.exchanges.answered += 1
                self._answered()
                return messages
            if not left:
                break
            left = max(0.0, deadline - loop.time())
        self._sorted_out(self._reader.flush(self._protocol))
        self._unanswered()
        return []

    def _since_asked(self) -> float:
        """Seconds since the last question was sent: no answer to it can be older."""
        return asyncio.get_running_loop().time() - self._asked

    def _sorted_out(self, items: list[M | ProtocolError]) -> list[M]:
        messages: list[M] = []
        for item in items:
            if isinstance(item, ProtocolError):
                self.exchanges.refused += 1
                self._emit(LineError(device=self._name, text=str(item)))
            elif self._is_for_us(item):
                messages.append(item)
        return messages

    def _is_for_us(self, message: M) -> bool:  # noqa: ARG002 (for buses)
        """Whether a message is an answer at all: on a bus everybody hears everything."""
        return True

    async def _pause(self) -> None:
        """Wait for the next cycle; a new wish cuts the wait short."""
        try:
            async with asyncio.timeout(self.poll_seconds):
                await self._wake.wait()
        except TimeoutError:
            return
        self._wake.clear()

    # ------------------------------------------------------------ what is told
    def _emit(self, event: DeviceEvent) -> None:
        self._sink(event)

    def _answered(self) -> None:
        self._silent_questions = 0
        if self._up is not True:
            self._up = True
            self._emit(CommUp(device=self._name))

    def _unanswered(self) -> None:
        self.exchanges.unanswered += 1
        now = asyncio.get_running_loop().time()
        if self._silent_questions == 0:
            self._silence, self._silent_at = 0.0, now - self.reply_seconds
        # What a late process slept beyond its own waits is not the device's silence.
        self._silence += min(now - self._silent_at, self.reply_seconds + self.poll_seconds)
        self._silent_at = now
        self._silent_questions += 1
        lost = self._silent_questions >= SILENT_QUESTIONS and self._silence >= SILENT_SECONDS
        if self._up is not False and lost:
            self._lost(f"{self._line.path}: no answer to {self._silent_questions} questions")
            self._session_begins()

    def _lost(self, why: str) -> None:
        if self._up is not False:
            self._up = False
            self._emit(CommLost(device=self._name, why=why))

    def _show_faults(self, present: dict[FaultCode, str]) -> None:
        """Make ``present`` the device's faults: what is new is raised, what is missing is cleared."""
        for code in [code for code in self._faults if code not in present]:
            del self._faults[code]
            self._emit(Fault(device=self._name, code=code, active=False))
        for code, detail in present.items():
            if code not in self._faults:
                self._emit(Fault(device=self._name, code=code, active=True, detail=detail))
            self._faults[code] = detail

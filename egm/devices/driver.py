"""Common base of device drivers: a driver owns its serial line, queries the device, and detects missing replies.

A driver is a loop of *cycles*. One cycle queries the device's status and moves it one step towards the state that the
machine requests. A session lasts from opening the line to its loss; each session starts with a query, because anything
may have happened to the device before.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from egm.devices.channel_values import CHANNEL_VALUE_FAULTS, ChannelValueCheck
from egm.devices.framing import FrameCutter, FrameReader, ProtocolError
from egm.devices.interface import (
    DeviceEvent,
    DeviceFault,
    EventSink,
    FaultCode,
    InvalidBytesReceived,
    LineLost,
    LineRestored,
)
from egm.devices.line import LineLostError, SerialLine

MessageT = TypeVar("MessageT")
DecodedT = TypeVar("DecodedT")

#: Delay before a missing port is tried again: hot-plugging is detected within this time.
PORT_REOPEN_SECONDS = 0.5
#: A device is lost after this many consecutive queries without a reply, but not before
#: :data:`SECONDS_WITHOUT_REPLY_UNTIL_LOST`.
UNANSWERED_QUERIES_UNTIL_LOST = 5
#: A device is lost only after this time without a reply; only the time that the driver itself waited counts.
SECONDS_WITHOUT_REPLY_UNTIL_LOST = 1.5
#: How long an order about money (a stacking, a payout or a ticket) may make no progress before the driver ends it.
STALLED_DEVICE_ORDER_SECONDS_MAX = 60.0
#: The longest turn of a driver's loop: any longer time is one in which this process was not scheduled.
_LOOP_TURN_SECONDS_MAX = 5.0


@dataclass(slots=True)
class ExchangeCounts:
    """Counts of a device's replies and missing replies since the machine started, for monitoring."""

    answered_query_count: int = 0
    unanswered_query_count: int = 0
    invalid_message_count: int = 0
    """The number of times that bytes from the device were not a valid message."""
    total_reply_seconds: float = 0.0
    """The sum of the times from each query to its reply, in seconds."""


class OrderTimer:
    """A timer of the seconds for which a device's order has made no progress.

    Time in which this process did not run is left out.
    """

    def __init__(self) -> None:
        self.stalled_seconds = 0.0
        self._last_counted_at: float | None = None

    def restart(self) -> None:
        """Set the timer to zero, because the order has made progress or there is no order."""
        self.stalled_seconds, self._last_counted_at = 0.0, None

    def add_elapsed(self) -> float:
        """Add the seconds since the last call, at most _LOOP_TURN_SECONDS_MAX, to the timer; return its value."""
        now = asyncio.get_running_loop().time()
        if self._last_counted_at is not None:
            self.stalled_seconds += min(now - self._last_counted_at, _LOOP_TURN_SECONDS_MAX)
        self._last_counted_at = now
        return self.stalled_seconds


class LineDriver(ABC, Generic[MessageT]):
    """Common base of the device drivers: runs cycles on a serial line, and opens it again when it is lost.

    It emits ``LineRestored`` and ``LineLost``, device faults, and an event for bytes that are no valid message.
    """

    poll_seconds: float = 0.2
    """Seconds between cycles if there is nothing to do."""
    reply_seconds: float = 0.15
    """Seconds to wait for a reply."""

    def __init__(
        self, name: str, line: SerialLine, sink: EventSink, cutter: FrameCutter[MessageT], protocol: str
    ) -> None:
        self._name = name
        self._line = line
        self._sink = sink
        self._protocol = protocol
        self._cutter = cutter
        self._reader = FrameReader(cutter)
        self._wake_event = asyncio.Event()
        self._is_replying: bool | None = None  # None until the device first replies or is reported as lost
        self._unanswered_query_count = 0
        self._unanswered_seconds = 0.0
        self._unanswered_counted_at = 0.0
        self._queried_at = 0.0
        self._active_faults: dict[FaultCode, str] = {}
        self._faults_reported_by_device: dict[FaultCode, str] = {}
        self._faults_found_by_driver: dict[FaultCode, str] = {}
        self._undecodable_count = 0
        self._undecodable_since = 0.0
        self.exchange_counts = ExchangeCounts()
        self.loop_turn_count = 0
        """Number of turns of the driver's loop; it grows while the driver runs, even without replies."""

    @property
    def name(self) -> str:
        """Return the device's name in the cabinet file."""
        return self._name

    @property
    def is_replying(self) -> bool:
        """Return whether the device replies to queries now."""
        return self._is_replying is True

    def restore_faults(self, codes: frozenset[FaultCode]) -> None:
        """Restore the faults that were active when the machine stopped; each ends once the device no longer reports it.

        The communication fault is left out, because it depends on this run's line.
        """
        self._active_faults.update(dict.fromkeys(sorted(codes - {FaultCode.COMMUNICATION}), ""))

    # ------------------------------------------------------------ the loop
    async def run(self) -> None:
        """Operate the device's line until cancelled; a lost line is opened again.

        Only the error of a ledger that cannot store a change ends it.
        """
        try:
            while True:
                try:
                    self._line.open()
                    self._reader = FrameReader(self._cutter)
                    self._reset_session()
                    while True:
                        self.loop_turn_count += 1
                        await self._run_cycle()
                        self._end_overdue_order()
                except LineLostError as error:
                    self._handle_lost_line(str(error))
                self._line.close()
                self.loop_turn_count += 1
                self._handle_missing_line()
                self._end_overdue_order()
                await asyncio.sleep(PORT_REOPEN_SECONDS)
        finally:
            self._line.close()

    @abstractmethod
    def _reset_session(self) -> None:
        """Clear the state that the device has reported, because it may have changed unseen.

        This is called when the line has been opened, and when the device no longer replies.
        """

    @abstractmethod
    async def _run_cycle(self) -> None:
        """Run one cycle: query the device, act on its state, pause."""

    def _handle_missing_line(self) -> None:
        """Do nothing; a driver may override this to end an order that cannot wait for the line.

        This is called repeatedly while the line cannot be opened.
        """

    def _end_overdue_order(self) -> None:
        """Do nothing; a driver that handles money overrides this to end an order that makes no progress.

        This is called after each cycle, and repeatedly while the line cannot be opened.
        """

    # ------------------------------------------------------------ the line
    async def _exchange(self, request: bytes) -> list[MessageT]:
        """Send ``request``, wait for the device's reply, and return the messages received (usually one).

        If no reply comes, return an empty list and count a missing reply. Report bytes that are no valid
        message.
        """
        loop = asyncio.get_running_loop()
        self._line.write(request)
        self._queried_at = queried_at = loop.time()
        messages = await self._receive_reply()
        if messages:
            self.exchange_counts.total_reply_seconds += loop.time() - queried_at
        return messages

    async def _receive_reply(self) -> list[MessageT]:
        """Wait at most ``reply_seconds`` for a reply, and return the messages received (usually one).

        If none comes, return an empty list and count a missing reply. Before that, the line is read once more,
        because this process may have run late.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.reply_seconds
        seconds_left = self.reply_seconds
        while True:
            messages = self._filter_messages(self._reader.feed(await self._line.read(seconds_left)))
            if messages:
                self.exchange_counts.answered_query_count += 1
                self._handle_reply()
                return messages
            if not seconds_left:
                break
            seconds_left = max(0.0, deadline - loop.time())
        self._filter_messages(self._reader.flush(self._protocol))
        self._handle_missing_reply()
        return []

    def _measure_time_since_query(self) -> float:
        """Return the seconds since the last query was sent, an upper limit for the age of its reply."""
        return asyncio.get_running_loop().time() - self._queried_at

    def _filter_messages(self, parsed_frames: list[MessageT | ProtocolError]) -> list[MessageT]:
        """Return the messages for this driver among ``parsed_frames``; count the errors among them and report each."""
        messages: list[MessageT] = []
        for parsed_frame in parsed_frames:
            if isinstance(parsed_frame, ProtocolError):
                self._report_invalid_bytes(parsed_frame)
            elif self._is_reply_to_this_driver(parsed_frame):
                messages.append(parsed_frame)
        return messages

    def _is_reply_to_this_driver(self, message: MessageT) -> bool:  # noqa: ARG002 (used by drivers on a bus)
        """Return whether a message is a reply to this driver: on a bus, every driver receives every message."""
        return True

    def _report_invalid_bytes(self, error: ProtocolError) -> None:
        """Count bytes of the device that are no valid message, and report why."""
        self.exchange_counts.invalid_message_count += 1
        self._emit(InvalidBytesReceived(device=self._name, text=str(error)))

    def _decode_or_count_invalid(
        self, decode: Callable[[MessageT], DecodedT], message: MessageT
    ) -> DecodedT | None:
        """Return ``message`` as ``decode`` decodes it; if it cannot be decoded, count it as invalid and return None."""
        try:
            decoded_message = decode(message)
        except ProtocolError as error:
            self._count_invalid_message(error)
            return None
        self._handle_valid_message()
        return decoded_message

    def _count_invalid_message(self, error: ProtocolError) -> None:
        """Count a complete message that cannot be decoded.

        After several in a row, over some time, report the device as lost.
        """
        now = asyncio.get_running_loop().time()
        self._report_invalid_bytes(error)
        if not self._undecodable_count:
            self._undecodable_since = now
        self._undecodable_count += 1
        if (
            self._undecodable_count >= UNANSWERED_QUERIES_UNTIL_LOST
            and now - self._undecodable_since >= SECONDS_WITHOUT_REPLY_UNTIL_LOST
        ):
            self._handle_lost_line(
                f"{self._line.path}: {self._undecodable_count} replies in a row could not be read: {error}"
            )

    def _handle_valid_message(self) -> None:
        """Reset the count of messages that cannot be decoded, and report that the device replies.

        Do nothing if the last query got no reply.
        """
        if not self._unanswered_query_count:
            self._undecodable_count = 0
            self._report_line_restored()

    async def _pause_until_next_poll(self) -> None:
        """Wait for the next cycle; a new command ends the wait."""
        try:
            async with asyncio.timeout(self.poll_seconds):
                await self._wake_event.wait()
        except TimeoutError:
            return
        self._wake_event.clear()

    # ------------------------------------------------------------ reports
    def _emit(self, event: DeviceEvent) -> None:
        """Send an event of this device to the machine."""
        self._sink(event)

    def _handle_reply(self) -> None:
        """Reset the count of missing replies.

        Report that the device replies, unless its messages cannot be decoded.
        """
        self._unanswered_query_count = 0
        if not self._undecodable_count:
            self._report_line_restored()

    def _report_line_restored(self) -> None:
        """Report that the device replies, unless that has been reported already."""
        if self._is_replying is not True:
            self._is_replying = True
            self._emit(LineRestored(device=self._name))

    def _handle_missing_reply(self) -> None:
        """Count a query without a reply.

        After several in a row, over some time, report the device as lost, and clear the state that it has reported.
        """
        self.exchange_counts.unanswered_query_count += 1
        now = asyncio.get_running_loop().time()
        if self._unanswered_query_count == 0:
            self._unanswered_seconds, self._unanswered_counted_at = 0.0, now - self.reply_seconds
        # Time by which this process was scheduled late is not time without a reply of the device.
        self._unanswered_seconds += min(
            now - self._unanswered_counted_at, self.reply_seconds + self.poll_seconds
        )
        self._unanswered_counted_at = now
        self._unanswered_query_count += 1
        is_lost = (
            self._unanswered_query_count >= UNANSWERED_QUERIES_UNTIL_LOST
            and self._unanswered_seconds >= SECONDS_WITHOUT_REPLY_UNTIL_LOST
        )
        if self._is_replying is not False and is_lost:
            self._handle_lost_line(
                f"{self._line.path}: the device did not reply to {self._unanswered_query_count} queries"
            )
            self._reset_session()

    def _handle_lost_line(self, reason: str) -> None:
        """Report that the device or its line is lost, unless that has been reported already."""
        self._faults_found_by_driver.clear()  # these faults stay active until the device replies again
        if self._is_replying is not False:
            self._is_replying = False
            self._emit(LineLost(device=self._name, reason=reason))

    def _set_driver_fault(self, code: FaultCode, detail: str | None) -> None:
        """Raise a fault that the driver itself has detected; without ``detail``, clear it."""
        if detail is None:
            if self._faults_found_by_driver.pop(code, None) is None:
                return
        elif self._faults_found_by_driver.get(code) == detail:
            return
        else:
            self._faults_found_by_driver[code] = detail
        self._update_faults(self._faults_reported_by_device)

    def _report_value_faults(self, value_check: ChannelValueCheck) -> None:
        """Report the faults of wrong or unknown channel values.

        Do nothing until all channels of the acceptor have been queried or one has a wrong value.
        """
        if value_check.are_all_channels_queried or value_check.has_differences:
            for code in CHANNEL_VALUE_FAULTS:
                self._set_driver_fault(code, value_check.channel_value_faults.get(code))

    def _update_faults(self, reported_faults: dict[FaultCode, str]) -> None:
        """Set the device's faults to those in ``reported_faults`` and those that the driver itself has detected.

        Raise the new ones, and clear those that are no longer among them.
        """
        self._faults_reported_by_device = reported_faults
        active_faults = reported_faults | self._faults_found_by_driver
        for code in [code for code in self._active_faults if code not in active_faults]:
            del self._active_faults[code]
            self._emit(DeviceFault(device=self._name, code=code, is_active=False))
        for code, detail in active_faults.items():
            if code not in self._active_faults:
                self._emit(DeviceFault(device=self._name, code=code, is_active=True, detail=detail))
            self._active_faults[code] = detail

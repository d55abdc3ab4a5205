"""Protocol state of one SAS host: the last reply, the waiting exceptions, and whether the host polls.

It performs no input or output: its input is received messages and the time, its output are actions for the line's
thread. A host acknowledges a reply only by its next poll: a different poll, or a poll to another machine, means that it
has the reply; the same poll again means that it missed the reply.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from egm.links.sas.codec import BUSY, EVENT_REPORT_MARK, MalformedPollError, Reply
from egm.links.sas.crc import append_crc
from egm.links.sas.definitions import ExceptionUrgency
from egm.links.sas.exception_queue import ExceptionQueue, SasException
from egm.links.sas.poll import PollImplementation
from egm.links.sas.readout import SasReadout
from egm.links.sas.tables.exceptions import EXCEPTION_DEFINITION_BY_CODE, NO_EXCEPTION_CODE
from egm.links.sas.wire import (
    BROADCAST_ADDRESS,
    GeneralPoll,
    LongPoll,
    MessageToOtherMachine,
    ReceivedMessage,
)

#: The time in nanoseconds without a valid poll after which the link to the host counts as lost.
LINK_LOST_AFTER_NS: Final = 5_000_000_000
#: The interval in nanoseconds between chirps.
#:
#: A chirp is the machine's address alone; it is sent while no host polls (general knowledge).
CHIRP_INTERVAL_NS: Final = 200_000_000


@dataclass(frozen=True, slots=True)
class SendBytes:
    """Action: send ``data`` to the host; ``has_wakeup_bit`` sets the ninth bit of its first byte.

    The machine sets that bit only in a chirp: its own address, sent regularly while no host polls.
    """

    data: bytes
    has_wakeup_bit: bool = False


@dataclass(frozen=True, slots=True)
class RunPollEffect:
    """Action: execute the request that ``poll`` makes, then call :meth:`SasChannelState.reply_to_request`.

    If the poll's effect function takes too long, call :meth:`SasChannelState.send_busy_reply` first.
    """

    poll: PollImplementation
    request: LongPoll


@dataclass(frozen=True, slots=True)
class ReplyDelivered:
    """Action: report that the host has received the reply to a long poll."""

    poll: PollImplementation
    request: LongPoll
    reply: Reply


@dataclass(frozen=True, slots=True)
class ExceptionsDelivered:
    """Action: report that the host has received all exceptions of the journal entries up to number ``sequence``."""

    sequence: int


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """Action: report that the host has started to poll, or has stopped."""

    is_up: bool


@dataclass(frozen=True, slots=True)
class QueueFullChanged:
    """Action: report that the exception queue has overflowed or, with ``is_full`` False, is empty again."""

    is_full: bool


@dataclass(frozen=True, slots=True)
class PollUnanswered:
    """Action: report that a poll got no reply, and why.

    ``has_machine_failed`` is whether the machine itself was at fault, rather than the poll.
    """

    request: LongPoll
    reason: str
    has_machine_failed: bool = False


#: Anything that the channel asks its caller to do.
ChannelAction: TypeAlias = (
    SendBytes
    | RunPollEffect
    | ReplyDelivered
    | ExceptionsDelivered
    | LinkChanged
    | QueueFullChanged
    | PollUnanswered
)


@dataclass(frozen=True, slots=True)
class _LastReply:
    """The last reply to the host, and what to do once the host has received it."""

    request_frame: bytes
    """The frame of the long poll that this reply answers; empty for a general poll."""
    reply_frame: bytes
    """The bytes of the reply as sent."""
    reported_exception: SasException | None = None
    """The SAS exception that this reply reports; None for a long poll's reply."""
    delivery_report: ReplyDelivered | None = None
    """The report to yield once the host has this reply to a long poll; None for a general poll."""
    ended_exceptions: tuple[SasException, ...] = ()
    """Pending priority exceptions that the long poll ends; they are removed once the host has this reply."""
    is_busy: bool = False
    """Whether this reply only says that the request is still being processed."""
    is_delayed: bool = False
    """Whether this reply is the delayed result of an earlier request."""


class _RunningEffect(NamedTuple):
    """The poll whose request is still being executed, and the exceptions that waited when it was first received."""

    request_frame: bytes
    pending_exceptions: tuple[SasException, ...]


class SasChannelState:
    """The protocol state of the line of one SAS host, for the machine with SAS address ``address``.

    ``poll_by_code`` are the long polls that the machine answers, by command code. ``queue_size`` is the number of
    ordinary exceptions that may wait for the host. With ``requires_sync``, the machine replies only after a poll to
    another machine or to all. With ``sends_chirps``, it sends its address while no host polls.
    """

    def __init__(
        self,
        address: int,
        poll_by_code: Mapping[int, PollImplementation],
        *,
        queue_size: int = 20,
        requires_sync: bool = False,
        sends_chirps: bool = True,
        now_ns: int = 0,
    ) -> None:
        self.address = address
        self.readout: SasReadout | None = None
        self.is_real_time_reporting_on = False
        """Whether the host has switched real-time event reporting on."""
        self._poll_by_code = poll_by_code
        self._exception_queue = ExceptionQueue(queue_size)
        self._delayed_frames: deque[bytes] = deque()
        self._last_reply: _LastReply | None = None
        self._exceptions_pending_at_poll: tuple[SasException, ...] = ()
        self._running_effect: _RunningEffect | None = None
        self._requires_sync = requires_sync
        self._is_synchronised = not requires_sync
        self._sends_chirps = sends_chirps
        self._is_host_polling = False
        self._last_poll_ns = now_ns
        self._next_chirp_ns = now_ns
        self._is_queue_full = False
        #: Number of the last journal entry whose exception was queued, and of the last one reported as delivered.
        self._queued_sequence = self._delivered_sequence = 0

    # ------------------------------------------------------------------ from the machine
    def post_exception(self, exception: SasException, now_ns: int) -> Iterator[ChannelAction]:
        """Queue an exception for the host; yield a report if the queue has overflowed.

        An exception for real-time event reporting only is dropped while that is off.
        """
        self._queued_sequence = max(self._queued_sequence, exception.sequence)
        if (
            EXCEPTION_DEFINITION_BY_CODE[exception.code].urgency is ExceptionUrgency.REAL_TIME
            and not self.is_real_time_reporting_on
        ):
            return
        if not self._exception_queue.add_exception(exception, now_ns) and not self._is_queue_full:
            self._is_queue_full = True
            yield QueueFullChanged(is_full=True)

    def withdraw_exception(self, code: int) -> None:
        """Remove a priority exception that no longer applies from the exceptions waiting for the host."""
        self._exception_queue.withdraw_exception(code)

    def deliver_delayed_result(self, code: int, reply: Reply) -> None:
        """Queue the delayed result of a long poll; it answers the host's next general poll, before exceptions."""
        self._delayed_frames.append(reply.build_frame(self.address, code))

    # ------------------------------------------------------------------ from the line
    def process_message(self, message: ReceivedMessage, now_ns: int) -> Iterator[ChannelAction]:
        """Process a message received on the host's line; yield the actions to perform, such as sending a reply."""
        match message:
            case GeneralPoll(address=self.address):
                yield from self._record_poll_time(now_ns)
                if self._is_synchronised:
                    yield from self._handle_general_poll(now_ns)
            case LongPoll() if message.address == self.address:
                yield from self._record_poll_time(now_ns)
                if self._is_synchronised:
                    yield from self._handle_long_poll(message, now_ns)
            case LongPoll() if message.address == BROADCAST_ADDRESS:
                yield from self._record_poll_time(now_ns)
                yield from self._handle_poll_to_other_machine(now_ns)
                poll = self._poll_by_code.get(message.code)
                if poll is not None and poll.is_executed_as_broadcast:
                    self._running_effect = None
                    yield RunPollEffect(poll, message)
            case GeneralPoll() | MessageToOtherMachine():
                yield from self._handle_poll_to_other_machine(now_ns)
            case _:  # broken bytes acknowledge nothing
                return

    def _record_poll_time(self, now_ns: int) -> Iterator[ChannelAction]:
        """Store the time of the host's poll; if it had stopped polling, report that the link is up again."""
        self._last_poll_ns = now_ns
        if not self._is_host_polling:
            self._is_host_polling = True
            yield LinkChanged(is_up=True)

    def _handle_poll_to_other_machine(self, now_ns: int) -> Iterator[ChannelAction]:
        """Handle a poll to another machine or to all machines, which acknowledges this machine's last reply."""
        self._is_synchronised = True
        yield from self._process_acknowledgement(now_ns)

    def _handle_general_poll(self, now_ns: int) -> Iterator[ChannelAction]:
        """Reply to a general poll with the next delayed result of a long poll or, without one, the next exception.

        If the host repeats the general poll because it has missed the reply, send the last reply again.
        """
        last_reply = self._last_reply
        if (
            last_reply is not None
            and not last_reply.request_frame
            and (last_reply.reported_exception is not None or last_reply.is_delayed)
        ):
            yield SendBytes(last_reply.reply_frame)  # the same poll again: the host did not receive the reply
            return
        yield from self._process_acknowledgement(now_ns)
        if self._delayed_frames:
            self._last_reply = _LastReply(b"", self._delayed_frames[0], is_delayed=True)
        else:
            exception = self._exception_queue.find_next_exception(now_ns)
            if self.is_real_time_reporting_on:
                frame = self._encode_event_report(exception)
            else:
                frame = bytes((NO_EXCEPTION_CODE if exception is None else exception.code,))
            self._last_reply = _LastReply(b"", frame, reported_exception=exception)
        yield SendBytes(self._last_reply.reply_frame)

    def _encode_event_report(self, exception: SasException | None) -> bytes:
        """Encode an exception for real-time event reporting; None reports that there is no event."""
        if exception is None:
            return append_crc(bytes((self.address, EVENT_REPORT_MARK, NO_EXCEPTION_CODE)))
        code = exception.event_code or exception.code
        return append_crc(bytes((self.address, EVENT_REPORT_MARK, code)) + exception.data)

    def _handle_long_poll(self, request: LongPoll, now_ns: int) -> Iterator[ChannelAction]:
        """Reply to a long poll, or have its effect function (which executes the host's request) run by the machine.

        If the host repeats a poll whose reply has ``is_resent_on_repeat``, send that reply again. If real-time event
        reporting is on and an exception waits, send the exception instead of the reply. A poll that this machine does
        not implement gets no reply.
        """
        last_reply = self._last_reply
        is_repeated = last_reply is not None and last_reply.request_frame == request.frame
        if (
            is_repeated
            and last_reply is not None
            and last_reply.delivery_report is not None
            and last_reply.delivery_report.reply.is_resent_on_repeat
        ):
            yield SendBytes(last_reply.reply_frame)
            return
        if not is_repeated or (last_reply is not None and last_reply.reported_exception is not None):
            yield from self._process_acknowledgement(now_ns)
        poll = self._poll_by_code.get(request.code)
        if poll is None:
            return
        # The reply ends only exceptions that were pending when the poll was first received.
        running_effect = (
            self._running_effect
            if self._running_effect is not None and self._running_effect.request_frame == request.frame
            else None
        )
        self._exceptions_pending_at_poll = (
            self._exception_queue.list_exceptions_ended_by(request.code)
            if running_effect is None
            else running_effect.pending_exceptions
        )
        exception = (
            self._exception_queue.find_next_exception(now_ns) if self.is_real_time_reporting_on else None
        )
        if exception is not None:
            self._last_reply = _LastReply(
                request.frame, self._encode_event_report(exception), reported_exception=exception
            )
            yield SendBytes(self._last_reply.reply_frame)
        elif poll.answer_function is None:
            # A different poll ends the wait for an earlier effect: the line's thread also waits for only one effect.
            self._running_effect = running_effect
            yield RunPollEffect(poll, request)
        elif self.readout is not None:
            try:
                reply = poll.answer_function(request, self.readout)
            except MalformedPollError as error:
                yield PollUnanswered(request, str(error))
                return
            except Exception as error:  # noqa: BLE001 (one failed reply must not stop the line)
                yield PollUnanswered(request, repr(error), has_machine_failed=True)
                return
            yield from self.reply_to_request(poll, request, reply)

    def reply_to_request(
        self, poll: PollImplementation, request: LongPoll, reply: Reply | None
    ) -> Iterator[ChannelAction]:
        """Send ``reply`` to the host's ``request``; None means no reply. A broadcast is never answered."""
        if request.address == BROADCAST_ADDRESS:
            return
        if self._running_effect is not None and self._running_effect.request_frame == request.frame:
            self._running_effect = None
        if reply is None:
            self._last_reply = None
            yield PollUnanswered(request, "not supported by this machine")
            return
        frame = reply.build_frame(self.address, request.code)
        self._last_reply = _LastReply(
            request.frame,
            frame,
            delivery_report=ReplyDelivered(poll, request, reply),
            ended_exceptions=self._exceptions_pending_at_poll,
        )
        yield SendBytes(frame)

    def send_busy_reply(self, request: LongPoll) -> Iterator[ChannelAction]:
        """Reply that ``request`` is still being processed, so that the host repeats it."""
        self._running_effect = _RunningEffect(request.frame, self._exceptions_pending_at_poll)
        frame = BUSY.build_frame(self.address, request.code)
        self._last_reply = _LastReply(request.frame, frame, is_busy=True)
        yield SendBytes(frame)

    def _process_acknowledgement(self, now_ns: int) -> Iterator[ChannelAction]:
        """Handle the host's acknowledgement of the last reply: remove the exceptions that it has reported or ended.

        Yield the reports for the machine, if any.
        """
        acknowledged_reply, self._last_reply = self._last_reply, None
        if acknowledged_reply is None:
            return
        if acknowledged_reply.is_delayed:
            self._delayed_frames.popleft()
        if acknowledged_reply.reported_exception is not None:
            self._exception_queue.remove_delivered_exception(acknowledged_reply.reported_exception, now_ns)
        if acknowledged_reply.delivery_report is not None:
            self._exception_queue.remove_ended_exceptions(acknowledged_reply.ended_exceptions)
            yield acknowledged_reply.delivery_report
        if self._is_queue_full and self._exception_queue.is_ordinary_queue_empty:
            self._is_queue_full = False
            yield QueueFullChanged(is_full=False)
        oldest_sequence = self._exception_queue.oldest_sequence
        delivered_sequence = self._queued_sequence if oldest_sequence is None else oldest_sequence - 1
        if delivered_sequence > self._delivered_sequence:
            self._delivered_sequence = delivered_sequence
            yield ExceptionsDelivered(delivered_sequence)

    # ------------------------------------------------------------------ from the clock
    @property
    def deadline_ns(self) -> int:
        """Return the monotonic time at which :meth:`process_elapsed_time` must be called next."""
        return self._last_poll_ns + LINK_LOST_AFTER_NS if self._is_host_polling else self._next_chirp_ns

    def process_elapsed_time(self, now_ns: int) -> Iterator[ChannelAction]:
        """Process the passing of time: detect that the host has stopped polling, and chirp while the link is down."""
        if self._is_host_polling and now_ns - self._last_poll_ns >= LINK_LOST_AFTER_NS:
            self._is_host_polling = False
            self._is_synchronised = not self._requires_sync
            self._last_reply = None  # the next poll may come from a host that has not received it
            self._next_chirp_ns = now_ns
            yield LinkChanged(is_up=False)
        if not self._is_host_polling and now_ns >= self._next_chirp_ns:
            self._next_chirp_ns = now_ns + CHIRP_INTERVAL_NS
            if self._sends_chirps:
                yield SendBytes(bytes((self.address,)), has_wakeup_bit=True)

"""Thread of a SAS line, which waits only for bytes on the line, so that replies are on time.

The thread receives the machine's data as immutable values: a :class:`SasReadout` (the data for the host's polls) after
every change, and exceptions to send. It passes requests to the machine's event loop, and waits for a result no longer
than the host waits for its reply.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from egm.devices.line import LineLostError
from egm.links.sas.channel import (
    ChannelAction,
    ExceptionsDelivered,
    LinkChanged,
    PollUnanswered,
    QueueFullChanged,
    ReplyDelivered,
    RunPollEffect,
    SasChannelState,
    SendBytes,
)
from egm.links.sas.codec import Reply
from egm.links.sas.exception_queue import SasException
from egm.links.sas.messages import (
    DelayedResultDelivered,
    ExceptionWithdrawn,
    RealTimeReportingSet,
    SasLineMessage,
)
from egm.links.sas.ports import SasPort
from egm.links.sas.readout import SasReadout
from egm.links.sas.wire import (
    BROADCAST_ADDRESS,
    BrokenMessage,
    GeneralPoll,
    LongPoll,
    MessageToOtherMachine,
    ReceivedMessage,
    SasFraming,
)

#: Delay before a lost port is opened again.
_PORT_REOPEN_SECONDS: Final = 1.0
#: Scheduling priorities of the machine's event loop and of a SAS line's thread.
LOOP_PRIORITY, LINE_PRIORITY = 1, 2
#: Interval at which the interpreter switches threads, so that the SAS line's thread is not delayed.
_THREAD_SWITCH_SECONDS: Final = 0.0005
#: Upper limits of the reply times by which replies are counted, in milliseconds.
_REPLY_TIME_LIMITS_MS: Final = (1, 2, 5, 10, 20, 50)


@dataclass(slots=True)
class SasLineHealth:
    """Health of a SAS line since the machine started: counts of messages, and reply times."""

    is_port_open: bool = False
    is_host_polling: bool = False
    poll_count: int = 0
    busy_reply_count: int = 0
    """The number of replies that only said that the request is still being processed."""
    refused_poll_count: int = 0
    broken_message_count: int = 0
    """The number of times that received bytes formed no message; many point to a bad cable."""
    other_machine_poll_count: int = 0
    """The number of messages to other machines on the line."""
    reply_counts_by_limit_ms: tuple[tuple[int, int], ...] = ()
    """Numbers of replies by reply time: pairs of an upper limit in milliseconds and a number of replies.

    Each reply is counted once, at the lowest limit that it keeps. A reply slower than all limits is counted at the
    limit 0, which is the last. The reply time runs from reading a poll's last byte to writing the reply.
    """
    total_reply_ns: int = 0
    """The sum of all reply times, in nanoseconds."""


#: The channel's actions that concern the machine and not the line; they are passed to the machine's event
#: loop.
SasLineNotification: TypeAlias = (
    ReplyDelivered | ExceptionsDelivered | LinkChanged | QueueFullChanged | PollUnanswered
)


def raise_thread_priority(priority: int) -> None:
    """Raise the calling thread's priority above all ordinary threads of the computer, if that is permitted.

    A line's thread gets the highest priority and the machine's event loop the next one: while the loop runs, the line's
    thread waits for the interpreter. Child processes do not inherit the priority. The interpreter's interval for
    switching threads is also reduced, from five milliseconds to half a millisecond.
    """
    sys.setswitchinterval(_THREAD_SWITCH_SECONDS)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(priority))


def restore_thread_priority() -> None:
    """Restore the ordinary scheduling priority of the calling thread."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class _PendingEffect(NamedTuple):
    """A poll that was answered "busy" because its request is still being executed: its frame and its future reply."""

    request_frame: bytes
    future: "Future[Reply | None]"


class SasLineThread(threading.Thread):
    """The thread that serves the line to one SAS host; ``open_port`` opens the line's port.

    ``run_effect`` schedules a poll's effect on the machine's event loop and returns its future at once;
    ``report`` passes reports (confirmations, changes of the link) to that loop. Both may be called from this
    thread. If an effect has not ended ``busy_after_ns`` after its poll, the machine replies that it is busy.
    """

    def __init__(
        self,
        name: str,
        channel: SasChannelState,
        framing: SasFraming,
        *,
        open_port: Callable[[], SasPort],
        run_effect: Callable[[RunPollEffect], "Future[Reply | None]"],
        report: Callable[[SasLineNotification], None],
        monotonic_ns: Callable[[], int],
        busy_after_ns: int,
    ) -> None:
        super().__init__(name=f"sas-{name}", daemon=True)
        self._channel = channel
        self._framing = framing
        self._open_port = open_port
        self._run_effect = run_effect
        self._report = report
        self._read_monotonic_ns = monotonic_ns
        self._busy_after_ns = busy_after_ns
        self._pending_messages: deque[SasLineMessage] = deque()
        self._newest_readout: SasReadout | None = None
        self._end_event = threading.Event()
        self.port_open_event = threading.Event()
        """An event that is set while the line's port is open."""
        self._port: SasPort | None = None
        self._pending_effect: _PendingEffect | None = None
        self._received_ns = 0
        self._reported_error = ""
        """The last printed reason why the port is not open; "" while it is open."""
        self._health = SasLineHealth()
        """Counts of messages and reply times so far; :meth:`health` adds the state of the port."""
        self._reply_count_by_limit_ms = dict.fromkeys((*_REPLY_TIME_LIMITS_MS, 0), 0)

    # ------------------------------------------------------------------ called on the event loop
    def send_to_line(self, *messages: SasLineMessage) -> None:
        """Pass messages of the machine's loop to the SAS line, which processes them before it answers the next poll."""
        for message in messages:
            if isinstance(message, SasReadout):  # only the newest readout is ever read
                self._newest_readout = message
            else:
                self._pending_messages.append(message)

    def request_end(self) -> None:
        """Request the end of the SAS line's thread; ``join`` waits for it."""
        self._end_event.set()
        if self._port is not None:
            self._port.wake()

    @property
    def health(self) -> SasLineHealth:
        """Return the current health of the SAS line: the counts of its messages and the reply times."""
        return replace(
            self._health,
            is_port_open=self.port_open_event.is_set(),
            reply_counts_by_limit_ms=tuple(self._reply_count_by_limit_ms.items()),
        )

    # ------------------------------------------------------------------ the thread
    def run(self) -> None:
        """Open the SAS line and serve it, reopening after errors, until asked to end."""
        raise_thread_priority(LINE_PRIORITY)
        while not self._end_event.is_set():
            self._take_messages_from_machine()
            try:
                port = self._open_port()
            except LineLostError as error:
                self._report_lost_port(str(error))
                self._end_event.wait(_PORT_REOPEN_SECONDS)
                continue
            self._port = port
            self._reported_error = ""
            self.port_open_event.set()
            try:
                self._serve(port)
            except LineLostError as error:
                self._report_lost_port(str(error))
                self._end_event.wait(_PORT_REOPEN_SECONDS)
            finally:
                self.port_open_event.clear()
                self._port = None
                port.close()

    def _report_lost_port(self, error: str) -> None:
        """Print why the port is not open, once for each reason until it is open again."""
        if error != self._reported_error:
            from egm.terminal import echo  # noqa: PLC0415 (needed only while the port is not open)

            self._reported_error = error
            with suppress(OSError):  # the line goes on even if nobody can read what it prints
                echo(f"{self.name}: {error}; the port is tried every {_PORT_REOPEN_SECONDS:g} s", err=True)

    def _serve(self, port: SasPort) -> None:
        """Serve an open SAS port until :meth:`request_end`: read bytes, decode messages, perform the actions."""
        while not self._end_event.is_set():
            self._take_messages_from_machine()
            now_ns = self._read_monotonic_ns()
            for action in self._channel.process_elapsed_time(now_ns):
                self._perform_action(port, action)
            data = port.read(max(0, self._channel.deadline_ns - now_ns) / 1e9)
            if not data:
                continue
            self._received_ns = self._read_monotonic_ns()
            for message in self._framing.decode(data, self._received_ns):
                self._take_messages_from_machine()
                self._count_message(message)
                for action in self._channel.process_message(message, self._received_ns):
                    self._perform_action(port, action)

    def _take_messages_from_machine(self) -> None:
        """Process all messages that the machine's event loop has passed to the SAS line, in order.

        This happens even while the host does not poll.
        """
        if self._newest_readout is not None:
            self._channel.readout = self._newest_readout
        while self._pending_messages:
            match self._pending_messages.popleft():
                case SasException() as exception:
                    for action in self._channel.post_exception(exception, self._read_monotonic_ns()):
                        self._perform_action(None, action)
                case ExceptionWithdrawn(code=code):
                    self._channel.withdraw_exception(code)
                case DelayedResultDelivered(code=code, reply=reply):
                    self._channel.deliver_delayed_result(code, reply)
                case RealTimeReportingSet(is_on=is_on):
                    self._channel.is_real_time_reporting_on = is_on

    def _count_message(self, message: ReceivedMessage) -> None:
        """Count a message on the SAS line: a poll of this machine, a message to another machine, or broken bytes."""
        match message:
            case BrokenMessage():
                self._health.broken_message_count += 1
            case GeneralPoll(address=address) | LongPoll(address=address):
                is_for_us = address in {self._channel.address, BROADCAST_ADDRESS}
                self._health.poll_count += is_for_us
                self._health.other_machine_poll_count += not is_for_us
            case MessageToOtherMachine():
                self._health.other_machine_poll_count += 1

    def _perform_action(self, port: SasPort | None, action: ChannelAction) -> None:
        """Perform an action of the protocol state: send bytes, run a poll's effect function, or report to the machine.

        If the port is closed (None), the first two are dropped.
        """
        match action:
            case SendBytes(data=data, has_wakeup_bit=has_wakeup_bit) if port is not None:
                port.write(data, has_wakeup_bit=has_wakeup_bit)
                if not has_wakeup_bit:
                    self._count_reply_time()
            case RunPollEffect() if port is not None:
                self._run_or_check_effect(port, action)
            case SendBytes() | RunPollEffect():  # the line is closed
                return
            case _:
                if isinstance(action, LinkChanged):
                    self._health.is_host_polling = action.is_up
                elif isinstance(action, PollUnanswered):
                    self._health.refused_poll_count += 1
                self._report(action)

    def _count_reply_time(self) -> None:
        """Count a reply to the SAS host by the time since its poll was received."""
        reply_ns = self._read_monotonic_ns() - self._received_ns
        reply_ms = reply_ns / 1e6
        self._health.total_reply_ns += reply_ns
        self._reply_count_by_limit_ms[
            next((limit_ms for limit_ms in _REPLY_TIME_LIMITS_MS if reply_ms <= limit_ms), 0)
        ] += 1

    def _run_or_check_effect(self, port: SasPort, effect: RunPollEffect) -> None:
        """Run a SAS poll's effect function, which executes the host's request, and send the reply that it returns.

        It runs on the machine's event loop. If it takes too long, reply that the machine is busy. The host then repeats
        the poll, which waits for the same run instead of starting another. A broadcast gets no reply.
        """
        frame = effect.request.frame
        if self._pending_effect is not None and self._pending_effect.request_frame == frame:
            future = self._pending_effect.future
        else:
            future = self._run_effect(effect)
        self._pending_effect = None
        if effect.request.address == BROADCAST_ADDRESS:
            return
        try:
            reply = future.result(
                max(0, self._received_ns + self._busy_after_ns - self._read_monotonic_ns()) / 1e9
            )
        except TimeoutError:
            self._pending_effect = _PendingEffect(frame, future)
            self._health.busy_reply_count += 1
            actions = self._channel.send_busy_reply(effect.request)
        except CancelledError:  # the machine is stopping
            return
        else:
            self._take_messages_from_machine()  # consequences of the effect must apply before its reply is sent
            actions = self._channel.reply_to_request(effect.poll, effect.request, reply)
        for action in actions:
            self._perform_action(port, action)

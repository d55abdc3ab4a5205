"""SAS exception queue of one host, and the priority exceptions, which are sent before the queue.

Most exceptions wait in a queue of limited length, first in, first out. Priority exceptions wait outside it and are
sent first. Those in :data:`ENDING_POLL_CODES_BY_EXCEPTION_CODE` are repeated every 15 seconds until a poll that ends
them has been answered; the others are removed once the host has received them. A public document states this for
exception 51; for the others no published source is known.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from egm.links.sas.definitions import ExceptionUrgency
from egm.links.sas.tables.exceptions import EXCEPTION_DEFINITION_BY_CODE, QUEUE_OVERFLOW_EXCEPTION_CODE

#: Interval at which a priority exception is sent again until a poll ends it.
EXCEPTION_REPEAT_INTERVAL_NS: Final = 15_000_000_000

#: The polls that end each priority exception. One that is not listed is removed once the host has received it.
ENDING_POLL_CODES_BY_EXCEPTION_CODE: Final[Mapping[int, frozenset[int]]] = {
    0x3D: frozenset({0x3D, 0x4D}),
    0x3E: frozenset({0x4D}),
    0x3F: frozenset({0x4C}),
    0x51: frozenset({0x1B}),
    0x56: frozenset({0x84, 0x85, 0x87}),
    0x57: frozenset({0x57}),
    0x67: frozenset({0x70}),
    0x68: frozenset({0x71}),
    0x69: frozenset({0x72}),
    0x6A: frozenset({0x72, 0x74}),
    0x6B: frozenset({0x72, 0x74}),
    0x6C: frozenset({0x73}),
    0x6D: frozenset({0x73}),
    0x6F: frozenset({0x72, 0x74}),
    0x8F: frozenset({0x6E}),
}


@dataclass(frozen=True, slots=True)
class SasException:
    """A SAS exception to report to a host.

    ``event_code`` and ``data`` are sent if real-time event reporting is on; ``event_code`` 0 means that it equals
    ``code``. ``sequence`` is the number of the journal entry that raised the exception, 0 for none.
    """

    code: int
    data: bytes = b""
    event_code: int = 0
    sequence: int = 0


@dataclass(slots=True)
class _PriorityException:
    """A priority exception that waits for the long poll that ends it, and the time at which to send it again."""

    exception: SasException
    due_ns: int


class ExceptionQueue:
    """The SAS exceptions that wait for one host: at most ``size_max`` ordinary ones, and the priority exceptions."""

    def __init__(self, size_max: int) -> None:
        self._size_max = size_max
        self._ordinary_exceptions: deque[SasException] = deque()
        self._priority_exception_by_code: dict[int, _PriorityException] = {}

    def add_exception(self, exception: SasException, now_ns: int) -> bool:
        """Queue an exception for the host; return False if the queue was full.

        If it was full, the exception is dropped and the overflow exception is raised.
        """
        urgency = EXCEPTION_DEFINITION_BY_CODE[exception.code].urgency
        if urgency in {ExceptionUrgency.PRIORITY, ExceptionUrgency.QUEUED_OR_PRIORITY}:
            self._priority_exception_by_code[exception.code] = _PriorityException(exception, now_ns)
        elif len(self._ordinary_exceptions) < self._size_max:
            self._ordinary_exceptions.append(exception)
        else:
            self._priority_exception_by_code[QUEUE_OVERFLOW_EXCEPTION_CODE] = _PriorityException(
                SasException(QUEUE_OVERFLOW_EXCEPTION_CODE), now_ns
            )
            return False
        return True

    @property
    def is_ordinary_queue_empty(self) -> bool:
        """Return whether no ordinary exception is waiting; priority exceptions do not count."""
        return not self._ordinary_exceptions

    def withdraw_exception(self, code: int) -> None:
        """Remove a priority exception that no longer applies."""
        self._priority_exception_by_code.pop(code, None)

    def find_next_exception(self, now_ns: int) -> SasException | None:
        """Return the exception to send to the host now, or None.

        :meth:`remove_delivered_exception` removes it once the host has received it.
        """
        for pending_exception in self._priority_exception_by_code.values():
            if pending_exception.due_ns <= now_ns:
                return pending_exception.exception
        return self._ordinary_exceptions[0] if self._ordinary_exceptions else None

    def remove_delivered_exception(self, exception: SasException, now_ns: int) -> None:
        """Remove from the queue an exception that the host has received.

        A priority exception that only a long poll ends is not removed; it is sent again later.
        """
        if self._ordinary_exceptions and self._ordinary_exceptions[0] is exception:
            self._ordinary_exceptions.popleft()
            return
        pending_exception = self._priority_exception_by_code.get(exception.code)
        if pending_exception is None or pending_exception.exception is not exception:
            return
        if exception.code in ENDING_POLL_CODES_BY_EXCEPTION_CODE:
            pending_exception.due_ns = now_ns + EXCEPTION_REPEAT_INTERVAL_NS
        else:
            del self._priority_exception_by_code[exception.code]

    def list_exceptions_ended_by(self, poll_code: int) -> tuple[SasException, ...]:
        """Return the pending priority exceptions that a long poll with command code ``poll_code`` ends."""
        return tuple(
            pending_exception.exception
            for code, pending_exception in self._priority_exception_by_code.items()
            if poll_code in ENDING_POLL_CODES_BY_EXCEPTION_CODE.get(code, ())
        )

    def remove_ended_exceptions(self, exceptions: tuple[SasException, ...]) -> None:
        """Remove priority exceptions, because the host has received the reply to the poll that ends them."""
        for exception in exceptions:
            pending_exception = self._priority_exception_by_code.get(exception.code)
            if pending_exception is not None and pending_exception.exception is exception:
                del self._priority_exception_by_code[exception.code]

    @property
    def oldest_sequence(self) -> int | None:
        """Return the number of the oldest journal entry whose exception the host has not received, or None."""
        ordinary_sequences = [
            exception.sequence for exception in self._ordinary_exceptions if exception.sequence
        ]
        priority_sequences = [
            pending_exception.exception.sequence
            for pending_exception in self._priority_exception_by_code.values()
            if pending_exception.exception.sequence
        ]
        return min(ordinary_sequences + priority_sequences, default=None)

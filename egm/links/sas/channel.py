"""SAS channel: what one host was told last, what waits to be told, and whether it still asks.

Pure: fed with what was heard and the time, it yields what to do. The host never says that it has received an
answer; what it does next says so. A different poll, or one to another machine, acknowledges; the same poll
again asks for the same answer again.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from egm.links.sas.codec import BUSY, EVENT_MARK, MalformedPollError, Reply
from egm.links.sas.crc import sealed
from egm.links.sas.exception_queue import ExceptionQueue, SasException
from egm.links.sas.names import Urgency
from egm.links.sas.poll import Poll
from egm.links.sas.readout import Readout
from egm.links.sas.tables.exceptions import EXCEPTIONS, NOTHING
from egm.links.sas.wire import BROADCAST, Elsewhere, GeneralPoll, Heard, LongPoll

LINK_LOST_NS: Final = 5_000_000_000
"""No valid poll for so long, and the link is down."""
CHIRP_NS: Final = 200_000_000
"""How often the address is sent while it is (general knowledge)."""


@dataclass(frozen=True, slots=True)
class Send:
    """Put ``data`` on the line; ``wakeup``: with the ninth bit, which only a chirp has."""

    data: bytes
    wakeup: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """Run the effect of ``poll``; then :meth:`Channel.replied`, or :meth:`Channel.busy` if it takes long."""

    poll: Poll
    request: LongPoll


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The host has the answer."""

    poll: Poll
    request: LongPoll
    reply: Reply


@dataclass(frozen=True, slots=True)
class Told:
    """The host has heard of everything up to this journal entry."""

    sequence: int


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The host has begun to poll, or has stopped."""

    up: bool


@dataclass(frozen=True, slots=True)
class QueueFull:
    """The queue has taken no more, or is empty again after that."""

    full: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A poll was met with silence, for this reason; ``failed``: it was the machine's own fault."""

    request: LongPoll
    why: str
    failed: bool = False


Action: TypeAlias = Send | Ask | Confirmed | Told | LinkChanged | QueueFull | Refused


@dataclass(frozen=True, slots=True)
class _Said:
    """The last answer: to what, which bytes, and what the host has when it is acknowledged."""

    to: bytes
    """The long poll's frame; empty for a general poll."""
    out: bytes
    exception: SasException | None = None
    answered: tuple[Poll, LongPoll, Reply] | None = None
    serves: tuple[SasException, ...] = ()
    """What stood when it was asked for, and is done with when the host has it."""
    busy: bool = False
    delayed: bool = False


class Channel:
    """One host's conversation with this machine, at ``address``, over ``polls``."""

    def __init__(
        self,
        address: int,
        polls: Mapping[int, Poll],
        *,
        queue: int = 20,
        require_sync: bool = False,
        chirp: bool = True,
        now_ns: int = 0,
    ) -> None:
        self.address = address
        self.readout: Readout | None = None
        self.real_time = False
        """Whether the host has asked for real-time event reporting."""
        self._polls = polls
        self._queue = ExceptionQueue(queue)
        self._delayed: deque[bytes] = deque()
        self._said: _Said | None = None
        self._serves: tuple[SasException, ...] = ()
        self._begun: tuple[bytes, tuple[SasException, ...]] | None = None
        """The poll whose effect was running at the last look, and what stood when it was first asked."""
        self._require_sync = require_sync
        self._synchronised = not require_sync
        self._chirp = chirp
        self._up = False
        self._polled_ns = now_ns
        self._next_chirp_ns = now_ns
        self._full = False
        self._posted = 0
        self._told = 0

    # ------------------------------------------------------------------ from the machine
    def post(self, exception: SasException, now_ns: int) -> Iterator[Action]:
        """Something has happened that the host is to hear of."""
        self._posted = max(self._posted, exception.sequence)
        if EXCEPTIONS[exception.code].urgency is Urgency.REAL_TIME and not self.real_time:
            return
        if not self._queue.post(exception, now_ns) and not self._full:
            self._full = True
            yield QueueFull(full=True)

    def withdraw(self, code: int) -> None:
        """A priority exception no longer holds."""
        self._queue.withdraw(code)

    def deliver(self, code: int, reply: Reply) -> None:
        """A result that took its time: it answers the next general poll in place of an exception."""
        self._delayed.append(reply.frame(self.address, code))

    # ------------------------------------------------------------------ from the line
    def hear(self, heard: Heard, now_ns: int) -> Iterator[Action]:
        """What to do about what was heard."""
        match heard:
            case GeneralPoll(address=self.address):
                yield from self._polled(now_ns)
                if self._synchronised:
                    yield from self._general(now_ns)
            case LongPoll() if heard.address == self.address:
                yield from self._polled(now_ns)
                if self._synchronised:
                    yield from self._long(heard, now_ns)
            case LongPoll() if heard.address == BROADCAST:
                yield from self._polled(now_ns)
                yield from self._elsewhere(now_ns)
                poll = self._polls.get(heard.code)
                if poll is not None and poll.broadcast:
                    self._begun = None
                    yield Ask(poll, heard)
            case GeneralPoll() | Elsewhere():
                yield from self._elsewhere(now_ns)
            case _:  # broken bytes say nothing, and acknowledge nothing
                return

    def _polled(self, now_ns: int) -> Iterator[Action]:
        self._polled_ns = now_ns
        if not self._up:
            self._up = True
            yield LinkChanged(up=True)

    def _elsewhere(self, now_ns: int) -> Iterator[Action]:
        self._synchronised = True
        yield from self._acknowledged(now_ns)

    def _general(self, now_ns: int) -> Iterator[Action]:
        said = self._said
        if said is not None and not said.to and (said.exception is not None or said.delayed):
            yield Send(said.out)  # the same poll again: it was not heard
            return
        yield from self._acknowledged(now_ns)
        if self._delayed:
            self._said = _Said(b"", self._delayed[0], delayed=True)
        else:
            exception = self._queue.next(now_ns)
            if self.real_time:
                out = self._event(exception)
            else:
                out = bytes((NOTHING if exception is None else exception.code,))
            self._said = _Said(b"", out, exception=exception)
        yield Send(self._said.out)

    def _event(self, exception: SasException | None) -> bytes:
        """A real-time event report."""
        if exception is None:
            return sealed(bytes((self.address, EVENT_MARK, NOTHING)))
        code = exception.event or exception.code
        return sealed(bytes((self.address, EVENT_MARK, code)) + exception.data)

    def _long(self, request: LongPoll, now_ns: int) -> Iterator[Action]:
        said = self._said
        again = said is not None and said.to == request.frame
        if again and said is not None and said.answered is not None and said.answered[2].once:
            yield Send(said.out)
            return
        if not again or (said is not None and said.exception is not None):
            yield from self._acknowledged(now_ns)
        poll = self._polls.get(request.code)
        if poll is None:
            return
        # What the answer is about stood when it was first asked for, whatever else was asked since.
        begun = self._begun if self._begun is not None and self._begun[0] == request.frame else None
        self._serves = self._queue.open_to(request.code) if begun is None else begun[1]
        exception = self._queue.next(now_ns) if self.real_time else None
        if exception is not None:
            self._said = _Said(request.frame, self._event(exception), exception=exception)
            yield Send(self._said.out)
        elif poll.answer is None:
            self._begun = begun  # the line, too, waits for one effect only
            yield Ask(poll, request)
        elif self.readout is not None:
            try:
                reply = poll.answer(request, self.readout)
            except MalformedPollError as error:
                yield Refused(request, str(error))
                return
            except Exception as error:  # noqa: BLE001 (one answer that fails must not silence the line)
                yield Refused(request, repr(error), failed=True)
                return
            yield from self.replied(poll, request, reply)

    def replied(self, poll: Poll, request: LongPoll, reply: Reply | None) -> Iterator[Action]:
        """Answer ``request`` with ``reply``; None is silence. A broadcast is never answered."""
        if request.address == BROADCAST:
            return
        if self._begun is not None and self._begun[0] == request.frame:
            self._begun = None
        if reply is None:
            self._said = None
            yield Refused(request, "not had here")
            return
        out = reply.frame(self.address, request.code)
        self._said = _Said(request.frame, out, answered=(poll, request, reply), serves=self._serves)
        yield Send(out)

    def busy(self, request: LongPoll) -> Iterator[Action]:
        """What ``request`` asks for is not done yet: the host is to ask again."""
        self._begun = (request.frame, self._serves)
        out = BUSY.frame(self.address, request.code)
        self._said = _Said(request.frame, out, busy=True)
        yield Send(out)

    def _acknowledged(self, now_ns: int) -> Iterator[Action]:
        """The host has what was said last."""
        said, self._said = self._said, None
        if said is None:
            return
        if said.delayed:
            self._delayed.popleft()
        if said.exception is not None:
            self._queue.heard(said.exception, now_ns)
        if said.answered is not None:
            poll, request, reply = said.answered
            self._queue.served(said.serves)
            yield Confirmed(poll, request, reply)
        if self._full and self._queue.is_empty:
            self._full = False
            yield QueueFull(full=False)
        oldest = self._queue.oldest_sequence
        told = self._posted if oldest is None else oldest - 1
        if told > self._told:
            self._told = told
            yield Told(told)

    # ------------------------------------------------------------------ from the clock
    @property
    def deadline_ns(self) -> int:
        """When :meth:`tick` next has something to do."""
        return self._polled_ns + LINK_LOST_NS if self._up else self._next_chirp_ns

    def tick(self, now_ns: int) -> Iterator[Action]:
        """Time has passed: notice that nobody polls, and chirp while that is so."""
        if self._up and now_ns - self._polled_ns >= LINK_LOST_NS:
            self._up = False
            self._synchronised = not self._require_sync
            self._said = None  # who polls next may not have heard it
            self._next_chirp_ns = now_ns
            yield LinkChanged(up=False)
        if not self._up and now_ns >= self._next_chirp_ns:
            self._next_chirp_ns = now_ns + CHIRP_NS
            if self._chirp:
                yield Send(bytes((self.address,)), wakeup=True)

"""The host's half of the SAS conversation, without a line and without a clock.

The machine treats the host's next message as the verdict on its last answer: the same poll again means "not
received", anything else "received". So after each message that reports or commits something, this host sends
a poll to address 0, which no machine answers and every machine takes as an acknowledgement. A reply that was
not understood is requested again, unchanged.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tools.dev.host.messages import SYNC, Answer, Outcome, expects_answer, general_poll, is_general

LINK_SECONDS: Final = 5.0
"""A machine not heard for so long is down."""
TRIES: Final = 4
"""How often a poll is sent before it counts as unanswered."""
#: Interruptions of one poll by events or "busy": each is an answer, so they do not count as tries.
_INTERRUPTIONS_MAX: Final = 50


@dataclass(slots=True)
class Order:
    """A poll to be sent once, and who wants its answer (SILENCE if none came after all tries)."""

    request: bytes
    on_answer: Callable[[Answer], None] = lambda _answer: None
    tries: int = TRIES
    """Tries left without an answer."""
    interruptions: int = _INTERRUPTIONS_MAX
    """Answers left that may be something else."""


class Conversation:
    """The poll cycle with one machine: :meth:`next_message` out, :meth:`answered` back, in turn."""

    def __init__(
        self, address: int, on_report: Callable[[Answer], None], *, period_seconds: float = 0.2
    ) -> None:
        """``on_report`` hears every exception and event, once each; ``period_seconds`` between polls."""
        self.address = address
        self.period_seconds = period_seconds
        self.is_up = False
        """Whether the machine answers."""
        self._general = general_poll(address)
        self._on_report = on_report
        self._orders: deque[Order] = deque()
        self._current: Order | None = None
        self._sent = b""
        self._settle = True  # a machine may ignore polls until it has seen one to somebody else
        self._ask_again = False
        self._due = 0.0
        self._hold_until = 0.0
        self._heard = float("-inf")

    @property
    def idle(self) -> bool:
        """Whether nothing is waiting to be sent but general polls."""
        return not self._orders and self._current is None and not self._settle

    def submit(self, order: Order) -> None:
        """Queue a poll. It waits while the link is down."""
        self._orders.append(order)

    def due(self, now: float) -> float:
        """Seconds until there is something to send; 0 where there is already."""
        if self._settle or self._ask_again or self._current is not None:
            return 0.0
        wait = self._due - now
        if self._orders and self.is_up:
            wait = min(wait, self._hold_until - now)
        return max(0.0, wait)

    def next_message(self, now: float) -> bytes | None:
        """Return the next message to send, or None until :meth:`due`."""
        if self.is_up and now - self._heard >= LINK_SECONDS:
            self._down()
        if self._settle:
            self._settle = False
            self._sent = SYNC
            return SYNC
        if self._ask_again:
            self._ask_again = False
        elif self._current is not None:
            self._sent = self._current.request
        elif now >= self._due:  # before any order: what the machine has to say is not kept waiting
            self._sent = self._general
            self._due = now + self.period_seconds
        elif self._orders and self.is_up and now >= self._hold_until:
            self._current = self._orders.popleft()
            self._sent = self._current.request
        else:
            return None
        return self._sent

    def answered(self, answer: Answer, now: float) -> None:
        """Take the answer to the last message (SILENCE where none came)."""
        if not expects_answer(self._sent):
            if not is_general(self._sent):
                self._finish(answer)  # a broadcast: nobody answers, and it is done
            return
        if answer.outcome not in {Outcome.SILENCE, Outcome.DAMAGED}:
            self._heard = now
            self.is_up = True
        if is_general(self._sent):
            self._reported(answer)
        else:
            self._ordered(answer, now)

    def _reported(self, answer: Answer) -> None:
        match answer.outcome:
            case Outcome.DAMAGED:
                self._ask_again = True
            case Outcome.EXCEPTION | Outcome.EVENT | Outcome.DATA:
                self._settle = True
                self._on_report(answer)

    def _ordered(self, answer: Answer, now: float) -> None:
        order = self._current
        if order is None:
            return
        match answer.outcome:
            case Outcome.SILENCE | Outcome.DAMAGED:
                order.tries -= 1
                self._ask_again = order.tries > 0
                if not self._ask_again:
                    self._finish(answer)
            case Outcome.EVENT | Outcome.BUSY:
                self._settle = True
                if answer.outcome is Outcome.EVENT:
                    self._on_report(answer)
                order.interruptions -= 1
                if order.interruptions <= 0:
                    self._finish(answer)
                elif answer.outcome is Outcome.BUSY:  # come back after a while
                    self._current = None
                    self._orders.appendleft(order)
                    self._hold_until = now + self.period_seconds
            case _:
                self._settle = answer.outcome is Outcome.DATA
                self._finish(answer)

    def _finish(self, answer: Answer) -> None:
        order, self._current = self._current, None
        if order is not None:
            order.on_answer(answer)

    def _down(self) -> None:
        self.is_up = False
        self._settle = True
        if self._current is not None:  # The machine may have obeyed it: the caller must find out.
            self._finish(Answer(Outcome.SILENCE))
        self._ask_again = False

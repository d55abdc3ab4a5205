"""The whole host: one line, one conversation, and the desks that answer what the machine reports."""

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final

from egm.errors import PeerError
from tools.dev.host.conversation import Conversation, Link, Order
from tools.dev.host.desk import TicketDesk
from tools.dev.host.fields import Values
from tools.dev.host.line import HostLine
from tools.dev.host.messages import (
    Answer,
    Outcome,
    exception_name,
    expects_answer,
    is_whole,
    long_poll,
    parse,
)
from tools.dev.host.store import Store
from tools.dev.host.transfers import TransferDesk

FAST_SECONDS: Final = 0.04
"""Between polls, where the machine says it allows it (A0 feature 3 bit 0)."""
SLOW_SECONDS: Final = 0.2
#: The standard's limit for the first byte of an answer; what takes longer is counted as late.
LIMIT_SECONDS: Final = 0.02
#: A pause after what nobody answers, so that the next message is not taken for its continuation.
_PAUSE_SECONDS: Final = 0.006
_HISTORY: Final = 200
#: How often a machine is asked about what it has not answered for: its word may have been lost.
_LOOK_SECONDS: Final = 5.0
_AFT: Final = 1 << 6
_TICKETS: Final = 0b1110_0000
_FAST: Final = 1 << 0


class NoAnswerError(PeerError):
    """The machine did not answer a poll: which, and what came instead."""


@dataclass(slots=True)
class Report:
    """Something worth showing: when, and what."""

    at: datetime
    text: str


@dataclass(slots=True)
class Known:
    """What the machine has reported about itself."""

    serial: str = ""
    version: str = ""
    identity: Values = field(default_factory=dict)
    features: Values = field(default_factory=dict)
    meters: Values = field(default_factory=dict)


class Host:
    """Polls one machine. :meth:`step` is one exchange or one pause; nothing runs by itself."""

    def __init__(
        self,
        line: HostLine,
        store: Store,
        *,
        address: int = 1,
        now: Callable[[], datetime],
        validates: bool = True,
        registers: bool = True,
        system_id: int = 1,
    ) -> None:
        """Connect to a machine.

        ``validates``: answer ticket requests; ``registers``: register for transfers at start.
        """
        self.line = line
        self.store = store
        self.known = Known()
        self.reports: deque[Report] = deque(maxlen=_HISTORY)
        self.heard: deque[Answer] = deque(maxlen=_HISTORY)
        """The last exceptions and events, as they came."""
        self.conversation = Conversation(address, self._reported, period_seconds=SLOW_SECONDS)
        key = store.fact("registration_key", lambda: secrets.token_hex(20))
        self.tickets = TicketDesk(store, self.ask, self.tell, below=secrets.randbelow, system_id=system_id)
        self.transfers = TransferDesk(store, self.ask, self.tell, key=key)
        self._now = now
        self._registers = registers
        self._was = Link.DOWN
        self._next_look = time.monotonic() + _LOOK_SECONDS
        self._early: list[int] = []
        """Exceptions from a machine that has not said who it is."""
        self._reactions: dict[int, Callable[[], None]] = {
            0x3D: self.tickets.records_waiting,
            0x3E: self.tickets.records_waiting,
            0x3F: self.seed,
            0x51: partial(self.ask, 0x1B, {}, self._handpay),
            0x57: self.tickets.number_wanted,
            0x67: self.tickets.ticket_inserted,
            0x68: self.tickets.redemption_ended,
            0x69: self.transfers.transfer_ended,
            0x6C: self.transfers.register,
            0x6F: self.transfers.read_lock,
        }
        if not validates:
            for code in (0x3D, 0x3E, 0x3F, 0x57, 0x67, 0x68):
                del self._reactions[code]

    # ---------------------------------------------------------------- the cycle
    def step(self) -> None:
        """Send what is due and take its answer, or wait a little. Raises HostLineError."""
        now = time.monotonic()
        message = self.conversation.next_message(now)
        if message is None:
            self.line.listen(min(self.conversation.due(now), self.conversation.period_seconds))
            return
        if expects_answer(message):
            answer = parse(message, self.line.exchange(message, partial(is_whole, message)))
            late = answer.data and self.line.latency_seconds > LIMIT_SECONDS
            self.conversation.count.late += bool(late)
        else:
            self.line.send(message)
            self.line.listen(_PAUSE_SECONDS)
            answer = Answer(Outcome.SILENCE)
        self.conversation.answered(answer, time.monotonic())
        self._link()
        if now >= self._next_look and self.known.serial and self.conversation.link is Link.UP:
            self._next_look = now + _LOOK_SECONDS
            self.tickets.ask_about_held()
            self.transfers.ask_about_open()

    def run_until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Step until ``done`` or the time is up; whether it was done."""
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() >= deadline:
                return False
            self.step()
        return True

    def connect(self, seconds: float) -> None:
        """Wait until the machine answers and has said who it is. Raises :class:`NoAnswerError`."""
        if not self.run_until(lambda: bool(self.known.serial) and self.conversation.idle, seconds):
            raise NoAnswerError(f"{self.line.port}: address {self.conversation.address} does not answer")

    # ---------------------------------------------------------------- asking
    def ask(self, code: int, values: Mapping[str, Any], hear: Callable[[Answer], None]) -> None:
        """Queue a poll of the table. Raises LayoutError for values that do not fit."""
        self.conversation.submit(Order(long_poll(self.conversation.address, code, values), hear))

    def answer_to(
        self, code: int, values: Mapping[str, Any] | None = None, *, seconds: float = 10.0
    ) -> Answer:
        """Ask, and step until the answer is there. Raises :class:`NoAnswerError`."""
        return self.answer_to_bytes(long_poll(self.conversation.address, code, values), seconds=seconds)

    def answer_to_bytes(self, request: bytes, *, seconds: float = 10.0) -> Answer:
        """Return the answer to a complete message given as bytes; see :meth:`answer_to`."""
        got: list[Answer] = []
        self.conversation.submit(Order(request, got.append))
        self.run_until(lambda: bool(got), seconds)
        if not got or (got[0].outcome is Outcome.SILENCE and expects_answer(request)):
            raise NoAnswerError(f"poll {request.hex(' ')}: no answer")
        if got[0].outcome is Outcome.DAMAGED:
            raise NoAnswerError(f"poll {request.hex(' ')}: {got[0].data.hex(' ')}: {got[0].trouble}")
        return got[0]

    def tell(self, text: str) -> None:
        """Store a sentence for the live display."""
        self.reports.append(Report(self._now(), text))

    def seed(self) -> None:
        """Exception 3F: give the machine its validation ID, once and for ever the same."""
        id_ = self.store.fact(
            f"validation_id:{self.known.serial}", lambda: str(secrets.randbelow((1 << 24) - 1) + 1)
        )
        self.ask(0x4C, {"validation_id": int(id_), "sequence": 0}, lambda _answer: None)

    # ---------------------------------------------------------------- hearing
    def _reported(self, answer: Answer) -> None:
        self.heard.append(answer)
        if answer.outcome is Outcome.DATA:
            self.tell(f"ROM signature {answer.values.get('signature', 0):04X}")
            return
        self.tell(exception_name(answer.code))
        if self.known.serial:
            self._react(answer.code)
        else:
            self._early.append(answer.code)

    def _react(self, code: int) -> None:
        if (reaction := self._reactions.get(code)) is not None:
            reaction()

    def _handpay(self, answer: Answer) -> None:
        if answer.outcome is Outcome.DATA:
            self.tell(f"hand-pay pending: {answer.values['amount']}, level {answer.values['level']:02X}")

    def _link(self) -> None:
        link = self.conversation.link
        if link is self._was:
            return
        self._was = link
        self.tell(f"link {link}")
        if link is Link.UP:
            self.ask(0x54, {}, self._named)

    def _named(self, answer: Answer) -> None:
        if answer.outcome is not Outcome.DATA:
            self._was = Link.DOWN  # not who it is yet: asked again with the next answer
            return
        self.known.serial, self.known.version = answer.values["serial"], answer.values["version"]
        self.tickets.machine = self.transfers.machine = self.known.serial
        for code in self._early:
            self._react(code)
        self._early.clear()
        self.ask(0x1F, {}, self._identified)
        self.ask(0xA0, {"game": 0}, self._featured)

    def _identified(self, answer: Answer) -> None:
        if answer.outcome is Outcome.DATA:
            self.known.identity = answer.values

    def _featured(self, answer: Answer) -> None:
        if answer.outcome is not Outcome.DATA:
            return
        self.known.features = answer.values
        if answer.values["features3"] & _FAST:
            self.conversation.period_seconds = FAST_SECONDS
        if answer.values["features1"] & _TICKETS and 0x3D in self._reactions:
            self.tickets.ask_about_open()
        if answer.values["features2"] & _AFT:
            self.transfers.read_registration()
            self.transfers.read_lock()
            self.ask(0x73, {"code": 0xFF}, self._registration)

    def _registration(self, _answer: Answer) -> None:
        """Registration and lock status are known: register if wanted, and ask about what was left open."""
        registration = self.transfers.registration
        if self._registers and registration.known and not registration.registered:
            self.transfers.register()
        self.transfers.ask_about_open()

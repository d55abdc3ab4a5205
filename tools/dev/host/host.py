"""The whole host: one line, one conversation, and the desks that answer what the machine reports."""

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from egm.errors import PeerError
from tools.dev.host.conversation import Conversation, Order
from tools.dev.host.desk import TicketDesk
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
#: Maximum number of codes in a 6F message: the smaller of the two public limits.
_CODES_MAX: Final = 11


class NoAnswerError(PeerError):
    """The machine did not answer a poll: which, and what came instead."""


class Host:
    """Polls one machine. :meth:`step` is one exchange or one pause; nothing runs by itself."""

    def __init__(self, line: HostLine, store: Store, *, address: int = 1) -> None:
        """Connect to a machine."""
        self.line = line
        self.store = store
        self.serial = ""
        """The machine's serial number; empty until it has reported it."""
        self.reports: deque[str] = deque(maxlen=_HISTORY)
        """What happened, in sentences."""
        self.heard: deque[Answer] = deque(maxlen=_HISTORY)
        """The last exceptions and events, as they came."""
        self.conversation = Conversation(address, self._reported, period_seconds=SLOW_SECONDS)
        key = store.fact("registration_key", lambda: secrets.token_hex(20))
        self.tickets = TicketDesk(store, self.ask, self.reports.append, below=secrets.randbelow)
        self.transfers = TransferDesk(store, self.ask, self.reports.append, key=key)
        self._was_up = False
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
        else:
            self.line.send(message)
            self.line.listen(_PAUSE_SECONDS)
            answer = Answer(Outcome.SILENCE)
        self.conversation.answered(answer, time.monotonic())
        self._link()
        if now >= self._next_look and self.serial and self.conversation.is_up:
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
        if not self.run_until(lambda: bool(self.serial) and self.conversation.idle, seconds):
            raise NoAnswerError(f"{self.line.port}: address {self.conversation.address} does not answer")

    # ---------------------------------------------------------------- asking
    def ask(self, code: int, values: Mapping[str, Any], hear: Callable[[Answer], None]) -> None:
        """Queue a poll of the table. Raises LayoutError for values that do not fit."""
        self.conversation.submit(Order(long_poll(self.conversation.address, code, values), hear))

    def answer_to(
        self, code: int, values: Mapping[str, Any] | None = None, *, seconds: float = 10.0
    ) -> Answer:
        """Ask, and step until the answer is there. Raises :class:`NoAnswerError`."""
        request = long_poll(self.conversation.address, code, values)
        got: list[Answer] = []
        self.conversation.submit(Order(request, got.append))
        self.run_until(lambda: bool(got), seconds)
        if not got or (got[0].outcome is Outcome.SILENCE and expects_answer(request)):
            raise NoAnswerError(f"poll {request.hex(' ')}: no answer")
        if got[0].outcome is Outcome.DAMAGED:
            raise NoAnswerError(f"poll {request.hex(' ')}: {got[0].data.hex(' ')}: {got[0].trouble}")
        return got[0]

    def read_meters(self, codes: Sequence[int]) -> dict[int, int | None]:
        """Read meters by code with 6F and AF in turn; None for what the machine does not have."""
        values: dict[int, int | None] = {}
        for n, start in enumerate(range(0, len(codes), _CODES_MAX)):
            part = [{"code": code} for code in codes[start : start + _CODES_MAX]]
            answer = self.answer_to(0xAF if n % 2 else 0x6F, {"game": 0, "codes": part})
            values |= {row["code"]: row["value"] for row in answer.values["meters"]}
        return values

    def seed(self) -> None:
        """Exception 3F: give the machine its validation ID, once and for ever the same."""
        id_ = self.store.fact(
            f"validation_id:{self.serial}", lambda: str(secrets.randbelow((1 << 24) - 1) + 1)
        )
        self.ask(0x4C, {"validation_id": int(id_), "sequence": 0}, lambda _answer: None)

    # ---------------------------------------------------------------- hearing
    def _reported(self, answer: Answer) -> None:
        self.heard.append(answer)
        if answer.outcome is Outcome.DATA:
            self.reports.append(f"ROM signature {answer.values['signature']:04X}")
            return
        self.reports.append(exception_name(answer.code))
        if self.serial:
            self._react(answer.code)
        else:
            self._early.append(answer.code)

    def _react(self, code: int) -> None:
        if (reaction := self._reactions.get(code)) is not None:
            reaction()

    def _handpay(self, answer: Answer) -> None:
        if answer.outcome is Outcome.DATA:
            values = answer.values
            self.reports.append(f"hand-pay pending: {values['amount']}, level {values['level']:02X}")

    def _link(self) -> None:
        """Ask the machine who it is, each time it begins to answer."""
        is_up = self.conversation.is_up
        if is_up and not self._was_up:
            self.ask(0x54, {}, self._named)
        self._was_up = is_up

    def _named(self, answer: Answer) -> None:
        if answer.outcome is not Outcome.DATA:
            self._was_up = False  # not who it is yet: asked again with the next answer
            return
        self.serial = self.tickets.machine = self.transfers.machine = answer.values["serial"]
        for code in self._early:
            self._react(code)
        self._early.clear()
        self.ask(0xA0, {"game": 0}, self._featured)

    def _featured(self, answer: Answer) -> None:
        if answer.outcome is not Outcome.DATA:
            return
        if answer.values["features3"] & _FAST:
            self.conversation.period_seconds = FAST_SECONDS
        if answer.values["features1"] & _TICKETS:
            self.tickets.ask_about_open()
        if answer.values["features2"] & _AFT:
            self.transfers.read_registration()
            self.transfers.read_lock()
            self.ask(0x73, {"code": 0xFF}, self._registration)

    def _registration(self, _answer: Answer) -> None:
        """Registration and lock status are known: register if needed, and ask about what was left open."""
        if self.transfers.asset is not None and not self.transfers.is_registered:
            self.transfers.register()
        self.transfers.ask_about_open()

"""A SAS host of the machine's money: its own ledger, written before it acts; it reads only bytes.

It drives the machine of a simulation, where :meth:`Host.send` is a wire in memory that loses bytes, and real
machine processes over a serial line. The machine treats the host's next message as the verdict on its last
answer: the same poll again means "not received", anything else "received". So a poll to address 0, which
nobody answers, acknowledges what the machine may report once only.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from tools.dev.host.fields import Values
from tools.dev.host.messages import SYNC, Answer, Outcome, general_poll, long_poll, parse

ASSET: Final = 7
_ADDRESS: Final = 1
_SYSTEM_ID: Final = 7
_NEVER: Final = "00000000"
_TYPES: Final = {"in": 0x00, "out": 0x80, "bonus": 0x10}
#: How often a poll is sent before it counts as unanswered.
_TRIES: Final = 4
#: How often a machine that is busy, or that reports an event instead, is asked again for one answer.
_INTERRUPTIONS_MAX: Final = 50
#: Maximum number of codes in a 6F message: the smaller of the two public limits.
_CODES_MAX: Final = 11
_HISTORY: Final = 200
_POLL_SECONDS: Final = 0.2
#: Polls without news, and the host asks again.
_QUIET_POLLS: Final = 5


class HostGoneError(Exception):
    """The host has started again: whatever it was at, it knows no more of it than its ledger says."""


@dataclass
class Voucher:
    """A number the host has given. Money from the machine's report on, until it is redeemed."""

    cents: int
    state: str = "given"  # issued, pending, redeemed

    @property
    def was_issued(self) -> bool:
        """Whether the machine has reported it as printed."""
        return self.state != "given"


@dataclass
class Movement:
    """A transfer of the host's: ordered, done (``moved_cents``) or dead."""

    way: str
    cents: int
    restricted_cents: int = 0
    nonrestricted_cents: int = 0
    state: str = "ordered"
    moved_cents: int = 0
    """Of every kind of credit."""

    @property
    def total_cents(self) -> int:
        """What was ordered, of every kind of credit."""
        return self.cents + self.restricted_cents + self.nonrestricted_cents


@dataclass
class Host:
    """The host. Vouchers, movements and the account are its ledger; ``given`` is what a restart forgets."""

    send: Callable[[bytes], bytes]
    """One message on the line, and what is heard of the answer."""
    opening_cents: int = 50_000
    account_cents: int = 50_000
    vouchers: dict[str, Voucher] = field(default_factory=dict)
    movements: dict[str, Movement] = field(default_factory=dict)
    given: str = ""
    fresh: bool = False
    asset: int = ASSET
    key: str = "00" * 20
    """The registration key of transfers: 20 bytes in hexadecimal."""
    gives_numbers: bool = True
    """Whether every ticket carries a number of this host's, and not one that the machine made."""
    wait: Callable[[], object] = lambda: None
    """Let a busy machine work."""
    heard: deque[Answer] = field(default_factory=lambda: deque(maxlen=_HISTORY))
    """The last exceptions, events and signatures, as they came."""
    handpay: Values = field(default_factory=dict)
    """The last hand-pay that the machine reported."""
    verdicts: list[tuple[str, int]] = field(default_factory=list)
    """Each inserted ticket, and the code that this host answered."""

    def restart(self) -> None:
        """All but the ledger is gone."""
        self.given = ""
        self.fresh = True

    # -------------------------------------------------------------- its line
    def answer_to(self, code: int, values: Mapping[str, Any] | None = None) -> Answer:
        """Send a long poll, repeated until a complete reply arrives; return the last reply."""
        request = long_poll(_ADDRESS, code, values)
        interruptions = _INTERRUPTIONS_MAX
        tries = _TRIES
        while True:
            answer = parse(request, self.send(request))
            if answer.outcome in {Outcome.EVENT, Outcome.BUSY} and interruptions:
                interruptions -= 1
                if answer.outcome is Outcome.EVENT:
                    self.heard.append(answer)
                    self.send(SYNC)
                self.wait()
            elif answer.outcome in {Outcome.SILENCE, Outcome.DAMAGED} and tries > 1:
                tries -= 1
            else:
                return answer

    def ask(self, code: int, values: Mapping[str, Any] | None = None) -> Values:
        """Return the values of the reply to a long poll; none on silence."""
        return self.answer_to(code, values).values

    def read_meters(self, codes: Sequence[int]) -> dict[int, int | None]:
        """Read meters by code with 6F and AF in turn; None for what the machine does not have."""
        values: dict[int, int | None] = {}
        for n, start in enumerate(range(0, len(codes), _CODES_MAX)):
            part = [{"code": code} for code in codes[start : start + _CODES_MAX]]
            answer = self.answer_to(0xAF if n % 2 else 0x6F, {"game": 0, "codes": part})
            values |= {row["code"]: row["value"] for row in answer.values["meters"]}
        return values

    def poll(self) -> bool:
        """One general poll, and what it leads to; whether anything had happened."""
        if self.fresh:
            self._catch_up()
        request = general_poll(_ADDRESS)
        answer = parse(request, self.send(request))
        if answer.outcome in {Outcome.SILENCE, Outcome.NOTHING, Outcome.DAMAGED}:
            return answer.outcome is not Outcome.NOTHING  # it may be on its way up
        self.send(SYNC)  # acknowledges: the same poll again would ask for the same answer
        self.heard.append(answer)
        if answer.outcome is not Outcome.DATA:
            self._see_to(answer.code)
        return True

    @property
    def is_open(self) -> bool:
        """Whether a ticket or a transfer has no end yet."""
        pending = any(voucher.state == "pending" for voucher in self.vouchers.values())
        return pending or any(movement.state == "ordered" for movement in self.movements.values())

    def _see_to(self, exception: int) -> None:
        match exception:
            case 0x51:
                self.handpay = self.ask(0x1B)
            case 0x57:
                self._give_number()
            case 0x3D:
                self._read_tickets()
            case 0x67:
                self._judge_ticket()
            case 0x68:
                self._end_ticket()
            case 0x69:
                self._end_transfer()

    # -------------------------------------------------------------- tickets
    def _give_number(self) -> None:
        wanted = self.ask(0x57)
        if not wanted or wanted["type"] == 0x80:
            return
        if not self.given:
            self.given = f"{_SYSTEM_ID:02d}{len(self.vouchers) + 1:016d}"
            self.vouchers[self.given] = Voucher(wanted["amount_cents"])
        if self.ask(0x58, {"system_id": _SYSTEM_ID, "validation": self.given[2:]}):
            self.given = ""  # taken, or not wanted any more

    def _read_tickets(self) -> None:
        while self._enter(self.ask(0x4D, {"function": 0})):
            self.send(SYNC)  # acknowledges

    def _enter(self, record: Values) -> bool:
        """Enter what a record says was printed; whether there was a record."""
        if not record or not (record["amount_cents"] or int(record["validation"])):
            return False
        number = f"{record['system_id']:02d}{record['validation']}"
        if not self.gives_numbers:
            self.vouchers.setdefault(number, Voucher(record["amount_cents"]))
        voucher = self.vouchers[number]  # a KeyError is a number this host never gave
        assert voucher.cents == record["amount_cents"]
        if voucher.state == "given":
            voucher.state = "issued"
        return True

    def _catch_up(self) -> None:
        """Read the whole ring: a restarted host acknowledges, unread, the message that was being sent."""
        for index in range(1, 32):
            self._enter(self.ask(0x4D, {"function": index}))
        self.fresh = False

    def _judge_ticket(self) -> None:
        seen = self.ask(0x70)
        if "validation_data" not in seen:
            return
        number = seen["validation_data"]
        voucher = self.vouchers.get(number)
        good = voucher is not None and voucher.state in {"issued", "pending"}
        if voucher is not None and good:
            voucher.state = "pending"
        cents = voucher.cents if voucher is not None else 0
        code = 0 if good else 0x82
        self.verdicts.append((number, code))
        order = {"code": code, "amount_cents": cents, "parsing": 0, "validation_data": number}
        self._take_status(self.ask(0x71, order))

    def _end_ticket(self) -> None:
        self._take_status(self.ask(0x71, {"code": 0xFF}))
        self.send(SYNC)

    def _take_status(self, answer: Values) -> None:
        """Process the machine's report on the last inserted ticket."""
        voucher = self.vouchers.get(answer.get("validation_data", ""))
        if voucher is None or voucher.state != "pending":
            return
        if answer["status"] in {0x00, 0x01, 0x02}:
            assert voucher.cents == answer["amount_cents"]
            voucher.state = "redeemed"
        elif answer["status"] >= 0x80:
            voucher.state = "issued"

    # -------------------------------------------------------------- transfers
    def order(self, way: str, cents: int, *, restricted_cents: int = 0, nonrestricted_cents: int = 0) -> str:
        """Write a transfer down, then order it; return its identifier."""
        identifier = f"X{len(self.movements) + 1}"
        self.movements[identifier] = Movement(way, cents, restricted_cents, nonrestricted_cents)
        if way == "in":
            self.account_cents -= self.movements[identifier].total_cents
        with suppress(HostGoneError):
            self._send_order(identifier)
        return identifier

    def _send_order(self, identifier: str) -> None:
        movement = self.movements[identifier]
        order = {
            "transfer_code": 0,
            "index": 0,
            "type": _TYPES[movement.way],
            "cashable_cents": movement.cents,
            "restricted_cents": movement.restricted_cents,
            "nonrestricted_cents": movement.nonrestricted_cents,
            "flags": 0,
            "asset": self.asset,
            "key": self.key,
            "transaction": identifier,
            "expiration": _NEVER,
            "pool": 1 if movement.restricted_cents else 0,
            "receipt": "",
        }
        status = self.ask(0x72, order).get("status", 0)
        if status == 0xC0:  # an end not yet read: perhaps of this very one
            self._end_transfer()
        elif status == 0x81:
            self._look_back(identifier)
        elif status >= 0x80:
            self._end(identifier, 0, done=False)

    def _end_transfer(self) -> None:
        self._read_result(self.ask(0x72, {"transfer_code": 0xFF, "index": 0}))
        self.send(SYNC)

    def _read_result(self, answer: Values) -> str:
        """Take the end of a transfer from an answer; the identifier it names."""
        if "transaction" not in answer:
            return ""
        identifier: str = answer["transaction"]
        kinds = ("cashable_cents", "restricted_cents", "nonrestricted_cents")
        if answer["status"] in {0x00, 0x01}:
            self._end(identifier, sum(answer[kind] for kind in kinds), done=True)
        elif answer["status"] >= 0x80:
            self._end(identifier, 0, done=False)
        return identifier

    def _look_back(self, identifier: str) -> None:
        for position in range(1, 36):
            answer = self.ask(0x72, {"transfer_code": 0xFE, "index": position})
            if self._read_result(answer) == identifier:
                return

    def _end(self, identifier: str, moved_cents: int, *, done: bool) -> None:
        movement = self.movements[identifier]
        if movement.state != "ordered":
            assert movement.state == "dead" or movement.moved_cents == moved_cents
            return
        movement.state, movement.moved_cents = ("done", moved_cents) if done else ("dead", 0)
        if movement.way == "in":
            self.account_cents += movement.total_cents - movement.moved_cents
        elif movement.way == "out":
            self.account_cents += movement.moved_cents

    def settle(self) -> None:
        """Ask about whatever the ledger says is open: a restart has forgotten why."""
        for voucher in self.vouchers.values():
            if voucher.state == "pending":
                answer = self.ask(0x71, {"code": 0xFF})
                self._take_status(answer)
                told = self.vouchers.get(answer.get("validation_data", ""))
                if answer and told is not voucher and voucher.state == "pending":
                    voucher.state = "issued"  # the machine knows nothing of it
                self.send(SYNC)
        for identifier, movement in self.movements.items():
            if movement.state == "ordered":
                self._send_order(identifier)  # again, whatever became of it: the machine must know better
                self.send(SYNC)

    def take_up(self) -> None:
        """After a break: see to whatever waits at the machine, and ask about what is open."""
        self.settle()  # first: another ticket would take its place at the machine
        self._give_number()
        self._judge_ticket()

    def moved(self, way: str) -> int:
        """All that was moved one way."""
        return sum(m.moved_cents for m in self.movements.values() if m.way == way)

    async def attend(self) -> None:
        """Poll for as long as there is a line; where nothing happens, ask about what is open."""
        quiet = 0
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            quiet = 0 if self.poll() else quiet + 1
            if quiet % _QUIET_POLLS == _QUIET_POLLS - 1:
                self.settle()

"""Host of the money over SAS: its own ledger, written before it acts; it reads only bytes."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from egm.links.sas.crc import append_crc, is_intact

ASSET: Final = 7
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
    state: str = "ordered"
    moved_cents: int = 0


@dataclass
class Bank:
    """The host. What follows ``send`` is its ledger; ``given`` is what a restart forgets."""

    send: Callable[[bytes], bytes]
    """One message on the line, and what is heard of the answer."""
    opening_cents: int = 50_000
    account_cents: int = 50_000
    vouchers: dict[str, Voucher] = field(default_factory=dict)
    movements: dict[str, Movement] = field(default_factory=dict)
    given: str = ""
    fresh: bool = False

    def restart(self) -> None:
        """All but the ledger is gone."""
        self.given = ""
        self.fresh = True

    # -------------------------------------------------------------- its line
    def ask(self, code: int, data: bytes | None = None) -> bytes:
        """Send a long poll, repeated until a complete reply arrives; return the reply's data, empty on silence."""
        message = bytes((1, code)) if data is None else append_crc(bytes((1, code)) + data)
        for _ in range(4):
            answer = self.send(message)
            if len(answer) > 3 and answer[:2] == bytes((1, code)) and is_intact(answer):
                return answer[2:-2]
        return b""

    def poll(self) -> bool:
        """One general poll, and what it leads to; whether anything had happened."""
        if self.fresh:
            self._catch_up()
        answer = self.send(b"\x81")
        if not answer:
            return True  # it may be on its way up
        if answer[0]:
            self.send(b"\x80")  # acknowledges: the same poll again would ask for the same answer
            self._see_to(answer[0])
        return bool(answer[0])

    @property
    def is_open(self) -> bool:
        """Whether a ticket or a transfer has no end yet."""
        pending = any(voucher.state == "pending" for voucher in self.vouchers.values())
        return pending or any(movement.state == "ordered" for movement in self.movements.values())

    def _see_to(self, exception: int) -> None:
        match exception:
            case 0x51:
                self.ask(0x1B)
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
        if not wanted or wanted[0] == 0x80:
            return
        if not self.given:
            self.given = f"07{len(self.vouchers) + 1:016d}"
            self.vouchers[self.given] = Voucher(int(wanted[1:6].hex()))
        answer = self.ask(0x58, bytes.fromhex(self.given))
        if answer:
            self.given = ""  # taken, or not wanted any more

    def _read_tickets(self) -> None:
        while (record := self.ask(0x4D, b"\0")) and any(record):
            self._enter(record)
            self.send(b"\x80")  # acknowledges

    def _enter(self, record: bytes) -> None:
        number = record[24:25].hex() + record[9:17].hex()
        voucher = self.vouchers[number]  # a KeyError is a number this host never gave
        assert voucher.cents == int(record[17:22].hex())
        if voucher.state == "given":
            voucher.state = "issued"

    def _catch_up(self) -> None:
        """Read the whole ring: a restarted host acknowledges, unread, the message that was being sent."""
        for place in range(1, 32):
            record = self.ask(0x4D, bytes((place,)))
            if any(record):
                self._enter(record)
        self.fresh = False

    def _judge_ticket(self) -> None:
        seen = self.ask(0x70)
        if len(seen) < 17:
            return
        number = seen[8:17].hex()
        voucher = self.vouchers.get(number)
        good = voucher is not None and voucher.state in {"issued", "pending"}
        if voucher is not None and good:
            voucher.state = "pending"
        cents = voucher.cents if voucher is not None else 0
        body = bytes((0 if good else 0x82,)) + bytes.fromhex(f"{cents:010d}") + b"\0" + bytes.fromhex(number)
        self._take_status(self.ask(0x71, bytes((len(body),)) + body))

    def _end_ticket(self) -> None:
        self._take_status(self.ask(0x71, b"\x01\xff"))
        self.send(b"\x80")

    def _take_status(self, answer: bytes) -> None:
        """Process the machine's report on the last inserted ticket."""
        if len(answer) < 17:
            return
        status, voucher = answer[1], self.vouchers.get(answer[8:17].hex())
        if voucher is None or voucher.state != "pending":
            return
        if status in {0x00, 0x01, 0x02}:
            assert voucher.cents == int(answer[2:7].hex())
            voucher.state = "redeemed"
        elif status >= 0x80:
            voucher.state = "issued"

    # -------------------------------------------------------------- transfers
    def order(self, way: str, cents: int) -> None:
        """Write a transfer down, then order it."""
        identifier = f"X{len(self.movements) + 1}"
        self.movements[identifier] = Movement(way, cents)
        if way == "in":
            self.account_cents -= cents
        with suppress(HostGoneError):
            self._send_order(identifier)

    def _send_order(self, identifier: str) -> None:
        movement = self.movements[identifier]
        kind = {"in": 0x00, "out": 0x80, "bonus": 0x10}[movement.way]
        body = bytes((0, 0, kind)) + bytes.fromhex(f"{movement.cents:010d}") + bytes(10) + b"\0"
        body += ASSET.to_bytes(4, "little") + bytes(20) + bytes((len(identifier),)) + identifier.encode()
        body += bytes(7)
        answer = self.ask(0x72, bytes((len(body),)) + body)
        if answer and answer[2] == 0xC0:  # an end not yet read: perhaps of this very one
            self._end_transfer()
        elif answer and answer[2] == 0x81:
            self._look_back(identifier)
        elif answer and answer[2] >= 0x80:
            self._end(identifier, 0, done=False)

    def _end_transfer(self) -> None:
        self._read_result(self.ask(0x72, b"\x02\xff\x00"))
        self.send(b"\x80")

    def _read_result(self, answer: bytes) -> str:
        """Take the end of a transfer from an answer; the identifier it names."""
        if len(answer) < 26:
            return ""
        size = answer[25]
        identifier, status = answer[26 : 26 + size].decode(), answer[2]
        if status in {0x00, 0x01}:
            self._end(identifier, int(answer[5:10].hex()), done=True)
        elif status >= 0x80:
            self._end(identifier, 0, done=False)
        return identifier

    def _look_back(self, identifier: str) -> None:
        for position in range(1, 36):
            answer = self.ask(0x72, bytes((2, 0xFE, position)))
            if self._read_result(answer) == identifier:
                return

    def _end(self, identifier: str, moved_cents: int, *, done: bool) -> None:
        movement = self.movements[identifier]
        if movement.state != "ordered":
            assert movement.state == "dead" or movement.moved_cents == moved_cents
            return
        movement.state, movement.moved_cents = ("done", moved_cents) if done else ("dead", 0)
        if movement.way == "in":
            self.account_cents += movement.cents - movement.moved_cents
        elif movement.way == "out":
            self.account_cents += movement.moved_cents

    def settle(self) -> None:
        """Ask about whatever the ledger says is open: a restart has forgotten why."""
        for voucher in self.vouchers.values():
            if voucher.state == "pending":
                answer = self.ask(0x71, b"\x01\xff")
                self._take_status(answer)
                told = self.vouchers.get(answer[8:17].hex()) if len(answer) >= 17 else None
                if answer and told is not voucher and voucher.state == "pending":
                    voucher.state = "issued"  # the machine knows nothing of it
                self.send(b"\x80")
        for identifier, movement in self.movements.items():
            if movement.state == "ordered":
                self._send_order(identifier)  # again, whatever became of it: the machine must know better
                self.send(b"\x80")

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

"""Simulate a SAS host for tickets, transfers and bonuses, with a ledger that it writes before it acts.

It drives the machine of a simulation, where :meth:`Host.send` is a line in memory that loses bytes, and real machine
processes over a serial line. The machine infers from the host's next message whether its last reply was received: the
same poll again means "not received", any other message "received". A poll to address 0, to which no machine replies,
therefore acknowledges a report that the machine sends only once.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from tools.dev.host.fields import Values
from tools.dev.host.messages import (
    SYNC_POLL,
    ReplyKind,
    SasReply,
    decode_reply,
    encode_general_poll,
    encode_long_poll,
)

ASSET_NUMBER: Final = 7
_ADDRESS: Final = 1
_SYSTEM_ID: Final = 7
_NO_EXPIRATION: Final = "00000000"
_TRANSFER_TYPE_BY_DIRECTION: Final = {"in": 0x00, "out": 0x80, "bonus": 0x10}
#: Number of times a poll is sent before it counts as having no reply.
_POLL_ATTEMPTS: Final = 4
#: Maximum number of repeats of a poll to a machine that is busy or reports an event instead.
_INTERRUPTIONS_MAX: Final = 50
#: Maximum number of codes in a 6F message: the smaller of the two public limits.
_METER_CODES_PER_POLL_MAX: Final = 11
_STORED_REPORTS_MAX: Final = 200
_POLL_INTERVAL_SECONDS: Final = 0.2
#: Number of polls without news after which the host queries open items.
_POLLS_WITHOUT_NEWS_MAX: Final = 5


class HostRestartedError(Exception):
    """Raised if the host has restarted, so that its current work must stop; only its ledger remains."""


@dataclass
class HostTicket:
    """A ticket with a validation number, as the host knows it.

    The ticket is worth money from the time at which the machine reports it as printed until it is redeemed.
    """

    cents: int
    state: str = "given"  # issued, pending, redeemed

    @property
    def was_printed(self) -> bool:
        """Return whether the machine has reported the ticket as printed."""
        return self.state != "given"


@dataclass
class HostTransfer:
    """A transfer that the host ordered.

    Its state is ordered, done (``moved_cents`` were transferred) or dead (nothing was transferred).
    """

    direction: str
    """``in`` (to the machine), ``out`` (to the host) or ``bonus``."""
    cents: int
    restricted_cents: int = 0
    nonrestricted_cents: int = 0
    state: str = "ordered"
    moved_cents: int = 0
    """The amount that was transferred, of all credit kinds together, in minor units."""

    @property
    def total_cents(self) -> int:
        """Return the ordered amount, of all credit kinds together, in minor units."""
        return self.cents + self.restricted_cents + self.nonrestricted_cents


@dataclass
class Host:
    """The simulated SAS host.

    Its ledger consists of tickets, transfers and the account. A restart keeps only the ledger.
    """

    send: Callable[[bytes], bytes]
    """Function that sends one message on the line and returns the reply as received."""
    opening_balance_cents: int = 50_000
    account_cents: int = 50_000
    tickets: dict[str, HostTicket] = field(default_factory=dict)
    transfers: dict[str, HostTransfer] = field(default_factory=dict)
    unaccepted_validation_number: str = ""
    has_unread_validation_records: bool = False
    asset: int = ASSET_NUMBER
    key: str = "00" * 20
    """The registration key of transfers: 20 bytes in hexadecimal."""
    issues_validation_numbers: bool = True
    """Whether this host, and not the machine, chooses every ticket's validation number."""
    wait_for_machine: Callable[[], object] = lambda: None
    """Function that lets the machine continue before the host repeats a poll that got the reply "busy"."""
    received: deque[SasReply] = field(default_factory=lambda: deque(maxlen=_STORED_REPORTS_MAX))
    """The last exceptions, events and signatures, in the order of arrival."""
    last_handpay: Values = field(default_factory=dict)
    """The last hand-pay that the machine reported."""
    ticket_replies: list[tuple[str, int]] = field(default_factory=list)
    """The number of each ticket inserted, with the code that this host replied."""

    def restart(self) -> None:
        """Restart the host: everything except the ledger is lost."""
        self.unaccepted_validation_number = ""
        self.has_unread_validation_records = True

    # -------------------------------------------------------------- line
    def send_poll(self, code: int, values: Mapping[str, Any] | None = None) -> SasReply:
        """Send a long poll, repeated until a complete reply arrives; return the last reply."""
        request = encode_long_poll(_ADDRESS, code, values)
        interruptions = _INTERRUPTIONS_MAX
        tries = _POLL_ATTEMPTS
        while True:
            reply = decode_reply(request, self.send(request))
            if reply.kind in {ReplyKind.REAL_TIME_EVENT, ReplyKind.BUSY} and interruptions:
                interruptions -= 1
                if reply.kind is ReplyKind.REAL_TIME_EVENT:
                    self.received.append(reply)
                    self.send(SYNC_POLL)
                self.wait_for_machine()
            elif reply.kind in {ReplyKind.NO_REPLY, ReplyKind.DAMAGED} and tries > 1:
                tries -= 1
            else:
                return reply

    def read_values(self, code: int, values: Mapping[str, Any] | None = None) -> Values:
        """Return the values of the reply to a long poll; empty if there is no reply."""
        return self.send_poll(code, values).values

    def read_meters(self, codes: Sequence[int]) -> dict[int, int | None]:
        """Read meters by code with polls 6F and AF alternately; None for a meter that the machine does not have."""
        values: dict[int, int | None] = {}
        for n, start in enumerate(range(0, len(codes), _METER_CODES_PER_POLL_MAX)):
            part = [{"code": code} for code in codes[start : start + _METER_CODES_PER_POLL_MAX]]
            reply = self.send_poll(0xAF if n % 2 else 0x6F, {"game": 0, "codes": part})
            values |= {row["code"]: row["value"] for row in reply.values["meters"]}
        return values

    def poll(self) -> bool:
        """Send one general poll and handle the exception; return whether there was any."""
        if self.has_unread_validation_records:
            self._read_all_validation_records()
        request = encode_general_poll(_ADDRESS)
        reply = decode_reply(request, self.send(request))
        if reply.kind in {ReplyKind.NO_REPLY, ReplyKind.NOTHING_TO_REPORT, ReplyKind.DAMAGED}:
            return reply.kind is not ReplyKind.NOTHING_TO_REPORT  # the machine may be starting
        self.send(SYNC_POLL)  # acknowledges; the same poll again would request the same reply
        self.received.append(reply)
        if reply.kind is not ReplyKind.DATA:
            self._handle_exception(reply.code)
        return True

    @property
    def has_open_items(self) -> bool:
        """Return whether a ticket or a transfer is not completed."""
        has_pending_voucher = any(voucher.state == "pending" for voucher in self.tickets.values())
        return has_pending_voucher or any(movement.state == "ordered" for movement in self.transfers.values())

    def _handle_exception(self, exception: int) -> None:
        match exception:
            case 0x51:
                self.last_handpay = self.read_values(0x1B)
            case 0x57:
                self._issue_validation_number()
            case 0x3D:
                self._read_validation_records()
            case 0x67:
                self._decide_inserted_ticket()
            case 0x68:
                self._end_ticket_redemption()
            case 0x69:
                self._end_transfer()

    # -------------------------------------------------------------- tickets
    def _issue_validation_number(self) -> None:
        request = self.read_values(0x57)
        if not request or request["type"] == 0x80:
            return
        if not self.unaccepted_validation_number:
            self.unaccepted_validation_number = f"{_SYSTEM_ID:02d}{len(self.tickets) + 1:016d}"
            self.tickets[self.unaccepted_validation_number] = HostTicket(request["amount_cents"])
        if self.read_values(
            0x58, {"system_id": _SYSTEM_ID, "validation": self.unaccepted_validation_number[2:]}
        ):
            self.unaccepted_validation_number = ""  # accepted, or no longer needed

    def _read_validation_records(self) -> None:
        while self._record_validation(self.read_values(0x4D, {"function": 0})):
            self.send(SYNC_POLL)  # acknowledges

    def _record_validation(self, record: Values) -> bool:
        """Enter a validation record of the machine into the ledger; return whether it contained a ticket."""
        if not record or not (record["amount_cents"] or int(record["validation"])):
            return False
        number = f"{record['system_id']:02d}{record['validation']}"
        if not self.issues_validation_numbers:
            self.tickets.setdefault(number, HostTicket(record["amount_cents"]))
        voucher = self.tickets[number]  # a KeyError means a number that this host never issued
        assert voucher.cents == record["amount_cents"]
        if voucher.state == "given":
            voucher.state = "issued"
        return True

    def _read_all_validation_records(self) -> None:
        """Read all validation records that the machine has, and enter them into the ledger.

        This is necessary after a restart: the host's first message then acknowledges the machine's last report, which
        the host has not read.
        """
        for index in range(1, 32):
            self._record_validation(self.read_values(0x4D, {"function": index}))
        self.has_unread_validation_records = False

    def _decide_inserted_ticket(self) -> None:
        ticket = self.read_values(0x70)
        if "validation_data" not in ticket:
            return
        number = ticket["validation_data"]
        voucher = self.tickets.get(number)
        is_valid = voucher is not None and voucher.state in {"issued", "pending"}
        if voucher is not None and is_valid:
            voucher.state = "pending"
        cents = voucher.cents if voucher is not None else 0
        code = 0 if is_valid else 0x82
        self.ticket_replies.append((number, code))
        order = {"code": code, "amount_cents": cents, "parsing": 0, "validation_data": number}
        self._record_ticket_status(self.read_values(0x71, order))

    def _end_ticket_redemption(self) -> None:
        self._record_ticket_status(self.read_values(0x71, {"code": 0xFF}))
        self.send(SYNC_POLL)

    def _record_ticket_status(self, reply: Values) -> None:
        """Enter the machine's report on the last inserted ticket into the ledger."""
        voucher = self.tickets.get(reply.get("validation_data", ""))
        if voucher is None or voucher.state != "pending":
            return
        if reply["status"] in {0x00, 0x01, 0x02}:
            assert voucher.cents == reply["amount_cents"]
            voucher.state = "redeemed"
        elif reply["status"] >= 0x80:
            voucher.state = "issued"

    # -------------------------------------------------------------- transfers
    def order_transfer(
        self, direction: str, cents: int, *, restricted_cents: int = 0, nonrestricted_cents: int = 0
    ) -> str:
        """Store a transfer in the ledger, then order it; return its identifier."""
        identifier = f"X{len(self.transfers) + 1}"
        self.transfers[identifier] = HostTransfer(direction, cents, restricted_cents, nonrestricted_cents)
        if direction == "in":
            self.account_cents -= self.transfers[identifier].total_cents
        with suppress(HostRestartedError):
            self._send_order(identifier)
        return identifier

    def _send_order(self, identifier: str) -> None:
        movement = self.transfers[identifier]
        order = {
            "transfer_code": 0,
            "index": 0,
            "type": _TRANSFER_TYPE_BY_DIRECTION[movement.direction],
            "cashable_cents": movement.cents,
            "restricted_cents": movement.restricted_cents,
            "nonrestricted_cents": movement.nonrestricted_cents,
            "flags": 0,
            "asset": self.asset,
            "key": self.key,
            "transaction": identifier,
            "expiration": _NO_EXPIRATION,
            "pool": 1 if movement.restricted_cents else 0,
            "receipt": "",
        }
        status = self.read_values(0x72, order).get("status", 0)
        if status == 0xC0:  # an unread result, perhaps of this transfer
            self._end_transfer()
        elif status == 0x81:
            self._search_transfer_results(identifier)
        elif status >= 0x80:
            self._close_transfer(identifier, 0, is_completed=False)

    def _end_transfer(self) -> None:
        self._record_transfer_result(self.read_values(0x72, {"transfer_code": 0xFF, "index": 0}))
        self.send(SYNC_POLL)

    def _record_transfer_result(self, reply: Values) -> str:
        """Enter the result of a transfer into the ledger; return the transfer's identifier, or an empty string."""
        if "transaction" not in reply:
            return ""
        identifier: str = reply["transaction"]
        kinds = ("cashable_cents", "restricted_cents", "nonrestricted_cents")
        if reply["status"] in {0x00, 0x01}:
            self._close_transfer(identifier, sum(reply[kind] for kind in kinds), is_completed=True)
        elif reply["status"] >= 0x80:
            self._close_transfer(identifier, 0, is_completed=False)
        return identifier

    def _search_transfer_results(self, identifier: str) -> None:
        for position in range(1, 36):
            reply = self.read_values(0x72, {"transfer_code": 0xFE, "index": position})
            if self._record_transfer_result(reply) == identifier:
                return

    def _close_transfer(self, identifier: str, moved_cents: int, *, is_completed: bool) -> None:
        movement = self.transfers[identifier]
        if movement.state != "ordered":
            assert movement.state == "dead" or movement.moved_cents == moved_cents
            return
        movement.state, movement.moved_cents = ("done", moved_cents) if is_completed else ("dead", 0)
        if movement.direction == "in":
            self.account_cents += movement.total_cents - movement.moved_cents
        elif movement.direction == "out":
            self.account_cents += movement.moved_cents

    def query_open_items(self) -> None:
        """Query the machine for the state of every ticket and transfer that is open in the ledger."""
        for voucher in self.tickets.values():
            if voucher.state == "pending":
                reply = self.read_values(0x71, {"code": 0xFF})
                self._record_ticket_status(reply)
                reported_voucher = self.tickets.get(reply.get("validation_data", ""))
                if reply and reported_voucher is not voucher and voucher.state == "pending":
                    voucher.state = "issued"  # the machine does not know this ticket
                self.send(SYNC_POLL)
        for identifier, movement in self.transfers.items():
            if movement.state == "ordered":
                self._send_order(identifier)  # repeat the order; the machine must reject a duplicate
                self.send(SYNC_POLL)

    def resume(self) -> None:
        """Continue after an interruption: query open items, then process the machine's pending requests."""
        self.query_open_items()  # first, because another ticket would replace it at the machine
        self._issue_validation_number()
        self._decide_inserted_ticket()

    def sum_moved_cents(self, direction: str) -> int:
        """Return the sum of the amounts transferred in one direction (``in``, ``out`` or ``bonus``), in minor units."""
        return sum(m.moved_cents for m in self.transfers.values() if m.direction == direction)

    async def poll_forever(self) -> None:
        """Send general polls until cancelled; when there are no exceptions, query the open items."""
        polls_without_news = 0
        while True:
            await asyncio.sleep(_POLL_INTERVAL_SECONDS)
            polls_without_news = 0 if self.poll() else polls_without_news + 1
            if polls_without_news % _POLLS_WITHOUT_NEWS_MAX == _POLLS_WITHOUT_NEWS_MAX - 1:
                self.query_open_items()

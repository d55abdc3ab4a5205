"""The validation desk: numbers for printed tickets and verdicts on inserted tickets.

Out, system validation: the machine waits (57), the desk gives a number (58), and the ticket is valid only
after the machine's own record (4D) reports it as printed. In: the machine holds a ticket in escrow (67, 70),
the desk reserves it for that machine before it answers (71), and asks for the result (71 FF) until it
receives one. Each step is in the ledger before it is on the line, so that a restarted host asks instead of
guessing.
"""

from collections.abc import Callable, Mapping
from typing import Final

from tools.dev.host.messages import Answer, Outcome
from tools.dev.host.store import Kind, Store, StoreError, Ticket, TicketState

Ask = Callable[[int, Mapping[str, object], Callable[[Answer], None]], None]
"""Send a long poll with values, and hear its answer."""
Tell = Callable[[str], None]
"""Say in a sentence what happened."""

_OUT_KINDS: Final = {0: Kind.CASHABLE, 1: Kind.RESTRICTED}
_IN_CODES: Final = {Kind.CASHABLE: 0x00, Kind.RESTRICTED: 0x01, Kind.NONRESTRICTED: 0x02}
_BAD_NUMBER, _UNKNOWN, _PENDING, _REDEEMED, _UNAVAILABLE, _MISMATCH = 0x81, 0x82, 0x83, 0x84, 0x86, 0x87
_STATUS_REQUEST: Final = 0xFF
_NOT_WAITING: Final = 0x80
#: What a machine says of a paper it did not keep; C0 and FF speak of no cycle and close none.
_GIVEN_BACK: Final = range(0x80, 0x8C)
_NO_TICKET: Final = 0xFF
_NEVER: Final = "00000000"
_REFUSALS: Final = {
    TicketState.REDEEMED: _REDEEMED,
    TicketState.REDEEMING: _PENDING,
    TicketState.VOID: _UNKNOWN,
    TicketState.ASSIGNED: _UNAVAILABLE,
}
_TRIES: Final = 20


class TicketDesk:
    """The desk for one machine."""

    def __init__(
        self, store: Store, ask: Ask, tell: Tell, *, below: Callable[[int], int], system_id: int = 1
    ) -> None:
        """``below(n)`` draws the digits of new numbers; ``system_id`` (1 to 99) begins them."""
        self._store = store
        self._ask = ask
        self._tell = tell
        self._below = below
        self._system_id = system_id
        self.machine = ""
        """Whom the machine says it is; empty until it has."""

    # ---------------------------------------------------------------- out
    def number_wanted(self) -> None:
        """Exception 57: a cash-out waits for a validation number."""
        self._ask(0x57, {}, self._cash_out)

    def _cash_out(self, answer: Answer) -> None:
        if answer.outcome is not Outcome.DATA or answer.values["type"] == _NOT_WAITING:
            return
        kind = _OUT_KINDS.get(answer.values["type"])
        cents = answer.values["amount_cents"]
        if kind is None or not cents:
            self._tell(f"cash-out of {cents} cents of unknown type {answer.values['type']:02X} refused")
            self._ask(0x58, {"system_id": 0, "validation": "0" * 16}, lambda _answer: None)
            return
        number = self._new_number(kind, cents)
        self._ask(
            0x58,
            {"system_id": int(number[:2]), "validation": number[2:]},
            lambda said: self._number_given(number, said),
        )

    def _new_number(self, kind: Kind, cents: int) -> str:
        for _ in range(_TRIES):
            number = f"{self._system_id:02d}{self._below(10**16):016d}"
            if self._store.assign(number, kind, cents, self.machine):
                return number
        raise StoreError(f"no free validation number found in {_TRIES} tries")

    def _number_given(self, number: str, answer: Answer) -> None:
        """Void a number that was surely not taken; one that may have been stays assigned."""
        if answer.outcome is Outcome.DATA and answer.values["status"] != 0:
            self._store.void(number)
            self._tell(f"ticket {number} not taken: status {answer.values['status']:02X}")

    def records_waiting(self) -> None:
        """Exception 3D or 3E: fetch validation records until there are no more."""
        self._ask(0x4D, {"function": 0}, self._record)

    def _record(self, answer: Answer) -> None:
        if answer.outcome is not Outcome.DATA:
            return
        values = answer.values
        number = f"{values['system_id']:02d}{values['validation']}"
        if not values["amount_cents"] and not int(number):
            return
        cents, type_ = values["amount_cents"], values["type"]
        self._tell(f"validation record {number}: {cents} cents, type {type_:02X}")
        kind = _OUT_KINDS.get(type_)
        if kind is not None:
            try:
                self._store.issue(number, kind, cents, self.machine)
            except StoreError as error:
                self._tell(str(error))
        self.records_waiting()

    # ---------------------------------------------------------------- in
    def ticket_inserted(self) -> None:
        """Exception 67: a paper is held in escrow."""
        self._ask(0x70, {}, self._escrow)

    def _escrow(self, answer: Answer) -> None:
        if answer.outcome is not Outcome.DATA or answer.values["status"] != 0:
            return
        number = str(answer.values["validation_data"])
        ticket = self._store.ticket(number)
        code, cents = self._verdict(ticket, answer.values["amount_cents"])
        if code < _NOT_WAITING:
            self._store.begin_redemption(number, self.machine)
        self._tell(f"ticket {number} in escrow: {'good' if code < _NOT_WAITING else 'refused'} ({code:02X})")
        request: dict[str, object] = {
            "code": code,
            "amount_cents": cents,
            "parsing": 0,
            "validation_data": number,
        }
        if code == _IN_CODES[Kind.RESTRICTED]:
            request |= {"expiration": _NEVER, "pool": 1}
        self._ask(0x71, request, self._outcome)

    def _verdict(self, ticket: Ticket | None, read_cents: int) -> tuple[int, int]:
        """Return the transfer code and the amount in cents for a ticket in escrow."""
        if ticket is None:
            return _UNKNOWN, read_cents
        if ticket.state is not TicketState.ISSUED:  # also one this very machine has not answered for yet
            return _REFUSALS[ticket.state], ticket.amount_cents
        if read_cents not in (0, ticket.amount_cents):
            return _MISMATCH, ticket.amount_cents
        return _IN_CODES[ticket.kind], ticket.amount_cents

    def redemption_ended(self) -> None:
        """Exception 68: ask what became of the ticket."""
        self._ask(0x71, {"code": _STATUS_REQUEST}, self._outcome)

    def _outcome(self, answer: Answer) -> None:
        """Close what the machine says is over. Nobody's word but the machine's closes anything."""
        if answer.outcome is not Outcome.DATA:
            return
        if answer.values == {
            "status": _NO_TICKET
        }:  # The machine has never received an answer: the reservation was not sent.
            for held in self._store.redeeming(self.machine):
                self._store.release(held.number, self.machine)
                self._tell(f"ticket {held.number} never reached the machine: as good as before")
            return
        if "validation_data" not in answer.values:
            return
        status, number = answer.values["status"], str(answer.values["validation_data"])
        ticket = self._store.ticket(number)
        if ticket is None:
            return
        if status in _IN_CODES.values():
            try:
                self._store.redeemed(number, self.machine)
            except StoreError as error:
                self._tell(str(error))
                return
            self._tell(f"ticket {number} redeemed: {ticket.amount_cents} cents")
        elif status in _GIVEN_BACK and ticket.state is TicketState.REDEEMING:
            self._store.release(number, self.machine)
            self._tell(f"ticket {number} given back ({status:02X})")

    # ---------------------------------------------------------------- coming back
    def ask_about_open(self) -> None:
        """After a break: take up whatever waits at the machine, and ask about what was left open."""
        self.ask_about_held()  # first: another ticket would take its place at the machine
        self.number_wanted()
        self.ticket_inserted()
        self.records_waiting()

    def ask_about_held(self) -> None:
        """Ask what became of a ticket the machine has not answered for."""
        if self._store.redeeming(self.machine):
            self.redemption_ended()

"""Ticket port: what a host's line asks of the machine about tickets, whatever protocol it speaks.

A line's polls call these methods on the machine's loop. Each returns when its effect is durable, may be
repeated after a lost answer, and says what is true then; the state table decides, as it does for a person.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final, TypeAlias

from egm.config.cabinet_file import Validation
from egm.kernel.credits import CreditKind
from egm.kernel.engine import Engine
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.money.host.model import HostMoney, Redeeming, in_ring, one_read, unread_places
from egm.money.host.records import HostTicketRecord
from egm.money.host.tickets import DENIED, SILENT, awaited, note_told
from egm.money.host.transfers import takes_pool
from egm.money.pay_out import ticket_of
from egm.money.ticket_terms import ticket_terms
from egm.record_codec import to_json
from egm.records.keys import HostKey, MoneyKey
from egm.tickets.desk import TicketDesk
from egm.tickets.model import Ticket, mask
from egm.tickets.numbers import is_system
from egm.tickets.redemption import Reason
from meters.recall import details
from meters.transaction import JSON

Handle: TypeAlias = Callable[[Event], None]


class NumberAnswer(StrEnum):
    """What became of a number the host gave."""

    TAKEN = "taken"
    NOT_WAITING = "not_waiting"
    IMPROPER = "improper"


@dataclass(frozen=True, slots=True)
class NumberWanted:
    """A cash-out that waits for a number."""

    id: str
    kind: CreditKind
    amount_cents: int


@dataclass(frozen=True, slots=True)
class Redeemed:
    """What the host may read of the ticket last put in."""

    status: Redeeming
    amount_cents: int = 0
    digits: str = ""
    kind: CreditKind | None = None


@dataclass(frozen=True, slots=True)
class Validated:
    """A printed ticket in the ring of those the host reads: its place, 1 to 31."""

    place: int
    ticket: Ticket
    pool: int = 0


#: Statuses after which nothing more becomes of a ticket.
_FINAL: Final = frozenset(Redeeming) - {Redeeming.WAITING, Redeeming.PENDING, Redeeming.NO_TICKET}


class HostTickets:
    """Tickets of one machine, as its host sees them."""

    def __init__(self, engine: Engine[Machine], handle: Handle) -> None:
        """``handle`` lets something happen, and stops a machine that cannot record it."""
        self._engine = engine
        self._machine = engine.machine
        self._handle = handle

    def _let(self, event: EventType, **values: object) -> None:
        self._handle(Event(event, values))

    # ------------------------------------------------------------------ a number for a ticket
    @property
    def wanted(self) -> NumberWanted | None:
        """The cash-out that waits for a number, if one does."""
        pay_out = awaited(self._machine)
        if pay_out is None or pay_out.kind is None:
            return None
        return NumberWanted(pay_out.id, pay_out.kind, pay_out.amount_cents)

    def give_number(self, number: str) -> NumberAnswer:
        """Number the waiting ticket with these 18 digits. A repeat of the number it has is taken again."""
        desk, wanted = self._machine.installed(TicketDesk), self.wanted
        known = desk is not None and desk.knows(number)
        if wanted is None:
            return NumberAnswer.TAKEN if known else NumberAnswer.NOT_WAITING
        if known or not is_system(number):
            return NumberAnswer.IMPROPER
        self._let(EventType.TICKET_NUMBERED, id=wanted.id, number=number)
        return NumberAnswer.TAKEN

    def refuse_number(self, *, silent: bool = False) -> NumberAnswer:
        """The host gives no number; or nobody answered in time (``silent``)."""
        wanted = self.wanted
        if wanted is None:
            return NumberAnswer.NOT_WAITING
        self._let(EventType.NUMBER_REFUSED, id=wanted.id, why=SILENT if silent else DENIED)
        return NumberAnswer.TAKEN

    # ------------------------------------------------------------------ the worth of a ticket
    @property
    def offered(self) -> str | None:
        """The digits of the ticket in escrow that the host is asked about, if there is one."""
        inquiry = self._machine.state(HostMoney).inquiry
        return None if inquiry is None else inquiry.digits

    def authorise(
        self, digits: str, kind: CreditKind, amount_cents: int, *, expires: date | None = None, pool: int = 0
    ) -> Redeemed:
        """The host says the ticket in escrow is good for so much: take it, or say why not.

        Said again of a ticket that was already taken, it changes nothing and gets the same answer.
        """
        inquiry = self._machine.state(HostMoney).inquiry
        if inquiry is None:
            now = self.redeeming
            return now if now.digits == digits else Redeemed(Redeeming.NOT_NOW)
        refusal = self._refusal(digits, kind, amount_cents, expires, pool)
        if refusal is not None:
            return self.decline(*refusal)
        self._let(
            EventType.TICKET_AUTHORISED,
            id=inquiry.id,
            kind=kind.value,
            amount_cents=amount_cents,
            expires="" if expires is None else expires.isoformat(),
            pool=pool,
        )
        return self.redeeming

    def _refusal(
        self, digits: str, kind: CreditKind, amount_cents: int, expires: date | None, pool: int
    ) -> tuple[Redeeming, Reason] | None:
        """Why this machine may not take what the host authorises, or None."""
        machine = self._machine
        restricted = kind is CreditKind.RESTRICTED
        limit_cents = machine.profile.value_in.credit_limit_cents
        believed = machine.times.is_believed
        late = restricted and expires is not None and believed and expires < machine.local_date
        promotional = kind is not CreditKind.CASHABLE
        checks = (
            (digits != self.offered, Redeeming.NUMBER_MISMATCH, Reason.HOST_REFUSED),
            (amount_cents <= 0, Redeeming.BAD_AMOUNT, Reason.HOST_REFUSED),
            (machine.credit_cents + amount_cents > limit_cents, Redeeming.OVER_LIMIT, Reason.ABOVE_LIMIT),
            (promotional and not machine.profile.tickets.promotional, Redeeming.DISABLED, Reason.WRONG_KIND),
            (late, Redeeming.BAD_AMOUNT, Reason.EXPIRED),
            (restricted and not takes_pool(machine, pool), Redeeming.OTHER_POOL, Reason.NOT_NOW),
        )
        return next(((status, reason) for holds, status, reason in checks if holds), None)

    def decline(self, status: Redeeming, reason: Reason) -> Redeemed:
        """The ticket in escrow goes back to the player, for this reason."""
        inquiry = self._machine.state(HostMoney).inquiry
        if inquiry is None:
            return self.redeeming
        self._let(EventType.TICKET_DECLINED, id=inquiry.id, status=status.value, reason=reason.value)
        return Redeemed(status, 0, inquiry.digits)

    @property
    def redeeming(self) -> Redeemed:
        """Where the ticket last put in is."""
        if (digits := self.offered) is not None:
            return Redeemed(Redeeming.WAITING, 0, digits)
        stored = self._machine.memory.read(HostTicketRecord, HostKey.TICKET)
        if stored is None:
            return Redeemed(Redeeming.NO_TICKET)
        desk = self._machine.installed(TicketDesk)
        number = (desk and desk.number_of(stored.id)) or self._answered(stored.number)
        kind = CreditKind(stored.kind) if stored.kind else None
        return Redeemed(stored.status, stored.amount_cents, number, kind)

    def _answered(self, masked: str) -> str:
        """The digits of a ticket that was given back: remembered by this run only."""
        last = self._machine.state(HostMoney).answered
        return last if mask(last) == masked else ""

    @property
    def untold(self) -> bool:
        """Whether a ticket has come to its end and the host has not read that yet."""
        stored = self._machine.memory.read(HostTicketRecord, HostKey.TICKET)
        return stored is not None and not stored.told and stored.status in _FINAL

    def told(self) -> None:
        """The host has read the end of the ticket. A repeat changes nothing."""
        if self.untold:
            note_told(self._machine)

    # ------------------------------------------------------------------ the tickets printed
    @property
    def wants_enrolment(self) -> bool:
        """Whether the machine is to make numbers, and has no identifier from the host to make them from."""
        desk = self._machine.installed(TicketDesk)
        secure = self._machine.state(HostMoney).validation is Validation.SECURE_ENHANCED
        return secure and (desk is None or desk.enrolment is None)

    def unread(self) -> Validated | None:
        """The oldest printed ticket the host has not acknowledged."""
        places = unread_places(self._machine.journal)
        return self.at(places[0]) if places else None

    def at(self, place: int) -> Validated | None:
        """The ticket at a place of the ring."""
        issue_id = in_ring(self._machine.journal, place)
        ticket = None if issue_id is None else ticket_of(self._machine, issue_id)
        return None if ticket is None or issue_id is None else Validated(place, ticket, self._pool(issue_id))

    def _pool(self, pay_out_id: str) -> int:
        """The pool of the credit a ticket was printed from."""
        entry = self._machine.journal.get(f"{pay_out_id}.printed")
        return 0 if entry is None else int(details(entry).get("pool", 0))

    def read(self, number: str) -> None:
        """The host has acknowledged the oldest unread ticket. Durable; of any other, nothing changes."""
        oldest = self.unread()
        if oldest is not None and oldest.ticket.number == number:
            self._machine.record("voucher.read", state=one_read(self._machine.journal))
            self._machine.state(TicketDesk).reported(number)

    def enrol(self, validation_id: int, sequence: int) -> None:
        """Take the host's identifier, and the sequence to go on from."""
        desk = self._machine.installed(TicketDesk)
        if desk is None:
            return
        desk.enrol(validation_id, sequence)
        self._machine.log("voucher.enrolled", {"sequence": sequence})

    def agree(self, changes: Mapping[str, JSON], *, outranked: bool = False) -> None:
        """Lay down terms of tickets by name (:class:`TicketTerms`). Durable; a repeat changes nothing."""
        terms = ticket_terms(self._machine).changed(changes, outranked=outranked)
        if terms != ticket_terms(self._machine):
            told = {"tickets": to_json(terms)}
            self._machine.record("options.changed", state={MoneyKey.TICKET_TERMS: terms}, details=told)

"""The tickets of one machine, as the line of a host reads and controls them, whatever the protocol.

A line is the connection to one host. Its polls call these methods on the machine's event loop. Each method returns when
its effect is durable, may be repeated after a lost reply, and returns the current state. The state table decides
whether a call is allowed, exactly as for a player's or attendant's input.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final, TypeAlias

from egm.config.cabinet_file import TicketValidator
from egm.host.entries import (
    PRINTED_TICKET_READ_BY_HOST,
    TICKET_NUMBERING_ENROLLED,
    TICKET_TERMS_CHANGED,
    TicketNumberingEnrolled,
    TicketTermsChanged,
)
from egm.host.events import (
    TicketNumberAssigned,
    TicketNumberRefused,
    TicketRedemptionAuthorised,
    TicketRedemptionReply,
)
from egm.host.keys import HostKey
from egm.host.tickets import (
    HOST_TIMED_OUT_REASON,
    NUMBER_REFUSED_BY_HOST_REASON,
    find_payout_awaiting_number,
    record_result_read,
)
from egm.host.transfers import can_add_restricted_pool
from egm.kernel.credits import CreditKind
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.money.host_money import (
    HostMoney,
    build_ticket_read_state,
    find_payout_id_in_ticket_ring,
    list_unread_ticket_indices,
)
from egm.money.keys import MoneyKey
from egm.money.pay_out import find_ticket
from egm.money.records.host import HostTicketRecord, RedemptionStatus
from egm.money.ticket_terms import find_ticket_terms
from egm.tickets.desk import TicketDesk
from egm.tickets.model import Ticket, mask_number
from egm.tickets.numbers import is_system_number
from egm.tickets.redemption import TicketRefusalReason
from meters.recall import read_details
from meters.transaction import JSON

#: Processes an event in the state table.
SubmitEvent: TypeAlias = Callable[[Event], None]


class TicketNumberReply(StrEnum):
    """The machine's reply to a ticket number from the host: accepted, no ticket is waiting, or not a valid number."""

    ACCEPTED = "accepted"
    NO_TICKET_WAITING = "no_ticket_waiting"
    INVALID_NUMBER = "invalid_number"


@dataclass(frozen=True, slots=True)
class TicketNumberRequest:
    """A cash-out by ticket that waits for the host's ticket number."""

    id: str
    kind: CreditKind
    amount_cents: int


@dataclass(frozen=True, slots=True)
class RedemptionState:
    """The last inserted ticket and the state of its redemption, as reported to the host."""

    status: RedemptionStatus
    amount_cents: int = 0
    ticket_number: str = ""
    """The full number of the ticket; "" if there is no ticket or if its number was lost at a restart."""
    kind: CreditKind | None = None


@dataclass(frozen=True, slots=True)
class PrintedTicketInRing:
    """A printed ticket that the host may read; ``ring_index`` is the ticket's index in the ring buffer, 1 to 31."""

    ring_index: int
    ticket: Ticket
    restricted_pool: int = 0
    """The number of the pool of the ticket's restricted credit; 0 for other credit."""


#: Final statuses: the redemption has ended.
_FINAL_REDEMPTION_STATUSES: Final = frozenset(RedemptionStatus) - {
    RedemptionStatus.WAITING,
    RedemptionStatus.PENDING,
    RedemptionStatus.NO_TICKET,
}


class HostTicketInterface:
    """The methods by which a host reads and controls the tickets of one machine."""

    def __init__(self, engine: StateMachineEngine[PositionMachine], submit_event: SubmitEvent) -> None:
        """Create the ticket interface for the state table ``engine`` of a machine.

        ``submit_event`` processes an event in the state table; if its entry cannot be stored, it stops the machine.
        """
        self._engine = engine
        self._machine = engine.machine
        self._submit_event = submit_event

    # ------------------------------------------------------------------ ticket numbers
    @property
    def pending_ticket_number_request(self) -> TicketNumberRequest | None:
        """Return the cash-out by ticket that waits for the host's number, or None."""
        payout = find_payout_awaiting_number(self._machine)
        if payout is None or payout.credit_kind is None:
            return None
        return TicketNumberRequest(payout.id, payout.credit_kind, payout.amount_cents)

    def assign_ticket_number(self, ticket_number: str) -> TicketNumberReply:
        """Assign the host's 18-digit number to the ticket that waits for one; return whether it was accepted.

        A number that another ticket has is not valid. But if no ticket waits for a number and a ticket has this one,
        the host has repeated its message: nothing changes, and the number counts as accepted.

        """
        desk, request = self._machine.find_installed(TicketDesk), self.pending_ticket_number_request
        is_known = desk is not None and desk.has_ticket(ticket_number)
        if request is None:
            return TicketNumberReply.ACCEPTED if is_known else TicketNumberReply.NO_TICKET_WAITING
        if is_known or not is_system_number(ticket_number):
            return TicketNumberReply.INVALID_NUMBER
        self._submit_event(
            Event(EventType.TICKET_NUMBER_ASSIGNED, TicketNumberAssigned(id=request.id, number=ticket_number))
        )
        return TicketNumberReply.ACCEPTED

    def continue_without_host_number(self, *, has_timed_out: bool = False) -> TicketNumberReply:
        """Continue, without a number from the host, the cash-out whose ticket waits for one.

        The host refused a number or, with ``has_timed_out``, did not reply in time. Return NO_TICKET_WAITING if no
        ticket was waiting, otherwise ACCEPTED.
        """
        request = self.pending_ticket_number_request
        if request is None:
            return TicketNumberReply.NO_TICKET_WAITING
        refusal = TicketNumberRefused(
            id=request.id, reason=HOST_TIMED_OUT_REASON if has_timed_out else NUMBER_REFUSED_BY_HOST_REASON
        )
        self._submit_event(Event(EventType.TICKET_NUMBER_REFUSED, refusal))
        return TicketNumberReply.ACCEPTED

    # ------------------------------------------------------------------ redemption
    @property
    def offered_ticket_number(self) -> str | None:
        """Return the full number of the ticket in escrow that waits for the host's authorisation, or None."""
        inquiry = self._machine.component(HostMoney).ticket_inquiry
        return None if inquiry is None else inquiry.ticket_number

    def authorise_redemption(
        self,
        ticket_number: str,
        kind: CreditKind,
        amount_cents: int,
        *,
        expiry_date: date | None = None,
        restricted_pool: int = 0,
    ) -> RedemptionState:
        """Stack the ticket in escrow for the amount that the host authorises; return the state of the redemption.

        If this machine must refuse the ticket, it is returned to the player, and the status names the reason.
        If no ticket waits for the host, nothing changes: if the last ticket has this number, its state is returned,
        otherwise NOT_NOW. For restricted credit, ``expiry_date`` is the expiry date, and ``restricted_pool`` the number
        by which the host knows the pool.
        """
        inquiry = self._machine.component(HostMoney).ticket_inquiry
        if inquiry is None:
            redemption_state = self.redemption_state
            return (
                redemption_state
                if redemption_state.ticket_number == ticket_number
                else RedemptionState(RedemptionStatus.NOT_NOW)
            )
        refusal = self._find_refusal(ticket_number, kind, amount_cents, expiry_date, restricted_pool)
        if refusal is not None:
            return self.return_offered_ticket(*refusal)
        authorisation = TicketRedemptionAuthorised(
            id=inquiry.id,
            kind=kind,
            amount_cents=amount_cents,
            expiry_date="" if expiry_date is None else expiry_date.isoformat(),
            restricted_pool=restricted_pool,
        )
        self._submit_event(Event(EventType.TICKET_AUTHORISED, authorisation))
        return self.redemption_state

    def _find_refusal(
        self,
        ticket_number: str,
        kind: CreditKind,
        amount_cents: int,
        expiry_date: date | None,
        restricted_pool: int,
    ) -> tuple[RedemptionStatus, TicketRefusalReason] | None:
        """Return why this machine must refuse a ticket that the host has authorised; None if it can accept it.

        The result is the status to report to the host and the reason to show to the player.
        """
        machine = self._machine
        is_restricted = kind is CreditKind.RESTRICTED
        limit_cents = machine.profile.value_in.credit_limit_cents
        is_clock_trusted = machine.timekeeper.is_clock_trusted
        has_expired = (
            is_restricted
            and expiry_date is not None
            and is_clock_trusted
            and expiry_date < machine.local_date
        )
        is_promotional = kind is not CreditKind.CASHABLE
        checks = (
            (
                ticket_number != self.offered_ticket_number,
                RedemptionStatus.NUMBER_MISMATCH,
                TicketRefusalReason.HOST_REFUSED,
            ),
            (amount_cents <= 0, RedemptionStatus.BAD_AMOUNT, TicketRefusalReason.HOST_REFUSED),
            (
                machine.credit_cents + amount_cents > limit_cents,
                RedemptionStatus.OVER_LIMIT,
                TicketRefusalReason.ABOVE_LIMIT,
            ),
            (
                is_promotional and not machine.profile.tickets.accepts_promotional_credit,
                RedemptionStatus.PROMOTIONAL_TICKETS_DISABLED,
                TicketRefusalReason.WRONG_KIND,
            ),
            # there is no status for an expired ticket
            (has_expired, RedemptionStatus.BAD_AMOUNT, TicketRefusalReason.EXPIRED),
            (
                is_restricted and not can_add_restricted_pool(machine, restricted_pool),
                RedemptionStatus.OTHER_POOL,
                TicketRefusalReason.NOT_NOW,
            ),
        )
        return next(((status, reason) for is_refused, status, reason in checks if is_refused), None)

    def return_offered_ticket(self, status: RedemptionStatus, reason: TicketRefusalReason) -> RedemptionState:
        """Give the ticket in escrow back to the player, because the host or this machine refuses it.

        ``status`` is reported to the host, ``reason`` is shown to the player. The result is the state of the
        redemption. If no ticket waits for the host, nothing changes.
        """
        inquiry = self._machine.component(HostMoney).ticket_inquiry
        if inquiry is None:
            return self.redemption_state
        reply = TicketRedemptionReply(id=inquiry.id, status=status, reason=reason)
        self._submit_event(Event(EventType.TICKET_DECLINED, reply))
        return RedemptionState(status, 0, inquiry.ticket_number)

    @property
    def redemption_state(self) -> RedemptionState:
        """Return the state of the ticket inserted last, as reported to the host."""
        if (ticket_number := self.offered_ticket_number) is not None:
            return RedemptionState(RedemptionStatus.WAITING, 0, ticket_number)
        host_ticket = self._machine.memory.read(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION)
        if host_ticket is None:
            return RedemptionState(RedemptionStatus.NO_TICKET)
        desk = self._machine.find_installed(TicketDesk)
        number = (
            desk and desk.find_number_by_redemption(host_ticket.id)
        ) or self._find_returned_ticket_number(host_ticket.masked_number)
        kind = CreditKind(host_ticket.credit_kind) if host_ticket.credit_kind else None
        return RedemptionState(host_ticket.status, host_ticket.amount_cents, number, kind)

    def _find_returned_ticket_number(self, masked_number: str) -> str:
        """Return the full number of the last returned ticket if ``masked_number`` matches it, else an empty text.

        The full number is in memory only, so it is lost at a restart.
        """
        returned_number = self._machine.component(HostMoney).last_returned_ticket_number
        return returned_number if mask_number(returned_number) == masked_number else ""

    @property
    def has_unread_result(self) -> bool:
        """Return whether the redemption of a ticket has ended and the host has not read its result yet."""
        host_ticket = self._machine.memory.read(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION)
        return (
            host_ticket is not None
            and not host_ticket.host_has_read
            and host_ticket.status in _FINAL_REDEMPTION_STATUSES
        )

    def acknowledge_result(self) -> None:
        """Record that the host has read the result of a ticket's redemption. A repeat changes nothing."""
        if self.has_unread_result:
            record_result_read(self._machine)

    # ------------------------------------------------------------------ printed tickets
    @property
    def needs_enrolment(self) -> bool:
        """Return whether the machine lacks the host's identifier that it needs to create ticket numbers."""
        desk = self._machine.find_installed(TicketDesk)
        is_secure_enhanced = (
            self._machine.component(HostMoney).ticket_validator is TicketValidator.SECURE_ENHANCED
        )
        return is_secure_enhanced and (desk is None or desk.current_enrolment is None)

    def find_oldest_unread_ticket(self) -> PrintedTicketInRing | None:
        """Return the oldest printed ticket that the host has not read, or None."""
        indices = list_unread_ticket_indices(self._machine.journal)
        return self.find_ticket_in_ring(indices[0]) if indices else None

    def find_ticket_in_ring(self, ring_index: int) -> PrintedTicketInRing | None:
        """Return the printed ticket at ``ring_index`` (1 to 31) of the ring buffer that the host reads, or None."""
        payout_id = find_payout_id_in_ticket_ring(self._machine.journal, ring_index)
        ticket = None if payout_id is None else find_ticket(self._machine, payout_id)
        return (
            None
            if ticket is None or payout_id is None
            else PrintedTicketInRing(ring_index, ticket, self._find_restricted_pool(payout_id))
        )

    def _find_restricted_pool(self, payout_id: str) -> int:
        """Return the number of the pool of restricted credit that became a cash-out's ticket; 0 for other credit."""
        entry = self._machine.journal.get(f"{payout_id}.printed")
        return 0 if entry is None else int(read_details(entry).get("pool", 0))

    def mark_ticket_read(self, ticket_number: str) -> None:
        """Record durably that the host has read its oldest unread ticket, if that ticket has this number."""
        oldest_unread_ticket = self.find_oldest_unread_ticket()
        if oldest_unread_ticket is not None and oldest_unread_ticket.ticket.number == ticket_number:
            self._machine.post(
                PRINTED_TICKET_READ_BY_HOST, state=build_ticket_read_state(self._machine.journal)
            )
            self._machine.component(TicketDesk).mark_read_by_host(ticket_number)

    def store_enrolment(self, validation_id: int, sequence: int) -> None:
        """Store the validation identifier and the first sequence number that the host assigns.

        The machine creates the numbers of its tickets from them (secure enhanced validation).
        """
        desk = self._machine.find_installed(TicketDesk)
        if desk is None:
            return
        desk.store_enrolment(validation_id, sequence)
        self._machine.post(TICKET_NUMBERING_ENROLLED, TicketNumberingEnrolled(sequence=sequence))

    def store_ticket_terms(
        self, changes: Mapping[str, JSON], *, comes_from_older_message_type: bool = False
    ) -> None:
        """Store the host's changes to the ticket terms (:class:`HostTicketTerms`) durably; a repeat changes nothing.

        A protocol may have an old and a new message for these terms. If ``comes_from_older_message_type``, the changes
        come from the old one, and do not replace terms that the new one has set.
        """
        terms = find_ticket_terms(self._machine).with_changes(
            changes, comes_from_older_message_type=comes_from_older_message_type
        )
        if terms != find_ticket_terms(self._machine):
            self._machine.post(
                TICKET_TERMS_CHANGED,
                TicketTermsChanged(terms=terms),
                state={MoneyKey.TICKET_TERMS: terms},
            )

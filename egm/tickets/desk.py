"""The ticket desk: one machine's use of the ticket ledger for issuing and redeeming tickets.

To issue a ticket, the cabinet calls, under an issue id that it creates (the id of the cash-out)::

    ticket = desk.prepare_ticket(issue_id, ...)        durable: a number, not yet money
    1. Reserve the credits in the journal, unless they were reserved while the host was queried for the number.
    2. Print the ticket.
    3. When the printer reports the bar code as printed, settle the cash-out in the journal.
    desk.record_printed(ticket.number)                 durable: the ticket can be redeemed
    or desk.record_failed_print(ticket.number, reason)    durable: never money; pay by hand

To redeem a ticket in escrow, the cabinet calls, under a redemption id that it creates::

    result = desk.begin_redemption(redemption_id, number)  durable lock, or a refusal: return the ticket
    1. Reserve the amount in the journal.
    2. Stack the ticket.
    3. When it is in the box, settle the amount in the journal.
    desk.commit_redemption(redemption_id)                  durable: redeemed permanently
    or desk.abort_redemption(redemption_id, reason)        durable: the ticket is valid again

Every call may be repeated with the same id or number and counts once. After a power loss the cabinet calls
:meth:`TicketDesk.find_unfinished` and completes each item as its journal says. A reserved ticket is recorded as
printed if its cash-out was settled, otherwise as failed. A redemption is committed if its credit was settled,
otherwise aborted. Settlements are written to the journal before they are written to the ledger. A power loss between
the two writes therefore leaves at worst a ticket that nobody can redeem until the restart, never one that can be
redeemed twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from egm.clock import Clock
from egm.tickets import numbers
from egm.tickets.errors import TicketOrderError
from egm.tickets.model import HOST_ISSUER, Ticket, TicketKind, TicketState, Venue
from egm.tickets.record import TicketAction, TicketNumberingEnrolment, TicketRecord
from egm.tickets.redemption import (
    TicketRedemption,
    TicketRefusal,
    TicketRefusalReason,
    end_redemption,
    is_locked_for_redemption,
    lock_for_redemption,
)
from egm.tickets.store import TicketStore
from egm.tickets.templates import load_template

#: Attempts to find a free number before its source counts as broken; by chance one number in 10^12 collides.
_FREE_NUMBER_ATTEMPTS_MAX: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRules:
    """The jurisdiction's and the venue's rules for tickets."""

    currency: str
    template: str
    """The id of the template by which tickets are printed."""
    limit_cents: int
    """The largest amount of a ticket, in minor units; a larger one is paid by hand."""
    valid_days: int | None = None
    """A ticket is valid to the end of the local day this many days after its issue; None: it never expires."""
    unread_max_before_own_number: int | None = None
    """The most tickets that may be unread if the machine creates ticket numbers itself; None without a host.

    A ticket is unread until the host has acknowledged it. At the limit no further ticket is issued.
    """
    unread_max_before_host_number: int | None = None
    """The most tickets that may be unread if the host supplies the ticket numbers; None without a host."""


@dataclass(frozen=True, slots=True)
class UnfinishedTickets:
    """One machine's tickets and redemptions that are not finished, as found after a power loss."""

    tickets: tuple[TicketRecord, ...]
    """The tickets that have a number, but whose printing is not recorded."""
    redemptions: tuple[TicketRedemption, ...]
    """The redemptions whose ticket this machine has locked and neither redeemed nor released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketIssuer:
    """The identity of a machine and its venue, as printed on the machine's tickets."""

    serial: str
    operator_number: str
    venue: Venue
    """The venue that issues the tickets."""


@dataclass(frozen=True, slots=True)
class PrintedTerms:
    """The venue data printed on a ticket, and how many days the ticket is valid (None: it never expires)."""

    venue: Venue
    valid_days: int | None


#: A function that creates a ticket number for a kind of ticket and the machine's enrolment with a host (None: not
#: enrolled). It returns None if it needs an enrolment and has none.
CreateTicketNumber = Callable[[TicketKind, TicketNumberingEnrolment | None], str | None]


def build_stand_alone_numbering(draw_below: numbers.DrawBelow) -> CreateTicketNumber:
    """Return a function that creates unpredictable ticket numbers for a machine without a host.

    ``draw_below(bound)`` returns an unbiased random number below ``bound``.
    """
    return lambda kind, _: numbers.create_stand_alone_number(kind, draw_below)


def create_enrolled_number(_: TicketKind, enrolment: TicketNumberingEnrolment | None) -> str | None:
    """Return the ticket number for the validation identifier and sequence in ``enrolment``.

    A host assigns both by enrolling the machine (SAS 4C). Return None without an enrolment.
    """
    if enrolment is None:
        return None
    return numbers.create_secure_enhanced_number(enrolment.validation_id, enrolment.sequence)


class TicketDesk:
    """The issuing and redeeming of one machine's tickets.

    ``create_number`` creates ticket numbers; ``is_ticket_number`` returns whether digits have the form of a ticket
    number of this venue. While ``is_clock_trusted`` returns False, no ticket is issued and none
    counts as expired. ``is_known_to_journal`` returns whether the journal confirms a ticket that the ledger lists as
    issued by this machine; other tickets are refused. Raises :class:`InvalidTicket` if the ticket template is missing
    or the venue lacks data that must be printed.
    """

    def __init__(
        self,
        store: TicketStore,
        issuer: TicketIssuer,
        rules: TicketRules,
        clock: Clock,
        *,
        create_number: CreateTicketNumber,
        is_ticket_number: Callable[[str], bool],
        is_clock_trusted: Callable[[], bool] = lambda: True,
        is_known_to_journal: Callable[[TicketRecord], bool] = lambda _: True,
    ) -> None:
        load_template(rules.template).check_venue(issuer.venue)
        self._store = store
        self._issuer = issuer
        self._rules = rules
        self._clock = clock
        self._create_number = create_number
        self._is_ticket_number = is_ticket_number
        self._is_clock_trusted = is_clock_trusted
        self._is_known_to_journal = is_known_to_journal

    @property
    def store(self) -> TicketStore:
        """Return the ticket ledger in which this desk issues and redeems tickets."""
        return self._store

    # ------------------------------------------------------------------ tickets out
    def prepare_ticket(
        self,
        issue_id: str,
        amount_cents: int,
        kind: TicketKind = TicketKind.CASHABLE,
        *,
        denomination_cents: int,
        printed_terms: PrintedTerms | None = None,
        ticket_number: str | None = None,
        journal_head: str = "",
    ) -> Ticket | TicketRefusal:
        """Reserve a number for a ticket, durably; return the ticket to print, or why no ticket is issued.

        The ticket becomes money only with :meth:`record_printed`. After a refusal the credits are paid by hand.
        ``issue_id`` identifies the cash-out: while the ticket is reserved, a repeated call returns the same ticket.
        ``printed_terms`` replace the machine's own venue data and validity. ``ticket_number`` is the host's ticket
        number under system validation; without it the desk creates one. ``journal_head`` (last entry and first digits
        of its hash) is printed. Raises :class:`TicketOrderError` if ``issue_id`` was used with other values.
        """
        with self._store.transaction():
            record = self._store.find_by_issue(issue_id)
            if record is not None:
                is_same_request = (
                    record.state == TicketState.RESERVED
                    and record.ticket.amount_cents == amount_cents
                    and record.ticket.kind == kind
                    and record.ticket.denomination_cents == denomination_cents
                    and (not ticket_number or record.ticket.number == ticket_number)
                )
                if not is_same_request:
                    raise TicketOrderError(
                        f"{issue_id}: a ticket of {amount_cents} cents {kind} was "
                        "requested, but under this id the ledger has"
                        f" {record.ticket.masked_number}, {record.ticket.amount_cents} cents, {record.state}"
                    )
                return record.ticket
            refusal = self._find_issue_refusal(amount_cents, kind, has_host_number=ticket_number is not None)
            if refusal is not None:
                return refusal
            ticket_number = ticket_number or self._find_fresh_number(kind)
            if ticket_number is None:
                return TicketRefusal(TicketRefusalReason.NOT_ENROLLED)
            issued_at = self._read_clock()
            effective_terms = printed_terms or PrintedTerms(self._issuer.venue, self._rules.valid_days)
            ticket = Ticket(
                number=ticket_number,
                sequence=self._store.find_next_sequence(self._issuer.serial),
                kind=kind,
                amount_cents=amount_cents,
                currency=self._rules.currency,
                denomination_cents=denomination_cents,
                issued_at=issued_at,
                expires_at=compute_expiry(issued_at, effective_terms.venue, effective_terms.valid_days),
                machine_serial=self._issuer.serial,
                operator_number=self._issuer.operator_number,
                venue=effective_terms.venue,
                template=self._rules.template,
                journal_head=journal_head,
            )
            return self._store.reserve_ticket(issue_id, ticket, actor=self._issuer.serial).ticket

    def find_issued_ticket(self, issue_id: str) -> Ticket | None:
        """Return the ticket whose number was reserved under this id (a cash-out), or None."""
        record = self._store.find_by_issue(issue_id)
        return None if record is None else record.ticket

    def find_record_by_redemption(self, redemption_id: str) -> TicketRecord | None:
        """Return the record of the ticket that was locked under a redemption id, or None."""
        return self._store.find_by_redemption(redemption_id)

    def find_number_by_redemption(self, redemption_id: str) -> str | None:
        """Return the number of the ticket that was locked under a redemption id, or None."""
        record = self.find_record_by_redemption(redemption_id)
        return None if record is None else record.ticket.number

    def record_printed(self, ticket_number: str) -> Ticket:
        """Record that a ticket's bar code was printed, so that the ticket is money. Durable; repeats change nothing."""
        return self._record_action_once(ticket_number, TicketAction.ISSUE).ticket

    def record_failed_print(self, ticket_number: str, reason: str) -> None:
        """Void a ticket that was not printed, or may not have been. Durable; repeats change nothing.

        If it was printed after all it is worthless, and the player is paid by hand.
        """
        self._record_action_once(ticket_number, TicketAction.FAIL_PRINTING, why=reason)

    def has_redemption_lock(self, redemption_id: str) -> bool:
        """Return whether a redemption still holds the lock on its ticket, so that the machine may credit the ticket."""
        record = self._store.find_by_redemption(redemption_id)
        return record is not None and is_locked_for_redemption(record, redemption_id, self._issuer.serial)

    def has_ticket(self, ticket_number: str) -> bool:
        """Return whether the ticket ledger has a ticket with this number."""
        return self._store.find_ticket(ticket_number) is not None

    # ------------------------------------------------------------------ tickets in
    def is_ticket_number(self, digits: str) -> bool:
        """Return whether these digits have the form of a ticket number of this venue."""
        return self._is_ticket_number(digits)

    def begin_host_redemption(
        self, redemption_id: str, ticket_number: str, kind: TicketKind, amount_cents: int
    ) -> TicketRedemption | TicketRefusal:
        """Lock a ticket with the value that the host has stated; return the redemption, or why it is refused. Durable.

        A ticket that the ledger does not know is entered in it as issued by the host, so that the same ticket is
        refused later, even if the host has lost its records. A repeated call with the same id and number returns
        the same result.
        """
        machine_serial, action_time = self._issuer.serial, self._read_clock()
        with self._store.transaction():
            record = self._store.find_ticket(ticket_number)
            if record is None:
                self._enter_host_ticket(redemption_id, ticket_number, kind, amount_cents)
            elif (record.ticket.kind, record.ticket.amount_cents) != (kind, amount_cents):
                return TicketRefusal(
                    TicketRefusalReason.AMOUNT_MISMATCH,
                    f"{record.ticket.amount_cents} cents {record.ticket.kind}",
                )
            return lock_for_redemption(
                self._store,
                redemption_id,
                ticket_number,
                self._is_ticket_number,
                actor=machine_serial,
                action_time=action_time,
                find_refusal=self._find_redemption_refusal,
            )

    def _enter_host_ticket(
        self, redemption_id: str, ticket_number: str, kind: TicketKind, amount_cents: int
    ) -> None:
        """Record in the ledger a ticket issued by another machine of the host, with the value that the host states."""
        issued_at = self._read_clock()
        ticket = Ticket(
            number=ticket_number,
            sequence=self._store.find_next_sequence(HOST_ISSUER),
            kind=kind,
            amount_cents=amount_cents,
            currency=self._rules.currency,
            denomination_cents=1,
            issued_at=issued_at,
            expires_at=None,
            machine_serial=HOST_ISSUER,
            operator_number="",
            venue=self._issuer.venue,
            template=self._rules.template,
        )
        self._store.reserve_ticket(f"{redemption_id}.host", ticket, actor=HOST_ISSUER)
        self._store.record_move(ticket_number, TicketAction.ISSUE, action_time=issued_at, actor=HOST_ISSUER)

    def begin_redemption(self, redemption_id: str, ticket_number: str) -> TicketRedemption | TicketRefusal:
        """Lock the ticket with this number, durably, to redeem it on this machine; or return why it is refused.

        A repeated call with the same id and number returns the same result while the ticket is locked. The lock never
        expires, because the ticket may already be in this machine's cash box.
        """
        machine_serial, action_time = self._issuer.serial, self._read_clock()
        return lock_for_redemption(
            self._store,
            redemption_id,
            ticket_number,
            self._is_ticket_number,
            actor=machine_serial,
            action_time=action_time,
            find_refusal=self._find_redemption_refusal,
        )

    def commit_redemption(self, redemption_id: str) -> None:
        """Complete the redemption of a ticket that is in the box and credited. Durable; repeats change nothing."""
        end_redemption(
            self._store,
            redemption_id,
            TicketAction.REDEEM,
            action_time=self._read_clock(),
            actor=self._issuer.serial,
        )

    def abort_redemption(self, redemption_id: str, reason: str) -> None:
        """Abort the redemption of a ticket that was returned to the player; it is valid again.

        Repeats change nothing. An id without a lock is ignored, because the power may have failed before the
        lock.
        """
        if self._store.find_by_redemption(redemption_id) is not None:
            end_redemption(
                self._store,
                redemption_id,
                TicketAction.RELEASE,
                action_time=self._read_clock(),
                actor=self._issuer.serial,
                details={"why": reason},
            )

    # ------------------------------------------------------------------ after a power loss
    def find_unfinished(self) -> UnfinishedTickets:
        """Return this machine's tickets and redemptions that are still in progress."""
        serial = self._issuer.serial
        return UnfinishedTickets(
            tuple(self._store.iter_records(TicketState.RESERVED, machine_serial=serial)),
            tuple(
                TicketRedemption(redemption_id=lock.redemption_id or "", ticket=record.ticket)
                for record in self._store.iter_records(TicketState.PENDING)
                if (lock := record.current_lock) is not None and lock.actor == serial
            ),
        )

    # ------------------------------------------------------------------ the host
    def store_enrolment(self, validation_id: int, sequence: int) -> None:
        """Store, durably, the validation identifier and the starting sequence that the host assigns (SAS 4C)."""
        self._store.store_enrolment(self._issuer.serial, TicketNumberingEnrolment(validation_id, sequence))

    @property
    def current_enrolment(self) -> TicketNumberingEnrolment | None:
        """Return the validation identifier that the host assigned to this machine, and the last sequence number used.

        Return None if the host has not enrolled the machine.
        """
        return self._store.find_enrolment(self._issuer.serial)

    def list_unread(self) -> list[TicketRecord]:
        """Return the records of this machine's tickets that the host has not acknowledged, oldest first.

        Tickets whose printing failed are left out.
        """
        return self._store.list_unread(self._issuer.serial)

    def mark_read_by_host(self, ticket_number: str) -> None:
        """Record that the host has acknowledged a printed ticket. Durable; repeats change nothing."""
        self._store.mark_read_by_host(ticket_number, self._read_clock())

    # ------------------------------------------------------------------ helpers
    def _read_clock(self) -> datetime:
        """Return the clock's time in whole seconds."""
        return self._clock.now().replace(microsecond=0)

    def _find_issue_refusal(
        self, amount_cents: int, kind: TicketKind, *, has_host_number: bool
    ) -> TicketRefusal | None:
        """Return why no ticket of this kind and amount may be issued now, or None if it may.

        ``has_host_number``: the host supplies the ticket number, so the limit for such tickets applies.
        """
        if not self._is_clock_trusted():
            return TicketRefusal(TicketRefusalReason.CLOCK_NOT_TRUSTED)
        if amount_cents > self._rules.limit_cents and not kind.is_receipt:
            return TicketRefusal(
                TicketRefusalReason.ABOVE_LIMIT,
                f"{amount_cents} is above the limit of {self._rules.limit_cents}",
            )
        unread_max = (
            self._rules.unread_max_before_host_number
            if has_host_number
            else self._rules.unread_max_before_own_number
        )
        if unread_max is not None and len(self.list_unread()) >= unread_max:
            return TicketRefusal(
                TicketRefusalReason.TOO_MANY_UNREAD_TICKETS,
                f"the host has not acknowledged the last {unread_max} tickets, the most that may be unread",
            )
        return None

    def _find_fresh_number(self, kind: TicketKind) -> str | None:
        """Return an unused ticket number, or None if no number can be created; the machine then pays by hand.

        No number can be created if the machine needs an enrolment by the host and has none, or if a fixed number of
        tries gives only used numbers, because the host has enrolled the machine with a sequence that was used before.
        The next call continues after the numbers already tried. Raises :class:`TicketOrderError` if the
        machine's own random source gives only used numbers, because it is then broken.
        """
        for _ in range(_FREE_NUMBER_ATTEMPTS_MAX):
            enrolment = self._store.advance_enrolment(self._issuer.serial)
            number = self._create_number(kind, enrolment)
            if number is None or self._store.find_ticket(number) is None:
                return number
        if enrolment is not None:
            return None
        raise TicketOrderError(f"no unused ticket number was found in {_FREE_NUMBER_ATTEMPTS_MAX} tries")

    def _find_redemption_refusal(self, record: TicketRecord) -> TicketRefusal | None:
        """Return why this machine may not redeem the ticket, or None."""
        ticket = record.ticket
        if self._is_clock_trusted() and record.is_expired_at(self._read_clock()):
            return TicketRefusal(
                TicketRefusalReason.EXPIRED, f"good until {record.expires_at:%Y-%m-%d %H:%M:%S} UTC"
            )
        if ticket.machine_serial == self._issuer.serial and not self._is_known_to_journal(record):
            return TicketRefusal(TicketRefusalReason.NOT_IN_JOURNAL, record.issue_id)
        if ticket.kind.is_receipt:
            return TicketRefusal(TicketRefusalReason.WRONG_KIND, ticket.kind.value)
        if ticket.currency != self._rules.currency:
            return TicketRefusal(TicketRefusalReason.WRONG_CURRENCY, ticket.currency)
        return None

    def _record_action_once(self, ticket_number: str, action: TicketAction, **details: str) -> TicketRecord:
        """Record an action on a ticket unless the ticket already has this action; return the ticket's record."""
        with self._store.transaction():
            record = self._store.require_ticket(ticket_number)
            if any(move.action is action for move in record.moves):
                return record
            return self._store.record_move(
                ticket_number,
                action,
                action_time=self._read_clock(),
                actor=self._issuer.serial,
                details=details,
            )


def compute_expiry(issued_at: datetime, venue: Venue, valid_days: int | None) -> datetime | None:
    """Return when a ticket expires: at the end of the local day ``valid_days`` after the day of issue.

    Return None, for a ticket that never expires, if ``valid_days`` is None, or if the calendar has no such moment: a
    host may state 31 December 9999 for "never".
    """
    if valid_days is None:
        return None
    local_time = issued_at.astimezone(venue.zone)
    try:
        end_of_day = (local_time + timedelta(days=valid_days + 1)).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        return end_of_day.astimezone(issued_at.tzinfo)
    except OverflowError:
        return None

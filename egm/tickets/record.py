"""The record of a ticket: its moves (the actions recorded on it), and which action each state allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final, NamedTuple

from egm.tickets.model import Ticket, TicketKind, TicketState
from meters.transaction import JSON


class TicketAction(StrEnum):
    """Actions recorded on a ticket, from its issue to its end."""

    RESERVE = "reserve"
    ISSUE = "issue"
    FAIL_PRINTING = "fail"
    """The ticket was not printed, or may not have been; it is void."""
    LOCK = "lock"
    """A machine or cashier locked the ticket in order to redeem it."""
    RELEASE = "release"
    """The lock was removed without a redemption; the ticket is valid again."""
    REDEEM = "redeem"
    VOID = "void"
    EXPIRE = "expire"
    """The ticket expired. Only in old ledgers; no longer written."""
    REPRINT = "reprint"
    RESTORE_LEDGER = "begin"
    """Two people restored the ledger (:mod:`egm.tickets.restoration`); it belongs to no ticket."""
    REVIVE = "revive"
    """A cashier decided that the ticket is owed in spite of its expiry date; it no longer expires."""


class TicketTransition(NamedTuple):
    """The states of a ticket in which an action is allowed, and the state after it."""

    allowed_states: frozenset[TicketState]
    """The states of a ticket in which the action is allowed."""
    resulting_state: TicketState


#: The life cycle of a ticket, by action.
TICKET_TRANSITIONS: Final[Mapping[TicketAction, TicketTransition]] = {
    action: TicketTransition(frozenset(allowed_states), resulting_state)
    for action, allowed_states, resulting_state in (
        (TicketAction.RESTORE_LEDGER, (), TicketState.VOID),
        (TicketAction.RESERVE, (), TicketState.RESERVED),
        (TicketAction.ISSUE, (TicketState.RESERVED,), TicketState.ISSUED),
        (TicketAction.FAIL_PRINTING, (TicketState.RESERVED,), TicketState.VOID),
        (TicketAction.LOCK, (TicketState.ISSUED,), TicketState.PENDING),
        (TicketAction.RELEASE, (TicketState.PENDING,), TicketState.ISSUED),
        (TicketAction.REDEEM, (TicketState.PENDING,), TicketState.REDEEMED),
        (TicketAction.VOID, (TicketState.ISSUED,), TicketState.VOID),
        (TicketAction.EXPIRE, (TicketState.ISSUED,), TicketState.EXPIRED),
        (TicketAction.REPRINT, (TicketState.ISSUED,), TicketState.ISSUED),
        (TicketAction.REVIVE, (TicketState.ISSUED, TicketState.EXPIRED), TicketState.ISSUED),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketMove:
    """One recorded action on a ticket, and the ticket's state after it: a row of the ticket ledger."""

    move_number: int
    """The number of the move in the whole ledger, from 1."""
    step: int
    """The number of the move among those of its ticket, from 1; 0 for a restoration, which belongs to no ticket."""
    action: TicketAction
    state: TicketState
    """The state of the ticket after the action."""
    action_time: datetime
    actor: str
    """Who took the action: a machine's serial number, ``cage:`` and a cashier's staff number, or ``host``.

    For a restoration, the first of the two people who restored the ledger.
    """
    redemption_id: str | None
    """The id of the redemption to which the action belongs, or None."""
    details: Mapping[str, JSON]
    """Details of the action, such as a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRecord:
    """A ticket and its moves (the actions recorded on it), oldest first."""

    ticket: Ticket
    issue_id: str
    """The id under which the ticket's number was reserved, such as a cash-out id."""
    moves: tuple[TicketMove, ...]

    @property
    def state(self) -> TicketState:
        """Return the ticket's state after the last recorded action."""
        return self.moves[-1].state

    @property
    def current_lock(self) -> TicketMove | None:
        """Return the action that locked the ticket for a redemption in progress or completed, or None.

        A lock that was released again does not count.
        """
        if self.state not in {TicketState.PENDING, TicketState.REDEEMED}:
            return None
        return next(move for move in reversed(self.moves) if move.action is TicketAction.LOCK)

    @property
    def expires_at(self) -> datetime | None:
        """Return the first moment at which the ticket is no longer valid.

        It is None if the ticket never expires or was revived.
        """
        if any(move.action is TicketAction.REVIVE for move in self.moves):
            return None
        return self.ticket.expires_at

    @property
    def last_valid_day(self) -> date | None:
        """Return the last day, in the venue's time zone, on which the ticket is valid; None if it never expires."""
        expiry = self.expires_at
        return None if expiry is None else self.ticket.venue.find_last_valid_moment(expiry).date()

    def is_expired_at(self, moment: datetime) -> bool:
        """Return whether a printed ticket is neither locked nor redeemed and has expired at ``moment``.

        A locked ticket was inserted in time. Only use a trusted clock (:mod:`egm.kernel.timekeeping`).
        """
        expiry = self.expires_at
        return self.state is TicketState.ISSUED and expiry is not None and moment >= expiry

    @property
    def shown_number(self) -> str:
        """Return the number for display: in full if the ticket is redeemed, void or expired, otherwise masked."""
        if self.state in {TicketState.REDEEMED, TicketState.VOID, TicketState.EXPIRED}:
            return self.ticket.number
        return self.ticket.masked_number


@dataclass(frozen=True, slots=True)
class TicketNumberingEnrolment:
    """A machine's validation identifier and the sequence it last used, both 24-bit (SAS 4C)."""

    validation_id: int
    sequence: int


@dataclass(frozen=True, slots=True)
class TicketTotal:
    """The number and total value of the tickets of one state, kind and currency."""

    state: TicketState
    kind: TicketKind
    currency: str
    ticket_count: int
    """The number of the tickets."""
    amount_cents: int

    @property
    def is_owed(self) -> bool:
        """Return whether tickets in this state are owed to their bearers (issued, or locked for a redemption)."""
        return self.state in {TicketState.ISSUED, TicketState.PENDING}

"""Redemption: locking a ticket to one redeemer, then redeeming or releasing it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from egm.tickets.errors import TicketOrderError
from egm.tickets.model import Ticket, TicketState
from egm.tickets.record import TicketAction, TicketRecord
from egm.tickets.store import TicketStore
from meters.transaction import JSON


class TicketRefusalReason(StrEnum):
    """Why a ticket is not issued or not accepted; the screen and the cashier have a text for each."""

    # issuing
    ABOVE_LIMIT = "above_limit"
    """The amount is above the ticket limit; the rules require a hand-pay for it (H-11)."""
    NOT_ENROLLED = "not_enrolled"
    """The host has not assigned a validation identifier yet (SAS exception 3F)."""
    TOO_MANY_UNREAD_TICKETS = "allowance_used"
    """The limit is reached for issued tickets that the host has not acknowledged (H-09)."""
    CLOCK_NOT_TRUSTED = "clock"
    """The machine's clock is not trusted, so no correct date can be printed."""
    # redeeming
    MISREAD = "misread"
    """The digits cannot be a ticket number; the ticket should be read again."""
    UNKNOWN = "unknown"
    """The ledger has no ticket with this number."""
    NOT_PRINTED = "not_printed"
    """The number was reserved, but no machine has reported that the ticket was printed."""
    LOCKED_BY_OTHER_REDEEMER = "pending"
    """Another machine or cashier has locked the ticket for a redemption."""
    REDEEMED = "redeemed"
    VOID = "void"
    EXPIRED = "expired"
    WRONG_KIND = "wrong_kind"
    """The ticket is of a kind that is not redeemed here; for example, a machine accepts no hand-pay receipt."""
    WITHOUT_CASH_VALUE = "restricted"
    """The ticket, which was found, is for restricted credit: that is no money and cannot become unclaimed money."""
    WRONG_CURRENCY = "currency"
    """The ticket is in another currency."""
    AMOUNT_MISMATCH = "amount"
    """The value that the host states differs from the value in the ticket ledger."""
    NOT_IN_JOURNAL = "not_ours"
    """The ticket ledger says that this machine issued the ticket, but the machine's journal does not confirm it."""
    HOST_DOWN = "host_down"
    """The host, which must state the ticket's value, cannot be reached or did not reply in time."""
    HOST_REFUSED = "host_refused"
    """The host has refused the ticket."""
    PAYABLE_ONLY_BY_HOST = "host_owes"
    """The ticket was not issued by a machine of this ledger; the cashier of the host's system pays it."""
    NOT_NOW = "not_now"
    """The machine cannot redeem the ticket in its present state."""


@dataclass(frozen=True, slots=True)
class TicketRefusal:
    """Refusal to issue or accept a ticket, with the reason."""

    reason: TicketRefusalReason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRedemption:
    """A ticket locked to one redeemer (a machine or a cashier), and its value."""

    redemption_id: str
    ticket: Ticket


@dataclass(slots=True)
class LockedTicket:
    """Holder of the ticket in escrow that is locked in the ticket ledger and not yet ordered into the cash box.

    ``redemption``: None if there is no such ticket.
    """

    redemption: TicketRedemption | None = None


#: Reason to refuse a ticket that is not ISSUED, by its state.
_REFUSAL_REASON_BY_STATE: Final = {
    TicketState.RESERVED: TicketRefusalReason.NOT_PRINTED,
    TicketState.PENDING: TicketRefusalReason.LOCKED_BY_OTHER_REDEEMER,
    TicketState.REDEEMED: TicketRefusalReason.REDEEMED,
    TicketState.VOID: TicketRefusalReason.VOID,
    TicketState.EXPIRED: TicketRefusalReason.EXPIRED,
}


def lock_for_redemption(
    store: TicketStore,
    redemption_id: str,
    ticket_number: str,
    is_ticket_number: Callable[[str], bool],
    *,
    actor: str,
    action_time: datetime,
    find_refusal: Callable[[TicketRecord], TicketRefusal | None],
) -> TicketRedemption | TicketRefusal:
    """Lock a ticket for a redemption by ``actor`` (a machine or cashier); return the redemption, or why it is refused.

    Every redemption starts here; check and lock are one transaction. ``is_ticket_number`` returns whether the digits
    have the form of a ticket number. ``find_refusal`` returns why ``actor`` may not redeem an issued ticket, or None.
    While ``actor`` holds the lock, a repeated call with the same id and number returns the same result. After that,
    the same id raises :class:`TicketOrderError`.
    """
    with store.transaction():
        locked_record = store.find_by_redemption(redemption_id)
        if locked_record is not None:
            if locked_record.ticket.number != ticket_number or not is_locked_for_redemption(
                locked_record, redemption_id, actor
            ):
                raise TicketOrderError(
                    f"redemption {redemption_id}: already used for {locked_record.ticket.masked_number}"
                )
            return TicketRedemption(redemption_id=redemption_id, ticket=locked_record.ticket)
        if not is_ticket_number(ticket_number):
            return TicketRefusal(TicketRefusalReason.MISREAD)
        record = store.find_ticket(ticket_number)
        if record is None:
            return TicketRefusal(TicketRefusalReason.UNKNOWN)
        if record.state in _REFUSAL_REASON_BY_STATE:
            last_move = record.moves[-1]
            return TicketRefusal(
                _REFUSAL_REASON_BY_STATE[record.state],
                f"{last_move.action_time:%Y-%m-%d %H:%M:%S} UTC, {last_move.actor}",
            )
        refusal = find_refusal(record)
        if refusal is not None:
            return refusal
        store.record_move(
            ticket_number,
            TicketAction.LOCK,
            action_time=action_time,
            actor=actor,
            redemption_id=redemption_id,
        )
        return TicketRedemption(redemption_id=redemption_id, ticket=record.ticket)


def end_redemption(
    store: TicketStore,
    redemption_id: str,
    action: TicketAction,
    *,
    action_time: datetime,
    actor: str,
    details: Mapping[str, JSON] | None = None,
) -> TicketRecord:
    """End a redemption, with ``action`` REDEEM (the ticket is redeemed) or RELEASE (it is valid again).

    Return the ticket's record. A repeated call with the same action changes nothing. Raises :class:`TicketOrderError`
    if the redemption was never opened or has ended with the other action.
    """
    with store.transaction():
        record = store.find_by_redemption(redemption_id)
        if record is None:
            raise TicketOrderError(
                f"redemption {redemption_id}: {action} is not possible, because no ticket was locked under this id"
            )
        if any(move.action is action and move.redemption_id == redemption_id for move in record.moves):
            return record
        if record.current_lock is None or record.current_lock.redemption_id != redemption_id:
            raise TicketOrderError(
                f"redemption {redemption_id}: {action} is not possible, because the redemption ended in another way"
            )
        number = record.ticket.number
        return store.record_move(
            number, action, action_time=action_time, actor=actor, redemption_id=redemption_id, details=details
        )


def is_locked_for_redemption(record: TicketRecord, redemption_id: str, actor: str) -> bool:
    """Return whether a ticket is now locked to the redeemer ``actor`` under this redemption id."""
    lock_move = record.current_lock
    return (
        record.state is TicketState.PENDING
        and lock_move is not None
        and (lock_move.redemption_id, lock_move.actor) == (redemption_id, actor)
    )

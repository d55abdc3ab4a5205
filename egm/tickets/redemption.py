"""Redemption: locking a ticket to one redeemer, and ending that one way or the other."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from egm.tickets.errors import TicketOrderError
from egm.tickets.model import Ticket, TicketState
from egm.tickets.record import Action, Move, Record
from egm.tickets.store import TicketStore


class Reason(StrEnum):
    """Why a ticket is not issued or not taken; the screen and the cashier have words for each."""

    # issuing
    ABOVE_LIMIT = "above_limit"  # the rules want a hand-pay for so much (H-11)
    NOT_ENROLLED = "not_enrolled"  # no validation identifier from the host yet (SAS 3F)
    ALLOWANCE_USED = "allowance_used"  # too many tickets the host does not know (H-09)
    # taking
    MISREAD = "misread"  # the digits cannot be a number: read it again
    UNKNOWN = "unknown"
    NOT_PRINTED = "not_printed"  # a number was given, but no machine says that it was printed
    PENDING = "pending"  # another redeemer is at it
    REDEEMED = "redeemed"
    VOID = "void"
    EXPIRED = "expired"
    WRONG_KIND = "wrong_kind"  # a receipt in a machine, a promotional ticket at the cage
    CURRENCY = "currency"


@dataclass(frozen=True, slots=True)
class Refusal:
    """No, and why."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redemption:
    """A ticket locked to one redeemer, worth this."""

    redemption_id: str
    ticket: Ticket


class Refused(Exception):
    """Carries a refusal out of a transaction that is then rolled back."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason.value)
        self.refusal = refusal


_NOT_GOOD: Final = {
    TicketState.RESERVED: Reason.NOT_PRINTED,
    TicketState.PENDING: Reason.PENDING,
    TicketState.REDEEMED: Reason.REDEEMED,
    TicketState.VOID: Reason.VOID,
    TicketState.EXPIRED: Reason.EXPIRED,
}


def lock(
    store: TicketStore,
    redemption_id: str,
    number: str,
    reads: Callable[[str], bool],
    *,
    by: str,
    at: datetime,
    refuse: Callable[[Ticket], Refusal | None],
    story: dict[str, str] | None = None,
) -> Redemption | Refusal:
    """Lock a ticket to the redeemer ``by``: the one way to redemption, for machines and people alike.

    ``reads`` says whether the digits can be a number, ``refuse`` whether this redeemer may take the ticket.
    The ticket that was judged is the one that is locked, whatever other processes do meanwhile.
    """
    known = store.by_redemption(redemption_id)
    if known is not None:
        held = known.lock
        if known.ticket.number != number or held is None or held.redemption_id != redemption_id:
            raise TicketOrderError(f"redemption {redemption_id}: already used for {known.ticket.masked}")
        return Redemption(redemption_id=redemption_id, ticket=known.ticket)
    if not reads(number):
        return Refusal(Reason.MISREAD)
    found = store.get(number)
    if found is None:
        return Refusal(Reason.UNKNOWN)
    if expire(store, found, at=at, by=by):
        return Refusal(Reason.EXPIRED, f"{found.ticket.expires_at:%Y-%m-%d}")

    def good(record: Record) -> None:
        if record.state in _NOT_GOOD:
            raise Refused(Refusal(_NOT_GOOD[record.state], _last(record.moves[-1])))
        refusal = refuse(record.ticket)
        if refusal is not None:
            raise Refused(refusal)

    try:
        record = store.move(
            number, Action.LOCK, at=at, by=by, redemption_id=redemption_id, story=story, expected=good
        )
    except Refused as refused:
        return refused.refusal
    return Redemption(redemption_id=redemption_id, ticket=record.ticket)


def end(
    store: TicketStore, redemption_id: str, action: Action, *, at: datetime, by: str, why: str = ""
) -> Record:
    """End an open redemption by ``REDEEM`` or ``RELEASE``; a repeat of the same end changes nothing."""
    record = store.by_redemption(redemption_id)
    if record is None:
        raise TicketOrderError(f"redemption {redemption_id}: {action} without a lock")
    if any(move.action is action and move.redemption_id == redemption_id for move in record.moves):
        return record

    def ours(now: Record) -> None:
        if now.lock is None or now.lock.redemption_id != redemption_id:
            raise TicketOrderError(f"redemption {redemption_id}: {action} after it ended otherwise")

    return store.move(
        record.ticket.number,
        action,
        at=at,
        by=by,
        redemption_id=redemption_id,
        story={"why": why} if why else None,
        expected=ours,
    )


def expire(store: TicketStore, record: Record, *, at: datetime, by: str) -> bool:
    """Mark an issued ticket whose time has come; say whether it is expired now."""
    due = record.ticket.expires_at
    if record.state is TicketState.ISSUED and due is not None and at >= due:
        try:
            record = store.move(record.ticket.number, Action.EXPIRE, at=at, by=by)
        except TicketOrderError:  # another process was faster, with this or with something else
            return False
    return record.state is TicketState.EXPIRED


def _last(move: Move) -> str:
    return f"{move.at:%Y-%m-%d %H:%M:%S} UTC, {move.by}"

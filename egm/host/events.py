"""Payloads of the events of a host: ticket numbers and redemptions, transfers, and controls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from egm.kernel.credits import CreditKind
from egm.kernel.events import EventName, EventType, NoData, Payload
from egm.money.records.host import RedemptionStatus
from egm.tickets.redemption import TicketRefusalReason
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberReply:
    """Base of the events of a host's reply about a ticket number; ``id`` is that of the cash-out that waits for it."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNumbered(NumberReply):
    """Event: the host has assigned a number to a reserved ticket."""

    number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRefused(NumberReply):
    """Event: the host does not give a reserved ticket a number; with the reason."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketReply:
    """Base of the events of a host's reply about a ticket in escrow.

    ``id`` is that of the ticket's insertion. ``status`` and ``reason`` are used if the ticket must be
    returned to the player.
    """

    id: str
    status: RedemptionStatus = RedemptionStatus.NOT_NOW
    reason: TicketRefusalReason = TicketRefusalReason.NOT_NOW


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketAuthorised(TicketReply):
    """Event: the host has authorised the ticket in escrow, for an amount in minor units.

    ``expires`` is the expiry date of restricted credit, or empty. ``pool`` is the pool of restricted credit.
    """

    kind: CreditKind
    amount_cents: int
    expires: str = ""
    pool: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRequested:
    """Event: a host has requested a restriction of a function of the machine.

    A value of None withdraws the host's earlier request.
    """

    source: str
    name: str
    value: JSON = None


EVENTS: Final[Mapping[EventName, type[Payload]]] = {
    EventType.TICKET_NUMBERED: TicketNumbered,
    EventType.NUMBER_REFUSED: NumberRefused,
    EventType.TICKET_AUTHORISED: TicketAuthorised,
    EventType.TICKET_DECLINED: TicketReply,
    EventType.TRANSFER_ORDERED: NoData,
    EventType.TRANSFER_CANCELLED: NoData,
    EventType.LOCK_REQUESTED: NoData,
    EventType.LOCK_ENDED: NoData,
    EventType.PROMOTION_EXPIRED: NoData,
    EventType.CONTROL: ControlRequested,
}

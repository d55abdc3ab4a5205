"""Payloads of the events of a host: ticket numbers and redemptions, transfers, and controls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from egm.kernel.credits import CreditKind
from egm.kernel.events import EmptyPayload, EventName, EventType, Payload
from egm.money.records.host import RedemptionStatus
from egm.record_codec import stored_as
from egm.tickets.redemption import TicketRefusalReason
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNumberReply:
    """Base class of the events that report a host's reply about a ticket number.

    ``id`` is the id of the cash-out whose ticket waits for the number.
    """

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNumberAssigned(TicketNumberReply):
    """Event: the host has assigned a number to a reserved ticket."""

    number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNumberRefused(TicketNumberReply):
    """Event: the host gives a reserved ticket no number; ``reason`` says whether it refused or did not reply."""

    reason: str = field(metadata=stored_as("why"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRedemptionReply:
    """Base class of the events that report a host's reply about a ticket in escrow.

    ``id`` is the id of the ticket's insertion. If the ticket is returned to the player, ``status`` is reported to the
    host and ``reason`` is shown to the player.
    """

    id: str
    status: RedemptionStatus = RedemptionStatus.NOT_NOW
    reason: TicketRefusalReason = TicketRefusalReason.NOT_NOW


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRedemptionAuthorised(TicketRedemptionReply):
    """Event: the host has authorised the ticket in escrow for an amount in minor units.

    For restricted credit, ``expiry_date`` is the expiry date or "", and ``restricted_pool`` the host's number of the
    pool, 0 for none.
    """

    kind: CreditKind
    amount_cents: int
    expiry_date: str = field(default="", metadata=stored_as("expires"))
    restricted_pool: int = field(default=0, metadata=stored_as("pool"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRestrictionChange:
    """Event: a host has requested a restriction of a function of the machine.

    A value of None withdraws the host's earlier request.
    """

    source: str
    name: str
    value: JSON = None


PAYLOAD_CLASS_BY_EVENT: Final[Mapping[EventName, type[Payload]]] = {
    EventType.TICKET_NUMBER_ASSIGNED: TicketNumberAssigned,
    EventType.TICKET_NUMBER_REFUSED: TicketNumberRefused,
    EventType.TICKET_AUTHORISED: TicketRedemptionAuthorised,
    EventType.TICKET_DECLINED: TicketRedemptionReply,
    EventType.TRANSFER_ORDERED: EmptyPayload,
    EventType.TRANSFER_CANCELLED: EmptyPayload,
    EventType.TRANSFER_LOCK_REQUESTED: EmptyPayload,
    EventType.TRANSFER_LOCK_ENDED: EmptyPayload,
    EventType.RESTRICTED_CREDIT_EXPIRED: EmptyPayload,
    EventType.HOST_RESTRICTION_CHANGED: HostRestrictionChange,
}

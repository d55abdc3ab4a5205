"""The journal entries of a host's money: tickets that it numbers and redeems, electronic transfers, its settings."""

from dataclasses import dataclass, field
from types import NoneType
from typing import Final

from egm.host.keys import HostKey
from egm.kernel.credits import CreditKind
from egm.kernel.entries import EntryDeclaration, PermittedTransfer
from egm.kernel.logs import Log
from egm.kernel.significance import EventEffect, Significance
from egm.money.keys import MoneyKey
from egm.money.records.host import CashOutTerms, HostTicketRecord, RedemptionStatus, TransferRecord
from egm.money.ticket_terms import HostTicketTerms
from egm.record_codec import stored_as
from egm.record_fields import Cents, Count, MaskedTicketNumber
from meters.transaction import JSON


# ---------------------------------------------------------------------------------------------- tickets
@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNumberStored:
    """A reserved ticket has received its number, from the host or from the machine itself."""

    id: str
    """The id of the cash-out that the ticket pays out."""
    number: MaskedTicketNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketReportedAgain:
    """A ticket printed before a memory clear is reported to the host again, because the host may not have read it."""

    id: str
    """The id of the cash-out that printed the ticket."""
    number: MaskedTicketNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketStackingOrdered:
    """The host has authorised a ticket in escrow, and the machine orders the acceptor to stack it."""

    id: str
    """The id of the ticket's insertion."""
    number: MaskedTicketNumber
    amount_cents: Cents
    kind: CreditKind
    """The kind of credit that the ticket becomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTicketReturned:
    """A ticket in escrow whose value only the host knows was returned to the player.

    The host refused it or did not reply, or the machine could not accept it. The host is not queried if
    the digits were misread, if it is offline, or if it has not read the result of the previous ticket.
    """

    id: str
    """The id of the ticket's insertion."""
    number: MaskedTicketNumber
    status: RedemptionStatus
    """The result of the redemption, as reported to the host if it was queried."""
    reason: str
    """The code of the reason; the player's screen has a text for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNumberingEnrolled:
    """The host has sent the identifier and the first sequence number for the machine's ticket numbers."""

    sequence: Count
    """The sequence number for the machine's next ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketTermsChanged:
    """The host has changed its ticket terms (validity, printed venue, permitted tickets)."""

    terms: HostTicketTerms = field(metadata=stored_as("tickets"))
    """The host's ticket terms that apply from now on."""


TICKET_NUMBER_STORED: Final = EntryDeclaration(
    kind="voucher.numbered",
    record=TicketNumberStored,
    written_keys=(MoneyKey.PAY_OUT,),
    is_omitted_from_event_log=True,
)
TICKET_REPORTED_AGAIN: Final = EntryDeclaration(
    kind="voucher.unread",
    record=TicketReportedAgain,
    written_keys=(HostKey.TICKETS_ADDED_TO_RING, HostKey.PRINTED_TICKET_RING),
)
TICKET_STACKING_ORDERED: Final = EntryDeclaration(
    kind="voucher.authorised",
    record=TicketStackingOrdered,
    written_keys=(HostKey.LAST_TICKET_REDEMPTION,),
    is_omitted_from_event_log=True,
)
HOST_TICKET_RETURNED: Final = EntryDeclaration(
    kind="voucher.refused",
    record=HostTicketReturned,
    counts={"vouchers_refused": 1},
    optional_keys=(HostKey.LAST_TICKET_REDEMPTION,),
)
HOST_TICKET_NOT_STACKED: Final = EntryDeclaration(
    kind="voucher.not_stacked",
    record=HostTicketRecord,
    description="A ticket that the host authorised was never ordered into the box before the machine stopped.",
    written_keys=(HostKey.LAST_TICKET_REDEMPTION,),
)
REDEMPTION_RESULT_READ_BY_HOST: Final = EntryDeclaration(
    kind="voucher.told",
    record=NoneType,
    description="The host has read the result of the last ticket it was queried about.",
    written_keys=(HostKey.LAST_TICKET_REDEMPTION,),
    is_omitted_from_event_log=True,
)
PRINTED_TICKET_READ_BY_HOST: Final = EntryDeclaration(
    kind="voucher.read",
    record=NoneType,
    description="The host has read the oldest printed ticket that it had not read.",
    written_keys=(HostKey.TICKETS_READ_FROM_RING,),
    is_omitted_from_event_log=True,
)
TICKET_NUMBERING_ENROLLED: Final = EntryDeclaration(kind="voucher.enrolled", record=TicketNumberingEnrolled)
TICKET_TERMS_CHANGED: Final = EntryDeclaration(
    kind="options.changed",
    record=TicketTermsChanged,
    written_keys=(MoneyKey.TICKET_TERMS,),
    significance=Significance(EventEffect.LOG, sas_exception_code=0x3C),
    is_technical=True,
)


# ---------------------------------------------------------------------------------------------- transfers
@dataclass(frozen=True, slots=True, kw_only=True)
class AftRegistered:
    """The host has registered the machine for electronic transfers."""

    pos_id: Count
    """The point-of-sale id that the host gave the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AftLocked:
    """Play is locked, because the host has requested the transfer lock."""

    required_transfers_code: Count = field(metadata=stored_as("condition"))
    """The kinds of transfers that must be possible during the lock, as a code of the host's protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutOfferedToHost:
    """The player's cash-out is offered to the host; the machine is locked meanwhile."""

    amount_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class AftUnlocked:
    """The lock that a host holds for transfers has ended, for another reason than an executed transfer."""

    was_for_cash_out: bool = field(metadata=stored_as("cash_out"))
    """Whether the lock was held to offer a cash-out to the host, which did not take the offer."""


AFT_COMPLETE: Final = EntryDeclaration(
    kind="aft.complete",
    record=TransferRecord,
    description="A transfer that the host ordered has moved value.",
    permitted_transfers=(
        PermittedTransfer("world:aft_in:*", "credit:*:*"),
        PermittedTransfer("credit:*:*", "out:aft_out:*"),
        PermittedTransfer("house:bonus", "credit:*:*"),
    ),
    written_keys=(HostKey.TRANSFER_COUNT, HostKey.LAST_TRANSFER),
    optional_keys=(MoneyKey.RESTRICTED_CREDIT_TERMS,),
    significance=Significance(EventEffect.LOG),
    logs=(Log.TRANSFERS,),
)
AFT_FAILED: Final = EntryDeclaration(
    kind="aft.failed",
    record=TransferRecord,
    description="A transfer that the host ordered was refused or cancelled; nothing has moved.",
    written_keys=(HostKey.LAST_TRANSFER,),
    logs=(Log.TRANSFERS,),
)
AFT_RESULT_READ_BY_HOST: Final = EntryDeclaration(
    kind="aft.told",
    record=NoneType,
    description="The host has read the result of the last transfer.",
    written_keys=(HostKey.LAST_TRANSFER,),
    is_omitted_from_event_log=True,
)
AFT_CASH_OUT_TERMS_SET: Final = EntryDeclaration(
    kind="aft.cash_out",
    record=CashOutTerms,
    description="The host has set whether cash-outs are offered to it first, and whether only it may take them.",
    written_keys=(HostKey.CASH_OUT_TERMS,),
)
AFT_REGISTERED: Final = EntryDeclaration(
    kind="aft.registered",
    record=AftRegistered,
    written_keys=(HostKey.REGISTRATION,),
    optional_keys=(HostKey.TRANSFER_IDENTIFIERS_LOST,),
)
AFT_UNREGISTERED: Final = EntryDeclaration(
    kind="aft.unregistered",
    record=NoneType,
    description="The host has ended the machine's registration for transfers.",
    written_keys=(HostKey.REGISTRATION,),
)
AFT_LOCKED: Final = EntryDeclaration(kind="aft.locked", record=AftLocked)
CASH_OUT_OFFERED_TO_HOST: Final = EntryDeclaration(kind="aft.offered", record=CashOutOfferedToHost)
AFT_UNLOCKED: Final = EntryDeclaration(kind="aft.unlocked", record=AftUnlocked)
CREDIT_EXPIRED: Final = EntryDeclaration(
    kind="credit.expired",
    record=NoneType,
    description="Restricted credit has passed its expiry date and was removed from the meter.",
    permitted_transfers=(PermittedTransfer("credit:*:restricted", "house:expired"),),
    written_keys=(MoneyKey.RESTRICTED_CREDIT_TERMS,),
)


# ---------------------------------------------------------------------------------------------- controls
@dataclass(frozen=True, slots=True, kw_only=True)
class HostRestrictionRecorded:
    """A host has restricted a function of the machine, or withdrawn its restriction."""

    source: str
    """The name of the host that restricts the function, or has withdrawn its restriction."""
    name: str
    """The name of the restricted function, such as a game, bills or sounds."""
    value: JSON
    """The setting that the host requests for the function; null if it withdraws the restriction."""


HOST_RESTRICTION_RECORDED: Final = EntryDeclaration(
    kind="host.control",
    record=HostRestrictionRecorded,
    written_keys=(HostKey.FUNCTION_RESTRICTION,),
)

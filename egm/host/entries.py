"""The journal entries of a host's money: tickets that it numbers and redeems, electronic transfers, its settings."""

from dataclasses import dataclass
from types import NoneType
from typing import Final

from egm.host.keys import HostKey
from egm.kernel.credits import CreditKind
from egm.kernel.entries import Entry, Moves
from egm.kernel.logs import Log
from egm.kernel.significance import Effect, Significance
from egm.money.keys import MoneyKey
from egm.money.records.host import CashOutTerms, HostTicketRecord, RedemptionStatus, TransferRecord
from egm.money.ticket_terms import TicketTerms
from egm.record_fields import Cents, Count, Masked
from meters.transaction import JSON


# ---------------------------------------------------------------------------------------------- tickets
@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNumberStored:
    """A reserved ticket has received its number, from the host or from the machine itself."""

    id: str
    """The id of the cash-out that the ticket pays out."""
    number: Masked


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketUnread:
    """A ticket printed before a memory clear is offered to the host again, as it may be unread."""

    id: str
    """The id of the cash-out."""
    number: Masked


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketOrdered:
    """The host has authorised a ticket in escrow, and the machine has ordered it into the box."""

    id: str
    """The id of the ticket's insertion."""
    number: Masked
    amount_cents: Cents
    kind: CreditKind
    """The kind of credit that the ticket becomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRefusedByHost:
    """A ticket in escrow was returned to the player after the host was queried about it."""

    id: str
    """The id of the ticket's insertion."""
    number: Masked
    status: RedemptionStatus
    """The result of the redemption, as reported to the host."""
    reason: str
    """The code of the reason, for which the player's screen has a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketNumberingEnrolled:
    """The host has sent the identifier and the sequence number from which the machine derives ticket numbers."""

    sequence: Count
    """The sequence number from which the machine numbers its next tickets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketTermsChanged:
    """The host has changed its ticket terms (validity, printed venue, permitted tickets)."""

    tickets: TicketTerms
    """The terms that apply from now on."""


VOUCHER_NUMBERED: Final = Entry(
    kind="voucher.numbered",
    record=TicketNumberStored,
    writes=(MoneyKey.PAY_OUT,),
    is_bookkeeping=True,
)
VOUCHER_UNREAD: Final = Entry(
    kind="voucher.unread",
    record=TicketUnread,
    writes=(HostKey.RING_COUNT, HostKey.RING),
)
VOUCHER_AUTHORISED: Final = Entry(
    kind="voucher.authorised",
    record=TicketOrdered,
    writes=(HostKey.TICKET,),
    is_bookkeeping=True,
)
HOST_VOUCHER_REFUSED: Final = Entry(
    kind="voucher.refused",
    record=TicketRefusedByHost,
    counts={"vouchers_refused": 1},
    may_write=(HostKey.TICKET,),
)
HOST_VOUCHER_NOT_STACKED: Final = Entry(
    kind="voucher.not_stacked",
    record=HostTicketRecord,
    about="A ticket that the host authorised was never ordered into the box before the machine stopped.",
    writes=(HostKey.TICKET,),
)
VOUCHER_RESULT_READ: Final = Entry(
    kind="voucher.told",
    record=NoneType,
    about="The host has read the result of the last ticket it was queried about.",
    writes=(HostKey.TICKET,),
    is_bookkeeping=True,
)
VOUCHER_READ: Final = Entry(
    kind="voucher.read",
    record=NoneType,
    about="The host has read the oldest printed ticket that it had not read.",
    writes=(HostKey.RING_READ,),
    is_bookkeeping=True,
)
VOUCHER_ENROLLED: Final = Entry(kind="voucher.enrolled", record=TicketNumberingEnrolled)
TICKET_TERMS_CHANGED: Final = Entry(
    kind="options.changed",
    record=TicketTermsChanged,
    writes=(MoneyKey.TICKET_TERMS,),
    significance=Significance(Effect.LOG, sas=0x3C),
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
    """The machine is locked for a host's transfer."""

    condition: Count
    """The transfers that must be possible while the machine is locked, as the protocol codes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AftOffered:
    """The player's cash-out is offered to the host; the machine is locked meanwhile."""

    amount_cents: Cents


@dataclass(frozen=True, slots=True, kw_only=True)
class AftUnlocked:
    """The lock for a host's transfer has ended."""

    cash_out: bool
    """Whether the lock was held to offer the host a cash-out, which the host did not take."""


AFT_COMPLETE: Final = Entry(
    kind="aft.complete",
    record=TransferRecord,
    about="A transfer that the host ordered has moved value.",
    moves=(
        Moves("world:aft_in:*", "credit:*:*"),
        Moves("credit:*:*", "out:aft_out:*"),
        Moves("house:bonus", "credit:*:*"),
    ),
    writes=(HostKey.TRANSFERS, HostKey.TRANSFER),
    may_write=(MoneyKey.RESTRICTED,),
    significance=Significance(Effect.LOG),
    logs=(Log.TRANSFERS,),
)
AFT_FAILED: Final = Entry(
    kind="aft.failed",
    record=TransferRecord,
    about="A transfer that the host ordered was refused or cancelled; nothing has moved.",
    writes=(HostKey.TRANSFER,),
    logs=(Log.TRANSFERS,),
)
AFT_RESULT_READ: Final = Entry(
    kind="aft.told",
    record=NoneType,
    about="The host has read the result of the last transfer.",
    writes=(HostKey.TRANSFER,),
    is_bookkeeping=True,
)
AFT_CASH_OUT: Final = Entry(
    kind="aft.cash_out",
    record=CashOutTerms,
    about="The host has set whether cash-outs are offered to it first.",
    writes=(HostKey.CASH_OUT,),
)
AFT_REGISTERED: Final = Entry(
    kind="aft.registered",
    record=AftRegistered,
    writes=(HostKey.REGISTRATION,),
    may_write=(HostKey.TRANSFERS_UNPROVED,),
)
AFT_UNREGISTERED: Final = Entry(
    kind="aft.unregistered",
    record=NoneType,
    about="The host has ended the machine's registration for transfers.",
    writes=(HostKey.REGISTRATION,),
)
AFT_LOCKED: Final = Entry(kind="aft.locked", record=AftLocked)
AFT_OFFERED: Final = Entry(kind="aft.offered", record=AftOffered)
AFT_UNLOCKED: Final = Entry(kind="aft.unlocked", record=AftUnlocked)
CREDIT_EXPIRED: Final = Entry(
    kind="credit.expired",
    record=NoneType,
    about="Restricted credit has passed its expiry date and was removed from the meter.",
    moves=(Moves("credit:*:restricted", "house:expired"),),
    writes=(MoneyKey.RESTRICTED,),
)


# ---------------------------------------------------------------------------------------------- controls
@dataclass(frozen=True, slots=True, kw_only=True)
class HostControl:
    """A host has restricted a function of the machine, or withdrawn its restriction."""

    source: str
    """The name of the host that restricts the function, or has withdrawn its restriction."""
    name: str
    """The name of the restricted function, such as a game, bills or sounds."""
    value: JSON
    """The restriction, or null if it is withdrawn."""


HOST_CONTROL: Final = Entry(
    kind="host.control",
    record=HostControl,
    writes=(HostKey.CONTROL,),
)

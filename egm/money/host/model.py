"""Host of the money: what the machine knows of it, whatever protocol it speaks.

A cabinet without a ``[host]`` table stands alone: :attr:`Validation.STAND_ALONE`, no transfers. Everything
that must survive a restart is in the journal, under the keys named here; what this object holds besides is a
question the host has not answered yet, and a restart asks again or gives the paper back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final

from egm.config.cabinet_file import Validation
from egm.kernel.credits import CreditKind
from egm.records.keys import HostKey
from meters.view import JournalView

#: Tickets the machine keeps for the host to read; with so many unread ones it issues no more.
RING: Final = 31


class Redeeming(StrEnum):
    """Where the machine is with a ticket the host was asked about."""

    NO_TICKET = "no_ticket"
    WAITING = "waiting"
    """The ticket is in escrow; the host has not said what it is worth."""
    PENDING = "pending"
    """The host has said it is good; it is on its way into the box."""
    REDEEMED = "redeemed"
    """It is in the box and credited."""
    MISREAD = "misread"
    REJECTED_BY_HOST = "rejected_by_host"
    NUMBER_MISMATCH = "number_mismatch"
    BAD_AMOUNT = "bad_amount"
    OVER_LIMIT = "over_limit"
    OTHER_POOL = "other_pool"
    """Restricted credit of another pool is on the meter."""
    NOT_NOW = "not_now"
    TIMED_OUT = "timed_out"
    LINK_DOWN = "link_down"
    DISABLED = "disabled"
    NOT_STACKED = "not_stacked"
    """Ordered into the box, and given back to the player."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A ticket in escrow that the host is asked about; its whole number is nowhere else."""

    id: str
    escrow: int
    digits: str


@dataclass(frozen=True, slots=True)
class Lock:
    """The host holds the machine still for a transfer: until a monotonic instant, in nanoseconds."""

    condition: int
    """What must hold for it: the transfers that must be possible, as the protocol numbers them."""
    until_ns: int
    granted: bool = False
    cash_out: bool = False
    """Whether the machine itself holds still, because the player's cash-out is offered to the host."""
    cash_out_waits: bool = False
    """Whether the host holds it over such an offer, which it may still take."""

    @property
    def is_offer(self) -> bool:
        """Whether a cash-out is paid another way if the host does not take it."""
        return self.cash_out or self.cash_out_waits


class TransferKind(StrEnum):
    """Which way value goes."""

    IN = "in"
    """From the host to the credits."""
    OUT = "out"
    """From the credits to the host."""
    BONUS = "bonus"
    """An award to the credits."""
    BONUS_JACKPOT = "bonus_jackpot"
    """An award paid by an attendant."""
    OTHER = "other"
    """A kind this machine does not do: refused, and kept as what was refused."""

    @property
    def is_bonus(self) -> bool:
        """Whether it is an award of the house's."""
        return self in {TransferKind.BONUS, TransferKind.BONUS_JACKPOT}


class TransferStatus(StrEnum):
    """What became of an order; a protocol has its codes for each."""

    FULL = "full"
    PARTIAL = "partial"
    PENDING = "pending"
    CANCELLED = "cancelled"
    NOT_UNIQUE = "not_unique"
    BAD_FUNCTION = "bad_function"
    BAD_IDENTIFIER = "bad_identifier"
    BAD_AMOUNT = "bad_amount"
    BAD_EXPIRY = "bad_expiry"
    OVER_LIMIT = "over_limit"
    NOT_NOW = "not_now"
    NOT_REGISTERED = "not_registered"
    KEY_MISMATCH = "key_mismatch"
    WRONG_ASSET = "wrong_asset"
    NOT_LOCKED = "not_locked"
    OTHER_POOL = "other_pool"
    RECEIPT = "receipt"
    """A receipt was wanted, and this machine prints none of transfers."""
    UNSUPPORTED = "unsupported"
    INCOMPATIBLE = "incompatible"
    """The host has not read the end of the transfer before."""
    NONE = "none"

    @property
    def moved(self) -> bool:
        """Whether value has moved."""
        return self in {TransferStatus.FULL, TransferStatus.PARTIAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A transfer as the host orders it; amounts by kind in minor units, absent where nothing is asked."""

    identifier: str
    kind: TransferKind
    cents: Mapping[CreditKind, int]
    partial: bool = False
    expires: date | None = None
    pool: int = 0
    lock_after: bool = False
    wrong: TransferStatus | None = None
    """What its protocol has found wrong with it: it is kept as refused, as every other refusal is."""
    codes: Mapping[str, int] = field(default_factory=dict)
    """What the protocol wants back as it was sent: its own codes of type and flags."""

    @property
    def total_cents(self) -> int:
        """All that is asked."""
        return sum(self.cents.values())


@dataclass(slots=True)
class HostMoney:
    """One machine's dealings with the host of its money."""

    validation: Validation = Validation.STAND_ALONE
    transfers: bool = False
    bonuses: bool = False
    asset_number: int = 0
    #: The name of the line whose host it is.
    line: str = ""
    #: Whether the host has been heard lately; the link says so.
    online: bool = False
    inquiry: Inquiry | None = None
    #: The digits of the ticket last given back; the journal holds no whole number.
    answered: str = ""
    lock: Lock | None = None
    #: The transfer the host has ordered and the machine has not done yet (:mod:`egm.money.host.transfers`).
    order: Order | None = None
    #: Whether the host has just let a cash-out pass, which is to be paid another way.
    cash_out_passed: bool = False
    #: The credit for which a host that alone may take a cash-out has just not taken one: not offered anew.
    not_taken_cents: int | None = None
    #: The registration's key, kept from the registration of this very run only.
    registration_key: bytes = field(default=b"", repr=False)


def into_ring(journal: JournalView, pay_out_id: str) -> Mapping[str, int | str]:
    """The machine state to be set with a ticket's settlement: its place in the ring the host reads."""
    count = _count(journal, HostKey.RING_COUNT)
    return {HostKey.RING_COUNT: count + 1, f"{HostKey.RING}{count % RING + 1}": pay_out_id}


def _count(journal: JournalView, key: str) -> int:
    count = journal.state(key)
    return count if isinstance(count, int) else 0


def unread_places(journal: JournalView) -> tuple[int, ...]:
    """The places (1 to 31) of the tickets the host has not read, oldest first."""
    read, count = _count(journal, HostKey.RING_READ), _count(journal, HostKey.RING_COUNT)
    return tuple(number % RING + 1 for number in range(read, count))


def one_read(journal: JournalView) -> Mapping[str, int]:
    """The machine state to be set when the host has read the oldest unread ticket."""
    return {HostKey.RING_READ: _count(journal, HostKey.RING_READ) + 1}


def in_ring(journal: JournalView, place: int) -> str | None:
    """The cash-out whose ticket lies at a place of the ring, or None."""
    found = journal.state(f"{HostKey.RING}{place}")
    return found if isinstance(found, str) else None

"""Stored records about money that a host moves: the last ticket queried, the last transfer, and the host's settings.

Amounts are minor units; dates are ISO 8601, or an empty string.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from egm.kernel.credits import CreditKind
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import CentsOrZero, Count, IsoTime, MaskedTicketNumber, Sha256Digest


class RedemptionStatus(StrEnum):
    """The progress or result of redeeming a ticket whose value the machine requested from the host."""

    NO_TICKET = "no_ticket"
    """No ticket has been queried yet."""
    WAITING = "waiting"
    """The ticket is in escrow; the host has not yet replied with its value."""
    PENDING = "pending"
    """The host has authorised the ticket, and it is being stacked."""
    REDEEMED = "redeemed"
    """The ticket is stacked and credited."""
    MISREAD = "misread"
    """The digits read cannot be a ticket number."""
    REJECTED_BY_HOST = "rejected_by_host"
    NUMBER_MISMATCH = "number_mismatch"
    """The host has replied about another ticket number."""
    BAD_AMOUNT = "bad_amount"
    """Refused: the host stated no valid amount, or the ticket's credit has expired."""
    OVER_LIMIT = "over_limit"
    """Refused: with the ticket, the credit would exceed the machine's limit."""
    OTHER_POOL = "other_pool"
    """Refused: restricted credit of another pool is on the meter."""
    NOT_NOW = "not_now"
    """Refused: the machine cannot accept the ticket in its present state."""
    TIMED_OUT = "timed_out"
    """The host did not reply in time."""
    LINK_DOWN = "link_down"
    PROMOTIONAL_TICKETS_DISABLED = "disabled"
    """Refused: the machine does not accept promotional tickets."""
    NOT_STACKED = "not_stacked"
    """The ticket was ordered into the box but returned to the player."""


class TransferKind(StrEnum):
    """The direction and kind of a host's transfer."""

    IN = "in"
    """From the host to the player's credits."""
    OUT = "out"
    """From the player's credits to the host."""
    BONUS = "bonus"
    """A bonus of the operator, added to the player's credits."""
    BONUS_JACKPOT = "bonus_jackpot"
    """A bonus of the operator, paid by an attendant."""
    OTHER = "other"
    """A kind of transfer that this machine does not support; the order is refused and recorded."""

    @property
    def is_bonus(self) -> bool:
        """Return whether the host's transfer is a bonus, an award by the operator."""
        return self in {TransferKind.BONUS, TransferKind.BONUS_JACKPOT}


class TransferStatus(StrEnum):
    """The result of a host's transfer order; each protocol maps the statuses to its own codes."""

    COMPLETED_IN_FULL = "full"
    COMPLETED_IN_PART = "partial"
    PENDING = "pending"
    CANCELLED = "cancelled"
    NOT_UNIQUE = "not_unique"
    """Refused: a transfer with this transaction id has already moved value."""
    BAD_FUNCTION = "bad_function"
    """Refused: the order has an unknown transfer code, neither full only nor partial."""
    BAD_IDENTIFIER = "bad_identifier"
    BAD_AMOUNT = "bad_amount"
    BAD_EXPIRY = "bad_expiry"
    OVER_LIMIT = "over_limit"
    NOT_NOW = "not_now"
    """Refused or ended: the machine cannot make the transfer in its present state."""
    NOT_REGISTERED = "not_registered"
    KEY_MISMATCH = "key_mismatch"
    """Refused: the registration key in the order is not the machine's."""
    WRONG_ASSET = "wrong_asset"
    """Refused: the asset number in the order is not the machine's."""
    NOT_LOCKED = "not_locked"
    """Refused: the order requires that the machine is locked, and it is not."""
    OTHER_POOL = "other_pool"
    """Refused: restricted credit of another pool is on the meter."""
    RECEIPT_NOT_SUPPORTED = "receipt"
    """Refused: the host requested a receipt, and this machine does not print receipts for transfers."""
    UNSUPPORTED = "unsupported"
    PREVIOUS_RESULT_UNREAD = "incompatible"
    """Refused: the host has not yet read the result of the previous transfer."""
    NO_TRANSFER_YET = "none"
    """No transfer has been ordered yet."""

    @property
    def has_moved_value(self) -> bool:
        """Return whether the transfer moved value: all or part of the ordered amount."""
        return self in {TransferStatus.COMPLETED_IN_FULL, TransferStatus.COMPLETED_IN_PART}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTicketRecord:
    """The stored progress or result of the last ticket whose value the machine requested from the host."""

    id: str
    """The id that the machine gave to the inserted ticket."""
    masked_number: MaskedTicketNumber = field(metadata=stored_as("number"))
    amount_cents: CentsOrZero
    credit_kind: str = field(metadata=stored_as("kind"))
    """The kind of credit; empty unless the host has authorised the ticket."""
    status: RedemptionStatus
    """The progress or result, as the host can read it."""
    host_has_read: bool = field(metadata=stored_as("told"))
    """Whether the host has read the result."""
    expiry_date: str | None = omit_if_default(None, key="expires")
    restricted_pool: Count | None = omit_if_default(None, key="pool")
    """The number of the host's pool of restricted credit, or null."""

    @property
    def restricted_terms(self) -> "RestrictedTerms | None":
        """Return the terms of the ticket's restricted credit, or None if the ticket is of another kind of credit."""
        if self.credit_kind != CreditKind.RESTRICTED:
            return None
        return RestrictedTerms(expiry_date=self.expiry_date or "", restricted_pool=self.restricted_pool or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictedTerms:
    """The expiry date of restricted credit, and the number of the host's pool to which it belongs."""

    expiry_date: str = field(metadata=stored_as("expires"))
    restricted_pool: Count = field(metadata=stored_as("pool"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRecord:
    """A transfer that a host ordered, and its result."""

    identifier: str
    """The transaction id that the host gave to the transfer."""
    kind: TransferKind
    """The direction: into or out of the machine, or a bonus that the operator pays through the host."""
    status: TransferStatus
    """The result as reported to the host."""
    cents_by_credit_kind: Mapping[CreditKind, CentsOrZero] = field(metadata=stored_as("cents"))
    """The amounts moved, in minor units by kind of credit."""
    ordered_cents: int = field(metadata=stored_as("asked_cents"))
    """The amount that the host ordered, in minor units; negative if the host ordered a negative amount (refused)."""
    expiry_date: str = field(metadata=stored_as("expires"))
    restricted_pool: Count = field(metadata=stored_as("pool"))
    """The number of the host's pool of restricted credit; 0 for none."""
    protocol_codes: Mapping[str, int] = field(metadata=stored_as("codes"))
    """Codes of the protocol (type, flags), to be returned to the host exactly as received."""
    result_time: IsoTime = field(metadata=stored_as("at"))
    """The time at which the transfer was completed or refused."""
    host_has_read: bool = field(metadata=stored_as("told"))
    """Whether the host has read the result."""
    history_index: Count | None = omit_if_default(None, key="position")
    """The index in the transfer history that the host can read, 1 to 35.

    If nothing moved, it is null in the journal entry and 0 in the stored result.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutTerms:
    """The host's setting for cash-outs: whether they are offered to it first, and to it only."""

    is_offered_to_host: bool = field(metadata=stored_as("enabled"))
    """Whether cash-outs are offered to the host first."""
    is_host_only: bool = field(metadata=stored_as("hard"))
    """Whether cash-outs may only be made to the host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRecord:
    """The machine's registration with a host, which permits transfers; of the key only the SHA-256 is stored."""

    pos_id: Count
    key_digest: Sha256Digest

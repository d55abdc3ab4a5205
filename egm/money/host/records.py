"""Stored records about a host's money: the last ticket queried, the last transfer, and their terms.

Amounts are minor units; dates are ISO 8601, or an empty string.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from egm.kernel.credits import CreditKind
from egm.money.host.model import Redeeming, TransferKind, TransferStatus
from egm.record_codec import omit_if_default
from egm.record_fields import Count, Digest, Masked, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTicketRecord:
    """The result of the last ticket the host was queried about: its masked number and value."""

    id: str
    """The id of the ticket's insertion."""
    number: Masked
    amount_cents: Count
    kind: str
    """The kind of credit; empty unless the host has authorised the ticket."""
    status: Redeeming
    """The result as reported to the host."""
    told: bool
    """Whether the host has read the result."""
    expires: str | None = omit_if_default(None)
    pool: Count | None = omit_if_default(None)
    """The number of the host's pool of restricted credit, or null."""

    @property
    def restricted(self) -> "RestrictedTerms | None":
        """Return the terms of the ticket's restricted credit, or None if it is another kind of credit."""
        if self.kind != CreditKind.RESTRICTED:
            return None
        return RestrictedTerms(expires=self.expires or "", pool=self.pool or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictedTerms:
    """Expiry date and pool of the restricted credit on the meter."""

    expires: str
    pool: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRecord:
    """A transfer ordered by a host and its result."""

    identifier: str
    """The host's transaction id."""
    kind: TransferKind
    """The direction: into or out of the machine, or a bonus of the host."""
    status: TransferStatus
    """The result as reported to the host."""
    cents: Mapping[CreditKind, Count]
    """The amount moved, by kind of credit."""
    asked_cents: int
    """The amount as ordered; if the order was refused for it, it may be negative."""
    expires: str
    pool: Count
    """The number of the host's pool of restricted credit; 0 for none."""
    codes: Mapping[str, int]
    """Protocol codes to return to the host as they were received."""
    at: Time
    """The time of the result."""
    told: bool
    """Whether the host has read the result."""
    position: Count | None = omit_if_default(None)
    """The index in the transfer history, 1 to 35; 0 or null if nothing moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutTerms:
    """How cash-outs are offered to the host."""

    enabled: bool
    """Whether cash-outs are offered to the host first."""
    hard: bool
    """Whether only the host may take them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRecord:
    """The machine's registration for transfers; only the SHA-256 digest of the key is stored."""

    pos_id: Count
    key_digest: Digest

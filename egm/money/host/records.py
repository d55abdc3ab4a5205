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
    """The result of the last ticket the host was queried about: its masked number and value.

    ``kind``: the kind of credit, empty unless the host has authorised the ticket. ``expires`` and ``pool``:
    expiry date and pool of restricted credit. ``told``: whether the host has read the result.
    """

    id: str
    number: Masked
    amount_cents: Count
    kind: str
    status: Redeeming
    told: bool
    expires: str | None = omit_if_default(None)
    pool: Count | None = omit_if_default(None)

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
    """A transfer ordered by a host and its result; ``cents`` is the amount moved, by kind.

    ``asked_cents`` is as ordered: if the order was refused for it, it may be negative.
    ``position``: index in the transfer history, 1 to 35; 0 or None if nothing moved. ``codes``: protocol
    codes to return to the host as received. ``told``: whether the host has read the result.
    """

    identifier: str
    kind: TransferKind
    status: TransferStatus
    cents: Mapping[CreditKind, Count]
    asked_cents: int
    expires: str
    pool: Count
    codes: Mapping[str, int]
    at: Time
    told: bool
    position: Count | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutTerms:
    """Whether cash-outs are offered to the host first; ``hard``: only the host may take them."""

    enabled: bool
    hard: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRecord:
    """The machine's registration for transfers; only the SHA-256 digest of the key is stored."""

    pos_id: Count
    key_digest: Digest

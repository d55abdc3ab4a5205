"""What the memory keeps of a host's money: the last ticket it was asked about, the last transfer, its terms.

Amounts are minor units; days are ISO 8601, empty where there is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from egm.kernel.credits import CreditKind
from egm.money.host.model import Redeeming, TransferKind, TransferStatus
from egm.record_codec import omitted


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTicketRecord:
    """What became of the last ticket a host was asked about: its masked number, its worth.

    ``kind`` of credit, empty unless the host has called it good; of restricted credit the day it ends and its
    pool. ``told``: the host has heard how it ended.
    """

    id: str
    number: str
    amount_cents: int
    kind: str
    status: Redeeming
    told: bool
    expires: str | None = omitted(None)
    pool: int | None = omitted(None)

    @property
    def restricted(self) -> "RestrictedTerms | None":
        """The terms it brings with it, where it is restricted credit."""
        if self.kind != CreditKind.RESTRICTED:
            return None
        return RestrictedTerms(expires=self.expires or "", pool=self.pool or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictedTerms:
    """Until when the restricted credit on the meter is good, and the pool it belongs to."""

    expires: str
    pool: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRecord:
    """A transfer a host ordered, and what became of it: ``cents`` by kind have moved.

    ``position`` is its place in the history, 1 to 35; 0, or none, when nothing moved. ``codes``: what its
    protocol wants back as it was sent. ``told``: the host has read it.
    """

    identifier: str
    kind: TransferKind
    status: TransferStatus
    cents: Mapping[CreditKind, int]
    asked_cents: int
    expires: str
    pool: int
    codes: Mapping[str, int]
    at: str
    told: bool
    position: int | None = omitted(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CashOutTerms:
    """Whether cash-outs are offered to the host first; ``hard``: it alone may take them."""

    enabled: bool
    hard: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRecord:
    """With what the machine is registered for transfers; of the key, the SHA-256."""

    pos_id: int
    key_digest: str

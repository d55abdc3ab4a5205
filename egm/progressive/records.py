"""Records of progressive levels in the machine's memory: commitments, claims, and prizes held for a ruling."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Count, Digest, NonBlankText, Time
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRecord:
    """The stored state of an open hit of a controller's level: the claim sent to the controller, and its payment."""

    pool: str
    level: str
    is_mystery: bool = omit_if_default(False, key="mystery")
    contribution_number: Count = field(metadata=stored_as("after"))
    """The sequence number of the contribution of the wager that hit."""
    won_share: Fraction | None = omit_if_default(None, key="share")
    """The part of the level that was won, or None for all of it."""
    shown_cents: Count
    play_id: str
    game: str
    at_utc: Time
    """The time of the hit in UTC."""
    amount_cents: Count | None
    """The amount that the controller has locked, or None."""
    payment_method: str | None = field(metadata=stored_as("way"))
    """The payment method of the hit, or None while it is not paid."""
    is_unanswered: bool = field(metadata=stored_as("unanswered"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPrize:
    """A controller's message about a prize that could not be verified, held until persons have ruled on it."""

    pool: str
    play_id: str
    amount_cents: int
    """The amount that the message states."""
    reason: NonBlankText = field(metadata=stored_as("why"))
    ruling: Literal["pay", "decline"] | None
    """The decision of staff, or None while there is none."""
    won: Mapping[str, JSON] | None = omit_if_default(None)
    """The controller's message about a mystery prize; None for a hit of a game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedPrize:
    """The number of a mystery prize, and the controller's commitment to its secret amount."""

    prize_number: Count = field(metadata=stored_as("prize"))
    commitment: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastWin:
    """A hit of a broadcast progressive level that the host has not read yet.

    ``entry_sequence`` is the sequence number of its journal entry.
    """

    pool: str
    amount_cents: Count
    entry_sequence: Count = field(metadata=stored_as("entry"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedCommitment:
    """The commitment to a pool's mystery prize as first received (entry ``progressive.sealed``)."""

    pool: str
    prize_number: Count = field(metadata=stored_as("prize"))
    """The number of the prize in its pool."""
    commitment: Digest

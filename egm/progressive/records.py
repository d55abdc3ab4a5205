"""Stored records of progressive levels: commitments, claims, hits, and prizes held for a ruling."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import CentsOrZero, Count, IsoTime, NonBlankText, Sha256Digest
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRecord:
    """The stored state of a claim and of its payment.

    A claim is the machine's report to a progressive controller that a level was hit.
    """

    pool_id: str = field(metadata=stored_as("pool"))
    level_name: str = field(metadata=stored_as("level"))
    is_mystery: bool = omit_if_default(False, key="mystery")
    contribution_number: Count = field(metadata=stored_as("after"))
    """The number of the contribution of the wager that hit the level."""
    won_share: Fraction | None = omit_if_default(None, key="share")
    """The part of the level that was won, or None for all of it."""
    shown_cents: CentsOrZero
    play_id: str
    game_id: str = field(metadata=stored_as("game"))
    at_utc: IsoTime
    """The time of the hit in UTC."""
    amount_cents: CentsOrZero | None
    """The amount to be paid in minor units: as the controller locked it, or as staff settled it; None until then."""
    payment_method: str | None = field(metadata=stored_as("way"))
    """How the claim was settled: ``credit`` or ``hand`` (paid), or ``void`` (not paid); None until then."""
    is_settled_by_staff: bool = field(metadata=stored_as("unanswered"))
    """Whether staff settled the hit, because its controller did not reply or its report could not be verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPrize:
    """A controller's report of a prize that the machine cannot verify; it is held until two people have ruled on it."""

    pool_id: str = field(metadata=stored_as("pool"))
    play_id: str
    amount_cents: int
    """The amount that the controller reported, in minor units."""
    reason: NonBlankText = field(metadata=stored_as("why"))
    ruling: Literal["pay", "decline"] | None
    """The decision of the two people; None until they have decided."""
    prize_report: Mapping[str, JSON] | None = omit_if_default(None, key="won")
    """The reported mystery prize; None for the amount of a hit by a game's outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedPrize:
    """The number of a mystery prize, and the controller's commitment to its secret amount."""

    prize_number: Count = field(metadata=stored_as("prize"))
    commitment: Sha256Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastWin:
    """A hit of a broadcast progressive level that the SAS host has not read yet."""

    pool_id: str = field(metadata=stored_as("pool"))
    amount_cents: CentsOrZero
    entry_sequence: Count = field(metadata=stored_as("entry"))
    """The sequence number of the journal entry of the hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedCommitment:
    """The commitment to the secret amount of a mystery prize, as first received (entry ``progressive.sealed``)."""

    pool_id: str = field(metadata=stored_as("pool"))
    prize_number: Count = field(metadata=stored_as("prize"))
    """The number of the prize, counted from 1 for each level."""
    commitment: Sha256Digest

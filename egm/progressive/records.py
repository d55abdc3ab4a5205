"""Records of progressive levels in the machine's memory: marks, claims, and prizes held for a ruling."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from egm.record_codec import omit_if_default
from egm.record_fields import Count, Digest, Time, Words
from meters.transaction import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRecord:
    """An open hit of a linked level.

    ``after``: the contribution of its wager. ``share``: the part of the level won, if not the whole.
    ``shown_cents``: its value according to the display. ``amount_cents``: what its controller has locked.
    ``way``: how it was paid, once it is. ``unanswered``: settled by a person.
    """

    pool: str
    level: str
    mystery: bool = omit_if_default(False)
    after: Count
    share: Fraction | None = omit_if_default(None)
    shown_cents: Count
    play_id: str
    game: str
    at_utc: Time
    amount_cents: Count | None
    way: str | None
    unanswered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPrize:
    """An unproved message of a controller; ``won`` is its message of a mystery prize."""

    pool: str
    play_id: str
    amount_cents: int
    why: Words
    ruling: Literal["pay", "decline"] | None
    won: Mapping[str, JSON] | None = omit_if_default(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedPrize:
    """The commitment to a mystery prize's secret amount."""

    prize: Count
    commitment: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastWin:
    """A hit of a broadcast level that the host has not read yet; ``entry`` is the sequence number of its entry."""

    pool: str
    amount_cents: Count
    entry: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardPrize:
    """The commitment to a pool's mystery prize as first received (entry ``progressive.sealed``)."""

    pool: str
    prize: Count
    commitment: Digest
